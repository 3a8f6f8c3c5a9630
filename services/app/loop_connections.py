"""The connections of an event loop, with the store and the gateway on them."""

from asyncio import to_thread
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec
from redis import asyncio as aredis

from infra.archive.store import AsyncStoreWithArchive
from infra.durability.durability_watch import DurabilityWatch
from infra.redis import keys
from infra.redis.autopipeline import AutoPipeline, CommandPipeline, open_pipeline, raise_errors
from infra.redis.clients import make_async_client
from infra.store.async_gateway import AsyncCommandGateway, AsyncStore
from infra.store.leases import AsyncLaneLeases

if TYPE_CHECKING:
    from services.app.context import App

_MAX_CONNECTIONS: Final = 16
"""Connections of an event loop to each server; a few subscriptions are all that need one."""


class LoopConnections(msgspec.Struct, frozen=True):
    """The connections of an event loop to the servers of the matches and of the queue."""

    queue: aredis.Redis
    """For subscriptions."""
    pipe: CommandPipeline
    """To the matches' server."""
    queue_pipe: CommandPipeline
    store: AsyncStore
    lanes: AsyncLaneLeases

    async def noted_fault(self) -> str:
        """Return what the last verification has found; empty if nobody has verified lately."""
        (note,) = raise_errors(await self.queue_pipe.send([("GET", keys.DURABILITY)]))
        return (note or b"").decode()


@asynccontextmanager
async def open_connections(parts: "App") -> AsyncIterator[LoopConnections]:
    """Open the connections of an event loop, and close them at the end."""
    async with (
        make_async_client(parts.queue_url, max_connections=_MAX_CONNECTIONS) as queue,
        open_pipeline(parts.url) as pipe,
        AutoPipeline(queue) as apart,
    ):
        store = AsyncStoreWithArchive(
            pipe, parts.store.layout(), parts.settings.queue_cap, parts.archive
        )
        queue_pipe = pipe if parts.queue_url == parts.url else apart
        lanes = AsyncLaneLeases(queue_pipe, parts.wake)
        yield LoopConnections(queue, pipe, queue_pipe, store, lanes)


def gateway_on(
    loop: LoopConnections, watch: DurabilityWatch, *, durable: bool
) -> AsyncCommandGateway:
    """Return the gateway for commands, which is to be opened in the loop."""
    return AsyncCommandGateway(
        *(loop.store, loop.lanes, loop.queue, loop.noted_fault if durable else None),
        confirm=partial(to_thread, watch.confirm),
    )


@asynccontextmanager
async def open_gateway(parts: "App") -> AsyncIterator[AsyncCommandGateway]:
    """Open a gateway for commands with connections of its own."""
    async with (
        open_connections(parts) as loop,
        gateway_on(loop, parts.durability_watch(), durable=parts.durable) as gateway,
    ):
        yield gateway
