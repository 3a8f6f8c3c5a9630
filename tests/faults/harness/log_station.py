"""A station whose published log and archive are watched, and what is checked of them at the end (I5)."""

import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from redis import Redis

from infra.log.key_files import FOLDER_NAME, read_public_keys
from infra.log.names import shard_key
from infra.process.failpoints import VARIABLE
from infra.redis import keys
from infra.store.leases import LaneLeases
from infra.store.rq_wakeup import enqueue_drain
from infra.store.watermarks import read_published_sizes
from tests.faults.harness.checker import Violation
from tests.faults.harness.held import Held, store_with_archive
from tests.faults.harness.load import Load
from tests.faults.harness.published import (
    ObjectWatcher,
    check_acknowledged,
    check_checkpoints,
    check_objects,
    read_objects,
)
from tests.faults.harness.station import Station
from tests.helpers.forked import SCRIPT
from tests.helpers.gateways import StoreGateway
from tests.helpers.served import queue_of, until
from workers.log.job import JOB

MERGE_SECONDS = 60.0
"""In which every leaf is published, once nothing is killed."""

PATIENCE_SECONDS = 180.0
"""For the same where a kill is in between, and the machine has other work to do."""

PUBLISHER = "small_steps.py publisher"
"""A part of its command line."""

PROGRAM = Path(__file__).with_name("small_steps.py")


class LogStation(Station):
    """A station of small steps; a context manager that starts and ends it.

    Each of the fault points is armed by a file of its own.
    """

    def __init__(
        self,
        folder: Path,
        points: Sequence[str],
        shards: int,
        env: Mapping[str, str] | None = None,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.armed_by = {point: folder / f"once-{point}" for point in points}
        fault = ",".join(f"{point}:1:{file}" for point, file in self.armed_by.items())
        more = {VARIABLE: fault, "MATCHPOST_SHARDS": str(shards), **(env or {})}
        python = str(SCRIPT.with_name("python"))
        super().__init__(folder, more, argv=(python, str(PROGRAM), "serve"), trims=True)
        self.shards = shards
        self.watcher = ObjectWatcher(self.data / "log")

    def __enter__(self) -> Self:
        self.start()
        self.watcher.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.watcher.__exit__(kind, error, trace)
        finally:
            self.end()

    def restart(self) -> None:
        """Kill the whole server, with all its processes, and start it again."""
        self.served.end(signal.SIGKILL)
        self.served.start()

    def publisher(self) -> int | None:
        """Return the process id of the publisher, if it runs."""
        found = self.children(PUBLISHER)
        return found[0] if found else None

    def wake_publisher(self) -> None:
        """Request a run of the publisher as if the lease of a killed one had expired."""
        with self.connect_queue() as queue:
            queue.pexpire(keys.lease(JOB.lease), 1)
            time.sleep(0.002)
            JOB.request(queue)

    def ends(self) -> list[int]:
        """Return how many leaves each log has."""
        with self.connect() as client:
            return [_end(client, shard) for shard in range(self.shards)]

    def wait_until_published(
        self, ends: list[int] | None = None, seconds: float = PATIENCE_SECONDS
    ) -> None:
        """Wait until so many leaves of each shard are published, or all that there are now."""
        aim = ends or self.ends()

        def published() -> bool:
            with self.connect() as client:
                sizes = [one.size for one in read_published_sizes(client, self.shards)]
            return all(size >= end for size, end in zip(sizes, aim, strict=True))

        until(published, seconds)

    def gateway(self, client: Redis, *, ago_ms: int = 0) -> StoreGateway:
        """Return a gateway that answers from the archive, too; its commands are received so long ago."""
        queue = queue_of(client)
        store = store_with_archive(client, self.data)
        if ago_ms:
            at = store.now() - ago_ms
            store._clock = lambda: at
        leases = LaneLeases(queue, lambda lane: enqueue_drain(queue, lane))
        return StoreGateway(store, leases, queue)

    def play(self, **options: object) -> Load:
        """Return a load whose players see the archive."""
        given = {"open_door": self.gateway, "open_store": self.open_store, **options}
        return self.load(**given)

    def check(self) -> tuple[list[str], Held]:
        """Wait until everything is published; return all violations, and what the store holds."""
        found = self.violations()
        late: list[Violation] = []
        try:
            self.wait_until_published(seconds=MERGE_SECONDS)
        except AssertionError:
            late.append(Violation("I5", f"not all leaves are published after {MERGE_SECONDS} s"))
        self.watcher.look()
        held = self.read()
        violations = [*late, *self.watcher.violations, *self._published(held)]
        return [*found, *map(str, violations)], held

    def _published(self, held: Held) -> list[Violation]:
        leaves = {shard: [leaf for _, leaf in log] for shard, log in held.logs.items()}
        objects = read_objects(self.data / "log")
        (public,) = read_public_keys(self.data / FOLDER_NAME)
        found: list[Violation] = []
        for shard, of_shard in leaves.items():
            notes = self.watcher.notes.get(f"s{shard:02}/checkpoint", [])
            found += check_objects(shard, of_shard, objects)
            found += check_checkpoints(of_shard, notes, shard_key(public, shard))
        return [*found, *check_acknowledged(self.record, leaves)]


def _end(client: Redis, shard: int) -> int:
    """Return the index of a log's next leaf; its first may be trimmed."""
    last = client.xrevrange(keys.log(shard), count=1)
    return int(last[0][0].split(b"-")[0]) + 1 if last else 0
