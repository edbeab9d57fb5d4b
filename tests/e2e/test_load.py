"""Scheduling and phases: what reaches the server, when, and how many at once."""
import json
import socket
import threading
import time

from harness import (DONE, HEAD, Mock, RawServer, Serve, chunked, holds, kinds, main, near, run, same, serve, stream,
                     token, usage)


class Counting:
    """A script that takes `seconds` for each answer and knows how many were under way at once, and when each came."""

    def __init__(self, seconds):
        self.seconds, self.now, self.most, self.lock, self.arrivals = seconds, 0, 0, threading.Lock(), []

    def __call__(self, index):
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
            self.arrivals.append(time.monotonic())
        time.sleep(self.seconds)
        with self.lock:
            self.now -= 1
        return [stream()]


def test_closed_loop_keeps_the_limit_and_uses_it():
    script = Counting(0.05)
    with RawServer(script) as server:
        run = serve(server.port, "--max-concurrency", "3", n=12)
    same((run.result["completed"], script.most), (12, 3), "completed, most in flight", run)
    near(run.result["duration"], 4 * 0.05, 0.08, "duration", run)
    same(run.result["exact_max_concurrent_requests"], 3, "exact peak", run)
    same(run.result["client"]["requests_connecting"], 0, "connections were open before the clock started", run)


def test_several_threads_share_one_limit_and_one_schedule():
    script = Counting(0.02)
    with RawServer(script) as server:
        run = serve(server.port, "--max-concurrency", "5", "--client-threads", "3", n=40)
    same((run.result["completed"], script.most), (40, 5), "completed, most in flight", run)
    same(run.result["client"]["threads"], 3, "threads", run)
    ids = sorted(int(h.split(b"x-request-id: ")[1].split(b"\r\n")[0].rsplit(b"-", 1)[1]) for _, h, _ in
                 server.requests)
    same(ids, list(range(40)), "every request once")


def test_without_a_limit_all_go_at_once():
    script = Counting(0.2)
    with RawServer(script) as server:
        run = serve(server.port, n=20)
    same((run.result["completed"], script.most), (20, 20), "completed, most in flight", run)


def test_constant_rate():
    script = Counting(0.0)
    with RawServer(script) as server:
        run = serve(server.port, "--request-rate", "50", "--burstiness", "inf", n=11)
    same(run.result["completed"], 11, "completed", run)
    near(script.arrivals[-1] - script.arrivals[0], 10 / 50, 0.03, "span of the arrivals", run)
    starts = run.result["start_times"]
    for i in range(1, 11):
        near(starts[i], (i + 1) / 50, 0.015, "start %d" % i, run)


def test_poisson_arrivals_equal_numpys():
    """numpy 2.4.6, seed 0, rate 20, six requests: gamma(1, 1/20) summed and scaled to 0.3 s."""
    want = [0.044616490, 0.115023598, 0.166779216, 0.210909480, 0.241801096, 0.300000000]
    with RawServer(lambda i: [stream()]) as server:
        run = serve(server.port, "--request-rate", "20", "--seed", "0", n=6)
    for i in range(6):
        near(run.result["start_times"][i], want[i], 0.015, "start %d" % i, run)


def test_rate_and_limit_wait_in_order_and_the_wait_is_reported():
    script = Counting(0.1)
    with RawServer(script) as server:
        run = serve(server.port, "--request-rate", "100", "--burstiness", "inf", "--max-concurrency", "1", n=4)
    same((run.result["completed"], script.most), (4, 1), "completed, most in flight", run)
    queue = run.result["queue_times"]
    for i, want in enumerate([0.0, 0.09, 0.18, 0.27]):
        near(queue[i], want, 0.03, "queue time %d" % i, run)
    holds("queue" in run.out.lower(), "the console shows the wait", run)


def test_warm_ups_and_ready_check_are_not_counted():
    with RawServer(lambda i: [stream()]) as server:
        run = serve(server.port, "--num-warmups", "3", "--ready-check-timeout-sec", "10", n=2)
    same((run.result["completed"], len(server.requests)), (2, 6), "completed, requests seen", run)
    bodies = [json.loads(b)["prompt"] for _, _, b in server.requests]
    same(bodies[:4], ["prompt number 0"] * 4, "test request and warm-ups are request 0")
    same([b"x-request-id" in h for _, h, _ in server.requests], [False] * 4 + [True] * 2, "who has an id")


def test_ready_check_waits_for_the_server():
    unready = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"
    with RawServer(lambda i: [unready] if i == 0 else [stream()]) as server:
        began = time.monotonic()
        run = serve(server.port, "--ready-check-timeout-sec", "20", n=1)
        took = time.monotonic() - began
    same((run.result["completed"], len(server.requests)), (1, 3), "completed, requests seen", run)
    holds(took > 4.9, "tried again after five seconds", run)
    holds("503" in run.err, "the countdown says why", run)


def test_ready_check_gives_up():
    unready = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"
    with RawServer(lambda i: [unready]) as server:
        run = serve(server.port, "--ready-check-timeout-sec", "1", n=1)
    same((run.status, run.result), (1, None), "exit status, no result", run)
    holds("503" in run.err and "1 s" in run.err, "the last error is told", run)


def slow(i):
    return [HEAD + chunked(token("a"), end=False), 0.5, chunked(token("b"), usage(2), DONE)]


def test_first_interrupt_finishes_what_is_in_flight():
    with RawServer(slow) as server:
        load = Serve(server.port, "--max-concurrency", "2", n=50)
        while len(server.requests) < 4:
            time.sleep(0.01)
        load.interrupt()
        run = load.wait()
    same(run.status, 130, "exit status", run)
    same(run.result["interrupted"], True, "marked", run)
    holds(run.result["completed"] == len(server.requests) < 50, "what was sent has completed", run)
    same(run.result["failed"], 0, "failed", run)
    same(run.result["num_requests_sent"], len(server.requests), "sent", run)
    holds("in flight are awaited" in run.err, "the user is told what is awaited", run)


def test_second_interrupt_aborts_and_still_saves():
    def stuck(i):
        return slow(i) if i < 2 else [HEAD + chunked(token("a"), end=False), 30.0]
    with RawServer(stuck) as server:
        load = Serve(server.port, "--max-concurrency", "2", n=50)
        while len(server.requests) < 4:
            time.sleep(0.01)
        time.sleep(0.1)
        load.interrupt()
        time.sleep(0.3)
        load.interrupt()
        began = time.monotonic()
        run = load.wait()
    same(run.status, 130, "exit status", run)
    holds(time.monotonic() - began < 5, "it does not wait for the stuck ones", run)
    same((run.result["completed"], run.result["failed"]), (2, 2), "completed, failed", run)
    same(kinds(run), {"interrupted": 2}, "kinds", run)


def test_a_server_that_is_still_starting_is_asked_again_for_its_model():
    probe = socket.create_server(("127.0.0.1", 0))
    port = probe.getsockname()[1]
    probe.close()
    server = []
    threading.Timer(1.0, lambda: server.append(Mock("--ttft", "1", "--itl", "1", port=port))).start()
    done = run("serve", "--port", str(port), "--ready-check-timeout-sec", "20", "--prompt-token-ids",
               "--random-input-len", "4", "--random-output-len", "2", "--num-prompts", "2", "--disable-tqdm")
    server[0].__exit__()
    same(done.status, 0, "exit status", done)
    holds("Not ready" in done.err and "Model of the server" in done.err, "both are told", done)


def test_an_interrupt_before_the_measurement_ends_at_once():
    with RawServer(lambda i: [HEAD + chunked(token("a"), end=False), 30.0]) as server:
        load = Serve(server.port, "--num-warmups", "2", n=5)
        while len(server.requests) < 2:
            time.sleep(0.01)
        load.interrupt()
        began = time.monotonic()
        done = load.wait()
    same((done.status, done.result), (130, None), "exit status, no result", done)
    holds(time.monotonic() - began < 5, "warm-ups are not awaited", done)


main(globals())
