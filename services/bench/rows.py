"""Rows of finished matches: memory before and after they are moved to row pages, and reading them back.

Players meet by chance, and each plays so many matches that most of a list is in pages. What is measured is the
memory of the projections `lists` and `history` alone.
"""

import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
import redis

from domain.match.events import AccountId
from infra.objects.files import FileObjects
from infra.projections.finished_matches import FinishedMatches
from infra.projections.match_lists import MatchFilter, MatchLists
from infra.projections.row_pages import RowPages
from infra.projections.specs import HISTORY, LISTS
from infra.store.redis_store import RedisStore
from services.bench.baselines.redis_only import decide_all, submit_and_commit
from services.bench.harness import BenchEnvironment, new_store
from services.bench.memory import used_memory
from services.bench.report import Report, median_and_p99
from services.bench.workload import endless, moves, resignations, starts
from workers.commands.drain import BATCH
from workers.projections import PROJECTIONS
from workers.projections.offload import RowOffload
from workers.projections.worker import ProjectionWorker

_CHUNK: Final = 5_000
_READS: Final = 200
_SHOWN: Final = 50
"""Rows of one answer."""


def run(bench: BenchEnvironment, matches: int, players: int) -> Report:
    """Finish so many matches, move their rows to pages, and read some; the rate is rows moved a second."""
    accounts = [b"P%07d" % number for number in range(max(2, players))]
    with bench.server("rows") as server, server.client(blocking_timeout=5) as client:
        store, folder = new_store(client, 1), bench.folder / "log"
        _play(bench, store, matches, accounts)
        empty = used_memory(client)
        side = ProjectionWorker(
            store, client, [one for one in PROJECTIONS if one.spec in (LISTS, HISTORY)]
        )
        while side.round() or side.has_work:
            pass
        side.save()
        full = used_memory(client)
        objects = FileObjects(folder)
        began = time.perf_counter()
        work = RowOffload(store, client, objects, set, settled_ms=0)
        while work.step() is not None:
            pass
        seconds = time.perf_counter() - began
        left = used_memory(client)
        newest = _read(client, objects, accounts, 0)
        oldest = _read(client, objects, accounts, matches // len(accounts))
    return Report(
        rate=max(1, work.rows) / seconds,
        unit="rows",
        peers={},
        details={
            "matches": matches,
            "players": len(accounts),
            "bytes of rows and lists a match in the server": round((full - empty) / matches),
            "the same after moving rows to pages": round((left - empty) / matches),
            "bytes a match in the object store": round(_bytes(folder / "rows") / matches),
            f"us to read the newest {_SHOWN} rows": median_and_p99(newest),
            f"us to read {_SHOWN} old rows, nothing cached": median_and_p99(oldest),
            **bench.disk(),
        },
    )


def _play(
    bench: BenchEnvironment, store: RedisStore, matches: int, accounts: Sequence[AccountId]
) -> None:
    chance = random.Random(1)  # noqa: S311 - a workload, not a secret
    task = bench.progress.add_task(f"{matches} matches", total=matches)
    for first in range(1, matches + 1, _CHUNK):
        planned = endless(min(_CHUNK, matches + 1 - first), 2, first)
        played = [
            msgspec.structs.replace(game, seats=tuple(chance.sample(accounts, 2)))
            for game in planned
        ]
        prepared = decide_all([*starts(played), *moves(played), *resignations(played)], {})
        for start in range(0, len(prepared), BATCH):
            submit_and_commit(store, prepared[start : start + BATCH])
        bench.progress.advance(task, len(played))
    bench.progress.remove_task(task)


def _read(
    client: redis.Redis, objects: FileObjects, accounts: Sequence[AccountId], start: int
) -> list[float]:
    """Read rows of lists of two kinds from the `start`th on, and return the seconds of each read."""
    found = []
    for number in range(_READS):
        account, pages = accounts[number % len(accounts)], RowPages(lambda: objects)
        lists, history = MatchLists(client, pages), FinishedMatches(client, pages)
        lists.counts(account)  # looks the generation up
        history.count("pow2", account)
        began = time.perf_counter()
        if number % 2:
            lists.of(account, MatchFilter.INACTIVE, None, start, _SHOWN)
        else:
            history.of("pow2", account, None, start, _SHOWN)
        found.append(time.perf_counter() - began)
    return found


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
