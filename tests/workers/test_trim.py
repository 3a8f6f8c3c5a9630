"""Trimming the logs: whatever reads them reads the same as before; and what goes on while memory is full."""

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
from infra.mail.progress import MailerProgress
from infra.objects.files import FileObjects
from infra.objects.port import ObjectStoreError
from infra.redis import keys
from infra.settings.settings import Settings
from infra.store.closed_shards import ClosedKind, ClosedShards
from infra.store.failures import DamagedMatches
from infra.store.log_gate import LogGate, read_ends
from infra.store.redis_store import RedisStore
from infra.store.trimmed_leaves import TrimmedLeavesError, published_logs
from infra.store.watermarks import read_published_sizes
from infra.valkey.server import EmbeddedServer
from services.cli import verify
from tests.fakes.logs import ANCHOR
from tests.helpers.bench import Bench
from tests.helpers.corpus import Corpus
from tests.helpers.given import ALICE, BOB
from tests.helpers.rollback import copy_of, put_back
from tests.helpers.side import catch_up
from workers import retire
from workers.log import job
from workers.log.job import make_publisher, trim
from workers.log.publisher import Publisher
from workers.projections.log_reader import LogReader

SHARDS = 4


class TrimBench:
    """A bench with matches, whose leaves are published."""

    def __init__(self, bench: Bench, folder: Path) -> None:
        self.client, self.queue = bench.client, bench.queue
        self.settings = Settings(data=folder)
        self.folder = folder
        generate_keys(folder / "keys", "localhost")
        self.corpus = Corpus(bench, players=10, matches=80)
        self.store = self.reader()

    def play(self) -> None:
        """Play, fill two bundles of each shard with leaves that are no events, and publish."""
        while min(self.store.watermark().ends) < 40:
            self.corpus.step()
        with self.client.pipeline(transaction=False) as pipe:
            for shard, end in enumerate(self.store.watermark().ends):
                for index in range(end, 515):
                    pipe.xadd(keys.log(shard), {"l": ANCHOR}, id=f"{index}-1")
            pipe.execute()
        self.publish()

    def reader(self) -> RedisStore:
        return RedisStore(self.client, Mode.FSYNC, open_logs=lambda: published_logs(self.settings))

    def publish(self) -> None:
        publisher = make_publisher(self.settings, self.client, self.queue)
        publisher.begin()
        publisher.round()

    def logs(self, store: RedisStore) -> list[list[tuple[int, bytes]]]:
        return [store.leaves(shard, 0, 100_000) for shard in range(SHARDS)]

    def lengths(self) -> list[int]:
        return [self.client.xlen(keys.log(shard)) for shard in range(SHARDS)]


@pytest.fixture
def trimmed(bench: Bench, tmp_path: Path) -> TrimBench:
    """Matches by chance, published."""
    made = TrimBench(bench, tmp_path)
    made.play()
    return made


def test_where_little_is_published_no_reader_is_asked_how_far_it_has_read(
    trimmed: TrimBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("the positions were read")

    monkeypatch.setattr(job, "_positions", fail)
    lengths = trimmed.lengths()
    assert trim(trimmed.client, SHARDS) == [0] * SHARDS
    assert trimmed.lengths() == lengths
    with pytest.raises(AssertionError, match="were read"):
        trim(trimmed.client, SHARDS, kept=0)


def test_what_all_have_read_is_trimmed_and_reads_and_verifies_as_before(
    trimmed, bench_url, valkey, capsys
):
    before, lengths = trimmed.logs(trimmed.store), trimmed.lengths()
    settings = Settings(data=trimmed.folder, redis_url=bench_url, queue_url=valkey.url)
    assert verify.run("1", settings) == 0
    said = capsys.readouterr().out
    trim(trimmed.client, SHARDS, kept=0)
    assert trimmed.lengths() == lengths, "no projection has read anything"
    catch_up(trimmed.store, trimmed.client)
    mailer = MailerProgress(trimmed.client)
    mailer.begin([100, 0, 900, 900])
    assert trim(trimmed.client, SHARDS, kept=0)[:2] == [100, 0]
    assert trimmed.lengths()[:2] == [lengths[0] - 100, lengths[1]]
    assert mailer.advance(mailer.cursor(), [900] * 4)
    limits = trim(trimmed.client, SHARDS, kept=0)
    assert min(limits) >= 256
    assert trimmed.logs(trimmed.reader()) == before
    store = trimmed.reader()
    for shard, (rows, limit) in enumerate(zip(before, limits, strict=True)):
        assert trimmed.lengths()[shard] == len(rows) - limit
        indexes = [0, 255, limit - 1, limit, len(rows) - 1]
        assert store.leaves_at(shard, [*indexes, 10**6]) == [*(rows[i][1] for i in indexes), None]
        for start, count in ((0, 1), (limit - 3, 7), (100, 200), (len(rows) - 1, 9)):
            # once before and once after the store knows what is trimmed
            assert store.leaves(shard, start, count) == rows[start : start + count]
        assert store.leaves(shard, len(rows), 5) == []
    assert verify.run("1", settings) == 0
    assert capsys.readouterr().out == said
    (trimmed.folder / "log" / "s01" / "tile" / "entries" / "000").unlink()
    # the match is not to blame
    with pytest.raises(TrimmedLeavesError, match="does not exist"):
        verify.run("1", settings)
    assert DamagedMatches(trimmed.client).all() == {}
    with pytest.raises(
        TrimmedLeavesError, match="leaf 0 of shard 1 was trimmed, and can't be read"
    ):
        trimmed.reader().leaves(1, 0, 1)
    with pytest.raises(TrimmedLeavesError, match="does not read the published log"):
        RedisStore(trimmed.client, Mode.FSYNC).leaves(1, 0, 1)
    chunk = LogReader(trimmed.reader()).read((0,) * SHARDS)
    assert (1, 0) in [(one.shard, one.index) for one in chunk.unreadable]
    # one that is lost in the middle is not taken for a trimmed one
    end = len(before[2])
    trimmed.client.xdel(keys.log(2), f"{end - 2}-1")
    assert [index for index, _ in trimmed.reader().leaves(2, end - 3, 3)] == [end - 3, end - 1]


@pytest.mark.long
def test_readers_learn_a_key_that_was_replaced_without_a_restart(trimmed):
    catch_up(trimmed.store, trimmed.client)
    trim(trimmed.client, SHARDS, kept=0)
    store, reader = trimmed.reader(), LogReader(trimmed.reader())
    before = trimmed.logs(store)
    assert reader.read((0,) * SHARDS).leaves
    folder = trimmed.folder / "keys"
    (folder / "log-key").rename(folder / "log-key.old")
    generate_keys(folder, "localhost")
    trimmed.corpus.step()
    trimmed.publish()  # signed by both
    (folder / "log-key.old").unlink()
    while min(trimmed.store.watermark().ends) < 1_030:
        trimmed.corpus.step()
    trimmed.publish()  # by the new one alone
    catch_up(trimmed.store, trimmed.client)
    assert min(trim(trimmed.client, SHARDS, kept=0)) >= 512
    for shard, rows in enumerate(before):
        found = store.leaves(shard, 0, 100_000)
        assert found[: len(rows)] == rows
        assert len(found) >= 1_030
    assert not reader.read((520,) * SHARDS).unreadable


SHARD, OVER, ACTIVE = 1, 1, 5


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


class Played:
    """A match that is over and one that goes on in one shard, and what works on them."""

    def __init__(self, url: str, bench: Bench, queue: Redis, folder: Path) -> None:
        generate_keys(folder / "keys", "example.org")
        self.settings = Settings(data=folder, redis_url=url)
        self.bench, self.client, self.queue = bench, bench.client, queue
        bench.start(OVER, ACTIVE)
        for board in (OVER, ACTIVE):
            bench.send(ALICE, PlayMove(text="m13-j7"), board)
            bench.send(BOB, PlayMove(text="a13-d7"), board)
            bench.send(ALICE, PlayMove(text="m1-i3"), board)
        bench.send(BOB, ResignMatch(), OVER)
        bench.drain()

    def publisher(self) -> Publisher:
        made = make_publisher(self.settings, self.client, self.queue)
        made.begin()
        return made

    def archive(self) -> StoreWithArchive:
        archive = Archive(lambda: open_archive(self.settings), lambda: SHARDS)
        return StoreWithArchive(self.client, Mode.FSYNC, archive)


@pytest.fixture
def played(valkey: EmbeddedServer, redis_client: Redis, queue: Redis, tmp_path: Path) -> Played:
    queue.flushall()
    return Played(valkey.url, Bench(redis_client, tmp_path / "seeds"), queue, tmp_path)


def test_while_memory_is_full_leaves_are_published_matches_retire_and_logs_are_trimmed(
    played, monkeypatch
):
    monkeypatch.setattr("workers.log.publisher.RETRY_SECONDS", 0.0)
    monkeypatch.setattr("workers.log.job.WIDTH", 1)
    monkeypatch.setattr(retire, "DAY", 0)
    client, folder = played.client, played.settings.data / "log"
    folder.mkdir()
    (folder / "s01").write_text("no folder")
    with full(client):
        publisher = played.publisher()
        publisher.round(0)
        assert read_published_sizes(client, SHARDS)[SHARD].fault
        (folder / "s01").unlink()
        publisher = played.publisher()
        while publisher.round(0):
            pass
    found = read_published_sizes(client, SHARDS)
    assert not found[SHARD].fault
    assert [one.size for one in found] == list(played.bench.store.watermark().ends)
    assert found[SHARD].size > 0
    catch_up(played.bench.store, client)
    before = played.bench.store.events(OVER)
    with full(client):
        assert retire.run(played.settings, played.archive(), client, played.queue, SHARD) == 1
        limit = trim(client, SHARDS, kept=1)[SHARD]
    assert not client.keys(f"{{s01*:m:{OVER}*")
    assert played.archive().events(OVER) == before
    assert limit > 0
    assert client.xrange(keys.log(SHARD), count=1)[0][0] == b"%d-1" % limit


def test_a_shard_that_lost_leaves_is_restored_as_soon_as_there_are_objects_and_memory(
    played, monkeypatch, caplog
):
    for name in ("RETRY_SECONDS", "LOOK_SECONDS", "LOST_SECONDS"):
        monkeypatch.setattr(f"workers.log.publisher.{name}", 0.0)
    monkeypatch.setattr("workers.log.restore.LOOK_SECONDS", 0.0)
    client = played.client
    copy = copy_of(client)
    played.bench.send(BOB, PlayMove(text="a1-e3"), ACTIVE)
    played.bench.drain()
    running = played.publisher()
    running.round(0)
    end = read_ends(client, [SHARD])
    put_back(client, copy)
    with full(client):
        publisher = played.publisher()
        for _ in range(3):
            publisher.round(0)
        assert read_ends(client, [SHARD]) < end
    # one that begins finds it, and one that runs hears of it from a drain
    assert played.publisher()
    assert ClosedShards(client).read([SHARD])[SHARD].kind is ClosedKind.ROLLED_BACK
    LogGate(client, played.queue).close(SHARD, read_ends(client, [SHARD])[0])

    def away(_: FileObjects, name: str) -> bytes:
        raise ObjectStoreError(f"{name} can't be read")

    with monkeypatch.context() as patch:
        patch.setattr(FileObjects, "get", away)
        for _ in range(3):
            running.round(0)
    assert read_ends(client, [SHARD]) < end
    assert "can't be read" in client.hget(keys.published(SHARD), "fault").decode()
    with full(client):
        running.round(0)
        assert "shard 1 can't be restored" in caplog.text
    for _ in range(6):
        running.round(0)
    assert read_ends(client, [SHARD]) == end
    assert not ClosedShards(client).read(range(SHARDS))
    played.bench.send(ALICE, PlayMove(text="m13-m9"), ACTIVE)
    played.bench.drain()
    running.round(1)
    assert read_published_sizes(client, SHARDS)[SHARD].size == end[0] + 1
