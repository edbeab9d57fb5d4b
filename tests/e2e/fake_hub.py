"""A hub on the loopback address, as small as a test needs it: resolve/, api/.../revision/, and the datasets server's
/info, /parquet and /rows.  Large files lie in a store of their own, reached by a redirect to another origin, as on the
public hub.

    with FakeHub() as hub:
        hub.add("org/model", {"tokenizer.json": b"..."}, large=["tokenizer.json"])
        hub.fault("tokenizer.json", status=500, times=2)
        run(..., env=hub.env(folder))
        hub.asked("tokenizer.json")      the requests for it

How the public hub answers (headers, statuses, redirects) is what its documentation and its clients' sources say.
"""
import hashlib
import json
import os
import re
import socket
import ssl
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def git_blob(data):
    """The name that git gives to a file, which is the ETag of a small one."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def commit_of(files):
    return hashlib.sha1(repr(sorted(files.items())).encode()).hexdigest()


class Request:
    def __init__(self, handler, place):
        self.place = place  # "hub", "store"
        self.path = urllib.parse.urlsplit(handler.path).path
        self.query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(handler.path).query, keep_blank_values=True))
        self.headers = {name.lower(): value for name, value in handler.headers.items()}
        self.line = handler.path
        self.sent = 0  # bytes of the body

    def __repr__(self):
        return "%s %s %s" % (self.place, self.line, self.headers.get("range", ""))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *args):
        pass

    def handle(self):
        try:
            super().handle()
        except OSError:
            pass

    def do_GET(self):
        hub, place = self.server.hub, self.server.place
        request = Request(self, place)
        with hub.lock:
            hub.requests.append(request)
        if place == "store":
            self.content(request, hub.store[request.path.strip("/")], {}, place)
        elif hub.token is not None and request.headers.get("authorization") != "Bearer " + hub.token:
            self.error(hub.refusal, "Access is restricted. You must be authenticated.")
        elif request.path.startswith("/api/"):
            self.listing(hub, request)
        elif request.path in ("/info", "/parquet", "/rows"):
            self.datasets(hub, request)
        else:
            self.resolve(hub, request)

    # ---- answers

    def reply(self, status, headers, body=b""):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, str(value))
        if "Content-Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def error(self, status, text, **headers):
        body = json.dumps({"error": text}).encode()
        self.reply(status, {name.replace("_", "-"): value for name, value in headers.items()}, body)

    def json(self, value):
        self.reply(200, {"Content-Type": "application/json"}, json.dumps(value, ensure_ascii=False).encode())

    def content(self, request, data, headers, place):
        hub = self.server.hub
        fault = hub.take_fault(request, place)
        first, last, status = 0, len(data) - 1, 200
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", request.headers.get("range", ""))
        if fault.get("status"):
            return self.error(fault["status"], "a fault", **fault.get("headers", {}))
        if wanted and not fault.get("ignore_range"):
            first = int(wanted.group(1))
            last = min(int(wanted.group(2) or last), last)
            if first > last:
                return self.reply(416, {"Content-Range": "bytes */%d" % len(data)})
            status = 206
            headers = dict(headers, **{"Content-Range": fault.get("content_range") or
                                       "bytes %d-%d/%d" % (first, last, len(data))})
        body = data[first:last + 1]
        if fault.get("corrupt"):
            body = bytes(b ^ 1 for b in body)
        headers = dict(headers, **{"Content-Length": len(body)})
        if len(body) > 1 and fault.get("truncate") is not None:
            body = body[:fault["truncate"]]
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.send_body(request, body, fault)
        return None

    def send_body(self, request, body, fault):
        step, pause = fault.get("slow", (1 << 20, 0)) if len(body) > 1 else (1 << 20, 0)
        for at in range(0, len(body), step):
            self.wfile.write(body[at:at + step])
            request.sent += len(body[at:at + step])
            if pause:
                time.sleep(pause)
        if len(body) > 1 and fault.get("truncate") is not None:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)

    # ---- questions

    def resolve(self, hub, request):
        match = re.fullmatch(r"/(datasets/)?(.+?)/resolve/([^/]+)/(.+)", request.path)
        if match is None:
            return self.error(404, "not found")
        kind = "datasets" if match.group(1) else "models"
        name, file = match.group(2), urllib.parse.unquote(match.group(4))
        if name in hub.renamed:
            return self.reply(307, {"Location": request.path.replace(name, hub.renamed[name], 1)})
        repo = hub.repos.get((kind, name, urllib.parse.unquote(match.group(3))))
        if repo is None:
            return self.error(404, "Repository not found", X_Error_Code="RepoNotFound")
        commit = {"X-Repo-Commit": repo["commit"]} if hub.says_commit else {}
        if file not in repo["files"]:
            return self.error(404, "Entry not found", X_Error_Code="EntryNotFound",
                              **{"X_Repo_Commit": repo["commit"]})
        data = repo["files"][file]
        if file not in repo["large"]:
            headers = dict(commit, **{"ETag": '"%s"' % git_blob(data), **hub.headers})
            return self.content(request, data, headers, "hub")
        sha = hashlib.sha256(data).hexdigest()
        hub.store[sha] = data
        headers = dict(commit, **{"X-Linked-ETag": '"%s"' % sha, "ETag": '"other"',
                                  "Location": "%s://127.0.0.1:%d/%s?Signature=very-secret" %
                                  (hub.store_scheme or hub.scheme, hub.store_port, sha)})
        if hub.says_size:
            headers["X-Linked-Size"] = len(data)
        return self.reply(302, headers)

    def listing(self, hub, request):
        match = re.fullmatch(r"/api/(models|datasets)/(.+)/revision/([^/]+)", request.path)
        repo = match and hub.repos.get((match.group(1), match.group(2), urllib.parse.unquote(match.group(3))))
        if not repo:
            return self.error(404, "Repository not found")
        fault = hub.take_fault(request, "hub")
        if fault.get("status"):
            return self.error(fault["status"], "a fault")
        return self.json({"id": match.group(2), "sha": repo["commit"],
                          "siblings": [{"rfilename": name} for name in repo["listed"]]})

    def datasets(self, hub, request):
        fault = hub.take_fault(request, "hub")
        dataset = request.query.get("dataset")
        if fault.get("status"):
            return self.error(fault["status"], "a fault", **fault.get("headers", {}))
        if fault.get("body") is not None:
            return self.reply(200, {"Content-Type": "application/json"}, fault["body"])
        if request.path == "/rows":
            return self.rows(hub, request)
        answers = hub.info if request.path == "/info" else hub.parquet
        if dataset not in answers:
            return self.error(404, "The dataset does not exist.")
        return self.json(answers[dataset])

    def rows(self, hub, request):
        key = (request.query.get("dataset"), request.query.get("config"), request.query.get("split"))
        if key not in hub.rows:
            return self.error(404, "The split does not exist.")
        rows = hub.rows[key]
        offset, length = int(request.query["offset"]), int(request.query["length"])
        if length > 100:
            return self.error(422, "Parameter 'length' must not be greater than 100")
        page = rows[offset:offset + length]
        return self.json({"features": [], "num_rows_total": len(rows), "num_rows_per_page": 100, "partial": False,
                          "rows": [{"row_idx": offset + i, "row": row,
                                    "truncated_cells": ["text"] if row.get("cut") else []}
                                   for i, row in enumerate(page)]})


class FakeHub:
    """`tls`: certificate and key in PEM form; the hub then speaks https."""

    def __init__(self, tls=None):
        self.repos, self.store, self.renamed = {}, {}, {}
        self.info, self.parquet, self.rows = {}, {}, {}
        self.faults, self.requests = [], []
        self.token, self.refusal = None, 401
        self.says_commit = self.says_size = True
        self.store_scheme = None
        self.headers = {}  # further ones, of small files
        self.lock = threading.Lock()
        self.scheme = "https" if tls else "http"
        self.servers = [self._serve("hub", tls), self._serve("store", tls)]
        self.port, self.store_port = (server.server_address[1] for server in self.servers)
        self.url = "%s://127.0.0.1:%d" % (self.scheme, self.port)

    def _serve(self, place, tls):
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        server.hub, server.place = self, place
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return server

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        for server in self.servers:
            server.shutdown()
            server.server_close()

    def env(self, folder, **more):
        """`folder` becomes the home of all caches."""
        env = {"HF_ENDPOINT": self.url, "HF_HOME": os.path.join(folder, "hf"), "HF_HUB_OFFLINE": "0",
               "XDG_CACHE_HOME": os.path.join(folder, "cache"), "HOME": folder}
        env.update(more)
        return env

    def add(self, name, files, large=(), kind="models", revision="main", listed=None):
        """Returns the commit."""
        commit = commit_of(files)
        repo = {"files": files, "large": set(large), "commit": commit, "listed": listed or sorted(files)}
        self.repos[kind, name, revision] = self.repos[kind, name, commit] = repo
        return commit

    def fault(self, end, times=1, place=None, skip=0, **what):
        """The next requests whose path ends in `end` go wrong: status, headers, truncate (bytes), slow (bytes, seconds),
        ignore_range, content_range, corrupt, body.  `skip` of them go well before."""
        self.faults.append({"end": end, "times": times, "place": place, "skip": skip, **what})

    def take_fault(self, request, place):
        with self.lock:
            for fault in self.faults:
                if not request.path.endswith(fault["end"]) or fault["place"] not in (None, place):
                    continue
                if fault["skip"] > 0:
                    fault["skip"] -= 1
                elif fault["times"] > 0:
                    fault["times"] -= 1
                    return fault
        return {}

    def asked(self, end=""):
        with self.lock:
            return [r for r in self.requests if r.path.endswith(end)]
