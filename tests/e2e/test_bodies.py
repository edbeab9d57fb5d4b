"""Requests on the wire equal those of `vllm bench serve` 0.33.0, byte for byte in compact JSON (tests/data/peers)."""
import json
import os
import tempfile

from harness import RawServer, Skip, holds, main, run, same, stream

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data")


def recordings():
    with open(os.path.join(DATA, "peers", "bodies.jsonl"), encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def sent(flags):
    """(head, body) of the measured requests, in the order of the data set."""
    with RawServer(lambda i: [stream()]) as server:
        result = run("serve", "--host", "127.0.0.1", "--port", str(server.port), "--disable-tqdm", *flags)
        requests = [(h.decode(), b) for _, h, b in server.requests if b"completions" in h.split(b"\r\n")[0]]
    return sorted(requests, key=lambda r: request_id(r[0])), result


def header(head, name):
    values = [line.split(":", 1)[1].strip() for line in head.split("\r\n")[1:] if line.lower().startswith(name + ":")]
    same(len(values), 1, "one header %s" % name, head)
    return values[0]


def request_id(head):
    return int(header(head, "x-request-id").rsplit("-", 1)[1])


def check(recording):
    flags = [f.replace("{DATA}", DATA) for f in recording["flags"]]
    if "--tokenizer" in flags and not os.path.exists(flags[flags.index("--tokenizer") + 1]):
        raise Skip("no tokenizer %s" % flags[flags.index("--tokenizer") + 1])
    requests, result = sent(flags)
    same([b.decode() for _, b in requests],
         [json.dumps(b, ensure_ascii=False, separators=(",", ":")) for b in recording["bodies"]], recording["case"], result)
    for number, (head, body) in enumerate(requests):
        same(head.split("\r\n")[0], "POST %s HTTP/1.1" % recording["path"], "request line")
        same(header(head, "x-request-id"), "req-%d" % number, "request id")
        same(header(head, "content-type"), "application/json", "content type")
        same(header(head, "content-length"), str(len(body)), "length")
        holds("transfer-encoding" not in head.lower() and "accept-encoding" not in head.lower(), "no coding", head)


def add_tests(namespace):
    for recording in recordings():
        def test(recording=recording):
            check(recording)
        namespace["test_" + recording["case"]] = test


def test_plain_openai_sends_only_openais_keys():
    """Of the keys that Python's tool sends of itself, repetition_penalty and ignore_eos are vLLM's."""
    requests, result = sent(["--model", "m", "--tokenizer", os.path.join(DATA, "tok-mini"), "--num-prompts", "1",
                             "--prompt-token-ids", "--random-input-len", "3", "--random-output-len", "2",
                             "--plain-openai", "--temperature", "0"])
    body = json.loads(requests[0][1])
    same(sorted(body), ["logprobs", "max_tokens", "model", "prompt", "stream", "stream_options", "temperature"], "keys",
         result)
    same((len(body["prompt"]), {type(t) for t in body["prompt"]}, body["max_tokens"]), (3, {int}, 2), "prompt", result)


def test_text_of_every_kind_reaches_the_server_unchanged():
    texts = ['quotes " and \\ and /', "tab\tnewline\nreturn\r", "\u0001\u001f\u007f", "\u00e4\u4e2d\u6587 \U0001f600",
             "\u2028\u2029\ufeff", "<script>&amp;", "{}[]:,", " lead and trail ", "x" * 70000]
    for backend in ("openai", "openai-chat"):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as f:
            for ascii_only, text in ((i % 2 == 0, t) for i, t in enumerate(texts)):
                f.write(json.dumps({"prompt": text}, ensure_ascii=ascii_only) + "\n")
            f.flush()
            requests, result = sent(["--model", "m", "--num-prompts", str(len(texts)), "--dataset-name", "custom",
                                     "--dataset-path", f.name, "--skip-tokenizer-init", "--skip-chat-template",
                                     "--disable-shuffle", "--backend", backend])
        bodies = [json.loads(b) for _, b in requests]
        got = [b["prompt"] if backend == "openai" else b["messages"][0]["content"][0]["text"] for b in bodies]
        same(got, texts, "texts", result)


add_tests(globals())
main(globals())
