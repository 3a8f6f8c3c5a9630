"""Many matches that are over, an object store in files, and rows that are in pages."""

from pathlib import Path

import pytest
from redis import Redis

from infra.objects.files import FileObjects
from infra.projections.row_pages import (
    RowPages,
)
from tests.helpers.given import ALICE, BOB, CAROL
from tests.helpers.offloading import BOTH, MATCHES, TimedLogs, finish, run
from tests.helpers.side import catch_up
from tests.helpers.stories import ended, started
from workers.projections.worker import ProjectionWorker


@pytest.fixture(scope="module")
def played() -> TimedLogs:
    """Many matches that are over; nobody adds to them."""
    logs = TimedLogs()
    for board in range(1, MATCHES + 1):
        # several end in one ms
        finish(logs, board, board // 3 * 1_000 + 1_000)
    for board in range(3_000, 3_700):
        logs.add(board, board % 700 * 1_000, BOB, started(BOB, CAROL), ended(0))
    logs.add(MATCHES + 1, 1, ALICE, started(ALICE, BOB))
    logs.add(MATCHES + 2, 1, ALICE, started(ALICE, CAROL, rules="torere/1"))
    return logs


@pytest.fixture
def objects(tmp_path: Path) -> FileObjects:
    return FileObjects(tmp_path / "log")


@pytest.fixture
def pages(objects: FileObjects) -> RowPages:
    return RowPages(lambda: objects)


@pytest.fixture
def moved_to_pages(
    played: TimedLogs, redis_client: Redis, objects: FileObjects
) -> ProjectionWorker:
    side = catch_up(played.store, redis_client, BOTH)
    run(played, redis_client, objects)
    return side
