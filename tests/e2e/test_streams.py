"""What the client makes of well-formed streams in every shape a server or a network may give them."""
import json
import socket

from harness import (DONE, HEAD, CLOSE, RawServer, chunked, event, holds, main, near, same, serve, stream,
                     token, usage)


def one(steps, *flags, **options):
    with RawServer(lambda i: steps) as server:
        return serve(server.port, *flags, **options), server


def good(run, texts=("a", "b", "c")):
    same(run.status, 0, "exit status", run)
    r = run.result
    same((r["completed"], r["failed"]), (1, 0), "completed, failed", run)
    same(r["generated_texts"], ["".join(texts)], "text", run)
    same(len(r["itls"][0]), len(texts) - 1, "gaps", run)
    same(r["total_output_tokens"], len(texts), "output tokens", run)
    same(r["total_input_tokens"], 5, "input tokens of the server's usage", run)


def test_plain_stream():
    run, server = one([stream()])
    good(run)
    body = json.loads(server.requests[0][2])
    same(list(body), ["model", "prompt", "repetition_penalty", "max_tokens", "logprobs", "stream", "stream_options",
                      "temperature"], "body keys in Python's order")
    same((body["prompt"], body["max_tokens"]), ("prompt number 0", 1),
         "prompt, and the length that Python asks for without a tokenizer")


def test_every_cut_of_a_response_gives_the_same():
    response = stream(("a", "\u4e2d\u6587", "c"))
    cuts = list(range(1, len(response), 7))
    with RawServer(lambda i: [response[:cuts[i]], 0.002, response[cuts[i]:]]) as server:
        run = serve(server.port, "--max-concurrency", "1", n=len(cuts))
    same(run.result["completed"], len(cuts), "completed", run)
    same(set(run.result["generated_texts"]), {"a\u4e2d\u6587c"}, "texts", run)
    same({len(x) for x in run.result["itls"]}, {2}, "gaps", run)


def test_one_byte_at_a_time():
    response = stream()
    good(one([bytes([b]) for b in response])[0])


def test_line_ends_crlf_and_cr():
    for end in (b"\r\n", b"\r"):
        body = [x.replace(b"\n", end) for x in (token("a"), token("b"), token("c"), usage(3), DONE)]
        good(one([HEAD + chunked(*body)])[0])


def test_comments_and_no_blank_after_colon():
    pieces = [b": ping\n\n", token("a").replace(b"data: ", b"data:"), b":\n\n", token("b"), b": x\n" + token("c"),
              usage(3), DONE]
    good(one([HEAD + chunked(*pieces)])[0])


def test_without_done_and_without_last_blank_line():
    good(one([HEAD + chunked(token("a"), token("b"), token("c"), usage(3)[:-2])])[0])


def test_content_length_and_close_delimited_bodies():
    body = token("a") + token("b") + token("c") + usage(3) + DONE
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
    good(one([head + b"Content-Length: %d\r\n\r\n" % len(body) + body])[0])
    good(one([head + b"\r\n" + body, CLOSE])[0])


def test_chunk_extensions_trailers_and_100_continue():
    body = b"".join(b"%x;x=\"y\"\r\n%s\r\n" % (len(p), p) for p in (token("a"), token("b"), token("c"), usage(3)))
    run, _ = one([b"HTTP/1.1 100 Continue\r\n\r\n" + HEAD + body + b"0\r\nX-Trailer: 1\r\n\r\n"])
    good(run)


def test_an_event_counts_when_its_json_is_complete():
    """The blank line behind the second token comes 300 ms after its JSON: the gap must not contain them."""
    late = token("b")
    run, _ = one([HEAD + chunked(token("a"), end=False), 0.05, chunked(late[:-2], end=False), 0.3,
                  chunked(late[-2:], token("c"), usage(3), DONE)])
    good(run)
    near(run.result["itls"][0][0], 0.05, 0.02, "first gap", run)
    near(run.result["itls"][0][1], 0.30, 0.03, "second gap", run)


def test_times_are_those_of_the_server():
    steps = [HEAD, 0.1]
    for text in "abc":
        steps += [chunked(token(text), end=False), 0.04]
    run, _ = one(steps + [chunked(usage(3), DONE)])
    good(run)
    r = run.result
    near(r["mean_ttft_ms"], 100, 12, "TTFT", run)
    near(r["mean_itl_ms"], 40, 5, "ITL", run)
    near(r["mean_tpot_ms"], 40, 5, "TPOT", run)
    near(r["mean_e2el_ms"], 180, 16, "E2EL ends with the last token, not with the stream", run)


def chat(delta):
    return event({"choices": [{"index": 0, "delta": delta}]})


def test_chat_role_chunk_is_no_token_and_reasoning_is():
    steps = [HEAD, chunked(chat({"role": "assistant", "content": ""}), end=False), 0.1,
             chunked(chat({"reasoning_content": "hm"}), end=False), 0.05,
             chunked(chat({"content": "a"}), end=False), 0.05,
             chunked(chat({"content": ""}), chat({"tool_calls": [{"index": 0}]}), usage(4), DONE)]
    run, server = one(steps, backend="openai-chat")
    same((run.result["completed"], len(run.result["itls"][0])), (1, 3), "completed, gaps", run)
    near(run.result["mean_ttft_ms"], 100, 12, "TTFT is the first reasoning token", run)
    same(run.result["generated_texts"], ["a"], "text is the visible answer", run)
    body = json.loads(server.requests[0][2])
    same(body["messages"], [{"role": "user", "content": [{"type": "text", "text": "prompt number 0"}]}], "messages")
    same(body["max_completion_tokens"], 1, "length")


def test_several_events_in_one_read_are_flagged():
    run, _ = one([HEAD + chunked(token("a") + token("b") + token("c") + usage(3) + DONE)])
    good(run)
    same(run.result["itls"][0], [0.0, 0.0], "gaps", run)
    holds(run.result["client"]["merged_read_share"] > 0.9, "merged reads are reported", run)


def test_ipv6_hosts_and_base_urls():
    with RawServer(lambda i: [stream()], family=socket.AF_INET6) as server:
        good(serve(server.port, host="::1"))
        good(serve(server.port, host="[::1]"))
        good(serve(0, "--base-url", "http://[::1]:%d" % server.port))
        holds(b"Host: [::1]:%d" % server.port in server.requests[0][1], "Host header has brackets")


def test_localhost_finds_the_family_that_listens():
    for family in (socket.AF_INET, socket.AF_INET6):
        with RawServer(lambda i: [stream()], family=family) as server:
            good(serve(server.port, host="localhost"))


main(globals())
