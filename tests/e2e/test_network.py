"""The ways to a server: TLS, proxies, unix-domain sockets, compressed responses."""
import base64
import os
import socket
import ssl
import tempfile
import threading
import zlib

import harness
from harness import (DONE, HEAD, RawServer, chunked, holds, kinds, main, same, serve, stream, token, usage)

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "tls")
CERT, KEY = os.path.join(DATA, "cert.pem"), os.path.join(DATA, "key.pem")


class TlsServer(RawServer):
    """A RawServer behind TLS; `handshakes` tells of each connection whether its session was resumed."""

    def __init__(self, script, ask_client=False):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(CERT, KEY)
        if ask_client:
            self.context.verify_mode = ssl.CERT_REQUIRED
            self.context.load_verify_locations(CERT)
        self.handshakes = []
        self.names = []
        self.context.sni_callback = lambda s, name, c: self.names.append(name)
        super().__init__(script)

    def _serve(self, conn, number):
        try:
            conn = self.context.wrap_socket(conn, server_side=True)
        except (OSError, ssl.SSLError):
            conn.close()
            return
        self.handshakes.append(conn.session_reused)
        super()._serve(conn, number)


def url(server, host="127.0.0.1"):
    return ["--base-url", "https://%s:%d" % (host, server.port)]


def good(run, n=1):
    same((run.status, run.result["completed"], run.result["failed"]), (0, n, 0), "status, completed, failed", run)
    same(set(run.result["generated_texts"]), {"abc"}, "texts", run)


def test_https_with_a_trusted_certificate_keeps_kernel_stamps():
    with TlsServer(lambda i: [stream()]) as server:
        run = serve(0, *url(server), "--cacert", CERT, "--max-concurrency", "2", n=6)
    good(run, 6)
    same(run.result["client"]["timestamps"], "kernel", "source of the stamps", run)
    same(server.connections, 2, "connections", run)


def test_https_refuses_a_certificate_that_nobody_vouches_for():
    with TlsServer(lambda i: [stream()]) as server:
        run = serve(0, *url(server), n=2)
    same((run.status, kinds(run)), (1, {"connect": 2}), "status, kinds", run)
    for word in ("certificate", "--insecure", "--cacert"):
        holds(word in run.result["errors"][0], word, run)


def test_insecure_takes_any_certificate():
    with TlsServer(lambda i: [stream()]) as server:
        good(serve(0, *url(server), "--insecure"))


def test_the_certificate_must_be_for_the_host():
    with TlsServer(lambda i: [stream()]) as server:
        run = serve(0, *url(server, "127.0.0.2"), "--cacert", CERT)
    same((run.status, kinds(run)), (1, {"connect": 1}), "status, kinds", run)


def test_names_are_sent_and_sessions_resumed():
    response = stream().replace(b"\r\n", b"\r\nConnection: close\r\n", 1)
    with TlsServer(lambda i: [response, harness.CLOSE]) as server:
        run = serve(0, *url(server, "localhost"), "--cacert", CERT, "--max-concurrency", "1", n=4)
    good(run, 4)
    same(server.names[-1], "localhost", "server name", run)
    holds(True in server.handshakes, "a session was resumed: %r" % server.handshakes, run)


def test_client_certificates():
    with TlsServer(lambda i: [stream()], ask_client=True) as server:
        good(serve(0, *url(server), "--cacert", CERT, "--cert", CERT, "--key", KEY))
        run = serve(0, *url(server), "--cacert", CERT)
        same((run.status, run.result["completed"]), (1, 0), "without one", run)


def test_files_of_certificates_are_checked_before_anything_is_sent():
    run = serve(0, "--base-url", "https://127.0.0.1:9", "--cacert", "/nonexistent.pem")
    same((run.status, run.result), (1, None), "status, no result", run)
    holds("--cacert" in run.err and "/nonexistent.pem" in run.err, "flag and file are named", run)


class PlainServer(RawServer):
    """Answers whatever comes first with a plain HTTP error, as a server without TLS answers a TLS greeting."""

    def _serve(self, conn, number):
        conn.recv(65536)
        conn.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        conn.close()


def test_plain_http_server_behind_https_url():
    with PlainServer(None) as server:
        run = serve(0, *url(server), "--insecure")
    same((run.status, kinds(run)), (1, {"connect": 1}), "status, kinds", run)
    holds("TLS" in run.result["errors"][0], "the reason", run)


def test_large_requests_and_many_streams_over_tls():
    with TlsServer(lambda i: [stream()]) as server:
        good(serve(0, *url(server), "--insecure", "--extra-body", '{"pad":"%s"}' % ("x" * 100000),
                   "--max-concurrency", "8", n=16), 16)
    same(len(server.requests[0][2]) > 100000, True, "the body arrived whole")


def compressed(coding, wbits):
    body = token("a") + token("b") + token("c") + usage(3) + DONE
    packer = zlib.compressobj(wbits=wbits)
    pieces = []
    for part in (body[:70], body[70:]):
        pieces.append(packer.compress(part) + packer.flush(zlib.Z_SYNC_FLUSH))
    pieces.append(packer.flush())
    return HEAD.replace(b"\r\n\r\n", b"\r\nContent-Encoding: %s\r\n\r\n" % coding) + chunked(*pieces)


def test_compressed_responses_are_read():
    for coding, wbits in ((b"gzip", 31), (b"deflate", 15), (b"deflate", -15), (b"x-gzip", 31)):
        with RawServer(lambda i: [compressed(coding, wbits)]) as server:
            good(serve(server.port, n=2), 2)


def test_unknown_codings_and_damaged_bodies_fail():
    with RawServer(lambda i: [compressed(b"br", 31)]) as server:
        run = serve(server.port)
    same(kinds(run), {"malformed_stream": 1}, "kinds", run)
    holds("br" in run.result["errors"][0], "the coding is named", run)
    with RawServer(lambda i: [compressed(b"gzip", 15)]) as server:
        run = serve(server.port)
    same(kinds(run), {"malformed_stream": 1}, "kinds", run)


class Proxy:
    """A proxy that forwards plain requests and opens tunnels, all to one port; `lines` are the request lines."""

    def __init__(self, port):
        self.port_behind, self.lines, self.heads = port, [], []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                conn, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(conn,), daemon=True).start()

    def _serve(self, conn):
        head = b""
        while b"\r\n\r\n" not in head:
            data = conn.recv(65536)
            if not data:
                return
            head += data
        self.lines.append(head.split(b"\r\n")[0].decode())
        self.heads.append(head)
        behind = socket.create_connection(("127.0.0.1", self.port_behind))
        if head.startswith(b"CONNECT"):
            conn.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            behind.sendall(head)
        for a, b in ((conn, behind), (behind, conn)):
            threading.Thread(target=self._copy, args=(a, b), daemon=True).start()

    @staticmethod
    def _copy(source, sink):
        try:
            while True:
                data = source.recv(65536)
                if not data:
                    break
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.listener.close()


def test_plain_requests_go_to_the_proxy_as_absolute_urls():
    with RawServer(lambda i: [stream()]) as server, Proxy(server.port) as proxy:
        run = serve(0, "--base-url", "http://model.test:81/base",
                    env={"http_proxy": "http://user:p%%40ss@127.0.0.1:%d" % proxy.port})
    good(run)
    head = server.requests[0][1]
    same(head.split(b"\r\n")[0], b"POST http://model.test:81/base/v1/completions HTTP/1.1", "request line", run)
    credentials = b"Basic " + base64.b64encode(b"user:p@ss")
    holds(b"Proxy-Authorization: " + credentials in head, "credentials", run)
    holds("127.0.0.1:%d" % proxy.port in run.err and "p@ss" not in run.err and "p%40ss" not in run.err,
          "the proxy is named without its password", run)


def test_https_goes_through_a_tunnel():
    with TlsServer(lambda i: [stream()]) as server, Proxy(server.port) as proxy:
        run = serve(0, "--base-url", "https://model.test:444", "--cacert", CERT,
                    env={"HTTPS_PROXY": "127.0.0.1:%d" % proxy.port})
    good(run)
    same(proxy.lines, ["CONNECT model.test:444 HTTP/1.1"], "request line", run)
    same(server.names, ["model.test"], "server name inside the tunnel", run)


def test_a_proxy_that_refuses_is_named():
    with RawServer(lambda i: [b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"]) as proxy:
        run = serve(0, "--base-url", "https://model.test", env={"HTTPS_PROXY": "http://127.0.0.1:%d" % proxy.port})
    same((run.status, kinds(run)), (1, {"connect": 1}), "status, kinds", run)
    holds("proxy" in run.result["errors"][0] and "403" in run.result["errors"][0], "the reason", run)


def test_loopback_no_proxy_and_the_flag_connect_directly():
    env = {"HTTP_PROXY": "http://127.0.0.1:9"}
    with RawServer(lambda i: [stream()]) as server:
        good(serve(server.port, env=env))
        good(serve(server.port, "--no-proxy", host="localhost", env=env))
    run = serve(9, "--host", "model.invalid", env=dict(env, NO_PROXY="other,.invalid"))
    same(run.status, 1, "status", run)
    holds("model.invalid" in run.err, "the name was looked up, not given to the proxy", run)


def test_unix_domain_sockets():
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "server.sock")
    with RawServer(lambda i: [stream()]) as server:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen(16)
        server.listener.close()
        server.listener = listener
        threading.Thread(target=server._accept, daemon=True).start()
        run = serve(8000, "--unix-socket", path, "--max-concurrency", "2", n=4)
    good(run, 4)
    holds(b"Host: 127.0.0.1:8000" in server.requests[0][1], "Host header", run)
    run = serve(8000, "--unix-socket", os.path.join(folder, "nothing"))
    same((run.status, kinds(run)), (1, {"connect": 1}), "nobody listens", run)


main(globals())
