"""Auto-pipelining to a cluster: one `AutoPipeline` a node, so that micro-batches are those of a node.

It is used as an `AutoPipeline`. A command that a node answered with MOVED, ASK or TRYAGAIN was not executed,
so it is sent again, to the right node. Nothing else is.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any, Final

import redis
from redis import asyncio as aredis
from redis.exceptions import AskError, ClusterDownError, MovedError, TryAgainError

from infra.redis.addresses import Topology, topology_of
from infra.redis.autopipeline import CONNECTIONS, AutoPipeline, CommandWords
from infra.redis.clients import make_async_client, make_async_node, make_slot_map
from infra.redis.cluster import CLOCK_SLOT, REDIRECT_SECONDS
from infra.redis.slot_map import Address, key_of, slot_of_key

_PAUSE_SECONDS: Final = 0.02
_ASKING: Final[CommandWords] = ("ASKING",)
_OF_ALL_NODES: Final = frozenset({"PING", "SCRIPT"})
"""Commands without a key that all primaries have to execute."""


class ClusterAutoPipeline(AutoPipeline):
    """Sends the commands of many tasks together to the nodes of a cluster; open it with `async with`."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._slots = make_slot_map(url)
        self._pipes: dict[Address, AutoPipeline] = {}
        self._clients: list[aredis.Redis] = []
        self._sending: set[asyncio.Future[list[Any]]] = set()

    async def __aexit__(self, *_: object) -> None:
        for pipe in self._pipes.values():
            await pipe.__aexit__()
        for client in self._clients:
            await client.aclose()
        self._slots.close()

    def submit(self, commands: Iterable[CommandWords]) -> asyncio.Future[list[Any]]:
        """Send commands; the future has their replies, errors included."""
        task = asyncio.get_running_loop().create_task(self.send(commands))
        self._sending.add(task)  # because a loop keeps no reference to a task
        task.add_done_callback(self._sending.discard)
        return task

    async def send(self, commands: Iterable[CommandWords]) -> list[Any]:
        """Send commands, and return their replies in order, errors included."""
        words = list(commands)
        if words and words[0][0] in _OF_ALL_NODES:
            return [await self._send_to_all(one) for one in words]
        replies: list[Any] = [None] * len(words)
        waiting: list[tuple[int, Address | None]] = [(at, None) for at in range(len(words))]
        end = asyncio.get_running_loop().time() + REDIRECT_SECONDS
        while waiting:
            if self._slots.stale:
                # redis-py reads the map in a thread's way
                await asyncio.to_thread(self._slots.refresh)
            await self._exchange_by_node(words, waiting, replies)
            again = [at for at, _ in waiting if isinstance(replies[at], (AskError, TryAgainError))]
            if not again or asyncio.get_running_loop().time() > end:
                break
            waiting = [(at, self._learn(replies[at])) for at in again]
            if not all(isinstance(replies[at], MovedError) for at in again):
                await asyncio.sleep(_PAUSE_SECONDS)
        for reply in replies:
            if isinstance(reply, ClusterDownError):
                self._slots.node_lost()
                raise redis.ConnectionError(f"the cluster does not serve all slots now ({reply})")
        return replies

    async def _send_to_all(self, words: CommandWords) -> Any:
        """Send a command to all primaries; return the first error, or the reply of one."""
        addresses = await asyncio.to_thread(self._slots.primary_addresses)
        found = [await self._pipe(address).send([words]) for address in addresses]
        replies = [reply for (reply,) in found]
        return next((reply for reply in replies if isinstance(reply, Exception)), replies[0])

    def _learn(self, error: Exception) -> Address | None:
        """Return the node to which a reply ASK leads."""
        if isinstance(error, MovedError):
            self._slots.moved(error)
            return None
        return (error.host, error.port) if isinstance(error, AskError) else None

    async def _exchange_by_node(
        self,
        words: list[CommandWords],
        waiting: list[tuple[int, Address | None]],
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
        for group, result in zip(groups.values(), found, strict=True):
            if isinstance(result, BaseException):
                self._slots.node_lost()
                raise result
            answers = iter(result)
            for at, was_asked in group:
                if was_asked:
                    next(answers)
                replies[at] = next(answers)

    def _address_of(self, words: CommandWords) -> Address:
        key = key_of(words)
        if key is None and words[0] != "TIME":
            raise ValueError(f"{words[0]!r} has no key; a cluster's nodes are asked one by one")
        return self._slots.address_of(CLOCK_SLOT if key is None else slot_of_key(key))

    def _pipe(self, address: Address) -> AutoPipeline:
        if address not in self._pipes:
            client = make_async_node(self._url, *address, max_connections=CONNECTIONS)
            self._clients.append(client)
            self._pipes[address] = AutoPipeline(client)
        return self._pipes[address]


@asynccontextmanager
async def open_pipeline(url: str) -> AsyncIterator[AutoPipeline]:
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
