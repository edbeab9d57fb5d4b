#!/usr/bin/env python3
"""The server as tokenizer: several connections, its habits, its errors, and the order in which tokenizers are tried."""
import base64
import json
import os
import threading
import time

from harness import Folder, Late, Mock, RawServer, CLOSE, SLOW, holds, main, run, same, stream

KEY = "key-that-nobody-sees"


def dry(port, prompts, *flags, n=8, env=None):
    """Prompts are counted, nothing is sent but questions about tokens."""
    return run("serve", "--model", "no/such-model", "--host", "127.0.0.1", "--port", str(port),
               "--num-prompts", str(n), "--dataset-name", "custom", "--dataset-path", prompts,
               "--skip-chat-template", "--disable-tqdm", "--dry-run", *flags, env=env)


def answer(status, body):
    return b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body)


class Letters:
    """A token a letter."""

    def __init__(self, delay_s=0.0, after=(), spoil=None):
        self.server, self.delay_s, self.after, self.spoil = None, delay_s, list(after), spoil
        self.lock, self.now, self.most = threading.Lock(), 0, 0

    def __call__(self, index):
        _, head, body = self.server.requests[index]
        if b"/tokenize" not in head.split(b"\r\n")[0]:
            return [stream()]
        if self.spoil is not None and index > 0:
            return self.spoil
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(self.delay_s)
        with self.lock:
            self.now -= 1
        text = json.loads(body)["prompt"]
        return [answer(b"200 OK", json.dumps({"tokens": [ord(c) for c in text]}).encode()), *self.after]


def letters(prompts, *flags, n=8, env=None, **habits):
    script = Letters(**habits)
    with RawServer(script) as server:
        script.server = server
        return script, server, dry(server.port, prompts, *flags, n=n, env=env)


def total(result):
    for line in result.out.splitlines():
        if "Total input tokens:" in line:
            return int(line.split(":")[1])
    return None


def text_bytes(n):
    return sum(len("prompt number %d" % i) for i in range(n))


def test_eight_connections_that_are_kept():
    with Folder(64) as folder:
        script, server, result = letters(folder.prompts, n=64, delay_s=0.02)
    same(result.status, 0, "exit status", result)
    same(total(result), text_bytes(64), "a token a letter", result)
    same(len(server.requests), 1 + 64, "one probe, one question a prompt")
    same(script.most, 8, "questions at a time")
    holds(server.connections <= 8, "%d connections" % server.connections, result)
    holds("Tokenizer: the server's own (POST http://127.0.0.1:%d/tokenize) for model 'no/such-model', "
          "vocabulary estimated at 131072 ids" % server.port in result.err, "kind and size are told", result)


def test_they_take_an_eighth_of_the_time():
    with Folder(120) as folder, Mock("--tokenize-delay", "20") as server:
        start = time.monotonic()
        result = dry(server.port, folder.prompts, n=120)
        took_s = time.monotonic() - start
    same(result.status, 0, "exit status", result)
    if not SLOW and took_s > 1.2:  # one after the other: 120 * 0.02 = 2.4 s; eight at a time: 0.3 s
        raise Late("120 questions of 20 ms took %.2f s" % took_s)


def test_the_same_text_is_asked_once():
    with Folder() as folder:
        with open(folder("same.jsonl"), "w", encoding="utf-8") as f:
            f.write(json.dumps({"prompt": "always", "output_tokens": 4}) + "\n")
            f.write(json.dumps({"prompt": "always", "output_tokens": 4}) + "\n")
        _, server, result = letters(folder("same.jsonl"), n=600)
    same(result.status, 0, "exit status", result)
    same(total(result), 600 * len("always"), "tokens", result)
    holds(len(server.requests) <= 1 + 8, "%d questions" % len(server.requests), result)


def test_the_key_and_headers_go_with_every_question():
    with Folder() as folder:
        _, server, result = letters(folder.prompts, "--header", "X-Team=blue", env={"OPENAI_API_KEY": KEY})
    same(result.status, 0, "exit status", result)
    for _, head, body in server.requests:
        holds(b"Authorization: Bearer " + KEY.encode() in head and b"X-Team: blue" in head, head.decode())
        same(json.loads(body)["model"], "no/such-model", "model")
    holds(KEY not in result.out + result.err, "the key is not shown", result)


def test_a_server_that_closes_after_every_answer():
    for flags in (["--close-each"], ["--close-idle", "1"]):
        with Folder(40) as folder, Mock("--tokenize-delay", "2", *flags) as server:
            result = dry(server.port, folder.prompts, n=40)
        same(result.status, 0, "exit status with %s" % flags, result)
    with Folder(40) as folder:  # without a word
        _, server, result = letters(folder.prompts, n=40, after=[CLOSE])
    same(result.status, 0, "exit status", result)
    same(total(result), text_bytes(40), "tokens", result)
    same(server.connections, 41, "a connection a question")


def test_a_server_that_never_answers_is_a_failure():
    with Folder() as folder:
        _, _, result = letters(folder.prompts, spoil=[CLOSE])
    same((result.status, result.out), (1, ""), "exit status, stdout", result)
    holds("POST http://127.0.0.1:" in result.err and "/tokenize" in result.err, "what was asked", result)


def test_errors_name_the_url_the_status_and_the_answer():
    cases = [(answer(b"404 Not Found", b'{"error":{"message":"no such end point","code":404}}'),
              ["/tokenize: HTTP 404: no such end point"]),
             (answer(b"503 Service Unavailable", b"try later"), ["/tokenize: HTTP 503: try later"]),
             (answer(b"200 OK", b'{"token":[1]}'), ["/tokenize: HTTP 200", "'tokens'", '{"token":[1]}']),
             (answer(b"200 OK", b'{"tokens":[-1]}'), ["/tokenize: HTTP 200", '{"tokens":[-1]}'])]
    for reply, words in cases:
        with Folder() as folder:
            _, server, result = letters(folder.prompts, spoil=[reply])
        same((result.status, result.out), (1, ""), "exit status, stdout", result)
        for word in ["POST http://127.0.0.1:%d" % server.port] + words:
            holds(word in result.err, word, result)


def test_answers_are_counted_side_by_side():
    script = Letters(delay_s=0.01)
    silent = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    with RawServer(script) as server:
        script.server = server
        tokenize = script.__call__

        def serve(index):
            if b"/tokenize" in server.requests[index][1].split(b"\r\n")[0]:
                return tokenize(index)
            text = "answer %d" % index
            return [silent + b'data: {"choices":[{"index":0,"text":"%s"}]}\n\ndata: [DONE]\n\n' % text.encode(), CLOSE]

        server.script = serve
        with Folder(40) as folder:
            result = run("serve", "--model", "no/such-model", "--host", "127.0.0.1", "--port", str(server.port),
                         "--num-prompts", "40", "--dataset-name", "custom", "--dataset-path", folder.prompts,
                         "--skip-chat-template", "--disable-tqdm", "--save-result", "--result-dir", folder.path,
                         "--result-filename", "r.json")
            same(result.status, 0, "exit status", result)
            saved = folder.json("r.json")
        texts = ["answer %d" % i for i, (_, head, _) in enumerate(server.requests)
                 if b"/completions" in head.split(b"\r\n")[0]]
    same(len(texts), 40, "requests")
    same(saved["total_output_tokens"], sum(map(len, texts)), "letters of all answers", result)
    same(script.most, 8, "questions at a time")


def test_a_prompt_that_cannot_be_right_is_as_near_as_it_gets():
    """A token a letter, but a text of an odd number of tokens comes back with one letter more: 23 is never met, 24 is."""
    with RawServer(None) as server:
        def script(index):
            _, head, body = server.requests[index]
            line = head.split(b"\r\n")[0]
            if b"/detokenize" in line:
                ids = json.loads(body)["tokens"]
                text = "".join(map(chr, ids)) + "!" * (len(ids) % 2)
                return [answer(b"200 OK", json.dumps({"prompt": text}).encode())]
            if b"/tokenize" in line:
                text = json.loads(body)["prompt"]
                return [answer(b"200 OK", json.dumps({"tokens": [ord(c) for c in text]}).encode())]
            return [stream()]

        server.script = script
        result = run("serve", "--model", "m", "--host", "127.0.0.1", "--port", str(server.port), "--tokenizer", MINI,
                     "--num-prompts", "3", "--random-input-len", "23", "--disable-tqdm")
        same(result.status, 0, "exit status", result)
        sent = [json.loads(body)["prompt"] for _, head, body in server.requests
                if b"/completions" in head.split(b"\r\n")[0]]
        same([len(prompt) for prompt in sent], [24] * 3, "letters", result)
        holds("differently from the local tokenizer (is it the model's?); 3 prompts were repaired, 3 still differ"
              in result.err, "it is said", result)


# ---- which tokenizer is taken --------------------------------------------------------------------------------------

MINI = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "tok-mini")
RANKS = "".join("%s %d\n" % (base64.b64encode(bytes([i])).decode(), i) for i in range(256))
OWN = "Tokenizer: the server's own (POST http://127.0.0.1:%d/tokenize) for model 'no/such-model'"


class Places:
    """Folders with tokenizers of every kind, and a hub cache."""

    def __init__(self, folder):
        self.folder = folder
        with open(os.path.join(MINI, "tokenizer.json"), encoding="utf-8") as f:
            mini = f.read()
        self.write("good/tokenizer.json", mini)
        self.write("good/tiktoken.model", RANKS)
        self.write("alone/my-tokenizer.json", mini)
        for name in ("tiktoken.model", "qwen.tiktoken", "vocab.tiktoken"):
            self.write("ranks-%s/%s" % (name.split(".")[0], name), RANKS)
        self.write("half/tokenizer.json", '{"model":')
        self.write("half/tiktoken.model", RANKS)
        self.write("bad/tokenizer.json", '{"model":')
        self.write("bad/tiktoken.model", "x y\n")
        self.write("empty/readme.txt", "")
        self.write("gpt2/tokenizer.json", mini)
        self.write("hub/models--org--name/refs/main", "c0ffee")
        self.write("hub/models--org--name/snapshots/c0ffee/tokenizer.json", mini)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.folder(name)), exist_ok=True)
        with open(self.folder(name), "w", encoding="utf-8") as f:
            f.write(text)

    def dry(self, port, tokenizer, *flags):
        return run("serve", "--model", "no/such-model", "--host", "127.0.0.1", "--port", str(port), "--num-prompts",
                   "2", "--dataset-name", "custom", "--dataset-path", self.folder.prompts, "--skip-chat-template",
                   "--disable-tqdm", "--dry-run", "--tokenizer", tokenizer, *flags, cwd=self.folder.path,
                   env={"HF_HUB_CACHE": self.folder("hub"), "HF_HUB_OFFLINE": "1"})


def test_local_tokenizers_in_their_order():
    rows = [("gpt2", "built-in encoding gpt2, vocabulary of 50257"),  # though there is a folder of this name
            ("o200k_base", "built-in encoding o200k_base, vocabulary of 200275"),
            ("./gpt2", "byte-level BPE, 8189 entries and 3 added tokens"),
            ("good", "byte-level BPE, 8189 entries and 3 added tokens"),
            ("alone/my-tokenizer.json", "byte-level BPE, 8189 entries and 3 added tokens"),
            ("ranks-tiktoken", "tiktoken ranks, 256 entries and 256 added tokens"),
            ("ranks-qwen", "tiktoken ranks, 256 entries and 256 added tokens"),
            ("ranks-vocab", "tiktoken ranks, 256 entries and 256 added tokens"),
            ("org/name", "byte-level BPE, 8189 entries and 3 added tokens"),
            ("half", "tiktoken ranks, 256 entries and 256 added tokens; passed over: tokenizer.json: malformed at byte")]
    with Folder(2) as folder, RawServer(lambda i: [answer(b"404 Not Found", b"{}")]) as server:
        places = Places(folder)
        for name, kind in rows:
            result = places.dry(server.port, name)
            same(result.status, 0, "exit status with %s" % name, result)
            holds(kind in result.err, "'%s' for %s" % (kind, name), result)
        same(server.requests, [], "the server is not asked")


def test_the_server_is_asked_where_nothing_else_loads():
    rows = [("empty", "no tokenizer.json and none of tiktoken.model, qwen.tiktoken, vocab.tiktoken"),
            ("bad", "tokenizer.json: malformed at byte 9; tiktoken.model: line 1 is no token with a rank"),
            ("bad/tokenizer.json", "tokenizer.json: malformed at byte 9"),
            ("no/where", "'no/where' is no built-in encoding and no local path; 'tokenizer.json' of the model 'no/where'"),
            ("/no/where", "'/no/where' is no built-in encoding and no local path")]
    with Folder(2) as folder:
        places = Places(folder)
        for name, why in rows:
            script = Letters()
            with RawServer(script) as server:
                script.server = server
                result = places.dry(server.port, name)
            same(result.status, 0, "exit status with %s" % name, result)
            same(total(result), text_bytes(2), "letters", result)
            holds("warning: --tokenizer: " in result.err and why in result.err, "why %s is not used" % name, result)
            holds(OWN % server.port in result.err, "what is used instead", result)


def test_nothing_at_all_is_one_error_with_all_causes():
    with Folder(2) as folder, RawServer(lambda i: [answer(b"404 Not Found", b'{"detail":"Not Found"}')]) as server:
        places = Places(folder)
        result = places.dry(server.port, "bad")
        same((result.status, result.out), (1, ""), "exit status, stdout", result)
        error = result.err[result.err.index("error: "):]
        for words in ("there is no tokenizer for 'bad'", "with --tokenizer", "tokenizer.json: malformed at byte 9",
                      "tiktoken.model: line 1 is no token with a rank",
                      "POST http://127.0.0.1:%d/tokenize: HTTP 404: Not Found" % server.port):
            holds(words in error, words, result)
        result = places.dry(server.port, "bad", "--skip-tokenizer-init")
        same(result.status, 0, "exit status without a tokenizer", result)


main(globals())
