"""Auto-pipelining for an event loop: commands of many tasks at one moment go in one write.

redis-py's pipelines take a connection from the pool for each use, encode each word in Python and set a
time limit for each reply: for a process with many thousand small requests a second this is most of its
work. An `AutoPipeline` keeps a few connections, packs with hiredis and sets one limit an exchange; redis-py
connects, logs in, does TLS and parses.
"""

import asyncio
import math
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Final, Self, TypeAlias

import hiredis
import redis
from redis import asyncio as aredis
from redis.exceptions import ResponseError

from infra.redis.clients import ANSWER_TIMEOUT
from infra.redis.microbatch import MicroBatcher

CommandWords: TypeAlias = tuple[str | bytes | int, ...]
"""A command. It must not block in the server, because the commands of others wait behind it."""

_pack: Final[Any] = hiredis.pack_command  # typed as taking one word

_MOST: Final = 4_096
"""Most requests in one write."""


def raise_errors(replies: list[Any]) -> list[Any]:
    """Return the replies; raise the first error among them."""
    for reply in replies:
        if isinstance(reply, ResponseError):
            raise reply
    return replies


class AutoPipeline:
    """Sends the commands of many tasks together; open it with `async with`.

    Like every client made by `infra.redis.clients` it sends nothing twice: a broken connection is raised to all tasks that
    wait for its replies, as `redis.RedisError` or `OSError`.
    """

    def __init__(self, client: aredis.Redis) -> None:
        self._pool: Any = client.connection_pool  # redis-py types no part of its connections
        self._idle: list[Any] = []
        self._connection_count: list[Any] = []
        self._batches = MicroBatcher(self._exchange, _MOST)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        # those in use as well, because an exchange may go on after its task was cancelled
        for connection in self._connection_count:
            await connection.disconnect()

    def submit(self, commands: Iterable[CommandWords]) -> asyncio.Future[list[Any]]:
        """Send commands; the future has their replies, errors included."""
        return self._batches.submit([_pack(words) for words in commands])

    async def send(self, commands: Iterable[CommandWords]) -> list[Any]:
        """Send commands, and return their replies in order, errors included."""
        return await self.submit(commands)

    def _make(self) -> Any:
        connection = self._pool.make_connection()
        self._connection_count.append(connection)
        return connection

    async def _exchange(self, questions: Sequence[Sequence[bytes]]) -> list[list[Any]]:
        connection = self._idle.pop() if self._idle else self._make()
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT):
                return await _exchange(self._pool, connection, questions)
        except BaseException as error:
            await connection.disconnect(nowait=True)
            if isinstance(error, TimeoutError):
                # not the built-in TimeoutError, which means that the caller's own limit has passed
                raise redis.TimeoutError("the server did not answer in time") from None
            raise
        finally:
            self._idle.append(connection)


async def _exchange(
    pool: Any, connection: Any, questions: Sequence[Sequence[bytes]]
) -> list[list[Any]]:
    await pool.ensure_connection(connection)
    await connection.send_packed_command([b"".join(chain.from_iterable(questions))])
    return [[await _reply(connection) for _ in commands] for commands in questions]


async def _reply(connection: Any) -> Any:
    try:
        return await connection.read_response(timeout=math.inf)
    except ResponseError as error:
        return error
