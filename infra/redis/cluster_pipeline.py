"""Auto-pipelining to a cluster: one `AutoPipeline` a node, so that micro-batches are those of a node.

A command that a node answered with MOVED, ASK or TRYAGAIN was not executed, so it is sent again, to the right
node. Nothing else is.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, Self

import redis
from redis import asyncio as aredis
from redis.exceptions import AskError, ClusterDownError, MovedError, TryAgainError

from infra.redis.addresses import Topology, topology_of
from infra.redis.autopipeline import CONNECTIONS, AutoPipeline, CommandPipeline, CommandWords
from infra.redis.clients import make_async_client, make_async_node, make_slot_map
from infra.redis.cluster import CLOCK_SLOT, REDIRECT_SECONDS
from infra.redis.slot_map import Address, key_of, slot_of_key

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
