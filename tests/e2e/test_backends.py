"""What is particular to single APIs: adapters, pooling replies in bytes, counts of inputs, streams that must say that
they are over."""
import json

from harness import HEAD, Folder, Mock, RawServer, chunked, event, holds, kinds, main, run, same, serve, stream

EMBEDDING = {"data": [{"index": 0, "embedding": [0.5]}], "usage": {"prompt_tokens": 7, "total_tokens": 7}}


def reply(body, kind=b"application/json", fields=b""):
    return (b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n%s\r\n" % (kind, len(body), fields)) + body


def pool(port, *flags, n=1, backend="openai-embeddings"):
    with Folder() as folder:
        argv = folder.custom(port, n)
        at = argv.index("--temperature")
        done = run(*argv[:at], *argv[at + 2:], "--custom-output-len", "4", "--backend", backend, "--save-result",
                   "--save-detailed", "--result-dir", folder.path, "--result-filename", "r.json", *flags)
        done.result = folder.json("r.json")
    return done


def bodies(server):
    return [json.loads(body) for _, _, body in server.requests]


# ---- adapters ------------------------------------------------------------------------------------------------------

def models(*flags, n=5):
    with RawServer(lambda i: [stream()]) as server:
        done = serve(server.port, "--max-concurrency", "1", *flags, n=n)
    same(done.status, 0, "exit status", done)
    return [body["model"] for body in bodies(server)], done


def test_adapters_take_turns():
    sent, done = models("--lora-modules", "a", " b ", "--lora-assignment", "round-robin")
    same(sent, ["a", "b", "a", "b", "a"], "models", done)
    same(done.result["model_id"], "mock-model", "the result names the base model", done)


def test_adapters_are_drawn_as_python_draws_them():
    """random.seed(0); [random.choice("abc") for _ in range(5)] in Python 3.11."""
    sent, done = models("--lora-modules", "a", "b", "c", "--seed", "0")
    same(sent, ["b", "b", "a", "b", "c"], "models", done)


def test_ready_check_and_warm_ups_use_the_base_model():
    sent, done = models("--lora-modules", "a", "--lora-assignment", "round-robin", "--num-warmups", "2",
                        "--ready-check-timeout-sec", "5", "--served-model-name", "base", n=2)
    same(sent, ["base"] * 3 + ["a"] * 2, "models", done)


def test_an_extra_model_wins_over_adapters():
    sent, done = models("--lora-modules", "a", "--extra-body", '{"model": "x"}', n=2)
    same(sent, ["x", "x"], "models", done)


# ---- pooling -------------------------------------------------------------------------------------------------------

def test_latency_of_a_pooling_reply_ends_with_its_body():
    body = json.dumps(EMBEDDING).encode()
    whole = reply(body)
    with RawServer(lambda i: [whole[:-5], 0.08, whole[-5:]]) as server:
        done = pool(server.port)
    holds(80 <= done.result["mean_e2el_ms"] < 1000, "latency %r" % done.result["mean_e2el_ms"], done)
    same(done.result["total_input_tokens"], 7, "input tokens", done)
    same(done.result["total_input_sequences"], 1, "inputs", done)


def test_usage_that_is_missing_leaves_the_clients_count():
    with RawServer(lambda i: [reply(b'{"data":[]}')]) as server:
        done = pool(server.port, n=2)
    same(done.result["completed"], 2, "completed", done)
    same(done.result["total_input_tokens"], 2, "without a tokenizer a prompt counts 1, as in Python", done)


def test_replies_in_bytes_have_their_usage_in_a_header():
    raw = bytes(range(256))
    metadata = b"metadata: {\"usage\":{\"prompt_tokens\":9}}\r\n"
    with RawServer(lambda i: [reply(raw, b"application/octet-stream", metadata)]) as server:
        done = pool(server.port, "--extra-body", '{"encoding_format":"bytes"}', n=2)
        only = pool(server.port, "--extra-body", '{"encoding_format":"bytes_only"}', n=2, backend="vllm-pooling")
    same((done.result["completed"], done.result["total_input_tokens"]), (2, 18), "bytes", done)
    same((only.result["completed"], only.result["total_input_tokens"]), (2, 2), "bytes_only", only)
    same(bodies(server)[0]["encoding_format"], "bytes", "body")


def test_an_error_in_place_of_bytes_is_seen():
    error = json.dumps({"error": {"message": "no pooling model"}}).encode()
    with RawServer(lambda i: [reply(error)]) as server:
        done = pool(server.port, "--extra-body", '{"encoding_format":"bytes"}')
    same(kinds(done), {"error_event": 1}, "kinds", done)
    holds("no pooling model" in done.result["errors"][0], "text", done)


def test_documents_of_a_rerank_may_come_from_the_extra_body():
    with Mock() as mock:
        done = pool(mock.port, "--extra-body", '{"documents":["a","b","c"]}', n=4, backend="vllm-rerank")
    same(done.result["completed"], 4, "completed", done)
    same(done.result["total_input_sequences"], 12, "documents", done)
    holds("without documents" not in done.err, "no warning", done)


def test_a_rerank_without_documents_is_warned_about():
    with Mock() as mock:
        done = pool(mock.port, n=1, backend="vllm-rerank")
    holds("without documents" in done.err, "warning", done)


def test_every_pooling_api_meets_the_mock_server():
    with Mock("--ttft", "1") as mock:
        for backend in ("openai-embeddings", "openai-embeddings-chat", "openai-embeddings-clip", "vllm-pooling",
                        "openai-embeddings-vlm2vec", "infinity-embeddings", "infinity-embeddings-clip", "vllm-rerank"):
            done = pool(mock.port, n=8, backend=backend)
            same((done.status, done.result["completed"]), (0, 8), backend, done)


# ---- responses -----------------------------------------------------------------------------------------------------

def test_responses_meet_the_mock_server():
    with Mock("--ttft", "1", "--itl", "1", "--reasoning", "1") as mock:
        done = serve(mock.port, "--extra-body", '{"max_output_tokens":4}', backend="openai-responses", n=8)
    same((done.status, done.result["completed"]), (0, 8), "completed", done)
    same(done.result["total_output_tokens"], 32, "output tokens", done)
    same([len(g) for g in done.result["itls"]], [3] * 8, "gaps: reasoning is timed", done)
    holds(all(len(t.split()) == 3 for t in done.result["generated_texts"]), "reasoning is not collected", done)


def test_a_response_without_a_terminal_event_has_failed():
    delta = b"event: response.output_text.delta\n" + event({"type": "response.output_text.delta", "delta": "a"})
    with RawServer(lambda i: [HEAD + chunked(delta, delta, b"data: [DONE]\n\n")]) as server:
        done = serve(server.port, backend="openai-responses")
    same(kinds(done), {"closed_early": 1}, "kinds", done)
    holds("without terminal event" in done.result["errors"][0], "text", done)
    same(len(done.result["itls"][0]), 1, "the gap that was seen is kept", done)


# ---- transcriptions ------------------------------------------------------------------------------------------------

def sounds(folder):
    with open(folder("sound.jsonl"), "w", encoding="utf-8") as f:
        for n in range(1, 4):
            f.write(json.dumps({"audio": {"array": [0.25] * 1600 * n, "sampling_rate": 16000}}) + "\n")
    argv = folder.custom(0, 3)
    at = argv.index("--temperature")
    return [*argv[:at], *argv[at + 2:], "--dataset-name", "custom_audio", "--dataset-path", folder("sound.jsonl"),
            "--backend", "openai-audio", "--custom-output-len", "3", "--save-result", "--save-detailed", "--result-dir",
            folder.path, "--result-filename", "r.json"]


def test_recordings_go_up_as_forms():
    with RawServer(lambda i: [stream()]) as server, Folder() as folder:
        done = run(*sounds(folder), "--port", str(server.port), "--max-concurrency", "1", "--header",
                   "Content-Type=text/plain")
        requests = server.requests
    same(done.status, 0, "exit status", done)
    for number, (_, head, body) in enumerate(requests):
        types = [line for line in head.split(b"\r\n") if line.lower().startswith(b"content-type:")]
        same(len(types), 1, "content types", head)
        holds(b"multipart/form-data; boundary=" in types[0], "the form's own type", head)
        mark = b"--" + types[0].split(b"boundary=")[1]
        parts = body.split(mark)
        same((parts[0], parts[-1]), (b"", b"--\r\n"), "beginning and end of the form")
        headers, content = parts[1].split(b"\r\n\r\n", 1)
        holds(b'name="file"; filename="audio.wav"' in headers and b"audio/wav" in headers, "file part", headers)
        same((content[:4], len(content) - 2), (b"RIFF", 44 + 3200 * (number + 1)), "WAV, 16 bits a sample")
        values = [p.split(b"\r\n\r\n", 1)[1][:-2].decode() for p in parts[2:-1]]
        same(values, ["mock-model", "3", "True", "en", "True", "True"], "values in Python's order")


def test_transcriptions_meet_the_mock_server():
    with Mock("--ttft", "1", "--itl", "1") as mock, Folder() as folder:
        done = run(*sounds(folder), "--port", str(mock.port))
        done.result = folder.json("r.json")
    same((done.status, done.result["completed"]), (0, 3), "completed", done)
    same(done.result["total_output_tokens"], 9, "output tokens", done)
    same([len(g) for g in done.result["itls"]], [3] * 3, "gaps: the opening chunk counts, as in Python", done)
    holds(done.result["rtfx"] > 0, "seconds of sound", done)


# ---- refused before anything is sent -------------------------------------------------------------------------------

def test_a_data_set_without_sound_is_refused_by_the_audio_api():
    with RawServer(lambda i: [stream()]) as server, Folder() as folder:
        argv = folder.custom(server.port)
        at = argv.index("--temperature")
        done = run(*argv[:at], *argv[at + 2:], "--backend", "openai-audio")
    same(done.status, 2, "exit status", done)
    holds("openai-audio" in done.err and "recording" in done.err, "message", done)
    same(server.requests, [], "requests", done)


main(globals())
