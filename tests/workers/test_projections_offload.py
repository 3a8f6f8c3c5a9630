"""Lists of finished matches whose older rows are in row pages: complete, in order, whatever happens."""

from itertools import pairwise
from pathlib import Path

import pytest
from redis import Redis

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra.objects.files import FileObjects
from infra.objects.port import ObjectStoreError
from infra.projections import paged_lists
from infra.projections.erasure import erase_projections
from infra.projections.finished_matches import FinishedMatches, player_key
from infra.projections.generations import Generation, Generations
from infra.projections.match_lists import MatchCounts, MatchFilter, MatchLists, over_key
from infra.projections.paged_lists import OFFLOADED, pages_key
from infra.projections.paged_projections import KEEP_DAYS, PagedGenerations
from infra.projections.projection import Projection
from infra.projections.row_pages import (
    MOST_ROWS,
    PAGE_ROWS,
    ROWS_KEPT,
    RowPages,
    page_name,
    unpack_entry,
)
from infra.projections.specs import HISTORY, LISTS, Spec
from tests.fakes.logs import Logs
from tests.helpers.given import ALICE, BOB, CAROL
from tests.helpers.side import catch_up, settle
from tests.helpers.stories import ended, moved, started
from workers.projections import PROJECTIONS, offload
from workers.projections.offload import RowOffload
from workers.projections.verify import ProjectionVerifier
from workers.projections.worker import ProjectionWorker

BOTH = tuple(one for one in PROJECTIONS if one.spec in (LISTS, HISTORY))
MATCHES = 2_000
DAY = 86_400_000

Listing = list[tuple[int, ...]]


class TimedLogs(Logs):
    """Logs with a clock."""

    time = 1 << 50

    def now(self) -> int:
        """Return the time."""
        return self.time


def finish(logs: Logs, board: int, at: int | None = None) -> None:
    """A finished match of alice and bob, each third of alice and carol, each fifth of torere."""
    other = CAROL if board % 3 == 0 else BOB
    rules = "torere/1" if board % 5 == 0 else "pow2/1"
    at = at or board * 1_000
    logs.add(board, at - 500, ALICE, started(ALICE, other, rules=rules), moved(1, 0, 1))
    logs.add(board, at, other, ended(board % 2))


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


def run(logs: Logs, client: Redis, objects: FileObjects) -> int:
    work = RowOffload(logs.store, client, objects, settled_ms=0)
    while work.step() is not None:
        pass
    return work.rows


def every_list(client: Redis, pages: RowPages, step: int = 600) -> dict[str, object]:
    """What readers can ask for, so many rows at a time."""
    lists, history = MatchLists(client, pages), FinishedMatches(client, pages)
    starts = range(0, MATCHES + step, step)
    players = {"": (), "alice": (ALICE,), "long": (BOB, ALICE), "short": (ALICE, CAROL)}
    found: dict[str, object] = {}
    for name, account in (("alice", ALICE), ("carol", CAROL)):
        found[f"counts {name}"] = lists.counts(account)
        for state in (MatchFilter.INACTIVE, MatchFilter.ALL):
            for game in (None, "torere"):
                found[f"{name} {state} {game}"] = [
                    row for start in starts for row in lists.of(account, state, game, start, step)
                ]
    for name, who in players.items():
        found[f"history count {name}"] = history.count("pow2", *who)
        found[f"history {name}"] = [
            row
            for start in starts
            for row in history.of("pow2", *(*who, None, None)[:2], start, step)
        ]
    return found


def live(client: Redis, spec: Spec = LISTS) -> Generation:
    found = Generations(client, spec).live()
    assert found is not None
    return found[1]


def sizes(client: Redis, generation: Generation, owner: AccountId, name: str) -> tuple[int, int]:
    """The rows of a list in Redis, and its pages."""
    bucket = generation.of(owner)
    return client.zcard(bucket.key(name)), client.llen(bucket.key(pages_key(name)))


def difference(logs: Logs, client: Redis, pages: RowPages, projection: Projection) -> str:
    return ProjectionVerifier(logs.store, client, projection, pages=pages).run().difference


@pytest.mark.parametrize("buckets", [1, 3])
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


@pytest.mark.parametrize("buckets", [1, 3])
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


@pytest.fixture
def moved_to_pages(
    played: TimedLogs, redis_client: Redis, objects: FileObjects
) -> ProjectionWorker:
    side = catch_up(played.store, redis_client, BOTH)
    run(played, redis_client, objects)
    return side


@pytest.mark.usefixtures("moved_to_pages")
def test_without_the_object_store_the_newest_rows_are_shown_and_older_ones_refused(
    redis_client: Redis, tmp_path: Path
) -> None:
    def gone() -> FileObjects:
        raise ObjectStoreError("the store is away")

    for pages in (RowPages(gone), RowPages(lambda: FileObjects(tmp_path / "empty"))):
        lists, history = MatchLists(redis_client, pages), FinishedMatches(redis_client, pages)
        newest = lists.of(ALICE, MatchFilter.INACTIVE, None, 0, ROWS_KEPT)
        assert len(newest) == len(history.of("pow2", ALICE, count=ROWS_KEPT)) == ROWS_KEPT
        assert lists.counts(ALICE).inactive == MATCHES
        for read in (
            lambda lists=lists: lists.of(ALICE, MatchFilter.INACTIVE, None, ROWS_KEPT, 300),
            lambda lists=lists: lists.of(ALICE, MatchFilter.ALL, "torere", 0, 300),
            lambda history=history: history.of("pow2", start=1_000),
        ):
            with pytest.raises(Refusal, match="can't be read now") as refused:
                read()
            assert refused.value.code == Code.UNAVAILABLE


@pytest.mark.usefixtures("moved_to_pages")
def test_a_damaged_page_is_refused_and_an_alarm(
    redis_client: Redis, tmp_path: Path, pages: RowPages, caplog: pytest.LogCaptureFixture
) -> None:
    for file in (tmp_path / "log" / "rows" / "lists").rglob("*"):
        if file.is_file():
            file.write_bytes(file.read_bytes()[:-1] + b"?")
    with pytest.raises(Refusal) as refused:
        MatchLists(redis_client, pages).of(ALICE, MatchFilter.INACTIVE, None, MATCHES - 10, 5)
    assert refused.value.code == Code.DAMAGED
    assert "ALARM" in caplog.text
    assert len(FinishedMatches(redis_client, pages).of("pow2", ALICE, None, 1_000, 5)) == 5


@pytest.mark.usefixtures("moved_to_pages")
def test_a_check_finds_a_page_that_differs_and_a_row_that_is_missing(
    played: TimedLogs, redis_client: Redis, objects: FileObjects, pages: RowPages
) -> None:
    bucket = live(redis_client, HISTORY).bucket(0)
    key = bucket.key(pages_key(player_key("pow2", ALICE)))
    lost = redis_client.lpop(key)
    assert difference(played, redis_client, pages, BOTH[1]) == player_key("pow2", ALICE)
    redis_client.lpush(key, lost)
    assert difference(played, redis_client, pages, BOTH[1]) == ""
    (newest,) = redis_client.zrange(bucket.key(player_key("pow2", ALICE)), -1, -1)
    row = redis_client.hget(bucket.key("rows"), newest)
    redis_client.hdel(bucket.key("rows"), newest)
    assert difference(played, redis_client, pages, BOTH[1]) != ""
    redis_client.hset(bucket.key("rows"), newest, row)
    objects.delete(page_name("history", bucket.generation, unpack_entry(lost).digest))
    with pytest.raises(Refusal):
        difference(played, redis_client, RowPages(lambda: objects), BOTH[1])


def test_a_deleted_account_has_no_pages_and_its_opponents_keep_theirs(
    moved_to_pages: ProjectionWorker,
    played: TimedLogs,
    redis_client: Redis,
    objects: FileObjects,
    pages: RowPages,
) -> None:
    generation = live(redis_client)
    bucket = generation.of(BOB)
    entries = redis_client.lrange(bucket.key(pages_key(over_key(BOB))), 0, -1)
    names = [page_name("lists", generation.number, unpack_entry(one).digest) for one in entries]
    assert [len(objects.get(name)) > 0 for name in names] == [True] * len(entries)
    before = MatchLists(redis_client, pages).of(ALICE, MatchFilter.INACTIVE, None, 0, MATCHES)
    for _ in range(2):
        erase_projections(redis_client, BOB)
    assert [key for key in redis_client.scan_iter("{p:lists*") if BOB.hex().encode() in key] == []
    lists = MatchLists(redis_client, pages)
    assert lists.of(BOB, MatchFilter.INACTIVE, None, 0, MATCHES) == []
    assert lists.counts(BOB) == MatchCounts(0, 0, 0)
    run(played, redis_client, objects)
    for name in names:
        with pytest.raises(ObjectStoreError):
            objects.get(name)
    assert redis_client.keys("{p:lists*deleted*") == []
    assert lists.of(ALICE, MatchFilter.INACTIVE, None, 0, MATCHES) == before
    settle(moved_to_pages)
    assert difference(played, redis_client, pages, BOTH[0]) == ""


def test_a_list_that_is_deleted_while_its_page_is_written_gets_no_page(
    played: TimedLogs,
    redis_client: Redis,
    objects: FileObjects,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    catch_up(played.store, redis_client, BOTH)

    def delete(name: str) -> None:
        if name == "offload.written":
            erase_projections(redis_client, ALICE)

    monkeypatch.setattr(offload, "failpoint", delete)
    run(played, redis_client, objects)
    assert [key for key in redis_client.scan_iter("{p:lists*") if ALICE.hex().encode() in key] == []


def test_a_list_that_is_compared_or_behind_stays_as_it_is(
    redis_client: Redis, objects: FileObjects
) -> None:
    logs = TimedLogs()
    for board in range(1, 1_001):
        finish(logs, board)
    side = catch_up(logs.store, redis_client, BOTH)
    both = [
        (Generations(redis_client, spec), live(redis_client, spec)) for spec in (LISTS, HISTORY)
    ]
    for generations, generation in both:
        generations.freeze(generation, "token")
    assert run(logs, redis_client, objects) == 0
    for generations, generation in both:
        generations.unfreeze(generation, "token")
    finish(logs, 1_001, 10)
    assert run(logs, redis_client, objects) == 0, "what is not read yet ended before all"
    settle(side)
    assert run(logs, redis_client, objects) > 0


def test_pages_that_change_while_a_list_is_read_are_read_again(
    redis_client: Redis,
    objects: FileObjects,
    pages: RowPages,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    logs = TimedLogs()
    for board in range(1, 1_500):
        finish(logs, board)
    catch_up(logs.store, redis_client, BOTH)
    lists = MatchLists(redis_client, pages)
    before = lists.of(ALICE, MatchFilter.INACTIVE, None, 0, 1_500)
    find = paged_lists.PagedLists.rows_of
    runs = []

    def moved_meanwhile(*args: object) -> list[bytes]:
        if not runs:
            runs.append(0)
            runs[0] = run(logs, redis_client, objects)
        return find(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(paged_lists.PagedLists, "rows_of", moved_meanwhile)
    assert lists.of(ALICE, MatchFilter.INACTIVE, None, 0, 1_500) == before
    assert runs[0] > 0
