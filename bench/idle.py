"""The cost of a server that nobody uses, and how soon it answers, beside the least that any server would cost.

A real `serve` with its default settings, on data that has one match. It is started `runs` times: each time the
seconds until `ready`, until the first page and until the first move are taken. Then nobody uses it. The peer in the
same run is a bare Valkey, which syncs each write, and one web process that answers every request with an empty page.
Linux only: memory and processor time are read from /proc.
"""

import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Final, NamedTuple

from bench.free_ports import free_port
from bench.harness import BenchEnvironment
from bench.lone import CommandCounts, count_commands
from bench.report import Report
from bench.served import serving, start_matches
from bench.workload import games
from infra.redis.clients import make_client
from infra.settings.settings import Settings
from infra.valkey.server import queue_url, socket_url
from services.serve.processes import console_script

_PEER: Final = """
import socket, sys, uvicorn
async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})
listening = socket.socket(fileno=int(sys.argv[1]))
uvicorn.Server(uvicorn.Config(app, lifespan="off", log_level="error")).run(sockets=[listening])
"""

_PEER_NAME: Final = "a bare Valkey and an empty web process"
_THOUSANDTHS: Final = 1_000
_HOUR: Final = 3_600
_ANSWER_SECONDS: Final = 60.0
_STEP_SECONDS: Final = 0.01
_TRIES: Final = 100
_PAGE: Final = b"GET / HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n"
_OK: Final = b"HTTP/1.1 200 "

# the scrubber works once an hour, and looks at all that is stored
_VARIABLES: Final = {"MATCHPOST_SCRUB_PERCENT": "0"}


class _Start(NamedTuple):
    """Seconds from the start of the program until something was so for the first time."""

    ready: float
    page: float
    move: float
    processor: float
    """Seconds of the processor that all processes had taken by then."""


class _Rest(NamedTuple):
    """The needs of a server while nobody uses it."""

    processes: int
    pss_mib: float
    core_percent: float
    ended: int
    """Processes that were there at first, and have ended meanwhile; their processor time counts."""


def run(bench: BenchEnvironment, runs: int, settle: int, seconds: int) -> Report:
    """Measure; the rate is that of starts, each until its first page.

    It settles for so many seconds after the last start, and is then measured for `seconds`.
    """
    (game,) = games(1)
    with serving(bench, "idle", **_VARIABLES) as served:
        moves = start_matches(served.data, [game])[game.board]
    starts, peers = [], []
    for number in range(runs):
        # in turn, because the machine's speed changes with its other work
        with _peer(bench) as (page, *_):
            peers.append(page)
        with _server(bench, moves[number]) as (start, root):
            starts.append(start)
            if number == runs - 1:
                time.sleep(settle)
                rest, an_hour = _left_alone(bench.folder / "idle", root, seconds)
    with _peer(bench) as (_, *roots):
        time.sleep(settle)
        bare = _rest_of(roots, seconds)
    medians = {
        name: round(statistics.median(values), 2)
        for name, values in zip(_Start._fields, zip(*starts, strict=True), strict=True)
    }
    return Report(
        rate=_THOUSANDTHS / medians["page"],
        unit="thousandths of a start",
        peers={_PEER_NAME: _THOUSANDTHS / statistics.median(peers)},
        details={
            "seconds until": medians,
            "at rest": {**rest._asdict(), **an_hour},
            "peer": {"page": round(statistics.median(peers), 2), **bare._asdict()},
            "runs": runs,
            "seconds": seconds,
            **bench.disk(),
        },
    )


@contextmanager
def _server(bench: BenchEnvironment, move: bytes) -> Iterator[tuple[_Start, int]]:
    """Start the server, send a move when it has answered a page, and yield the times and its process id."""
    port = free_port()
    clean = {k: v for k, v in os.environ.items() if not k.startswith("MATCHPOST_")}
    places = {
        "MATCHPOST_DATA": str(bench.folder / "idle"),
        "MATCHPOST_HTTP": f"127.0.0.1:{port}",
    }
    began = time.monotonic()
    with subprocess.Popen(  # noqa: S603 - our own command
        [console_script(), "serve"],
        env={**clean, **bench.variables(), **_VARIABLES, **places},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        ready: list[float] = []
        lines = process.stdout
        assert lines is not None

        def listen() -> None:
            ready.extend(time.monotonic() - began for line in lines if line == "ready\n")

        Thread(target=listen, daemon=True).start()
        try:
            page = _until(lambda: _ask(port, _PAGE).startswith(_OK), began)
            last = move.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1)
            moved = _until(lambda: b'"accepted":true' in _ask(port, last), began)
            _until(lambda: ready, began)
            yield _Start(ready[0], page, moved, _processor([process.pid])), process.pid
        finally:
            process.terminate()


@contextmanager
def _peer(bench: BenchEnvironment) -> Iterator[tuple[float, int, int]]:
    """Start the peer, and yield the seconds until its first page, and its process ids."""
    began = time.monotonic()
    with ExitStack() as stack:
        server = stack.enter_context(bench.server("bare"))
        listening = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        port, fd = listening.getsockname()[1], listening.fileno()
        web = stack.enter_context(
            subprocess.Popen([sys.executable, "-c", _PEER, str(fd)], pass_fds=[fd])  # noqa: S603
        )
        stack.callback(web.terminate)
        page = _until(lambda: _ask(port, _PAGE).startswith(_OK), began)
        assert server.pid is not None
        yield page, server.pid, web.pid


def _ask(port: int, request: bytes) -> bytes:
    """Return the whole answer to a request; nothing if nobody answers."""
    try:
        with socket.create_connection(("127.0.0.1", port), _ANSWER_SECONDS) as asking:
            asking.sendall(request)
            return b"".join(iter(lambda: asking.recv(65_536), b""))
    except ConnectionError:
        return b""


def _until(condition: Callable[[], object], began: float) -> float:
    """Wait for a condition, and return the seconds since `began`."""
    while not condition():
        if time.monotonic() - began > _ANSWER_SECONDS:
            raise RuntimeError("the server did not answer in time")
        time.sleep(_STEP_SECONDS)
    return time.monotonic() - began


def _left_alone(data: Path, root: int, seconds: int) -> tuple[_Rest, dict[str, int]]:
    """Return what a server takes at rest, and how much both of its Valkeys do in an hour."""
    settings = Settings(data=data)
    with make_client(socket_url(data)) as moves, make_client(queue_url(settings)) as queue:
        servers = (moves, queue)
        before = [count_commands(server) for server in servers]
        rest = _rest_of([root], seconds)
        after = [count_commands(server) for server in servers]
    hours = (after[0].at - before[0].at) / _HOUR
    return rest, {
        "commands_an_hour": round((_commands(after) - _commands(before)) / hours),
        "log_bytes_an_hour": round((after[0].aof_bytes - before[0].aof_bytes) / hours),
    }


def _commands(counts: Sequence[CommandCounts]) -> int:
    return sum(sum(one.commands.values()) for one in counts)


def _rest_of(roots: Sequence[int], seconds: int) -> _Rest:
    """Watch processes and all below them for so many seconds."""
    first, before, began = _trees(roots), _processor(roots), time.monotonic()
    time.sleep(seconds)
    share = (_processor(roots) - before) / (time.monotonic() - began)
    last = _trees(roots)
    memory = round(sum(map(_pss, last)) / 1024, 1)
    return _Rest(len(last), memory, round(100 * share, 2), len(set(first) - set(last)))


def _trees(roots: Sequence[int]) -> list[int]:
    """Return the ids of processes and of all below them."""
    found = list(roots)
    for pid in found:
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            for task in Path(f"/proc/{pid}/task").iterdir():
                with suppress(FileNotFoundError, ProcessLookupError):
                    found += map(int, (task / "children").read_text().split())
    return found


def _processor(roots: Sequence[int]) -> float:
    """Return the seconds of the processor that processes and all below them have taken, those that have ended, too."""
    for _ in range(_TRIES):
        there = _trees(roots)
        with suppress(FileNotFoundError, ProcessLookupError):
            ticks = sum(map(_ticks, there))
            # one that ended meanwhile would count twice, or not at all
            if _trees(roots) == there:
                return ticks / os.sysconf("SC_CLK_TCK")
    raise RuntimeError("processes come and go so fast that their time can't be read")


def _ticks(pid: int) -> int:
    """Return the ticks of the processor that a process has taken, with those of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15]))


def _pss(pid: int) -> int:
    """Return the memory of a process in KiB, with its share of pages that several have; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):  # it has ended
        return 0
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
