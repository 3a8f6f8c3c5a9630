"""What is gone from the projections' server: accounts that are deleted, matches in the archive, and their rows."""

import random
from collections.abc import Sequence
from typing import Any
from unittest.mock import Mock

import pytest
from redis import Redis

from domain.match.commands import ResignMatch
from infra.archive.archive import Archive
from infra.archive.directory_pages import DirectoryEntry
from infra.archive.objects import PageStore
from infra.archive.store import StoreWithArchive
from infra.durability.durability import Mode
from infra.objects.files import FileObjects
from infra.objects.port import ObjectStoreError
from infra.projections import archived_places
from infra.projections.archived_places import ArchivedPlaces, FinishedLists, archived_key
from infra.projections.buckets import HISTORY, LISTS, NOTICES
from infra.projections.erasure import erase_projections, mark_erased
from infra.projections.finished_matches import ROWS, FinishedMatches, account_key
from infra.projections.generations import Generation, Generations
from infra.projections.match_lists import MatchCounts, MatchFilter, MatchLists
from infra.projections.notices import MatchNotices
from infra.projections.projection import Fact, Projection
from infra.redis import keys
from tests.fakes.dying import DyingClient, Killed
from tests.fakes.logs import Logs
from tests.helpers.archiving import Archiving
from tests.helpers.bench import Bench
from tests.helpers.finished import BOTH, Entries, archive, every_list, finish, take_all
from tests.helpers.given import ALICE, BOB, CAROL, ended, moved, offered, proposed, started
from tests.helpers.side import catch_up, contents, settle
from workers.archived_rows import ArchivedRows, has_leftovers
from workers.projections import PROJECTIONS, feed, maintenance, verify
from workers.projections.rebuild import StuckError
from workers.projections.verify import ProjectionVerifier
from workers.projections.worker import ProjectionWorker

ALL = tuple(one for one in PROJECTIONS if one.spec in (LISTS, NOTICES, HISTORY))


@pytest.fixture(params=[1, 3])
def side(request: pytest.FixtureRequest, logs: Logs, redis_client: Redis) -> ProjectionWorker:
    """A side worker that has read all."""
    return catch_up(logs.store, redis_client, ALL, buckets=request.param)


@pytest.fixture
def logs() -> Logs:
    """Matches of alice and bob: some wait, in some an offer is open, some are over."""
    made = Logs()
    for board in range(1, 13):
        made.add(board, board, ALICE, started(), moved(1, 0, 1))
        if board % 3:
            made.add(board, 20 + board, ALICE, offered(0))
        if board % 3 == 2:
            made.add(board, 40 + board, BOB, ended(0))
    made.add(13, 13, ALICE, proposed())
    return made


def stored_of(client: Redis, account: bytes) -> set[str]:
    """Keys with the account's id in their names, and those in the sets of keys.

    Its lists by game and opponent stay, as the record of the others.
    """
    found = {
        key
        for key in contents(client)
        if account.hex() in key and ":player:" not in key and ":pair:" not in key
    }
    for generations in (Generations(client, spec) for spec in (LISTS, NOTICES)):
        names = [one for bucket in generations.live()[1].all for one in generations.keys_of(bucket)]
        found |= {f"set:{name}" for page in names for name in page if account.hex() in name}
    return found


def equal(logs: Logs, client: Redis, projections: Sequence[Projection] = ALL) -> bool:
    """Whether a rebuild gives the same."""
    found = [ProjectionVerifier(logs.store, client, one).run() for one in projections]
    return [one.difference for one in found] == [""] * len(projections)


def test_a_deleted_account_has_no_lists_and_no_notices(side, logs, redis_client):
    before = stored_of(redis_client, BOB)
    assert {key.split(":")[-2] for key in before} >= {"to", "next", "account", "proposed"}
    assert any(key.startswith("set:") for key in before)
    opponent = MatchLists(redis_client).of(ALICE), MatchNotices(redis_client).of(ALICE)
    whole = contents(redis_client)
    redis_client.set(keys.account(BOB), "a record")
    erase_projections(redis_client, BOB)
    assert contents(redis_client) == whole, "it is not deleted yet"
    redis_client.delete(keys.account(BOB))
    for _ in range(2):
        erase_projections(redis_client, BOB)
    assert stored_of(redis_client, BOB) == set()
    assert (MatchLists(redis_client).of(ALICE), MatchNotices(redis_client).of(ALICE)) == opponent
    settle(side)
    assert equal(logs, redis_client)


def test_a_writer_that_has_read_before_the_deletion_writes_nothing_of_it(
    side, logs, redis_client, monkeypatch
):
    deleted: list[bytes] = []

    def deleted_meanwhile(
        client: Redis, facts: Sequence[Fact], present: set[bytes]
    ) -> Sequence[Fact]:
        found = mark_erased(client, facts, present)
        if not deleted:
            deleted.append(BOB)
            erase_projections(client, BOB)
        return found

    monkeypatch.setattr(feed, "mark_erased", deleted_meanwhile)
    logs.add(3, 100, ALICE, moved(2, 1, 0), moved(3, 0, 1))
    settle(side)
    assert deleted
    assert stored_of(redis_client, BOB) == set()
    (row,) = MatchLists(redis_client).rows([3])
    assert row.ply == 3
    assert equal(logs, redis_client)


class Away(FileObjects):
    """A folder that can't be read."""

    def get(self, name: str) -> bytes:
        raise ObjectStoreError(f"{name} is away")


def test_a_rebuild_stops_with_a_sentence_while_the_archive_can_not_be_read(redis_client, tmp_path):
    bench = Bench(redis_client, tmp_path / "seeds")
    bench.start(1, 2)
    bench.send(ALICE, ResignMatch(), 1)
    bench.drain()
    catch_up(bench.store, redis_client)
    archiving = Archiving(redis_client, bench.store, tmp_path / "log")
    assert archiving.retire() == 1
    before = contents(redis_client)
    redis_client.xtrim(keys.log(1), minid="2-0", approximate=False)
    archive = Archive(lambda: (PageStore(Away(tmp_path)), archiving.leaves()), lambda: 4)
    store = StoreWithArchive(redis_client, Mode.FSYNC, archive, open_logs=archiving.open_logs)
    with pytest.raises(StuckError, match="the archive can't be read right now"):
        maintenance.rebuild(store, redis_client, PROJECTIONS, Mock())
    assert contents(redis_client) == before


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
    monkeypatch.setattr(archived_places, "PACKED_AT", 4)


def live(client: Redis) -> Generation:
    return Generations(client, HISTORY).live()[1]


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
    played, redis_client, buckets, monkeypatch
):
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


def test_wherever_it_is_killed_no_row_is_lost_and_none_is_there_twice(played, redis_client):
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


def test_a_rebuild_makes_all_rows_again_and_the_next_run_takes_them_out_as_before(
    played, redis_client
):
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


@pytest.mark.parametrize("buckets", [1, 3])
def test_a_part_of_a_list_is_read_without_the_rest(played, redis_client, buckets):
    catch_up(played.store, redis_client, BOTH, buckets=buckets)
    asked: list[int] = []
    entries = archive(redis_client, OLD)

    def noted(boards: Any) -> list[DirectoryEntry | None]:
        asked.extend(boards)
        return entries(boards)

    def used() -> tuple[int, int]:
        """Commands and bytes so far."""
        found = redis_client.info("stats")
        return found["total_commands_processed"], found["total_net_output_bytes"]

    history = FinishedMatches(redis_client, noted)
    lists = MatchLists(redis_client, history)
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
                before = used()
                assert len(rows(start)) == 5
                commands, sent = (now - one for now, one in zip(used(), before, strict=True))
                # a look into the list, two at what is archived, and the rows of each bucket
                assert commands <= 20
                assert sent < 9_000  # of which the figures that are compared are more than a half
                assert len(asked) <= 5


def test_the_places_of_a_deleted_account_are_gone_and_its_matches_are_still_the_others(
    played, redis_client, monkeypatch
):
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


@pytest.mark.parametrize("look", [1, 2, 3])
def test_two_jobs_that_pack_a_list_at_the_same_time_lose_and_repeat_no_place(redis_client, look):
    one = archived_places.ListKey(Generation("history", 1, 1).bucket(0), "game:pow2")
    redis_client.set(one.bucket.checkpoint_key, b"1")
    wanted = [(at, b"%d" % at) for at in range(60, 0, -1)]
    redis_client.zadd(one.rows, {member: at for at, member in wanted})
    every, looks = {at for at, _ in wanted}, []

    def other_is_faster(boards: Sequence[int]) -> set[int]:
        looks.append(boards)
        if len(looks) == look:
            ArchivedPlaces(redis_client, every.intersection).pack([one])
        return every.intersection(boards)

    ArchivedPlaces(redis_client, other_is_faster).pack([one])
    assert len(looks) >= look
    assert FinishedLists(redis_client).read(one, 0, 100) == wanted
    assert redis_client.zcard(one.rows) < 16


def test_any_part_of_a_list_is_that_of_all_its_places_in_order(redis_client):
    """By chance: lists of which any matches are archived, in any order and in any pieces."""
    chance = random.Random(5)
    bucket = Generation("history", 1, 1).bucket(0)
    one = archived_places.ListKey(bucket, "game:pow2")
    archived: set[int] = set()
    lists = FinishedLists(redis_client)
    packing = ArchivedPlaces(redis_client, archived.intersection)
    for _ in range(30):
        redis_client.flushdb()
        redis_client.set(bucket.checkpoint_key, b"1")
        places = {
            (chance.randrange(40), b"%d" % board) for board in range(1, chance.randrange(2, 120))
        }
        archived.clear()
        redis_client.zadd(one.rows, {member: at for at, member in places})
        wanted = sorted(places, reverse=True)
        for _ in range(chance.randrange(4)):
            some = chance.sample(wanted, chance.randrange(1, len(wanted) + 1))
            archived.update(int(member) for _, member in some)
            packing.pack([one])
            assert lists.count(one) == len(wanted)
            for _ in range(12):
                start, count = chance.randrange(len(wanted) + 5), chance.randrange(1, 40)
                assert lists.read(one, start, count) == wanted[start : start + count]
