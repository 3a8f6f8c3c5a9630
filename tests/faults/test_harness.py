"""The harness's own parts: results and their table, the proxy, the library that notes syncs.

The firewall of the harness: what passes, what is cut, and what is closed when it heals.
"""

import contextlib
import socket
import socketserver
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from infra.process.failpoints import FAILPOINTS
from trials.faults import power, results, run
from trials.faults.firewall import Firewall
from trials.faults.proxy import Break, Proxy
from trials.faults.results import Outcome
from trials.faults.runs import ELSEWHERE, RUNS


def test_a_result_is_good_when_all_was_done_and_nothing_broke() -> None:
    outcome = Outcome(name="x", what="a fault", wanted=2, faults=2)
    assert outcome.good
    outcome.late = ["an outcome came 16.0 s after the restart"]
    assert outcome.good, "which a run by hand fails for"
    outcome.violations = ["I1: lost"]
    assert not outcome.good
    outcome.expected_to_fail = True
    assert outcome.good
    outcome.faults = 1
    assert not outcome.good


def test_the_table_is_written_into_its_page_and_nothing_else_is_touched(tmp_path: Path) -> None:
    page = tmp_path / "faults.md"
    page.write_text(f"before\n{results.BEGIN}old\n{results.END}after\n")
    found = Outcome(name="x", what="a fault", wanted=9, faults=3, acknowledged=1234, seconds=1.26)
    results.save(found, tmp_path / "results")
    results.write_table(page, tmp_path / "results")
    results.write_table(page, tmp_path / "results")
    text = page.read_text()
    assert "| `x` | a fault | 3 of 9 | 1,234 | 0 | 1.3 s |" in text
    assert "old" not in text
    assert text.startswith("before\n")
    assert text.endswith("after\n")


def test_there_is_a_run_for_every_point(monkeypatch, capsys) -> None:
    names = [one.name for one in RUNS]
    assert {f"kill-{point}" for point in FAILPOINTS if point not in ELSEWHERE} <= set(names)
    assert len(set(names)) == len(names)
    monkeypatch.setattr(sys, "argv", ["run.py", "--list"])
    assert run.main() == 0
    assert len(capsys.readouterr().out.splitlines()) == len(RUNS)


@contextlib.contextmanager
def echo():
    """A server that answers each line with the same line."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = listener.accept()
                with near:
                    while data := near.recv(100):
                        near.sendall(data)

    Thread(target=serve, daemon=True).start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def ask(port: int, line: bytes = b"12345678", seconds: float = 5) -> bytes | None:
    """What comes back; None for nothing in time."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as near:
        near.sendall(line)
        try:
            return near.recv(100)
        except ConnectionResetError:
            return b""
        except TimeoutError:
            return None


@pytest.mark.parametrize(
    ("what", "answer"),
    [(Break.LOST, b""), (Break.UNSENT, b""), (Break.SHORT, b"1234"), (Break.LATE, b"12345678")],
)
def test_the_proxy_breaks_the_exchange_it_is_told_to(what: Break, answer: bytes) -> None:
    with echo() as target, Proxy(target) as proxy:
        proxy.arm(what, 2)
        assert ask(proxy.port) == b"12345678"
        assert ask(proxy.port) == answer
        assert ask(proxy.port) == b"12345678"
        assert proxy.done == 1


def test_a_half_open_connection_says_nothing_and_stays() -> None:
    with echo() as target, Proxy(target) as proxy:
        proxy.arm(Break.SILENT, 1)
        assert ask(proxy.port, seconds=0.2) is None
        proxy.arm(Break.LOST, 1)
        proxy.disarm()
        assert ask(proxy.port) == b"12345678"


@pytest.mark.skipif(power.compiler() is None, reason="needs a C compiler, as cc")
def test_the_library_notes_how_long_a_log_was_when_it_was_synced(tmp_path: Path) -> None:
    built = power.library(tmp_path)
    script = (
        "import os\n"
        "log = os.open('x.incr.aof', os.O_CREAT | os.O_WRONLY)\n"
        "other = os.open('other', os.O_CREAT | os.O_WRONLY)\n"
        "os.write(log, bytes(7)); os.fdatasync(log); os.write(log, bytes(5))\n"
        "os.write(other, bytes(99)); os.fsync(other)\n"
    )
    env = {"LD_PRELOAD": str(built), "SYNCED_RECORD": str(tmp_path / "synced")}
    subprocess.run([sys.executable, "-c", script], env=env, cwd=tmp_path, check=True)
    assert (tmp_path / "synced").read_text().split() == [f"{7:020}", "x.incr.aof"]


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


def ask_server(near: socket.socket, seconds: float = 5) -> bytes | None:
    """What comes back; empty if the connection was closed, None for nothing in time."""
    near.settimeout(seconds)
    try:
        near.sendall(b"12345678")
        return near.recv(100)
    except (ConnectionResetError, BrokenPipeError):
        return b""
    except TimeoutError:
        return None


def test_connections_are_cut_silently_by_their_source_and_closed_when_they_heal(target: int):
    with Firewall() as firewall:
        port = firewall.guard(target)
        with connect(port) as near, connect(port, "127.0.0.1") as other:
            assert ask_server(near) == b"12345678"
            firewall.cut(lambda source, to: source == SOURCE and to == target, silently=True)
            assert ask_server(near, 0.2) is None
            assert ask_server(other) == b"12345678"
            with connect(port) as new:
                assert ask_server(new, 0.2) is None
                firewall.heal()
                assert ask_server(near) == b"", "bytes were lost on it"
                assert ask_server(new) == b""
            assert ask_server(other) == b"12345678", "nothing was lost on it"
        with connect(port) as again:
            assert ask_server(again) == b"12345678"


def test_connections_that_are_not_cut_silently_are_closed_at_once(target: int) -> None:
    with Firewall() as firewall:
        port = firewall.guard(target)
        with connect(port) as near:
            assert ask_server(near) == b"12345678"
            firewall.cut(lambda _source, _target: True, silently=False)
            assert ask_server(near) == b""
            with connect(port) as new:
                assert ask_server(new) == b""
            firewall.heal()
        with connect(port) as again:
            assert ask_server(again) == b"12345678"


def test_a_server_that_does_not_run_refuses_connections_through_it() -> None:
    with Firewall() as firewall, socket.create_server(("127.0.0.1", 0)) as listener:
        port = firewall.guard(listener.getsockname()[1])
        listener.close()
        with connect(port) as near:
            assert ask_server(near) == b""
