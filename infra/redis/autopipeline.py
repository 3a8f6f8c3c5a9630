"""Auto-pipelining for an event loop: commands of many tasks at one moment go in one write.

redis-py's pipelines take a connection from the pool for each use, encode each word in Python and set a
time limit for each reply: for a process with many thousand small requests a second this is most of its
work. An `AutoPipeline` keeps a few connections, packs with hiredis and sets one limit an exchange; redis-py
connects, logs in, does TLS and parses.
"""

import asyncio
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, Final, Protocol, Self, TypeAlias

import hiredis
import msgspec
import redis
from redis import asyncio as aredis
from redis._parsers.hiredis import NOT_ENOUGH_DATA
from redis.exceptions import ResponseError

from infra.redis.clients import ANSWER_TIMEOUT, HEALTH_INTERVAL

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

    async def send(self, commands: Iterable[CommandWords]) -> list[Any]:
        """Send commands, and return their replies in order, errors included."""
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

    async def send(self, commands: Iterable[CommandWords]) -> list[Any]:
        """Send commands, and return their replies in order, errors included."""
        return await self.submit(commands)

    async def send_together(self, commands: Iterable[CommandWords]) -> list[Any]:
        """As `send`, with one MGET in place of all GETs and MGETs."""
        each = list(commands)
        names = [name for words in each if words[0] in ("GET", "MGET") for name in words[1:]]
        others = [words for words in each if words[0] not in ("GET", "MGET")]
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
    for request in requests:
        replies = [await _reply(connection) for _ in range(request.count)]
        if not request.future.done():  # the task may be cancelled
            request.future.set_result(replies)
    # as redis-py does with each reply, because the connection works
    connection.next_health_check = asyncio.get_running_loop().time() + HEALTH_INTERVAL


async def _reply(connection: Any) -> Any:
    """Return a reply without the checks of redis-py, which take longer than the reply itself."""
    parser = connection._parser  # noqa: SLF001 - an `_AsyncHiredisParser`, see `infra.redis.clients`
    while (reply := parser._reader.gets()) is NOT_ENOUGH_DATA:  # noqa: SLF001
        await parser.read_from_socket()
    if isinstance(reply, redis.ConnectionError):  # such as a server that is loading
        raise reply
    return reply
