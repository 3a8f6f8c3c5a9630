"""Rows of matches that are not in the archive stay in Redis, because a ruling may change them."""

from collections.abc import Sequence

import pytest
from redis import Redis

from infra.objects.files import FileObjects
from infra.projections.finished_matches import FinishedMatches
from infra.projections.match_lists import MatchFilter, MatchLists, over_key
from infra.projections.row_pages import MOST_ROWS, PAGE_ROWS, RowPages
from tests.helpers.given import ALICE, BOB
from tests.helpers.offloading import BOTH, TimedLogs, difference, live, run, sizes
from tests.helpers.side import catch_up, settle
from tests.helpers.stories import (
    ARBITER,
    ended,
    moved,
    result_changed,
    ruled,
    set_back,
    started,
)
from workers.projections.worker import ProjectionWorker

MATCHES = MOST_ROWS + 2 * PAGE_ROWS
NOT_ARCHIVED = {3, 7, 200, 300}


def in_archive(boards: Sequence[int]) -> set[int]:
    return set(boards) - NOT_ARCHIVED


@pytest.fixture
def logs() -> TimedLogs:
    made = TimedLogs()
    for board in range(1, MATCHES + 1):
        at = board * 1_000
        made.add(board, at - 500, ALICE, started(ALICE, BOB), moved(1, 0, 1), moved(2, 1, 0))
        made.add(board, at, BOB, ended(board % 2))
    return made


@pytest.fixture
def side(logs: TimedLogs, redis_client: Redis, objects: FileObjects) -> ProjectionWorker:
    worker = catch_up(logs.store, redis_client, BOTH)
    run(logs, redis_client, objects, in_archive)
    return worker


def boards_of(client: Redis, pages: RowPages) -> list[int]:
    """The finished matches of alice, which both projections list alike."""
    rows = MatchLists(client, pages).of(ALICE, MatchFilter.INACTIVE, None, 0, MATCHES)
    history = FinishedMatches(client, pages).of("pow2", ALICE, None, 0, MATCHES)
    assert [row.board for row in rows] == [row.board for row in history]
    return [row.board for row in rows]


def test_they_stay_and_are_listed_in_their_places(
    side: ProjectionWorker, redis_client: Redis, pages: RowPages
) -> None:
    assert side
    assert sizes(redis_client, live(redis_client), ALICE, over_key(ALICE)) == (
        MATCHES - 2 * PAGE_ROWS,
        2,
    )
    rows = MatchLists(redis_client).rows([*NOT_ARCHIVED, 8])
    assert [row is not None for row in rows] == [True] * len(NOT_ARCHIVED) + [False]
    assert boards_of(redis_client, pages) == list(range(MATCHES, 0, -1))


def test_a_ruling_changes_them_in_all_lists(
    side: ProjectionWorker,
    logs: TimedLogs,
    redis_client: Redis,
    objects: FileObjects,
    pages: RowPages,
) -> None:
    later = (MATCHES + 1) * 1_000
    logs.add(3, later, ARBITER, ruled(), set_back(1, 1))
    logs.add(7, later + 1, ARBITER, ruled(), result_changed(1))
    logs.add(200, later + 2, ARBITER, ruled(), set_back(1, 1))
    logs.add(200, later + 3, BOB, moved(2, 1, 0), ended(0))
    settle(side)
    others = [board for board in range(MATCHES, 0, -1) if board not in (3, 7, 200)]
    assert boards_of(redis_client, pages) == [200, 7, *others]
    lists = MatchLists(redis_client, pages)
    assert [row.board for row in lists.of(ALICE, MatchFilter.ACTIVE)] == [3]
    for projection in BOTH:
        assert difference(logs, redis_client, pages, projection) == ""
    # once they are in the archive, their rows go where they belong
    logs.add(3, later + 4, BOB, moved(2, 1, 0), ended(0))
    for board in range(MATCHES + 2, MATCHES + 2 + PAGE_ROWS):
        logs.add(board, later + board * 1_000, ALICE, started(ALICE, BOB), ended(0))
    settle(side)
    run(logs, redis_client, objects)
    newest = range(MATCHES + 1 + PAGE_ROWS, MATCHES + 1, -1)
    wanted = [*newest, 3, 200, 7, *(board for board in others)]
    found = MatchLists(redis_client, pages).of(
        ALICE, MatchFilter.INACTIVE, None, 0, MATCHES + 2 * PAGE_ROWS
    )
    assert [row.board for row in found] == wanted
    assert MatchLists(redis_client).rows([300]) == [None]
    for projection in BOTH:
        assert difference(logs, redis_client, pages, projection) == ""
