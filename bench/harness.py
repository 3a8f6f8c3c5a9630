"""The environment of a benchmark: its own server, real workers, and a load generator."""

import itertools
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import msgspec
import redis
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from domain.match.commands import CommandEnvelope
from infra.durability.durability import Mode
from infra.redis.clients import ANSWER_TIMEOUT
from infra.settings.settings import Settings
from infra.store.gateway import submission_of
from infra.store.layout import Layout, Numbering
from infra.store.leases import LaneLeases
from infra.store.outcomes import OutcomeMessage, decode, new_channel, parse
from infra.store.port import Queued
from infra.store.redis_store import RedisStore
from infra.store.rq_wakeup import enqueue_drain
from infra.valkey.disk_guard import median_fdatasync
from infra.valkey.server import EmbeddedServer
from services.serve.processes import numbered_children
from workers.scheduler import Scheduler

SHARDS: Final = 8
MICRO_BATCH: Final = 256
"""Commands that the load generator submits together."""

WINDOW: Final = 8_192
"""Most commands without an outcome, so that the load generator does not flood the inboxes."""

_STUCK_SECONDS: Final = 60.0
_TICK_SECONDS: Final = 1.0


class NoCompilerError(Exception):
    """A slower disk was requested, and there is no C compiler to build the library for it."""


class NoBrowserError(Exception):
    """Pages are measured in a browser, and there is none."""


class BenchEnvironment(msgspec.Struct, frozen=True):
    """Folder and disk delay of a benchmark's servers, and its progress bar."""

    folder: Path
    fsync_delay_ms: float
    progress: Progress

    def server(self, name: str) -> EmbeddedServer:
        """Return a server with its own folder, not started."""
        return EmbeddedServer(self.folder / name, env=self.variables())

    def variables(self) -> dict[str, str]:
        """Return the environment variables of the servers."""
        if not self.fsync_delay_ms:
            return {}
        return {
            "LD_PRELOAD": str(_shim(self.folder)),
            "DELAY_US": str(round(1_000 * self.fsync_delay_ms)),
        }

    def disk(self) -> dict[str, float]:
        """Return the disk's figures, for the details of every benchmark."""
        return {
            "median fdatasync ms": round(1_000 * median_fdatasync(self.folder), 3),
            "fsync delay ms": self.fsync_delay_ms,
        }


@contextmanager
def open_environment(folder: Path | None, fsync_delay_ms: float) -> Iterator[BenchEnvironment]:
    """Yield an environment, in a temporary folder unless one is named."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with ExitStack() as stack:
        where = folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        where.mkdir(parents=True, exist_ok=True)
        console = Console(stderr=True)
        progress = Progress(
            *columns,
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        yield BenchEnvironment(where, fsync_delay_ms, stack.enter_context(progress))


def _shim(folder: Path) -> Path:
    """Compile the library that slows the server's disk, and return its path."""
    compiler = shutil.which("cc")
    if compiler is None:
        raise NoCompilerError("--fsync-delay needs a C compiler named cc; install one")
    library = folder / "slow_fsync.so"
    if not library.exists():
        source = Path(__file__).with_name("slow_fsync.c")
        subprocess.run(  # noqa: S603 - our own source
            [compiler, "-shared", "-fPIC", "-O2", "-o", library, source, "-ldl"], check=True
        )
    return library


@contextmanager
def running_workers(
    count: int, url: str, folder: Path, queue_url: str | None = None
) -> Iterator[None]:
    """Run `count` command workers while entered; without `queue_url` RQ is on the server of the matches."""
    settings = Settings(data=folder, workers=count, queue_url=queue_url)
    children = numbered_children("worker", count, itertools.repeat(settings), url)
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


def new_store(
    client: redis.Redis,
    lanes: int,
    shards: int = SHARDS,
    numbering: Numbering = Numbering.SERVER,
) -> RedisStore:
    """Return a store on an empty server, or an empty cluster."""
    store = RedisStore(client, Mode.FSYNC, cap=10 * WINDOW)
    store.create(Layout(shards, min(lanes, shards), numbering))
    return store


class OutcomeListener:
    """A subscription to one reply channel; close it when done."""

    def __init__(self, client: redis.Redis, channel: str) -> None:
        self._pubsub: Any = client.pubsub()  # type: ignore[no-untyped-call]
        self._pubsub.subscribe(channel)
        # the confirmation: from here on no message is missed
        if self._pubsub.get_message(timeout=ANSWER_TIMEOUT) is None:
            self._pubsub.close()
            raise redis.TimeoutError("the server did not confirm a subscription in time")

    def poll(self, seconds: float) -> list[OutcomeMessage]:
        """Return the outcomes of the next message, or none after `seconds`."""
        message: Any = self._pubsub.get_message(timeout=seconds)
        if message is None or message["type"] != "message":
            return []
        return decode(message["data"])

    def close(self) -> None:
        """End the subscription."""
        self._pubsub.close()


class LoadGenerator:
    """Submits in micro-batches, keeps at most a window of commands open, and counts outcomes.

    `queue` is of RQ's Redis. It wakes drains as a gateway does, and repeats lost wake-ups as a scheduler does.
    """

    def __init__(self, queue: redis.Redis, store: RedisStore, progress: Progress) -> None:
        self._channel = new_channel()
        self._store = store
        self._progress = progress
        self._lanes = LaneLeases(queue, lambda lane: enqueue_drain(queue, lane))
        self._scheduler = Scheduler(store, self._lanes)
        self._tick_due = time.monotonic() + _TICK_SECONDS
        self._listener = OutcomeListener(queue, self._channel)
        self._waiting: set[bytes] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._listener.close()

    def submit_all(self, orders: Iterable[CommandEnvelope], what: str, total: int) -> float:
        """Submit all and wait for all outcomes; return the seconds. Raise RuntimeError on a refusal."""
        task = self._progress.add_task(what, total=total)
        left = iter(orders)
        began = time.perf_counter()
        while batch := list(islice(left, MICRO_BATCH)):
            self._submit(batch)
            while len(self._waiting) > WINDOW:
                self._progress.advance(task, self._hear())
        while self._waiting:
            self._progress.advance(task, self._hear())
        seconds = time.perf_counter() - began
        self._progress.remove_task(task)
        return seconds

    def _submit(self, batch: Sequence[CommandEnvelope]) -> None:
        answers = self._store.submit([submission_of(order, 0, self._channel) for order in batch])
        for order, answer in zip(batch, answers, strict=True):
            if not isinstance(answer, Queued):
                raise RuntimeError(f"a command was not accepted into the inbox: {answer}")
            self._waiting.add(order.id)
        layout = self._store.layout()
        for lane in {layout.lane_of(order.match) for order in batch}:
            self._lanes.request(lane)
        self._tick_if_due()

    def _tick_if_due(self) -> None:
        if time.monotonic() >= self._tick_due:
            self._scheduler.tick()
            self._tick_due = time.monotonic() + _TICK_SECONDS

    def _hear(self) -> int:
        end = time.monotonic() + _STUCK_SECONDS
        while not (told := self._listener.poll(_TICK_SECONDS)):
            if time.monotonic() > end:
                raise RuntimeError(f"no outcome within {_STUCK_SECONDS} s")
            self._tick_if_due()
        for id_, stored in told:
            outcome = parse(stored)
            if not outcome.accepted:
                raise RuntimeError(f"a move was refused: {outcome.sentence}")
            self._waiting.discard(id_)
        return len(told)
