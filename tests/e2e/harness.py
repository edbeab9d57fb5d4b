"""Black-box tests: the built program against servers on the loopback address.  Standard library only.

A test file defines functions test_* and ends with harness.main(globals()).  Output is TAP.
    program()          path of the program under test (first argument of the test file)
    RawServer(script)  answers each request with scripted bytes
    Mock(*flags)       the program's own mock server on a free port
    serve(port, ...)   runs `serve` on a small file of prompts, returns a Run
    run(*argv)         runs the program with just these arguments, returns a Run
    Folder()           a temporary folder, gone at the end of `with`
"""
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.request

SLOW = os.environ.get("VB_TEST_SLOW") == "1"
PATIENCE_S = 120 if SLOW else 40


class Late(AssertionError):
    """A time was off: on a busy machine that may be the machine, so such a test gets three tries."""


class Skip(Exception):
    pass


def program():
    return os.path.abspath(sys.argv[1])


def clean_env(extra=None):
    env = {"PATH": os.environ.get("PATH", ""), "HF_HUB_OFFLINE": "1"}
    for name, value in os.environ.items():
        if name.endswith("SAN_OPTIONS") or name == "LLVM_PROFILE_FILE":
            env[name] = value
    env.update(extra or {})
    return env


class Run:
    """One finished run: exit status, both streams, the result object (None when no file was written)."""

    def __init__(self, status, out, err, result, text):
        self.status, self.out, self.err, self.result, self.text = status, out, err, result, text

    def __str__(self):
        return "exit %s\nstdout: %s\nstderr: %s" % (self.status, self.out[-2000:], self.err[-2000:])


DEFAULTS = ["--model", "mock-model", "--dataset-name", "custom", "--skip-tokenizer-init",
            "--skip-chat-template", "--disable-shuffle", "--temperature", "0", "--disable-tqdm",
            "--save-result", "--save-detailed", "--result-filename", "result.json"]


def prompts_file(folder, count=8):
    path = os.path.join(folder, "prompts.jsonl")
    with open(path, "w", encoding="utf-8") as f:
        for i in range(count):
            f.write(json.dumps({"prompt": "prompt number %d" % i, "output_tokens": 4}) + "\n")
    return path


class Serve:
    """A run under way, for tests that interrupt it."""

    def __init__(self, port, *flags, n=1, backend="openai", host=None, env=None):
        self.folder = tempfile.mkdtemp(prefix="vb-e2e-")
        argv = [program(), "serve", *DEFAULTS, "--dataset-path", prompts_file(self.folder),
                "--num-prompts", str(n), "--backend", backend, "--result-dir", self.folder]
        if host is not None:
            argv += ["--host", host]
        elif "--base-url" not in flags:
            argv += ["--host", "127.0.0.1"]
        if "--base-url" not in flags:
            argv += ["--port", str(port)]
        if "--custom-output-len" not in flags:
            argv += ["--custom-output-len", "4"]
        self.process = subprocess.Popen(argv + list(flags), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=clean_env(env))

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def wait(self):
        try:
            out, err = self.process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, err = self.process.communicate()
            raise AssertionError("the program did not end: %s" % err.decode("utf-8", "replace")[-800:])
        text = ""
        try:
            with open(os.path.join(self.folder, "result.json"), encoding="utf-8") as f:
                text = f.read()
        except FileNotFoundError:
            pass
        shutil.rmtree(self.folder, ignore_errors=True)
        result = json.loads(text, parse_constant=_no_constant) if text else None
        return Run(self.process.returncode, out.decode(), err.decode("utf-8", "replace"), result, text)


def _no_constant(name):
    raise AssertionError("the result file holds %s" % name)


def serve(port, *flags, **options):
    return Serve(port, *flags, **options).wait()


def run(*argv, env=None, cwd=None, before=None, whole_env=None):
    """`before` runs in the child; `whole_env` replaces the environment altogether."""
    try:
        done = subprocess.run([program(), *argv], stdin=subprocess.DEVNULL, capture_output=True, cwd=cwd,
                              env=clean_env(env) if whole_env is None else whole_env, preexec_fn=before,
                              timeout=PATIENCE_S, check=False)
    except subprocess.TimeoutExpired:
        raise AssertionError("the program did not end: %s" % (argv,)) from None
    return Run(done.returncode, done.stdout.decode(), done.stderr.decode("utf-8", "replace"), None, "")


class Folder:
    """A temporary folder with prompts.jsonl in it; use with `with`."""

    def __init__(self, prompts=8):
        self.path = tempfile.mkdtemp(prefix="vb-e2e-")
        self.prompts = prompts_file(self.path, prompts)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        shutil.rmtree(self.path, ignore_errors=True)

    def __call__(self, *names):
        return os.path.join(self.path, *names)

    def names(self, *inside):
        """What lies in the folder, without the prompts."""
        return sorted(n for n in os.listdir(self(*inside)) if n != "prompts.jsonl")

    def read(self, *names):
        with open(self(*names), encoding="utf-8") as f:
            return f.read()

    def json(self, *names):
        return json.loads(self.read(*names), parse_constant=_no_constant)

    def custom(self, port, n=1):
        """Flags of a run over the prompts that saves nothing by itself."""
        return ["serve", "--model", "mock-model", "--host", "127.0.0.1", "--port", str(port), "--num-prompts", str(n),
                "--dataset-name", "custom", "--dataset-path", self.prompts, "--skip-tokenizer-init",
                "--skip-chat-template", "--disable-shuffle", "--temperature", "0", "--disable-tqdm"]


class Mock:
    """The program's mock server; use with `with`."""

    def __init__(self, *flags, port=0):
        self.process = subprocess.Popen([program(), "mock-server", "--port", str(port), *flags],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, env=clean_env())
        line = self.process.stdout.readline().decode()
        if "listening on" not in line:
            self.process.kill()
            raise AssertionError("mock-server did not start: %r" % line)
        self.url = line.split()[-1]
        self.port = int(self.url.rstrip("/").rsplit(":", 1)[1])

    def get(self, path):
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(self.url + path) as answer:
            return answer.read().decode()

    def truth(self):
        """What the server knows of its requests (--truth), by their number."""
        return sorted(map(json.loads, self.get("/truth").splitlines()), key=lambda r: r["index"])

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise


# ---- scripted servers ----------------------------------------------------------------------------------------------

def chunked(*pieces, end=True):
    """The pieces as HTTP chunks, one each."""
    body = b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in pieces)
    return body + (b"0\r\n\r\n" if end else b"")


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def event(obj):
    data = obj if isinstance(obj, str) else json.dumps(obj, ensure_ascii=False)
    return ("data: %s\n\n" % data).encode()


def token(text):
    return event({"choices": [{"index": 0, "text": text}]})


def usage(completion, prompt=5):
    return event({"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": completion}})


DONE = event("[DONE]")


def stream(texts=("a", "b", "c")):
    """A whole good response, as bytes."""
    return HEAD + chunked(*[token(t) for t in texts], usage(len(texts)), DONE)


CLOSE, RESET = object(), object()


class RawServer:
    """Listens on the loopback address.  `script` is called with the number of the request (from 0) and returns the list
    of steps that answer it: bytes to send, a float to sleep, CLOSE or RESET.  One step list serves one request; the
    connection stays open unless a step ends it.  The metrics page is answered with 404 and not counted, unless `metrics`
    is true: then it is a request like any other."""

    def __init__(self, script, family=socket.AF_INET, metrics=False):
        self.script = script
        self.metrics = metrics
        self.requests = []  # (connection number, head, body)
        self.accepted = 0
        self.lock = threading.Lock()
        self.listener = socket.socket(family, socket.SOCK_STREAM)
        self.listener.bind(("::1" if family == socket.AF_INET6 else "127.0.0.1", 0))
        self.listener.listen(128)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()

    @property
    def connections(self):
        """How many connections carried the requests."""
        return len({number for number, _, _ in self.requests})

    def _accept(self):
        while True:
            try:
                conn, _ = self.listener.accept()
            except OSError:
                return
            if conn.family != socket.AF_UNIX:
                conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.lock:
                number = self.accepted
                self.accepted += 1
            threading.Thread(target=self._serve, args=(conn, number), daemon=True).start()

    def _read_request(self, conn, rest):
        while b"\r\n\r\n" not in rest:
            data = conn.recv(65536)
            if not data:
                return None
            rest += data
        head, rest = rest.split(b"\r\n\r\n", 1)
        length = 0
        for line in head.split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length":
                length = int(value)
        while len(rest) < length:
            data = conn.recv(65536)
            if not data:
                return None
            rest += data
        return head, rest[:length], rest[length:]

    def _serve(self, conn, number):
        rest = b""
        try:
            while True:
                got = self._read_request(conn, rest)
                if got is None:
                    return
                head, body, rest = got
                if not self.metrics and head.split(b"\r\n", 1)[0].split(b" ")[1].endswith(b"/metrics"):
                    conn.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                    continue
                with self.lock:
                    index = len(self.requests)
                    self.requests.append((number, head, body))
                for step in self.script(index):
                    if step is CLOSE:
                        return
                    if step is RESET:
                        conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                        return
                    if isinstance(step, float):
                        time.sleep(step)
                    else:
                        conn.sendall(step)
        except OSError:
            pass
        finally:
            conn.close()


# ---- checks --------------------------------------------------------------------------------------------------------

def same(got, want, what, run=""):
    if got != want:
        raise AssertionError("%s: wanted %r, got %r\n%s" % (what, want, got, run))


def near(got, want, tolerance, what, run=""):
    if SLOW:
        tolerance *= 20
    if got is None or abs(got - want) > tolerance:
        raise Late("%s: wanted %r +- %r, got %r\n%s" % (what, want, tolerance, got, run))


def kinds(run):
    """The kinds of failure that occurred, with their counts."""
    return {k: n for k, n in run.result["client"]["failures"].items() if n > 0}


def holds(condition, what, run=""):
    if not condition:
        raise AssertionError("%s\n%s" % (what, run))


TIMING_TRIES = 3


def attempt(function):
    for left in range(TIMING_TRIES - 1, -1, -1):
        try:
            return function()
        except Late as late:
            if left == 0:
                raise
            print("# tried again: %s" % str(late).split("\n")[0], flush=True)


def main(namespace):
    tests = [(name, f) for name, f in namespace.items() if name.startswith("test_") and callable(f)]
    only = sys.argv[2:]
    if only:
        tests = [t for t in tests if t[0] in only]
    print("1..%d" % len(tests), flush=True)
    failed = 0
    for number, (name, function) in enumerate(tests, 1):
        try:
            attempt(function)
            print("ok %d - %s" % (number, name), flush=True)
        except Skip as reason:
            print("ok %d - %s # SKIP %s" % (number, name, reason), flush=True)
        except Exception:
            failed += 1
            print("not ok %d - %s" % (number, name), flush=True)
            for line in traceback.format_exc().splitlines():
                print("# " + line, flush=True)
    sys.exit(1 if failed else 0)
