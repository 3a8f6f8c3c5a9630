"""`matchpost serve` publishes its logs by itself."""

import os
import signal
from pathlib import Path

import pytest
from redis import Redis

from infra.durability.durability import Mode
from infra.log.published_log import PublishedLogs
from infra.settings.settings import Settings
from infra.store.redis_store import RedisStore
from infra.store.watermarks import read_published_sizes
from tests.helpers.served import Served, until

pytestmark = pytest.mark.slow

SHARDS = 8


def play(served: Served) -> None:
    served.do("signup alice mad-hatter", "signup bob mad-hatter", "pow2 challenge alice bob")
    served.do("pow2 challenge alice bob", "pow2 move 1 alice mad-hatter m13-j7")


def all_published(client: Redis) -> bool:
    ends = RedisStore(client, Mode.FSYNC).watermark().ends
    return [one.size for one in read_published_sizes(client, SHARDS)] == list(ends)


@pytest.mark.long
def test_each_leaf_is_published_and_a_killed_publisher_is_replaced(tmp_path: Path):
    with Served(tmp_path / "data") as served, served.client() as client:
        play(served)
        until(lambda: all_published(client))
        (publisher,) = served.children("matchpost publisher")
        os.kill(publisher, signal.SIGKILL)
        served.do("pow2 move 1 bob mad-hatter a1-d7")
        until(lambda: all_published(client), 60)
        logs = PublishedLogs(Settings(data=tmp_path / "data"))
        store = RedisStore(client, Mode.FSYNC)
        for shard in range(SHARDS):
            size = logs.of(shard).refresh()
            leaves = [leaf for _, leaf in store.leaves(shard, 0, 100)]
            assert list(logs.of(shard).leaves(0, size)) == leaves
        assert "leaves are published" in served.run("doctor").stdout


@pytest.mark.long
def test_with_durability_none_nothing_is_published(tmp_path: Path):
    with Served(tmp_path / "data", {"MATCHPOST_DURABILITY": "none"}) as served:
        assert served.children("matchpost publisher") == []
        assert "nothing is published" in served.run("doctor").stdout
        assert not (tmp_path / "data" / "keys" / "log-key").exists()
