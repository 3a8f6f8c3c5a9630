"""The publisher's process, killed at each point: the next one writes the same bytes and the rest."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from redis import Redis

from infra.durability.durability import Mode
from infra.log.key_files import generate_keys, read_keys
from infra.log.log_writer import LogWriter
from infra.log.names import shard_key
from infra.log.published_log import PublishedLog
from infra.objects.files import FileObjects
from infra.process.failpoints import FAILPOINTS, VARIABLE
from infra.redis import keys
from infra.store.layout import Layout
from infra.store.redis_store import RedisStore
from infra.store.watermarks import read_published_sizes
from infra.valkey.server import EmbeddedServer
from tests.fakes.memory_store import MemoryObjects
from tests.helpers.forked import SCRIPT
from workers.log.job import JOB

pytestmark = pytest.mark.slow

POINTS = [point for point in FAILPOINTS if point.startswith("publish.")]
LEAVES = [b"leaf %d" % index for index in range(700)]
SHARD = 1


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
                pipe.xadd(keys.log(SHARD), {"l": LEAVES[index]}, id=f"{index}-1")
            pipe.execute()

    @property
    def recorded(self) -> int:
        return read_published_sizes(self.client, 2)[SHARD].size

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
        writer = LogWriter(whole, SHARD, [log_keys.secrets[0].signer(SHARD)])
        writer.load()
        writer.append(LEAVES)
        return whole.found


@pytest.fixture
def publisher(
    valkey: EmbeddedServer, redis_client: Redis, tmp_path: Path
) -> Iterator[PublisherProcess]:
    made = PublisherProcess(valkey, redis_client, tmp_path)
    yield made
    made.stop()


@pytest.mark.long
@pytest.mark.parametrize("point", [*(f"{point}:1" for point in POINTS), "publish.created:4"])
def test_a_publisher_that_is_killed_is_followed_by_one_that_writes_the_rest(
    publisher: PublisherProcess, wait_until: Callable[[Callable[[], object]], None], point: str
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
        publisher.objects, SHARD, [shard_key(read_keys(publisher.folder / "keys").public[0], SHARD)]
    )
    assert list(log.leaves(0, log.refresh())) == LEAVES


@pytest.mark.long
def test_a_stopped_publisher_that_goes_on_after_another_took_over_changes_nothing(
    publisher: PublisherProcess,
    wait_until: Callable[[Callable[[], object]], None],
    tmp_path: Path,
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
