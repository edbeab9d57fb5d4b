"""Sweeps, repeated runs, gates, comparison, time-bounded runs, conversations: the modes, against the mock server."""
import json
import os
import random
import signal
import subprocess
import time
import xml.etree.ElementTree

import harness
from harness import Folder, Mock, holds, near, same

FLAGS = ["--custom-output-len", "1"]  # without a tokenizer one token is asked for


def run_in(folder, port, *flags, n=8):
    return harness.run(*folder.custom(port, n), *FLAGS, "--result-dir", folder("out"), *flags)


def lines_of(run, title):
    """The lines of a printed table behind its title."""
    lines = run.out.splitlines()
    starts = [i for i, line in enumerate(lines) if line.strip("= -") == title]
    holds(starts, "no table '%s'" % title, run)
    return lines[starts[-1] + 1:]


# ---- sweeps ----------------------------------------------------------------------------------------------------------

def test_a_sweep_finds_the_knee_where_the_server_has_it():
    """Four requests at a time, 20 ms each: 50 req/s a slot up to 4, then no more."""
    with Folder(64) as folder, Mock("--ttft", "20", "--max-batch", "4") as mock:
        run = run_in(folder, mock.port, "--sweep-max-concurrency", "1,2,4,8", "--sweep-num-prompts-factor", "8",
                     "--save-result", "--result-filename", "s.json")
        same(run.status, 0, "exit", run)
        rate = {v: folder.json("out", "s-concurrency%d.json" % v)["request_throughput"] for v in (1, 2, 4, 8)}
        for v, want in ((1, 50), (2, 100), (4, 200), (8, 200)):
            near(rate[v], want, want * 0.15, "throughput at %d" % v, run)
        result = folder.json("out", "s-sweep.json")
        same([p["max_concurrency"] for p in result["points"]], [1, 2, 4, 8], "points")
        same([p["result"]["completed"] for p in result["points"]], [8, 16, 32, 64], "requests of the points")
        holds(result["best"]["max_concurrency"] in (4, 8), "best point", result["best"])
        csv = folder.read("out", "s-sweep.csv").splitlines()
        same(len(csv), 5, "lines of the CSV")
        same(csv[0].split(",")[:3], ["max_concurrency", "duration", "completed"], "its head")
        table = lines_of(run, "Sweep Summary")
        same([line.split()[0] for line in table[2:6]], ["concurrency=%d" % v for v in (1, 2, 4, 8)], "rows", run)
        near(float(table[2].split()[1]), rate[1], 0.01, "Req/s of the first row", run)


def test_a_rate_sweep_shows_the_percentiles_asked_for_and_resets_the_cache():
    seen = []

    def script(index):
        return [harness.stream(("a", "b", "c", "d"))]

    with Folder() as folder, harness.RawServer(script) as server:
        run = run_in(folder, server.port, "--sweep-request-rate", "200,inf", "--sweep-summary-percentiles", "95,50",
                     "--reset-prefix-cache", n=4)
        same(run.status, 0, "exit", run)
        seen = [head.split(b" ")[1] for _, head, _ in server.requests]
        same([i for i, path in enumerate(seen) if path == b"/reset_prefix_cache"], [0, 5], "cache resets", run)
        head = lines_of(run, "Sweep Summary")[0]
        holds("P95 TTFT(ms) P95 TPOT(ms)" in head and head.count("P50") == 2, "columns", head)
        same(folder.names(), [], "files without --save-result")


def test_a_server_that_cannot_reset_its_cache_ends_the_sweep():
    def script(index):
        return [b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"]

    with Folder() as folder, harness.RawServer(script) as server:
        run = run_in(folder, server.port, "--sweep-max-concurrency", "1,2", "--reset-prefix-cache")
        same(run.status, 1, "exit", run)
        holds("VLLM_SERVER_DEV_MODE" in run.err, "the hint", run)
        same(len(server.requests), 1, "requests", run)


def test_a_sweep_that_appends_writes_every_point():
    with Folder() as folder, Mock("--ttft", "1", "--itl", "1") as mock:
        run = run_in(folder, mock.port, "--sweep-max-concurrency", "1,2", "--append-result", "--result-filename", "a.json")
        same(run.status, 0, "exit", run)
        points = [json.loads(line) for line in folder.read("out", "a.json").splitlines()]
        same([p["max_concurrency"] for p in points], [1, 2], "lines")


def test_a_resumed_sweep_measures_only_what_is_missing():
    with Folder() as folder, Mock("--ttft", "1", "--itl", "1", "--truth") as mock:
        sweep = ["--save-result", "--resume"]
        run = run_in(folder, mock.port, "--sweep-max-concurrency", "1,2", *sweep)
        same((run.status, len(mock.truth())), (0, 16), "a first sweep", run)
        run = run_in(folder, mock.port, "--sweep-max-concurrency", "1,2,4", *sweep)
        same((run.status, len(mock.truth())), (0, 24), "one point more", run)
        same(run.out.count("Measured before"), 2, "points taken over", run)
        same(len([line for line in lines_of(run, "Sweep Summary") if line.startswith("concurrency=")]), 3, "rows", run)
        run = run_in(folder, mock.port, "--sweep-max-concurrency", "1,2", *sweep, "--top-p", "0.9")
        same((run.status, len(mock.truth())), (0, 40), "other settings", run)


def test_an_interrupted_sweep_keeps_what_it_has():
    with Folder(40) as folder, Mock("--ttft", "20", "--itl", "1") as mock:
        argv = folder.custom(mock.port, 20) + FLAGS + ["--result-dir", folder("out"), "--save-result",
                                                      "--result-filename", "s.json",
                                                      "--sweep-max-concurrency", "20,1,2"]
        process = subprocess.Popen([harness.program()] + argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=harness.clean_env())
        until = time.time() + harness.PATIENCE_S
        while not os.path.exists(folder("out", "s-concurrency20.json")) and time.time() < until:
            time.sleep(0.01)
        time.sleep(0.15)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=harness.PATIENCE_S)
        run = harness.Run(process.returncode, out.decode(), err.decode(), None, "")
        same(run.status, 130, "exit", run)
        result = folder.json("out", "s-sweep.json")
        same(result["interrupted"], True, "the mark", run)
        same(result["points"][0]["result"]["completed"], 20, "the first point", run)
        same(result["points"][2]["result"], None, "the last point", run)
        same(folder.json("out", "s-concurrency1.json")["interrupted"], True, "the point that was cut", run)
        holds("Sweep Summary" in run.out, "the table", run)


# ---- repeated runs ---------------------------------------------------------------------------------------------------

def test_repeated_runs_are_saved_and_summed_up():
    with Folder() as folder, Mock("--ttft", "5", "--itl", "1") as mock:
        run = run_in(folder, mock.port, "--num-runs", "3", "--save-result", "--result-filename", "r.json",
                     "--metric-percentiles", "50")
        same(run.status, 0, "exit", run)
        same(folder.names("out"), ["r-run1.json", "r-run2.json", "r-run3.json", "r-runs.csv", "r-runs.json"], "files")
        runs = [folder.json("out", "r-run%d.json" % i) for i in (1, 2, 3)]
        total = folder.json("out", "r-runs.json")
        x = [r["request_throughput"] for r in runs]
        mean = sum(x) / 3
        s = total["statistics"]["request_throughput"]
        near(s["mean"], mean, 1e-9 * mean, "mean")
        near(s["std"], (sum((v - mean) ** 2 for v in x) / 3) ** 0.5, 1e-6 * mean, "std")
        same((s["min"], s["max"], s["runs"]), (min(x), max(x), 3), "range")
        # t(0.975, 2) = 4.302653
        half = 4.302653 * (sum((v - mean) ** 2 for v in x) / 2) ** 0.5 / 3 ** 0.5
        near(s["ci95"][1], mean + half, 1e-5 * mean, "interval")
        same(total["request_throughput"], s["mean"], "the mean under the usual key")
        same([r["seed"] for r in runs], ["0", "1", "2"], "each run has a seed of its own")
        table = lines_of(run, "Multi-Run Summary (3 runs)")
        p99 = [line for line in table if line.startswith("P99 TTFT")]
        same(p99[0].split()[3:], ["-"] * 4, "a percentile not asked for", run)
        holds("Throughput CV:" in run.out and "95% Confidence Intervals" in run.out, "the rest", run)


def test_seeds_stay_when_the_cache_is_reset():
    with Folder() as folder, Mock("--ttft", "1", "--itl", "1") as mock:
        run = run_in(folder, mock.port, "--num-runs", "2", "--reset-prefix-cache", "--save-result",
                     "--result-filename", "r.json")
        same(run.status, 0, "exit", run)
        same([folder.json("out", "r-run%d.json" % i)["seed"] for i in (1, 2)], ["0", "0"], "seeds")
        run = run_in(folder, mock.port, "--num-runs", "3", "--reset-prefix-cache", "--save-result", "--resume",
                     "--result-filename", "r.json")
        same((run.status, run.out.count("Measured before")), (0, 2), "runs taken over", run)
        same(folder.json("out", "r-runs.json")["measured_runs"], 3, "runs", run)


# ---- gates -----------------------------------------------------------------------------------------------------------

def test_gates_decide_the_exit_status():
    with Folder() as folder, Mock("--ttft", "20", "--itl", "1") as mock:
        for flags, status, words in ((["--fail-if", "mean_ttft_ms>10000"], 0, ""),
                                     (["--fail-if", "p99_ttft_ms > 5"], 3, "--fail-if 'p99_ttft_ms > 5': it is "),
                                     (["--fail-if", "completed<9", "failed>0"], 3, "completed<9"),
                                     (["--fail-if", "no_such_key>1"], 3, "has no 'no_such_key'"),
                                     (["--fail-if", "request_goodput<1"], 3, "no number"),
                                     (["--fail-if", "client.reconnects>=0"], 3, "client.reconnects>=0"),
                                     (["--max-failures", "0"], 0, "")):
            run = run_in(folder, mock.port, *flags)
            same(run.status, status, "exit with %s" % flags, run)
            holds(words in run.err, "words %r" % words, run)


def test_failures_are_counted_or_taken_as_a_share():
    with Folder() as folder:
        for flags, status in (("1", 3), ("2", 0), ("24%", 3), ("25%", 0)):
            def script(index):
                if index in (1, 2):
                    return [b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n"]
                return [harness.stream()]
            with harness.RawServer(script) as server:
                run = run_in(folder, server.port, "--max-failures", flags, "--max-concurrency", "1")
                same(run.status, status, "exit with --max-failures " + flags, run)


def test_a_gate_of_one_point_fails_the_sweep_after_all_points():
    with Folder() as folder, Mock("--ttft", "5", "--itl", "1") as mock:
        run = run_in(folder, mock.port, "--sweep-max-concurrency", "1,8", "--fail-if", "max_concurrency<4")
        same(run.status, 3, "exit", run)
        holds("at concurrency=1" in run.err, "the point", run)
        same(len([line for line in lines_of(run, "Sweep Summary") if line.startswith("concurrency=")]), 2, "rows", run)


# ---- comparison ------------------------------------------------------------------------------------------------------

def result_of(n, scale=1.0, seed=1, detailed=True, **more):
    """A result with skewed latencies; `scale` makes all of them longer."""
    rng = random.Random(seed)
    ttfts = [0.05 * scale * rng.lognormvariate(0, 0.3) for _ in range(n)]
    itls = [[0.01 * scale * rng.lognormvariate(0, 0.2) for _ in range(4)] for _ in range(n)]
    e2els = [t + sum(g) for t, g in zip(ttfts, itls)]
    result = {"date": "20260101-000000", "backend": "openai", "model_id": "m", "tokenizer_id": None, "num_prompts": n,
              "request_rate": "inf", "burstiness": 1.0, "max_concurrency": 8, "duration": sum(e2els) / 8,
              "completed": n, "failed": 0, "total_input_tokens": 10 * n, "total_output_tokens": 5 * n,
              "request_throughput": 8 * n / sum(e2els)}
    for name, x in (("ttft", ttfts), ("itl", [g for gaps in itls for g in gaps]), ("e2el", e2els)):
        x = sorted(x)
        result["mean_%s_ms" % name] = 1000 * sum(x) / len(x)
        result["median_%s_ms" % name] = 1000 * x[len(x) // 2]
        result["p99_%s_ms" % name] = 1000 * x[int(len(x) * 0.99)]
    if detailed:
        result.update(ttfts=ttfts, itls=itls, latencies=e2els, output_lens=[5] * n, errors=[""] * n)
    result.update(more)
    return result


def compare(folder, *results, flags=(), dumps=json.dumps):
    names = []
    for i, result in enumerate(results):
        names.append("%s.json" % "abcd"[i])
        with open(folder(names[-1]), "w", encoding="utf-8") as f:
            f.write(result if isinstance(result, str) else dumps(result))
    return harness.run("--compare", *names, *flags, cwd=folder.path)


def verdict_of(run, label):
    table = lines_of(run, "Significance (by requests)")
    return [line for line in table if line.startswith(label)][0]


def test_equal_runs_are_no_regression():
    with Folder() as folder:
        run = compare(folder, result_of(400), result_of(400, seed=2), flags=["--compare-threshold", "5%"])
        same(run.status, 0, "exit", run)
        holds("Threshold 5%: no regression" in run.out, "the gate's line", run)
        holds("warning" not in run.out, "no warning", run)


def test_a_slower_run_is_a_regression_and_a_faster_one_is_not():
    with Folder() as folder:
        run = compare(folder, result_of(900), result_of(900, 1.1, seed=2), flags=["--compare-threshold", "5%"])
        same(run.status, 3, "exit", run)
        holds("Mean E2EL (ms) +" in run.err and "(b.json)" in run.err, "the figure", run)
        holds(verdict_of(run, "Mean E2EL").endswith("worse"), "the verdict", run)
        run = compare(folder, result_of(900), result_of(900, 0.9, seed=2), flags=["--compare-threshold", "5%"])
        same(run.status, 0, "exit", run)
        holds(verdict_of(run, "Mean E2EL").endswith("better"), "the verdict", run)


def test_what_cannot_be_told_is_inconclusive_with_the_number_that_would_tell():
    with Folder() as folder:
        run = compare(folder, result_of(60), result_of(60, 1.02, seed=4), flags=["--compare-threshold", "5%"])
        same(run.status, 0, "exit", run)
        line = verdict_of(run, "Mean TTFT")
        holds("inconclusive: about " in line and "requests a side would show a change of 5%" in line, "the line", line)
        line = verdict_of(run, "P99 TTFT")
        holds(line.endswith("not available: a p99 needs 368 values a run, there are 60"), "the reason", line)


def test_files_without_details_are_judged_by_their_figures():
    with Folder() as folder:
        a, b = result_of(1000, detailed=False), result_of(1000, 1.2, detailed=False)
        run = compare(folder, a, b, flags=["--compare-threshold", "5%"])
        same(run.status, 3, "exit", run)
        holds("No significance test" in run.out and "P99 E2EL" in run.err, "the words", run)
        run = compare(folder, a, b)
        same(run.status, 0, "exit without a threshold", run)
        b["p99_ttft_ms"] = a["p99_ttft_ms"] * 2
        few = dict(a, completed=100, num_prompts=100)
        run = compare(folder, few, dict(few, p99_ttft_ms=a["p99_ttft_ms"] * 2), flags=["--compare-threshold", "5%"])
        same(run.status, 0, "a p99 of 100 requests is no figure", run)


def test_all_forms_of_file_are_read():
    a, b = result_of(40), result_of(40, seed=2)
    with Folder() as folder:
        for text in (json.dumps(b, indent=4), "{}\n" + json.dumps(b) + "\n\n", json.dumps([{}, b]),
                     json.dumps(dict(b, request_goodput=float("nan"), burstiness=float("inf"), note='NaN "')),
                     "\n" + json.dumps(b)):
            run = compare(folder, a, text)
            same(run.status, 0, "exit", run)
            holds("Median E2EL" in run.out, "rows", run)
        for text, words in (("", "empty"), ("{", "cannot parse"), ("[]", "no result object"), ('{"mode":"sweep"}', "points")):
            run = compare(folder, a, text)
            same(run.status, 1, "exit", run)
            holds(words in run.err and "b.json" in run.err, words, run)
        run = harness.run("--compare", folder("a.json"), folder("nope.json"))
        same(run.status, 1, "exit", run)
        holds("nope.json" in run.err and "No such file" in run.err, "the words", run)


def test_a_gate_that_has_nothing_to_look_at_does_not_pass():
    with Folder() as folder:
        run = compare(folder, result_of(40), {}, flags=["--compare-threshold", "5%"])
        same(run.status, 1, "exit", run)
        holds("nothing to compare" in run.err and "'b.json'" in run.err, "words", run)


def test_figures_that_one_file_lacks_are_told():
    with Folder() as folder:
        whole = result_of(40, detailed=False)
        run = compare(folder, whole, {k: v for k, v in whole.items() if k != "mean_ttft_ms"})
        same(run.status, 0, "exit", run)
        holds("only A has a number for it: Mean TTFT (ms)\n" in run.out, "missing in B", run)
        run = compare(folder, dict(whole, mean_ttft_ms=float("nan")), whole)
        holds("only B has a number for it: Mean TTFT (ms)\n" in run.out, "NaN in A", run)
        run = compare(folder, whole, dict(whole, completed=0, mean_ttft_ms=0.0))
        holds("no request of B completed" in run.out, "zeros that nobody measured", run)


def test_settings_that_differ_are_told():
    with Folder() as folder:
        run = compare(folder, result_of(40), result_of(40, max_concurrency=16, model_id="n"))
        holds("settings: max_concurrency is 8 and 16" in run.out and 'model_id is "m" and "n"' in run.out, "words", run)
        run = compare(folder, result_of(40), result_of(40, total_input_tokens=800))
        holds("10.0 and 20.0 input tokens" in run.out, "lengths", run)


def test_more_than_two_files_are_compared_with_the_first():
    with Folder() as folder:
        run = compare(folder, result_of(900), result_of(900, seed=2), result_of(900, 1.2, seed=3),
                      flags=["--compare-threshold", "5", "--compare-junit", "j.xml", "--compare-markdown", "m.md"])
        same(run.status, 3, "exit", run)
        holds("(c.json)" in run.err and "(b.json)" not in run.err, "the file", run)
        suites = xml.etree.ElementTree.parse(folder("j.xml")).getroot()
        same([s.get("name") for s in suites], ["a.json vs b.json", "a.json vs c.json"], "suites")
        same(suites[0].get("failures"), "0", "failures of the first")
        failed = [c.get("name") for c in suites[1] if c.find("failure") is not None]
        holds("mean_e2el_ms" in failed and int(suites[1].get("failures")) == len(failed), "failures", failed)
        text = folder.read("m.md")
        same(text.count("### Benchmark comparison"), 2, "tables")
        holds("| Mean E2EL (ms) |" in text and "**regression**, worse" in text, "a row", text)


def test_runs_of_two_summaries_are_compared_as_runs():
    with Folder() as folder, Mock("--ttft", "10") as fast, Mock("--ttft", "60") as slow:
        for name, mock in (("a", fast), ("b", slow)):
            run_in(folder, mock.port, "--num-runs", "4", "--save-result", "--result-filename", name + ".json",
                   "--max-concurrency", "2")
        run = harness.run("--compare", folder("out", "a-runs.json"), folder("out", "b-runs.json"),
                          "--compare-threshold", "20%")
        line = [x for x in lines_of(run, "Significance (by runs)") if x.startswith("Mean TTFT")][0]
        if not harness.SLOW:  # on a machine that is too busy to tell it is right not to tell
            same(run.status, 3, "exit", run)
            holds(line.endswith("worse"), "the verdict", run)


def test_a_result_is_compared_with_one_of_the_tools_own():
    with Folder() as folder, Mock("--ttft", "5", "--itl", "1") as mock:
        run_in(folder, mock.port, "--save-result", "--save-detailed", "--result-filename", "a.json", n=40)
        run_in(folder, mock.port, "--save-result", "--save-detailed", "--result-filename", "b.json", n=40)
        run = harness.run("--compare", folder("out", "a.json"), folder("out", "b.json"))
        same(run.status, 0, "exit", run)
        holds("Significance (by requests)" in run.out, "tests", run)


# ---- runs bounded by time --------------------------------------------------------------------------------------------

def test_a_run_lasts_as_long_as_asked_and_begins_the_data_again():
    with Folder(4) as folder, Mock("--ttft", "20", "--truth") as mock:
        run = run_in(folder, mock.port, "--duration", "1", "--max-concurrency", "2", "--save-result", "--save-detailed",
                     "--result-filename", "d.json", n=4)
        same(run.status, 0, "exit", run)
        r = folder.json("out", "d.json")
        near(r["duration"], 1.0, 0.1, "duration", run)
        near(r["completed"], 98, 8, "requests: 2 slots, 20 ms each", run)
        same((r["unfinished"], r["failed"], r["duration_limit"], r["grace"]), (0, 0, 1.0, 30.0), "counts", run)
        same(len(r["ttfts"]), r["num_requests_sent"], "lists hold what was sent")
        truth = mock.truth()
        same(len(truth), r["num_requests_sent"], "requests at the server")
        ids = {t["id"] for t in truth} if "id" in truth[0] else None
        holds(ids is None or len(ids) == len(truth), "fresh ids")


def test_every_request_of_a_run_by_time_has_an_id_of_its_own():
    with Folder(2) as folder, harness.RawServer(lambda index: [0.01, harness.stream()]) as server:
        run = run_in(folder, server.port, "--duration", "0.3", "--max-concurrency", "1", "--request-id-prefix", "x-", n=2)
        same(run.status, 0, "exit", run)
        ids = [line.split(b": ")[1] for _, head, _ in server.requests for line in head.split(b"\r\n")
               if line.lower().startswith(b"x-request-id")]
        same(ids, [b"x-%d" % i for i in range(len(ids))], "ids")
        bodies = [json.loads(body)["prompt"] for _, _, body in server.requests]
        holds(len(bodies) > 4 and bodies[0] == bodies[2] != bodies[1], "the data is begun again", bodies)


def test_a_rate_goes_on_for_the_whole_time():
    with Folder(4) as folder, Mock("--ttft", "2") as mock:
        run = run_in(folder, mock.port, "--duration", "1", "--request-rate", "50", "--save-result",
                     "--result-filename", "d.json", n=4)
        same(run.status, 0, "exit", run)
        r = folder.json("out", "d.json")
        near(r["completed"], 50, 1, "requests", run)
        near(r["duration"], 1.0, 0.1, "duration", run)


def test_what_is_not_finished_after_the_grace_is_counted_apart():
    with Folder(4) as folder, Mock("--ttft", "700") as mock:
        run = run_in(folder, mock.port, "--duration", "0.9", "--grace", "0.2", "--max-concurrency", "3", "--save-result",
                     "--result-filename", "d.json", "--fail-if", "failed>0", n=4)
        same(run.status, 0, "exit", run)
        r = folder.json("out", "d.json")
        same((r["completed"], r["failed"], r["unfinished"]), (3, 0, 3), "counts", run)
        same(r["client"]["failures"]["unfinished"], 3, "by kind", run)
        near(r["duration"], 0.9, 0.01, "duration: nothing came in the grace", run)
        holds("Unfinished requests:                     3" in run.out, "the line", run)
        holds("Error 0" not in run.out and "failed_requests" not in r, "no failures are listed", run)
        run = run_in(folder, mock.port, "--duration", "0.9", "--grace", "5", "--max-concurrency", "3", "--save-result",
                     "--result-filename", "d.json", n=4)
        r = folder.json("out", "d.json")
        same((r["completed"], r["unfinished"]), (6, 0), "with grace enough", run)


def test_unfinished_requests_meet_the_gates():
    with Folder(4) as folder, Mock("--ttft", "5000") as mock:
        for flags, want in ((["--max-failures", "0"], "--max-failures 0: 0 of 3 requests failed, 3 were unfinished"),
                            (["--max-failures", "99%"], "--max-failures 99%: 0 of 3 requests failed, 3 were unfinished"),
                            (["--fail-if", "unfinished>2"], "--fail-if 'unfinished>2': it is 3")):
            run = run_in(folder, mock.port, "--duration", "0.2", "--grace", "0.1", "--max-concurrency", "3", *flags, n=4)
            same(run.status, 3, "exit", run)
            holds(want in run.err, "the reason", run)
        run = harness.run(*[f for f in folder.custom(mock.port, 4) if f != "--disable-tqdm"], *FLAGS, "--duration", "0.2",
                          "--grace", "0.1", "--max-concurrency", "3", "--max-failures", "3", "--fail-if", "failed>0")
        same(run.status, 1, "exit: nothing completed", run)
        holds("no request completed (0 failed, 3 unfinished)" in run.err, "the sentence", run)
        holds(", 0 failed, 3 unfinished" in run.err, "the progress line", run)


def test_automatic_names_that_are_taken_get_a_number():
    with Folder(2) as folder, Mock("--ttft", "1") as mock:
        for _ in range(6):
            run = run_in(folder, mock.port, "--save-result", n=2)
            same(run.status, 0, "exit", run)
        names = os.listdir(folder("out"))
        same(len(names), 6, "files", names)
        same([folder.json("out", n)["completed"] for n in names], [2] * 6, "each is a whole result")


def test_a_run_in_which_nothing_was_sent_has_no_verdict():
    with Folder(2) as folder, Mock() as mock:
        process = subprocess.Popen([harness.program(), *folder.custom(mock.port, 2), *FLAGS, "--request-rate", "0.02",
                                    "--save-result", "--result-filename", folder("n.json")], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=harness.clean_env())
        text = b""
        while b"Traffic request rate" not in text:
            line = process.stderr.readline()
            holds(line, "the program ended early", text)
            text += line
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=harness.PATIENCE_S)
        same(process.returncode, 130, "exit", err.decode())
        client = folder.json("n.json")["client"]
        same((client["verdict"], client["verdict_rule"]), ("none", "no data: nothing was sent"), "verdict")
        holds(b"clean" not in out and b"Verdict rule: no data: nothing was sent" in out, "text", out.decode())


def test_a_sweep_can_be_bounded_by_time():
    with Folder(4) as folder, Mock("--ttft", "10") as mock:
        run = run_in(folder, mock.port, "--sweep-max-concurrency", "1,2", "--duration", "0.4", "--save-result",
                     "--result-filename", "d.json", n=4)
        same(run.status, 0, "exit", run)
        near(folder.json("out", "d-concurrency1.json")["completed"], 39, 4, "one slot", run)
        near(folder.json("out", "d-concurrency2.json")["completed"], 78, 8, "two slots", run)


# ---- warm-ups --------------------------------------------------------------------------------------------------------

def test_warm_ups_can_have_prompts_of_their_own():
    for dataset in (["random", "--random-input-len", "8", "--prompt-token-ids"],
                    ["prefix_repetition", "--prefix-repetition-num-prefixes", "2", "--prefix-repetition-prefix-len", "6",
                     "--prefix-repetition-suffix-len", "6"]):
        with harness.RawServer(lambda i: [harness.stream()]) as server:
            run = harness.run("serve", "--model", "m", "--tokenizer", TOKENIZER, "--port", str(server.port),
                              "--dataset-name", *dataset, "--num-prompts", "4", "--num-warmups", "3", "--max-concurrency", "1",
                              "--warmup-fresh-prompts", "--disable-tqdm")
            same(run.status, 0, "exit", run)
            prompts = [json.dumps(json.loads(body)["prompt"]) for _, head, body in server.requests
                       if b"/v1/completions" in head]
            same(len(prompts), 7, "requests", run)
            holds(not set(prompts[:3]) & set(prompts[3:]), "warm-ups are not measured ones", prompts)
            same(len(set(prompts[:3])), 3, "each its own", prompts)


# ---- profiling -------------------------------------------------------------------------------------------------------

def profiled(flags, running, n=6):
    """Paths of the profiler calls among all requests, and the run."""
    def script(index):
        path = server.requests[-1][1].split(b" ")[1]
        if path == b"/metrics":
            body = b"# HELP x\nvllm:num_requests_running{engine=\"0\"} %d.0\n" % running
            return [b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body]
        if path.endswith(b"profile"):
            return [b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"]
        return [0.15, harness.stream()]

    with Folder() as folder, harness.RawServer(script, metrics=True) as server:
        run = run_in(folder, server.port, "--max-concurrency", "2", "--profile", *flags, n=n)
        return [head.split(b" ")[1] for _, head, _ in server.requests if b"profile " in head.split(b"\r\n")[0]], run


def test_the_profiler_waits_for_a_full_server():
    calls, run = profiled(["--profile-batch-threshold", "4", "--profile-duration", "0.1"], 4)
    same((run.status, calls), (0, [b"/start_profile", b"/stop_profile"]), "calls", run)
    holds("Profiler stopped" in run.err and "early" not in run.err, "words", run)
    calls, run = profiled(["--profile-batch-threshold", "4"], 4)
    same((run.status, calls), (0, [b"/start_profile", b"/stop_profile"]), "calls of a short load", run)
    holds("early" in run.err, "words", run)
    calls, run = profiled(["--profile-batch-threshold", "4"], 3)
    same((run.status, calls), (0, []), "calls when the server never fills", run)
    holds("never seen" in run.err, "the warning", run)


# ---- conversations ---------------------------------------------------------------------------------------------------

TOKENIZER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "tok-mini")
CHAT_HEAD = harness.HEAD


def chat_answer(text, tokens=2, prompt=7):
    piece = harness.event({"choices": [{"index": 0, "delta": {"content": text}}]})
    return CHAT_HEAD + harness.chunked(piece, piece, harness.usage(tokens, prompt), harness.DONE)


def talk(folder, port, *flags, n=2, turns=3):
    """Conversations of a ShareGPT file: no tokens have to be made."""
    said = [{"from": "human" if i % 2 == 0 else "gpt", "value": "%s %d" % ("question" if i % 2 == 0 else "answer", i // 2)}
            for i in range(2 * turns)]
    data = [{"id": i, "conversations": [dict(s, value="c%d %s" % (i, s["value"])) for s in said]} for i in range(n)]
    with open(folder("talk.json"), "w", encoding="utf-8") as f:
        json.dump(data, f)
    return harness.run("serve", "--multi-turn", "--backend", "openai-chat", "--model", "mock-model", "--tokenizer", TOKENIZER,
                       "--host", "127.0.0.1", "--port", str(port), "--dataset-name", "sharegpt", "--dataset-path",
                       folder("talk.json"), "--num-prompts", str(n), "--disable-shuffle", "--disable-tqdm",
                       "--request-id-prefix", "r-", "--result-dir", folder("out"), "--save-result", "--result-filename",
                       "t.json", *flags)


def header_of(head, name):
    for line in head.decode().split("\r\n")[1:]:
        key, _, value = line.partition(": ")
        if key.lower() == name:
            return value
    return None


def test_a_conversation_holds_what_the_server_really_said():
    with Folder() as folder, harness.RawServer(lambda i: [chat_answer("reply %d \"x\"" % i)]) as server:
        run = talk(folder, server.port, "--multi-turn-concurrency", "1")
        same(run.status, 0, "exit", run)
        ids = [header_of(head, "x-request-id") for _, head, _ in server.requests]
        same(ids, ["r-conv-0-turn0", "r-conv-1-turn0", "r-conv-0-turn1", "r-conv-1-turn1", "r-conv-0-turn2",
                   "r-conv-1-turn2"], "conversations take turns", run)
        same([header_of(head, "x-session-id") for _, head, _ in server.requests], ["r-conv-0", "r-conv-1"] * 3, "sessions")
        body = json.loads(server.requests[4][2])
        user = lambda text: {"role": "user", "content": [{"type": "text", "text": text}]}
        said = lambda i: {"role": "assistant", "content": 2 * ("reply %d \"x\"" % i)}
        same(body["messages"], [user("c0 question 0"), said(0), user("c0 question 1"), said(2), user("c0 question 2")],
             "the last turn's messages")
        same(list(body)[-1], "min_tokens", "the length asked for comes last")
        r = folder.json("out", "t.json")
        same([r[k] for k in ("mode", "num_conversations", "conversations_completed", "conversations_failed", "completed",
                             "failed", "avg_turns_completed", "multi_turn_concurrency")],
             ["multi_turn", 2, 2, 0, 6, 0, 3.0, 1], "result")
        same(r["total_input_tokens"], 42, "the server's count")
        same(r["conversations_not_started"], 0, "all were started")
        same((list(r)[-1], sum(r["client"]["failures"].values())), ("client", 0), "the client's part")
        holds("verdict" in r["client"] and "receive_lag_us" in r["client"], "its verdict and lags", r["client"])
        turns = r["per_turn_metrics"]
        same([(t["turn_index"], t["num_samples"], t["completed"]) for t in turns], [(0, 2, 2), (1, 2, 2), (2, 2, 2)], "turns")
        near(sum(t["request_throughput"] for t in turns), r["request_throughput"], 1e-6 * r["request_throughput"], "sum")
        holds("Turn 3 (2 samples)" in run.out and "Conversations completed/total:                2/2" in run.out, "text", run)


def test_a_failed_turn_ends_its_conversation():
    def script(index):
        if index == 2:
            return [b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 4\r\n\r\nboom"]
        return [chat_answer("ok")]

    with Folder() as folder, harness.RawServer(script) as server:
        run = talk(folder, server.port, "--multi-turn-concurrency", "1", "--max-failures", "0")
        same(run.status, 3, "exit: the gate counts turns", run)
        r = folder.json("out", "t.json")
        same([r[k] for k in ("conversations_completed", "conversations_failed", "completed", "failed",
                             "avg_turns_completed")], [1, 1, 4, 1, 2.5], "counts", run)
        same([t["num_samples"] for t in r["per_turn_metrics"]], [2, 2, 1], "samples")
        same([(f["conversation_id"], f["turn_index"]) for f in r["failed_requests"]], [("r-conv-0", 1)], "the failure")


def test_a_pause_holds_no_slot():
    with Folder() as folder, harness.RawServer(lambda i: [0.05, chat_answer("ok")]) as server:
        start = time.time()
        run = talk(folder, server.port, "--multi-turn-concurrency", "1", "--multi-turn-delay-ms", "100", turns=2)
        same(run.status, 0, "exit", run)
        # c0 0-50, c1 50-100, c0 again at 150-200, c1 at 200-250
        near(folder.json("out", "t.json")["duration"], 0.25, 0.03, "duration", run)
        holds(time.time() - start < 5, "time", run)


def test_conversations_can_be_swept():
    with Folder() as folder, harness.RawServer(lambda i: [0.02, chat_answer("ok")]) as server:
        run = talk(folder, server.port, "--sweep-max-concurrency", "1,2", turns=2)
        same(run.status, 0, "exit", run)
        rows = [line for line in lines_of(run, "Sweep Summary") if line.startswith("concurrency=")]
        same(len(rows), 2, "rows", run)
        holds("MT Concurrency" in run.out and "--multi-turn-concurrency over 2 values: [1, 2]" in run.out, "text", run)
        same([folder.json("out", "t-concurrency%d.json" % v)["multi_turn_concurrency"] for v in (1, 2)], [1, 2], "files")


def made(folder, port, *flags):
    return harness.run("serve", "--multi-turn", "--backend", "openai-chat", "--model", "mock-model", "--tokenizer", TOKENIZER,
                       "--host", "127.0.0.1", "--port", str(port), "--num-prompts", "2", "--disable-tqdm",
                       "--random-input-len", "20", "--random-output-len", "3", *flags)


def texts_of(server):
    return [[m["content"][0]["text"] for m in json.loads(body)["messages"] if m["role"] == "user"]
            for _, _, body in server.requests]


def test_prefixes_are_shared_by_all_and_within_a_conversation():
    with Folder() as folder, harness.RawServer(lambda i: [chat_answer("ok")]) as server:
        run = made(folder, server.port, "--multi-turn-prefix-global-ratio", "0.3",
                   "--multi-turn-prefix-conversation-ratio", "0.3", "--multi-turn-num-turns", "2", "--multi-turn-concurrency", "1")
        same(run.status, 0, "exit", run)
        texts = texts_of(server)
        same([len(t) for t in texts], [1] * 4, "no history")
        a0, b0, a1, b1 = [t[0] for t in texts]
        common = os.path.commonprefix([a0, b0, a1, b1])
        within = os.path.commonprefix([a0, a1])
        holds(len(common) > 0 and within.startswith(common) and len(within) > len(common), "shares", texts)
        holds(os.path.commonprefix([b0, b1]) != within and a0 != a1, "each its own", texts)


def test_the_number_of_turns_lies_between_the_bounds():
    with Folder() as folder, harness.RawServer(lambda i: [chat_answer("ok")]) as server:
        run = made(folder, server.port, "--multi-turn-min-turns", "2", "--multi-turn-max-turns", "4", "--num-prompts", "12")
        same(run.status, 0, "exit", run)
        turns = {}
        for _, head, _ in server.requests:
            session = header_of(head, "x-session-id")
            turns[session] = turns.get(session, 0) + 1
        same(len(turns), 12, "conversations")
        same((min(turns.values()), max(turns.values())), (2, 4), "turns", turns)


def test_an_interrupted_talk_is_saved():
    with Folder() as folder, harness.RawServer(lambda i: [0.1, chat_answer("ok")]) as server:
        with open(folder("talk.json"), "w", encoding="utf-8") as f:
            json.dump([{"conversations": [{"from": ("human", "gpt")[i % 2], "value": "v %d" % i} for i in range(80)]}], f)
        process = subprocess.Popen([harness.program(), "serve", "--multi-turn", "--backend", "openai-chat", "--model", "m",
                                    "--tokenizer", TOKENIZER, "--port", str(server.port), "--dataset-name", "sharegpt",
                                    "--dataset-path", folder("talk.json"), "--num-prompts", "1", "--save-result",
                                    "--result-filename", folder("t.json")], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=harness.clean_env())
        until = time.time() + harness.PATIENCE_S
        while len(server.requests) < 3 and time.time() < until:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=harness.PATIENCE_S)
        same(process.returncode, 130, "exit", err.decode())
        r = folder.json("t.json")
        same((r["interrupted"], r["conversations_completed"], r["conversations_failed"]), (True, 0, 1), "result")
        holds(r["completed"] >= 2, "turns", r)


def test_conversations_that_never_began_have_not_failed():
    with Folder() as folder, harness.RawServer(lambda i: [0.1, chat_answer("ok")]) as server:
        with open(folder("talk.json"), "w", encoding="utf-8") as f:
            said = [{"from": ("human", "gpt")[i % 2], "value": "v %d" % i} for i in range(4)]
            json.dump([{"conversations": said} for _ in range(30)], f)
        process = subprocess.Popen([harness.program(), "serve", "--multi-turn", "--backend", "openai-chat", "--model", "m",
                                    "--tokenizer", TOKENIZER, "--port", str(server.port), "--dataset-name", "sharegpt",
                                    "--dataset-path", folder("talk.json"), "--num-prompts", "30", "--save-result",
                                    "--multi-turn-concurrency", "1", "--goodput", "ttft:100", "--save-detailed",
                                    "--result-filename", folder("t.json")], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=harness.clean_env())
        until = time.time() + harness.PATIENCE_S
        while len(server.requests) < 3 and time.time() < until:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=harness.PATIENCE_S)
        same(process.returncode, 130, "exit", err.decode())
        r = folder.json("t.json")
        began = r["num_requests_sent"]  # they take turns: one turn each so far
        same((r["conversations_failed"], r["conversations_not_started"], r["avg_turns_completed"]),
             (began, 30 - began, 1.0), "conversations", r)
        holds(b"Conversations not started:" in out, "the line", out.decode())
        for flag in (b"--goodput", b"--save-detailed"):
            holds(b"--multi-turn: " + flag + b" has no effect" in err, "the warning", err.decode())


if __name__ == "__main__":
    harness.main(globals())
