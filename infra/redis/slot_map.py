"""Which node of a cluster serves a slot: redis-py's map of it, in the manner of this program.

The map is read when it is first needed, and again after a node was lost.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import redis
from redis.cluster import ClusterNode, NodesManager
from redis.crc import key_slot
from redis.exceptions import AskError, MovedError, RedisClusterException

Address: TypeAlias = tuple[str, int]
"""Host and port of a node."""

_KEYLESS: Final = frozenset({
    "CLIENT", "CLUSTER", "CONFIG", "DBSIZE", "FLUSHALL", "FLUSHDB", "INFO", "PING", "PUBLISH", "SCAN",
    "SCRIPT", "TIME", "WAIT", "WAITAOF",
})  # fmt: skip


def key_of(words: Sequence[Any]) -> str | bytes | None:
    """Return the first key of a command; None if it has none."""
    name = str(words[0]).upper()
    if name.split(" ", 1)[0] in _KEYLESS:
        return None
    if name in ("EVALSHA", "EVAL"):
        place = 3
    elif name == "XREAD":
        place = 1 + next(
            at for at, word in enumerate(words) if word in ("STREAMS", b"STREAMS", "streams")
        )
    else:
        # a subcommand, or the number of keys, comes first
        place = 2 if name in ("OBJECT", "ZUNION", "ZINTER", "ZDIFF") else 1
    key: str | bytes = words[place]
    return key


def slot_of_key(key: str | bytes) -> int:
    """Return the slot of a key."""
    return int(key_slot(key.encode() if isinstance(key, str) else key))


class SlotMap:
    """The map of one cluster; thread-safe.

    `options` are those of a connection to any node. Where the cluster can't be reached,
    `redis.ConnectionError` is raised.
    """

    def __init__(
        self,
        hosts: Sequence[Address],
        pool_class: type[redis.ConnectionPool],
        options: Mapping[str, Any],
    ) -> None:
        self._hosts = hosts
        self._pool_class = pool_class
        self._options = dict(options)
        self._lock = threading.Lock()
        self._nodes: NodesManager | None = None
        self._doubts = 0
        """How often the map was found to be wrong."""
        self._settled = 0
        """How many of these doubts came before it was read last."""
        self._lost: str | None = None
        """The name of the node that was lost last, which is the last to be asked for the map."""
        self._primaries: frozenset[str] = frozenset()
        """The names of those of the last reading."""

    def on_connect(self, function: Callable[[Any], None]) -> None:
        """Have a function called with each new connection; call this before the first use."""
        self._options["redis_connect_func"] = function

    def node_of(self, slot: int) -> redis.Redis:
        """Return the client of the primary of a slot."""
        return self._client_of(self._ask(lambda nodes: nodes.get_node_from_slot(slot)))

    def address_of(self, slot: int) -> Address:
        """Return the address of the primary of a slot."""
        return _address(self._ask(lambda nodes: nodes.get_node_from_slot(slot)))

    def known_address(self, slot: int) -> Address | None:
        """Return the address of the primary of a slot as it was last known, without asking any node."""
        nodes = self._nodes
        found = nodes.slots_cache.get(slot) if nodes is not None else None
        return _address(found[0]) if found else None

    def primaries(self) -> list[redis.Redis]:
        """Return the clients of all primaries."""
        found = self._ask(lambda nodes: nodes.get_nodes_by_server_type("primary"))
        return [self._client_of(node) for node in sorted(found, key=_address)]

    def primary_addresses(self) -> list[Address]:
        """Return the addresses of all primaries."""
        return sorted(
            map(_address, self._ask(lambda nodes: nodes.get_nodes_by_server_type("primary")))
        )

    def asked(self, error: AskError) -> redis.Redis:
        """Return the client of the node to which a reply ASK leads."""
        node = self._ask(lambda nodes: nodes.get_node(host=error.host, port=error.port))
        if node is None:
            self.doubt()
            raise redis.ConnectionError("a node of the cluster is not known yet")
        return self._client_of(node)

    def moved(self, error: MovedError) -> None:
        """Learn from a reply MOVED."""
        if self._nodes is not None:
            self._nodes.move_slot(error)
        # there may be more that has moved
        self.doubt()

    def node_lost(self, address: Address | None) -> None:
        """Read the map again before its next use, because a node can't be reached."""
        self._lost = None if address is None else f"{address[0]}:{address[1]}"
        self.doubt()

    def doubt(self) -> None:
        """Read the map again before its next use."""
        self._doubts += 1

    def refresh(self) -> None:
        """Read the map, if it has to be read."""
        self._ask(lambda _: None)

    @property
    def unread(self) -> bool:
        """Return whether the map was never read."""
        return self._nodes is None

    @property
    def stale(self) -> bool:
        """Return whether the next question reads the map."""
        return self.unread or self._settled != self._doubts

    def close(self) -> None:
        """Close all clients of nodes."""
        if self._nodes is not None:
            self._nodes.close()

    def _client_of(self, node: ClusterNode) -> redis.Redis:
        if node.redis_connection is None:  # known by a reply MOVED alone
            self._ask(lambda nodes: nodes.create_redis_connections([node]))  # type: ignore[no-untyped-call]
        client: redis.Redis = node.redis_connection
        return client

    def _ask(self, question: Callable[[NodesManager], Any]) -> Any:
        try:
            if self.stale:
                with self._lock:
                    if self.stale:  # else another thread has read it meanwhile
                        self._read()
            return question(self._nodes)  # type: ignore[arg-type]
        except RedisClusterException as error:
            self.doubt()
            raise redis.ConnectionError(f"the cluster can't be reached ({error})") from error

    def _read(self) -> None:
        doubts = self._doubts
        if self._nodes is None:
            self._nodes = NodesManager(
                startup_nodes=[ClusterNode(*host) for host in self._hosts],  # type: ignore[no-untyped-call]
                from_url=True,
                # the names of the URL stay good when all addresses have changed
                dynamic_startup_nodes=False,
                connection_pool_class=self._pool_class,
                **self._options,
            )
            self._note_primaries(self._nodes)
        else:
            known = [_address(node) for node in self._nodes.nodes_cache.values()]
            self._nodes.initialize(
                additional_startup_nodes_info=known, last_failed_node_name=self._lost
            )
            self._reconnect(self._nodes)
        self._settled = doubts

    def _reconnect(self, nodes: NodesManager) -> None:
        """Close the connections to nodes that have become primaries: they were made to replicas."""
        for node in nodes.get_nodes_by_server_type("primary"):
            if node.name not in self._primaries and node.redis_connection is not None:
                node.redis_connection.connection_pool.disconnect(inuse_connections=False)
        self._note_primaries(nodes)

    def _note_primaries(self, nodes: NodesManager) -> None:
        found = nodes.get_nodes_by_server_type("primary")
        self._primaries = frozenset(str(node.name) for node in found)


def _address(node: ClusterNode) -> Address:
    return str(node.host), int(node.port)
