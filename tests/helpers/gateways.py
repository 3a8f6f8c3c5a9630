"""The gateway over any store, for tests that make their own: the one of the product, in a thread of its own."""

from asyncio import to_thread
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from typing import Any, Self

from fakeredis import FakeAsyncRedis, FakeRedis
from redis import Redis

from bench.harness import OutcomeListener
from domain.match.commands import CommandEnvelope
from infra.durability.durability import DurabilityNotes
from infra.redis.clients import make_async_client
from infra.redis.keys import Lane
from infra.store.async_gateway import AsyncCommandGateway, AsyncStore, gateway_in_thread
from infra.store.gateway import WAIT_SECONDS
from infra.store.leases import AsyncLaneLeases, LaneLeases
from infra.store.outcomes import CommandOutcome
from infra.store.port import Store, Submission, SubmitResult

__all__ = ["OutcomeListener", "StoreGateway"]


class _StoreInLoop(AsyncStore):
    """A blocking store in an event loop that has nothing else to do."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def refresh_layout(self) -> None:
        """Do nothing, because the store reads it."""

    def node_of(self, board: int) -> object:
        del board

    def lane_of(self, board: int) -> Lane:
        return self._store.layout().lane_of(board)

    async def submit(self, submissions: Sequence[Submission]) -> list[SubmitResult]:
        return list(self._store.submit(submissions))

    async def outcomes(self, wanted: Sequence[tuple[int, bytes]]) -> list[bytes | None]:
        return [self._store.outcome(board, command) for board, command in wanted]


class _LanesInLoop(AsyncLaneLeases):
    """Blocking leases; a drain that they wake runs before the request returns."""

    def __init__(self, lanes: LaneLeases) -> None:
        self._lanes = lanes

    async def request(self, lane: Lane) -> None:
        self._lanes.request(lane)


def _async_client(client: Redis) -> Any:
    """Return a client of the same server for an event loop."""
    options = client.connection_pool.connection_kwargs
    if isinstance(client, FakeRedis):
        return FakeAsyncRedis(server=options["server"])
    if "path" in options:
        return make_async_client(options["path"])
    return make_async_client(f"redis://{options['host']}:{options['port']}")


class StoreGateway:
    """A gateway for a store, lanes and the server of the queue; close it, or use it in a `with`."""

    def __init__(
        self,
        store: Store,
        lanes: LaneLeases,
        client: Redis,
        notes: DurabilityNotes | None = None,
        *,
        confirm: Callable[[], bool] = lambda: True,
    ) -> None:
        self.client = client

        async def noted_fault() -> str:
            note = notes.read() if notes else None
            return note.fault if note else ""

        @asynccontextmanager
        async def opened() -> AsyncIterator[AsyncCommandGateway]:
            async with (
                _async_client(client) as queue,
                AsyncCommandGateway(
                    *(_StoreInLoop(store), _LanesInLoop(lanes), queue, noted_fault),
                    confirm=lambda: to_thread(confirm),
                ) as gateway,
            ):
                yield gateway

        client.ping()  # a server that is away is an error, as it is for an `App`
        self._stack = ExitStack()
        self._gateway = self._stack.enter_context(gateway_in_thread(opened()))

    def send(
        self, sent: CommandEnvelope, ply: int, seconds: float = WAIT_SECONDS
    ) -> CommandOutcome:
        return self._gateway.send(sent, ply, seconds)

    def submit_all(self, sents: Sequence[CommandEnvelope]) -> None:
        """Submit commands without waiting for their outcomes."""
        self._gateway.submit_all(sents)

    def close(self) -> None:
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
