"""The data's server with its memory full: what frees memory goes on, and so does what has to come before."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import OutOfMemoryError

from domain.match.commands import PlayMove, ResignMatch
from infra.archive.archive import Archive
from infra.archive.objects import open_archive
from infra.archive.store import StoreWithArchive
from infra.durability.durability import Mode
from infra.log.key_files import generate_keys
from infra.redis import keys
from infra.settings.settings import Settings
from infra.store.closed_shards import ClosedKind, ClosedShards
from infra.store.log_gate import read_ends
from infra.store.watermarks import read_published_sizes
from infra.valkey.server import EmbeddedServer
from tests.helpers.bench import Bench
from tests.helpers.given import ALICE, BOB
from tests.helpers.rollback import copy_of, put_back
from tests.helpers.side import catch_up
from workers import retire
from workers.log.job import make_publisher, trim
from workers.log.publisher import Publisher

SHARD, OVER, ACTIVE = 1, 1, 5


@contextmanager
def full(client: Redis) -> Iterator[None]:
    """Have the server's memory full: every command that needs some is refused."""
    client.config_set("maxmemory", 1)
    try:
        with pytest.raises(OutOfMemoryError):
            client.set("more", "memory")
        yield
    finally:
        client.config_set("maxmemory", 0)


@pytest.fixture(scope="module")
def queue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Redis]:
    """The server of the queue, which has memory."""
    folder = tmp_path_factory.mktemp("queue")
    with EmbeddedServer(folder, durable=False) as server, server.client() as client:
        yield client


@pytest.fixture
def settings(valkey: EmbeddedServer, tmp_path: Path) -> Settings:
    generate_keys(tmp_path / "keys", "example.org")
    return Settings(data=tmp_path, redis_url=valkey.url)


@pytest.fixture
def bench(redis_client: Redis, tmp_path: Path, queue: Redis) -> Bench:
    """A match that is over and one that goes on, in one shard."""
    queue.flushall()
    made = Bench(redis_client, tmp_path / "seeds")
    made.start(OVER, ACTIVE)
    for board in (OVER, ACTIVE):
        made.send(ALICE, PlayMove(text="m13-j7"), board)
        made.send(BOB, PlayMove(text="a13-d7"), board)
        made.send(ALICE, PlayMove(text="m1-i3"), board)
    made.send(BOB, ResignMatch(), OVER)
    made.drain()
    return made


def publisher_of(settings: Settings, bench: Bench, queue: Redis) -> Publisher:
    made = make_publisher(settings, bench.client, queue)
    made.begin()
    return made


def read_back(settings: Settings, bench: Bench) -> StoreWithArchive:
    archive = Archive(lambda: open_archive(settings), lambda: 4)
    return StoreWithArchive(bench.client, Mode.FSYNC, archive)


def test_what_waits_is_published(settings: Settings, bench: Bench, queue: Redis) -> None:
    with full(bench.client):
        publisher = publisher_of(settings, bench, queue)
        while publisher.round(0):
            pass
    sizes = [one.size for one in read_published_sizes(bench.client, 4)]
    assert sizes == list(bench.store.watermark().ends)
    assert sizes[SHARD] > 0


def test_a_store_that_is_away_meanwhile_is_tried_again(
    settings: Settings, bench: Bench, queue: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.log.publisher.RETRY_SECONDS", 0.0)
    (settings.data / "log").mkdir()
    (settings.data / "log" / "s01").write_text("no folder")
    with full(bench.client):
        publisher = publisher_of(settings, bench, queue)
        publisher.round(0)
        assert read_published_sizes(bench.client, 4)[SHARD].fault
        (settings.data / "log" / "s01").unlink()
        publisher.begin()
        while publisher.round(0):
            pass
    assert not read_published_sizes(bench.client, 4)[SHARD].fault


def test_matches_retire(
    settings: Settings, bench: Bench, queue: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retire, "DAY", 0)
    publisher_of(settings, bench, queue).round(0)
    catch_up(bench.store, bench.client)
    before = bench.store.events(OVER)
    with full(bench.client):
        store = read_back(settings, bench)
        assert retire.run(settings, store, bench.client, queue, SHARD) == 1
    assert not bench.client.keys(f"{{s01*:m:{OVER}*")
    assert read_back(settings, bench).events(OVER) == before


def test_logs_are_trimmed(
    settings: Settings, bench: Bench, queue: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.log.job.WIDTH", 1)
    publisher_of(settings, bench, queue).round(0)
    catch_up(bench.store, bench.client)
    with full(bench.client):
        limit = trim(bench.client, 4, kept=1)[SHARD]
    assert limit > 0
    assert bench.client.xrange(keys.log(SHARD), count=1)[0][0] == b"%d-1" % limit


def test_a_shard_is_restored_as_soon_as_there_is_memory(
    settings: Settings,
    bench: Bench,
    queue: Redis,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("workers.log.publisher.RETRY_SECONDS", 0.0)
    monkeypatch.setattr("workers.log.restore.LOOK_SECONDS", 0.0)
    copy = copy_of(bench.client)
    bench.send(BOB, PlayMove(text="a1-e3"), ACTIVE)
    bench.drain()
    publisher_of(settings, bench, queue).round(0)
    end = read_ends(bench.client, [SHARD])
    put_back(bench.client, copy)
    with full(bench.client):
        publisher = publisher_of(settings, bench, queue)
        for _ in range(3):
            publisher.round(0)
        assert read_ends(bench.client, [SHARD]) < end
    publisher = publisher_of(settings, bench, queue)
    assert ClosedShards(bench.client).read([SHARD])[SHARD].kind is ClosedKind.ROLLED_BACK
    with full(bench.client):
        publisher.round(0)
        assert "shard 1 can't be restored" in caplog.text
    for _ in range(3):
        publisher.round(0)
    assert read_ends(bench.client, [SHARD]) == end
    assert not ClosedShards(bench.client).read(range(4))
