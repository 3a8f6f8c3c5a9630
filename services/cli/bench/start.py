"""How soon a server is there: on an empty directory, and with matches to load."""

import os
import subprocess
import time
from pathlib import Path

from services.cli.bench.limit_peer import decided, write
from services.cli.bench.report import Report, median_and_p99
from services.cli.bench.rig import Place, new_store
from services.cli.bench.workload import endless, moves, starts
from services.serve.workers import console_script
from workers.commands.drain import BATCH

_TIMES = 5


def run(where: Place, matches: int, plies: int) -> Report:
    """Measure; the headline is starts a second on an empty directory, one after the other."""
    empty = [_start(where.folder / f"empty-{n}") for n in range(_TIMES)]
    full = where.folder / "full"
    load = _fill(where, "full", matches, plies)
    details = {
        "seconds until ready, empty directory": [round(seconds, 3) for seconds in empty],
        "matches to load": matches,
        "plies of each": plies,
        "server's load seconds": round(load, 3),
        "seconds until ready, with them": round(_start(full), 3),
        "matchpost --help, us": median_and_p99([_help() for _ in range(11)]),
        **where.disk(),
    }
    return Report(rate=len(empty) / sum(empty), unit="starts", peers={}, details=details)


def _start(data: Path) -> float:
    """Return the seconds from the command to the line `ready`; then stop the server."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("MATCHPOST_")}
    clean["MATCHPOST_HTTP"] = "127.0.0.1:0"
    began = time.perf_counter()
    with subprocess.Popen(  # noqa: S603 - our own command
        [console_script(), "serve", "--data", data],
        env=clean,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        if process.stdout is None:
            raise RuntimeError("a pipe was asked for")
        ready = any(line == "ready\n" for line in process.stdout)
        seconds = time.perf_counter() - began
        process.terminate()
    if not ready:
        raise RuntimeError("serve ended without saying ready")
    return seconds


def _fill(where: Place, name: str, matches: int, plies: int) -> float:
    """Fill a data directory, and give the seconds the server takes to load it again."""
    task = where.progress.add_task(f"{matches} matches to load", total=matches)
    with where.server(name) as server, server.client() as client:
        store = new_store(client, 1)
        chunk = 500
        for first in range(1, matches + 1, chunk):
            played = endless(min(chunk, matches + 1 - first), plies, first)
            prepared = decided([*starts(played), *moves(played)], {})
            for at in range(0, len(prepared), BATCH):
                write(store, prepared[at : at + BATCH])
            where.progress.advance(task, len(played))
    with where.server(name) as server:
        return server.load_seconds


def _help() -> float:
    began = time.perf_counter()
    subprocess.run([console_script(), "--help"], check=True, stdout=subprocess.DEVNULL)  # noqa: S603
    return time.perf_counter() - began
