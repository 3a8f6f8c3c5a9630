"""The scrubber: no false alarm, where it goes on, what it forgets, and how fast it is."""

import logging
from collections.abc import Sequence
from threading import Event, Thread
from typing import Any
from unittest.mock import Mock

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from domain.match.commands import PlayMove, ResignMatch
from infra.objects.files import FileObjects
from infra.objects.port import ObjectStoreError
from infra.redis import keys
from infra.store.failures import DamagedMatches
from infra.store.log_gate import LogGate
from infra.store.scrub_notes import LISTS, NotedFault, ScrubNotes, ScrubRecord
from tests.helpers.scrubbing import OPENING, SHARDS, ScrubbedServer
from tests.helpers.server_copy import dump_of, restore
from workers.projections import maintenance
from workers.scrub import tables
from workers.scrub.pages import ArchivePages
from workers.scrub.scrubber import ROUND_MS, Budget, Scrubber, ScrubFault, ScrubStoppedError, Step


class Walk:
    """A section of some steps, which finds what a function returns at a place."""

    def __init__(self, name, steps, find=lambda _: ()):
        self.name = name
        self._steps = steps
        self._find = find
        self.visits: list[int] = []

    def step(self, cursor: str) -> Step:
        place = int(cursor or 0)
        self.visits.append(place)
        after = None if place + 1 == self._steps else str(place + 1)
        return Step(after, self._find(place), [place + 1])


def scrubber_of(server, *sections, now=lambda: ROUND_MS, **more):
    record, damage = ScrubRecord(server.client), DamagedMatches(server.client)
    return Scrubber(sections, record, damage, now, lambda _: None, **more)


def fresh(server: ScrubbedServer) -> None:
    server.client.delete(keys.SCRUB)


def test_a_round_on_a_server_that_is_well_finds_nothing(server: ScrubbedServer) -> None:
    assert server.scrub() == []
    changes = lambda: server.client.info("persistence")["rdb_changes_since_last_save"]  # noqa: E731
    before = changes()
    assert server.scrub() == []
    assert changes() - before <= 8, "the fields of its own note at the end, and nothing else"
    notes = ScrubRecord(server.client).read()
    assert notes.last_matches > 12
    assert not notes.section


def test_a_new_scrubber_goes_on_where_the_last_one_was(server: ScrubbedServer) -> None:
    fresh(server)
    walks = Walk("one", 3), Walk("two", 2)
    first = scrubber_of(server, *walks)
    for _ in range(4):
        assert first.step()
    first.save()
    second = scrubber_of(server, *walks)
    assert second.step()
    assert (walks[0].visits, walks[1].visits) == ([0, 1, 2], [0, 1])
    assert not second.step()
    notes = ScrubRecord(server.client).read()
    assert (notes.round, notes.last_matches, notes.section) == (1, 5, "")


def test_the_next_round_begins_an_hour_after_the_last_began(server: ScrubbedServer) -> None:
    fresh(server)
    time = [ROUND_MS]
    walk = Walk("one", 1)
    scrubber = scrubber_of(server, walk, now=lambda: time[0])
    assert scrubber.step()
    assert not scrubber.step()
    time[0] += ROUND_MS - 1
    assert not scrubber.step()
    time[0] += 1
    assert scrubber.step()
    assert walk.visits == [0, 0]


def test_what_is_found_once_only_is_no_fault(server: ScrubbedServer) -> None:
    fresh(server)
    looks = iter([[ScrubFault("a", "half written")], [], []])
    scrubber = scrubber_of(server, Walk("one", 1, lambda _: next(looks)))
    assert scrubber.round() == []


def test_a_fault_is_forgotten_when_a_round_does_not_find_it_again(server, caplog):
    fresh(server)
    bad = [True]
    fault = ScrubFault("match 7", "event 2: it is missing", board=7)
    walk = Walk("one", 8, lambda place: [fault] if bad[0] and place == 6 else [])
    scrubber = scrubber_of(server, walk)
    assert [(one.about, one.sentence) for one in scrubber.round()] == [fault[:2]]
    assert [(one.about, one.sentence) for one in scrubber.round()] == [fault[:2]]
    assert DamagedMatches(server.client).all() == {7: "event 2: it is missing"}
    alarms = [one.message for one in caplog.records if one.levelno == logging.ERROR]
    assert alarms == ["ALARM: the scrubber found: match 7: event 2: it is missing"]
    bad[0] = False
    assert scrubber.round() == []
    assert DamagedMatches(server.client).all() == {}


def test_a_section_that_fails_is_a_fault_and_the_others_go_on(server: ScrubbedServer) -> None:
    fresh(server)

    def fail(_: int) -> Sequence[ScrubFault]:
        raise ZeroDivisionError("of damaged bytes")

    def away(_: int) -> Sequence[ScrubFault]:
        raise ObjectStoreError("the store is away")

    last = Walk("three", 2)
    found = scrubber_of(server, Walk("one", 2, fail), Walk("two", 2, away), last).round()
    assert [(one.section, one.about) for one in found] == [("one", "one"), ("two", "object store")]
    assert last.visits == [0, 1]


def test_each_object_is_read_once_in_a_round_and_again_in_the_next(server, monkeypatch):
    reads: list[str] = []
    get = FileObjects.get
    monkeypatch.setattr(
        FileObjects, "get", lambda self, name: reads.append(name) or get(self, name)
    )
    parts = server.parts()
    matches = sum(server.client.bitcount(keys.archived(shard)) for shard in range(SHARDS))
    fresh(server)
    scrubber = scrubber_of(server, ArchivePages(parts), forget=parts.forget)
    assert scrubber.round() == []
    once = [name for name in reads if "/tile/" in name]
    assert len(once) == len(set(once))
    assert len(reads) < 3 * matches
    bundle = next(name for name in once if "/entries/" in name)
    data = server.objects.get(bundle)
    server.objects.replace(bundle, data.replace(b"pow2", b"pow3"), data)
    assert scrubber.round()


LEAF = ScrubFault("match 17", "leaf 900 is not the one that is published")
CUTS = [ObjectStoreError("503 slow down"), ZeroDivisionError("of damaged bytes"), None]


@pytest.mark.parametrize("error", CUTS, ids=["object store away", "check fails", "shard closed"])
def test_a_section_that_was_cut_short_forgets_nothing_and_makes_no_whole_round(server, error):
    fresh(server)
    time, cut, damaged = [ROUND_MS], [False], [True]

    def find(place: int) -> Sequence[ScrubFault]:
        if cut[0] and error and place == 1:
            raise error
        return [LEAF] if damaged[0] and place == 2 and not cut[0] else []

    def scrub() -> list[str]:
        time[0] += ROUND_MS
        record, damage = ScrubRecord(server.client), DamagedMatches(server.client)
        is_closed = lambda: cut[0] and not error and record.read().cursor in ("", "1")  # noqa: E731
        while True:  # each step by a process of its own
            scrubber = Scrubber(
                (Walk("one", 4, find), Walk("two", 1)),
                *(record, damage, lambda: time[0], lambda _: None, is_closed),
            )
            if not scrubber.step():
                return [one.about for one in record.faults() if one.section == "one"]
            scrubber.save()

    assert scrub() == ["match 17"]
    whole = ScrubRecord(server.client).read()
    cut[0] = True
    assert "match 17" in scrub()
    after = ScrubRecord(server.client).read()
    assert (after.round, after.section) == (whole.round + 1, "")
    assert (after.last_began, after.last_ended) == (whole.last_began, whole.last_ended)
    assert after.oldest_ms(time[0]) == ROUND_MS
    cut[0] = damaged[0] = False
    assert scrub() == []
    assert ScrubRecord(server.client).read().last_ended == time[0]


def test_what_was_found_stays_if_the_object_store_goes_away_before_the_second_look(server):
    fresh(server)
    looks = iter([[LEAF], ObjectStoreError("1"), ObjectStoreError("2"), ObjectStoreError("3")])

    def find(_: int) -> Sequence[ScrubFault]:
        found = next(looks)
        if isinstance(found, ObjectStoreError):
            raise found
        return found

    (found,) = scrubber_of(server, Walk("one", 1, find)).round()
    assert (found.about, found.sentence) == ("object store", "it can't be read: 3")


def test_rounds_that_are_all_cut_short_do_not_look_like_a_recent_check(server: ScrubbedServer):
    fresh(server)
    time = [ROUND_MS]

    def away(_: int) -> Sequence[ScrubFault]:
        raise ObjectStoreError("the store is away")

    scrubber = scrubber_of(server, Walk("one", 1, away), now=lambda: time[0])
    for _ in range(3):
        scrubber.round()
        time[0] += ROUND_MS
    assert ScrubRecord(server.client).read().oldest_ms(time[0]) == 3 * ROUND_MS


def test_a_round_that_meets_a_section_of_another_version_is_not_whole(server: ScrubbedServer):
    fresh(server)
    record = ScrubRecord(server.client)
    record.add([NotedFault("gone", "match 17", "of a section that there is no more", 1, 1)])
    record.write(ScrubNotes(section="gone", round=1, began=1))
    scrubber = scrubber_of(server, Walk("one", 1))
    assert scrubber.step()
    assert record.read().last_ended == 0
    assert [one.about for one in record.faults()] == ["match 17"]
    assert scrubber.round() == []


def test_lists_that_are_too_long_to_be_checked_each_round_are_forgotten_when_they_are_rebuilt(
    server: ScrubbedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = ScrubRecord(server.client)
    parts = server.parts()
    for mend in (maintenance.rebuild, maintenance.check):
        assert server.scrub() == []
        record.add([NotedFault(LISTS, "standings", "they differ", 1, 1)])
        began = record.read().last_began
        with monkeypatch.context() as patched:
            patched.setattr(tables, "MOST_LEAVES", 1)
            assert [one.about for one in server.scrubber().round()] == ["standings"]
        assert record.read().last_began > began  # as far as a round goes there, it was whole
        chosen = maintenance.named(["standings"])
        mend(parts.store, parts.data, chosen, Mock())
        assert record.faults() == []


@pytest.mark.parametrize("error", [RedisConnectionError("gone"), ScrubStoppedError()])
def test_a_run_that_must_end_leaves_the_step_to_the_next(server: ScrubbedServer, error: Exception):
    fresh(server)
    errors = [error]

    def stop(place: int) -> Sequence[ScrubFault]:
        if place == 1 and errors:
            raise errors.pop()
        return ()

    walk = Walk("one", 2, stop)
    scrubber = scrubber_of(server, walk)
    assert scrubber.step()
    with pytest.raises(type(error)):
        scrubber.step()
    assert scrubber.step()
    assert walk.visits == [0, 1, 1]


def test_work_is_kept_to_its_share_of_a_core() -> None:
    time, slept = [0.0], []
    budget = Budget(5, slept.append, lambda: time[0])
    for _ in range(10):
        time[0] += 0.02
        budget.wait()
    assert sum(slept) == pytest.approx(10 * 0.02 * 19)
    time[0] += 60
    budget.wait(1.0)
    assert slept[-1] == 1.0


@pytest.mark.long
def test_no_false_alarm_while_players_go_on(server: ScrubbedServer) -> None:
    """Matches are started, played, refused, ended, published, listed and retired meanwhile."""
    alice, bob = map(server.accounts.id_of, ("alice", "bob"))
    stopping, failed = Event(), []

    def work() -> None:
        try:
            for _ in until(stopping):
                board = server.start(alice, bob)
                server.drain()
                server.play(board, alice, bob)
                server.send(board, alice, PlayMove(text=OPENING[0]))
                server.send(board, bob, ResignMatch())
                server.drain()
                sizes = server.publish()
                server.list_all()
                server.retire(sizes, {board - 2})
                server.accounts.change_addresses_of(alice, [f"a{board}@example.org"])
                server.accounts.signup(f"player{board}", "mad-hatter")
        except Exception as error:
            failed.append(error)
            raise

    before = int(server.client.get(keys.BOARDS) or 0)  # type: ignore[arg-type]
    player = Thread(target=work)
    player.start()
    try:
        found: list[Any] = [one for _ in range(6) for one in server.scrub()]
    finally:
        stopping.set()
        player.join()
    assert failed == []
    assert found == []
    assert int(server.client.get(keys.BOARDS) or 0) > before  # type: ignore[arg-type]
    assert server.scrub() == []


def test_no_false_alarm_about_a_shard_that_is_closed_until_it_is_restored(server: ScrubbedServer):
    early = dump_of(server.client)
    alice, bob = map(server.accounts.id_of, ("alice", "bob"))
    board = server.start(alice, bob, rules="powerdrain/1")
    server.drain()
    for _ in range(2):
        server.send(board, alice, ResignMatch())
        server.drain()
    server.publish()
    restore(server.client, early)
    assert LogGate(server.client, server.queue).look(range(SHARDS)) == {board % SHARDS}
    before = ScrubRecord(server.client).read()
    assert server.scrub() == []
    assert ScrubRecord(server.client).read().last_ended == before.last_ended


def until(stopping: Event):
    """Go on until asked to stop."""
    while not stopping.is_set():
        yield
