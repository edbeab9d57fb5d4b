"""Files of a hub: what is asked, what lies in the cache afterwards, what is said when it goes wrong.  The layout of the
cache and the order of the questions are those of the peers' libraries."""
import base64
import fcntl
import hashlib
import os
import signal
import socket
import subprocess
import time

from fake_hub import FakeHub, git_blob
from harness import Folder, Mock, clean_env, holds, main, program, run, same

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data")
ID = "org/model"
REPO = "models--org--model"


def read(*names):
    with open(os.path.join(DATA, *names), "rb") as f:
        return f.read()


TOKENIZER = read("tok-mini", "tokenizer.json")
CONFIG = read("tok-mini", "tokenizer_config.json")
MAP = read("tok-mini", "special_tokens_map.json")
FILES = {"tokenizer.json": TOKENIZER, "tokenizer_config.json": CONFIG, "special_tokens_map.json": MAP}
# One rank for each byte: as many tokens as bytes.
TIKTOKEN = b"".join(b"%s %d\n" % (base64.b64encode(bytes([i])), i) for i in range(256))
BIG = bytes((i * 7 + i // 251) % 256 for i in range(3 << 20))


def tokenize(hub, folder, name=ID, text="hello", env=None, **more):
    path = folder("text.txt")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return run("tokenize", "--tokenizer", name, "--count", path, env=hub.env(folder.path, **(env or {})), **more)


def cached(folder, *names, repo=REPO):
    return folder("hf", "hub", repo, *names)


def content(path):
    with open(path, "rb") as f:
        return f.read()


def tree(top):
    """Path, and target of a link, of all that lies below."""
    found = {}
    for where, _, names in os.walk(top):
        for name in names:
            path = os.path.join(where, name)
            found[os.path.relpath(path, top)] = os.readlink(path) if os.path.islink(path) else None
    return found


# ---- the way of the peers -------------------------------------------------------------------------------------------

def test_a_tokenizer_is_downloaded_into_the_shared_cache_and_then_needs_no_network():
    with FakeHub() as hub, Folder() as folder:
        commit = hub.add(ID, FILES, large=["tokenizer.json"])
        result = tokenize(hub, folder)
        same(result.status, 0, "exit status", result)
        sha = hashlib.sha256(TOKENIZER).hexdigest()
        same(tree(cached(folder)), {
            "refs/main": None,
            "blobs/" + sha: None, "blobs/%s.lock" % sha: None,
            "blobs/" + git_blob(CONFIG): None, "blobs/%s.lock" % git_blob(CONFIG): None,
            "blobs/" + git_blob(MAP): None, "blobs/%s.lock" % git_blob(MAP): None,
            "snapshots/%s/tokenizer.json" % commit: "../../blobs/" + sha,
            "snapshots/%s/tokenizer_config.json" % commit: "../../blobs/" + git_blob(CONFIG),
            "snapshots/%s/special_tokens_map.json" % commit: "../../blobs/" + git_blob(MAP),
            ".no_exist/%s/chat_template.jinja" % commit: None,
            ".no_exist/%s/config.json" % commit: None}, "the cache")
        same(content(cached(folder, "refs", "main")), commit.encode(), "refs/main")
        for name, data in FILES.items():
            same(content(cached(folder, "snapshots", commit, name)), data, name)
        asked = len(hub.requests)
        again = tokenize(hub, folder)
        same((again.status, again.out), (0, result.out), "the second run", again)
        same(len(hub.requests), asked, "questions of the second run")


def test_the_questions_have_the_peers_form():
    with FakeHub() as hub, Folder() as folder:
        hub.add(ID, FILES)
        tokenize(hub, folder)
        first, second = hub.asked("/tokenizer.json")
        same(first.line, "/org/model/resolve/main/tokenizer.json", "URL")
        same(first.headers.get("range"), "bytes=0-0", "the first question is for the head")
        same(second.headers.get("range"), None, "the second is for the whole")
        same(first.headers.get("authorization"), None, "no token is sent")
        same(first.headers["user-agent"].split("/")[0], "vllm-bench", "who asks")


def test_names_of_tiktoken_files_are_tried_in_order():
    for present in ("tiktoken.model", "qwen.tiktoken", "vocab.tiktoken"):
        with FakeHub() as hub, Folder() as folder:
            hub.add(ID, {present: TIKTOKEN})
            result = tokenize(hub, folder, text="abcab")
            same((result.status, result.out), (0, "5\n"), "count", result)
            order = [r.path.rsplit("/", 1)[1] for r in hub.asked() if r.headers.get("range") == "bytes=0-0"]
            wanted = ["tokenizer.json", "tiktoken.model", "qwen.tiktoken", "vocab.tiktoken"]
            same(order[:wanted.index(present) + 1], wanted[:wanted.index(present) + 1], "order")


def test_a_cache_filled_by_another_library_is_used_as_it_is():
    with FakeHub() as hub, Folder() as folder:
        snapshot = cached(folder, "snapshots", "abc123")
        os.makedirs(snapshot)
        os.makedirs(cached(folder, "refs"))
        with open(cached(folder, "refs", "main"), "w", encoding="ascii") as f:
            f.write("abc123")
        for name, data in FILES.items():
            with open(os.path.join(snapshot, name), "wb") as f:
                f.write(data)
        result = tokenize(hub, folder)
        same(result.status, 0, "exit status", result)
        same(hub.requests, [], "questions")


def test_what_a_bare_tokenizer_lacks_is_fetched_at_its_own_commit():
    with FakeHub() as hub, Folder() as folder:
        commit = hub.add(ID, FILES)
        os.makedirs(cached(folder, "snapshots", commit))
        os.makedirs(cached(folder, "refs"))
        with open(cached(folder, "refs", "main"), "w", encoding="ascii") as f:
            f.write(commit)
        with open(cached(folder, "snapshots", commit, "tokenizer.json"), "wb") as f:
            f.write(TOKENIZER)
        hub.add(ID, {"tokenizer.json": b"of a later commit"})
        result = tokenize(hub, folder)
        same(result.status, 0, "exit status", result)
        same(hub.asked("/tokenizer.json"), [], "questions for what is there")
        same(hub.asked("/tokenizer_config.json")[0].path, "/org/model/resolve/%s/tokenizer_config.json" % commit, "URL")
        same(content(cached(folder, "refs", "main")), commit.encode(), "refs/main stays")


def test_a_renamed_repository_is_followed():
    with FakeHub() as hub, Folder() as folder:
        hub.add("new/name", FILES, large=["tokenizer.json"])
        hub.renamed[ID] = "new/name"
        result = tokenize(hub, folder)
        same(result.status, 0, "exit status", result)
        holds(os.path.exists(cached(folder, "refs", "main")), "the cache has the old name", tree(folder.path))


def test_the_size_is_asked_from_the_store_when_the_hub_does_not_tell():
    with FakeHub() as hub, Folder() as folder:
        hub.add(ID, FILES, large=["tokenizer.json"])
        hub.says_size = False
        same(tokenize(hub, folder).status, 0, "exit status")
        ranges = [r.headers.get("range") for r in hub.requests if r.place == "store"]
        same(ranges, ["bytes=0-0", None], "questions to the store")


def test_files_in_folders_and_empty_files():
    with FakeHub() as hub, Folder() as folder:
        files = dict(FILES, **{"special_tokens_map.json": b"", "chat_template.jinja": b"{{ x }}"})
        commit = hub.add(ID, files)
        tokenize(hub, folder)
        same(content(cached(folder, "snapshots", commit, "special_tokens_map.json")), b"", "the empty file")


# ---- tokens -------------------------------------------------------------------------------------------------------

def test_the_token_goes_to_the_hub_only_and_is_never_shown():
    for env, in_file in (({"HF_TOKEN": "hf_secret"}, None), ({"HUGGING_FACE_HUB_TOKEN": "hf_secret"}, None),
                         ({}, "token"), ({"HF_TOKEN_PATH": "elsewhere"}, "elsewhere"),
                         ({"HF_TOKEN": "hf_secret"}, "other")):
        with FakeHub() as hub, Folder() as folder:
            hub.token = "hf_secret"
            hub.add(ID, FILES, large=["tokenizer.json"])
            if in_file is not None:
                os.makedirs(folder("hf"))
                path = folder("hf", "token") if in_file != "elsewhere" else folder("elsewhere")
                env = dict(env, **({"HF_TOKEN_PATH": path} if in_file == "elsewhere" else {}))
                with open(path, "w", encoding="ascii") as f:
                    f.write("hf_wrong\n" if in_file == "other" else "  hf_secret\n")
            result = tokenize(hub, folder, env=env)
            same(result.status, 0, "exit status with %s" % env, result)
            same({r.headers.get("authorization") for r in hub.requests if r.place == "hub"}, {"Bearer hf_secret"},
                 "the hub's")
            same({r.headers.get("authorization") for r in hub.requests if r.place == "store"}, {None}, "the store's")
            holds("hf_secret" not in result.err + result.out, "the token is shown", result)


def test_a_refusal_asks_for_a_token():
    for status in (401, 403):
        for token in (None, "hf_wrong"):
            with FakeHub() as hub, Folder() as folder:
                hub.token, hub.refusal = "hf_right", status
                hub.add(ID, FILES)
                result = tokenize(hub, folder, env={"HF_TOKEN": token} if token else {})
                same(result.status, 1, "exit status", result)
                for part in ("HF_TOKEN", str(status), ID, "tokenizer.json"):
                    holds(part in result.err, "%r is in the message" % part, result)
                holds("hf_wrong" not in result.err, "the token is shown", result)


def test_a_token_with_a_line_end_inside_is_refused():
    with FakeHub() as hub, Folder() as folder:
        hub.add(ID, FILES)
        result = tokenize(hub, folder, env={"HF_TOKEN": "hf_a\r\nX-Evil: 1"})
        same(result.status, 2, "exit status", result)
        holds("hf_a" not in result.err and "token" in result.err, "message", result)
        same(hub.requests, [], "questions")


# ---- what goes wrong ------------------------------------------------------------------------------------------------

def test_a_missing_file_is_named_with_repository_revision_and_url():
    with FakeHub() as hub, Folder() as folder:
        result = tokenize(hub, folder, name="org/nothing")
        same(result.status, 1, "exit status", result)
        for part in ("tokenizer.json", "org/nothing", "'main'", hub.url + "/org/nothing/resolve/main/tokenizer.json",
                     "404"):
            holds(part in result.err, "%r is in the message" % part, result)


def test_an_unreachable_hub_fails_at_once_with_one_line():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))  # nobody listens
        with FakeHub() as hub, Folder() as folder:
            start = time.monotonic()
            result = tokenize(hub, folder, env={"HF_ENDPOINT": "http://127.0.0.1:%d" % listener.getsockname()[1]})
            same(result.status, 1, "exit status", result)
            holds(time.monotonic() - start < 5, "it took long")
            same(len(result.err.strip().splitlines()), 1, "lines", result)
            holds("cannot reach" in result.err, "message", result)


def test_a_hub_that_is_silent_is_given_up():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(8)
        with FakeHub() as hub, Folder() as folder:
            start = time.monotonic()
            result = tokenize(hub, folder, env={"HF_HUB_ETAG_TIMEOUT": "1",
                                                "HF_ENDPOINT": "http://127.0.0.1:%d" % listener.getsockname()[1]})
            same(result.status, 1, "exit status", result)
            holds(time.monotonic() - start < 10, "one attempt, not one for each file", result)


def test_offline_never_touches_the_network_and_says_so():
    with FakeHub() as hub, Folder() as folder:
        hub.add(ID, FILES)
        for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
            result = tokenize(hub, folder, env={"HF_HUB_OFFLINE": "", name: "1"})
            same(result.status, 1, "exit status", result)
            holds("HF_HUB_OFFLINE" in result.err, "message", result)
            same(hub.requests, [], "questions")


def test_a_failing_hub_is_told_with_its_words():
    with FakeHub() as hub, Folder() as folder:
        hub.add(ID, FILES)
        hub.fault("/tokenizer.json", status=500, times=99)
        result = tokenize(hub, folder)
        same(result.status, 1, "exit status", result)
        holds("500" in result.err and "a fault" in result.err, "message", result)


def test_what_is_no_hub_is_told():
    with FakeHub() as hub, Folder() as folder:
        hub.add(ID, FILES)
        hub.says_commit = False
        result = tokenize(hub, folder)
        same(result.status, 1, "exit status", result)
        holds("X-Repo-Commit" in result.err and "HF_ENDPOINT" in result.err, "message", result)


def test_names_that_are_no_repository_are_not_looked_up():
    for name in ("./org/model", "org/model/more", "org/../model", "org//model", "a b/c", "org/", "o--x/y"):
        with FakeHub() as hub, Folder() as folder:
            result = tokenize(hub, folder, name=name)
            same(result.status, 1, "exit status of %s" % name, result)
            same(hub.requests, [], "questions for %s" % name)


# ---- interrupted and broken downloads --------------------------------------------------------------------------------

def big(hub, **more):
    return hub.add(ID, {"tokenizer.json": BIG, "tokenizer_config.json": CONFIG}, large=["tokenizer.json"], **more)


def blob(folder):
    return cached(folder, "blobs", hashlib.sha256(BIG).hexdigest())


def test_a_broken_body_goes_on_where_it_ended():
    with FakeHub() as hub, Folder() as folder:
        big(hub)
        hub.fault("", place="store", truncate=1 << 20)
        hub.fault("", place="store", truncate=1 << 19)
        result = tokenize(hub, folder)
        same(content(blob(folder)), BIG, "the file", result)
        ranges = [r.headers.get("range") for r in hub.requests if r.place == "store"]
        same(ranges, [None, "bytes=%d-" % (1 << 20), "bytes=%d-" % ((1 << 20) + (1 << 19))], "ranges")
        holds("going on at byte 1048576" in result.err, "it is told", result)
        same(os.path.exists(blob(folder) + ".sync.part"), False, "the part is gone")


def test_an_interrupted_download_goes_on_in_the_next_run():
    with FakeHub() as hub, Folder() as folder:
        big(hub)
        hub.fault("", place="store", slow=(1 << 16, 0.05))
        process = subprocess.Popen([program(), "tokenize", "--tokenizer", ID, "--count", folder.prompts],
                                   env=clean_env(hub.env(folder.path)), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        part = blob(folder) + ".sync.part"
        end = time.monotonic() + 20
        while not (os.path.exists(part) and part_offset(part) >= 1 << 20) and time.monotonic() < end:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        status = process.wait(10)
        holds(time.monotonic() - start < 2, "Ctrl-C ends it promptly")
        holds(status in (-signal.SIGINT, 130), "status %s" % status)
        offset = part_offset(part)
        same(os.path.getsize(part), len(BIG) + 8, "size of the part")
        same(content(part)[:offset], BIG[:offset], "the part")
        tokenize(hub, folder)
        same(content(blob(folder)), BIG, "the file")
        holds("bytes=%d-" % offset in [r.headers.get("range") for r in hub.requests if r.place == "store"],
              "it goes on", hub.requests)


def part_offset(path):
    with open(path, "rb") as f:
        f.seek(-8, os.SEEK_END)
        return int.from_bytes(f.read(8), "little")


def test_a_part_that_rusts_library_left_is_taken_over():
    with FakeHub() as hub, Folder() as folder:
        big(hub)
        os.makedirs(cached(folder, "blobs"))
        with open(blob(folder) + ".sync.part", "wb") as f:
            f.write(BIG[:1000] + bytes(len(BIG) - 1000) + (1000).to_bytes(8, "little"))
        tokenize(hub, folder)
        same(content(blob(folder)), BIG, "the file")
        same([r.headers.get("range") for r in hub.requests if r.place == "store"], ["bytes=1000-"], "range")


def test_a_part_of_another_size_or_with_a_wrong_offset_is_begun_anew():
    for part in (b"short", BIG + (len(BIG) + 1).to_bytes(8, "little"), BIG[:-1] + bytes(8)):
        with FakeHub() as hub, Folder() as folder:
            big(hub)
            os.makedirs(cached(folder, "blobs"))
            with open(blob(folder) + ".sync.part", "wb") as f:
                f.write(part)
            tokenize(hub, folder)
            same(content(blob(folder)), BIG, "the file")
            same([r.headers.get("range") for r in hub.requests if r.place == "store"], [None], "range")


def test_a_spoilt_part_is_found_by_the_sum_and_fetched_anew():
    with FakeHub() as hub, Folder() as folder:
        big(hub)
        os.makedirs(cached(folder, "blobs"))
        with open(blob(folder) + ".sync.part", "wb") as f:
            f.write(bytes(len(BIG)) + (5000).to_bytes(8, "little"))
        result = tokenize(hub, folder)
        same(content(blob(folder)), BIG, "the file", result)
        holds("SHA-256" in result.err, "it is told", result)


def test_spoilt_content_is_refused():
    with FakeHub() as hub, Folder() as folder:
        big(hub)
        hub.fault("", place="store", corrupt=True, times=9)
        result = tokenize(hub, folder)
        same(result.status, 1, "exit status", result)
        holds("SHA-256" in result.err, "message", result)
        same([n for n in os.listdir(cached(folder, "blobs")) if not n.endswith(".lock")], [], "blobs")
        holds(not os.path.exists(cached(folder, "snapshots")), "no snapshot")


def test_a_server_that_ignores_ranges_begins_anew():
    with FakeHub() as hub, Folder() as folder:
        big(hub)
        hub.fault("", place="store", truncate=1 << 20)
        hub.fault("", place="store", ignore_range=True)
        tokenize(hub, folder)
        same(content(blob(folder)), BIG, "the file")


def test_another_stretch_than_asked_for_is_refused():
    with FakeHub() as hub, Folder() as folder:
        big(hub)
        hub.fault("", place="store", truncate=1 << 20)
        hub.fault("", place="store", content_range="bytes 0-99/%d" % len(BIG), times=9)
        result = tokenize(hub, folder)
        same(result.status, 1, "exit status", result)
        holds("another part" in result.err, "message", result)


def test_a_stalled_body_is_given_up():
    with FakeHub() as hub, Folder() as folder:
        big(hub)
        hub.fault("", place="store", slow=(1000, 30), times=9)
        start = time.monotonic()
        result = tokenize(hub, folder, env={"HF_HUB_DOWNLOAD_TIMEOUT": "1"})
        holds(time.monotonic() - start < 20, "it is given up")
        same(result.status, 1, "exit status", result)


# ---- the way there ----------------------------------------------------------------------------------------------------

TLS = [os.path.join(DATA, "tls", name) for name in ("cert.pem", "key.pem")]


def test_a_hub_over_https_needs_a_certificate_that_is_trusted():
    with FakeHub(tls=TLS) as hub, Folder() as folder:
        hub.add(ID, FILES, large=["tokenizer.json"])
        refused = tokenize(hub, folder)
        same(refused.status, 1, "exit status", refused)
        holds("cannot reach" in refused.err and "certificate" in refused.err, "message", refused)
        same(hub.requests, [], "questions")
        for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"):
            with Folder() as other:
                result = tokenize(hub, other, env={name: TLS[0]})
                same(result.status, 0, "exit status with %s" % name, result)


def test_flags_about_certificates():
    with FakeHub(tls=TLS) as hub, Mock() as mock:
        hub.add(ID, FILES)
        for flags in (["--cacert", TLS[0]], ["--insecure"]):
            with Folder() as folder:
                result = run("serve", "--model", ID, "--dataset-name", "random", "--num-prompts", "2", "--dry-run",
                             "--base-url", mock.url, *flags, env=hub.env(folder.path))
                same(result.status, 0, "exit status", result)
                holds(len(hub.asked("/tokenizer.json")) > 0, "questions", result)
                hub.requests.clear()


def test_a_redirect_out_of_encryption_is_refused():
    with FakeHub(tls=TLS) as hub, Folder() as folder:
        hub.add(ID, FILES, large=["tokenizer.json"])
        hub.store_scheme = "http"
        result = tokenize(hub, folder, env={"SSL_CERT_FILE": TLS[0]})
        same(result.status, 1, "exit status", result)
        holds("without encryption" in result.err, "message", result)
        holds("very-secret" not in result.err, "a signature is shown", result)


def test_a_proxy_is_used_but_not_for_this_machine():
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        with FakeHub() as hub, Folder() as folder:
            hub.add(ID, FILES)
            result = tokenize(hub, folder, env={"HF_ENDPOINT": "http://hub.invalid", name: hub.url})
            same(result.status, 0, "exit status with %s" % name, result)
            same(hub.requests[0].line, "http://hub.invalid/org/model/resolve/main/tokenizer.json", "request to the proxy")
    with FakeHub() as hub, Folder() as folder:
        hub.add(ID, FILES)
        result = tokenize(hub, folder, env={"http_proxy": "http://127.0.0.1:1"})
        same(result.status, 0, "exit status", result)


def test_a_password_in_the_endpoint_is_used_and_not_shown():
    with FakeHub() as hub, Folder() as folder:
        result = tokenize(hub, folder, env={"HF_ENDPOINT": hub.url.replace("://", "://someone:very-secret@")})
        same(result.status, 1, "exit status", result)
        holds("very-secret" not in result.err, "the password is shown", result)
        holds(hub.requests[0].headers["authorization"].startswith("Basic "), "it is sent")


# ---- two processes ----------------------------------------------------------------------------------------------------

def test_two_processes_download_once():
    with FakeHub() as hub, Folder() as folder:
        hub.add(ID, FILES, large=["tokenizer.json"])
        hub.fault("", place="store", slow=(1 << 14, 0.05))
        command = [program(), "tokenize", "--tokenizer", ID, "--count", folder.prompts]
        both = [subprocess.Popen(command, env=clean_env(hub.env(folder.path)), stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE) for _ in range(2)]
        outs = [p.communicate(timeout=30) for p in both]
        same([p.returncode for p in both], [0, 0], "exit statuses", outs)
        same(outs[0][0], outs[1][0], "outputs")
        same(len([r for r in hub.requests if r.place == "store"]), 1, "downloads")
        holds(any(b"waiting" in err for _, err in outs), "one says that it waits", outs)


def test_the_locks_of_both_libraries_are_respected():
    sha = hashlib.sha256(TOKENIZER).hexdigest()
    for lock in (("hf", "hub", ".locks", REPO, sha + ".lock"), ("hf", "hub", REPO, "blobs", sha + ".lock")):
        with FakeHub() as hub, Folder() as folder:
            hub.add(ID, FILES, large=["tokenizer.json"])
            os.makedirs(os.path.dirname(folder(*lock)))
            with open(folder(*lock), "w", encoding="ascii") as held:
                fcntl.flock(held, fcntl.LOCK_EX)
                process = subprocess.Popen([program(), "tokenize", "--tokenizer", ID, "--count", folder.prompts],
                                           env=clean_env(hub.env(folder.path)), stdout=subprocess.PIPE,
                                           stderr=subprocess.PIPE)
                holds("waiting" in process.stderr.readline().decode(), "it says that it waits")
                same([r for r in hub.requests if r.place == "store"], [], "downloads")
            process.communicate(timeout=30)
            same(process.returncode, 0, "exit status")


# ---- places -----------------------------------------------------------------------------------------------------------

def test_the_cache_is_where_the_variables_say():
    for env, where in (({"HF_HUB_CACHE": "{}/a"}, "a"), ({"HUGGINGFACE_HUB_CACHE": "{}/b"}, "b"),
                       ({"HF_HOME": "{}/c"}, "c/hub"), ({"HF_HOME": "", "XDG_CACHE_HOME": "{}/d"}, "d/huggingface/hub"),
                       ({"HF_HOME": "", "XDG_CACHE_HOME": "", "HOME": "{}/e"}, "e/.cache/huggingface/hub"),
                       ({"HF_HOME": "~/f"}, "f/hub"), ({"HF_HUB_CACHE": "{}/g//"}, "g")):
        with FakeHub() as hub, Folder() as folder:
            hub.add(ID, FILES)
            env = {name: value.replace("{}", folder.path) for name, value in env.items()}
            result = tokenize(hub, folder, env=env)
            same(result.status, 0, "exit status with %s" % env, result)
            holds(os.path.exists(folder(*where.split("/"), REPO, "refs", "main")), "the place with %s" % env,
                  tree(folder.path))
            asked = len(hub.requests)
            same(tokenize(hub, folder, env=env).status, 0, "second run")
            same(len(hub.requests), asked, "it is found again with %s" % env)


def test_a_cache_that_cannot_be_written_is_named():
    with FakeHub() as hub, Folder() as folder:
        hub.add(ID, FILES)
        result = tokenize(hub, folder, env={"HF_HUB_CACHE": folder.prompts})
        same(result.status, 1, "exit status", result)
        holds(folder.prompts in result.err, "message", result)


def test_a_hostile_etag_or_commit_leads_nowhere():
    for header, value in (("ETag", "../../../evil"), ("ETag", ".evil"), ("X-Repo-Commit", "../../evil")):
        with FakeHub() as hub, Folder() as folder:
            hub.add(ID, FILES)
            hub.headers[header] = value
            result = tokenize(hub, folder)
            same(result.status, 1, "exit status", result)
            holds(header in result.err, "message", result)
            holds(not any("evil" in path for path in tree(folder.path)), "files", tree(folder.path))


main(globals())
