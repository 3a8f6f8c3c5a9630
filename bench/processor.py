"""Processor time: of a server's processes, by role (Linux only, empty elsewhere), and of this process beside its server."""

import os
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import redis

_PROC: Final = Path("/proc")


def processor_seconds(parent: int) -> dict[str, float]:
    """Return the processor time of each child of a `serve`, in seconds, by its role."""
    ticks = os.sysconf("SC_CLK_TCK")
    found: dict[str, float] = defaultdict(float)
    for pid, fields in _processes():
        if int(fields[1]) == parent:  # ppid
            found[_role(pid)] += _ticks(fields) / ticks
    return found


def process_seconds(pid: int) -> float:
    """Return the processor time of a process, in seconds; 0 where it is not known."""
    ticks = os.sysconf("SC_CLK_TCK")
    return sum(_ticks(fields) / ticks for found, fields in _processes() if found == str(pid))


def _ticks(fields: list[str]) -> int:
    """Return the sum of utime and stime."""
    return int(fields[11]) + int(fields[12])


def _processes() -> Iterator[tuple[str, list[str]]]:
    """Yield the id of each process, and the fields of its `stat` after the name."""
    for place in _PROC.glob("[0-9]*"):
        try:
            text = (place / "stat").read_text()
        except OSError:  # it has ended
            continue
        yield place.name, text.rpartition(")")[2].split()


def _role(pid: str) -> str:
    """Return the subcommand of a `matchpost`, or the name of another program."""
    words = (_PROC / pid / "cmdline").read_text().split("\0")
    script = [n for n, word in enumerate(words) if Path(word).name == "matchpost"]
    return words[script[0] + 1] if script else Path(words[0].split()[0]).name


class Cost:
    """The processor time of this process and of a client's server, and the server's commands, from now on."""

    def __init__(self, client: redis.Redis) -> None:
        # redis-py types no answer precisely
        self._client: Any = client
        self._before = self._read()

    def of_each(self, count: int) -> dict[str, float]:
        """Return the seconds since the beginning, and for each of so many the processor time and the commands."""
        pairs = zip(self._before, self._read(), strict=True)
        seconds, own, server, commands = (after - before for before, after in pairs)
        return {
            "seconds": round(seconds, 2),
            "us of the process": round(1e6 * own / count, 1),
            "us of the server": round(1e6 * server / count, 1),
            "commands": round((commands - _OWN_COMMANDS) / count, 2),
        }

    def _read(self) -> tuple[float, float, float, int]:
        """Return the time, the processor times of the process and of the server, and the server's commands."""
        with self._client.pipeline(transaction=False) as pipe:
            pipe.info("cpu")
            pipe.info("stats")
            cpu, stats = pipe.execute()
        server = cpu["used_cpu_user"] + cpu["used_cpu_sys"]
        commands = int(stats["total_commands_processed"])
        return time.perf_counter(), time.process_time(), server, commands


_OWN_COMMANDS: Final = 2
"""Of a reading of the figures."""
