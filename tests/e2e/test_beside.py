"""What stands beside the latencies: probes, the server's counters, tokens per event, reasoning, prompt cache."""
import json
import os
import time

from harness import (CLOSE, DONE, HEAD, Folder, Mock, RawServer, Serve, chunked, event, holds, main, near, program, run,
                     same, serve, stream, token, usage)

TOKENIZER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "tok-mini")
RUNNING = ["--extra-body", '{"stream_options":{"include_usage":true,"continuous_usage_stats":true}}']


def body(request):
    return json.loads(request[2])


def ids(port, folder, output_len, *flags, n=1):
    """The words of a run over prompts of 100 random ids, saved as r.json."""
    return ["serve", "--model", "m", "--host", "127.0.0.1", "--port", str(port), "--num-prompts", str(n),
            "--tokenizer", TOKENIZER, "--prompt-token-ids", "--input-len", "100", "--output-len", str(output_len),
            "--disable-tqdm", "--save-result", "--result-dir", folder.path, "--result-filename", "r.json", *flags]


# ---- probes --------------------------------------------------------------------------------------------------------

def test_probes_go_beside_the_load_and_are_counted_apart():
    """200 ms of load; a probe takes 20 ms and rests for 20 ms: about five of them."""
    with Mock("--ttft", "20", "--itl", "20") as mock, Folder() as folder:
        result = run(*ids(mock.port, folder, 10, "--probe-request-rate", "50", "--max-concurrency", "1"))
        r = folder.json("r.json")
    same((result.status, r["completed"], r["num_requests_sent"]), (0, 1, 1), "status, completed, sent", result)
    holds(3 <= r["probe_completed"] <= 6, "five probes, not %d" % r["probe_completed"], result)
    same(r["probe_failed"], 0, "failed probes", result)
    near(r["probe_median_e2el_ms"], 20, 5, "latency of a probe", result)
    holds(r["probe_max_e2el_ms"] >= r["probe_p99_e2el_ms"] >= r["probe_median_e2el_ms"], "order", result)
    same(r["exact_max_concurrent_requests"], 1, "probes take no slot", result)
    holds("Probe Requests" in result.out, "the block", result)


def test_a_probe_asks_for_one_token_and_has_no_id():
    with RawServer(lambda i: [0.1, stream(["a"])]) as server:
        result = serve(server.port, "--probe-request-rate", "1000", "--request-id-prefix", "r-")
    load = [r for r in server.requests if b"x-request-id: r-0" in r[1].lower()]
    probes = [r for r in server.requests if b"x-request-id" not in r[1].lower()]
    same(len(load), 1, "requests of the load", result)
    holds(len(probes) >= 1, "probes", result)
    for probe in probes:
        same(body(probe), dict(body(load[0]), prompt="Hi", max_tokens=1), "body of a probe", result)


def test_failed_probes_alone_write_no_keys():
    """The load's requests have an id, probes have none: these are refused."""
    refused = b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"
    with RawServer(lambda i: [0.1, stream()]) as server:
        server.script = lambda i: ([0.1, stream()] if b"x-request-id" in server.requests[i][1].lower() else [refused])
        result = serve(server.port, "--probe-request-rate", "100")
    same((result.status, result.result["completed"]), (0, 1), "status, completed", result)
    holds("probe_failed" not in result.result, "no key", result)
    holds("Probe Requests" not in result.out, "no block", result)


def test_a_probe_that_never_ends_holds_nothing_up():
    with RawServer(lambda i: [stream()]) as server:
        server.script = lambda i: [stream()] if b"x-request-id" in server.requests[i][1].lower() else [5.0, CLOSE]
        begin = time.monotonic()
        result = serve(server.port, "--probe-request-rate", "10", n=3)
        took = time.monotonic() - begin
    same((result.status, result.result["completed"]), (0, 3), "status, completed", result)
    holds(took < 4, "the run ended with the load, not after %.1f s" % took, result)


def test_an_interrupt_ends_the_probes_with_the_load():
    with RawServer(lambda i: [stream()]) as server:
        server.script = lambda i: [0.5 if b"x-request-id" in server.requests[i][1].lower() else 0.01, stream()]
        under_way = Serve(server.port, "--probe-request-rate", "50", "--max-concurrency", "1", n=8)
        time.sleep(0.8)
        under_way.interrupt()
        result = under_way.wait()
    same(result.status, 130, "exit status", result)
    holds(result.result["probe_completed"] >= 2, "probes", result)
    holds(result.result["interrupted"], "marked", result)
    holds(result.result["completed"] < 8, "cut short", result)


def test_no_rate_no_probes_and_wrong_rates_are_refused():
    with RawServer(lambda i: [stream()]) as server:
        result = serve(server.port, "--probe-request-rate", "0")
    same(len(server.requests), 1, "requests", result)
    for wrong in ("-1", "nan", "x"):
        refused = run("serve", "--probe-request-rate", wrong, "--dry-run")
        same(refused.status, 2, "exit status for %s" % wrong, refused)
        holds("--probe-request-rate" in refused.err, "the flag is named", refused)


# ---- the server's counters -----------------------------------------------------------------------------------------

def page(drafts):
    text = "".join("vllm:spec_decode_%s_total{engine=\"%d\"} %d.0\n" % (name, engine, n * drafts)
                   for name, n in (("num_drafts", 1), ("num_draft_tokens", 3), ("num_accepted_tokens", 2))
                   for engine in (0, 1))
    return text.encode()


def answer(content, status=b"200 OK"):
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status, len(content), content)


def test_counters_of_two_engines_are_read_once_before_and_once_after():
    pages = [page(100), page(110)]

    def script(i):
        is_page = b"/metrics " in server.requests[i][1].split(b"\r\n")[0]
        return [answer(pages.pop(0))] if is_page else [stream()]
    with RawServer(script, metrics=True) as server:
        result = serve(server.port, n=2)
    r = result.result
    same(pages, [], "pages", result)
    near(r["spec_decode_acceptance_rate"], 100 * 40 / 60, 1e-9, "rate", result)
    near(r["spec_decode_acceptance_length"], 3.0, 1e-9, "length", result)
    same((r["spec_decode_num_drafts"], r["spec_decode_draft_tokens"], r["spec_decode_accepted_tokens"]), (20, 60, 40),
         "counts", result)
    holds("Speculative Decoding" in result.out, "the block", result)


def test_a_server_without_counters_is_asked_once_and_nothing_is_said():
    for content, status in ((b"", b"404 Not Found"), (b"<html>", b"200 OK"), (b"no", b"500 Error"),
                            (b"vllm:num_requests_running 1.0\n", b"200 OK")):
        asked = []

        def script(i):
            if b"/metrics " in server.requests[i][1].split(b"\r\n")[0]:
                asked.append(i)
                return [answer(content, status)]
            return [stream()]
        with RawServer(script, metrics=True) as server:
            result = serve(server.port)
        same((result.status, len(asked)), (0, 1), "status, pages asked for", result)
        holds("spec_decode" not in result.text and "/metrics" not in result.err, "nothing is said", result)


# ---- tokens --------------------------------------------------------------------------------------------------------

def test_gaps_are_spread_over_the_tokens_they_brought():
    """Four tokens an event, 20 ms between events, eight tokens in all: one gap, four times 5 ms."""
    with Mock("--ttft", "5", "--itl", "20", "--tokens", "8", "--tokens-per-event", "4") as mock:
        for flags, source in (([], "spread"), (RUNNING, "running_usage")):
            result = serve(mock.port, "--max-concurrency", "1", *flags, n=3)
            per_token = result.result["per_token"]
            same(per_token["counted_by"][source], 3, "requests counted by %s" % source, result)
            same((per_token["mean_tokens_per_event"], per_token["max_tokens_per_event"]), (4.0, 4), "tokens", result)
            near(per_token["mean_itl_ms"], 5, 1, "ITL by tokens", result)
            near(result.result["mean_itl_ms"], 20, 3, "ITL by events", result)
            holds("Tokens per Event" in result.out, "the block", result)


def test_uneven_events_are_told_by_running_counts_only():
    """Events of 1, 7 and 1 tokens, 30 ms apart, with and without a running count."""
    def script(counts):
        def running(text, n):
            data = {"choices": [{"index": 0, "text": text}]}
            if counts:
                data["usage"] = {"prompt_tokens": 5, "completion_tokens": n}
            return chunked(event(data), end=False)
        return lambda i: [HEAD + running("a", 1), 0.03, running("b" * 7, 8), 0.03, running("c", 9),
                          chunked(usage(9), DONE)]
    for counts, most in ((True, 7), (False, 3)):
        with RawServer(script(counts)) as server:
            result = serve(server.port)
        same(result.result["per_token"]["max_tokens_per_event"], most, "most tokens in an event", result)
        same(result.result["output_lens"], [9], "output", result)


def test_one_token_an_event_has_no_block():
    with RawServer(lambda i: [stream()]) as server:
        result = serve(server.port)
    same(result.result["per_token"]["mean_tokens_per_event"], 1.0, "tokens per event", result)
    holds("Tokens per Event" not in result.out, "no block", result)
    holds("reasoning" not in result.result, "no reasoning", result)


def test_reasoning_comes_before_the_answer():
    """Four of ten tokens are reasoning, 20 ms apart: the answer begins 80 ms after the first token."""
    with Mock("--ttft", "20", "--itl", "20", "--tokens", "10", "--reasoning", "4") as mock:
        result = serve(mock.port, "--max-concurrency", "1", backend="openai-chat", n=2)
    reasoning = result.result["reasoning"]
    same((reasoning["requests"], reasoning["requests_without_answer"], reasoning["events"]), (2, 0, 8), "counts", result)
    near(reasoning["event_share"], 0.4, 1e-9, "share", result)
    near(reasoning["mean_ttfa_ms"] - result.result["mean_ttft_ms"], 80, 10, "answer - first token", result)


def test_reasoning_cut_off_has_no_answer():
    def delta(**fields):
        return event({"choices": [{"index": 0, "delta": fields}]})
    reply = HEAD + chunked(delta(role="assistant", content=""), delta(reasoning_content="hm"),
                           delta(reasoning_content="hmm"), delta(content=""),
                           event({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2,
                                                           "completion_tokens_details": {"reasoning_tokens": 2}}}), DONE)
    with RawServer(lambda i: [reply]) as server:
        result = serve(server.port, backend="openai-chat")
    reasoning = result.result["reasoning"]
    same((reasoning["requests"], reasoning["requests_without_answer"]), (1, 1), "requests", result)
    same((reasoning["tokens"], reasoning["token_share"]), (2, 1.0), "tokens", result)
    holds("TTFA" not in result.out, "no time to an answer", result)


def test_cached_tokens_of_random_prompts_are_warned_of():
    def reply(cached):
        return HEAD + chunked(token("a"), event({"choices": [], "usage": {
            "prompt_tokens": 100, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": cached}}}), DONE)
    for cached, warned in ((0, False), (1, False), (40, True)):
        with RawServer(lambda i: [reply(cached)]) as server, Folder() as folder:
            result = run(*ids(server.port, folder, 1, n=2))
            saved = folder.json("r.json")
        same((saved["total_cached_tokens"], saved["cached_token_share"]), (2 * cached, cached / 100), "cached", result)
        same("a warm prefix cache inflates results" in result.err, warned, "warning at %d" % cached, result)
        same("Prompt Cache" in result.out, cached > 0, "block at %d" % cached, result)


# ---- files ---------------------------------------------------------------------------------------------------------

def test_pytorch_file_lies_beside_the_result():
    with RawServer(lambda i: [stream()]) as server, Folder() as folder:
        flags = [*folder.custom(server.port), "--save-result", "--result-dir", folder.path, "--result-filename"]
        for value, written in (("", False), ("0", False), ("1", True)):
            name = "r%s" % value
            run(*flags, name + ".json", "--header", "X-Key=hush", env={"SAVE_TO_PYTORCH_BENCHMARK_FORMAT": value})
            same(os.path.exists(folder(name + ".pytorch.json")), written, "written for %r" % value)
        records = folder.json("r1.pytorch.json")
        same(len(records), 12, "records")
        same(records[0]["metric"]["benchmark_values"], [folder.json("r1.json")["median_ttft_ms"]], "value")
        same(records[0]["benchmark"]["extra_info"]["args"]["header"], {"X-Key": "***"}, "header")
        holds("hush" not in folder.read("r1.pytorch.json"), "no secret")


main(globals())
