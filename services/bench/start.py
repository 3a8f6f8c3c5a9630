"""Time until a server is ready: on an empty directory, and with matches to load."""

import os
import subprocess
import time
from pathlib import Path

from services.bench.baselines.redis_only import decide_all, submit_and_commit
from services.bench.harness import BenchEnvironment, new_store
from services.bench.report import Report, median_and_p99
from services.bench.workload import endless, moves, starts
from services.serve.processes import console_script
from workers.commands.drain import BATCH

_TIMES = 5


def run(bench: BenchEnvironment, matches: int, plies: int) -> Report:
    """Measure; the rate is starts a second on an empty directory, one after the other."""
    empty = [_start(bench.folder / f"empty-{n}") for n in range(_TIMES)]
    full = bench.folder / "full"
    load = _fill(bench, "full", matches, plies)
    details = {
        "seconds until ready, empty directory": [round(seconds, 3) for seconds in empty],
        "matches to load": matches,
        "plies of each": plies,
        "server's load seconds": round(load, 3),
        "seconds until ready, with them": round(_start(full), 3),
        "matchpost --help, us": median_and_p99([_help() for _ in range(11)]),
        **bench.disk(),
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
            raise RuntimeError("Popen returned no pipe")
        ready = any(line == "ready\n" for line in process.stdout)
        seconds = time.perf_counter() - began
        process.terminate()
    if not ready:
        raise RuntimeError("serve ended without saying ready")
    return seconds


def _fill(bench: BenchEnvironment, name: str, matches: int, plies: int) -> float:
    """Fill a data directory; return the seconds that the server takes to load it."""
    task = bench.progress.add_task(f"{matches} matches to load", total=matches)
    with bench.server(name) as server, server.client() as client:
        store = new_store(client, 1)
        chunk = 500
        for first in range(1, matches + 1, chunk):
            played = endless(min(chunk, matches + 1 - first), plies, first)
            prepared = decide_all([*starts(played), *moves(played)], {})
            for at in range(0, len(prepared), BATCH):
                submit_and_commit(store, prepared[at : at + BATCH])
            bench.progress.advance(task, len(played))
    with bench.server(name) as server:
        return server.load_seconds


def _help() -> float:
    began = time.perf_counter()
    subprocess.run([console_script(), "--help"], check=True, stdout=subprocess.DEVNULL)  # noqa: S603
    return time.perf_counter() - began
