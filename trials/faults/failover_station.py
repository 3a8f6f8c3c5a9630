"""A station whose matches are on a cluster or a Sentinel pair, with a queue server of its own.

A cluster of three primaries with a replica each, and a Sentinel pair, behind a firewall.

Reads that a failover explains: of moves that were taken back unacknowledged, and of a primary that was replaced.

No durability promises anything of reads. They are counted, and the checker sees the others.
"""

import random
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from operator import le
from pathlib import Path
from typing import Any, Final, Self, TypeAlias

import msgspec
import redis
from redis import Redis
from redis.exceptions import RedisError

from domain.match.commands import CommandEnvelope
from domain.match.history import leaf_hash
from infra.durability.durability import DurabilityError, Mode
from infra.redis.cluster import slot_of_key
from infra.settings.settings import Settings
from infra.store.closed_shards import ClosedShards
from infra.store.log_gate import read_ends
from infra.store.outcomes import CommandOutcome
from infra.store.watermarks import read_published_sizes
from services.app.context import App
from tests.helpers.clusters import BUS_PORT, Cluster, Node, SentinelPair, free_ports
from tests.helpers.served import until
from trials.faults.checker import Held, Invocation, Result, Violation, check
from trials.faults.elsewhere import elsewhere
from trials.faults.firewall import Firewall, Rule
from trials.faults.load import Load
from trials.faults.published import ObjectWatcher, check_log, projected
from trials.faults.station import Station

REPLICATED: Final = {"min-replicas-to-write": "1", "min-replicas-max-lag": "10"}
"""Settings that durability `replicated` needs."""

CLIENTS: Final = "127.0.0.1"
"""The address that clients connect from."""


def isolation(node: Node, *, clients: bool) -> Rule:
    """Return the rule that cuts a server off from all other servers, and perhaps from clients."""
    ports = {node.port, node.port + BUS_PORT}

    def is_cut(source: str, target: int) -> bool:
        inbound = target in ports and (clients or source != CLIENTS)
        return inbound or (source == node.source and target not in ports)

    return is_cut


def cut_replication(primary: Node, replica: Node) -> Rule:
    """Return the rule by which a replica gets nothing from its primary any more; the cluster sees no fault."""

    def is_cut(source: str, target: int) -> bool:
        return source == replica.source and target == primary.port

    return is_cut


class GuardedCluster(Cluster):
    """A cluster of three primaries with a replica each."""

    def __init__(self, folder: Path, firewall: Firewall, **settings: str) -> None:
        super().__init__(folder, primaries=3, replicas=1, guard=firewall.guard, **settings)
        self.firewall = firewall

    def serving(self) -> list[Node]:
        """Return the nodes that take writes now."""
        return [node for node in self.nodes if _role(node)[0] == b"master"]

    def replica_of(self, primary: Node) -> Node:
        port = self.ports[self.nodes.index(primary)]
        return next(
            node for node in self.nodes if (role := _role(node))[0] == b"slave" and role[2] == port
        )

    def fail_over(self, primary: Node, *, force: bool) -> None:
        """Begin to promote the replica of a primary: by agreement, or without asking the primary."""
        with self.replica_of(primary).client() as client:
            client.execute_command("CLUSTER", "FAILOVER", *["FORCE"] * force)

    def owner(self, slot: int) -> Node:
        with self.nodes[0].client() as client:
            served: Any = client.execute_command("CLUSTER", "SLOTS")
        for first, last, (_, port, *_), *_ in served:
            if first <= slot <= last:
                return self.nodes[self.ports.index(port)]
        raise LookupError(f"slot {slot} is not served")

    def move_slots(self, slots: range, source: Node, target: Node) -> None:
        """Move slots as the server does it by itself, all at once."""
        with source.client() as client, target.client() as other:
            to = other.execute_command("CLUSTER", "MYID")
            words = ["SLOTSRANGE", slots[0], slots[-1], "NODE", to]
            client.execute_command("CLUSTER", "MIGRATESLOTS", *words)

            def moved() -> bool:
                jobs: Any = client.execute_command("CLUSTER", "GETSLOTMIGRATIONS")
                newest = dict(zip(jobs[0][::2], jobs[0][1::2], strict=True))
                assert newest[b"state"] not in (b"failed", b"cancelled"), newest
                return bool(newest[b"state"] == b"success")

            self.wait_until(moved)

    def move_keys(self, slots: range, source: Node, target: Node) -> None:
        """Move slots one after the other, key by key: meanwhile clients are sent from one node to the other."""
        with source.client() as client, target.client() as other:
            from_, to = (one.execute_command("CLUSTER", "MYID") for one in (client, other))
            for slot in slots:
                other.execute_command("CLUSTER", "SETSLOT", slot, "IMPORTING", from_)
                client.execute_command("CLUSTER", "SETSLOT", slot, "MIGRATING", to)
                while keys := client.execute_command("CLUSTER", "GETKEYSINSLOT", slot, 3):
                    words = ["127.0.0.1", target.port, "", 0, 5_000, "KEYS", *keys]
                    client.execute_command("MIGRATE", *words)
                for one in (other, client):
                    one.execute_command("CLUSTER", "SETSLOT", slot, "NODE", to)

    def range_around(self, key: str, width: int) -> range:
        """Return the slots around that of a key, `width` at most, which the same primary serves."""
        slot = slot_of_key(key)
        owner = self.owner(slot)
        first = last = slot
        while last - first + 1 < width and first and self.owner(first - 1) is owner:
            first -= 1
        return range(first, last + 1)


class GuardedPair(SentinelPair):
    """A primary with a replica, and three sentinels."""

    def __init__(self, folder: Path, firewall: Firewall, **settings: str) -> None:
        super().__init__(folder, guard=firewall.guard, **settings)
        self.firewall = firewall

    def serving(self) -> list[Node]:
        """Return the server that takes writes now."""
        return [self.primary()]

    def replica_of(self, primary: Node) -> Node:
        return next(node for node in self.servers if node is not primary)

    def whole(self) -> bool:
        """Return whether the replica follows the primary that all sentinels name, and all see that."""
        primary = self.primary()
        first, second = _role(primary), _role(self.replica_of(primary))
        if first[0] != b"master" or len(first[2]) != 1:
            return False
        if second[0] != b"slave" or second[3] != b"connected":
            return False
        return all(self._sees(sentinel, primary) for sentinel in self.sentinels)

    def _sees(self, sentinel: Node, primary: Node) -> bool:
        with sentinel.client() as client:
            _, port = client.execute_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", self.service)
            if int(port) != self.ports[self.servers.index(primary)]:
                return False
            (replica,) = client.sentinel_slaves(self.service)
        return replica["flags"] == "slave"

    def fail_over(self, primary: Node, *, force: bool) -> None:
        """Begin to promote the replica; a sentinel asks nobody, so `force` changes nothing."""
        del primary, force
        with self.sentinels[0].client() as client:
            client.execute_command("SENTINEL", "FAILOVER", self.service)


Topology: TypeAlias = GuardedCluster | GuardedPair


def role_of(node: Node) -> str:
    """Return `master` or `slave`; empty if the server does not answer."""
    with suppress(redis.RedisError):
        return str(_role(node)[0].decode())
    return ""


def _role(node: Node) -> Any:
    with node.client() as client:
        return client.execute_command("ROLE")


class SortedReads(msgspec.Struct):
    """The calls of a run."""

    calls: list[Invocation]
    """Commands, and reads that need no explanation."""
    taken_back: int = 0
    """Reads that saw an event which is not in the final history."""
    stale: int = 0
    """Reads that missed an event which was acknowledged, or read, before they began."""


def sort_reads(calls: Iterable[Invocation], held: Held) -> SortedReads:
    """Return the calls without the reads that a failover explains, and how many those are."""
    found = SortedReads([])
    reads = []
    known: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for call in calls:
        if call.command:
            found.calls.append(call)
            if call.result is Result.OK and not call.code:
                known[call.match].append((call.done, call.seq))
        elif call.result is not Result.OK or _is_prefix(call, held):
            reads.append(call)
            known[call.match].append((call.done, call.seq))
        else:
            found.taken_back += 1
    for read in reads:
        least = max((seq for done, seq in known[read.match] if done < read.sent), default=0)
        if read.result is Result.OK and read.seq < least:
            found.stale += 1
        else:
            found.calls.append(read)
    return found


def _is_prefix(read: Invocation, held: Held) -> bool:
    final = held.events.get(read.match, [])
    if read.seq > len(final):
        return False
    return not read.seq or leaf_hash(final[read.seq - 1]) == read.head


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

    def __exit__(self, *_: object) -> None:
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

    def explained(self) -> dict[str, int]:
        """Return how many reads a failover explains, as of the last check."""
        return {"reads_taken_back": self.taken_back, "stale_reads": self.stale}

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
        return check_log(self.data, self.watcher, held)

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
        return self._gateway.send(sent, ply, seconds)

    def submit_all(self, sents: Any) -> None:
        """Submit commands without waiting for their outcomes."""
        self._gateway.submit_all(sents)

    def close(self) -> None:
        self._app.close()
