"""Data sets that need no path, tokenizers of a run and what happens without a hub: the fake hub against the same files
given by path."""
import json
import os
import signal
import socket
import subprocess
import time

from fake_hub import FakeHub
from harness import Folder, Mock, clean_env, holds, main, program, run, same

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data")
TOKENIZER = os.path.join(DATA, "tok-mini")
SHAREGPT = "anon8231489123/ShareGPT_Vicuna_unfiltered"
SHAREGPT_FILE = "ShareGPT_V3_unfiltered_cleaned_split.json"
SPEED = "nvidia/SPEED-Bench"


def read(*names):
    with open(os.path.join(DATA, *names), "rb") as f:
        return f.read()


def dry(folder, env, name, *flags, n=4, save="workload.jsonl"):
    return run("serve", "--model", "mock-model", "--tokenizer", TOKENIZER, "--dataset-name", name, "--num-prompts",
               str(n), "--dry-run", "--disable-tqdm", "--save-workload", folder(save), *flags, env=env)


def same_workload(folder, hub, name, path, *flags):
    """A run without a path sends what a run with it sends."""
    found = dry(folder, hub.env(folder.path), name, *flags, save="found.jsonl")
    same(found.status, 0, "exit status", found)
    given = dry(folder, {}, name, "--dataset-path", path, *flags, save="given.jsonl")
    same(given.status, 0, "exit status", given)
    same(folder.read("found.jsonl"), folder.read("given.jsonl"), "workload")
    same(found.out, given.out, "figures")
    return found


# ---- sharegpt -------------------------------------------------------------------------------------------------------

def test_sharegpt_without_a_path_is_downloaded_once():
    with FakeHub() as hub, Folder() as folder:
        hub.add(SHAREGPT, {SHAREGPT_FILE: read("datasets", "sharegpt.json")}, large=[SHAREGPT_FILE], kind="datasets")
        found = same_workload(folder, hub, "sharegpt", os.path.join(DATA, "datasets", "sharegpt.json"))
        same(hub.requests[0].path, "/datasets/%s/resolve/main/%s" % (SHAREGPT, SHAREGPT_FILE), "URL")
        holds(folder("hf", "hub", "datasets--anon8231489123--ShareGPT_Vicuna_unfiltered") in found.err,
              "the file is named", found)
        asked = len(hub.requests)
        again = dry(folder, hub.env(folder.path, HF_HUB_OFFLINE="1"), "sharegpt")
        same((again.status, len(hub.requests)), (0, asked), "offline, from the cache", again)


def test_conversations_of_sharegpt_without_a_path():
    with FakeHub() as hub, Folder() as folder:
        talk = [{"conversations": [{"from": "human" if i % 2 == 0 else "gpt", "value": "Word %d and some more." % i}
                                   for i in range(6)]} for _ in range(3)]
        hub.add(SHAREGPT, {SHAREGPT_FILE: json.dumps(talk).encode()}, kind="datasets")
        result = run("serve", "--model", "mock-model", "--tokenizer", TOKENIZER, "--dataset-name", "sharegpt",
                     "--backend", "openai-chat", "--multi-turn", "--num-prompts", "2", "--dry-run", "--disable-tqdm",
                     env=hub.env(folder.path))
        same(result.status, 0, "exit status", result)


def test_a_download_that_fails_is_named_with_what_to_do():
    with FakeHub() as hub, Folder() as folder:
        result = dry(folder, hub.env(folder.path), "sharegpt")
        same(result.status, 1, "exit status", result)
        for part in ("--dataset-path", SHAREGPT, SHAREGPT_FILE, "404"):
            holds(part in result.err, "%r is in the message" % part, result)
        result = dry(folder, hub.env(folder.path, HF_HUB_OFFLINE="1"), "sharegpt")
        same(result.status, 1, "exit status", result)
        holds("HF_HUB_OFFLINE" in result.err, "message", result)


def test_data_sets_are_asked_for_again_after_a_fault():
    with FakeHub() as hub, Folder() as folder:
        hub.add(SHAREGPT, {SHAREGPT_FILE: read("datasets", "sharegpt.json")}, kind="datasets")
        hub.fault(SHAREGPT_FILE, status=503)
        start = time.monotonic()
        result = dry(folder, hub.env(folder.path), "sharegpt")
        same(result.status, 0, "exit status", result)
        holds(time.monotonic() - start >= 2, "after two seconds")
        holds("trying again in 2 s (1 of 3)" in result.err, "it is told", result)


# ---- speed-bench ----------------------------------------------------------------------------------------------------

def speed_rows(count):
    kinds = ("coding", "math", "writing")
    return [{"question_id": "q%d" % i, "category": kinds[i % 3], "sub_category": None, "multiturn": i % 5 == 4,
             "turns": ["Question number %d: what is the sum of %d and %d?" % (i, i, i + 1)], "difficulty": 1.5}
            for i in range(count)]


def test_speed_bench_without_a_path_comes_in_pages_and_is_cached():
    for count, pages in ((250, 3), (200, 2), (99, 1)):
        with FakeHub() as hub, Folder() as folder:
            rows = speed_rows(count)
            hub.rows[SPEED, "qualitative", "test"] = rows
            with open(folder("rows.json"), "w", encoding="utf-8") as f:
                json.dump(rows, f)
            same_workload(folder, hub, "speed-bench", folder("rows.json"))
            same([(r.query["offset"], r.query["length"]) for r in hub.asked("/rows")],
                 [(str(100 * i), "100") for i in range(pages)], "pages")
            same(folder.json("cache", "vllm-bench", "datasets", "speed-bench-qualitative.json"), rows, "the cached rows")
            asked = len(hub.requests)
            same(dry(folder, hub.env(folder.path), "speed-bench").status, 0, "second run")
            same(len(hub.requests), asked, "questions of the second run")


def test_subsets_have_files_of_their_own():
    with FakeHub() as hub, Folder() as folder:
        hub.rows[SPEED, "throughput_1k", "test"] = speed_rows(30)
        result = dry(folder, hub.env(folder.path), "speed-bench", "--speed-bench-config", "throughput_1k",
                     "--speed-bench-category", "math")
        same(result.status, 0, "exit status", result)
        same(folder.names("cache", "vllm-bench", "datasets"), ["speed-bench-throughput_1k.json"], "files")


def test_half_a_download_of_rows_leaves_nothing():
    with FakeHub() as hub, Folder() as folder:
        hub.rows[SPEED, "qualitative", "test"] = speed_rows(150)
        hub.fault("/rows", status=404, skip=1)
        result = dry(folder, hub.env(folder.path), "speed-bench")
        same(result.status, 1, "exit status", result)
        holds("404" in result.err and SPEED in result.err, "message", result)
        holds(not os.path.exists(folder("cache", "vllm-bench", "datasets")), "nothing is cached")


def test_rows_that_the_server_cut_are_told():
    with FakeHub() as hub, Folder() as folder:
        rows = speed_rows(20)
        rows[3]["cut"] = True
        hub.rows[SPEED, "qualitative", "test"] = rows
        result = dry(folder, hub.env(folder.path), "speed-bench")
        holds("1 of 20 rows" in result.err, "warning", result)


def test_a_busy_datasets_server_is_waited_for_as_long_as_it_says():
    with FakeHub() as hub, Folder() as folder:
        hub.rows[SPEED, "qualitative", "test"] = speed_rows(20)
        hub.fault("/rows", status=429, headers={"Retry_After": "3"})
        result = dry(folder, hub.env(folder.path), "speed-bench")
        same(result.status, 0, "exit status", result)
        holds("trying again in 3 s (1 of 3)" in result.err, "it is told", result)


def test_nonsense_from_the_datasets_server_is_named():
    for body in (b"", b"{", b"[]", b'{"rows": 7}', b'{"rows": [{"row": 7}]}', b'{"rows": []}'):
        with FakeHub() as hub, Folder() as folder:
            hub.rows[SPEED, "qualitative", "test"] = speed_rows(20)
            hub.fault("/rows", body=body, times=9)
            result = dry(folder, hub.env(folder.path), "speed-bench")
            same(result.status, 1, "exit status", result)
            holds(SPEED in result.err, "message", result)


def test_a_gated_data_set_asks_for_a_token():
    with FakeHub() as hub, Folder() as folder:
        hub.token = "hf_right"
        hub.rows[SPEED, "qualitative", "test"] = speed_rows(20)
        result = dry(folder, hub.env(folder.path), "speed-bench")
        same(result.status, 1, "exit status", result)
        holds("HF_TOKEN" in result.err and "401" in result.err, "message", result)
        result = dry(folder, hub.env(folder.path, HF_TOKEN="hf_right"), "speed-bench")
        same(result.status, 0, "exit status", result)
        holds("hf_right" not in result.err + result.out, "the token is shown", result)


def test_the_datasets_server_has_a_variable_of_its_own():
    with FakeHub() as hub, Folder() as folder:
        hub.rows[SPEED, "qualitative", "test"] = speed_rows(20)
        env = hub.env(folder.path, HF_ENDPOINT="http://127.0.0.1:1", HF_DATASETS_SERVER=hub.url + "/")
        same(dry(folder, env, "speed-bench").status, 0, "exit status")


# ---- tokenizers of a run ----------------------------------------------------------------------------------------------

def model_run(folder, env, model, *flags):
    return run("serve", "--model", model, "--dataset-name", "random", "--random-input-len", "8",
               "--random-output-len", "4", "--num-prompts", "2", "--disable-tqdm", "--dry-run", *flags, env=env)


def files():
    return {name: read("tok-mini", name) for name in ("tokenizer.json", "tokenizer_config.json",
                                                      "special_tokens_map.json")}


def test_a_model_name_finds_its_tokenizer_on_the_hub():
    with FakeHub() as hub, Folder() as folder:
        hub.add("org/model", files())
        for flags in (["org/model"], ["served", "--tokenizer", "org/model"]):
            result = model_run(folder, hub.env(folder.path), *flags)
            same(result.status, 0, "exit status", result)
            holds("org/model" in result.err, "the tokenizer is named", result)
        hub.add("single", files())
        result = model_run(folder, hub.env(folder.path), "served", "--tokenizer", "single")
        same(result.status, 0, "a named tokenizer may have no '/'", result)


def test_a_served_name_that_is_no_repository_is_not_looked_up():
    with FakeHub() as hub, Folder() as folder, Mock("--model", "plain-name") as mock:
        result = model_run(folder, hub.env(folder.path), "plain-name", "--host", "127.0.0.1", "--port", str(mock.port))
        same(result.status, 0, "exit status", result)
        same(hub.requests, [], "questions")


def test_without_a_hub_the_server_counts():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        dead = "http://127.0.0.1:%d" % listener.getsockname()[1]
        for more, word in (({"HF_ENDPOINT": dead}, "cannot reach"), ({"HF_HUB_OFFLINE": "1"}, "HF_HUB_OFFLINE"),
                           ({}, "404")):
            with FakeHub() as hub, Folder() as folder, Mock("--model", "org/model") as mock:
                start = time.monotonic()
                result = model_run(folder, hub.env(folder.path, **more), "org/model", "--host", "127.0.0.1", "--port",
                                   str(mock.port))
                same(result.status, 0, "exit status", result)
                lines = [line for line in result.err.splitlines() if word in line]
                same(len(lines), 1, "lines about the hub", result)
                holds(time.monotonic() - start < 8, "it did not hang")


def test_a_local_folder_is_never_looked_up():
    with FakeHub() as hub, Folder() as folder:
        os.makedirs(folder("org", "model"))
        result = run("serve", "--model", "org/model", "--dataset-name", "random", "--num-prompts", "2", "--dry-run",
                     "--port", "1", "--host", "127.0.0.1", "--ready-check-timeout-sec", "0",
                     env=hub.env(folder.path), cwd=folder.path)
        same(result.status, 1, "exit status", result)
        same(hub.requests, [], "questions")


def test_progress_of_a_long_download_is_shown_and_ctrl_c_ends_it():
    with FakeHub() as hub, Folder() as folder:
        hub.add(SHAREGPT, {SHAREGPT_FILE: b"[" + b" " * (4 << 20) + b"]"}, large=[SHAREGPT_FILE], kind="datasets")
        hub.fault("", place="store", slow=(1 << 16, 0.2))
        process = subprocess.Popen([program(), "serve", "--model", "m", "--tokenizer", TOKENIZER, "--dataset-name",
                                    "sharegpt", "--num-prompts", "2", "--dry-run"], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, env=clean_env(hub.env(folder.path)))
        time.sleep(1.5)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=20)[1].decode()
        holds(time.monotonic() - start < 2, "promptly")
        holds(process.returncode in (130, -signal.SIGINT), "status %d" % process.returncode)
        holds("Downloading '%s'" % SHAREGPT_FILE in err and "4.2 MB" in err, "it is announced", err)


main(globals())
