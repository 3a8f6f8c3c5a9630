"""`matchpost verify --all`: all matches and logs of a server, checked by all processors.

The matches are over and not retired: their events are in the server, their leaves in the published log. They are spread
as in correspondence play: all matches move in turn, each time in another order, so that nearly each leaf of a match is in
another bundle.
"""

import os
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from bench.baselines.redis_only import play_to_the_end
from bench.harness import SHARDS, BenchEnvironment, new_store
from bench.published import publish_and_trim, write_keys
from bench.report import Report
from bench.workload import endless
from infra.audit.leaf_totals import new_secret
from infra.redis import keys
from infra.settings.settings import Settings
from services.cli.verify_all import Findings, begin_process, check_everything


def run(bench: BenchEnvironment, matches: int, plies: int) -> Report:
    """Check so many matches; the rate is matches checked a second."""
    folder = bench.folder / "log"
    with bench.server("verify") as server, server.client() as client:
        store = new_store(client, 1)
        play_to_the_end(bench, store, endless(matches, plies))
        publish_and_trim(client, store, folder)
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
