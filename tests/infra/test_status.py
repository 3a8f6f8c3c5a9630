"""The status of a server: a part is read once, when it is first asked for, and nothing is written."""

import time
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from domain.match.commands import PlayMove
from infra.health.status import Status
from infra.redis import keys
from infra.settings.settings import Settings
from tests.helpers.bench import Bench
from tests.helpers.given import ALICE

PARTS = [
    *("shards", "queue", "damaged", "move_fault", "beats", "outbox", "robots", "closed", "published", "lost", "ends"),
    *("log", "projections", "archive", "late_archive", "last_retirement", "scrub", "scrub_faults"),
]  # fmt: skip


@pytest.fixture
def status(redis_client: Redis, tmp_path: Path) -> Status:
    """The status of a server with a match in which a move waits to be decided."""
    bench = Bench(redis_client, tmp_path / "seeds")
    bench.start(1)
    bench.send(ALICE, PlayMove(text="m13-j7", ply=0), 1)
    return Status(Settings(data=tmp_path), redis_client, redis_client, bench.store)


def commands(client: Redis) -> int:
    info: Any = client.info("stats")
    return int(info["total_commands_processed"])


def test_a_part_is_read_when_it_is_first_asked_for_and_once(
    status: Status, redis_client: Redis
) -> None:
    before = commands(redis_client)
    assert sum(shard.waiting for shard in status.shards) == 1
    read = commands(redis_client)
    assert read - before < 4 * 7 + 10, "only time, layout and shards"
    assert [lane.waiting for lane in status.queue.lanes] == [1]
    again = commands(redis_client)
    assert (status.shards, status.queue) == (status.shards, status.queue)
    assert commands(redis_client) - again == 1, "the question itself"


def test_nothing_is_written_and_what_waits_is_not_yet_due_for_a_projection(
    status: Status, redis_client: Redis
) -> None:
    before: Any = redis_client.info("persistence")
    for part in PARTS:
        getattr(status, part)
    after: Any = redis_client.info("persistence")
    assert after["rdb_changes_since_last_save"] == before["rdb_changes_since_last_save"]
    assert status.log.leaves == status.log.unpublished > 0
    assert all(one.events == status.log.leaves for one in status.projections)


def test_a_changed_pointer_of_a_projection_hides_the_lag_and_nothing_else(
    status: Status, redis_client: Redis
) -> None:
    (log,) = [keys.log(shard) for shard in range(4) if redis_client.exists(keys.log(shard))]
    redis_client.delete(log)
    redis_client.set(log, "not a stream")
    assert (status.projections, status.unpublished_since) == ((), None)
    assert status.now - round(time.time() * 1000) < 60_000
