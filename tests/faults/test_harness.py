"""The harness's own parts: results and their table, the proxy, the firewall, the library that notes syncs; a sample of its runs.

`trials/faults/run.py` does the full figures by hand.
"""

import contextlib
import socket
import socketserver
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from threading import Thread

import pytest

from infra.process.failpoints import FAILPOINTS
from trials.faults import kills, log_kills, poison, power, proxy, results, run
from trials.faults.firewall import Firewall
from trials.faults.proxy import Break, Proxy
from trials.faults.results import Outcome
from trials.faults.runs import ELSEWHERE, LOG_POINTS, RUNS
from trials.faults.web import WEB_POINTS

NO_COMPILER = pytest.mark.skipif(
    power.compiler() is None, reason="needs a C compiler, as cc, for the library that notes syncs"
)
NO_MOUNT = pytest.mark.skipif(
    not power.may_mount(), reason="needs to mount a small tmpfs, which root may"
)


def log_points(*points: str) -> Callable[[Path], Outcome]:
    return partial(log_kills.at_log_points, list(points), 1)


SAMPLES: dict[str, tuple[Callable[[Path], Outcome], list[pytest.MarkDecorator]]] = {
    "a worker killed at every point": (partial(kills.walk, kills.WORKER_POINTS), []),
    "a door killed": (partial(kills.at_points, kills.DOOR_POINTS, 1), []),
    "the scheduler killed": (partial(kills.at_points, kills.KEEPER_POINTS, 1), []),
    "the server killed as it starts": (partial(kills.at_points, kills.SERVE_POINTS, 1), []),
    "a web process killed on the way in": (partial(kills.through_http, WEB_POINTS, 1), []),
    "the publisher killed": (log_points("publish.created", "publish.signed", "publish.stored"), []),
    "a retirement killed": (log_points("retire.written", "retire.removed"), []),
    "a restore killed": (log_points(*log_kills.RESTORE_POINTS), []),
    "processes killed by chance": (partial(kills.random_kills, 2), []),
    "the server killed under load": (partial(kills.servers, 2), []),
    "the queue's server killed under load": (partial(kills.queues, 3), []),
    "overtaken after the decision": (partial(kills.zombies, "drain.decided", 1), []),
    "overtaken after the commit": (partial(kills.zombies, "commit.answered", 1), []),
    "power lost": (partial(power.cuts, 2), [NO_COMPILER]),
    "replies lost": (partial(proxy.replies, 10), []),
    "commands sent up to five times": (partial(proxy.copies, 300), []),
    "poisoned decisions": (partial(poison.doses, 4), []),
    "the disk full": (partial(power.disk, 1), [NO_MOUNT]),
    "the memory full": (partial(power.memory, 1), []),
}
"""What is done to a server under load, and what keeps it from being done here."""


@pytest.mark.long
@pytest.mark.parametrize(
    "sample", [pytest.param(one, marks=marks, id=name) for name, (one, marks) in SAMPLES.items()]
)
def test_each_acknowledged_command_has_exactly_one_outcome_after(sample, tmp_path) -> None:
    outcome = sample(tmp_path)
    assert outcome.good, f"{outcome.name}: {outcome.faults} done, {outcome.violations}"


@pytest.mark.long
@NO_COMPILER
def test_the_same_power_loss_loses_acknowledged_commands_under_everysec(tmp_path) -> None:
    outcome = power.first_loss(8, tmp_path)
    assert outcome.good, f"{outcome.faults} done, {outcome.violations}"
    assert any("acknowledged and has no outcome" in found for found in outcome.violations)


def test_there_is_a_run_for_every_point_and_the_samples_have_those_of_moves(monkeypatch, capsys):
    groups = (kills.WORKER_POINTS, kills.DOOR_POINTS, kills.KEEPER_POINTS, kills.SERVE_POINTS)
    of_moves = [point for group in groups for point in group]
    assert sorted([*of_moves, *LOG_POINTS, *ELSEWHERE]) == sorted(FAILPOINTS)
    names = [one.name for one in RUNS]
    assert {f"kill-{point}" for point in FAILPOINTS if point not in ELSEWHERE} <= set(names)
    assert len(set(names)) == len(names)
    monkeypatch.setattr(sys, "argv", ["run.py", "--list"])
    assert run.main() == 0
    assert len(capsys.readouterr().out.splitlines()) == len(RUNS)


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
    for _ in range(2):
        results.write_table(page, tmp_path / "results")
    text = page.read_text()
    assert "| `x` | a fault | 3 of 9 | 1,234 | 0 | 1.3 s |" in text
    assert (text[:7], text[-6:], "old" in text) == ("before\n", "after\n", False)
    assert results.table(results.load()) in results.PAGE.read_text()


# what breaks connections


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


SOURCE = "127.0.0.77"


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


def ask_again(port: int, seconds: float = 5) -> bytes | None:
    with connect(port) as near:
        return ask(near, seconds)


@pytest.mark.parametrize(
    ("what", "answer"),
    [(Break.LOST, b""), (Break.UNSENT, b""), (Break.SHORT, b"1234"), (Break.LATE, b"12345678")],
)
def test_the_proxy_breaks_the_exchange_it_is_told_to(target: int, what: Break, answer: bytes):
    with Proxy(target) as proxy:
        proxy.arm(what, 2)
        assert [ask_again(proxy.port) for _ in range(3)] == [b"12345678", answer, b"12345678"]
        assert proxy.done == 1


def test_a_half_open_connection_says_nothing_and_stays(target: int) -> None:
    with Proxy(target) as proxy:
        proxy.arm(Break.SILENT, 1)
        assert ask_again(proxy.port, seconds=0.2) is None
        proxy.arm(Break.LOST, 1)
        proxy.disarm()
        assert ask_again(proxy.port) == b"12345678"


@NO_COMPILER
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


def test_connections_are_cut_silently_by_their_source_and_closed_when_they_heal(target: int):
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
        assert ask_again(port) == b"12345678"


def test_connections_that_are_not_cut_silently_or_whose_server_is_gone_are_closed(target: int):
    with Firewall() as firewall, socket.create_server(("127.0.0.1", 0)) as listener:
        port, gone = firewall.guard(target), firewall.guard(listener.getsockname()[1])
        listener.close()
        assert ask_again(gone) == b""
        with connect(port) as near:
            assert ask(near) == b"12345678"
            firewall.cut(lambda _source, _target: True, silently=False)
            assert ask(near) == b""
            assert ask_again(port) == b""
            firewall.heal()
        assert ask_again(port) == b"12345678"
