"""The program against its own mock server: every option of mock-server, and what the client makes of it."""
import json
import os
import signal
import statistics
import subprocess

from harness import (Folder, Mock, clean_env, holds, kinds, main, near, program, run, same, serve)

QUICK = ["--ttft", "5", "--itl", "2", "--tokens", "6"]
ONE = ["--max-concurrency", "1"]


def against(mock_flags, *flags, n=3, **options):
    with Mock(*QUICK, *mock_flags) as mock:
        return serve(mock.port, *flags, n=n, **options)


def good(result, n=3, tokens=6, events=None, **_):
    r = result.result
    same(result.status, 0, "exit status", result)
    same((r["completed"], r["failed"]), (n, 0), "completed, failed", result)
    same(r["output_lens"], [tokens] * n, "output tokens", result)
    same([len(x) for x in r["itls"]], [(events or tokens) - 1] * n, "gaps", result)
    same(len(set(r["generated_texts"])), n, "every answer has its own text", result)
    return r


# ---- framing -------------------------------------------------------------------------------------------------------

def test_every_framing_brings_the_same_answers():
    """The mock's words depend on the request's number alone, so a framing that loses a byte shows."""
    for backend in ("openai", "openai-chat"):
        plain = good(against([], *ONE, backend=backend))["generated_texts"]
        same([len(t.split()) for t in plain], [6, 6, 6], "words")
        for flags in (["--split", "1"], ["--split", "7", "--split-gap-us", "50"], ["--split", "1000"],
                      ["--coalesce", "3"], ["--coalesce", "100"], ["--crlf"], ["--cr"], ["--comments"],
                      ["--comments", "--crlf", "--split", "3"], ["--no-chunked"], ["--no-chunked", "--cr"],
                      ["--slow-headers", "10"], ["--close-each"], ["--close-idle", "1"], ["--no-done"],
                      ["--no-done", "--no-chunked", "--split", "5"], ["--final-empty"], ["--threads", "2"],
                      ["--spin", "0.1"]):
            result = against(flags, *ONE, backend=backend)
            events = 7 if "--final-empty" in flags and backend == "openai" else None
            same(good(result, events=events)["generated_texts"], plain, "texts with %s" % flags, result)


def test_split_letters_of_several_bytes():
    for backend in ("openai", "openai-chat"):
        whole = good(against(["--unicode"], *ONE, backend=backend))["generated_texts"]
        holds(any(ord(c) > 0x7ff for c in "".join(whole)), "letters of three bytes: %r" % whole)
        cut = good(against(["--unicode", "--split", "1"], *ONE, backend=backend))["generated_texts"]
        same(cut, whole, "texts")


def test_large_events():
    r = good(against(["--text-bytes", "40000"], *ONE))
    same([len(t.encode()) for t in r["generated_texts"]], [240000] * 3, "bytes of text")


def test_coalesced_events_are_flagged_as_merged():
    result = against(["--coalesce", "3"], *ONE)
    r = good(result)
    same(r["client"]["token_events"], [6, 6, 6], "events", result)
    same(r["client"]["merged_events"], [4, 4, 4], "events that shared a read with an earlier one", result)


def test_close_each_opens_a_connection_a_request():
    result = against(["--close-each"], *ONE, n=4)
    good(result, n=4)
    client = result.result["client"]
    same((client["connections"], client["reconnects"]), (4, 0), "connections, reconnects", result)


def test_close_idle_costs_no_request():
    result = against(["--close-idle", "5"], *ONE, "--request-rate", "20", "--burstiness", "inf", n=4)
    good(result, n=4)
    holds(result.result["client"]["connections"] >= 4, "each came to a closed connection", result)


def test_slow_headers_are_part_of_the_first_token():
    result = against(["--slow-headers", "40"], *ONE)
    near(good(result)["median_ttft_ms"], 40, 8, "TTFT", result)


# ---- output --------------------------------------------------------------------------------------------------------

def test_usage_in_the_last_chunk_in_every_chunk_inside_the_last_token():
    for backend in ("openai", "openai-chat"):
        for place in ("final", "each", "inline"):
            result = against(["--usage", place], *ONE, backend=backend)
            good(result)
            same(result.result["client"]["output_tokens_from"], {"usage": 3, "text": 0, "fallback": 0}, place, result)


def test_without_usage_and_tokenizer_nobody_knows_the_tokens():
    result = against(["--usage", "never"], *ONE)
    same(result.status, 0, "exit status", result)
    r = result.result
    same(r["client"]["output_tokens_from"], {"usage": 0, "text": 0, "fallback": 3}, "sources", result)
    same([k for k in r if k.startswith("mean_")], ["mean_e2el_ms"], "latency keys", result)
    same([len(x) for x in r["itls"]], [5, 5, 5], "the gaps are kept all the same", result)


def test_tokens_per_event():
    result = against(["--tokens-per-event", "3", "--itl", "10"], *ONE)
    r = good(result, events=2)
    near(r["median_itl_ms"], 10, 2, "gap between events", result)
    near(r["median_tpot_ms"], 10 / 5, 0.5, "(latency - TTFT) / (tokens - 1)", result)
    same(r["max_output_tokens_per_s"], 6.0, "the peers' peak counts events", result)
    same(r["exact_max_output_tokens_per_s"], 18.0, "ours counts tokens", result)


def test_role_chunks_are_no_tokens():
    for role in ("early", "first", "merged", "none"):
        result = against(["--role-chunk", role, "--ttft", "30"], *ONE, backend="openai-chat")
        near(good(result)["median_ttft_ms"], 30, 6, "TTFT with the role chunk %s" % role, result)


def test_reasoning_counts_and_is_kept_out_of_the_answer():
    for key in ("reasoning", "reasoning_content"):
        result = against(["--reasoning", "4", "--reasoning-key", key, "--itl", "10"], *ONE, backend="openai-chat")
        r = good(result)
        same([len(t.split()) for t in r["generated_texts"]], [2, 2, 2], "words of the visible answer", result)
        near(r["median_ttft_ms"], 5, 3, "TTFT is the first reasoning token", result)
        near(statistics.median(r["client"]["answer_ttfts"]), 0.045, 0.006, "four tokens before the answer", result)


def test_empty_first_events():
    """Completions: any chunk with choices is a token.  Chat: an empty piece of content is one as well, after the role."""
    for backend in ("openai", "openai-chat"):
        result = against(["--empty-first", "2"], *ONE, backend=backend)
        r = result.result
        same((r["completed"], r["output_lens"]), (3, [6, 6, 6]), "completed, tokens", result)
        same([len(t.split()) for t in r["generated_texts"]], [4, 4, 4], "words", result)


def test_eos_rate_ends_early_unless_ignored():
    mock, length = ["--eos-rate", "0.2", "--tokens", "0", "--itl", "0"], ["--extra-body", '{"max_tokens": 20}']
    short = against(mock, *ONE, *length, n=8).result["output_lens"]
    holds(1 <= min(short) < 20, "some end early: %s" % short)
    result = against(mock, *ONE, *length, "--ignore-eos", n=8)
    same(result.result["output_lens"], [20] * 8, "all are full", result)


def test_default_length_and_length_asked_for():
    with Mock("--ttft", "1", "--itl", "0", "--default-tokens", "9") as mock:
        result = run("serve", "--host", "127.0.0.1", "--port", str(mock.port), "--num-prompts", "2",
                     "--prompt-token-ids", "--random-input-len", "7", "--random-output-len", "5", "--disable-tqdm")
        holds("Total generated tokens:                  10 " in result.out, "2 x 5 tokens", result)
        answer = json.loads(subprocess.run(
            ["python3", "-c", "import sys,urllib.request as u; print(u.urlopen(u.Request(sys.argv[1], b'{\"prompt\":[1]}')"
             ").read().decode())", mock.url + "/v1/completions"], capture_output=True, env=clean_env(),
            check=True).stdout)
    same(answer["usage"]["completion_tokens"], 9, "the mock's own default")


# ---- timing --------------------------------------------------------------------------------------------------------

def test_figures_are_those_that_the_server_was_given():
    result = against(["--ttft", "40", "--itl", "10"], "--max-concurrency", "2", n=6)
    r = good(result, n=6)
    for metric, want, tolerance in (("ttft", 40, 4), ("itl", 10, 1), ("tpot", 10, 1), ("e2el", 90, 5)):
        near(r["median_%s_ms" % metric], want, tolerance, metric, result)
    near(r["duration"], 3 * 0.09, 0.03, "duration", result)


def test_prefill_time_grows_with_the_prompt():
    with Mock(*QUICK, "--prefill-us-per-token", "300") as mock, Folder() as folder:
        run("serve", "--host", "127.0.0.1", "--port", str(mock.port), "--num-prompts", "3", "--prompt-token-ids",
            "--random-input-len", "100", "--max-concurrency", "1", "--disable-tqdm", "--save-result",
            "--result-dir", folder.path, "--result-filename", "r.json")
        near(folder.json("r.json")["median_ttft_ms"], 5 + 30, 4, "5 ms and 100 times 0.3 ms")


def test_a_larger_batch_is_slower():
    """Every running request adds 4 ms to each gap: 2 + 4 alone, 2 + 16 for four together."""
    flags = ["--itl-per-stream-us", "4000"]
    near(against(flags, *ONE, n=2).result["median_itl_ms"], 6, 1, "alone")
    result = against(flags, "--max-concurrency", "4", n=4)
    near(result.result["median_itl_ms"], 18, 2, "four at once", result)


def test_max_batch_lets_the_others_wait():
    """One at a time, each 20 + 5 times 2 ms."""
    result = against(["--max-batch", "1", "--ttft", "20"], "--max-concurrency", "3", n=3)
    for got, want in zip(sorted(result.result["ttfts"]), (0.020, 0.050, 0.080)):
        near(got, want, 0.008, "TTFT", result)


def test_distributions_keep_their_mean_and_have_their_spread():
    """Mean 2 ms.  Standard deviation: that of the exponential is its mean; of the normal half of it, as asked for; of
    the lognormal mean * sqrt(exp(0.5^2) - 1).  480 gaps, drawn from a fixed seed."""
    for name, spread in (("constant", 0), ("exponential", 2), ("normal", 1), ("lognormal", 1.066)):
        with Mock("--ttft", "5", "--itl", "2", "--tokens", "61", "--itl-dist", name, "--itl-jitter", "0.5", "--ttft-dist",
                  name, "--ttft-sigma", "0.5", "--truth") as mock:
            good(serve(mock.port, "--max-concurrency", "8", n=8), n=8, tokens=61)
            due = [t["due_ns"] for t in mock.truth()]
        gaps = [(b - a) / 1e6 for d in due for a, b in zip(d, d[1:])]
        near(statistics.mean(gaps), 2, 0.25, "mean gap of %s" % name)
        near(statistics.pstdev(gaps), spread, 0.3 if spread else 0, "spread of %s" % name)


def truth_errors(records, r):
    """Per request and per gap: what the client measured less what the server did, in ms."""
    first, gaps = [], []
    for i, t in enumerate(records):
        first.append((r["ttfts"][i] - (t["sent_ns"][0] - t["arrival_ns"]) / 1e9) * 1e3)
        sent = t["sent_ns"]
        gaps += [(g - (b - a) / 1e9) * 1e3 for g, a, b in zip(r["itls"][i], sent, sent[1:])]
    return first, gaps


def test_measured_times_agree_with_the_servers_truth():
    for backend in ("openai", "openai-chat"):
        with Mock("--truth", "--ttft", "10", "--itl", "3", "--itl-dist", "exponential", "--tokens", "40") as mock:
            result = serve(mock.port, *ONE, n=5, backend=backend)
            records = mock.truth()
        good(result, n=5, tokens=40)
        same([t["outcome"] for t in records], ["complete"] * 5, "outcomes")
        first, gaps = truth_errors(records, result.result)
        near(statistics.median(first), 0, 1.0, "median TTFT error in ms", result)
        near(statistics.median([abs(g) for g in gaps]), 0, 0.5, "median ITL error in ms", result)
        holds(min(first) > -0.2, "nothing arrives before it was sent: %s" % min(first), result)


def test_truth_file_and_forgetting():
    with Folder() as folder:
        with Mock(*QUICK, "--truth-file", folder("truth.jsonl")) as mock:
            serve(mock.port, *ONE, n=3)
            same(len(mock.truth()), 3, "requests known")
        lines = [json.loads(line) for line in folder.read("truth.jsonl").splitlines()]
        same([(t["index"], t["tokens"], len(t["due_ns"])) for t in lines], [(i, 6, 6) for i in range(3)], "the file")
        holds(all(b - a == 2000000 for t in lines for a, b in zip(t["due_ns"], t["due_ns"][1:])), "due every 2 ms")


def test_a_truth_file_that_cannot_be_written_is_refused_at_once():
    with Folder() as folder:
        result = run("mock-server", "--port", "0", "--truth-file", folder("missing", "truth.jsonl"))
        same((result.status, result.out), (1, ""), "exit status, stdout", result)
        holds("--truth-file" in result.err and "missing/truth.jsonl" in result.err, "the flag and the file", result)


# ---- faults --------------------------------------------------------------------------------------------------------

def all_failed(kind, mock_flags, *flags, words=(), events=0, **options):
    result = against(mock_flags, *ONE, *flags, **options)
    same(result.status, 1, "exit status", result)
    r = result.result
    same((r["completed"], r["failed"]), (0, 3), "completed, failed", result)
    same(kinds(result), {kind: 3}, "kinds", result)
    same([len(x) for x in r["itls"]], [max(events - 1, 0)] * 3, "gaps that were seen", result)
    for word in words:
        holds(all(word in e for e in r["errors"]), "errors name %r: %s" % (word, r["errors"]), result)
        holds(word in result.out + result.err, "the console names %r" % word, result)
    return result


def test_error_rate_and_status():
    all_failed("http_status", ["--error-rate", "1"], words=["500"])
    all_failed("http_status", ["--error-rate", "1", "--error-status", "429"], words=["429"], backend="openai-chat")


def test_a_share_of_errors_is_the_seeds_and_only_those_fail():
    def errors(seed):
        result = against(["--error-rate", "0.5", "--seed", seed], *ONE, n=12)
        r = result.result
        same(kinds(result), {"http_status": r["failed"]}, "kinds", result)
        same(result.status, 0, "some completed", result)
        return [bool(e) for e in r["errors"]]
    first = errors("1")
    holds(0 < sum(first) < 12, "some of each: %s" % first)
    same(errors("1"), first, "same seed")
    holds(errors("2") != first, "another seed")


def test_dropped_connections():
    for flags in ([], ["--drop-rst"]):
        all_failed("closed_early", ["--drop-after", "2", *flags], events=2)
        all_failed("closed_early", ["--drop-after", "0", *flags])
    all_failed("closed_early", ["--drop-after", "3", "--no-chunked", "--drop-rst"], events=3)


def test_drop_rate():
    result = against(["--drop-after", "2", "--drop-rate", "0.5"], *ONE, n=12)
    r = result.result
    holds(0 < r["failed"] < 12, "some of each", result)
    same(kinds(result), {"closed_early": r["failed"]}, "kinds", result)


def test_garbage():
    all_failed("malformed_stream", ["--garbage-rate", "1"], events=3)
    all_failed("malformed_stream", ["--garbage-rate", "1"], events=3, backend="openai-chat")


def test_error_event():
    all_failed("error_event", ["--error-event-after", "2"], events=2, words=["mock"])
    all_failed("error_event", ["--error-event-after", "0"], backend="openai-chat")


def test_stall_meets_the_request_timeout():
    result = all_failed("timeout", ["--stall-after", "2"], "--request-timeout", "0.15", events=2)
    near(result.result["duration"], 0.45, 0.1, "three times the limit", result)
    holds("0.15" in result.result["errors"][0], "the limit is named", result)


def test_the_first_requests_are_refused_while_warming_up():
    result = against(["--fail-first", "2"], "--num-warmups", "2")
    good(result)
    holds("2 of 2 warm-up requests failed" in result.err, "said", result)
    result = against(["--fail-first", "1"], *ONE)
    same([bool(e) for e in result.result["errors"]], [True, False, False], "who failed", result)
    holds("503" in result.result["errors"][0], "the status", result)


def test_the_ready_check_outlasts_a_server_that_starts():
    result = against(["--fail-first", "1"], "--ready-check-timeout-sec", "20")
    good(result)
    holds("503" in result.err, "the countdown says why", result)


def test_strict_model_and_too_long_prompts():
    all_failed("http_status", ["--strict-model", "--model", "other"], words=["404", "mock-model"])
    all_failed("http_status", ["--max-model-len", "5"], words=["400", " 5 "])


# ---- prompts, model, phases ----------------------------------------------------------------------------------------

def random_run(folder, mock, *flags):
    result = run("serve", "--host", "127.0.0.1", "--port", str(mock.port), "--dataset-name", "random",
                 "--random-output-len", "3", "--disable-tqdm", "--save-result", "--save-detailed", "--result-dir",
                 folder.path, "--result-filename", "r.json", "--temperature", "0", *flags)
    same(result.status, 0, "exit status", result)
    return folder.json("r.json"), result


def test_random_text_made_by_the_servers_tokenizer_has_the_lengths_asked_for():
    with Folder() as folder, Mock("--truth", "--ttft", "1", "--itl", "0") as mock:
        r, result = random_run(folder, mock, "--num-prompts", "12", "--random-input-len", "37")
        same(r["input_lens"], [37] * 12, "counted by the server", result)
        same([t["prompt_tokens"] for t in mock.truth()], [37] * 12, "known to the server")
        same(r["tokenizer_id"], "mock-model", "tokenizer_id", result)
        ranged, _ = random_run(folder, mock, "--num-prompts", "12", "--random-input-len", "40",
                               "--random-range-ratio", "0.5")
        holds(len(set(ranged["input_lens"])) > 3 and all(20 <= n <= 60 for n in ranged["input_lens"]),
              "lengths within [20, 60]: %s" % ranged["input_lens"])
        same(ranged["client"]["client_input_lens"], ranged["input_lens"], "both counts agree")


def test_prompt_token_ids():
    with Folder() as folder, Mock("--truth", "--ttft", "1", "--itl", "0") as mock:
        r, result = random_run(folder, mock, "--num-prompts", "5", "--random-input-len", "23", "--prompt-token-ids")
        same((r["input_lens"], r["output_lens"]), ([23] * 5, [3] * 5), "lengths", result)
        same([t["prompt_tokens"] for t in mock.truth()], [23] * 5, "known to the server")


def test_the_model_is_asked_for():
    with Folder() as folder, Mock("--model", "org/small-7b", "--strict-model", "--ttft", "1", "--itl", "0") as mock:
        r, result = random_run(folder, mock, "--num-prompts", "2", "--random-input-len", "4", "--prompt-token-ids")
        same((r["model_id"], r["completed"]), ("org/small-7b", 2), "model_id, completed", result)
        holds("org/small-7b" in result.err, "said", result)


def test_mock_within_serve():
    for form in (["serve"], ["bench", "serve"], []):
        result = run(*form, "--mock", "--num-prompts", "3", "--random-input-len", "10", "--random-output-len", "3",
                     "--disable-tqdm")
        same(result.status, 0, "exit status", result)
        holds("Successful requests:                     3 " in result.out, "three completed", result)
        holds("Total generated tokens:                  9 " in result.out, "nine tokens", result)
        holds("Embedded mock server: http://127.0.0.1:" in result.err, "said", result)


# ---- the server as a program ---------------------------------------------------------------------------------------

def test_ipv6_and_a_taken_port():
    with Mock(*QUICK, "--host", "::1") as mock:
        same(mock.url.rsplit(":", 1)[0], "http://[::1]", "address")
        good(serve(mock.port, *ONE, n=3, host="::1"))
        again = run("mock-server", "--host", "::1", "--port", str(mock.port))
    same((again.status, again.out), (1, ""), "exit status, stdout", again)
    holds(str(mock.port) in again.err and len(again.err.splitlines()) == 1, "one sentence that names the port", again)


def test_bad_options_are_refused_in_a_sentence():
    for flags in (["--error-rate", "2"], ["--itl-dist", "flat"], ["--crlf", "--cr"], ["--nonsense"], ["--port", "70000"],
                  ["--error-status", "99"]):
        result = run("mock-server", *flags)
        same((result.status, result.out), (2, ""), "exit status, stdout with %s" % flags, result)
        holds(flags[0] in result.err, "the flag is named", result)


def test_sigterm_and_sigint_end_it_in_order():
    for number in (signal.SIGTERM, signal.SIGINT):
        with Folder() as folder:
            process = subprocess.Popen([program(), "mock-server", "--port", "0", "--truth-file", folder("t")],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_env())
            process.stdout.readline()
            process.send_signal(number)
            process.communicate(timeout=20)
            same(process.returncode, 0, "exit status after %s" % number.name)
            same(folder.names(), ["t"], "the truth file is there")


main(globals())
