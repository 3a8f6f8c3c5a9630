"""How long one command of the terminal takes, beside other programs that one types in a shell.

A real `serve`, on which two players have a match. Each round runs each command once, turn by turn, so that a busy
machine is as busy for all of them. *Alone* is the same command with the variable that keeps it from asking the
server that runs, as where only the data can be reached. The peers are `git status` in a small repository,
`redis-cli ping` (or Valkey's) where it is installed, and a Python that does nothing, which is the least that a command in
Python takes. Processor time is that of the command; what the server takes to answer is counted apart.
"""

import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Final, NamedTuple

from bench.harness import BenchEnvironment
from bench.processor import processor_seconds
from bench.report import Report
from bench.served import Served, serving
from bench.workload import endless
from infra.valkey.directory import DataDirectory
from services.serve.processes import console_script

_SHOW: Final = "pow2 show 1"
_PLAYERS: Final = (("alice", "mad-hatter"), ("bob", "yes-we-can"))
_ALONE: Final = {"MATCHPOST_DEBUG": "1"}


class _Use(NamedTuple):
    """The time of a command, in seconds."""

    wall: float
    processor: float


def run(bench: BenchEnvironment, rounds: int) -> Report:
    """Measure so many rounds; the rate is that of boards shown one after the other."""
    uses: dict[str, list[_Use]] = {}
    with serving(bench, "terminal", MATCHPOST_COMMAND_RATE="300") as served:
        env = _environment(served)
        moves = _moves()
        _prepare(env)
        for _ in bench.progress.track(range(rounds), description="rounds"):
            for name, words, more in _commands(bench.folder, served.data, moves):
                uses.setdefault(name, []).append(_use(words, {**env, **more}))
        shows = _server_ms(served, env, [_SHOW] * rounds)
        played = _server_ms(served, env, [next(moves) for _ in range(rounds)])
    walls = {name: statistics.median(use.wall for use in each) for name, each in uses.items()}
    peers = [name for name in walls if not name.startswith("matchpost")]
    return Report(
        rate=1 / walls["matchpost do, show"],
        unit="commands",
        peers={name: 1 / walls[name] for name in peers},
        details={
            "ms at the median": {
                name: {"clock": round(1_000 * walls[name], 1), "processor": _processor_ms(each)}
                for name, each in uses.items()
            },
            "processor ms of the server's processes": {"show": shows, "move": played},
            "rounds": rounds,
            **bench.disk(),
        },
    )


def _environment(served: Served) -> dict[str, str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith("MATCHPOST_")}
    # a login of the user that runs this would name another server
    nowhere = {"XDG_CONFIG_HOME": str(served.data.parent)}
    return {**clean, **nowhere, "MATCHPOST_DATA": str(served.data)}


def _prepare(env: Mapping[str, str]) -> None:
    """Sign both players up, and start their match."""
    for name, password in _PLAYERS:
        _use(_do(f"signup {name} {password}"), env)
    _use(_do("pow2 challenge alice bob"), env)
    _use(_do("pow2 move 1 bob yes-we-can accept"), env)


def _moves() -> Iterator[str]:
    """Yield the lines of moves without end, both players in turn."""
    (game,) = endless(1, 4)
    for (name, password), text in zip(cycle(_PLAYERS), cycle(game.moves), strict=True):
        yield f"pow2 move 1 {name} {password} {text}"


def _do(line: str) -> list[str]:
    return [str(console_script()), "do", line]


def _commands(
    folder: Path, data: Path, moves: Iterator[str]
) -> Iterator[tuple[str, Sequence[str], Mapping[str, str]]]:
    """Yield the commands of a round: name, words, and further variables."""
    yield "python", [sys.executable, "-c", "pass"], {}
    if git := shutil.which("git"):
        repository = folder / "repository"
        if not repository.exists():
            subprocess.run([git, "init", "--quiet", repository], check=True)  # noqa: S603
            (repository / "file").write_text("text\n")
        yield "git status", [git, "-C", str(repository), "status"], {}
    for client in filter(None, map(shutil.which, ("valkey-cli", "redis-cli"))):
        place = str(DataDirectory(data).known_socket())
        yield f"{Path(client).name} ping", [client, "-s", place, "ping"], {}
    yield "matchpost --help", [str(console_script()), "--help"], {}
    yield "matchpost do, show", _do(_SHOW), {}
    yield "matchpost do, move", _do(next(moves)), {}
    yield "matchpost do, show, alone", _do(_SHOW), _ALONE
    yield "matchpost do, move, alone", _do(next(moves)), _ALONE


def _use(words: Sequence[str], env: Mapping[str, str]) -> _Use:
    """Run a command, which must succeed, and return what it took."""
    began = time.perf_counter()
    process = subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL)  # noqa: S603 - our own
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{words} ended with {process.returncode}")
    return _Use(wall, used.ru_utime + used.ru_stime)


def _processor_ms(uses: Sequence[_Use]) -> float:
    return round(1_000 * statistics.median(use.processor for use in uses), 1)


def _server_ms(served: Served, env: Mapping[str, str], lines: Sequence[str]) -> float:
    """Return what the processes of the server take for one of these lines, in ms of the processor."""
    before = sum(processor_seconds(served.pid).values())
    for line in lines:
        _use(_do(line), env)
    return round(1_000 * (sum(processor_seconds(served.pid).values()) - before) / len(lines), 1)
