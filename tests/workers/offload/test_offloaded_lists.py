"""Lists of finished matches whose older rows are in row pages: complete, in order, whatever happens."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from redis import Redis

from infra.objects.files import FileObjects
from infra.projections.finished_matches import FinishedMatches
from infra.projections.match_lists import MatchCounts, MatchFilter, MatchLists, over_key
from infra.projections.paged_lists import OFFLOADED, pages_key
from infra.projections.paged_projections import KEEP_DAYS, PagedGenerations
from infra.projections.row_pages import (
    MOST_ROWS,
    PAGE_ROWS,
    ROWS_KEPT,
    RowPages,
    unpack_entry,
)
from infra.projections.specs import HISTORY, LISTS
from tests.helpers.given import ALICE
from tests.helpers.offloading import (
    BOTH,
    DAY,
    MATCHES,
    TimedLogs,
    difference,
    every_list,
    finish,
    live,
    run,
    sizes,
)
from tests.helpers.side import catch_up, settle
from workers.projections import offload


@pytest.mark.parametrize("buckets", [pytest.param(1, marks=pytest.mark.long), 3])
def test_lists_are_complete_and_in_order_across_pages(
    played: TimedLogs, redis_client: Redis, objects: FileObjects, pages: RowPages, buckets: int
) -> None:
    catch_up(played.store, redis_client, BOTH, buckets=buckets)
    before = every_list(redis_client, pages, 101)
    assert len(before["alice inactive None"]) == MATCHES
    assert before["counts alice"] == MatchCounts(2, 2, MATCHES)
    assert run(played, redis_client, objects) > 2 * MATCHES
    kept, written = sizes(redis_client, live(redis_client), ALICE, over_key(ALICE))
    assert ROWS_KEPT <= kept <= MOST_ROWS
    assert kept + PAGE_ROWS * written == MATCHES
    after = every_list(redis_client, pages, 101)
    assert [name for name in before if before[name] != after[name]] == []
    assert MatchLists(redis_client, pages).of(ALICE, MatchFilter.INACTIVE, None, 10**9, 50) == []
    assert run(played, redis_client, objects) == 0
    for projection in BOTH:
        assert difference(played, redis_client, pages, projection) == ""


def test_a_part_of_a_list_by_game_or_of_several_buckets_is_read_without_the_rest(
    played: TimedLogs, redis_client: Redis, pages: RowPages
) -> None:
    catch_up(played.store, redis_client, BOTH, buckets=3)
    lists, history = MatchLists(redis_client, pages), FinishedMatches(redis_client, pages)

    def read(rows: Callable[[], Sequence[object]]) -> int:
        """Return the bytes that the server sends for five rows."""
        rows()
        before = redis_client.info("stats")["total_net_output_bytes"]
        assert len(rows()) == 5
        return int(redis_client.info("stats")["total_net_output_bytes"]) - before

    idle = read(lambda: [redis_client.ping()] * 5)
    assert read(lambda: history.of("pow2", count=5)) - idle < 3_000
    for game in ("pow2", "torere"):
        of_game = read(lambda game=game: lists.of(ALICE, MatchFilter.INACTIVE, game, 0, 5))  # type: ignore[misc]
        assert of_game - idle < 3_000


@pytest.mark.parametrize("buckets", [pytest.param(1, marks=pytest.mark.long), 3])
def test_a_row_leaves_redis_when_no_list_needs_it(
    played: TimedLogs, redis_client: Redis, objects: FileObjects, buckets: int
) -> None:
    catch_up(played.store, redis_client, BOTH, buckets=buckets)
    run(played, redis_client, objects)
    for spec, lists in ((LISTS, ("over:*",)), (HISTORY, ("game:*", "player:*"))):
        for bucket in live(redis_client, spec).all:
            assert redis_client.exists(bucket.key(OFFLOADED)) == 0
        rows = {
            int(board)
            for bucket in live(redis_client, spec).all
            for board in redis_client.hkeys(bucket.key("rows"))
        }
        needed = {
            int(member.rpartition(b":")[2])
            for bucket in live(redis_client, spec).all
            for pattern in lists
            for key in redis_client.scan_iter(bucket.key(pattern))
            for member in redis_client.zrange(key, 0, -1)
        }
        assert rows - {MATCHES + 1, MATCHES + 2} == needed
        if buckets == 1 or spec == LISTS:  # otherwise the parts of the games' lists are short
            assert 0 < len(needed) < MATCHES - 400
            # each fifth is of a game of which carol has played few
            assert needed.isdisjoint(board for board in range(1, 400) if board % 5)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("point", ["offload.written", "offload.moved", "offload.freed"])
def test_a_run_that_is_killed_anywhere_loses_no_row_and_shows_none_twice(
    played: TimedLogs,
    redis_client: Redis,
    objects: FileObjects,
    pages: RowPages,
    point: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Killed(BaseException):
        pass

    passes = [0]

    def kill(name: str) -> None:
        passes[0] += name == point
        if name == point and passes[0] % 3 == 1:
            raise Killed

    catch_up(played.store, redis_client, BOTH)
    before = every_list(redis_client, pages)
    monkeypatch.setattr(offload, "failpoint", kill)
    killed = 0
    while True:
        try:
            run(played, redis_client, objects)
            break
        except Killed:
            killed += 1
            if killed < 3:
                assert every_list(redis_client, pages) == before
    assert killed > 0
    assert every_list(redis_client, pages) == before
    for spec in (LISTS, HISTORY):
        assert redis_client.exists(live(redis_client, spec).bucket(0).key(OFFLOADED)) == 0
    assert redis_client.hlen(live(redis_client).bucket(0).key("rows")) < MATCHES - 500
    for projection in BOTH:
        assert difference(played, redis_client, pages, projection) == ""


@pytest.mark.long
def test_a_rebuilt_generation_has_all_rows_and_pages_of_its_own(
    played: TimedLogs, redis_client: Redis, objects: FileObjects, pages: RowPages
) -> None:
    catch_up(played.store, redis_client, BOTH)
    run(played, redis_client, objects)
    old, before = live(redis_client), every_list(redis_client, pages)
    redis_client.delete("{p:lists}:live", "{p:history}:live")
    catch_up(played.store, redis_client, BOTH)
    assert live(redis_client) != old
    assert every_list(redis_client, pages) == before
    run(played, redis_client, objects)
    assert every_list(redis_client, pages) == before


def test_pages_of_a_replaced_generation_are_deleted_after_40_days(
    played: TimedLogs,
    redis_client: Redis,
    objects: FileObjects,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    catch_up(played.store, redis_client, BOTH)
    run(played, redis_client, objects)
    old = live(redis_client)
    folder = tmp_path / "log" / "rows" / "lists" / str(old.number)
    assert any(folder.rglob("*"))
    redis_client.delete("{p:lists}:live")
    catch_up(played.store, redis_client, BOTH)
    for days in (0, KEEP_DAYS - 1):
        monkeypatch.setattr(TimedLogs, "time", (1 << 50) + days * DAY)
        run(played, redis_client, objects)
        assert any(folder.rglob("*"))
    monkeypatch.setattr(TimedLogs, "time", (1 << 50) + KEEP_DAYS * DAY)
    run(played, redis_client, objects)
    assert not list(folder.rglob("*"))
    assert list(PagedGenerations(redis_client, "lists").all()) == [live(redis_client).number]


def test_a_row_that_comes_late_has_its_place_at_once_and_in_the_pages(
    redis_client: Redis, objects: FileObjects, pages: RowPages
) -> None:
    logs = TimedLogs()
    for board in range(1, 1_601):
        finish(logs, board)
    side = catch_up(logs.store, redis_client, BOTH)
    run(logs, redis_client, objects)
    late = {1_601: 100_200, 1_602: 700_200, 1_603: 1_590_200}
    for board, at in late.items():
        finish(logs, board, at)
    settle(side)
    lists = MatchLists(redis_client, pages)

    def shown(step: int) -> list[int]:
        return [
            row.board
            for start in range(0, 2_000, step)
            for row in lists.of(ALICE, MatchFilter.INACTIVE, None, start, step)
        ]

    places = {board: board * 1_000 for board in range(1, 1_601)} | late
    expected = sorted(places, key=lambda board: -places[board])
    assert shown(50) == shown(700) == expected
    assert lists.counts(ALICE).inactive == len(expected)
    for board in range(1_604, 1_604 + PAGE_ROWS):
        finish(logs, board, board * 1_000)
        expected.insert(0, board)
    settle(side)
    assert run(logs, redis_client, objects) > 0
    assert shown(50) == shown(700) == expected
    bucket = live(redis_client).bucket(0)
    entries = [
        unpack_entry(one)
        for one in redis_client.lrange(bucket.key(pages_key(over_key(ALICE))), 0, -1)
    ]
    assert all(one.last < other.first for one, other in pairwise(entries))
    assert entries[0].first[0] == 1_000
    for projection in BOTH:
        assert difference(logs, redis_client, pages, projection) == ""
