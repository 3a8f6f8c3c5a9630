"""A station whose matches are on a cluster or a Sentinel pair, with a queue server of its own."""

import random
import time
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from operator import le
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import redis
from redis import Redis
from redis.exceptions import RedisError

from domain.match.commands import CommandEnvelope
from infra.durability.durability import DurabilityError, Mode
from infra.log.key_files import FOLDER_NAME, read_public_keys
from infra.log.names import shard_key
from infra.settings.settings import Settings
from infra.store.closed_shards import ClosedShards
from infra.store.log_gate import read_ends
from infra.store.outcomes import CommandOutcome
from infra.store.watermarks import read_published_sizes
from services.app.context import App
from tests.faults.harness.checker import Violation, check
from tests.faults.harness.elsewhere import elsewhere
from tests.faults.harness.failover_reads import sort_reads
from tests.faults.harness.firewall import Firewall
from tests.faults.harness.held import Held
from tests.faults.harness.load import Load
from tests.faults.harness.projected import projected
from tests.faults.harness.published import (
    ObjectWatcher,
    check_checkpoints,
    check_objects,
    read_objects,
)
from tests.faults.harness.record import Invocation
from tests.faults.harness.station import Station
from tests.faults.harness.topologies import REPLICATED, GuardedCluster, GuardedPair, Topology
from tests.helpers.clusters import Node, free_ports
from tests.helpers.served import until

DRAINED_SECONDS: Final = 180

_ALARM: Final = "leaves are published, and the data end"
"""What the log of `serve` says of a shard that was rolled back."""

_QUEUE: Final = {"save": "", "appendonly": "no"}


class FailoverStation(Station):
    """A context manager that starts the servers and `serve`, and ends them."""

    def __init__(
        self,
        folder: Path,
        kind: type[GuardedCluster] | type[GuardedPair],
        mode: Mode = Mode.REPLICATED,
        env: Mapping[str, str] | None = None,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._stack = ExitStack()
        firewall = self._stack.enter_context(Firewall())
        settings = REPLICATED if mode is Mode.REPLICATED else {}
        self.servers: Topology = kind(folder / "servers", firewall, **settings)
        self.queue = Node(folder / "queue", free_ports(1)[0], _QUEUE)
        url = self.servers.url
        ours = {
            "MATCHPOST_REDIS_URL": url,
            "MATCHPOST_QUEUE_URL": self.queue.url,
            "MATCHPOST_DURABILITY": mode,
            "MATCHPOST_WORKERS": "2",
            "MATCHPOST_SCRUB_PERCENT": "0",
        }
        super().__init__(folder, {**ours, **(env or {})}, url=url)
        self.watcher = ObjectWatcher(self.data / "log")
        self._settings = Settings(
            data=self.data, redis_url=url, queue_url=self.queue.url, durability=mode
        )
        self.taken_back = self.stale = 0
        """Reads that a failover explains, since the last check."""

    def start(self) -> None:
        """Make the keys of the published log, start the server, and watch what it publishes."""
        made = self.served.run("keygen")
        assert made.returncode == 0, made.stderr
        super().start()
        self.count = self.read_shards()
        self._stack.enter_context(self.watcher)

    def __enter__(self) -> Self:
        try:
            self._stack.callback(self.servers.stop)
            self.servers.start()
            self._stack.callback(self.queue.kill)
            self.queue.start()
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.end()
        finally:
            self._stack.close()

    def play(self, **options: Any) -> Load:
        """Return a load whose players send commands as front ends of these settings do."""
        return self.load(**{"open_door": self._open_door, **options})

    def _open_door(self, client: Redis) -> "AppDoor":
        return AppDoor(App(self._settings, data=client))

    def connect_queue(self) -> Redis:
        """Return a client of the server of the queue."""
        return self.queue.client()

    def kill_queue(self, chance: random.Random) -> None:
        """Kill the server of the queue, and start it again, empty."""
        self.queue.kill()
        time.sleep(chance.random())
        self.queue.start()

    def violations(self, *, drained: bool = True, again: bool = True) -> list[str]:
        """Wait until all is published, and return what is wrong; reads that a failover explains are counted."""
        del drained, again
        until(self.is_published, DRAINED_SECONDS)
        found: list[Held] = []

        def ready() -> bool:
            try:
                found[:] = [self.read()]
            except RedisError:  # a connection of before the last failover
                return False
            return found[0].waiting == 0

        until(ready, DRAINED_SECONDS)
        wrong: list[str] = []

        def checked() -> bool:
            try:
                wrong[:] = map(str, self.check(found[0]))
            except RedisError:  # a cluster on a busy machine may be down for a moment
                return False
            return True

        until(checked, DRAINED_SECONDS)
        return wrong

    def alarms(self) -> int:
        """Return how often the log of `serve` says that a shard was rolled back."""
        return (self.folder / "serve.log").read_text().count(_ALARM)

    def published(self) -> list[int]:
        """Return the published size of each shard, as the queue server has it."""
        with self.connect_queue() as queue:
            return [one.size for one in read_published_sizes(queue, self.count)]

    def ends(self) -> list[int]:
        """Return how many leaves each log has."""
        with self.connect() as client:
            return read_ends(client, range(self.count))

    def is_open(self) -> bool:
        """Return whether no shard is closed and no log lacks published leaves."""
        try:
            with self.connect() as client:
                closed = ClosedShards(client).read(range(self.count))
            return not closed and all(map(le, self.published(), self.ends()))
        except RedisError:  # a server is away
            return False

    def is_published(self) -> bool:
        """Return whether every leaf is published."""
        try:
            return self.is_open() and self.published() == self.ends()
        except RedisError:  # a server is away
            return False

    def check(self, held: Held) -> list[Violation]:
        """Return what is wrong with what the store holds."""
        rolled_back = self.alarms()
        found = [Violation("I5", f"{rolled_back} times shards were rolled back")] * (
            rolled_back > 0
        )
        return [*found, *self.check_published(held), *self.check_calls(self.record, held)]

    def check_published(self, held: Held) -> list[Violation]:
        """Return where the published log, as it was at any time, is not what the store's leaves give."""
        self.watcher.look()
        found = [*self.watcher.violations]
        objects = read_objects(self.data / "log")
        (public,) = read_public_keys(self.data / FOLDER_NAME)
        for shard, log in held.logs.items():
            leaves = [leaf for _, leaf in log]
            notes = self.watcher.notes.get(f"s{shard:02}/checkpoint", [])
            found += check_objects(shard, leaves, objects)
            found += check_checkpoints(leaves, notes, shard_key(public, shard))
        return found

    def check_calls(self, calls: Iterable[Invocation], held: Held) -> list[Violation]:
        """Return where the store and these calls disagree."""
        reads = sort_reads(calls, held)
        self.taken_back, self.stale = reads.taken_back, reads.stale
        violations = check(reads.calls, held)
        violations += elsewhere(held.events)
        with self.connect() as client:
            violations += projected(self.open_store(client), client)
        return violations


class AppDoor:
    """The gateway of an `App`, which is closed with it."""

    def __init__(self, app: App) -> None:
        self._app = app
        try:
            self._gateway = app.gateway
        except DurabilityError as error:  # for a player that is the same as no connection
            app.close()
            raise redis.ConnectionError(str(error)) from error
        except BaseException:
            app.close()
            raise

    def send(self, sent: CommandEnvelope, ply: int, seconds: float) -> CommandOutcome:
        """Submit a command and return its outcome."""
        return self._gateway.send(sent, ply, seconds)

    def submit_all(self, sents: Any) -> None:
        """Submit commands without waiting for their outcomes."""
        self._gateway.submit_all(sents)

    def close(self) -> None:
        """Close the gateway and its connections."""
        self._app.close()
