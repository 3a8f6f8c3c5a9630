"""The publisher on a real server: what is in the logs is published, nothing that contradicts it, whoever is killed."""

import logging
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from infra.durability.durability import Mode
from infra.log.key_files import LogKeys, generate_keys, read_keys
from infra.log.log_writer import LogWriter
from infra.log.names import shard_key
from infra.log.published_log import PublishedLog
from infra.objects.files import FileObjects
from infra.objects.port import ObjectStoreError
from infra.process.failpoints import FAILPOINTS, VARIABLE
from infra.redis import keys
from infra.store.channels import LogListener
from infra.store.layout import Layout
from infra.store.redis_store import RedisStore
from infra.store.watermarks import PublishedSizes, read_published_sizes
from infra.valkey.server import EmbeddedServer
from tests.fakes.memory_store import MemoryObjects
from tests.helpers.forked import SCRIPT
from workers.log import publisher as publisher_module
from workers.log.job import JOB
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


def test_all_leaves_of_all_shards_are_published_in_order(bench):
    publisher = bench.publisher()
    assert publisher.round(wait_ms=1) == 0
    added = {shard: bench.add(shard, 300 * shard) for shard in range(SHARDS)}
    assert publisher.round() == 1_800
    assert {shard: bench.published(shard) for shard in range(SHARDS)} == added
    added[2] += bench.add(2, 1)
    assert publisher.round() == 1
    assert bench.published(2) == added[2]


def test_many_leaves_are_published_in_batches(bench, monkeypatch):
    monkeypatch.setattr(publisher_module, "BATCH", 600)
    publisher = bench.publisher()
    added = bench.add(0, 1_500)
    assert publisher.round() == 1_500
    assert bench.published(0) == added


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


def alarms(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if record.levelno == logging.ERROR]


def test_data_that_were_rolled_back_stop_the_shard_and_no_other(bench, caplog):
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


def test_the_interval_is_kept(bench):
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


def test_an_unreachable_store_at_the_start_is_no_failure_of_the_job(bench, monkeypatch):
    def get(name: str) -> bytes:
        raise ObjectStoreError(f"{name}: no answer")

    with monkeypatch.context() as patched:
        patched.setattr(bench.objects, "get", get)
        bench.publish()
        assert "no answer" in bench.fault(0)


POINTS = [point for point in FAILPOINTS if point.startswith("publish.")]


LEAVES = [b"leaf %d" % index for index in range(700)]


KILLED_SHARD = 1


class PublisherProcess:
    """Processes of the publisher of one server, one after the other."""

    def __init__(self, server: EmbeddedServer, client: Redis, folder: Path) -> None:
        self.client = client
        self.folder = folder
        self.objects = FileObjects(folder / "log")
        generate_keys(folder / "keys", "play.example.org")
        RedisStore(client, Mode.FSYNC).create(Layout(shards=2, lanes=1))
        clean = {k: v for k, v in os.environ.items() if not k.startswith("MATCHPOST_")}
        self._env = {
            **clean, "MATCHPOST_DATA": str(folder), "MATCHPOST_REDIS_URL": server.url,
        }  # fmt: skip
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, fault: str = "") -> subprocess.Popen[bytes]:
        # as if it had expired
        self.client.delete(keys.lease(JOB.lease), keys.lease_mark(JOB.lease))
        self.process = subprocess.Popen([SCRIPT, "publisher"], env={**self._env, VARIABLE: fault})
        return self.process

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(20)

    def add(self, start: int, end: int) -> None:
        with self.client.pipeline() as pipe:
            for index in range(start, end):
                pipe.xadd(keys.log(KILLED_SHARD), {"l": LEAVES[index]}, id=f"{index}-1")
            pipe.execute()

    @property
    def recorded(self) -> int:
        return read_published_sizes(self.client, 2)[KILLED_SHARD].size

    def files(self) -> dict[str, bytes]:
        root = self.folder / "log"
        return {
            str(file.relative_to(root)): file.read_bytes()
            for file in root.rglob("*")
            if file.is_file() and not file.name.startswith(".")
        }

    def expected(self) -> dict[str, bytes]:
        whole = MemoryObjects()
        log_keys = read_keys(self.folder / "keys")
        writer = LogWriter(whole, KILLED_SHARD, [log_keys.secrets[0].signer(KILLED_SHARD)])
        writer.load()
        writer.append(LEAVES)
        return whole.found


@pytest.fixture
def publisher(valkey, redis_client, tmp_path) -> Iterator[PublisherProcess]:
    made = PublisherProcess(valkey, redis_client, tmp_path)
    yield made
    made.stop()


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("point", [*(f"{point}:1" for point in POINTS), "publish.created:4"])
def test_a_publisher_that_is_killed_is_followed_by_one_that_writes_the_rest(
    publisher, wait_until, point
):
    publisher.add(0, 200)
    if point.startswith("publish.deleted"):
        # a partial bundle, which is deleted when it has become full
        publisher.start()
        wait_until(lambda: publisher.recorded == 200)
        publisher.stop()
    publisher.add(200, 300)
    first = publisher.start(point)
    if point.startswith(("publish.released", "publish.left")):
        wait_until(lambda: publisher.recorded == 300)
        first.terminate()
    assert first.wait(20) == -signal.SIGKILL
    publisher.add(300, 700)
    publisher.start()
    wait_until(lambda: publisher.recorded == 700)
    publisher.stop()
    assert publisher.expected().items() <= publisher.files().items()
    log = PublishedLog(
        publisher.objects,
        KILLED_SHARD,
        [shard_key(read_keys(publisher.folder / "keys").public[0], KILLED_SHARD)],
    )
    assert list(log.leaves(0, log.refresh())) == LEAVES


@pytest.mark.long
@pytest.mark.slow
def test_a_stopped_publisher_that_goes_on_after_another_took_over_changes_nothing(
    publisher, wait_until, tmp_path
):
    once = tmp_path / "once"
    once.touch()
    publisher.add(0, 300)
    stopped = publisher.start(f"publish.written:1:{once}:STOP")
    wait_until(lambda: not once.exists())
    publisher.add(300, 700)
    publisher.start()
    wait_until(lambda: publisher.recorded == 700)
    stopped.send_signal(signal.SIGCONT)
    stopped.terminate()
    stopped.wait(20)
    assert publisher.recorded == 700
    assert publisher.expected()["s01/checkpoint"] == publisher.files()["s01/checkpoint"]


def another_history(bench: Bench) -> None:
    bench.client.delete(keys.log(0))
    bench.add(0, 400, "another")


def missing_leaf(bench: Bench) -> None:
    bench.add(0, 10)
    bench.client.xdel(keys.log(0), "14-1")


def empty_store(bench: Bench) -> None:
    bench.objects.found.clear()


def object_of_another(bench: Bench) -> None:
    bench.objects.create("s00/tile/entries/000.p/20", b"something else")
    bench.add(0, 10)


def another_key(bench: Bench) -> None:
    for file in bench.folder.iterdir():
        file.unlink()
    generate_keys(bench.folder, "play.example.org")
    bench.add(0, 10)


@pytest.mark.parametrize(
    ("harm", "fault"),
    [
        (another_history, "leaf 0 in the data is not the one that is published"),
        (missing_leaf, "shard 0: leaf 14 is missing in the data and is not published"),
        (empty_store, "10 leaves were published, and the object store has a checkpoint of 0"),
        (object_of_another, "exists with other bytes"),
        (another_key, "no signature by a known key"),
    ],
)
def test_what_contradicts_what_is_published_stops_the_shard_and_signs_nothing(
    bench, caplog, harm, fault
):
    bench.add(0, 10)
    bench.publish()
    harm(bench)
    before = {name: data for name, data in bench.objects.found.items() if name.startswith("s00/")}
    bench.publish()
    assert fault in bench.fault(0)
    assert bench.objects.found.get("s00/checkpoint") == before.get("s00/checkpoint")
    # an object may have been written before the fault was met, and none is changed
    assert before.items() <= bench.objects.found.items()
    assert any("the log is not published" in alarm for alarm in alarms(caplog))
