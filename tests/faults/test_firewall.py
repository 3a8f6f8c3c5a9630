"""The firewall of the harness: what passes, what is cut, and what is closed when it heals."""

import contextlib
import socket
import socketserver
from collections.abc import Iterator
from threading import Thread

import pytest

from trials.faults.firewall import Firewall

SOURCE = "127.0.0.77"


class Echo(socketserver.BaseRequestHandler):
    """Answers with what was sent."""

    def handle(self) -> None:
        with contextlib.suppress(OSError):
            while data := self.request.recv(100):
                self.request.sendall(data)


@pytest.fixture
def target() -> Iterator[int]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Echo) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def connect(port: int, source: str = SOURCE) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=5, source_address=(source, 0))


def ask(near: socket.socket, seconds: float = 5) -> bytes | None:
    """What comes back; empty if the connection was closed, None for nothing in time."""
    near.settimeout(seconds)
    try:
        near.sendall(b"12345678")
        return near.recv(100)
    except (ConnectionResetError, BrokenPipeError):
        return b""
    except TimeoutError:
        return None


def test_connections_are_cut_silently_by_their_source_and_closed_when_they_heal(
    target: int,
) -> None:
    with Firewall() as firewall:
        port = firewall.guard(target)
        with connect(port) as near, connect(port, "127.0.0.1") as other:
            assert ask(near) == b"12345678"
            firewall.cut(lambda source, to: source == SOURCE and to == target, silently=True)
            assert ask(near, 0.2) is None
            assert ask(other) == b"12345678"
            with connect(port) as new:
                assert ask(new, 0.2) is None
                firewall.heal()
                assert ask(near) == b"", "bytes were lost on it"
                assert ask(new) == b""
            assert ask(other) == b"12345678", "nothing was lost on it"
        with connect(port) as again:
            assert ask(again) == b"12345678"


def test_connections_that_are_not_cut_silently_are_closed_at_once(target: int) -> None:
    with Firewall() as firewall:
        port = firewall.guard(target)
        with connect(port) as near:
            assert ask(near) == b"12345678"
            firewall.cut(lambda _source, _target: True, silently=False)
            assert ask(near) == b""
            with connect(port) as new:
                assert ask(new) == b""
            firewall.heal()
        with connect(port) as again:
            assert ask(again) == b"12345678"


def test_a_server_that_does_not_run_refuses_connections_through_it() -> None:
    with Firewall() as firewall, socket.create_server(("127.0.0.1", 0)) as listener:
        port = firewall.guard(listener.getsockname()[1])
        listener.close()
        with connect(port) as near:
            assert ask(near) == b""
