"""The publisher on a real server: what is in the logs is published, nothing that contradicts it, whoever is killed."""

import logging
import time
from contextlib import suppress
from pathlib import Path
from threading import Timer

import pytest
from redis import Redis

from infra.durability.durability import Mode
from infra.log import log_writer
from infra.log.key_files import LogKeys, generate_keys, read_keys
from infra.log.log_writer import LogWriter
from infra.log.names import shard_key
from infra.log.published_log import PublishedLog
from infra.objects.port import ObjectStoreError
from infra.process.failpoints import FAILPOINTS
from infra.redis import keys
from infra.store import watermarks
from infra.store.channels import LogListener, add_log_news
from infra.store.layout import Layout
from infra.store.redis_store import RedisStore
from infra.store.watermarks import PublishedSizes, read_published_sizes
from tests.fakes.dying import Killed
from tests.fakes.memory_store import MemoryObjects
from workers.log import job as publisher_job
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


def test_all_leaves_of_all_shards_are_published_in_order_and_many_in_batches(bench, monkeypatch):
    monkeypatch.setattr(publisher_module, "BATCH", 600)
    publisher = bench.publisher()
    assert publisher.round(wait_ms=1) == 0
    added = {shard: bench.add(shard, 500 * shard) for shard in range(SHARDS)}
    assert publisher.round() == 3_000
    assert {shard: bench.published(shard) for shard in range(SHARDS)} == added
    added[2] += bench.add(2, 1)
    assert publisher.round() == 1
    assert bench.published(2) == added[2]


def test_of_two_publishers_the_slower_one_begins_again(bench, monkeypatch):
    monkeypatch.setattr(publisher_module, "RETRY_SECONDS", 0.0)
    first, second = bench.publisher(), bench.publisher()
    bench.add(0, 10)
    assert first.round() == 10
    added = bench.add(0, 10)
    assert second.round() == 0
    assert bench.fault(0) == ""
    second.round(wait_ms=1)
    assert bench.published(0)[-10:] == added


def test_leaves_that_are_not_durable_are_not_published(bench, monkeypatch):
    publisher = bench.publisher()
    bench.add(0, 10)
    with monkeypatch.context() as patched:
        patched.setattr("infra.store.durable_scripts.check_barrier", lambda *_: False)
        assert publisher.round() == 0
    assert bench.published(0) == []
    assert publisher.round() == 10


def test_a_publisher_rests_until_there_is_news_and_asks_for_nothing_meanwhile(bench, monkeypatch):
    naps: list[float] = []
    news = LogListener(bench.client)
    publisher = bench.publisher(news)
    publisher.round(wait_ms=1)
    bench.client.config_resetstat()
    monkeypatch.setattr(publisher_module.time, "sleep", naps.append)
    assert publisher.round(wait_ms=1_500) == 0
    assert (naps, "cmdstat_xread" in bench.client.info("commandstats")) == ([], False)
    bench.add(0, 1)
    with bench.client.pipeline(transaction=False) as pipe:
        add_log_news(pipe, [0])
        pipe.execute()
    assert publisher.round(wait_ms=60_000) == 1
    assert naps == [publisher_module.PAUSE_SECONDS], "its command comes first"
    publisher.round(wait_ms=1)
    timer = Timer(0.2, publisher.stop)
    timer.start()
    began = time.monotonic()
    monkeypatch.setattr(publisher, "_look_due", began + 60)
    assert publisher.round(wait_ms=60_000) == 0
    assert time.monotonic() - began < 30
    timer.join()
    news.close()


def alarms(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if record.levelno == logging.ERROR]


def test_an_object_store_that_is_away_is_tried_again(bench, monkeypatch):
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

    def get(name: str) -> bytes:
        raise ObjectStoreError(f"{name}: no answer")

    monkeypatch.setattr(bench.objects, "get", get)
    bench.publish()  # by one that begins meanwhile
    assert "no answer" in bench.fault(0)


def test_without_a_key_nothing_is_published_and_one_alarm_says_what_to_do(bench, caplog):
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


def test_a_run_begins_anew_from_time_to_time(bench, monkeypatch):
    (bench.folder / "log-key").rename(bench.folder / "elsewhere")
    bench.add(0, 10)
    monkeypatch.setattr(publisher_job, "AGAIN_SECONDS", 0.05)
    work = publisher_job._Publishing(bench.publisher())
    monkeypatch.setattr(publisher_module, "WAIT_MS", 1)
    assert work.step() == 0
    (bench.folder / "elsewhere").rename(bench.folder / "log-key")
    time.sleep(0.1)
    assert work.step() == 10
    trips = bench.client.info("stats")["total_reads_processed"]
    bench.publisher()
    begun = bench.client.info("stats")["total_reads_processed"] - trips
    assert begun <= SHARDS + 4, "the records of all shards are read together, by both servers"


def test_the_interval_is_kept(bench):
    sizes = PublishedSizes(bench.client, bench.client)
    publisher = Publisher(bench.store, sizes, bench.objects, bench.log_keys, 3_600)
    publisher.begin()
    bench.add(0, 1)
    assert publisher.round() == 1
    bench.add(0, 1)
    assert publisher.round(wait_ms=1) == 0


def another_key(bench: Bench) -> None:
    for file in bench.folder.iterdir():
        file.unlink()
    generate_keys(bench.folder, "play.example.org")


OTHER_OBJECT = ("s00/tile/entries/000.p/20", b"something else")


@pytest.mark.parametrize(
    ("harm", "more", "fault"),
    [
        (
            lambda bench: [bench.client.delete(keys.log(0)), bench.add(0, 390, "another")],
            *(10, "leaf 0 in the data is not the one that is published"),
        ),
        (
            lambda bench: [bench.add(0, 10), bench.client.xdel(keys.log(0), "14-1")],
            *(0, "shard 0: leaf 14 is missing in the data and is not published"),
        ),
        (
            lambda bench: bench.objects.found.clear(),
            *(0, "10 leaves were published, and the object store has a checkpoint of 0"),
        ),
        (
            lambda bench: bench.client.delete(keys.log(0)),
            *(5, "10 leaves are published, and the data end at leaf 5"),
        ),
        (lambda bench: bench.objects.create(*OTHER_OBJECT), 10, "exists with other bytes"),
        (another_key, 10, "no signature by a known key"),
    ],
    ids=[
        "another history",
        "leaf lost",
        "store lost",
        "rolled back",
        "object of another",
        "key lost",
    ],
)
def test_what_contradicts_what_is_published_stops_the_shard_and_signs_nothing(
    bench, caplog, harm, more, fault
):
    bench.add(0, 10)
    bench.publish()
    harm(bench)
    bench.add(0, more)
    bench.add(1, 5)
    before = {name: data for name, data in bench.objects.found.items() if name.startswith("s00/")}
    publisher = bench.publish()
    assert fault in bench.fault(0)
    assert bench.objects.found.get("s00/checkpoint") == before.get("s00/checkpoint")
    # an object may have been written before the fault was met, and none is changed
    assert before.items() <= bench.objects.found.items()
    assert alarms(caplog)[0] == f"ALARM: the log is not published: {bench.fault(0)}"
    said = len(alarms(caplog))
    publisher.begin()
    assert len(alarms(caplog)) == said
    others = read_published_sizes(bench.client, SHARDS)[1].size
    assert others == (5 if harm is not another_key else 0), "it stops no other shard"


OF_A_RUN = ("started", "taken", "trimmed", "released", "left")
"""Fault points of the job around it."""

POINTS = [
    point for point in FAILPOINTS if point.startswith("publish.") and not point.endswith(OF_A_RUN)
]


def die() -> None:
    raise Killed


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("overtaken", [False, True], ids=["killed", "overtaken"])
def test_when_one_is_killed_or_overtaken_all_is_published_as_if_nobody_was(
    bench, monkeypatch, point, overtaken
):
    monkeypatch.setattr(publisher_module, "RETRY_SECONDS", 0.0)
    leaves = bench.add(1, 200)
    bench.publish()  # a partial bundle, which is deleted when it has become full
    leaves += bench.add(1, 150)
    first = bench.publisher()
    actions = [bench.publish if overtaken else die]

    def failpoint(passed: str) -> None:
        if passed == point and actions:
            actions.pop()()

    for module in (log_writer, publisher_module, watermarks):
        monkeypatch.setattr(module, "failpoint", failpoint)
    with suppress(Killed):
        first.round(wait_ms=1)
    assert not actions, "it was there"
    assert bench.fault(1) == "", "who is slower than another says nothing"
    leaves += bench.add(1, 350)
    if overtaken:
        first.round(wait_ms=1)
    bench.publish()
    assert bench.fault(1) == ""
    assert bench.published(1) == leaves
    assert read_published_sizes(bench.client, SHARDS)[1].size == 700
    undisturbed = MemoryObjects()
    writer = LogWriter(undisturbed, 1, [bench.log_keys().secrets[0].signer(1)])
    writer.load()
    writer.append(leaves)
    assert undisturbed.found.items() <= bench.objects.found.items()
