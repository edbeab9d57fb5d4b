"""Every API meets every fault: the failure has its kind and its text, and the requests around it lose nothing.

One run an API: its requests go out one after the other, every second one meets a fault.  The address sanitizer build
of the same test shows that no fault leaks."""
import gzip
import json
import socket

import harness
from harness import CLOSE, DONE, HEAD, RESET, Folder, RawServer, chunked, event, holds, kinds, main, run, same

PROMPT_TOKENS = 5
TIMEOUT_S = 5.0 if harness.SLOW else 0.5  # a sanitizer needs its time for the large answers


class Stream:
    """What an API with a stream sends."""
    pooling = False

    def __init__(self, delta, *end, begin=(), prompt_tokens=PROMPT_TOKENS):
        self.delta, self.end, self.begin = delta, list(end), list(begin)
        self.prompt_tokens = prompt_tokens

    def head(self, *fields):
        return HEAD[:-2] + b"".join(f + b"\r\n" for f in fields) + b"\r\n"

    def events(self, *texts):
        return self.begin + [self.delta(t) for t in texts] + self.end

    def good(self):
        return [self.head() + chunked(*self.events("a", "b"))]

    def cut(self, end):
        return [self.head() + chunked(*self.begin, self.delta("a"), end=False), 0.01, end]


class Pooled:
    """What an API with one JSON reply sends."""
    pooling = True
    prompt_tokens = PROMPT_TOKENS
    BODY = json.dumps({"data": [{"index": 0, "embedding": [0.5, 0.25]}],
                       "usage": {"prompt_tokens": PROMPT_TOKENS, "total_tokens": PROMPT_TOKENS}}).encode()

    def good(self):
        return [answer(b"200 OK", self.BODY)]

    def cut(self, end):
        return [answer(b"200 OK", self.BODY)[:-9], 0.01, end]


def answer(status, body, kind=b"application/json", *fields):
    lines = [b"HTTP/1.1 " + status, b"Content-Type: " + kind, b"Content-Length: %d" % len(body), *fields]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def named(name, **members):
    return b"event: %s\n" % name.encode() + event({"type": name, **members})


def completion_usage():
    return event({"choices": [], "usage": {"prompt_tokens": PROMPT_TOKENS, "completion_tokens": 2}})


COMPLETIONS = Stream(lambda t: event({"choices": [{"index": 0, "text": t}]}), completion_usage(), DONE)
CHAT = Stream(lambda t: event({"choices": [{"index": 0, "delta": {"content": t}}]}), completion_usage(), DONE,
              begin=[event({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]})])
RESPONSES = Stream(lambda t: named("response.output_text.delta", delta=t),
                   named("response.completed", response={"status": "completed", "usage": {
                       "input_tokens": PROMPT_TOKENS, "output_tokens": 2}}),
                   begin=[named("response.created", response={"status": "in_progress", "usage": None})])
# The client's count is kept: 1 without a tokenizer.
AUDIO = Stream(lambda t: event({"choices": [{"index": 0, "delta": {"content": t}}]}), completion_usage(), DONE,
               prompt_tokens=1)
POOLED = Pooled()

APIS = {
    "openai": COMPLETIONS,
    "vllm": COMPLETIONS,
    "openai-chat": CHAT,
    "openai-responses": RESPONSES,
    "openai-audio": AUDIO,
    "openai-embeddings": POOLED,
    "openai-embeddings-chat": POOLED,
    "openai-embeddings-clip": POOLED,
    "openai-embeddings-vlm2vec": POOLED,
    "infinity-embeddings": POOLED,
    "infinity-embeddings-clip": POOLED,
    "vllm-pooling": POOLED,
    "vllm-rerank": POOLED,
}

MESSAGE = json.dumps({"error": {"message": "said by the server"}}).encode()


def status_faults():
    """(steps, kind of failure, words in its text)"""
    for status in (b"400 Bad Request", b"401 Unauthorized", b"404 Not Found", b"429 Too Many Requests",
                   b"500 Internal Server Error", b"503 Service Unavailable"):
        code = status.split()[0].decode()
        yield [answer(status, MESSAGE)], "http_status", (code, "said by the server")
        yield [answer(status, b"plain words", b"text/plain")], "http_status", (code, "plain words")
        yield [answer(status, b"")], "http_status", (code,)


def common_faults(api):
    yield [RESET], "closed_early", ("before any response",)
    yield api.cut(RESET), "closed_early", ("before the response was complete",)
    yield api.cut(CLOSE), "closed_early", ("before the response was complete",)
    yield api.cut(3.0 * TIMEOUT_S), "timeout", ("%g" % TIMEOUT_S,)
    yield [b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000 + b"\r\n\r\n", CLOSE], "malformed_stream", ("header",)
    yield [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n{\"data\":", CLOSE], "closed_early", ()
    yield [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", CLOSE], "malformed_stream", ()
    yield [b"HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\n", CLOSE], "malformed_stream", ()
    yield [answer(b"200 OK", MESSAGE)], "error_event", ("said by the server",)
    packed = gzip.compress(MESSAGE)
    yield [answer(b"200 OK", packed, b"application/json", b"Content-Encoding: gzip")], "error_event", ("said by",)
    damaged = packed[:12] + b"\xff\xff\xff\xff" + packed[16:]
    yield ([answer(b"200 OK", damaged, b"application/json", b"Content-Encoding: gzip")], "malformed_stream",
           ("compressed",))


def stream_faults(api):
    good = api.events("a", "b")
    yield [api.head() + chunked(*api.begin, api.delta("a"), b"data: {\"a\": [}\n\n", *api.end)], "malformed_stream", ()
    yield [api.head() + chunked(*api.end)], "no_token", ()
    yield [api.head() + chunked(*api.begin, api.delta("a"), event({"error": {"message": "engine died"}}))], \
        "error_event", ("engine died",)
    yield [api.head() + chunked(api.delta("x" * 17_000_000), *api.end)], "malformed_stream", ("too long",)
    whole = b"".join(good)
    yield [b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (len(whole) + 50) + whole, CLOSE], "closed_early", ()
    if api is RESPONSES:
        yield [api.head() + chunked(*api.begin, api.delta("a"))], "closed_early", ("without terminal event",)
        failed = named("response.failed", response={"error": {"message": "failed late"}})
        yield [api.head() + chunked(*api.begin, api.delta("a"), failed)], "error_event", ("failed late",)


def stream_oddities(api):
    """Replies that are right in spite of what they look like."""
    yield [api.head() + chunked(*api.events("x" * 10_000_000, "b"))]
    yield [api.head(b"Content-Encoding: gzip") + chunked(gzip.compress(b"".join(api.events("a", "b"))))]
    # No UTF-8: the byte becomes U+FFFD in the text that is kept, the token counts.
    yield [api.head() + chunked(*api.events("a", "b")).replace(b'"b"', b'"\xff"')]


def pooled_faults(api):
    yield [answer(b"200 OK", b"{\"data\": [}")], "malformed_stream", ("not valid JSON", "{\"data\": [}")
    yield [answer(b"200 OK", b"<html>login</html>", b"text/html")], "malformed_stream", ("login",)
    yield [answer(b"200 OK", b"")], "malformed_stream", ("empty",)
    yield [answer(b"200 OK", b"{\"detail\": \"Not Found\"}")], "error_event", ("Not Found",)
    yield [answer(b"200 OK", api.BODY).replace(b"Content-Length: ", b"Content-Length: 1"), CLOSE], "closed_early", ()


def pooled_oddities(api):
    yield [answer(b"200 OK", api.BODY[:-1] + b",\"pad\":\"" + b"x" * 10_000_000 + b"\"}")]
    yield [answer(b"200 OK", gzip.compress(api.BODY), b"application/json", b"Content-Encoding: gzip")]
    yield [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(*[api.BODY[i:i + 7] for i in
                                                                            range(0, len(api.BODY), 7)])]
    yield [b"HTTP/1.1 200 OK\r\n\r\n" + api.BODY, CLOSE]


def flags_for(name, api, folder, port, n):
    flags = folder.custom(port, n)
    if api.pooling or api is AUDIO:
        at = flags.index("--temperature")
        del flags[at:at + 2]
    if api is AUDIO:
        flags += ["--dataset-name", "custom_audio", "--dataset-path", folder("sound.jsonl")]
        with open(folder("sound.jsonl"), "w", encoding="utf-8") as f:
            f.write(n * (json.dumps({"audio": {"array": [0.0, 0.5], "sampling_rate": 16000}}) + "\n"))
    return flags


def measured(name, api, script):
    """One run, its requests one after the other, each answered by its entry of the script."""
    wanted = len(script)
    # A reset before the answer on a connection that was open before is tried once more on a new one.
    script = list(script)
    script.insert(script.index([RESET]), [RESET])
    with RawServer(lambda i: script[i] if i < len(script) else api.good()) as server, Folder(wanted) as folder:
        flags = flags_for(name, api, folder, server.port, wanted)
        done = run(*flags, "--custom-output-len", "4", "--backend", name, "--max-concurrency", "1",
                   "--request-timeout", str(TIMEOUT_S), "--save-result", "--save-detailed", "--result-dir", folder.path,
                   "--result-filename", "r.json")
        done.result = folder.json("r.json")
    return done


def check(name):
    api = APIS[name]
    faults = [*status_faults(), *common_faults(api), *(pooled_faults if api.pooling else stream_faults)(api)]
    odd = list((pooled_oddities if api.pooling else stream_oddities)(api))
    script = []
    for steps, _, _ in faults:
        script += [steps, api.good()]
    done = measured(name, api, script + odd + [api.good()])
    result = done.result
    same(done.status, 0, "exit status", done)
    errors = result["errors"]
    for i, (_, kind, words) in enumerate(faults):
        text = errors[2 * i]
        holds(text != "", "fault %d (%s) of %s fails its request" % (i, kind, name), done)
        for word in words:
            holds(word in text, "%s, fault %d: %r holds %r" % (name, i, text[:300], word), done)
        same(errors[2 * i + 1], "", "%s: the request behind fault %d" % (name, i), done)
    same(errors[2 * len(faults):], [""] * (len(odd) + 1), "%s: unusual replies" % name, done)
    wanted_kinds = {}
    for _, kind, _ in faults:
        wanted_kinds[kind] = wanted_kinds.get(kind, 0) + 1
    same(kinds(done), wanted_kinds, "%s: kinds" % name, done)
    good = len(faults) + len(odd) + 1
    same((result["completed"], result["failed"]), (good, len(faults)), "%s: counts" % name, done)
    same(result["total_input_tokens"], good * api.prompt_tokens, "%s: input tokens" % name, done)
    if not api.pooling:
        same(result["total_output_tokens"], 2 * good, "%s: output tokens" % name, done)


def add_tests(namespace):
    for name in APIS:
        def test(name=name):
            check(name)
        namespace["test_faults_of_" + name.replace("-", "_")] = test


def test_a_refused_connection_fails_each_request_of_every_api():
    with socket.socket() as probe, Folder() as folder:
        probe.bind(("127.0.0.1", 0))
        for name, api in APIS.items():
            flags = flags_for(name, api, folder, probe.getsockname()[1], 3)
            done = run(*flags, "--backend", name, "--save-result", "--result-dir", folder.path, "--result-filename",
                       name + ".json")
            done.result = folder.json(name + ".json")
            same(done.status, 1, name + ": exit status", done)
            same(kinds(done), {"connect": 3}, name + ": kinds", done)


add_tests(globals())
main(globals())
