"""Trimming the logs: whatever reads them reads the same as before, from the published log."""

from pathlib import Path

import pytest

from infra.durability.durability import Mode
from infra.log.key_files import generate_keys
from infra.mail.progress import MailerProgress
from infra.redis import keys
from infra.settings.settings import Settings
from infra.store.failures import DamagedMatches
from infra.store.redis_store import RedisStore
from infra.store.trimmed_leaves import TrimmedLeavesError, published_logs
from infra.store.watermarks import PublishedSizes
from infra.valkey.server import EmbeddedServer
from services.cli import verify
from tests.helpers.bench import Bench
from tests.helpers.corpus import Corpus
from tests.helpers.rollback import names_of
from tests.helpers.side import catch_up, contents
from workers.log import job as trim_module
from workers.log.job import make_publisher, trim
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
        """Play until two bundles of each shard are full, and publish."""
        while min(self.store.watermark().ends) < 600:
            self.corpus.step()
        self.publish()

    def fill(self) -> None:
        """Publish leaves that are no events."""
        with self.client.pipeline(transaction=False) as pipe:
            for shard in range(SHARDS):
                for index in range(700):
                    pipe.xadd(keys.log(shard), {"l": b"leaf %d" % index}, id=f"{index}-1")
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


@pytest.fixture
def filled(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TrimBench:
    """Leaves that are no events, published; no reader is waited for."""
    monkeypatch.setattr(trim_module, "MOST_WAITING", 0)
    made = TrimBench(bench, tmp_path)
    made.fill()
    return made


def test_leaves_are_the_same_before_and_after(trimmed: TrimBench):
    before = trimmed.logs(trimmed.store)
    catch_up(trimmed.store, trimmed.client)
    limits = trim(trimmed.client, SHARDS, kept=0)
    assert min(limits) >= 256
    assert [
        len(rows) - limit for rows, limit in zip(before, limits, strict=True)
    ] == trimmed.lengths()
    assert trimmed.logs(trimmed.reader()) == before
    store = trimmed.reader()
    for shard, rows in enumerate(before):
        indexes = [0, 255, limits[shard] - 1, limits[shard], len(rows) - 1]
        assert store.leaves_at(shard, [*indexes, 10**6]) == [*(rows[i][1] for i in indexes), None]
        for start, count in ((0, 1), (limits[shard] - 3, 7), (100, 300), (len(rows) - 1, 9)):
            # once before and once after the store knows what is trimmed
            assert store.leaves(shard, start, count) == rows[start : start + count]
        assert store.leaves(shard, len(rows), 5) == []


@pytest.mark.long
def test_a_rebuild_reads_the_published_log_and_gives_the_same(trimmed: TrimBench):
    catch_up(trimmed.store, trimmed.client)
    live = contents(trimmed.client)
    trim(trimmed.client, SHARDS, kept=0)
    for name in names_of(trimmed.client, "{p:*"):
        trimmed.client.delete(name)
    catch_up(trimmed.reader(), trimmed.client)
    assert contents(trimmed.client) == live


def test_a_match_is_verified_by_the_published_log(
    trimmed: TrimBench, bench_url: str, valkey: EmbeddedServer, capsys: pytest.CaptureFixture[str]
):
    settings = Settings(data=trimmed.folder, redis_url=bench_url, queue_url=valkey.url)
    assert verify.run("1", settings) == 0
    said = capsys.readouterr().out
    catch_up(trimmed.store, trimmed.client)
    assert trim(trimmed.client, SHARDS, kept=0)[1] > trimmed.store.leaf_indexes(1)[5]
    assert verify.run("1", settings) == 0
    assert capsys.readouterr().out == said
    (trimmed.folder / "log" / "s01" / "tile" / "entries" / "000").unlink()
    # the match is not to blame
    with pytest.raises(TrimmedLeavesError, match="does not exist"):
        verify.run("1", settings)
    assert DamagedMatches(trimmed.client).all() == {}


@pytest.mark.long
def test_a_publisher_goes_on_after_trimming(trimmed: TrimBench):
    catch_up(trimmed.store, trimmed.client)
    trim(trimmed.client, SHARDS, kept=0)
    for _ in range(5):
        trimmed.corpus.step()
    trimmed.publish()
    log = published_logs(trimmed.settings).of(1)
    rows = trimmed.reader().leaves(1, 0, 100_000)
    assert log.refresh() == len(rows)
    assert list(log.leaves(0, log.size)) == [leaf for _, leaf in rows]


def test_nothing_is_trimmed_that_a_projection_or_the_mailer_has_not_read(trimmed: TrimBench):
    before = trimmed.lengths()
    trim(trimmed.client, SHARDS, kept=0)
    assert trimmed.lengths() == before
    catch_up(trimmed.store, trimmed.client)
    MailerProgress(trimmed.client).begin([100, 0, 900, 900])
    assert trim(trimmed.client, SHARDS, kept=0)[:2] == [100, 0]
    assert trimmed.lengths()[:2] == [before[0] - 100, before[1]]


def test_a_reader_that_is_very_slow_is_not_waited_for(filled: TrimBench):
    assert trim(filled.client, SHARDS, kept=0) == [256] * SHARDS
    assert filled.lengths() == [700 - 256] * SHARDS


def test_a_shard_that_contradicts_what_is_published_keeps_everything(filled: TrimBench):
    PublishedSizes(filled.client, filled.client).record_fault(2, "another history")
    assert trim(filled.client, SHARDS, kept=0) == [256, 256, 0, 256]
    assert filled.lengths()[2] == 700


def test_small_servers_trim_nothing(filled: TrimBench):
    assert trim(filled.client, SHARDS) == [0] * SHARDS
    assert filled.lengths() == [700] * SHARDS


def test_where_the_published_log_is_missing_a_sentence_says_so(filled: TrimBench):
    trim(filled.client, SHARDS, kept=0)
    (filled.folder / "log" / "s01" / "tile" / "entries" / "000").unlink()
    with pytest.raises(
        TrimmedLeavesError, match="leaf 0 of shard 1 was trimmed, and can't be read"
    ):
        filled.reader().leaves(1, 0, 1)
    with pytest.raises(TrimmedLeavesError, match="does not read the published log"):
        RedisStore(filled.client, Mode.FSYNC).leaves(1, 0, 1)
    chunk = LogReader(filled.reader()).read((0,) * SHARDS)
    assert (1, 0) in [(one.shard, one.index) for one in chunk.unreadable]


def test_a_leaf_lost_in_the_middle_is_not_taken_for_a_trimmed_one(filled: TrimBench):
    filled.client.xdel(keys.log(1), "100-1")
    assert filled.reader().leaves(1, 100, 2)[0][0] == 101


@pytest.mark.long
def test_readers_learn_a_key_that_was_replaced_without_a_restart(trimmed: TrimBench):
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
    while min(trimmed.store.watermark().ends) < 1_200:
        trimmed.corpus.step()
    trimmed.publish()  # by the new one alone
    catch_up(trimmed.store, trimmed.client)
    assert min(trim(trimmed.client, SHARDS, kept=0)) >= 768
    for shard, rows in enumerate(before):
        found = store.leaves(shard, 0, 100_000)
        assert found[: len(rows)] == rows
        assert len(found) >= 1_200
    assert not reader.read((700,) * SHARDS).unreadable
