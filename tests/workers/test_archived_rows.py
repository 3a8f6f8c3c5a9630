"""Lists of finished matches of which some are in the archive: complete, in order, whatever happens."""

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from redis import Redis

from domain.errors import Code, Refusal
from infra.archive.directory_pages import DirectoryEntry
from infra.projections import archived_places
from infra.projections.archived_places import ArchivedPlaces, FinishedLists, archived_key
from infra.projections.buckets import HISTORY
from infra.projections.erasure import erase_projections
from infra.projections.finished_matches import ROWS, FinishedMatches, account_key
from infra.projections.generations import Generation, Generations
from infra.projections.match_lists import MatchCounts, MatchFilter, MatchLists
from infra.redis import keys
from tests.fakes.dying import DyingClient, Killed
from tests.fakes.logs import Logs
from tests.helpers.finished import BOTH, Entries, archive, every_list, finish, take_all
from tests.helpers.given import ALICE, BOB, CAROL, started
from tests.helpers.side import catch_up, contents, settle
from workers.archived_rows import ArchivedRows, has_leftovers
from workers.projections import verify
from workers.projections.verify import ProjectionVerifier

MATCHES = 300
OLD = range(1, 251)
"""Those that are in the archive; two of them a dispute has kept out for long."""


@pytest.fixture(scope="module")
def played() -> Logs:
    """Many matches that are over; nobody adds to them."""
    logs = Logs()
    for board in range(1, MATCHES + 1):
        # several end in one ms
        finish(logs, board, board // 3 * 1_000 + 1_000)
    logs.add(MATCHES + 1, 1, ALICE, started(ALICE, BOB))
    logs.add(MATCHES + 2, 1, ALICE, started(ALICE, CAROL, rules="torere/1"))
    return logs


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archived_places, "PLACES", 16)


def live(client: Redis) -> Generation:
    found = Generations(client, HISTORY).live()
    assert found is not None
    return found[1]


def rows_in_redis(client: Redis) -> int:
    return sum(client.hlen(bucket.key(ROWS)) for bucket in live(client).all)


def differences(
    logs: Logs, client: Redis, entries: Entries, patch: pytest.MonkeyPatch
) -> list[str]:
    """The first key of each projection that differs from one that is made again from the logs."""
    patch.setattr(verify, "no_entries", entries)
    return [ProjectionVerifier(logs.store, client, one).run().difference for one in BOTH]


@pytest.mark.parametrize("buckets", [1, 3])
def test_lists_are_the_same_before_and_after_their_matches_go_into_the_archive(
    played: Logs, redis_client: Redis, buckets: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    catch_up(played.store, redis_client, BOTH, buckets=buckets)
    before = every_list(redis_client, lambda boards: [None for _ in boards], MATCHES, 23)
    assert before["counts alice"] == MatchCounts(2, 2, MATCHES)
    entries = archive(redis_client, [board for board in OLD if board not in (7, 100)])
    assert take_all(redis_client) == len(OLD) - 2
    assert rows_in_redis(redis_client) == MATCHES - len(OLD) + 2
    after = every_list(redis_client, entries, MATCHES, 23)
    assert [name for name in before if before[name] != after[name]] == []
    assert differences(played, redis_client, entries, monkeypatch) == ["", ""]
    late = archive(redis_client, [7, 100])
    assert take_all(redis_client) == 2
    both: Entries = lambda boards: [late([one])[0] or entries([one])[0] for one in boards]  # noqa: E731
    after = every_list(redis_client, both, MATCHES, 50)
    assert [name for name in before if before[name] != after[name]] == []
    assert differences(played, redis_client, both, monkeypatch) == ["", ""]
    for board in range(OLD.stop, MATCHES + 1):
        redis_client.zadd(keys.ended(board % 4), {str(board): 1})
    assert not has_leftovers(redis_client, 4)


def test_wherever_it_is_killed_no_row_is_lost_and_none_is_there_twice(
    played: Logs, redis_client: Redis
) -> None:
    catch_up(played.store, redis_client, BOTH, buckets=3)
    entries = archive(redis_client, OLD)
    before = every_list(redis_client, entries, MATCHES, 150)
    kills = 0
    for trips in range(40):
        dying: Any = DyingClient(redis_client, trips)
        try:
            ArchivedRows(dying, 4).take(list(OLD))
        except Killed:
            kills += 1
        if trips % 4 == 0:
            assert every_list(redis_client, entries, MATCHES, 150) == before
    assert kills > 5
    take_all(redis_client)
    assert rows_in_redis(redis_client) == MATCHES - len(OLD)
    assert every_list(redis_client, entries, MATCHES, 150) == before


def test_a_run_that_was_killed_before_the_rows_went_is_followed_by_one_that_takes_them(
    played: Logs, redis_client: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    catch_up(played.store, redis_client, BOTH)
    entries = archive(redis_client, OLD)
    before = every_list(redis_client, entries, MATCHES, 150)

    def killed(point: str) -> None:
        assert point == "retire.listed"
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr("workers.archived_rows.failpoint", killed)
        with pytest.raises(Killed):
            ArchivedRows(redis_client, 4).take(list(OLD))
    assert rows_in_redis(redis_client) == MATCHES
    assert every_list(redis_client, entries, MATCHES, 150) == before
    assert has_leftovers(redis_client, 4)
    assert ArchivedRows(redis_client, 4).take(list(OLD)) == len(OLD)
    assert every_list(redis_client, entries, MATCHES, 150) == before
    assert take_all(redis_client) == 0


def test_a_rebuild_makes_all_rows_again_and_the_next_run_takes_them_out_as_before(
    played: Logs, redis_client: Redis
) -> None:
    side = catch_up(played.store, redis_client, BOTH)
    archive(redis_client, OLD)
    take_all(redis_client)
    before = contents(redis_client)
    redis_client.delete("{p:history}:live")
    settle(side)
    catch_up(played.store, redis_client, BOTH)
    assert rows_in_redis(redis_client) == MATCHES
    assert has_leftovers(redis_client, 4)
    assert take_all(redis_client) == len(OLD)
    assert contents(redis_client) == before


def counting(client: Redis) -> Iterator[Callable[[], tuple[int, int]]]:
    """Yield what returns commands and bytes since the last call."""
    last = [0, 0]

    def read() -> tuple[int, int]:
        found = client.info("stats")
        now = [found["total_commands_processed"], found["total_net_output_bytes"]]
        since = now[0] - last[0], now[1] - last[1]
        last[:] = now
        return since

    read()
    yield read


@pytest.mark.parametrize("buckets", [1, 3])
def test_a_part_of_a_list_is_read_without_the_rest(
    played: Logs, redis_client: Redis, buckets: int
) -> None:
    catch_up(played.store, redis_client, BOTH, buckets=buckets)
    asked: list[int] = []
    entries = archive(redis_client, OLD)

    def noted(boards: Any) -> list[DirectoryEntry | None]:
        asked.extend(boards)
        return entries(boards)

    history = FinishedMatches(redis_client, noted)
    lists = MatchLists(redis_client, history)
    (since,) = counting(redis_client)
    for archived in (False, True):
        if archived:
            take_all(redis_client)
        for start in (0, 60, 90):
            for rows in (
                lambda at: history.of("pow2", None, None, at, 5),
                lambda at: history.of("pow2", BOB, ALICE, at, 5),
                lambda at: lists.of(ALICE, MatchFilter.INACTIVE, "pow2", at, 5),
                lambda at: lists.of(ALICE, MatchFilter.INACTIVE, None, at, 5),
            ):
                rows(start)  # which finds the generation
                asked.clear()
                since()
                assert len(rows(start)) == 5
                commands, sent = since()
                # a look into the list, two at what is archived, and the rows of each bucket
                assert commands <= 20
                assert sent < 9_000  # of which the figures that are compared are more than a half
                assert len(asked) <= 5


def test_a_place_that_too_many_older_ones_are_left_behind_stays_until_they_go(
    played: Logs, redis_client: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archived_places, "MOST_BETWEEN", 20)
    catch_up(played.store, redis_client, BOTH)
    entries = archive(redis_client, OLD)
    before = every_list(redis_client, entries, MATCHES, 150)
    assert ArchivedRows(redis_client, 4).take([250]) == 0
    assert every_list(redis_client, entries, MATCHES, 150) == before
    assert take_all(redis_client) == len(OLD)
    assert every_list(redis_client, entries, MATCHES, 150) == before


def test_without_the_archive_older_matches_are_refused_and_newer_ones_are_shown(
    played: Logs, redis_client: Redis
) -> None:
    catch_up(played.store, redis_client, BOTH)
    archive(redis_client, OLD)
    take_all(redis_client)
    code = Code.UNAVAILABLE

    def away(_: object) -> list[DirectoryEntry | None]:
        raise Refusal(code, "the archive is away")

    history = FinishedMatches(redis_client, away)
    assert len(history.of(None, ALICE, None, 0, 50)) == 50
    with pytest.raises(
        Refusal, match="older finished matches of this list can't be read right now"
    ):
        history.of(None, ALICE, None, 0, 51)
    code = Code.DAMAGED
    with pytest.raises(Refusal, match="can't be read; the server's log says why") as refused:
        MatchLists(redis_client, history).of(ALICE, MatchFilter.INACTIVE, None, 100)
    assert refused.value.code is Code.DAMAGED


def test_the_places_of_a_deleted_account_are_gone_and_its_matches_are_still_the_others(
    played: Logs, redis_client: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    catch_up(played.store, redis_client, BOTH, buckets=3)
    entries = archive(redis_client, OLD)
    ArchivedRows(redis_client, 4).take(list(OLD)[:100])
    erase_projections(redis_client, BOB)
    take_all(redis_client)
    bucket = live(redis_client).of(BOB)
    for name in (account_key(BOB), archived_key(account_key(BOB))):
        assert not redis_client.exists(bucket.key(name))
        assert not redis_client.sismember(bucket.names_key, name)
    history = FinishedMatches(redis_client, entries)
    assert history.of(None, BOB) == []
    assert history.count(None, ALICE) == MATCHES
    assert history.count("pow2", BOB, ALICE) == len(history.of("pow2", ALICE, BOB, 0, MATCHES))
    assert differences(played, redis_client, entries, monkeypatch) == ["", ""]


def test_any_part_of_a_list_is_that_of_all_its_places_in_order(redis_client: Redis) -> None:
    """By chance: lists of which any matches are archived, in any order and in any pieces."""
    chance = random.Random(5)
    bucket = Generation("history", 1, 1).bucket(0)
    one = archived_places.ListKey(bucket, "game:pow2")
    lists, moving = FinishedLists(redis_client), ArchivedPlaces(redis_client)
    for _ in range(30):
        redis_client.flushdb()
        redis_client.set(bucket.checkpoint_key, b"1")
        places = {
            (chance.randrange(40), b"%d" % board) for board in range(1, chance.randrange(2, 120))
        }
        redis_client.zadd(one.rows, {member: at for at, member in places})
        wanted = sorted(places, reverse=True)
        for _ in range(chance.randrange(4)):
            some = chance.sample(wanted, chance.randrange(1, len(wanted) + 1))
            assert moving.move(one, [member for _, member in some])
            assert lists.count(one) == len(wanted)
            for _ in range(12):
                start, count = chance.randrange(len(wanted) + 5), chance.randrange(1, 40)
                assert lists.read(one, start, count) == wanted[start : start + count]
