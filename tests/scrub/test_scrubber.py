"""The scrubber: no false alarm, where it goes on, what it forgets, and how fast it is."""

import logging
from collections.abc import Callable, Sequence
from threading import Event, Thread
from typing import Any

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from domain.match.commands import PlayMove, ResignMatch
from infra.objects.port import ObjectStoreError
from infra.redis import keys
from infra.store.damaged_matches import DamagedMatches
from infra.store.log_gate import LogGate
from infra.store.scrub_notes import ScrubRecord
from tests.helpers.scrubbing import OPENING, SHARDS, ScrubbedServer
from tests.helpers.server_copy import dump_of, restore
from workers.log.trim_events import EventTrimmer
from workers.scrub.scrubber import ROUND_MS, Budget, Scrubber
from workers.scrub.section import ScrubFault, ScrubStoppedError, Section, Step


class Walk:
    """A section of some steps, which finds what a function returns at a place."""

    def __init__(
        self, name: str, steps: int, find: Callable[[int], Sequence[ScrubFault]] = lambda _: ()
    ) -> None:
        self.name = name
        self._steps = steps
        self._find = find
        self.visits: list[int] = []

    def step(self, cursor: str) -> Step:
        """Visit a place."""
        place = int(cursor or 0)
        self.visits.append(place)
        after = None if place + 1 == self._steps else str(place + 1)
        return Step(after, self._find(place), [place + 1])


def scrubber_of(
    server: ScrubbedServer, *sections: Section, now: Callable[[], int] = lambda: ROUND_MS
) -> Scrubber:
    record, damage = ScrubRecord(server.client), DamagedMatches(server.client)
    return Scrubber(sections, record, damage, now, lambda _: None)


def fresh(server: ScrubbedServer) -> None:
    server.client.delete(keys.SCRUB)


def test_a_round_on_a_server_that_is_well_finds_nothing(server: ScrubbedServer) -> None:
    assert server.scrub() == []
    assert server.scrub() == []
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


def test_a_fault_is_forgotten_when_a_round_does_not_find_it_again(
    server: ScrubbedServer, caplog: pytest.LogCaptureFixture
) -> None:
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


@pytest.mark.parametrize("error", [RedisConnectionError("gone"), ScrubStoppedError()])
def test_a_run_that_must_end_leaves_the_step_to_the_next(
    server: ScrubbedServer, error: Exception
) -> None:
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
                server.offload()
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


def test_no_false_alarm_after_events_were_trimmed(server: ScrubbedServer) -> None:
    assert EventTrimmer(server.client, server.parts().log_of, bundle=4).trim(SHARDS) > 0
    assert server.scrub() == []


def test_no_false_alarm_about_a_shard_that_is_closed_until_it_is_restored(
    server: ScrubbedServer,
) -> None:
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
    assert server.scrub() == []


def until(stopping: Event):
    """Go on until asked to stop."""
    while not stopping.is_set():
        yield
