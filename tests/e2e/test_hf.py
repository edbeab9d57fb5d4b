"""Data set hf: requests equal those that vLLM 0.33.0 makes of the same files (tests/data/hf/README.md), rows come in the
order of the library `datasets` 5.2.0, and faults are told."""
import json
import os

from fake_hub import FakeHub
from harness import DONE, HEAD, Folder, RawServer, chunked, event, holds, main, run, same, usage

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data")
HF = os.path.join(DATA, "hf")
TOKENIZER = os.path.join(DATA, "tok-mini")
BFCL = "gorilla-llm/Berkeley-Function-Calling-Leaderboard"
SHAREGPT = ["--hf-name", "Aeala/ShareGPT_Vicuna_unfiltered", "--hf-split", "train"]
CHAT, AUDIO = ["--backend", "openai-chat"], ["--backend", "openai-audio"]
LIBRISPEECH = ["--hf-name", "openslr/librispeech_asr", *AUDIO]

# File of the expected requests, folder of the data, number of requests, flags.
CASES = [
    ("mt", "mt-bench", 8, ["--hf-name", "philschmid/mt-bench"]),
    ("mt_seed", "mt-bench", 30, ["--hf-name", "philschmid/mt-bench", "--seed", "5"]),
    ("mt_skip", "mt-bench", 8, ["--hf-name", "philschmid/mt-bench", "--skip-chat-template", "--disable-shuffle"]),
    ("mt_nostream", "mt-bench", 8, ["--hf-name", "philschmid/mt-bench", "--no-stream", "--seed", "3"]),
    ("instruct", "instruct-coder", 14, ["--hf-name", "likaixin/InstructCoder", "--hf-output-len", "33"]),
    ("humaneval", "humaneval", 8, ["--hf-name", "openai/openai_humaneval", "--seed", "1"]),
    ("gsm8k", "gsm8k", 10, ["--hf-name", "openai/gsm8k"]),
    ("gsm8k_soc", "gsm8k", 20, ["--hf-name", "openai/gsm8k", "--hf-subset", "socratic", "--hf-split", "train"]),
    ("sharegpt", "sharegpt", 25, SHAREGPT),
    ("sharegpt_out", "sharegpt", 8, [*SHAREGPT, *CHAT, "--hf-output-len", "7", "--enable-multimodal-chat"]),
    ("aimo", "aimo", 14, ["--hf-name", "AI-MO/NuminaMath-CoT"]),
    ("zeta", "zeta", 8, ["--hf-name", "zed-industries/zeta", "--hf-output-len", "3"]),
    ("edit", "edit", 5, ["--hf-name", "vdaita/edit_5k_char", "--blazedit-min-distance", "0.25",
                         "--blazedit-max-distance", "0.8"]),
    ("mlperf", "mlperf", 6, ["--hf-name", "mgoin/mlperf-inference-llama2-data"]),
    ("mlperf_out", "mlperf", 6, ["--hf-name", "mgoin/mlperf-inference-llama3.1-data", "--hf-output-len", "5"]),
    ("mmstar", "mmstar", 15, ["--hf-name", "Lin-Chen/MMStar", *CHAT]),
    ("mmstar_chat", "mmstar", 4, ["--hf-name", "Lin-Chen/MMStar", *CHAT, "--enable-multimodal-chat"]),
    ("pictures", "pictures", 16, ["--hf-name", "Lin-Chen/MMStar", *CHAT, "--disable-shuffle"]),
    ("gray16", "gray16", 1, ["--hf-name", "Lin-Chen/MMStar", *CHAT, "--disable-shuffle"]),
    ("arena_bench", "arena-bench", 7, ["--hf-name", "lmarena-ai/vision-arena-bench-v0.1", *CHAT]),
    ("arena_chat", "arena-chat", 4, ["--hf-name", "lmarena-ai/VisionArena-Chat", *CHAT, "--enable-multimodal-chat"]),
    ("llava", "llava", 6, ["--hf-name", "lmms-lab/LLaVA-OneVision-Data", "--hf-split", "train", *CHAT]),
    ("mmvu", "mmvu", 4, ["--hf-name", "yale-nlp/MMVU", *CHAT]),
    ("asr", "librispeech", 6, LIBRISPEECH),
    ("asr_len", "librispeech", 3, [*LIBRISPEECH, "--asr-min-audio-len-sec", "0.1", "--asr-max-audio-len-sec", "0.25"]),
    ("earnings", "earnings", 6, ["--hf-name", "ArtificialAnalysis/Earnings22-Cleaned-AA", *AUDIO]),
    ("bfcl", "bfcl", 14, ["--hf-name", BFCL, *CHAT]),
    ("bfcl_cat", "bfcl", 6, ["--hf-name", BFCL, *CHAT, "--bfcl-categories", "parallel,simple", "--disable-shuffle"]),
]


def build(path, n, *flags, env=None):
    """The workload as a list of objects, and the run."""
    with Folder() as folder:
        save = folder("workload.jsonl")
        result = run("serve", "--model", "mock-model", "--tokenizer", TOKENIZER, "--dataset-name", "hf", "--dataset-path",
                     path, "--num-prompts", str(n), "--dry-run", "--disable-tqdm", "--save-workload", save, *flags,
                     env={"HF_HUB_OFFLINE": "1", **(env or {})})
        if result.status != 0:
            return None, result
        with open(save, encoding="utf-8") as f:
            return [json.loads(line) for line in f], result


def lines(*names):
    with open(os.path.join(HF, *names), encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def as_wanted(request, wanted):
    """Our request in the words of the expected one."""
    made = {"prompt": request.get("messages", request.get("prompt")), "prompt_len": request["prompt_len"],
            "output_len": request["output_len"]}
    if "messages" in wanted:
        made["prompt"], made["messages"] = wanted["prompt"], request.get("messages")
    if "extra" in wanted:
        made["extra"] = request.get("extra")
    if "file" in wanted:
        made["file"] = request["file"]["data"]
        made["name"] = request["file"].get("name") or "audio.wav"
    if "mm" in wanted:
        # With --enable-multimodal-chat the parts are in the messages.
        parts = request.get("media")
        made["mm"] = wanted["mm"] if isinstance(made["prompt"], list) else parts[0]
    return made


def check(expected, folder, n, flags):
    got, result = build(os.path.join(HF, folder), n, *flags)
    same(result.status, 0, "exit status", result)
    want = lines("expected", expected + ".jsonl")
    here = os.path.join(HF, folder)
    same(len(got), len(want), "requests", result)
    for i, (ours, theirs) in enumerate(zip(got, want)):
        text = json.dumps(theirs).replace("{FOLDER}", here)
        same(as_wanted(ours, theirs), json.loads(text), "request %d" % i)


def add_tests(namespace):
    for expected, folder, n, flags in CASES:
        def test(case=(expected, folder, n, flags)):
            check(*case)
        namespace["test_requests_as_python_makes_them_" + expected] = test


def test_rows_come_in_the_order_of_pythons_library():
    with open(os.path.join(HF, "expected", "order.json"), encoding="utf-8") as f:
        order = json.load(f)
    for name, ending, flags in (("jsonl", "jsonl", []), ("json", "json", []), ("whole", "jsonl", ["--no-stream"])):
        with Folder() as folder:
            os.mkdir(folder("set"))
            at = 0
            for k, count in enumerate(order["counts"]):
                rows = [{"prompt": "row %d of the table" % (at + i)} for i in range(count)]
                at += count
                with open(folder("set", "train-%02d.%s" % (k, ending)), "w", encoding="utf-8") as f:
                    f.write(json.dumps(rows) if ending == "json" else "".join(json.dumps(r) + "\n" for r in rows))
            got, result = build(folder("set"), at, "--seed", str(order["seed"]), *flags)
            same(result.status, 0, "exit status", result)
            same([int(r["prompt"].split()[1]) for r in got], order[name], "order of " + name)


# ---- data sets that are not known by name -----------------------------------------------------------------------------

def generic(rows, *flags, n=4, name="rows.jsonl"):
    with Folder() as folder:
        with open(folder(name), "w", encoding="utf-8") as f:
            f.write("".join(json.dumps(row) + "\n" for row in rows))
        return build(folder(name), n, "--disable-shuffle", "--no-oversample", *flags)


def test_columns_are_found_by_their_names():
    text = "seven quiet stones in the river"
    chat = [{"role": "system", "content": "s"}, {"role": "user", "content": [{"type": "text", "text": text}]},
            {"role": "assistant", "content": "one two three four five"}]
    human = [{"from": "human", "value": text}, {"from": "gpt", "value": "one two three four five"}]
    for row, want in (
            ({"messages": chat, "prompt": "not this one at all"}, text),
            ({"conversations": human}, text),
            ({"turns": [text, "more"], "prompt": "no"}, text),
            ({"context": "some context", "input": text, "answers": ["one two three four five"]}, "some context\n\n" + text),
            ({"question": text, "answer": "one two three four five"}, text),
            ({"id": 3, "instruction": text, "output": "one two three four five"}, text)):
        got, result = generic([row])
        same(result.status, 0, "exit status", result)
        same(got[0]["prompt"], want, "prompt", result)
        if "turns" in row:
            same(got[0]["output_len"], 128, "no answer", result)
            holds("128 tokens" in result.err, "told", result)
        else:
            # The answer is counted as a prompt of the same words is.
            alone, _ = generic([{"prompt": "one two three four five"}])
            same(got[0]["output_len"], alone[0]["prompt_len"], "answer's length", result)
    got, result = generic([{"a": text, "prompt": "no"}], "--hf-text-column", "a", "--hf-output-len", "9")
    same((got[0]["prompt"], got[0]["output_len"]), (text, 9), "given column", result)


def test_rows_without_a_prompt_are_left_out():
    got, result = generic([{"prompt": "a prompt of some words here"}, {"prompt": ""}, {"prompt": None}, {"prompt": "x"},
                           {"other": 1}, {"prompt": "another prompt of some words"}], n=9)
    same(len(got), 2, "requests", result)
    holds("3 of 6 rows read have no prompt" in result.err and "1 of 6 rows" in result.err, "told", result)


def test_an_object_with_one_list_of_objects_is_a_table():
    with Folder() as folder:
        with open(folder("all.json"), "w", encoding="utf-8") as f:
            json.dump({"version": 1, "data": [{"prompt": "number %d of the list of rows" % i} for i in range(3)]}, f)
        got, result = build(folder("all.json"), 3, "--disable-shuffle")
        same([r["prompt"][7] for r in got], ["0", "1", "2"], "rows", result)


def test_conversations_have_turns():
    with Folder() as folder:
        result = run("serve", "--model", "m", "--tokenizer", TOKENIZER, "--dataset-name", "hf", "--dataset-path",
                     os.path.join(HF, "sharegpt"), "--num-prompts", "5", "--multi-turn", *CHAT, "--dry-run")
        same(result.status, 0, "exit status", result)
        holds("conversations: 5" in result.out.replace("  ", " ") and "turns: 10" in result.out, "two turns each", result)


# ---- the hub ----------------------------------------------------------------------------------------------------------

def tree(folder):
    files = {}
    for root, _, names in os.walk(os.path.join(HF, folder)):
        for name in names:
            path = os.path.join(root, name)
            with open(path, "rb") as f:
                files[os.path.relpath(path, os.path.join(HF, folder))] = f.read()
    return files


def test_the_hub_gives_what_a_local_copy_gives():
    for folder, name, n, flags in (("gsm8k", "openai/gsm8k", 8, []), ("aimo", "AI-MO/NuminaMath-1.5", 9, []),
                                   ("bfcl", BFCL, 9, CHAT)):
        with FakeHub() as hub, Folder() as home:
            hub.add(name, tree(folder), kind="datasets")
            got, result = build(name, n, *flags, env=hub.env(home.path))
            same(result.status, 0, "exit status", result)
            want, _ = build(os.path.join(HF, folder), n, "--hf-name", name, *flags)
            same(got, want, "requests", result)
            same(hub.asked("socratic/test-00000-of-00001.parquet"), [], "only the files of the split")


def test_videos_are_fetched_and_named_by_their_place():
    with FakeHub() as hub, Folder() as home:
        hub.add("yale-nlp/MMVU", tree("mmvu"), kind="datasets")
        got, result = build("yale-nlp/MMVU", 2, *CHAT, env=hub.env(home.path))
        same(result.status, 0, "exit status", result)
        url = got[0]["media"][0]["video_url"]["url"]
        holds(url.startswith("file://" + home.path) and os.path.exists(url[7:]), url, result)
        same(len({r.path for r in hub.asked(".mp4")}), 2, "only those used")


def test_a_data_set_made_by_a_script_comes_from_the_parquet_form():
    with FakeHub() as hub, Folder() as home:
        hub.add("a/made", {"made.py": b"raise SystemExit", "README.md": b"# no table here\n"}, kind="datasets")
        files = {"default/train/0000.parquet": tree("humaneval")["test-00000-of-00001.parquet"]}
        hub.add("a/made", files, kind="datasets", revision="refs/convert/parquet")
        hub.info["a/made"] = {"dataset_info": {"default": {"splits": {"train": {}}}}}
        hub.parquet["a/made"] = {"parquet_files": [{"config": "default", "split": "train", "url": hub.url +
                                  "/datasets/a/made/resolve/refs%2Fconvert%2Fparquet/default/train/0000.parquet"}]}
        got, result = build("a/made", 3, env=hub.env(home.path))
        same(result.status, 0, "exit status", result)
        same(len(got), 3, "requests", result)


# ---- requests on the wire ----------------------------------------------------------------------------------------------

def test_tools_are_sent_with_the_messages():
    answer = HEAD + chunked(event({"choices": [{"index": 0, "delta": {"content": "a"}}]}), usage(1), DONE)
    with RawServer(lambda i: [answer]) as server:
        result = run("serve", "--host", "127.0.0.1", "--port", str(server.port), "--disable-tqdm", "--model", "m",
                     "--tokenizer", TOKENIZER, "--dataset-name", "hf", "--dataset-path", os.path.join(HF, "bfcl"),
                     "--hf-name", BFCL, *CHAT, "--num-prompts", "1", "--disable-shuffle")
        same(result.status, 0, "exit status", result)
        body = json.loads(server.requests[-1][2])
    want = lines("bfcl", "BFCL_v3_simple.json")[0]
    same(body["messages"], want["question"][0], "messages", result)
    same(body["tool_choice"], "auto", "choice")
    same(body["max_completion_tokens"], 512, "output length")
    function = body["tools"][0]["function"]
    same(function["name"], want["function"][0]["name"], "name")
    same(function["parameters"]["type"], "object", "dict is object")
    same(function["parameters"]["properties"]["x"]["type"], "number", "float is number")
    same(function["parameters"]["properties"]["y"], {"type": "array", "items": {"type": "string"}}, "tuple, any")
    same(function["parameters"]["properties"]["type"], {"type": "string"}, "a property of the name is none")


def test_recordings_go_up_with_names_and_types():
    """Types as aiohttp takes them from Python's mimetypes."""
    with RawServer(lambda i: [HEAD + chunked(event({"choices": [{"delta": {"content": "a"}}]}), usage(1), DONE)]) as server:
        result = run("serve", "--host", "127.0.0.1", "--port", str(server.port), "--disable-tqdm", "--model", "m",
                     "--tokenizer", TOKENIZER, "--dataset-name", "hf", "--dataset-path", os.path.join(HF, "earnings"),
                     "--hf-name", "ArtificialAnalysis/Earnings22-Cleaned-AA", *AUDIO, "--num-prompts", "6",
                     "--disable-shuffle", "--endpoint", "/v1/audio/transcriptions", "--max-concurrency", "1",
                     "--ready-check-timeout-sec", "0")
        same(result.status, 0, "exit status", result)
        bodies = [body for _, _, body in server.requests]
    types = {"a.wav": "audio/x-wav", "b.flac": "audio/flac", "c.ogg": "audio/ogg", "d.wav": "audio/x-wav",
             "e.flac": "audio/flac", "f.mp3": "audio/mpeg"}
    for body, (name, mime) in zip(bodies, types.items()):
        head, rest = body.split(b"\r\n\r\n", 1)
        holds(b"Content-Type: " + mime.encode() in head and b'filename="' + name.encode() + b'"' in head, head, result)
        with open(os.path.join(HF, "earnings", "media", name), "rb") as f:
            content = f.read()
        same(rest[:len(content)], content, "bytes of " + name)
    same(len(bodies), 6, "requests", result)


# ---- faults -------------------------------------------------------------------------------------------------------------

def refused(path, *flags, status=2, words=()):
    _, result = build(path, 2, *flags)
    same(result.status, status, "exit status", result)
    for word in words:
        holds(word in result.err, "says " + word, result)
    holds(len([x for x in result.err.splitlines() if x.startswith("vllm-bench: error")]) == 1, "one sentence", result)


def test_faults_name_the_flag_and_what_there_is():
    gsm8k, bfcl = os.path.join(HF, "gsm8k"), os.path.join(HF, "bfcl")
    refused(gsm8k, "--hf-name", "openai/gsm8k", "--hf-split", "dev", words=["--hf-split", "'dev'", "train, test"])
    refused(gsm8k, "--hf-name", "openai/gsm8k", "--hf-subset", "x", words=["--hf-subset", "'x'", "main, socratic"])
    refused(os.path.join(HF, "edit"), "--hf-text-column", "nope", words=["--hf-text-column", "code, change_request"])
    refused(os.path.join(HF, "earnings"), words=["url, transcript", "--hf-text-column"])
    refused(bfcl, "--hf-name", BFCL, words=["openai-chat"])
    refused(bfcl, "--hf-name", BFCL, *CHAT, "--bfcl-categories", "simpel", words=["'simpel'", "live_simple, multiple"])
    refused(os.path.join(HF, "mmstar"), "--hf-name", "Lin-Chen/MMStar", words=["openai-chat"])
    refused(os.path.join(HF, "librispeech"), "--hf-name", "openslr/librispeech_asr", words=["openai-audio"])
    refused(os.path.join(HF, "mt-bench", "question.txt"), words=["neither a file nor a folder"])
    refused(os.path.join(HF, "earnings", "media", "a.wav"), words=["must end in .parquet"])
    refused(os.path.join(HF, "edit"), "--hf-name", "vdaita/edit_5k_char", "--blazedit-min-distance", "0.9",
            "--blazedit-max-distance", "0.1", words=["--blazedit-min-distance"])


def test_faults_in_rows_name_the_file_and_the_row():
    with Folder() as folder:
        with open(folder("train.jsonl"), "w", encoding="utf-8") as f:
            f.write('{"turns": ["a good first row"]}\n{"turn": 1, "id": 2}\n')
        _, result = build(folder.path, 2, "--hf-name", "philschmid/mt-bench", "--disable-shuffle")
        same(result.status, 1, "exit status", result)
        holds("train.jsonl': row 2" in result.err and "'turns'" in result.err and "turn, id" in result.err, "told", result)
        with open(folder("train.jsonl"), "w", encoding="utf-8") as f:
            f.write('{"turns": ["a good first row"]}\n{"turns": [}\n')
        _, result = build(folder.path, 2, "--hf-name", "philschmid/mt-bench", "--disable-shuffle")
        same(result.status, 1, "exit status", result)
        holds("line 2, column 12" in result.err, "told", result)


def test_pictures_that_cannot_be_read_are_an_error():
    with Folder() as folder:
        with open(folder("val.jsonl"), "w", encoding="utf-8") as f:
            f.write(json.dumps({"question": "What is it?", "image": {"path": folder("x.gif")}}) + "\n")
        with open(folder("x.gif"), "wb") as f:
            f.write(b"GIF89a" + bytes(20))
        _, result = build(folder("val.jsonl"), 1, "--hf-name", "Lin-Chen/MMStar", *CHAT)
        same(result.status, 1, "exit status", result)
        holds("a GIF image" in result.err and "row 1" in result.err, "told", result)


add_tests(globals())

if __name__ == "__main__":
    main(globals())
