"""`matchpost verify --all`: all matches and logs of a server, checked by all processors.

The matches are over and not retired: their events are in the server, their leaves in the published log. They are spread
as in correspondence play: all matches move in turn, each time in another order, so that nearly each leaf of a match is in
another bundle.
"""

import os
import random
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import chain, islice
from multiprocessing import get_context
from pathlib import Path

import redis

from bench.baselines.redis_only import decide_all, submit_and_commit
from bench.harness import SHARDS, BenchEnvironment, new_store
from bench.published import publish_and_trim, write_keys
from bench.report import Report
from bench.workload import SEED, endless, moves, resignations, starts
from domain.clocks.time_control import TimeControl
from domain.match.history import Snapshot
from infra.audit.leaf_totals import new_secret
from infra.redis import keys
from infra.settings.settings import Settings
from services.cli.verify_all import Findings, begin_process, check_everything
from workers.commands.drain import BATCH


def run(bench: BenchEnvironment, matches: int, plies: int) -> Report:
    """Check so many matches; the rate is matches checked a second."""
    folder = bench.folder / "log"
    with bench.server("verify") as server, server.client() as client:
        _fill(bench, client, folder, matches, plies)
        client.set(keys.BOARDS, matches)
        settings = Settings(
            data=bench.folder,
            redis_url=server.url,
            store=folder.absolute().as_uri(),
            keys=write_keys(bench.folder / "keys"),
        )
        began = time.perf_counter()
        found = _check(bench, settings)
        seconds = time.perf_counter() - began
    if faults := [*found.faults, *found.not_compared]:
        raise RuntimeError(f"{len(faults)} faults, the first: {faults[0]}")
    return Report(
        rate=matches / seconds,
        unit="matches",
        peers={},
        details={
            "matches": found.matches.matches,
            "plies": plies,
            "events": found.matches.events,
            "leaves": sum(one.end for one in found.shards.values()),
            "processes": os.cpu_count(),
            "seconds": round(seconds, 1),
            **bench.disk(),
        },
    )


def _fill(
    bench: BenchEnvironment, client: redis.Redis, folder: Path, matches: int, plies: int
) -> None:
    """Commit whole matches that end by a resignation, and publish their leaves."""
    store, played = new_store(client, 1), endless(matches, plies)
    shuffled = moves(played, random.Random(SEED))  # noqa: S311 - a workload, not a secret
    orders = chain(starts(played, TimeControl()), shuffled, resignations(played))
    task = bench.progress.add_task(f"{matches} matches", total=matches * (plies + 2))
    snapshots: dict[int, Snapshot] = {}
    while batch := list(islice(orders, BATCH)):
        submit_and_commit(store, decide_all(batch, snapshots))
        bench.progress.advance(task, len(batch))
    publish_and_trim(client, store, folder)
    bench.progress.remove_task(task)


def _check(bench: BenchEnvironment, settings: Settings) -> Findings:
    tasks = {what: bench.progress.add_task(what) for what in ("logs", "matches")}
    context = get_context("spawn")
    with ProcessPoolExecutor(
        os.cpu_count(), context, begin_process, (settings, new_secret())
    ) as pool:
        return check_everything(
            pool,
            SHARDS,
            lambda what, done, total: bench.progress.update(
                tasks[what], completed=done, total=total
            ),
        )
