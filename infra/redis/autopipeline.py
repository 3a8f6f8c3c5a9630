"""Auto-pipelining for an event loop: commands of many tasks at one moment go in one write.

redis-py's pipelines take a connection from the pool for each use, encode each word in Python and set a
time limit for each reply: for a process with many thousand small requests a second this is most of its
work. An `AutoPipeline` keeps a few connections, packs with hiredis and sets one limit an exchange; redis-py
connects, logs in, does TLS and parses.

Micro-batches: requests of several tasks at one moment share a round trip.

Auto-pipelining to a cluster: one `AutoPipeline` a node, so that micro-batches are those of a node.

A command that a node answered with MOVED, ASK or TRYAGAIN was not executed, so it is sent again, to the right
node. Nothing else is.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from itertools import islice
from typing import Any, Final, Generic, Protocol, Self, TypeAlias, TypeVar

import hiredis
import msgspec
import redis
from redis import asyncio as aredis
from redis._parsers.hiredis import NOT_ENOUGH_DATA
from redis.exceptions import AskError, ClusterDownError, MovedError, ResponseError, TryAgainError

from infra.redis.addresses import Topology, topology_of
from infra.redis.clients import (
    ANSWER_TIMEOUT,
    HEALTH_INTERVAL,
    make_async_client,
    make_async_node,
    make_slot_map,
)
from infra.redis.cluster import CLOCK_SLOT, REDIRECT_SECONDS, Address, key_of, slot_of_key

CommandWords: TypeAlias = tuple[str | bytes | int, ...]
"""A command. It must not block in the server, because the commands of others wait behind it."""

_pack: Final[Any] = hiredis.pack_command  # typed as taking one word

CONNECTIONS: Final = 2
"""Writes in flight at a time: a new request need not wait for the last write's replies."""

MOST_TOGETHER: Final = 256
"""Most requests in one write, because they share its time limit and the loss of its connection."""

MOST_SECONDS_UNSENT: Final = ANSWER_TIMEOUT
"""How long a request may wait to be sent."""


def raise_errors(replies: list[Any]) -> list[Any]:
    """Return the replies; raise the first error among them."""
    for reply in replies:
        if isinstance(reply, ResponseError):
            raise reply
    return replies


class CommandPipeline(Protocol):
    """Sends commands from an event loop: an `AutoPipeline`, or one a node of a cluster."""

    def send(self, commands: Iterable[CommandWords]) -> Awaitable[list[Any]]:
        """Send commands; their replies are awaited, in order, errors included."""
        ...

    async def send_together(self, commands: Iterable[CommandWords]) -> list[Any]:
        """As `send`; one server reads all strings of GETs and MGETs at one moment, as MGET does."""
        ...

    def node_of(self, key: str) -> object:
        """Return what tells the node of a key from other nodes, as far as that is known."""
        ...


class _Request(msgspec.Struct):
    """The commands of one task, packed."""

    packed: bytes
    count: int
    """How many commands these are."""
    since: float
    """By the clock of the event loop."""
    future: asyncio.Future[list[Any]]


class AutoPipeline:
    """Sends the commands of many tasks together; open it with `async with`.

    Like every client made by `infra.redis.clients` it sends nothing twice: a broken connection is raised to all tasks that
    wait for its replies, as `redis.RedisError` or `OSError`. So is an answer that does not come in time, to
    the tasks whose replies follow it on its connection. A request that waited too long to be sent is
    not sent.
    """

    def __init__(self, client: aredis.Redis) -> None:
        self._pool: Any = client.connection_pool  # redis-py types no part of its connections
        self._idle: list[Any] = []
        self._connections: list[Any] = []
        self._waiting: deque[_Request] = deque()
        self._in_flight = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        # those in use as well, because an exchange may go on after its task was cancelled
        for connection in self._connections:
            await connection.disconnect()

    def submit(self, commands: Iterable[CommandWords]) -> asyncio.Future[list[Any]]:
        """Send commands; the future has their replies, errors included."""
        loop = asyncio.get_running_loop()
        packed = [_pack(words) for words in commands]
        future: asyncio.Future[list[Any]] = loop.create_future()
        self._waiting.append(_Request(b"".join(packed), len(packed), loop.time(), future))
        if self._in_flight < CONNECTIONS:
            self._in_flight += 1
            task = loop.create_task(self._send_all())
            self._tasks.add(task)  # because a loop keeps no reference to a task
            task.add_done_callback(self._tasks.discard)
        return future

    def node_of(self, key: str) -> object:
        """Return the same for any key, because there is one server."""
        del key
        return None

    def send(self, commands: Iterable[CommandWords]) -> Awaitable[list[Any]]:
        """Send commands; their replies are awaited, in order, errors included."""
        return self.submit(commands)

    async def send_together(self, commands: Iterable[CommandWords]) -> list[Any]:
        """As `send`, with one MGET in place of all GETs and MGETs."""
        each = list(commands)
        names: list[str | bytes | int] = []
        others = []
        for words in each:
            if words[0] in ("GET", "MGET"):
                names += words[1:]
            else:
                others.append(words)
        found, *rest = await self.submit([("MGET", *names), *others])
        if isinstance(found, ResponseError):
            return [found] * len(each)
        strings, replies = iter(found), iter(rest)
        return [
            list(islice(strings, len(words) - 1))
            if words[0] == "MGET"
            else next(strings if words[0] == "GET" else replies)
            for words in each
        ]

    async def _send_all(self) -> None:
        try:
            while some := self._next():
                await self._exchange(some)
        finally:
            # no await since the queue was empty: the next request starts another task
            self._in_flight -= 1

    def _next(self) -> list[_Request]:
        """Return the oldest requests; those that are too old fail."""
        too_old = asyncio.get_running_loop().time() - MOST_SECONDS_UNSENT
        while self._waiting and self._waiting[0].since < too_old:
            _fail(self._waiting.popleft(), redis.TimeoutError("the server is slow; not sent"))
        return [self._waiting.popleft() for _ in range(min(MOST_TOGETHER, len(self._waiting)))]

    def _make(self) -> Any:
        connection = self._pool.make_connection()
        # the limit of the exchange holds; redis-py would make a task for that of each write
        connection.socket_timeout = None
        self._connections.append(connection)
        return connection

    async def _exchange(self, requests: Sequence[_Request]) -> None:
        connection = self._idle.pop() if self._idle else self._make()
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT):
                await _exchange(self._pool, connection, requests)
        except BaseException as error:
            await connection.disconnect(nowait=True)
            if not isinstance(error, Exception):
                raise
            if isinstance(error, TimeoutError):
                # not the built-in TimeoutError, which means that the caller's own limit has passed
                error = redis.TimeoutError("the server did not answer in time")
            for request in requests:
                _fail(request, error)
        finally:
            self._idle.append(connection)


def _fail(request: _Request, error: Exception) -> None:
    if not request.future.done():
        request.future.set_exception(error)


async def _exchange(pool: Any, connection: Any, requests: Sequence[_Request]) -> None:
    """Send the requests, and answer each as soon as its own replies are complete."""
    await pool.ensure_connection(connection)
    await connection.send_packed_command([b"".join(request.packed for request in requests)])
    parser = connection._parser  # noqa: SLF001 - an `_AsyncHiredisParser`, see `infra.redis.clients`
    # without the checks of redis-py, which take longer than the reply itself
    next_reply = parser._reader.gets  # noqa: SLF001
    for request in requests:
        replies: list[Any] = []
        while len(replies) < request.count:
            reply = next_reply()
            if reply is NOT_ENOUGH_DATA:
                await parser.read_from_socket()
            elif isinstance(reply, redis.ConnectionError):  # such as a server that is loading
                raise reply
            else:
                replies.append(reply)
        if not request.future.done():  # the task may be cancelled
            request.future.set_result(replies)
    # as redis-py does with each reply, because the connection works
    connection.next_health_check = asyncio.get_running_loop().time() + HEALTH_INTERVAL


RequestT = TypeVar("RequestT")
ResultT = TypeVar("ResultT")


MOST_IN_FLIGHT = 2
"""Batches in flight at a time: a new request need not wait for the last batch."""


class MicroBatcher(Generic[RequestT, ResultT]):
    """Sends together the requests that come while earlier batches are in flight.

    So a single request never waits, and many at once share a round trip. An exception of the batch
    is raised to all its requests. Where the result is None, the future stays open for others to set.
    """

    def __init__(
        self,
        ask: Callable[[Sequence[RequestT]], Awaitable[Sequence[ResultT | None]]],
        most: int = 512,
    ) -> None:
        self._request = ask
        self._most = most
        self._waiting: list[tuple[RequestT, asyncio.Future[ResultT]]] = []
        self._in_flight = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def get(self, wanted: RequestT) -> ResultT:
        """Send one request and return its result."""
        return await self.submit(wanted)

    def submit(
        self, wanted: RequestT, own: asyncio.Future[ResultT] | None = None
    ) -> asyncio.Future[ResultT]:
        """Send one request; the future, the caller's own if there is one, has its result."""
        future = asyncio.get_running_loop().create_future() if own is None else own
        self._waiting.append((wanted, future))
        if self._in_flight < MOST_IN_FLIGHT:
            self._in_flight += 1
            task = asyncio.create_task(self._request_all())
            self._tasks.add(task)  # because a loop keeps no reference to a task
            task.add_done_callback(self._tasks.discard)
        return future

    async def _request_all(self) -> None:
        try:
            while self._waiting:
                some, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
                await self._request_some(some)
        finally:
            # no await since the queue was empty: the next request starts another task
            self._in_flight -= 1

    async def _request_some(self, some: Sequence[tuple[RequestT, asyncio.Future[ResultT]]]) -> None:
        try:
            found = await self._request([wanted for wanted, _ in some])
        except Exception as error:  # noqa: BLE001 - raised by the futures
            for _, future in some:
                if not future.done():
                    future.set_exception(error)
            return
        for (_, future), one in zip(some, found, strict=True):
            if one is not None and not future.done():  # the task may be cancelled
                future.set_result(one)


logger = logging.getLogger(__name__)

_PAUSE_SECONDS: Final = 0.02
_ASKING: Final[CommandWords] = ("ASKING",)


class ClusterAutoPipeline:
    """Sends the commands of many tasks together to the nodes of a cluster; open it with `async with`.

    The map of slots is read in a thread, because redis-py waits for it. Only the first read is awaited: while
    a node is lost, the commands for the others go on by the map that is known.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._slots = make_slot_map(url)
        self._pipes: dict[Address, AutoPipeline] = {}
        self._clients: list[aredis.Redis] = []
        self._reading: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._reading is not None:
            await asyncio.wait([self._reading])
        for pipe in self._pipes.values():
            await pipe.__aexit__()
        for client in self._clients:
            await client.aclose()
        self._slots.close()

    def node_of(self, key: str) -> Address | None:
        """Return the address of the node of a key; None before the map was read."""
        return self._slots.known_address(slot_of_key(key))

    async def send_together(self, commands: Iterable[CommandWords]) -> list[Any]:
        """Send commands one by one, because their keys are of different slots."""
        return await self.send(commands)

    async def send(self, commands: Iterable[CommandWords]) -> list[Any]:
        """Send commands, and return their replies in order, errors included."""
        words = list(commands)
        if any(one[0] == "PING" for one in words):
            return [await self._send_to_all(one) for one in words]
        replies: list[Any] = [None] * len(words)
        waiting: list[tuple[int, Address | None]] = [(at, None) for at in range(len(words))]
        end = asyncio.get_running_loop().time() + REDIRECT_SECONDS
        while waiting:
            await self._read_map()
            await self._exchange_by_node(words, waiting, replies)
            again = [at for at, _ in waiting if isinstance(replies[at], (AskError, TryAgainError))]
            if again and asyncio.get_running_loop().time() > end:
                self._slots.doubt()
                raise redis.ConnectionError(
                    f"a slot of the cluster did not come to rest ({replies[again[0]]})"
                )
            waiting = [(at, self._learn(replies[at])) for at in again]
            if not all(isinstance(replies[at], MovedError) for at in again):
                await asyncio.sleep(_PAUSE_SECONDS)
        for reply in replies:
            if isinstance(reply, ClusterDownError):
                self._slots.doubt()
                raise redis.ConnectionError(f"the cluster does not serve all slots now ({reply})")
        return replies

    async def _send_to_all(self, words: CommandWords) -> Any:
        """Send a command to all primaries; return the first error, or the reply of one."""
        addresses = await asyncio.to_thread(self._slots.primary_addresses)
        found = [await self._pipe(address).send([words]) for address in addresses]
        replies = [reply for (reply,) in found]
        return next((reply for reply in replies if isinstance(reply, Exception)), replies[0])

    async def _read_map(self) -> None:
        if not self._slots.stale:
            return
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(asyncio.to_thread(self._slots.refresh))
            self._reading.add_done_callback(_log_failure)
        if self._slots.unread:
            await asyncio.shield(self._reading)

    async def _exchange_by_node(
        self,
        words: Sequence[CommandWords],
        waiting: Sequence[tuple[int, Address | None]],
        replies: list[Any],
    ) -> None:
        groups: dict[Address, list[tuple[int, bool]]] = {}
        for at, asked in waiting:
            address = asked or self._address_of(words[at])
            groups.setdefault(address, []).append((at, asked is not None))
        sent = [
            self._pipe(address).submit(
                one for at, asked in group for one in (*[_ASKING] * asked, words[at])
            )
            for address, group in groups.items()
        ]
        found = await asyncio.gather(*sent, return_exceptions=True)
        for (address, group), result in zip(groups.items(), found, strict=True):
            if isinstance(result, BaseException):
                self._slots.node_lost(address)
                raise result
            answers = iter(result)
            for at, was_asked in group:
                if was_asked:
                    next(answers)
                replies[at] = next(answers)

    def _learn(self, error: Exception) -> Address | None:
        """Learn from a redirection; return the node to which a reply ASK leads."""
        if isinstance(error, MovedError):
            self._slots.moved(error)
            return None
        return (error.host, error.port) if isinstance(error, AskError) else None

    def _address_of(self, words: CommandWords) -> Address:
        key = key_of(words)
        if key is None and words[0] != "TIME":
            raise ValueError(f"{words[0]!r} has no key; a cluster's nodes are asked one by one")
        found = self._slots.known_address(CLOCK_SLOT if key is None else slot_of_key(key))
        if found is None:
            self._slots.doubt()
            raise redis.ConnectionError("the cluster does not serve all slots now")
        return found

    def _pipe(self, address: Address) -> AutoPipeline:
        if address not in self._pipes:
            client = make_async_node(self._url, *address, max_connections=CONNECTIONS)
            self._clients.append(client)
            self._pipes[address] = AutoPipeline(client)
        return self._pipes[address]


def _log_failure(reading: asyncio.Task[None]) -> None:
    if not reading.cancelled() and (error := reading.exception()) is not None:
        logger.warning("the map of the cluster can't be read (%s); trying again", error)


@asynccontextmanager
async def open_pipeline(url: str) -> AsyncIterator[CommandPipeline]:
    """Open an auto-pipeline to the server, or the cluster, at a URL, and close it at the end."""
    if topology_of(url) is Topology.CLUSTER:
        async with ClusterAutoPipeline(url) as pipe:
            yield pipe
    else:
        async with (
            make_async_client(url, max_connections=CONNECTIONS) as client,
            AutoPipeline(client) as pipe,
        ):
            yield pipe
