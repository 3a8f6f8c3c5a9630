"""Every adapter of the store, behind one fixture."""

from asyncio import Runner
from collections.abc import Iterator, Sequence

import pytest
from redis import Redis

from domain.match.events import CommandId
from domain.match.history import PackedSnapshot
from infra.durability import Mode
from infra.redis.autopipeline import AutoPipeline
from infra.redis.clients import make_async_client
from infra.store.async_store import AsyncStore
from infra.store.layout import Layout, Numbering
from infra.store.port import Store, Submission, SubmitResult
from infra.store.redis_store import RedisStore
from infra.valkey.server import EmbeddedServer
from tests.fakes.memory import memory_client
from tests.fakes.memory_store import MemoryStore

CAP = 5
SHAPE = Layout(shards=4, lanes=1)
BY_SHARD = Layout(shards=4, lanes=1, numbering=Numbering.SHARD)


class LoopStore(RedisStore):
    """The store of event loops for what it can do, in a loop of its own; the rest is inherited."""

    def __init__(self, client: Redis, runner: Runner, store: AsyncStore) -> None:
        super().__init__(client, Mode.FSYNC, cap=CAP)
        self._runner = runner
        self._store = store

    def submit(self, submissions: Sequence[Submission]) -> list[SubmitResult]:
        return self._runner.run(self._store.submit(submissions))

    def snapshots(self, boards: Sequence[int]) -> list[PackedSnapshot | None]:
        async def read() -> list[PackedSnapshot | None]:
            return [await self._store.snapshot(board) for board in boards]

        return self._runner.run(read())

    def outcome(self, board: int, command: CommandId) -> bytes | None:
        (found,) = self._runner.run(self._store.outcomes([(board, command)]))
        return found

    def events(self, board: int) -> list[bytes]:
        return self._runner.run(self._store.events(board, 1))

    def inbox_size(self, shards: Sequence[int]) -> int:
        if [*shards] == [*range(SHAPE.shards)]:
            return self._runner.run(self._store.inbox_size())
        return super().inbox_size(shards)


@pytest.fixture(
    params=["memory", "memory by shard", "fakeredis", "valkey", "valkey by shard", "event loop"]
)
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    shape = BY_SHARD if request.param.endswith("by shard") else SHAPE
    if request.param.startswith("memory"):
        made: Store = MemoryStore(cap=CAP)
        made.create(shape)
        yield made
    elif request.param == "fakeredis":
        with memory_client() as client:
            yield redis_store(client, Mode.NONE, shape)
    else:
        client = request.getfixturevalue("redis_client")
        made = redis_store(client, Mode.FSYNC, shape)
        if request.param.startswith("valkey"):
            yield made
        else:
            yield from loop_store(client, request.getfixturevalue("valkey"))


def redis_store(client: Redis, mode: Mode, shape: Layout) -> Store:
    made = RedisStore(client, mode, cap=CAP)
    made.create(shape)
    return made


def loop_store(client: Redis, server: EmbeddedServer) -> Iterator[Store]:
    async def close() -> None:
        await pipe.__aexit__(None, None, None)
        await data.aclose()

    with Runner() as runner:
        data = make_async_client(server.url)
        pipe = AutoPipeline(data)
        yield LoopStore(client, runner, AsyncStore(pipe, SHAPE, CAP))
        runner.run(close())
