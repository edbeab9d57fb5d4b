"""The command `doctor` against servers with one fault each: the finding, what to mend, the exit status.

usage: test_doctor.py PROGRAM [TEST ...]     (TAP on stdout)
"""

import json
import os
import resource
import socket
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))

import harness  # noqa: E402
from harness import CLOSE, DONE, HEAD, Mock, RawServer, chunked, event, holds, main, same, token, usage  # noqa: E402

DATA = os.path.join(HERE, "..", "data")


def doctor(*flags, **options):
    return harness.run("doctor", "--model", "mock-model", *flags, **options)


def at(server):
    return ["--host", "127.0.0.1", "--port", str(server.port)]


def findings(run):
    """{what: [(verdict, text and what to mend)]}"""
    found, last = {}, None
    for line in run.out.splitlines():
        words = line.split()
        if line[:5].strip() in ("ok", "warn", "FAIL"):
            last = found.setdefault(words[1], [])
            last.append((words[0], line))
        elif "mend:" in line:
            last[-1] = (last[-1][0], last[-1][1] + "\n" + line)
    return found


def expect(run, what, verdict, *parts):
    found = findings(run).get(what, [])
    holds(any(v == verdict and all(p in text for p in parts) for v, text in found),
          "%s %s with %s" % (verdict, what, parts), run)
    failed = sum(v == "FAIL" for group in findings(run).values() for v, _ in group)
    same(run.status, 1 if failed else 0, "exit status", run)
    holds("%d failed" % failed in run.out.splitlines()[-1], "the last line counts", run)


def plain(obj, status="200 OK"):
    body = json.dumps(obj).encode()
    return [b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
            % (status.encode(), len(body), body)]


class Server(RawServer):
    """Answers /v1/models and /tokenize well, the streaming request with `steps`."""

    def __init__(self, steps, models=("mock-model",), count=None):
        self.steps, self.models, self.count = steps, models, count
        super().__init__(self.answer)

    def answer(self, index):
        path = self.requests[index][1].split(b" ")[1]
        if path == b"/v1/models":
            return plain({"data": [{"id": name} for name in self.models]})
        if path == b"/tokenize" and self.count is not None:
            return plain({"count": self.count, "tokens": list(range(self.count)), "max_model_len": 4096})
        if path == b"/v1/completions":
            return self.steps
        return plain({"detail": "Not Found"}, "404 Not Found")


LOCAL = ["--tokenizer", os.path.join(DATA, "tok-mini")]
SAMPLE_TOKENS = None


def sample_tokens():
    """Tokens of the doctor's text by the tokenizer at hand, as its own sentence says them."""
    global SAMPLE_TOKENS
    if SAMPLE_TOKENS is None:
        with Server(slow_tokens(3), count=1) as server:
            run = doctor(*at(server), *LOCAL)
        text = findings(run)["tokens"][0][1]
        SAMPLE_TOKENS = int(text.split("sample text has ")[1].split()[0])
    return SAMPLE_TOKENS


def slow_tokens(n, *after):
    steps = [HEAD]
    for i in range(n):
        steps += [chunked(token("w%d" % i), end=False), 0.01]
    return steps + [chunked(*(after or (usage(n), DONE)))]


def test_a_good_server_has_no_failed_check():
    with Mock("--ttft", "5", "--itl", "2") as server:
        run = doctor("--base-url", server.url)
    for what in ("address", "dns", "connect", "models", "version", "stream", "usage", "clock", "files", "ports"):
        expect(run, what, "ok")
    expect(run, "stream", "ok", "16 x token, usage, end")
    expect(run, "stamps", "ok")


def test_the_embedded_mock_server_is_examined_too():
    run = harness.run("doctor", "--mock")
    expect(run, "models", "ok", "'mock-model'")


def test_nothing_listens():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        run = doctor("--host", "127.0.0.1", "--port", str(s.getsockname()[1]))
    expect(run, "connect", "FAIL", "refused", "is the server up")
    expect(run, "clock", "ok")


def test_a_name_that_is_unknown():
    run = doctor("--base-url", "http://no-such-host.invalid:8000")
    expect(run, "dns", "FAIL", "'no-such-host.invalid'", "spelt")


def test_https_to_a_server_without_tls():
    with Server([CLOSE]) as server:
        run = doctor("--base-url", "https://127.0.0.1:%d" % server.port)
    expect(run, "tls", "FAIL", "http://")


def test_a_base_url_that_ends_with_v1():
    with Mock() as server:
        run = doctor("--base-url", server.url + "/v1")
    expect(run, "models", "FAIL", "leave '/v1' out")


def test_a_server_that_wants_a_key():
    with RawServer(lambda i: plain({"error": "Unauthorized"}, "401 Unauthorized")) as server:
        run = doctor(*at(server), env={"OPENAI_API_KEY": "wrong-key-123"})
    expect(run, "models", "FAIL", "HTTP 401", "OPENAI_API_KEY")
    holds("wrong-key-123" not in run.out + run.err, "the key is not shown", run)


def test_a_model_that_the_server_does_not_have():
    with Mock() as server:
        run = harness.run("doctor", "--model", "other", "--base-url", server.url)
    expect(run, "models", "FAIL", "'other'", "'mock-model'")


def test_lengths_beyond_the_model():
    with Mock("--max-model-len", "1000") as server:
        run = doctor("--base-url", server.url, "--random-input-len", "990", "--random-output-len", "20")
    expect(run, "length", "FAIL", "1000", "1010")


def test_a_proxy_that_buffers_the_stream():
    with Server([HEAD, 0.05, chunked(*[token("a")] * 16, usage(16), DONE)]) as server:
        run = doctor(*at(server))
    expect(run, "spread", "FAIL", "at once", "proxy_buffering")


def test_several_tokens_a_chunk():
    with Server(slow_tokens(4, usage(16), DONE)) as server:
        run = doctor(*at(server))
    expect(run, "usage", "warn", "16 tokens came in 4 chunks")
    expect(run, "spread", "ok")


def test_a_server_that_says_no_usage():
    with Server(slow_tokens(4, DONE)) as server:
        run = doctor(*at(server))
    expect(run, "usage", "warn", "include_usage")


def test_a_server_that_ends_early_in_spite_of_ignore_eos():
    with Server(slow_tokens(5)) as server:
        run = doctor(*at(server))
    expect(run, "usage", "warn", "5 of 16", "ignore_eos")


def test_an_error_in_the_stream():
    with Server(slow_tokens(2, event({"error": {"message": "out of blocks"}}), DONE)) as server:
        run = doctor(*at(server))
    expect(run, "stream", "FAIL", "out of blocks")


def test_a_stream_that_breaks_off():
    with Server([HEAD, chunked(token("a"), end=False), CLOSE]) as server:
        run = doctor(*at(server))
    expect(run, "stream", "FAIL", "closed")


def test_a_chunk_that_is_no_json():
    with Server([HEAD, chunked(b"data: {oops\n\n", DONE)]) as server:
        run = doctor(*at(server))
    expect(run, "stream", "FAIL", "no JSON")


def test_an_answer_that_is_no_stream():
    with Server(plain({"choices": [{"text": "a"}]})) as server:
        run = doctor(*at(server))
    expect(run, "stream", "FAIL", "no event stream")


def test_a_server_that_refuses_a_key_of_the_request():
    with Server(plain({"error": {"message": "unknown field ignore_eos"}}, "400 Bad Request")) as server:
        run = doctor(*at(server))
    expect(run, "stream", "FAIL", "HTTP 400", "unknown field ignore_eos", "--plain-openai")


def test_token_counts_that_agree_and_that_do_not():
    tokens = sample_tokens()
    with Server(slow_tokens(3), count=tokens) as server:
        run = doctor(*at(server), *LOCAL)
    expect(run, "tokens", "ok", "%d tokens" % tokens)
    with Server(slow_tokens(3), count=tokens + 2) as server:
        run = doctor(*at(server), *LOCAL)
    expect(run, "tokens", "FAIL", str(tokens), str(tokens + 2), "--tokenizer")


def test_usage_stands_in_where_the_server_has_no_tokenize():
    tokens = sample_tokens()
    with Server(slow_tokens(3, usage(3, prompt=tokens), DONE)) as server:
        run = doctor(*at(server), *LOCAL)
    expect(run, "tokens", "ok", "agree")
    with Server(slow_tokens(3, usage(3, prompt=tokens + 1), DONE)) as server:
        run = doctor(*at(server), *LOCAL)
    expect(run, "tokens", "FAIL", "--tokenizer")


def test_the_limit_of_open_files():
    def lower():
        resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
    run = harness.run("doctor", "--mock", "--max-concurrency", "60", before=lower)
    expect(run, "files", "FAIL", "100 open files", "124", "ulimit")


def test_a_unix_domain_socket_has_no_stamps():
    with harness.Folder() as folder:
        path = folder("socket")
        server = Server(slow_tokens(16))
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen(8)
        server.listener.close()
        server.listener = listener
        with server:
            import threading
            threading.Thread(target=server._accept, daemon=True).start()
            run = doctor("--unix-socket", path)
    expect(run, "stamps", "warn", "unix-domain")


def test_wrong_flags_and_help():
    run = harness.run("doctor", "--prot", "1")
    same(run.status, 2, "exit status", run)
    holds("'--port'" in run.err, "the near match", run)
    run = harness.run("doctor", "--help")
    same((run.status, "--base-url" in run.out, "doctor" in run.out), (0, True, True), "help", run)


main(globals())
