"""A publisher that finds its data rolled back: it closes the shard, restores it and goes on."""

from pathlib import Path

import pytest
from redis import Redis

from domain.match.commands import PlayMove
from infra.log.key_files import generate_keys, read_keys
from infra.log.names import shard_key
from infra.log.published_log import PublishedLog
from infra.objects.port import ObjectStoreError
from infra.redis import keys
from infra.store.closed_shards import ClosedKind, ClosedShards
from infra.store.discarded_leaves import RestoredLeaves
from infra.store.log_gate import LogGate
from infra.store.watermarks import PublishedSizes, read_published_sizes
from tests.fakes.memory_store import MemoryObjects
from tests.helpers.bench import Bench
from tests.helpers.given import ALICE
from tests.helpers.rollback import copy_of, put_back
from workers.log import publisher as publisher_module
from workers.log import restore
from workers.log.publisher import Publisher
from workers.log.restore import LogRecovery, ShardRestorer

MOVE = PlayMove(text="m13-m9")


class Publishing:
    """A bench with a publisher that restores."""

    def __init__(self, client: Redis, folder: Path) -> None:
        self.bench = Bench(client, folder / "seeds")
        self.client = client
        self.objects = MemoryObjects()
        self._keys = folder / "keys"
        generate_keys(self._keys, "play.example.org")
        self.closed = ClosedShards(client)

    def publisher(self) -> Publisher:
        sizes = PublishedSizes(self.client, self.client)
        made = Publisher(
            *(self.bench.store, sizes, self.objects, lambda: read_keys(self._keys), 0.0),
            recovery=LogRecovery(self.closed, self._restorer),
        )
        made.begin()
        return made

    def _restorer(self, shard: int) -> ShardRestorer:
        public = [shard_key(key, shard) for key in read_keys(self._keys).public]
        log = PublishedLog(self.objects, shard, public)
        log.refresh()
        store = self.bench.store
        return ShardRestorer(store, RestoredLeaves(self.client, store.layout()), self.closed, log)

    def end(self) -> int:
        return len(self.bench.store.leaves(1, 0, 100))

    def size(self) -> int:
        return read_published_sizes(self.client, 4)[1].size


@pytest.fixture
def publishing(redis_client: Redis, tmp_path: Path) -> Publishing:
    made = Publishing(redis_client, tmp_path)
    made.bench.start(1)
    return made


def rolled_back(publishing: Publishing) -> int:
    """Publish a move, and take the data back to before it; return the published size."""
    before = copy_of(publishing.client)
    publishing.bench.send(ALICE, MOVE)
    publishing.bench.drain()
    publishing.publisher().round(wait_ms=1)
    size = publishing.size()
    put_back(publishing.client, before)
    assert publishing.end() == size - 1
    return size


def restored_and_played_on(publishing: Publishing, publisher: Publisher, size: int) -> None:
    """Run the publisher until `size` leaves are there again, and the shard takes and publishes a move."""
    for _ in range(3):
        publisher.round(wait_ms=1)
    assert publishing.end() == size
    assert publishing.closed.read(range(4)) == {}
    publishing.bench.send(ALICE, MOVE)
    publishing.bench.drain()
    publisher.round(wait_ms=1)
    assert publishing.size() == size + 1


def test_it_restores_what_it_finds_missing_and_publishes_on(publishing: Publishing) -> None:
    size = rolled_back(publishing)
    publisher = publishing.publisher()
    assert publishing.closed.read([1])[1].kind is ClosedKind.ROLLED_BACK
    assert publishing.size() == size, "so that drains know it"
    restored_and_played_on(publishing, publisher, size)


def test_a_shard_that_a_drain_has_closed_is_restored_by_a_publisher_that_runs(
    publishing: Publishing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restore, "LOOK_SECONDS", 0.0)
    client = publishing.client
    before = copy_of(client)
    publishing.bench.send(ALICE, MOVE)
    publishing.bench.drain()
    publisher = publishing.publisher()
    publisher.round(wait_ms=1)
    size = publishing.size()
    gate = LogGate(client, client)
    assert gate.look([1]) == set()
    put_back(client, before)
    gate.close(1, publishing.end())
    restored_and_played_on(publishing, publisher, size)


def test_a_store_that_is_away_leaves_the_shard_closed_until_it_is_back(
    publishing: Publishing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publisher_module, "RETRY_SECONDS", 0.0)
    size = rolled_back(publishing)
    publisher = publishing.publisher()
    objects = publishing.objects.get

    def away(name: str) -> bytes:
        raise ObjectStoreError(f"{name} can't be read")

    monkeypatch.setattr(publishing.objects, "get", away)
    for _ in range(3):
        publisher.round(wait_ms=1)
    assert publishing.end() == size - 1
    assert 1 in publishing.closed.read(range(4))
    assert "can't be read" in publishing.client.hget(keys.published(1), "fault").decode()
    monkeypatch.setattr(publishing.objects, "get", objects)
    for _ in range(4):
        publisher.round(wait_ms=1)
    assert publishing.end() == size
    assert publishing.closed.read(range(4)) == {}
