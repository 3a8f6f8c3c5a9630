"""Every adapter of the store, behind one fixture."""

from asyncio import Runner
from collections.abc import Iterator, Sequence

import pytest
from redis import Redis

from domain.match.history import PackedSnapshot
from domain.records import CommandId
from infra.durability.durability import Mode
from infra.redis.autopipeline import open_pipeline
from infra.store.async_gateway import AsyncStore
from infra.store.layout import Layout, Numbering
from infra.store.port import Store, Submission, SubmitResult
from infra.store.redis_store import RedisStore
from tests.fakes.memory_store import MemoryStore, memory_client

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
    params=[
        "memory",
        "memory by shard",
        "fakeredis",
        "valkey",
        "valkey by shard",
        "event loop",
        pytest.param("cluster by shard", marks=pytest.mark.slow),
        pytest.param("event loop of a cluster", marks=[pytest.mark.slow, pytest.mark.long]),
    ]
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
        in_cluster = "cluster" in request.param
        client = request.getfixturevalue("cluster_client" if in_cluster else "redis_client")
        made = redis_store(client, Mode.FSYNC, BY_SHARD if in_cluster else shape)
        if request.param.startswith("event loop"):
            server = request.getfixturevalue("cluster" if in_cluster else "valkey")
            yield from loop_store(client, server.url)
        else:
            yield made


def redis_store(client: Redis, mode: Mode, shape: Layout) -> Store:
    made = RedisStore(client, mode, cap=CAP)
    made.create(shape)
    return made


def loop_store(client: Redis, url: str) -> Iterator[Store]:
    with Runner() as runner:
        opening = open_pipeline(url)
        pipe = runner.run(opening.__aenter__())
        yield LoopStore(client, runner, AsyncStore(pipe, SHAPE, CAP))
        runner.run(opening.__aexit__(None, None, None))
