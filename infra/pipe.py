"""One way to a server for a whole event loop: what is asked at one moment goes in one write.

redis-py's pipelines take a connection from the pool and give it back for each use, encode each
word in Python and set a time limit for each reply: for a door that asks for a little many thousand
times a second this is most of its work. A `Pipe` keeps its few connections, packs with hiredis and
sets one limit an exchange; connecting, logging in, TLS and parsing are redis-py's.
"""

import asyncio
import math
from collections.abc import Iterable, Sequence
from itertools import chain
from types import TracebackType
from typing import Any, Final, Self, TypeAlias

import hiredis
import redis
from redis import asyncio as aredis
from redis.exceptions import ResponseError

from infra.batches import Batches
from infra.clients import ANSWER_TIMEOUT

Words: TypeAlias = tuple[str | bytes | int, ...]
"""A command. It must not wait in the server: what else is asked waits behind it."""

_packed: Final[Any] = hiredis.pack_command  # typed as if it took one word

_MOST: Final = 4_096
"""Questions that go in one write at most."""


def sound(replies: list[Any]) -> list[Any]:
    """Return replies, none of which is an error; raise the first that is."""
    for reply in replies:
        if isinstance(reply, ResponseError):
            raise reply
    return replies


class Pipe:
    """Sends the commands of many at once; close it when done, or open it with `async with`.

    As with every client of ours nothing is sent twice: a connection that breaks is raised to all
    whose replies it owes, as `redis.RedisError` or `OSError`.
    """

    def __init__(self, client: aredis.Redis) -> None:
        self._pool: Any = client.connection_pool  # redis-py types no part of its connections
        self._idle: list[Any] = []
        self._made: list[Any] = []
        self._batches = Batches(self._exchange, _MOST)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # those in use as well: an exchange may be on its way that nobody waits for any more
        for connection in self._made:
            await connection.disconnect()

    def ask(self, commands: Iterable[Words]) -> asyncio.Future[list[Any]]:
        """Send commands; their replies, errors among them, are waited for later."""
        return self._batches.ask([_packed(words) for words in commands])

    async def send(self, commands: Iterable[Words]) -> list[Any]:
        """Send commands, and give their replies, errors among them, in their order."""
        return await self.ask(commands)

    def _make(self) -> Any:
        connection = self._pool.make_connection()
        self._made.append(connection)
        return connection

    async def _exchange(self, questions: Sequence[Sequence[bytes]]) -> list[list[Any]]:
        connection = self._idle.pop() if self._idle else self._make()
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT):
                return await _exchange(self._pool, connection, questions)
        except BaseException as error:
            await connection.disconnect(nowait=True)
            if isinstance(error, TimeoutError):
                # of redis-py's own kind: with the built-in one a caller says that *it* waited long
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
