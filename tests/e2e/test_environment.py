"""What surrounds a run: the environment, limits of the system, secrets, and the order of the phases on the wire."""
import json
import os
import pwd
import resource
import subprocess

from harness import (Folder, HEAD, Mock, RawServer, Skip, chunked, clean_env, event, holds, kinds, main, program, run, same,
                     serve, stream)


# ---- a bare machine ------------------------------------------------------------------------------------------------

MOCK_RUN = ["serve", "--mock", "--num-prompts", "2", "--prompt-token-ids", "--random-input-len", "5",
            "--random-output-len", "2", "--disable-tqdm"]


def sanitizers():
    return {k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}


def test_an_empty_environment_is_enough():
    result = run(*MOCK_RUN, whole_env=sanitizers(), cwd="/")
    same(result.status, 0, "exit status", result)
    holds("Successful requests:                     2 " in result.out, "figures", result)


def test_odd_surroundings_change_nothing():
    """No home, a locale that writes 1,5 for 1.5, a terminal that is none, closed standard streams."""
    for env in ({"HOME": "/nonexistent"}, {"LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8"}, {"LC_ALL": "C"},
                {"TERM": "dumb", "COLUMNS": "3"}, {"TZ": "nowhere/at_all"}):
        result = run(*MOCK_RUN, env=env)
        same(result.status, 0, "exit status with %s" % env, result)
        holds("Benchmark duration (s):                  0." in result.out, "figures", result)
    done = subprocess.run(["/bin/sh", "-c", 'exec "$0" "$@" <&- 2>&-', program(), *MOCK_RUN], env=clean_env(),
                          stdout=subprocess.PIPE, timeout=40, check=False)
    same(done.returncode, 0, "exit status with closed stdin and stderr", done.stdout.decode())
    holds(b"Successful requests:                     2 " in done.stdout, "figures", done.stdout.decode())


def test_a_user_without_rights_and_a_folder_that_is_gone():
    if os.geteuid() != 0:
        raise Skip("only root can become somebody else")
    nobody = pwd.getpwnam("nobody").pw_uid

    def become_nobody():
        os.setgid(nobody)
        os.setuid(nobody)
    with Folder() as folder:
        os.mkdir(folder("gone"))
        if run("--version", before=become_nobody).status != 0:
            raise Skip("the program lies where others may not look")
        result = run(*MOCK_RUN, before=become_nobody, cwd="/")
        same(result.status, 0, "exit status", result)
        result = run(*MOCK_RUN, before=lambda: os.rmdir(folder("gone")), cwd=folder("gone"))
        same(result.status, 0, "exit status in a folder that is gone", result)


def test_without_any_network_it_starts_and_says_what_is_missing():
    probe = subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False)
    if probe.returncode != 0:
        raise Skip("unshare is not allowed here")

    def unshared(*argv):
        return subprocess.run(["unshare", "-rn", program(), *argv], capture_output=True, env=clean_env(), timeout=40,
                              stdin=subprocess.DEVNULL, check=False)
    same(unshared("--version").returncode, 0, "--version")
    same(unshared("--help").returncode, 0, "--help")
    for host in ("127.0.0.1", "localhost", "192.0.2.1", "nowhere.example"):
        with Folder() as folder:
            done = unshared(*folder.custom(80), "--host", host)
        same(done.returncode, 1, "exit status for %s" % host, done.stderr.decode())
        holds(host.encode() in done.stdout + done.stderr, "%s is named" % host, done.stdout + done.stderr)


# ---- limits --------------------------------------------------------------------------------------------------------

def files_limit(soft, hard):
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_too_few_open_files_is_told_before_anything_is_sent():
    for flags in (["--max-concurrency", "100"], []):
        with RawServer(lambda i: [stream()]) as server, Folder(100) as folder:
            result = run(*folder.custom(server.port, 100), *flags, before=files_limit(20, 20))
            same((result.status, result.out, len(server.requests)), (1, "", 0), "exit status, stdout, requests", result)
        lines = [line for line in result.err.splitlines() if "error" in line]
        same(len(lines), 1, "one sentence", result)
        holds("ulimit -n" in lines[0] and "20" in lines[0], "it names the command and the limit", result)


def test_a_soft_limit_is_raised():
    with RawServer(lambda i: [stream()]) as server, Folder(60) as folder:
        result = run(*folder.custom(server.port, 60), "--max-concurrency", "60", before=files_limit(20, 4096))
    same(result.status, 0, "exit status", result)
    holds("Successful requests:                     60 " in result.out, "figures", result)


def test_connections_that_find_no_file_are_failures_with_that_reason():
    """Without a limit on requests in flight nobody knows the need beforehand."""
    with RawServer(lambda i: [0.3, stream()]) as server, Folder(100) as folder:
        result = run(*folder.custom(server.port, 100), "--request-rate", "2000", before=files_limit(60, 60))
    same(result.status, 0, "exit status", result)
    holds("ulimit -n" in result.out, "the reason is shown", result)
    holds("connect: " in result.out, "category", result)


# ---- secrets -------------------------------------------------------------------------------------------------------

KEY, TEAM = "sk-proj-Zq81+secret/key==", "tok-\u00e9-9f31c7-private"


def secrets_of(*texts):
    for text in texts:
        for secret in (KEY, TEAM, "9f31c7", "Zq81"):
            holds(secret not in text, "%r is shown" % secret, text[-1500:])


def echo(status, text):
    body = json.dumps({"error": {"message": text}}).encode()
    return [b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body)]


def test_keys_and_header_values_reach_the_server_and_nothing_else():
    text = "bad key %s of team %s" % (KEY, TEAM)
    scripts = (echo(b"401 Unauthorized", text),
               [b"HTTP/1.1 403 %s\r\nContent-Length: 0\r\n\r\n" % KEY.encode()],
               [b"HTTP/1.1 307 Moved\r\nLocation: http://h/?key=%s\r\nContent-Length: 0\r\n\r\n" % KEY.encode()],
               [HEAD + chunked(event({"error": {"message": text}}))],
               [HEAD + chunked(b"data: {\"key %s %s\n\n" % (KEY.encode(), TEAM.encode()))],
               [b"%s\r\n\r\n" % KEY.encode()],
               echo(b"200 OK", text), [stream()])
    for script in scripts:
        with RawServer(lambda i: script) as server, Folder() as folder:
            result = run(*folder.custom(server.port, 2), "--save-result", "--save-detailed", "--result-dir", folder.path,
                         "--result-filename", "x.json", "--header", "X-Team=" + TEAM, "--num-warmups", "1",
                         env={"OPENAI_API_KEY": KEY})
            head = server.requests[-1][1].decode()
            holds("Bearer " + KEY in head and "X-Team: " + TEAM in head, "sent", head)
            secrets_of(result.out, result.err, folder.read("x.json"))
            holds("failed" in folder.read("x.json"), "saved", result)


def test_a_refused_ready_check_hides_them_too():
    with RawServer(lambda i: echo(b"401 Unauthorized", "no such key: " + KEY)) as server, Folder() as folder:
        result = run(*folder.custom(server.port, 2), "--ready-check-timeout-sec", "1", "--header",
                     "Authorization=Bearer " + KEY)
    same(result.status, 1, "exit status", result)
    holds("401" in result.err, "the status is told", result)
    secrets_of(result.out, result.err)


def test_a_refused_model_list_hides_them_too():
    with RawServer(lambda i: echo(b"401 Unauthorized", "no such key: " + KEY)) as server:
        result = run("serve", "--host", "127.0.0.1", "--port", str(server.port), "--num-prompts", "2",
                     "--prompt-token-ids", env={"OPENAI_API_KEY": KEY})
        holds(b"Bearer " + KEY.encode() in server.requests[0][1], "sent")
    same((result.status, result.out), (1, ""), "exit status, stdout", result)
    holds("401" in result.err, "the status is told", result)
    secrets_of(result.out, result.err)


def test_mistyped_headers_are_not_repeated():
    for flags in (["--header", "Authorization:%s" % KEY], ["--header", KEY], ["--header", "X\r\nY=%s" % KEY],
                  ["--header", "X=%s\r\nZ: 1" % KEY], ["--base-url", "http://me:%s@127.0.0.1:1" % KEY]):
        with Folder() as folder:
            result = run(*folder.custom(9), *flags)
        same(result.status, 2, "exit status with %s" % flags[0], result)
        secrets_of(result.out, result.err)


def test_an_empty_key_is_no_key_and_a_header_wins():
    with RawServer(lambda i: [stream()]) as server:
        serve(server.port, env={"OPENAI_API_KEY": ""})
        serve(server.port, "--header", "authorization=mine", env={"OPENAI_API_KEY": KEY})
    heads = [h.lower() for _, h, _ in server.requests]
    same([h.count(b"authorization:") for h in heads], [0, 1], "headers")
    holds(b"authorization: mine\r\n" in heads[1] + b"\r\n", "the one given by the user")


# ---- phases --------------------------------------------------------------------------------------------------------

class Everything:
    """Answers every path that serve knows; use with RawServer."""

    def __init__(self, **replies):
        self.server, self.replies = None, replies

    def paths(self):
        return [h.split(b"\r\n")[0].rsplit(b" ", 1)[0].decode() for _, h, _ in self.server.requests]

    def __call__(self, index):
        path = self.paths()[index].split(" ")[1]
        if path == "/v1/models":
            body = json.dumps({"data": [{"id": "served", "root": "org/root"}]}).encode()
        elif path == "/tokenize":
            text = json.loads(self.server.requests[index][2])["prompt"]
            body = json.dumps({"tokens": [ord(c) for c in text], "count": len(text), "max_model_len": 100}).encode()
        elif path == "/detokenize":
            body = json.dumps({"prompt": "".join(chr(97 + t % 26) for t in
                                                 json.loads(self.server.requests[index][2])["tokens"])}).encode()
        elif path == "/metrics":
            body = b'vllm:spec_decode_num_drafts_total{engine="0"} 0.0\n'
        elif path.endswith("completions"):
            return [stream()]
        else:
            body = b""
        status = self.replies.get(path.strip("/"), b"200 OK")
        return [b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                % (status, len(body), body)]


def everything(*flags, replies=None):
    script = Everything(**(replies or {}))
    with RawServer(script, metrics=True) as server:
        script.server = server
        with Folder() as folder:
            result = run(*folder.custom(server.port, 3), "--max-concurrency", "1", "--disable-tqdm", *flags)
            return script, server, result


def test_profile_surrounds_the_measured_requests():
    script, _, result = everything("--profile", "--num-warmups", "2", "--ready-check-timeout-sec", "5")
    same(result.status, 0, "exit status", result)
    c = "POST /v1/completions"
    metrics = "GET /metrics"
    same(script.paths(), [c, c, c, "POST /start_profile", metrics, c, c, c, metrics, "POST /stop_profile"],
         "order on the wire", result)
    for line in ("Starting profiler...", "Profiler started", "Stopping profiler...", "Profiler stopped"):
        holds(line in result.err, line, result)


def test_a_server_without_profiler_costs_a_warning():
    script, _, result = everything("--profile", replies={"start_profile": b"404 Not Found",
                                                         "stop_profile": b"404 Not Found"})
    same(result.status, 0, "exit status", result)
    holds("warning" in result.err and "404" in result.err and "start_profile" in result.err, "said", result)
    same(script.paths().count("POST /v1/completions"), 3, "the measurement goes on")


def test_phases_in_order():
    script = Everything()
    with RawServer(script, metrics=True) as server:
        script.server = server
        result = run("serve", "--host", "127.0.0.1", "--port", str(server.port), "--num-prompts", "2",
                     "--random-input-len", "6", "--random-output-len", "3", "--num-warmups", "1", "--profile",
                     "--ready-check-timeout-sec", "5", "--max-concurrency", "1", "--disable-tqdm")
        same(result.status, 0, "exit status", result)
        paths = script.paths()
        bodies = [json.loads(b) for (_, h, b) in server.requests if b"completions" in h.split(b"\r\n")[0]]
    same(paths[0], "GET /v1/models", "the model comes first", result)
    c = "POST /v1/completions"
    same(paths[-8:], [c, c, "POST /start_profile", "GET /metrics", c, c, "GET /metrics", "POST /stop_profile"],
         "the load comes last", result)
    same(set(paths[1:-8]), {"POST /tokenize", "POST /detokenize"}, "prompts are made between", result)
    same([b["model"] for b in bodies], ["served"] * 4, "the served name is sent")
    same([len(b["prompt"]) for b in bodies], [6] * 4, "six tokens, a letter each")
    same(bodies[0]["prompt"], bodies[2]["prompt"], "the test request is request 0")


def test_a_dry_run_needs_no_server():
    with Folder() as folder:
        result = run(*folder.custom(9, 5), "--dry-run")
    same(result.status, 0, "exit status", result)
    holds("5" in result.out, "totals", result)


main(globals())
