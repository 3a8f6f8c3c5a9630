"""A cluster of three primaries with a replica each, and a Sentinel pair, behind a firewall."""

from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeAlias

import redis

from infra.redis.cluster import slot_of_key
from tests.faults.harness.firewall import Firewall, Rule
from tests.helpers.clusters import BUS_PORT, Cluster, Node, SentinelPair

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
        """Return the replica of a primary."""
        port = self.ports[self.nodes.index(primary)]
        return next(
            node for node in self.nodes if (role := _role(node))[0] == b"slave" and role[2] == port
        )

    def fail_over(self, primary: Node, *, force: bool) -> None:
        """Begin to promote the replica of a primary: by agreement, or without asking the primary."""
        with self.replica_of(primary).client() as client:
            client.execute_command("CLUSTER", "FAILOVER", *["FORCE"] * force)

    def owner(self, slot: int) -> Node:
        """Return the primary that serves a slot."""
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
        """Return the other server."""
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
