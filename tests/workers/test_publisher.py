"""The publisher on a real server: what is in the logs is published, and nothing that contradicts it."""

import logging
from hashlib import sha256
from pathlib import Path

import pytest
from redis import Redis

from infra.durability.durability import Mode
from infra.log.key_files import LogKeys, generate_keys, read_keys
from infra.log.names import shard_key
from infra.log.published_log import PublishedLog
from infra.objects.port import ObjectStoreError
from infra.redis import keys
from infra.store.channels import CHANNEL, LogListener
from infra.store.layout import Layout
from infra.store.redis_store import RedisStore
from infra.store.watermarks import PublishedSizes, read_published_sizes
from tests.fakes.memory_store import MemoryObjects
from workers.log import publisher as publisher_module
from workers.log.publisher import Publisher

SHARDS = 4


class Bench:
    """A publisher, the server that it reads and the objects that it writes."""

    def __init__(self, client: Redis, folder: Path) -> None:
        self.client = client
        self.objects = MemoryObjects()
        self.folder = folder
        generate_keys(folder, "play.example.org")
        self.store = RedisStore(client, Mode.FSYNC)
        self.store.create(Layout(shards=SHARDS, lanes=1))

    def log_keys(self) -> LogKeys:
        return read_keys(self.folder)

    def publisher(self, news: LogListener | None = None) -> Publisher:
        sizes = PublishedSizes(self.client, self.client)
        made = Publisher(self.store, sizes, self.objects, self.log_keys, 0.0, news=news)
        made.begin()
        return made

    def publish(self) -> Publisher:
        made = self.publisher()
        made.round(wait_ms=1)
        return made

    def add(self, shard: int, count: int, text: str = "leaf") -> list[bytes]:
        start = self.end(shard)
        leaves = [f"{text} {shard} {index}".encode() for index in range(start, start + count)]
        with self.client.pipeline() as pipe:
            for index, leaf in enumerate(leaves, start):
                pipe.xadd(keys.log(shard), {"l": leaf}, id=f"{index}-1")
            pipe.execute()
        return leaves

    def end(self, shard: int) -> int:
        found = self.client.xrevrange(keys.log(shard), count=1)
        return int(found[0][0].split(b"-")[0]) + 1 if found else 0

    def published(self, shard: int) -> list[bytes]:
        log = PublishedLog(
            self.objects, shard, [shard_key(key, shard) for key in self.log_keys().public]
        )
        return list(log.leaves(0, log.refresh()))

    def fault(self, shard: int) -> str:
        return read_published_sizes(self.client, SHARDS)[shard].fault


@pytest.fixture
def bench(redis_client: Redis, tmp_path: Path) -> Bench:
    return Bench(redis_client, tmp_path / "keys")


def test_all_leaves_of_all_shards_are_published_in_order(bench: Bench):
    publisher = bench.publisher()
    assert publisher.round(wait_ms=1) == 0
    added = {shard: bench.add(shard, 300 * shard) for shard in range(SHARDS)}
    assert publisher.round() == 1_800
    assert {shard: bench.published(shard) for shard in range(SHARDS)} == added
    added[2] += bench.add(2, 1)
    assert publisher.round() == 1
    assert bench.published(2) == added[2]


def test_a_log_without_leaves_has_a_checkpoint(bench: Bench):
    bench.publisher()
    before = dict(bench.objects.found)
    assert list(before) == [f"s{shard:02}/checkpoint" for shard in range(SHARDS)]
    log = PublishedLog(bench.objects, 3, [shard_key(bench.log_keys().public[0], 3)])
    assert (log.refresh(), log.checkpoint and log.checkpoint.root) == (0, sha256(b"").digest())
    bench.publish()
    assert bench.objects.found == before
    added = bench.add(3, 2)
    bench.publish()
    assert bench.published(3) == added


def commands_of(client: Redis) -> dict[str, int]:
    """The commands since the last reset, without those of the test."""
    stats = client.info("commandstats")
    return {
        name.removeprefix("cmdstat_"): of["calls"]
        for name, of in stats.items()
        if name not in ("cmdstat_info", "cmdstat_config|resetstat", "cmdstat_xadd", "cmdstat_multi")
        and name not in ("cmdstat_exec", "cmdstat_xrevrange")
    }


def test_a_look_at_logs_without_new_leaves_is_one_command(bench: Bench):
    publisher = bench.publisher()
    bench.client.config_resetstat()
    assert publisher.round(wait_ms=0) == 0
    assert commands_of(bench.client) == {"xread": 1}


def test_leaves_of_several_shards_are_read_together_and_synced_by_one_write(bench: Bench):
    publisher = bench.publisher()
    bench.add(0, 1)
    publisher.round()  # from here on the server knows the scripts
    for shard in range(SHARDS):
        bench.add(shard, 2)
    bench.client.config_resetstat()
    assert publisher.round() == 2 * SHARDS
    found = commands_of(bench.client)
    assert {name: found[name] for name in ("xread", "waitaof")} == {"xread": 1, "waitaof": 1}


def test_logs_without_news_are_not_looked_into_and_those_with_some_are_read_with_the_barrier(
    bench: Bench,
):
    publisher = bench.publisher(LogListener(bench.client))
    assert publisher.round(wait_ms=0) == 0
    bench.add(1, 2)
    bench.client.config_resetstat()
    assert publisher.round(wait_ms=0) == 0
    assert commands_of(bench.client) == {}
    bench.client.publish(CHANNEL, "1")
    assert publisher.round(wait_ms=0) == 2
    found = commands_of(bench.client)
    assert (found["xrange"], found["hset"], found["waitaof"]) == (1, 2, 1)
    assert "xread" not in found
    # the news may be lost
    bench.add(1, 1)
    publisher._look_due = 0.0
    assert publisher.round(wait_ms=0) == 1


def test_the_size_is_recorded_after_the_checkpoint(bench: Bench):
    bench.add(1, 700)
    bench.publish()
    records = read_published_sizes(bench.client, SHARDS)
    assert [one.size for one in records] == [0, 700, 0, 0]
    log = PublishedLog(bench.objects, 1, [shard_key(bench.log_keys().public[0], 1)])
    log.refresh()
    assert log.checkpoint is not None
    assert records[1].root == log.checkpoint.root


def test_many_leaves_are_published_in_batches(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(publisher_module, "BATCH", 600)
    publisher = bench.publisher()
    added = bench.add(0, 1_500)
    assert publisher.round() == 1_500
    assert bench.published(0) == added


def test_another_publisher_goes_on_where_the_first_ended(bench: Bench):
    added = bench.add(0, 300)
    bench.publish()
    added += bench.add(0, 300)
    second = bench.publish()
    added += bench.add(0, 3)
    second.round()
    assert bench.published(0) == added


def test_of_two_publishers_the_slower_one_begins_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(publisher_module, "RETRY_SECONDS", 0.0)
    first, second = bench.publisher(), bench.publisher()
    bench.add(0, 10)
    assert first.round() == 10
    added = bench.add(0, 10)
    assert second.round() == 0
    assert bench.fault(0) == ""
    second.round(wait_ms=1)
    assert bench.published(0)[-10:] == added


def test_leaves_that_are_not_durable_are_not_published(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
):
    publisher = bench.publisher()
    bench.add(0, 10)
    with monkeypatch.context() as patched:
        patched.setattr("infra.store.durable_scripts.check_barrier", lambda *_: False)
        assert publisher.round() == 0
    assert bench.published(0) == []
    assert publisher.round() == 10


def alarms(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if record.levelno == logging.ERROR]


def test_data_that_were_rolled_back_stop_the_shard_and_no_other(
    bench: Bench, caplog: pytest.LogCaptureFixture
):
    kept = bench.add(0, 300)
    bench.publish()
    bench.client.delete(keys.log(0))
    bench.add(0, 110)
    other = bench.add(1, 5)
    publisher = bench.publisher()
    publisher.round(wait_ms=1)
    assert bench.published(0) == kept
    assert bench.published(1) == other
    assert "300 leaves are published, and the data end at leaf 110" in bench.fault(0)
    assert alarms(caplog) == [f"ALARM: the log is not published: {bench.fault(0)}"]
    publisher.begin()
    assert len(alarms(caplog)) == 1


def test_another_history_is_never_signed(bench: Bench, caplog: pytest.LogCaptureFixture):
    kept = bench.add(0, 300)
    bench.publish()
    bench.client.delete(keys.log(0))
    bench.add(0, 400, "another")
    bench.publish()
    assert bench.published(0) == kept
    assert "leaf 0 in the data is not the one that is published" in bench.fault(0)
    assert len(alarms(caplog)) == 1


def test_a_fault_is_forgotten_once_the_shard_is_published_again(bench: Bench):
    added = bench.add(0, 10)
    bench.publish()
    bench.client.rename(keys.log(0), "aside")
    publisher = bench.publisher()
    assert "rolled back" in bench.fault(0)
    bench.client.rename("aside", keys.log(0))
    publisher.begin()
    assert bench.fault(0) == ""
    added += bench.add(0, 1)
    publisher.round()
    assert bench.published(0) == added


def test_a_missing_leaf_stops_the_shard(bench: Bench):
    publisher = bench.publisher()
    bench.add(0, 10)
    bench.client.xdel(keys.log(0), "4-1")
    publisher.round()
    assert bench.fault(0) == "shard 0: leaf 4 is missing in the data and is not published"
    assert bench.published(0) == []


def test_an_object_store_that_lacks_what_was_published_stops_the_shard(bench: Bench):
    bench.add(0, 10)
    bench.publish()
    bench.objects.found.clear()
    bench.publish()
    assert "10 leaves were published, and the object store has a checkpoint of 0" in bench.fault(0)
    assert not [name for name in bench.objects.found if name.startswith("s00/")]


def test_an_object_of_somebody_else_stops_the_shard(bench: Bench):
    publisher = bench.publisher()
    bench.objects.create("s00/tile/entries/000.p/10", b"something else")
    bench.add(0, 10)
    publisher.round()
    assert "exists with other bytes" in bench.fault(0)
    assert bench.published(0) == []


def test_an_object_store_that_is_away_is_tried_again(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(publisher_module, "RETRY_SECONDS", 0.0)
    publisher = bench.publisher()
    added = bench.add(0, 300)
    bench.objects.writes_left = 1
    assert publisher.round() == 0
    assert "the store is away" in bench.fault(0)
    publisher.round(wait_ms=1)
    bench.objects.writes_left = None
    publisher.round(wait_ms=1)
    assert bench.published(0) == added
    assert bench.fault(0) == ""


def test_without_a_key_nothing_is_published_and_one_alarm_says_what_to_do(
    bench: Bench, caplog: pytest.LogCaptureFixture
):
    (bench.folder / "log-key").rename(bench.folder / "elsewhere")
    bench.add(0, 10)
    publisher = bench.publisher()
    assert publisher.round(wait_ms=1) == 0
    assert bench.objects.found == {}
    assert "matchpost keygen" in bench.fault(3)
    assert len(alarms(caplog)) == 1
    (bench.folder / "elsewhere").rename(bench.folder / "log-key")
    publisher.begin()
    assert publisher.round() == 10


def test_another_key_does_not_go_on_with_a_log(bench: Bench):
    bench.add(0, 10)
    bench.publish()
    for file in bench.folder.iterdir():
        file.unlink()
    generate_keys(bench.folder, "play.example.org")
    before = dict(bench.objects.found)
    bench.add(0, 10)
    bench.publish()
    assert "no signature by a known key" in bench.fault(0)
    assert bench.objects.found == before


def test_a_key_is_replaced_by_renaming_the_old_one(bench: Bench):
    bench.add(0, 10)
    bench.publish()
    early = bench.log_keys().public
    (bench.folder / "log-key").rename(bench.folder / "log-key.old")
    generate_keys(bench.folder, "play.example.org")
    bench.add(0, 10)
    bench.publish()
    # both sign, so that auditors with either key can follow
    for key in (early[0], bench.log_keys().public[0]):
        assert PublishedLog(bench.objects, 0, [shard_key(key, 0)]).refresh() == 20
    (bench.folder / "log-key.old").unlink()
    bench.add(0, 10)
    bench.publish()
    assert len(bench.published(0)) == 30


def test_the_interval_is_kept(bench: Bench):
    publisher = Publisher(
        bench.store,
        PublishedSizes(bench.client, bench.client),
        bench.objects,
        bench.log_keys,
        3_600,
    )
    publisher.begin()
    bench.add(0, 1)
    assert publisher.round() == 1
    bench.add(0, 1)
    assert publisher.round(wait_ms=1) == 0


def test_an_unreachable_store_at_the_start_is_no_failure_of_the_job(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
):
    def get(name: str) -> bytes:
        raise ObjectStoreError(f"{name}: no answer")

    with monkeypatch.context() as patched:
        patched.setattr(bench.objects, "get", get)
        bench.publish()
        assert "no answer" in bench.fault(0)
