"""Slots that move from one node of a cluster to another, whole or in the middle of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from infra.redis.cluster import slot_of_key
from tests.helpers.clusters import Cluster, Node

TAG = "{moving}"
"""The hash tag of keys in the slot that moves."""

SLOT = slot_of_key(TAG)


class MovingSlot:
    """A slot on its way, by the commands of old, which move one key at a time."""

    def __init__(self, cluster: Cluster, source: Node, target: Node) -> None:
        self.source, self.target = source, target
        self._nodes = cluster.nodes

    def begin(self) -> None:
        """Begin; keys that are not on the source are answered with ASK from now on."""
        _run(self.target, "CLUSTER", "SETSLOT", SLOT, "IMPORTING", _id_of(self.source))
        _run(self.source, "CLUSTER", "SETSLOT", SLOT, "MIGRATING", _id_of(self.target))

    def move(self, *names: str) -> None:
        there = ("127.0.0.1", self.target.port)
        _run(self.source, "MIGRATE", *there, "", 0, 5_000, "KEYS", *names)

    def end(self) -> None:
        """Make the target the owner of the slot."""
        for node in (self.target, *self._nodes):
            _run(node, "CLUSTER", "SETSLOT", SLOT, "NODE", _id_of(self.target))


@contextmanager
def moving(cluster: Cluster) -> Iterator[MovingSlot]:
    """Begin to move the slot from its node to another; at the end it is where it was, and empty."""
    source = owner(cluster)
    target = next(node for node in cluster.primaries if node is not source)
    slot = MovingSlot(cluster, source, target)
    slot.begin()
    try:
        yield slot
    finally:
        for node in cluster.primaries:
            with node.client() as client:
                client.flushall()
                # a node that is still importing the slot would refuse to be given it at once
                client.execute_command("CLUSTER", "SETSLOT", SLOT, "STABLE")
        MovingSlot(cluster, target, source).end()


def owner(cluster: Cluster) -> Node:
    for first, last, (_, port, *_), *_ in _run(cluster.primaries[0], "CLUSTER", "SLOTS"):
        if first <= SLOT <= last:
            return next(node for node in cluster.nodes if node.port == port)
    raise AssertionError("no node has the slot")


def move_at_once(cluster: Cluster, target: Node) -> None:
    """Move the slot with all its keys by the one command of Valkey 9."""
    words = ("SLOTSRANGE", SLOT, SLOT, "NODE", _id_of(target))
    _run(owner(cluster), "CLUSTER", "MIGRATESLOTS", *words)
    cluster.wait_until(lambda: _knows(cluster, target))


def _knows(cluster: Cluster, target: Node) -> bool:
    for node in cluster.nodes:
        for first, last, (_, port, *_), *_ in _run(node, "CLUSTER", "SLOTS"):
            if first <= SLOT <= last and port != target.port:
                return False
    return True


def _id_of(node: Node) -> bytes:
    return bytes(_run(node, "CLUSTER", "MYID"))


def _run(node: Node, *words: Any) -> Any:
    with node.client() as client:
        return client.execute_command(*words)
