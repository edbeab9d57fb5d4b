"""Failures have their kind, their text and their count; what was measured before them is kept."""
import json
import socket
import threading

from harness import (DONE, HEAD, CLOSE, RESET, RawServer, chunked, event, holds, kinds, main, same, serve, stream, token,
                     usage)


def failed(steps, kind, *words, status=1, **options):
    with RawServer(lambda i: steps) as server:
        run = serve(server.port, **options)
    same(run.status, status, "exit status", run)
    same((run.result["completed"], run.result["failed"]), (0, 1), "completed, failed", run)
    same(kinds(run), {kind: 1}, "kinds", run)
    for word in words:
        holds(word in run.result["errors"][0], "error text holds %r: %r" % (word, run.result["errors"][0]), run)
        holds(word in run.out + run.err, "the console shows %r" % word, run)
    return run


def reply(status, body, kind=b"application/json"):
    return b"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s" % (status, kind, len(body), body)


def test_http_errors_keep_the_servers_message():
    body = json.dumps({"error": {"message": "the prompt is 4122 tokens long", "code": 400}}).encode()
    failed([reply(b"400 Bad Request", body)], "http_status", "400", "Bad Request", "4122")
    failed([reply(b"429 Too Many Requests", b"")], "http_status", "429")
    failed([reply(b"502 Bad Gateway", b"<html><h1>upstream</h1></html>", b"text/html")], "http_status", "502")


def test_redirects_are_not_followed_and_name_the_address():
    failed([b"HTTP/1.1 307 Temporary Redirect\r\nLocation: http://other/v1\r\nContent-Length: 0\r\n\r\n"],
           "http_status", "307", "http://other/v1")


def test_closed_before_any_answer():
    failed([CLOSE], "closed_early", "closed")


def test_closed_or_reset_in_mid_stream_keeps_the_tokens():
    for end in (CLOSE, RESET):
        run = failed([HEAD + chunked(token("a"), token("b"), end=False), 0.02, end], "closed_early")
        same(len(run.result["itls"][0]), 1, "gaps that were seen", run)
        same(run.result["total_output_tokens"], 0, "failed requests do not count", run)


def test_truncated_content_length():
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 5000\r\n\r\n"
    failed([head + token("a"), CLOSE], "closed_early")


def test_garbage_instead_of_http():
    failed([b"SSH-2.0-OpenSSH_9.2\r\n\r\n"], "malformed_stream")
    failed([b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"], "malformed_stream")


def test_invalid_json_in_an_event():
    failed([HEAD + chunked(token("a"), b"data: {\"choices\": [}\n\n", DONE)], "malformed_stream", "choices")


def test_error_event_in_a_200_stream():
    error = event({"error": {"message": "engine died", "type": "internal"}})
    failed([HEAD + chunked(token("a"), error, DONE)], "error_event", "engine died")
    failed([HEAD + chunked(b"event: error\n" + error)], "error_event", "engine died")


def test_json_error_in_a_200_body():
    body = json.dumps({"error": {"message": "no such model"}}).encode()
    failed([reply(b"200 OK", body)], "error_event", "no such model", backend="openai-chat")


def test_streams_without_a_token():
    failed([HEAD + chunked(DONE)], "no_token")
    failed([HEAD + chunked(usage(0), DONE)], "no_token")
    failed([b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"], "no_token")


def test_refused_connection():
    probe = socket.socket()
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]
    run = serve(port, n=3)
    probe.close()
    same(run.status, 1, "exit status", run)
    same(kinds(run), {"connect": 3}, "kinds", run)
    holds("refused" in run.result["errors"][0], "the reason is named", run)


def test_request_timeout():
    with RawServer(lambda i: [HEAD + chunked(token("a"), end=False), 3.0]) as server:
        run = serve(server.port, "--request-timeout", "0.2")
    same(kinds(run), {"timeout": 1}, "kinds", run)


def test_one_failure_among_successes_changes_nothing_else():
    def script(i):
        return [HEAD + chunked(token("a"), end=False), CLOSE] if i == 1 else [stream()]
    with RawServer(script) as server:
        run = serve(server.port, "--max-concurrency", "1", n=4)
    same(run.status, 0, "exit status", run)
    same((run.result["completed"], run.result["failed"]), (3, 1), "completed, failed", run)
    same([bool(e) for e in run.result["errors"]], [False, True, False, False], "errors by request", run)
    same(run.result["total_output_tokens"], 9, "output tokens of the successes", run)


def test_a_stale_pooled_connection_is_no_failure():
    """The server closes the connection 20 ms after each answer, as one with a keep-alive limit does."""
    with RawServer(lambda i: [stream(), 0.02, CLOSE]) as server:
        run = serve(server.port, "--max-concurrency", "1", "--request-rate", "10", "--burstiness", "inf", n=4)
    same((run.result["completed"], run.result["failed"]), (4, 0), "completed, failed", run)


def test_a_connection_closed_under_the_request_is_retried_once():
    """Every second request on a connection is met by a close without an answer."""
    seen = {}

    def script(i):
        number = server.requests[i][0]
        seen[number] = seen.get(number, 0) + 1
        return [stream()] if seen[number] == 1 else [CLOSE]
    with RawServer(script) as server:
        run = serve(server.port, "--max-concurrency", "1", n=3)
    same((run.result["completed"], run.result["failed"]), (3, 0), "completed, failed", run)
    same(run.result["client"]["reconnects"], 2, "reconnects", run)


def test_connection_close_is_honoured():
    response = stream().replace(b"\r\n", b"\r\nConnection: close\r\n", 1)
    with RawServer(lambda i: [response, CLOSE]) as server:
        run = serve(server.port, "--max-concurrency", "1", n=4)
    same(run.result["completed"], 4, "completed", run)
    same(server.connections, 4, "connections", run)
    same(run.result["client"]["reconnects"], 0, "reconnects", run)


def test_keep_alive_reuses_the_connection():
    with RawServer(lambda i: [stream()]) as server:
        run = serve(server.port, "--max-concurrency", "2", n=8)
    same(run.result["completed"], 8, "completed", run)
    same(server.connections, 2, "connections", run)


def test_an_early_answer_to_a_large_request_is_read():
    """The server answers 413 and closes while the request is still being sent."""
    body = json.dumps({"error": {"message": "request too large"}}).encode()
    listener = socket.create_server(("127.0.0.1", 0))

    def answer():
        conn, _ = listener.accept()
        while conn.recv(1024).startswith(b"GET /metrics"):
            conn.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        conn.sendall(b"HTTP/1.1 413 Payload Too Large\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s"
                     % (len(body), body))
        conn.shutdown(socket.SHUT_WR)
        while conn.recv(1 << 16):
            pass
        conn.close()
    threading.Thread(target=answer, daemon=True).start()
    run = serve(listener.getsockname()[1], "--extra-body", json.dumps({"pad": "x" * 100000}))
    listener.close()
    same(kinds(run), {"http_status": 1}, "kinds", run)
    holds("request too large" in run.result["errors"][0], "the server's message", run)


main(globals())
