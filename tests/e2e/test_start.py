"""What is said before the load begins, so that nothing looks like a program that hangs; and files that never get lost."""
import os
import json
import subprocess
import time

import harness
from harness import Folder, Mock, RawServer, holds, same

LENGTH = ["--custom-output-len", "1"]
TOKENIZER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "tok-mini")


def test_a_slow_metrics_page_is_named():
    def script(index):
        return [2.3, b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"] if index == 0 else [harness.stream(("a",))]

    with Folder() as folder, RawServer(script, metrics=True) as server:
        run = harness.run(*folder.custom(server.port), *LENGTH, "--ready-check-timeout-sec", "0")
        same(run.status, 0, "exit", run)
        same(run.err.count("Waiting for the server's /metrics page, 10 s at most"), 1, "the line", run)


def test_http_behind_an_https_address_ends_the_wait():
    """Also where the server would wait for the end of a line that TLS never sends."""
    with Folder() as folder, Mock() as mock:
        for flags in (["--model", "m"], []):
            began = time.monotonic()
            run = harness.run("serve", "--base-url", "https://127.0.0.1:%d" % mock.port, "--dataset-name", "custom", "--dataset-path",
                              folder.prompts, "--num-prompts", "1", "--skip-tokenizer-init", "--ready-check-timeout-sec", "30",
                              *LENGTH, *flags)
            same(run.status, 1, "exit", run)
            holds("the server answers http, not TLS" in run.err, "the reason", run)
            holds(time.monotonic() - began < 10, "at once", run)


def trace(folder, *times):
    with open(folder("trace.jsonl"), "w", encoding="utf-8") as f:
        for at in times:
            f.write(json.dumps({"timestamp": at, "input_length": 4, "output_length": 1, "hash_ids": [1]}) + "\n")
    return ["serve", "--model", "mock-model", "--tokenizer", TOKENIZER, "--dataset-name", "timed_trace", "--dataset-path",
            folder("trace.jsonl"), "--disable-tqdm", "--num-prompts", str(len(times))]


def test_a_trace_out_of_order_is_named():
    with Folder() as folder, Mock("--ttft", "1") as mock:
        run = harness.run(*trace(folder, 0.02, 0.01, 0.03, 0.02), "--port", str(mock.port))
        same(run.status, 0, "exit", run)
        holds("not in the order of its times: 2 of 4 requests are due before" in run.err, "the line", run)
        run = harness.run(*trace(folder, 0.01, 0.02, 0.02), "--port", str(mock.port))
        holds("order of its times" not in run.err and "is due" not in run.err, "nothing without reason", run)


def test_a_first_request_far_away_is_named_before_the_wait():
    with Folder() as folder, Mock("--ttft", "1") as mock:
        argv = [harness.program(), *trace(folder, 7000, 7001), "--port", str(mock.port)]
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   env=harness.clean_env())
        try:
            line = ""
            for line in iter(process.stderr.readline, b""):
                if b"is due" in line:
                    break
            holds(b"the first request is due 7000.0 s after the start" in line, "the line", line)
        finally:
            process.kill()
            process.communicate()


def test_summaries_are_kept_elsewhere_too():
    """A folder that is a file takes neither results nor summaries."""
    with Folder() as folder, Mock("--ttft", "1") as mock:
        os.mkdir(folder("tmp"))
        open(folder("file"), "w").close()
        run = harness.run(*folder.custom(mock.port), *LENGTH, "--num-runs", "2", "--save-result", "--result-dir", folder("file"),
                          env={"TMPDIR": folder("tmp")})
        same(run.status, 1, "exit", run)
        names = folder.names("tmp")
        same(len(names), 1 + 2, "files: the first run, as no further one was begun, and two summaries")
        holds([n for n in names if n.endswith("-runs.json")] and [n for n in names if n.endswith("-runs.csv")], "summaries", names)
        for name in names:
            holds(folder("tmp", name) in run.err, "'%s' is named" % name, run)


def test_two_that_start_at_once_keep_all_files():
    with Folder() as folder, Mock("--ttft", "1") as mock:
        argv = [harness.program(), *folder.custom(mock.port, 2), *LENGTH, "--save-result", "--result-dir", folder("out")]
        for flags, each in ((["--num-runs", "2"], 4), (["--sweep-max-concurrency", "1,2"], 4)):
            both = [subprocess.Popen(argv + flags, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                     env=harness.clean_env()) for _ in range(2)]
            same([p.wait(harness.PATIENCE_S) for p in both], [0, 0], "exits")
            names = folder.names("out")
            same(len(names), 2 * each, "files")
            for name in names:
                holds(os.path.getsize(folder("out", name)) > 100, "'%s' is not empty" % name)
                os.unlink(folder("out", name))


if __name__ == "__main__":
    harness.main(globals())
