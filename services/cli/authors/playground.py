"""`matchpost playground`: a board to try a game on, in a server of its own that is loaded again at each change.

The server runs in a folder that is removed afterwards. Between it and the browser this process passes on every request and adds
one script to pages, which loads them again once the server has been replaced; so a server in earnest knows nothing of it.
"""

import http.client
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from socket import socket
from tempfile import TemporaryDirectory
from typing import Final

from domain.errors import Code, Refusal
from domain.rules import game_by_key
from services.serve.processes import console_script
from services.serve.sockets import address_of, listen

_EACH_SECONDS: Final = 0.5
"""How often files are looked at."""
_READY_SECONDS: Final = 60.0
_SCRIPT: Final = b"""
let known = null;
for (;;) {
  const now = await fetch("/playground-version").then((one) => one.text()).catch(() => null);
  if (known !== null && now !== null && now !== known) location.reload();
  known = now ?? known;
  await new Promise((done) => setTimeout(done, 500));
}
"""
_TAG: Final = b'<script type="module" src="/playground.js"></script></head>'
_OF_ONE_HOP: Final = {"connection", "keep-alive", "transfer-encoding", "content-length"}


def changed_at(folder: Path) -> dict[Path, int]:
    """Return when each file of a package was last written, in nanoseconds."""
    files = (path for path in folder.rglob("*") if "__pycache__" not in path.parts)
    return {path: path.stat().st_mtime_ns for path in files if path.is_file()}


def with_script(page: bytes) -> bytes:
    """Return an HTML page with the script that loads it again."""
    return page.replace(b"</head>", _TAG, 1)


class _Playground(ThreadingHTTPServer):
    """Passes on every request to the server that plays, and says how often that was replaced."""

    daemon_threads = True

    def __init__(self, listener: socket, inner: str) -> None:
        super().__init__(listener.getsockname()[:2], _Passed, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.inner: Final = inner
        self.replaced = 0


class _Passed(BaseHTTPRequestHandler):
    """One request of a browser."""

    server: _Playground
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer with the script, the number of replacements, or what the server answers."""
        if self.path == "/playground.js":
            self._answer(HTTPStatus.OK, [("Content-Type", "text/javascript")], _SCRIPT)
        elif self.path == "/playground-version":
            number = str(self.server.replaced).encode()
            self._answer(HTTPStatus.OK, [("Cache-Control", "no-store")], number)
        else:
            self._pass_on()

    do_POST = do_GET  # noqa: N815 - named by the library

    def _pass_on(self) -> None:
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = dict(self.headers.items()) | {"Accept-Encoding": "identity"}
        inner = http.client.HTTPConnection(self.server.inner, timeout=_READY_SECONDS)
        try:
            inner.request(self.command, self.path, sent or None, headers)
            answer = inner.getresponse()
            content = answer.read()
        except OSError as error:
            self.send_error(HTTPStatus.BAD_GATEWAY, f"the server can't be asked: {error}")
            return
        finally:
            inner.close()
        kept = [
            (name, text) for name, text in answer.getheaders() if name.lower() not in _OF_ONE_HOP
        ]
        is_page = (answer.getheader("Content-Type") or "").startswith("text/html")
        self._answer(answer.status, kept, with_script(content) if is_page else content)

    def _answer(self, status: int, headers: Iterable[tuple[str, str]], content: bytes) -> None:
        self.send_response_only(status)
        for name, text in headers:
            self.send_header(name, text)
        if status not in (HTTPStatus.NOT_MODIFIED, HTTPStatus.NO_CONTENT):
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - named by the library
        """Print nothing: the terminal is for what the game says."""


def run(key: str, at: str) -> int:
    """Serve the board until Ctrl-C; a change that breaks the game is printed, and the board stays as it was."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # or the server would be left behind
    game = game_by_key(key.lower())
    spec = find_spec(game.package)
    if spec is None or spec.origin is None:
        raise Refusal(Code.USAGE, f"the package of {game.key} has no folder to look at")
    with (
        TemporaryDirectory(prefix="matchpost-playground-") as data,
        listen("127.0.0.1:0") as free,
        listen(at, "--at") as listener,
    ):
        inner, outer = address_of(free), address_of(listener)
        free.close()
        places = ["--data", data, "--http", inner.removeprefix("http://"), "--smtp", "off"]
        with (
            subprocess.Popen(  # noqa: S603 - our own program
                [console_script(), "serve", *places],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            ) as server,
            _Playground(listener, inner.removeprefix("http://")) as playground,
        ):
            try:
                _play(server, playground, game.key, Path(spec.origin).parent, outer)
            except KeyboardInterrupt:
                return 0
            finally:
                server.send_signal(signal.SIGTERM)
    return 2


def _play(
    server: "subprocess.Popen[bytes]", playground: _Playground, key: str, folder: Path, outer: str
) -> None:
    """Replace the server at each change that a game survives; returns once the server has ended by itself."""
    assert server.stdout is not None, "it is a pipe"
    while server.stdout.readline().strip() != b"ready":
        if server.poll() is not None:
            sys.stderr.write("the server did not start; `matchpost serve` says why\n")
            return
    threading.Thread(target=playground.serve_forever, daemon=True).start()
    sys.stdout.write(f"Open {outer}/games/{key}/try in a browser. Ctrl-C ends it.\n")
    sys.stdout.flush()
    seen = changed_at(folder)
    while server.poll() is None:
        time.sleep(_EACH_SECONDS)
        now = changed_at(folder)
        if now == seen:
            continue
        seen = now
        checked = subprocess.run(  # noqa: S603 - our own program
            [console_script(), "check-game", key, "--matches", "1"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        sys.stdout.write(f"{time.strftime('%H:%M:%S')} {checked.stdout}{checked.stderr}\n")
        sys.stdout.flush()
        if checked.returncode <= 1:  # it can be loaded, even if it breaks a law
            server.send_signal(signal.SIGUSR2)
            while server.stdout.readline().strip() != b"ready" and server.poll() is None:
                pass
            playground.replaced += 1
