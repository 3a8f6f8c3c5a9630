"""A client of a cluster that is used as a client of one server.

Each command has keys of one slot. A pipeline is split by node: one plain pipeline a node, all written before
the first reply is read. A barrier at its end, WAITAOF, goes to each of these nodes, down the connection of
the writes; its reply has the smallest numbers of all. (redis-py's own cluster pipeline sends it to some node.)

A command that a node answered with MOVED, ASK or TRYAGAIN was not executed, so it is sent again, to the right
node. Nothing else is: a broken connection is raised to the caller, and the map of slots is read again.

Which node of a cluster serves a slot: redis-py's map of it, in the manner of this program.

The map is read when it is first needed, and again after a node was lost.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias

import redis
from redis.client import Pipeline
from redis.cluster import ClusterNode, NodesManager
from redis.crc import key_slot
from redis.exceptions import (
    AskError,
    ClusterDownError,
    MovedError,
    RedisClusterException,
    TryAgainError,
)

from infra.redis.exchange import QueuedCommand, Replies, read_reply

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


REDIRECT_SECONDS: Final = 5.0
"""How long a command is sent again while its slot moves from one node to another."""

_PAUSE_SECONDS: Final = 0.02

_BARRIERS: Final = frozenset({"WAITAOF", "WAIT"})
_OF_ALL_NODES: Final = frozenset({"FLUSHALL", "PING", "SCRIPT FLUSH", "SCRIPT LOAD"})
"""Commands without a key that all primaries have to execute; the reply is that of one of them."""

CLOCK_SLOT: Final = 0
"""The slot whose node is asked for the time."""


class _Sent(NamedTuple):
    """A command on its way."""

    at: int
    """Its place in the pipeline."""
    asked: redis.Redis | None
    """The node to which a reply ASK led."""


class ClusterClient(redis.Redis):
    """A client of the cluster of a map; close it when done. It subscribes to nothing and watches no keys."""

    def __init__(self, slots: SlotMap) -> None:
        super().__init__(connection_pool=_NoPool(protocol=2))
        self.slots = slots

    def execute_command(self, *args: Any, **options: Any) -> Any:
        """Execute one command on the node of its key."""
        with self.pipeline(transaction=False) as pipe:
            pipe.execute_command(*args, **options)  # type: ignore[no-untyped-call]
            (reply,) = pipe.execute(raise_on_error=False)
        if isinstance(reply, Exception):
            raise reply
        return reply

    def pipeline(self, transaction: bool = True, shard_hint: str | None = None) -> Pipeline:  # noqa: FBT001, FBT002 - as in redis-py
        """Return a pipeline; a transaction has keys of one slot."""
        return ClusterPipeline(self, transaction=transaction, shard_hint=shard_hint)

    def pubsub(self, **_: Any) -> NoReturn:
        """Raise, because messages go over the server of the queue."""
        raise NotImplementedError(
            "a cluster carries no messages; subscribe on the server of the queue"
        )

    def close(self) -> None:
        """Close the connections to all nodes."""
        self.slots.close()


class ClusterPipeline(Pipeline):
    """See the module; commands are added and executed as with redis-py's `Pipeline`."""

    def __init__(self, client: ClusterClient, *, transaction: bool, shard_hint: str | None) -> None:
        super().__init__(client.connection_pool, client.response_callbacks, transaction, shard_hint)
        self._atomic = transaction
        self._slots = client.slots

    def execute_command(self, *args: Any, **options: Any) -> Any:
        """Add a command."""
        return self.pipeline_execute_command(*args, **options)

    def execute(self, raise_on_error: bool = True) -> list[Any]:  # noqa: FBT001, FBT002 - as in redis-py
        """Send the commands and return the replies in their order."""
        commands: list[QueuedCommand] = self.command_stack
        try:
            if not commands:
                return []
            replies = self._in_transaction(commands) if self._atomic else self.begin()()
        finally:
            self.reset()
        if raise_on_error:
            self.raise_first_error(commands, replies)  # type: ignore[no-untyped-call]
        return replies

    def _in_transaction(self, commands: Sequence[QueuedCommand]) -> list[Any]:
        end = time.monotonic() + REDIRECT_SECONDS
        slots = {slot_of_key(key) for words, _ in commands if (key := key_of(words)) is not None}
        if len(slots) != 1:
            raise ValueError("a transaction has keys of one slot")
        (slot,) = slots
        asked = None
        while True:
            node = asked or self._slots.node_of(slot)
            try:
                with node.pipeline(transaction=True) as pipe:
                    if asked:
                        pipe.immediate_execute_command("ASKING")  # type: ignore[no-untyped-call]
                    pipe.command_stack = list(commands)
                    return list(pipe.execute())
            except (AskError, TryAgainError) as error:
                if time.monotonic() > end:
                    raise self._unsettled(error) from error
                if not isinstance(error, MovedError):
                    time.sleep(_PAUSE_SECONDS)
                asked = self._redirected(error)
            except ClusterDownError as error:
                raise self._down(error) from error
            except (redis.ConnectionError, redis.TimeoutError):
                self._slots.node_lost(_address_of(node))
                raise

    def begin(self) -> Replies:
        """Send the commands, each to its node; what is returned reads the replies."""
        commands: list[QueuedCommand] = self.command_stack
        barriers = _barriers_of(commands)
        waiting = [_Sent(at, None) for at in range(len(commands) - len(barriers))]
        groups = self._groups(commands, waiting)
        if barriers and not waiting:
            groups = [(node, []) for node in self._slots.primaries()]
        first = _Exchange(self, self._slots, commands, groups, barriers)
        return lambda: self._finish(commands, waiting, barriers, first)

    def _finish(
        self,
        commands: Sequence[QueuedCommand],
        waiting: Sequence[_Sent],
        barriers: Sequence[QueuedCommand],
        exchange: "_Exchange",
    ) -> list[Any]:
        """Return the replies in order, after redirected commands were sent again."""
        end = time.monotonic() + REDIRECT_SECONDS
        replies: list[Any] = [None] * len(commands)
        confirmed: list[list[Any]] = []
        while exchange.groups:
            confirmed += exchange.read(replies)
            again = [
                sent for sent in waiting if isinstance(replies[sent.at], (AskError, TryAgainError))
            ]
            if again and time.monotonic() > end:
                error = replies[again[0].at]
                raise self._unsettled(error) from error
            if any(not isinstance(replies[sent.at], MovedError) for sent in again):
                time.sleep(_PAUSE_SECONDS)
            waiting = [_Sent(sent.at, self._redirected(replies[sent.at])) for sent in again]
            groups = self._groups(commands, waiting)
            exchange = _Exchange(self, self._slots, commands, groups, barriers)
        for reply in replies:
            if isinstance(reply, ClusterDownError):
                raise self._down(reply) from reply
        for at, of_nodes in enumerate(zip(*confirmed, strict=True), len(commands) - len(barriers)):
            replies[at] = least_confirmed(of_nodes)
        return replies

    def _redirected(self, error: Exception) -> redis.Redis | None:
        """Learn from a redirection; return the node to which a reply ASK leads."""
        if isinstance(error, MovedError):
            self._slots.moved(error)
            return None
        return self._slots.asked(error) if isinstance(error, AskError) else None

    def _groups(
        self, commands: Sequence[QueuedCommand], waiting: Sequence[_Sent]
    ) -> list[tuple[redis.Redis, list[_Sent]]]:
        """Return the commands by node."""
        groups: dict[int, tuple[redis.Redis, list[_Sent]]] = {}
        for sent in waiting:
            nodes = [sent.asked] if sent.asked else self._nodes_of(commands[sent.at][0])
            for node in nodes:
                groups.setdefault(id(node), (node, []))[1].append(sent)
        return list(groups.values())

    def _nodes_of(self, words: Sequence[Any]) -> list[redis.Redis]:
        key = key_of(words)
        if key is not None:
            return [self._slots.node_of(slot_of_key(key))]
        if words[0] == "TIME":
            return [self._slots.node_of(CLOCK_SLOT)]
        if words[0] in _OF_ALL_NODES:
            return self._slots.primaries()
        raise ValueError(f"{words[0]} has no key; a cluster's nodes are asked one by one")

    def _down(self, error: Exception) -> redis.ConnectionError:
        self._slots.doubt()
        return redis.ConnectionError(f"the cluster does not serve all slots now ({error})")

    def _unsettled(self, error: Exception) -> redis.ConnectionError:
        self._slots.doubt()
        return redis.ConnectionError(f"a slot of the cluster did not come to rest ({error})")


class _Exchange:
    """Sends the commands of each node, and reads their replies; `replies` has a place for each command."""

    def __init__(
        self,
        pipe: Pipeline,
        slots: SlotMap,
        commands: Sequence[QueuedCommand],
        groups: Sequence[tuple[redis.Redis, Sequence[_Sent]]],
        barriers: Sequence[QueuedCommand],
    ) -> None:
        self._pipe = pipe
        self._slots = slots
        self._commands = commands
        self.groups = groups
        self._barriers = barriers
        self._connections: list[Any] = []  # redis-py types little of them
        self._read = 0
        """How many nodes' replies are read."""
        # before anything is sent, because then a node that is away leaves nothing in doubt
        for node, _ in groups:
            with self._ended_by_errors(node):
                self._connections.append(node.connection_pool.get_connection())
        for (node, sents), connection in zip(groups, self._connections, strict=True):
            words = [
                one
                for sent in sents
                for one in ([("ASKING",)] if sent.asked else []) + [commands[sent.at][0]]
            ]
            words += [words_of_one for words_of_one, _ in barriers]
            with self._ended_by_errors(node):
                connection.send_packed_command(connection.pack_commands(words))

    def read(self, replies: list[Any]) -> list[list[Any]]:
        """Put all replies into their places; return those to the barriers of each node."""
        confirmed = []
        for (node, sents), connection in zip(self.groups, self._connections, strict=True):
            with self._ended_by_errors(node):
                for sent in sents:
                    if sent.asked:
                        read_reply(self._pipe, connection, (("ASKING",), {}))
                    replies[sent.at] = read_reply(self._pipe, connection, self._commands[sent.at])
                confirmed.append(
                    [read_reply(self._pipe, connection, barrier) for barrier in self._barriers]
                )
            self._read += 1
        self._release()
        return confirmed

    @contextmanager
    def _ended_by_errors(self, node: redis.Redis) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            if isinstance(error, redis.ConnectionError | redis.TimeoutError):
                self._slots.node_lost(_address_of(node))
            self._release()
            raise

    def _release(self) -> None:
        for at, ((node, _), connection) in enumerate(
            zip(self.groups, self._connections, strict=False)
        ):
            if at >= self._read:  # its replies would be those of the next commands
                connection.disconnect()
            node.connection_pool.release(connection)


def _address_of(node: redis.Redis) -> Address:
    options = node.connection_pool.connection_kwargs
    return str(options["host"]), int(options["port"])


def _barriers_of(commands: Sequence[QueuedCommand]) -> Sequence[QueuedCommand]:
    """Return the barriers at the end of a pipeline."""
    start = len(commands)
    while start and str(commands[start - 1][0][0]) in _BARRIERS:
        start -= 1
    return commands[start:]


def least_confirmed(confirmed: Sequence[Any]) -> Any:
    """Return the smallest numbers of the replies to a barrier, or the first error among them."""
    for reply in confirmed:
        if isinstance(reply, Exception):
            return reply
    if isinstance(confirmed[0], list):
        return [min(numbers) for numbers in zip(*confirmed, strict=True)]
    return min(confirmed)


class _NoPool(redis.ConnectionPool):
    """The pool of a client that has none: a cluster has one for each node."""

    def get_connection(self, *_: Any, **__: Any) -> NoReturn:
        """Raise, because nobody may send a command past the map of slots."""
        raise NotImplementedError("a cluster has a pool for each node")


def slots_of(client: redis.Redis) -> SlotMap | None:
    """Return the map of slots that a client goes by; None for a client of one server."""
    return getattr(client, "slots", None)


def in_cluster(client: redis.Redis) -> bool:
    """Return whether a client is one of a cluster, so that a command has keys of one slot."""
    return slots_of(client) is not None


def servers_of(client: redis.Redis) -> list[redis.Redis]:
    """Return a client for each server that takes writes: of one server the client itself."""
    slots = slots_of(client)
    return [client] if slots is None else slots.primaries()
