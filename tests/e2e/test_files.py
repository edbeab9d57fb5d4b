"""The result file: where it lies, what it is called, what stands in it; and the console that goes with it."""
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import time

from harness import (DONE, HEAD, Folder, Mock, RawServer, chunked, clean_env, holds, main, near, program, run, same,
                     token, usage)

DATE = r"\d{8}-\d{6}"


def quick():
    return Mock("--ttft", "2", "--itl", "1", "--tokens", "4")


def done(result, status=0):
    same(result.status, status, "exit status", result)
    return result


# ---- names and places ----------------------------------------------------------------------------------------------

def test_names_tell_backend_or_label_rate_concurrency_model_and_date():
    for flags, want in (
            ([], "openai-infqps-mock-model-"),
            (["--max-concurrency", "3"], "openai-infqps-concurrency3-mock-model-"),
            (["--request-rate", "200"], "openai-200.0qps-mock-model-"),
            (["--request-rate", "150.5", "--label", "lab", "--max-concurrency", "2"],
             "lab-150.5qps-concurrency2-mock-model-"),
            (["--backend", "openai-chat"], "openai-chat-infqps-mock-model-"),
            (["--model", "org/sub/tiny-1b"], "openai-infqps-tiny-1b-"),
            (["--ramp-up-strategy", "linear", "--ramp-up-start-rps", "100", "--ramp-up-end-rps", "300"],
             "openai-ramp-up-linear-100qps-300qps-mock-model-")):
        with quick() as mock, Folder() as folder:
            result = done(run(*folder.custom(mock.port), "--save-result", "--result-dir", folder.path, *flags))
            names = folder.names()
            holds(len(names) == 1 and re.fullmatch(re.escape(want) + DATE + r"\.json", names[0]),
                  "%s is %s and the date" % (names, want), result)
            holds(names[0] in result.err, "the path is told", result)
            same(names[0][-20:-5], folder.json(names[0])["date"], "the date is the one inside")


def test_without_a_folder_it_lies_in_the_working_folder():
    with quick() as mock, Folder() as folder:
        done(run(*folder.custom(mock.port), "--save-result", "--result-filename", "x.json", cwd=folder.path))
        same(folder.names(), ["x.json"], "files")


def test_the_folder_is_made():
    with quick() as mock, Folder() as folder:
        done(run(*folder.custom(mock.port), "--save-result", "--result-dir", folder("a", "b"), "--result-filename",
                 "x.json"))
        same(folder.names("a", "b"), ["x.json"], "files")


def test_nothing_is_saved_unless_asked_for():
    with quick() as mock, Folder() as folder:
        done(run(*folder.custom(mock.port), "--result-filename", "x.json", "--result-dir", folder.path))
        same(folder.names(), [], "files")


def test_appending_makes_json_lines():
    with quick() as mock, Folder() as folder:
        for label in ("one", "two", "three"):
            done(run(*folder.custom(mock.port), "--append-result", "--result-dir", folder.path, "--result-filename",
                     "all.jsonl", "--label", label))
        text = folder.read("all.jsonl")
        same([json.loads(line)["label"] for line in text.split("\n")], ["one", "two", "three"], "lines")
        same(folder.names(), ["all.jsonl"], "no file beside it")
        done(run(*folder.custom(mock.port), "--save-result", "--result-dir", folder.path, "--result-filename",
                 "all.jsonl"))
        same(len(folder.read("all.jsonl").split("\n")), 1, "--save-result replaces")


def test_a_folder_that_cannot_be_is_an_error_and_the_figures_are_printed_all_the_same():
    with quick() as mock, Folder() as folder:
        result = run(*folder.custom(mock.port), "--save-result", "--result-dir", folder.prompts,
                     env={"TMPDIR": folder.path})
    same(result.status, 1, "exit status", result)
    holds(folder.prompts in result.err.splitlines()[-1], "the last line names it", result)
    holds("Successful requests:                     1 " in result.out, "figures", result)


def test_a_result_that_its_place_does_not_take_is_kept_elsewhere():
    with quick() as mock, Folder() as folder:
        os.mkdir(folder("tmp"))
        os.mkdir(folder("taken"))
        for name in ("taken", "n" * 300):
            result = run(*folder.custom(mock.port), "--save-result", "--result-dir", folder.path, "--result-filename",
                         name, "--append-result", env={"TMPDIR": folder("tmp")})
            same(result.status, 1, "exit status", result)
            last = result.err.splitlines()[-1]
            found = re.search(r"; the result was written to '(.*/vllm-bench-result-" + DATE + r"-\d+\.json)' instead",
                              last)
            holds(name[:50] in last and found, "the last line says where", result)
            with open(found.group(1), encoding="utf-8") as f:
                same(json.load(f)["completed"], 1, "the result is there")


def test_links_and_pipes_stay_what_they_are():
    with quick() as mock, Folder() as folder:
        for flags in (["--save-result", "--result-filename", folder("link")], ["--save-workload", folder("link")]):
            os.symlink("real", folder("link"))
            done(run(*folder.custom(mock.port), *flags))
            holds(os.path.islink(folder("link")) and folder.read("real").startswith("{"), "through the link")
            os.remove(folder("link"))
            os.remove(folder("real"))
        os.mkfifo(folder("pipe"))
        end = os.open(folder("pipe"), os.O_RDWR | os.O_NONBLOCK)
        done(run(*folder.custom(mock.port), "--save-workload", folder("pipe"), "--dry-run"))
        holds(b'"prompt"' in os.read(end, 65536), "through the pipe")
        os.close(end)
        same(folder.names(), ["pipe"], "no other file")


def test_a_file_that_cannot_be_written_is_an_error_and_leaves_the_old_one():
    """A limit of 100 bytes a file stands for a full disk."""
    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    with quick() as mock, Folder() as folder:
        with open(folder("x.json"), "w", encoding="utf-8") as f:
            f.write("old")
        result = run(*folder.custom(mock.port), "--save-result", "--result-dir", folder.path, "--result-filename",
                     "x.json", before=small_files)
        same(result.status, 1, "exit status", result)
        holds("x.json" in result.err.splitlines()[-1], "the last line names it", result)
        same((folder.names(), folder.read("x.json")), (["x.json"], "old"), "the old file, and no other")


def test_a_reader_never_sees_half_a_file():
    """The file is polled while it is replaced; only whole objects are seen."""
    with quick() as mock, Folder() as folder:
        argv = [program(), *folder.custom(mock.port, 8), "--save-result", "--save-detailed", "--result-dir", folder.path,
                "--result-filename", "x.json"]
        done(run(*argv[1:]))
        process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=clean_env())
        while process.poll() is None:
            folder.json("x.json")
            time.sleep(0.0005)
        same((process.returncode, folder.names()), (0, ["x.json"]), "exit status, files")


def test_a_reader_of_the_console_that_goes_away_loses_nothing():
    with quick() as mock, Folder() as folder:
        reader, writer = os.pipe()
        os.close(reader)
        process = subprocess.Popen([program(), *folder.custom(mock.port, 4), "--save-result", "--result-dir",
                                    folder.path, "--result-filename", "x.json"], stdin=subprocess.DEVNULL,
                                   stdout=writer, stderr=subprocess.PIPE, env=clean_env())
        os.close(writer)
        _, err = process.communicate(timeout=40)
        same((process.returncode, folder.json("x.json")["completed"]), (0, 4), "exit status, completed", err.decode())
        holds(b"error" not in err, "no complaint", err.decode())


def test_a_full_disk_behind_the_console_is_told():
    with quick() as mock, Folder() as folder, open("/dev/full", "wb") as full:
        process = subprocess.run([program(), *folder.custom(mock.port), "--save-result", "--result-dir", folder.path,
                                  "--result-filename", "x.json"], stdin=subprocess.DEVNULL, stdout=full,
                                 stderr=subprocess.PIPE, env=clean_env(), timeout=40, check=False)
        same(process.returncode, 1, "exit status", process.stderr.decode())
        holds(b"No space left" in process.stderr, "why", process.stderr.decode())
        same(folder.json("x.json")["completed"], 1, "the file is there")


# ---- content -------------------------------------------------------------------------------------------------------

def saved(folder, mock, *flags, n=2):
    result = done(run(*folder.custom(mock.port, n), "--save-result", "--result-dir", folder.path, "--result-filename",
                      "x.json", *flags))
    return folder.json("x.json"), result


def test_keys_and_order_of_python_with_our_own_at_the_end():
    """tests/data/peers/result_keys.txt: the keys of vllm bench serve 0.33.0, in its order, by kind of run."""
    kinds = {}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data/peers/result_keys.txt"),
              encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                kind, keys = line.split(":", 1)
                kinds[kind] = keys.split()
    runs = {"plain": [], "detailed": ["--save-detailed"], "concurrency": ["--max-concurrency", "2"],
            "metadata": ["--metadata", "version=1.2", "gpu=none"], "goodput": ["--goodput", "e2el:100"],
            "percentiles": ["--percentile-metrics", "e2el,ttft", "--metric-percentiles", "99,50,99.9"],
            "ramp": ["--ramp-up-strategy", "linear", "--ramp-up-start-rps", "100", "--ramp-up-end-rps", "300"]}
    same(sorted(kinds), sorted(runs), "kinds in the data file")
    with quick() as mock, Folder() as folder:
        for kind, flags in runs.items():
            result, _ = saved(folder, mock, *flags)
            want = kinds[kind]
            if kind != "detailed":  # ours writes these two with detail only
                want = [k for k in want if k not in ("latencies", "queue_times")]
            same([k for k in result if k in want], want, "Python's keys of a run of kind '%s'" % kind)
            holds(list(result)[-1] == "client", "client is the last key: %s" % list(result)[-3:])


def test_metadata_stands_after_the_settings_and_cannot_break_figures():
    with quick() as mock, Folder() as folder:
        r, _ = saved(folder, mock, "--metadata", "gpu=a b=c", "completed=none", "backend=mine", 'quote="\\')
        keys = list(r)
        same((r["gpu"], r["quote"]), ("a b=c", '"\\'), "values are texts, cut at the first =")
        holds(keys.index("num_prompts") < keys.index("gpu") < keys.index("request_rate"), "place: %s" % keys)
        same((r["completed"], r["backend"]), (2, "mine"), "what stands below wins, what stands above is replaced")
        same(sum(k == "completed" for k in keys), 1, "once")


def test_percentiles_are_those_asked_for_in_their_order():
    with quick() as mock, Folder() as folder:
        r, result = saved(folder, mock, "--percentile-metrics", "itl", "--metric-percentiles", "99,5,99.90,100,0")
        same([k for k in r if k.endswith("_ms") and k != "client"],
             ["mean_itl_ms", "median_itl_ms", "std_itl_ms", "p99_itl_ms", "p5_itl_ms", "p99.9_itl_ms", "p100_itl_ms",
              "p0_itl_ms"], "keys")
        holds(r["p0_itl_ms"] <= r["p5_itl_ms"] <= r["median_itl_ms"] <= r["p99_itl_ms"] <= r["p100_itl_ms"], "sorted")
        holds("TTFT" not in result.out and "P99.9 ITL (ms):" in result.out, "console", result)


def test_goodput_counts_requests_within_every_limit():
    """Two requests of TTFT 30 ms; 1 token, so that their TPOT is 0, and 4 tokens, TPOT 20 ms."""
    def script(i):
        steps = [0.03, HEAD + chunked(token("a"), end=False)]
        for _ in range(3 if i else 0):
            steps += [0.02, chunked(token("b"), end=False)]
        return steps + [chunked(usage(4 if i else 1), DONE)]
    for limits, good in ((["ttft:500"], 2), (["ttft:5"], 0), (["ttft:500", "tpot:10"], 1), (["e2el:60"], 1),
                         (["e2el:6000", "tpot:2000", "ttft:2000"], 2), (["e2el:0"], 0)):
        with RawServer(script) as server, Folder() as folder:
            result = done(run(*folder.custom(server.port, 2), "--max-concurrency", "1", "--save-result", "--result-dir",
                              folder.path, "--result-filename", "x.json", "--extra-body", "{}", "--goodput", *limits))
            r = folder.json("x.json")
        near(r["request_goodput"] * r["duration"], good, 0.001, "good requests with %s" % limits, result)
        holds("Request goodput (req/s):" in result.out, "console", result)
    with quick() as mock, Folder() as folder:
        r, result = saved(folder, mock)
        same(r["request_goodput"], None, "without --goodput")
        holds("goodput" not in result.out, "console", result)


def test_all_failed_has_zeros_and_no_nan():
    with RawServer(lambda i: [b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n"]) as server, \
            Folder() as folder:
        result = run(*folder.custom(server.port, 3), "--save-result", "--save-detailed", "--result-dir", folder.path,
                     "--result-filename", "x.json", "--max-concurrency", "2", "--goodput", "ttft:1",
                     "--metric-percentiles", "0,50,100")
        r = folder.json("x.json")
    same(result.status, 1, "exit status", result)
    same((r["completed"], r["failed"], r["request_throughput"], r["total_output_tokens"]), (0, 3, 0.0, 0), "figures")
    same({r[k] for k in r if k.endswith("_ms")}, {0.0}, "latencies")
    same(r["latencies"], [0.0] * 3, "detail")
    holds("nan" not in result.out.lower() and "inf" not in result.out.lower(), "console", result)
    same(result.err.splitlines()[-1], "vllm-bench: error: no request completed (3 failed)", "last line", result)


def test_only_the_first_ten_errors_are_shown():
    with RawServer(lambda i: [b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n"]) as server, \
            Folder() as folder:
        result = run(*folder.custom(server.port, 13))
    same(result.out.count("\nError "), 10, "errors shown", result)
    holds("http_status: 13" in result.out, "count by category", result)


def test_detail_arrays_have_one_element_a_request():
    with quick() as mock, Folder() as folder:
        r, _ = saved(folder, mock, "--save-detailed", n=5)
    for key in ("input_lens", "output_lens", "start_times", "ttfts", "itls", "latencies", "queue_times",
                "generated_texts", "errors"):
        same(len(r[key]), 5, key)
    arrays = {k: len(v) for k, v in r["client"].items() if isinstance(v, list)}
    same(set(arrays.values()), {5}, "arrays of client: %s" % arrays)
    for i in range(5):
        near(r["latencies"][i], r["ttfts"][i] + sum(r["itls"][i]), 1e-6, "latency = TTFT + gaps")
    near(r["mean_ttft_ms"], 1e3 * sum(r["ttfts"]) / 5, 1e-6, "mean TTFT")
    near(r["mean_e2el_ms"], 1e3 * sum(r["latencies"]) / 5, 1e-6, "mean E2EL")


def test_console_and_file_say_the_same():
    with quick() as mock, Folder() as folder:
        r, result = saved(folder, mock, n=4)
    shown = dict(re.findall(r"^([^:\n]+):\s+([\d.]+)\s*$", result.out, re.M))
    for label, key in (("Benchmark duration (s)", "duration"), ("Mean TTFT (ms)", "mean_ttft_ms"),
                       ("P99 ITL (ms)", "p99_itl_ms"), ("Median TPOT (ms)", "median_tpot_ms"),
                       ("Request throughput (req/s)", "request_throughput"), ("Mean E2EL (ms)", "mean_e2el_ms"),
                       ("Total token throughput (tok/s)", "total_token_throughput")):
        same(shown[label], "%.2f" % r[key], label, result)
    for label, key in (("Successful requests", "completed"), ("Total input tokens", "total_input_tokens"),
                       ("Total generated tokens", "total_output_tokens")):
        same(shown[label], str(r[key]), label, result)
    holds(all(len(line) <= 50 for line in result.out.splitlines() if line.startswith(("=", "-"))), "width 50", result)


def test_only_results_on_stdout():
    with quick() as mock, Folder() as folder:
        _, result = saved(folder, mock)
    same(result.out.splitlines()[0], "============ Serving Benchmark Result ============", "first line", result)
    holds("\x1b" not in result.out + result.err and "\r" not in result.out + result.err, "no terminal codes", result)


main(globals())
