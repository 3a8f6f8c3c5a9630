"""The whole path of a move, inbox to durable outcome, beside one RQ job a move.

N matches of whole games, played beforehand, are submitted to the inboxes; real command workers
decide and commit them on a real server that syncs every commit. Measured from the first submit to
the last outcome announced. Every outcome must be an acceptance.
"""

import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Final, Self
from uuid import uuid4

import redis
from rich.console import Console
from rich.progress import Progress

from domain.match import commands
from domain.match.audit import verify
from domain.match.commands import Sent
from infra.announce import Listener
from infra.disk import median_fdatasync
from infra.durability import Mode
from infra.embedded import EmbeddedServer
from infra.lanes import Lanes
from infra.outcomes import parse
from infra.queue import wake
from infra.settings import Settings
from infra.store.port import Queued, Shape, Submission
from infra.store.server import RedisStore
from services.cli.bench import rq_peer
from services.cli.bench.report import Report
from services.cli.bench.workload import Game, games, moves, starts
from services.serve.workers import worker_child
from workers.keeper import Keeper

SHARDS: Final = 8
MICRO_BATCH: Final = 256
"""Commands a door hands in together."""

WINDOW: Final = 8_192
"""Commands under way at most: a door does not flood the inboxes."""

_STUCK_SECONDS: Final = 60.0


def run(matches: int, peer_jobs: int, workers: int, data: Path | None) -> Report:
    """Measure; `data` is where the servers keep their files, a temporary folder by default."""
    played = games(matches)
    with ExitStack() as stack:
        folder = data or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        progress = stack.enter_context(Progress(console=Console(stderr=True), transient=True))
        rate, details = _measure(played, workers, folder / "matchpost", progress)
        peer = rq_peer.measure(played, peer_jobs, folder / "peer", progress)
        details["median fdatasync ms"] = round(1_000 * median_fdatasync(folder), 3)
    details["rq_job_per_move"] = peer.details
    return Report(rate=rate, unit="moves", peers={"rq_job_per_move": peer.rate}, details=details)


def _measure(
    played: Sequence[Game], workers: int, folder: Path, progress: Progress
) -> tuple[float, dict[str, Any]]:
    with EmbeddedServer(folder) as server, server.client(blocking_timeout=5) as client:
        store = RedisStore(client, Mode.FSYNC, cap=10 * WINDOW)
        store.create(Shape(shards=SHARDS, lanes=workers))
        with _workers(workers, server.url, folder), _Door(client, store) as door:
            door.submit_all(starts(played), progress, "challenges", len(played))
            total = sum(len(game.moves) for game in played)
            began = time.perf_counter()
            door.submit_all(moves(played), progress, "moves", total)
            seconds = time.perf_counter() - began
        for game in played[:: max(1, len(played) // 20)]:
            verify(game.board, store.events(game.board))
        memory: Any = client.info("memory")
    return total / seconds, {
        "matches": len(played),
        "moves": total,
        "seconds": round(seconds, 3),
        "command workers": workers,
        "shards": SHARDS,
        "micro-batch": MICRO_BATCH,
        "window": WINDOW,
        "valkey bytes a match": memory["used_memory"] // len(played),
    }


@contextmanager
def _workers(count: int, url: str, folder: Path) -> Iterator[None]:
    settings = Settings(data=folder, workers=count)
    children = [worker_child(number, settings, url) for number in range(1, count + 1)]
    try:
        for child in children:
            child.start()
        yield
    finally:
        for child in children:
            child.terminate()
        for child in children:
            while child.poll() is None:
                time.sleep(0.01)


class _Door:
    """Submits in micro-batches, keeps a window under way, and counts the outcomes."""

    def __init__(self, client: redis.Redis, store: RedisStore) -> None:
        self._name = f"door:{uuid4().hex}"
        self._store = store
        self._lanes = Lanes(client, lambda lane: wake(client, lane))
        self._keeper = Keeper(store, self._lanes)
        self._listener = Listener(client, self._name)
        self._waiting: set[bytes] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self._listener.close()

    def submit_all(self, orders: Iterable[Sent], progress: Progress, what: str, total: int) -> None:
        task = progress.add_task(what, total=total)
        left = iter(orders)
        while batch := list(islice(left, MICRO_BATCH)):
            self._submit(batch)
            while len(self._waiting) > WINDOW:
                progress.advance(task, self._hear())
        while self._waiting:
            progress.advance(task, self._hear())

    def _submit(self, batch: Sequence[Sent]) -> None:
        submissions = []
        for order in batch:
            payload = commands.encode(order)
            digest = commands.digest(payload)
            submissions.append(
                Submission(order.match, order.id, digest, payload, order.actor, 0, self._name)
            )
        for order, answer in zip(batch, self._store.submit(submissions), strict=True):
            if not isinstance(answer, Queued):
                raise RuntimeError(f"a command was not taken: {answer}")
            self._waiting.add(order.id)
        self._keeper.tick()

    def _hear(self) -> int:
        told = self._listener.heard(_STUCK_SECONDS)
        if not told:
            raise RuntimeError(f"no outcome within {_STUCK_SECONDS} s")
        for id_, stored in told:
            outcome = parse(stored)
            if not outcome.accepted:
                raise RuntimeError(f"a move was refused: {outcome.sentence}")
            self._waiting.discard(id_)
        return len(told)
