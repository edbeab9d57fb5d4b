#!/usr/bin/env python3
"""Does this program do what Python's `vllm bench serve` does?  Both are run with the same flags against one small server that
keeps what it is sent, and compared: the requests in order (path, headers that matter, every key and value of the bodies in
their order), the numbers in the result that do not depend on time, the order of its keys, and the times at which requests are
due.  Python's package is imported once; its waiting is cut out, so that its arrival times are seen without being waited for.

Use: parity.py --python PATH --bin build/vllm-bench --toks FOLDER [--seeds 0,1,...] [--families a,b] [--list] [CASE ...]
PATH is a Python with vllm 0.33.0; FOLDER holds one folder per tokenizer.  CASE takes shell wildcards; names are
GROUP/CASE/FAMILY/SEED.  The last line counts; exits 1 when anything differs."""
import argparse
import base64
import contextlib
import fnmatch
import http.server
import json
import os
import re
import socketserver
import struct
import subprocess
import sys
import tempfile
import threading
import wave
import zlib

SEEDS = (0, 1, 7, 42, 123456789, 2**31 - 1)
FAMILIES = ("qwen3", "llama3_1", "gemma3", "deepseek_v3", "gptoss", "llama2", "mistral_nemo")
STABLE = ("endpoint_type backend label model_id tokenizer_id num_prompts request_rate burstiness max_concurrency completed "
          "failed total_input_tokens total_output_tokens total_input_sequences input_lens output_lens generated_texts errors "
          "ramp_up_strategy ramp_up_start_rps ramp_up_end_rps").split()
HEADERS = ("content-type", "authorization", "x-request-id", "x-test")


# ---- the server --------------------------------------------------------------------------------------------------------------

def sse(events):
    return "".join("data: %s\n\n" % (e if isinstance(e, str) else json.dumps(e)) for e in events).encode()


def answer(path):
    """Content type and bytes; every answer brings three tokens."""
    words = [" one", " two", " three"]
    usage = {"completion_tokens": 3, "total_tokens": 3}
    if path.endswith("/chat/completions") or path.endswith("/transcriptions") or path.endswith("/translations"):
        events = [{"choices": [{"index": 0, "delta": {"content": w}}]} for w in words]
        return "text/event-stream", sse(events + [{"choices": [], "usage": usage}, "[DONE]"])
    if path.endswith("/completions"):
        events = [{"choices": [{"index": 0, "text": w}]} for w in words]
        return "text/event-stream", sse(events + [{"choices": [], "usage": usage}, "[DONE]"])
    if path.endswith("/responses"):
        events = [{"type": "response.output_text.delta", "delta": w} for w in words]
        return "text/event-stream", sse(events + [{"type": "response.completed", "response": {
            "status": "completed", "usage": {"output_tokens": 3}}}])
    if "embeddings" in path or path.endswith("/pooling"):
        return "application/json", json.dumps({"data": [{"index": 0, "embedding": [0.5]}],
                                               "usage": {"prompt_tokens": 5, "total_tokens": 5}}).encode()
    if path.endswith("rerank"):
        return "application/json", json.dumps({"results": [{"index": 0, "relevance_score": 0.5}],
                                               "usage": {"prompt_tokens": 6, "total_tokens": 6}}).encode()
    return None, None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.send_error(404)

    def do_POST(self):
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0)) \
            if not self.headers.get("Transfer-Encoding") else self.read_chunks()
        kind, out = answer(self.path)
        if not self.path.endswith("tokenize"):
            self.server.log.append((self.path, [(k.lower(), v) for k, v in self.headers.items()], data))
        if out is None:
            return self.send_error(404)
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(out)))
        self.end_headers()
        self.wfile.write(out)

    def read_chunks(self):
        parts = []
        while True:
            size = int(self.rfile.readline().split(b";")[0], 16)
            parts.append(self.rfile.read(size))
            self.rfile.readline()
            if size == 0:
                return b"".join(parts)


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 256
    log = None


# ---- Python's side -----------------------------------------------------------------------------------------------------------

def child():
    """Runs argument lists that come as JSON lines; imported modules and tokenizers stay."""
    reply = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    import asyncio
    import time
    import types
    from vllm.benchmarks import serve
    from vllm.utils.argparse_utils import FlexibleArgumentParser
    due = []
    state = {"last": 0.0}
    real_tokenizer, kept = serve.get_tokenizer, {}

    def get_tokenizer(name, **more):
        if name not in kept:
            if len(kept) > 1:
                kept.clear()
            kept[name] = real_tokenizer(name, **more)
        return kept[name]

    class Clock(types.ModuleType):
        def __getattr__(self, name):
            return getattr(time, name)

        def time(self):
            return 0.0

    class Loop(types.ModuleType):
        def __getattr__(self, name):
            return getattr(asyncio, name)

        async def sleep(self, seconds, *rest):
            state["last"] = seconds
            await asyncio.sleep(0)

    real_requests = serve.get_request

    async def get_request(*args, **more):
        async for item in real_requests(*args, **more):
            due.append(state["last"])
            state["last"] = 0.0
            yield item

    serve.get_tokenizer, serve.get_request, serve.freeze_gc_heap = get_tokenizer, get_request, lambda: None
    serve.time, serve.asyncio = Clock("time"), Loop("asyncio")
    parser = FlexibleArgumentParser()
    serve.add_cli_args(parser)
    print(json.dumps("ready"), file=reply, flush=True)
    for line in sys.stdin:
        due.clear()
        state["last"] = 0.0
        out = {"error": None}
        try:
            asyncio.run(serve.main_async(parser.parse_args(json.loads(line))))
        except (Exception, SystemExit) as e:  # pylint: disable=broad-except
            out["error"] = "%s: %s" % (type(e).__name__, str(e)[:300])
        out["due"] = list(due)
        print(json.dumps(out), file=reply, flush=True)


class Peer:
    def __init__(self, python, errors):
        env = dict(os.environ, HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", HF_DATASETS_OFFLINE="1", NO_COLOR="1",
                   PYTHONHASHSEED="0", VLLM_LOGGING_LEVEL="ERROR")
        self.process = subprocess.Popen([python, os.path.abspath(__file__), "--child"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=errors, text=True, env=env)
        self.read()

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit("Python's side ended")
        return json.loads(line)

    def run(self, argv):
        self.process.stdin.write(json.dumps(argv) + "\n")
        self.process.stdin.flush()
        return self.read()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


# ---- data --------------------------------------------------------------------------------------------------------------------

TEXTS = ["Write a haiku about the sea.", "Erkläre die Fourier-Transformation in einfachen Worten, bitte!", "你好，世界：请写一首诗。",
         "def f(x):\n    return x ** 2\n\n# what does it do?", "emoji 😀👩‍👩‍👧 and tabs\t\tand  spaces  ", "\u00c5ngstr\u00f6m \ufb01 A\u030a \u200d zero-width",
         "a", "<|im_start|>user says </s> <bos> [INST] hi", "1234567890 3.14159 1,000,000", "The quick brown fox jumps over the lazy dog. " * 9]


def png(path, width, height, kind):
    channels = {"gray": 1, "rgb": 3, "rgba": 4}[kind]
    rows = b"".join(b"\0" + bytes((x * 7 + y * 13 + c * 50) % 256 for x in range(width) for c in range(channels))
                    for y in range(height))

    def chunk(tag, data):
        return struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data))
    head = struct.pack(">IIBBBBB", width, height, 8, {"gray": 0, "rgb": 2, "rgba": 6}[kind], 0, 0, 0)
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def lines(path, rows):
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(json.dumps(r, ensure_ascii=False) + "\n" for r in rows)


def make_data(d):
    lines(d + "/custom.jsonl", [{"prompt": t, "output_tokens": 3 + i} for i, t in enumerate(TEXTS)])
    talk = [{"id": str(i), "conversations": [{"from": "human", "value": t}, {"from": "gpt", "value": TEXTS[(i * 3 + 1) % 10]},
                                             {"from": "human", "value": "and?"}]} for i, t in enumerate(TEXTS)]
    talk += [{"id": "short", "conversations": [{"from": "human", "value": "alone, without any answer"}]}]
    with open(d + "/sharegpt.json", "w", encoding="utf-8") as f:
        json.dump(talk, f)
    talk[3]["image"], talk[4]["video"] = "/data/cat.jpg", "https://example.com/a.mp4"
    with open(d + "/sharegpt_image.json", "w", encoding="utf-8") as f:
        json.dump(talk, f)
    with open(d + "/burst.csv", "w", encoding="utf-8") as f:
        f.write("Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n")
        for i in range(40):
            f.write("%d,%s,%d,%d,%d,Conversation log\n" % (i, "GPT-4" if i % 3 else "ChatGPT", 5 + i * 7 % 90, i % 5 * 11,
                                                           5 + i * 7 % 90 + i % 5 * 11))
    lines(d + "/spec.jsonl", [{"question_id": i, "category": "math" if i % 2 else "writing", "turns": [t, "more"]}
                              for i, t in enumerate(TEXTS)])
    os.mkdir(d + "/speed")
    lines(d + "/speed/qualitative.jsonl", [{"category": "coding" if i % 2 else "math",
                                            "messages": [{"role": "user", "content": t}]} for i, t in enumerate(TEXTS) if len(t) > 1])
    lines(d + "/trace.jsonl", [{"timestamp": 40 * i, "input_length": 30 + i, "output_length": 2 + i, "hash_ids": [1, 2 + i, 9]}
                               for i in range(8)])
    for kind in ("gray", "rgb", "rgba"):
        png("%s/%s.png" % (d, kind), 20, 12, kind)
    lines(d + "/image.jsonl", [
        {"prompt": TEXTS[0], "image_files": [d + "/rgb.png"]}, {"prompt": TEXTS[1], "image_files": [d + "/rgba.png", d + "/gray.png"]},
        {"content": [{"type": "text", "text": TEXTS[2]}, {"type": "image", "image": d + "/rgb.png"}, {"type": "text", "text": "and"}]},
        {"content": [{"type": "image_url", "image_url": {"url": "https://example.com/a.png", "detail": "low"}},
                     {"type": "text", "text": TEXTS[3]}]},
        {"content": [{"type": "image_url", "image_url": "data:image/png;base64,AAAA"}, {"type": "text", "text": "x y"}]}])
    lines(d + "/local.jsonl", [{"prompt": TEXTS[i], "image_files": ["%s/%s.png" % (d, k)]}
                               for i, k in enumerate(("gray", "rgb", "rgba"))])
    for i, rate in enumerate((16000, 8000)):
        with wave.open("%s/tone%d.wav" % (d, i), "wb") as w:
            w.setparams((1 + i, 2, rate, 0, "NONE", ""))
            w.writeframes(bytes((j * 37 % 256) for j in range(3200 * (1 + i))))
    lines(d + "/audio.jsonl", [{"prompt": "transcribe", "audio": d + "/tone0.wav", "output_tokens": 4},
                               {"prompt": "", "audio": d + "/tone1.wav", "output_tokens": 5}])


# ---- cases -------------------------------------------------------------------------------------------------------------------

CHAT = ["--backend", "openai-chat", "--endpoint", "/v1/chat/completions"]
EMBED = ["--backend", "openai-embeddings", "--endpoint", "/v1/embeddings"]
RERANK = ["--backend", "vllm-rerank", "--endpoint", "/v1/rerank"]


def dataset_cases(d):
    r = ["--dataset-name", "random", "--random-output-len", "6"]
    mm = ["--dataset-name", "random-mm", "--random-input-len", "12", "--random-output-len", "4", "--num-prompts", "5"] + CHAT
    yield "random", r + ["--random-input-len", "40"]
    yield "random_many", r + ["--random-input-len", "9", "--num-prompts", "60"]
    yield "random_long", r + ["--random-input-len", "1500", "--num-prompts", "3"]
    yield "random_prefix", r + ["--random-input-len", "20", "--random-prefix-len", "33"]
    yield "random_range", r + ["--random-input-len", "50", "--random-range-ratio", "0.8", "--num-prompts", "20"]
    yield "random_range_json", r + ["--random-input-len", "31", "--random-range-ratio", '{"input": 0.25, "output": 0.9}',
                                    "--random-prefix-len", "5"]
    yield "random_tiny", r + ["--random-input-len", "3", "--num-prompts", "12"]
    yield "random_batch", r + ["--random-input-len", "12", "--random-batch-size", "3", "--num-prompts", "8"] + EMBED
    yield "random_input_len", ["--dataset-name", "random", "--input-len", "17", "--output-len", "5"]
    rerank = ["--dataset-name", "random-rerank", "--random-input-len", "40", "--random-batch-size", "3", "--num-prompts", "8",
              "--random-range-ratio", "0.3"]
    yield "rerank", rerank + RERANK
    yield "rerank_no", rerank + ["--no-reranker"] + EMBED
    yield "rerank_one", ["--dataset-name", "random-rerank", "--random-input-len", "64"] + RERANK
    yield "prefix", ["--dataset-name", "prefix_repetition", "--prefix-repetition-prefix-len", "40",
                     "--prefix-repetition-suffix-len", "25", "--prefix-repetition-num-prefixes", "3", "--num-prompts", "11",
                     "--prefix-repetition-output-len", "4"]
    yield "prefix_still", ["--dataset-name", "prefix_repetition", "--prefix-repetition-prefix-len", "7", "--disable-shuffle",
                           "--prefix-repetition-suffix-len", "9", "--prefix-repetition-num-prefixes", "2", "--num-prompts", "6"]
    yield "mm_default_small", mm + ["--random-mm-bucket-config", "{(16, 24, 1): 0.3, (40, 8, 1): 0.7}"]
    yield "mm_many", mm + ["--random-mm-base-items-per-request", "4", "--random-mm-num-mm-items-range-ratio", "0.6",
                           "--random-mm-limit-mm-per-prompt", '{"image": 5, "video": 0}', "--random-range-ratio", "0.4",
                           "--random-mm-bucket-config", "{(16, 16, 1): 0.5, (17, 33, 1): 0.25, (8, 8, 1): 0.25}"]
    yield "mm_limit", mm + ["--random-mm-base-items-per-request", "3", "--random-mm-limit-mm-per-prompt", '{"image": 2}',
                            "--random-mm-bucket-config", '{"(24, 24, 1)": 1}', "--random-prefix-len", "6"]
    yield "mm_chat", mm + ["--enable-multimodal-chat", "--random-mm-bucket-config", "{(32, 20, 1): 1.0}"]
    yield "mm_default", mm[:6] + ["--num-prompts", "3"] + CHAT
    yield "mm_video", mm + ["--random-mm-base-items-per-request", "3", "--random-mm-bucket-config",
                            "{(16, 16, 1): 0.6, (32, 16, 4): 0.4}", "--random-mm-limit-mm-per-prompt", '{"image": 2, "video": 2}']
    yield "mm_none", mm + ["--random-mm-base-items-per-request", "0"]
    share = ["--dataset-name", "sharegpt", "--dataset-path", d + "/sharegpt.json"]
    yield "sharegpt", share + ["--num-prompts", "5"]
    yield "sharegpt_more", share + ["--num-prompts", "14"]
    yield "sharegpt_out", share + ["--sharegpt-output-len", "9", "--num-prompts", "12", "--no-oversample"]
    picture = ["--dataset-name", "sharegpt", "--dataset-path", d + "/sharegpt_image.json", "--num-prompts", "9"] + CHAT
    yield "sharegpt_picture", picture
    yield "sharegpt_chat", picture + ["--enable-multimodal-chat", "--disable-shuffle"]
    yield "burstgpt", ["--dataset-name", "burstgpt", "--dataset-path", d + "/burst.csv", "--num-prompts", "9"]
    yield "burstgpt_more", ["--dataset-name", "burstgpt", "--dataset-path", d + "/burst.csv", "--num-prompts", "35"]
    c = ["--dataset-name", "custom", "--dataset-path", d + "/custom.jsonl"]
    yield "custom", c + ["--num-prompts", "6"]
    yield "custom_all", c + ["--num-prompts", "0", "--custom-output-len", "-1"]
    yield "custom_more", c + ["--num-prompts", "17", "--skip-chat-template"]
    yield "custom_raw", c + ["--skip-chat-template", "--disable-shuffle", "--output-len", "5"]
    yield "custom_chat", c + ["--no-oversample", "--num-prompts", "15"] + CHAT
    yield "custom_kwargs", c + ["--chat-template-kwargs", '{"enable_thinking": false}']
    i = ["--dataset-name", "custom_image", "--dataset-path", d + "/image.jsonl"] + CHAT
    yield "image", i + ["--num-prompts", "5"]
    yield "image_chat", i + ["--enable-multimodal-chat", "--num-prompts", "7"]
    yield "image_data", i[:3] + [d + "/local.jsonl"] + CHAT + ["--custom-ensure-client-side-data"]
    a = ["--dataset-name", "custom_audio", "--dataset-path", d + "/audio.jsonl", "--custom-output-len", "6"]
    yield "audio", a + ["--backend", "openai-audio", "--endpoint", "/v1/audio/transcriptions", "--num-prompts", "3"]
    yield "audio_chat", a + CHAT + ["--enable-multimodal-chat", "--num-prompts", "2"]
    s = ["--dataset-name", "spec_bench", "--dataset-path", d + "/spec.jsonl", "--spec-bench-output-len", "7"]
    yield "spec", s + ["--num-prompts", "8"]
    yield "spec_math", s + ["--spec-bench-category", "math", "--num-prompts", "7"]
    s = ["--dataset-name", "speed_bench", "--dataset-path", d + "/speed", "--speed-bench-output-len", "7"]
    yield "speed", s + ["--num-prompts", "8"]
    yield "speed_math", s + ["--speed-bench-category", "math", "--num-prompts", "5", "--skip-chat-template"]


def backend_cases(d):
    c = ["--dataset-name", "custom", "--dataset-path", d + "/custom.jsonl", "--skip-chat-template", "--custom-output-len", "5"]
    image = ["--dataset-name", "custom_image", "--dataset-path", d + "/local.jsonl", "--custom-ensure-client-side-data"]
    generation = {"openai": "/v1/completions", "vllm": "/v1/completions", "openai-chat": "/v1/chat/completions",
                  "openai-responses": "/v1/responses"}
    sampling = {
        "plain": [], "greedy": ["--temperature", "0"], "ignore": ["--ignore-eos"],
        "sampling": ["--temperature", "0.7", "--top-p", "0.95", "--top-k", "40", "--min-p", "0.05", "--frequency-penalty", "0.5",
                     "--presence-penalty=-0.25", "--repetition-penalty", "1.1"],
        "ones": ["--temperature", "1", "--top-p", "1", "--top-k", "-1", "--repetition-penalty", "1.0"],
        "small": ["--temperature", "1e-7", "--top-p", "0.1", "--min-p", "1e-05"],
        "extra": ["--extra-body", '{"stop": ["\\n", "é"], "seed": 7, "temperature": 0.25, "nested": {"b": [1, 2.5, null, true]}}'],
        "extra_over": ["--temperature", "0.5", "--extra-body", '{"max_tokens": 2, "model": "other", "ignore_eos": false}'],
        "logprobs": ["--logprobs", "3"], "beam": ["--use-beam-search"],
        "headers": ["--header", "X-Test=a b", "Authorization=Bearer zzz"], "served": ["--served-model-name", "served-x"],
        "lora": ["--lora-modules", "a", "b", "c", "--num-prompts", "13"],
        "lora_robin": ["--lora-modules", "a", "b", "--lora-assignment", "round-robin"],
        "warm": ["--num-warmups", "2", "--ready-check-timeout-sec", "5"],
        "goodput": ["--goodput", "ttft:5000", "e2el:1"], "metadata": ["--metadata", "a=b", "c=d=e", "--label", "lab"],
        "percentiles": ["--metric-percentiles", "5,50,99.9", "--percentile-metrics", "ttft,tpot,itl,e2el"],
    }
    for backend, path in generation.items():
        for name, flags in sampling.items():
            yield "%s_%s" % (backend, name), c + ["--backend", backend, "--endpoint", path] + flags
        yield backend + "_random", ["--dataset-name", "random", "--random-input-len", "15", "--random-output-len", "4",
                                    "--backend", backend, "--endpoint", path]
    pooling = {"openai-embeddings": "/v1/embeddings", "infinity-embeddings": "/embeddings", "vllm-pooling": "/pooling"}
    for backend, path in pooling.items():
        for name in ("plain", "extra", "served", "headers", "metadata"):
            yield "%s_%s" % (backend, name), c + ["--backend", backend, "--endpoint", path] + sampling[name]
        yield backend + "_e2el", c + ["--backend", backend, "--endpoint", path, "--percentile-metrics", "e2el",
                                      "--metric-percentiles", "50,90"]
    for backend, path in (("openai-embeddings-chat", "/v1/embeddings"), ("openai-embeddings-clip", "/v1/embeddings"),
                          ("openai-embeddings-vlm2vec", "/v1/embeddings"), ("infinity-embeddings-clip", "/embeddings")):
        count = "1" if backend.startswith("infinity") else "3"
        yield backend, image + ["--backend", backend, "--endpoint", path, "--num-prompts", count]
    yield "rerank", ["--dataset-name", "random-rerank", "--random-input-len", "30", "--random-batch-size", "2"] + RERANK


def schedule_cases():
    base = ["--dataset-name", "random", "--random-input-len", "4", "--random-output-len", "2", "--num-prompts", "300"]
    for rate in ("0.37", "7", "1000", "inf"):
        for burst in ("1", "0.3", "0.05", "2.5", "40", "inf"):
            if rate != "inf" or burst in ("1", "2.5"):
                yield "rate%s_burst%s" % (rate, burst), base + ["--request-rate", rate, "--burstiness", burst]
    for strategy, start, end in (("linear", "0", "50"), ("linear", "1", "20"), ("exponential", "1", "64"),
                                 ("exponential", "3", "3")):
        for burst in ("1", "0.5", "inf"):
            yield "ramp_%s_%s_%s_burst%s" % (strategy, start, end, burst), base + [
                "--ramp-up-strategy", strategy, "--ramp-up-start-rps", start, "--ramp-up-end-rps", end, "--burstiness", burst]
    yield "lora_rate", base + ["--lora-modules", "a", "b", "c", "--request-rate", "5"]
    yield "prefix_rate", ["--dataset-name", "prefix_repetition", "--prefix-repetition-prefix-len", "8",
                          "--prefix-repetition-suffix-len", "8", "--num-prompts", "50", "--request-rate", "5"]


def all_cases(d, seeds, families):
    for family in families:
        for seed in seeds:
            for name, args in dataset_cases(d):
                if seed != 0 and name.startswith("sp"):
                    continue  # Python shuffles SPEC-Bench and SPEED-Bench with seed 0, whatever --seed says
                yield "data/%s/%s/%d" % (name, family, seed), args, family, seed
    for name, args in backend_cases(d):
        yield "backend/%s/%s/%d" % (name, families[0], seeds[0]), args, families[0], seeds[0]
    for name, args in backend_cases(d):
        if "lora" in name:
            for seed in seeds[1:]:
                yield "backend/%s/%s/%d" % (name, families[0], seed), args, families[0], seed
    for seed in seeds:
        for name, args in schedule_cases():
            yield "due/%s/%s/%d" % (name, families[0], seed), args, families[0], seed
    yield "due/trace/%s/0" % families[0], ["--dataset-name", "timed_trace", "--dataset-path", d + "/trace.jsonl",
                                           "--timed-trace-sec-multiplier", "0.001", "--num-prompts", "8"], families[0], 0


# ---- comparison --------------------------------------------------------------------------------------------------------------

def pairs(text):
    # A video's frames are compressed by another program.
    text = re.sub(r'data:video/mp4;base64,[^"]*', "data:video", text)
    return json.loads(text, object_pairs_hook=lambda p: ["{}"] + [list(x) for x in p])


def parts_of(kind, data):
    """Name, file name, type and content of the parts of a multipart body, in their order."""
    mark = b"--" + re.search(r'boundary="?([^";]+)', kind).group(1).encode()
    found = []
    for part in data.split(mark)[1:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        content = content[:-2]
        name = re.search(rb'name="([^"]*)"', head)
        file = re.search(rb'filename="([^"]*)"', head)
        found.append([name and name.group(1).decode(), file is not None,
                      base64.b64encode(content).decode()])
    return found


def normal(entry, ids):
    path, headers, data = entry
    kept = {k: v for k, v in headers if k in HEADERS}
    kind = kept.get("content-type", "")
    if "x-request-id" in kept and not ids:
        del kept["x-request-id"]
    if "multipart/" in kind:
        kept["content-type"] = "multipart"
        return [path, kept, sorted(parts_of(kind, data))]
    try:
        return [path, kept, pairs(data.decode())]
    except ValueError:
        return [path, kept, base64.b64encode(data).decode()]


def first_difference(a, b, where=""):
    if type(a) is not type(b):
        return "%s: %s against %s" % (where, short(a), short(b))
    if isinstance(a, dict):
        for k in list(a) + [k for k in b if k not in a]:
            if k not in a or k not in b:
                return "%s.%s only in %s" % (where, k, "Python's" if k in a else "ours")
            d = first_difference(a[k], b[k], "%s.%s" % (where, k))
            if d:
                return d
    elif isinstance(a, list):
        for i, (x, y) in enumerate(zip(a, b)):
            d = first_difference(x, y, "%s[%d]" % (where, i))
            if d:
                return d
        if len(a) != len(b):
            return "%s: %d against %d elements" % (where, len(a), len(b))
    elif a != b:
        if isinstance(a, str) and len(a) > 60:
            i = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
            return "%s: from character %d of %d/%d on %s against %s" % (where, i, len(a), len(b), short(a[max(0, i - 10):]),
                                                                        short(b[max(0, i - 10):]))
        return "%s: %s against %s" % (where, short(a), short(b))
    return None


def short(x):
    text = json.dumps(x, ensure_ascii=False)
    return text if len(text) < 90 else text[:80] + "..."


def compare_results(theirs, ours):
    found = []
    for key in STABLE:
        if key in theirs or (key in ours and key in ("total_input_sequences",)):
            d = first_difference(theirs.get(key), ours.get(key), key)
            if d and not (isinstance(theirs.get(key), (int, float)) and theirs.get(key) == ours.get(key)):
                found.append("result " + d)
    missing = [k for k in theirs if k not in ours]
    if missing:
        found.append("result lacks " + ", ".join(missing))
    order = [k for k in ours if k in theirs]
    if order != [k for k in theirs if k in ours]:
        found.append("keys in another order")
    return found


class Lab:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.errors = open(folder + "/python.err", "w+", encoding="utf-8")
        self.peer = Peer(args.python, self.errors)

    def argv(self, case, family, seed, name):
        have = {a for a in case if a.startswith("--")}
        base = []
        for flag, value in (("--num-prompts", "4"), ("--max-concurrency", "1"), ("--ready-check-timeout-sec", "0")):
            if flag not in have:
                base += [flag, value]
        return ["--host", "127.0.0.1", "--port", str(self.server.server_port), "--model", "m", "--tokenizer",
                os.path.join(self.args.toks, family), "--seed", str(seed), "--request-id-prefix", "req-", "--disable-tqdm",
                "--save-result", "--save-detailed", "--result-dir", self.folder, "--result-filename", name] + base + case

    def result(self, name):
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            return None
        with open(path, encoding="utf-8") as f:
            text = f.read()
        os.remove(path)
        return json.loads(text)

    def ours(self, argv):
        done = subprocess.run([self.args.bin, "bench", "serve"] + argv, capture_output=True, text=True, timeout=600)
        return done.returncode, done.stderr

    def due(self, case, family, seed):
        """Python's times of every request against those that our dry run saves."""
        theirs = self.peer.run(self.argv(case, family, seed, "p.json"))
        self.result("p.json")
        path = self.folder + "/w.jsonl"
        code, err = self.ours(self.argv(case, family, seed, "o.json") + ["--dry-run", "--save-workload", path])
        if theirs["error"] or code:
            return ["Python: %s; ours: %d %s" % (theirs["error"], code, err.strip()[-200:])] \
                if bool(theirs["error"]) != bool(code) else []
        with open(path, encoding="utf-8") as f:
            rows = [r for r in map(json.loads, f) if "prompt_len" in r]
        times = [r.get("due_ns", 0) for r in rows]
        if len(times) != len(theirs["due"]):
            return ["%d due times against %d" % (len(theirs["due"]), len(times))]
        for i, (a, b) in enumerate(zip(theirs["due"], times)):
            if abs(a * 1e9 - b) > 1:
                return ["request %d is due at %.9f s against %.9f s" % (i, a, b / 1e9)]
        return []

    def case(self, group, case, family, seed):
        if group == "due":
            return self.due(case, family, seed)
        self.server.log = theirs = []
        peer = self.peer.run(self.argv(case, family, seed, "p.json"))
        self.server.log = ours = []
        code, err = self.ours(self.argv(case, family, seed, "o.json"))
        p, o = self.result("p.json"), self.result("o.json")
        if peer["error"] or code:
            # Both refuse, or Python has no template where ours says so and sends the text as it is.
            if bool(peer["error"]) == bool(code) or "chat template functions" in str(peer["error"]):
                return []
            return ["Python: %s; ours: exit %d %s" % (peer["error"], code, err.strip()[-300:])]
        found = []
        ids = any(k == "x-request-id" for e in theirs for k, _ in e[1])
        d = first_difference([normal(e, ids) for e in theirs], [normal(e, ids) for e in ours], "request")
        if d:
            found.append(d)
        return found + compare_results(p, o)


def main():
    if sys.argv[1:] == ["--child"]:
        return child()
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--python", required=True)
    ap.add_argument("--bin", default="build/vllm-bench")
    ap.add_argument("--toks", required=True)
    ap.add_argument("--seeds", default=",".join(map(str, SEEDS)))
    ap.add_argument("--families", default=",".join(FAMILIES))
    ap.add_argument("--list", action="store_true")
    ap.add_argument("cases", nargs="*")
    args = ap.parse_args()
    args.bin = os.path.abspath(args.bin)
    bad = good = 0
    with tempfile.TemporaryDirectory() as folder:
        make_data(folder)
        chosen = [c for c in all_cases(folder, [int(s) for s in args.seeds.split(",")], args.families.split(","))
                  if not args.cases or any(fnmatch.fnmatch(c[0], p) for p in args.cases)]
        if args.list:
            print("\n".join(c[0] for c in chosen))
            return 0
        lab = Lab(args, folder)
        with contextlib.closing(lab.peer):
            for name, case, family, seed in chosen:
                found = lab.case(name.split("/")[0], case, family, seed)
                good, bad = good + (not found), bad + bool(found)
                for line in found:
                    print("%s: %s" % (name, line.replace(folder, "DATA")), flush=True)
    print("%d passed, %d failed" % (good, bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
