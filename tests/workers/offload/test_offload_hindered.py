"""Row pages that are away, damaged, of deleted accounts, or changed while they are read."""

from pathlib import Path

import pytest
from redis import Redis

from domain.errors import Code, Refusal
from infra.objects.files import FileObjects
from infra.objects.port import ObjectStoreError
from infra.projections import paged_lists
from infra.projections.erasure import erase_projections
from infra.projections.finished_matches import FinishedMatches, player_key
from infra.projections.generations import Generations
from infra.projections.match_lists import MatchCounts, MatchFilter, MatchLists, over_key
from infra.projections.paged_lists import pages_key
from infra.projections.row_pages import (
    ROWS_KEPT,
    RowPages,
    page_name,
    unpack_entry,
)
from infra.projections.specs import HISTORY, LISTS
from tests.helpers.given import ALICE, BOB
from tests.helpers.offloading import BOTH, MATCHES, TimedLogs, difference, finish, live, run
from tests.helpers.side import catch_up, settle
from workers.projections import offload
from workers.projections.worker import ProjectionWorker


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


@pytest.mark.long
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
