"""A real S3 server on this machine, and one that misbehaves."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

BUCKET = "matches"

_MOTO = """
from threading import Lock

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import run_simple

app, lock = DomainDispatcherApplication(create_backend_app), Lock()


def one_by_one(environ, start):
    with lock:  # moto looks for an object and stores it in two steps, and S3 in one
        return app(environ, start)


run_simple("127.0.0.1", 0, one_by_one, threaded=True)
"""


@contextmanager
def s3_server() -> Iterator[str]:
    """Run moto's server with one bucket, and return its address."""
    argv = [sys.executable, "-c", _MOTO]
    with subprocess.Popen(
        argv, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, env={**os.environ}
    ) as server:
        try:
            assert server.stderr is not None
            for line in server.stderr:
                if found := re.search(rb"Running on http://(\S+)", line):
                    break
            address = found[1].decode()
            Thread(target=server.stderr.read, daemon=True).start()
            client = HTTPConnection(address)
            client.request("PUT", f"/{BUCKET}")
            assert client.getresponse().status == 200
            client.close()
            yield f"http://{address}"
        finally:
            server.kill()


class Misbehaving(BaseHTTPRequestHandler):
    """Answers everything with one status, or not at all."""

    status = 503
    silent: Event | None = None

    def _answer(self) -> None:
        if self.silent is not None:
            self.silent.wait()
            return
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(self.status)
        self.send_header("content-length", "0")
        self.end_headers()

    do_GET = do_PUT = do_DELETE = do_HEAD = _answer  # noqa: N815 - as the library asks

    def log_message(self, *args: object) -> None:
        del args


@contextmanager
def misbehaving_server(status: int = 503, *, silent: bool = False) -> Iterator[str]:
    """Run a server that answers so, and return its address."""
    released = Event()
    made = type("One", (Misbehaving,), {"status": status, "silent": released if silent else None})
    with ThreadingHTTPServer(("127.0.0.1", 0), made) as server:
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        released.set()
        server.shutdown()
        thread.join()


def s3_environment(endpoint: str) -> dict[str, str]:
    """Return the variables by which S3's clients find a server."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1",
    }
