"""A station whose matches are on a cluster or a Sentinel pair, with a queue server of its own."""

import random
import time
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import redis
from redis import Redis
from redis.exceptions import RedisError

from domain.match.commands import CommandEnvelope
from infra.durability import DurabilityError, Mode
from infra.settings import Settings
from infra.store.outcomes import CommandOutcome
from services.app.context import App
from tests.faults.harness.checker import Violation, check
from tests.faults.harness.elsewhere import elsewhere
from tests.faults.harness.failover_reads import sort_reads
from tests.faults.harness.firewall import Firewall
from tests.faults.harness.held import Held
from tests.faults.harness.load import Load
from tests.faults.harness.projected import projected
from tests.faults.harness.record import Invocation
from tests.faults.harness.station import Station
from tests.faults.harness.topologies import REPLICATED, GuardedCluster, GuardedPair, Topology
from tests.helpers.clusters import Node, free_ports
from tests.helpers.served import until

DRAINED_SECONDS: Final = 180

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
        self._settings = Settings(
            data=self.data, redis_url=url, queue_url=self.queue.url, durability=mode
        )
        self.taken_back = self.stale = 0
        """Reads that a failover explains, since the last check."""

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
        """Wait until nothing waits, and return what is wrong; reads that a failover explains are counted."""
        del drained, again
        found: list[Held] = []

        def ready() -> bool:
            try:
                found[:] = [self.read()]
            except RedisError:  # a connection of before the last failover
                return False
            return found[0].waiting == 0

        until(ready, DRAINED_SECONDS)
        return list(map(str, self.check(found[0])))

    def check(self, held: Held) -> list[Violation]:
        """Return what is wrong with what the store holds."""
        return self.check_calls(self.record, held)

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
