"""Swiss tournaments on a real server: each round is paired by the manager, and the next one waits for its results."""

import logging
import signal

import pytest

from domain.match.commands import ResignMatch
from domain.match.history import decode_event
from domain.records import SERVER_ACCOUNT
from domain.tournament.commands import ConfirmPlaces, EndRound, StartTournament, WithdrawPlayer
from domain.tournament.events import SectionPaired
from domain.tournament.form_terms import SwissTerms
from domain.tournament.state import Phase
from domain.tournament.terms import SWISS_TIEBREAKS
from infra.audit.stored_match import check_match
from infra.valkey.server import EmbeddedServer
from tests.helpers.bench import Bench
from tests.helpers.side import settle
from tests.workers.test_tournament_kills import POINTS, tick
from tests.workers.test_tournaments import ORGANISER, PLAYERS, Hall
from workers import swiss_pairing, tournament_manager


@pytest.fixture
def hall(bench: Bench) -> Hall:
    return Hall(bench)


def begin(hall: Hall, rounds: int, players: int) -> None:
    """Start a tournament, whose first round waits to be paired."""
    swiss = SwissTerms(rounds)
    hall.draft(
        form="swiss",
        section=0,
        capacity=0,
        when_full=False,
        swiss=swiss,
        tiebreaks=SWISS_TIEBREAKS,
        days=10,
    )
    hall.enter(players)
    hall.must(ORGANISER, StartTournament())


def better_wins(hall: Hall, *, but: int = -1) -> None:
    """End all matches of the last round, but perhaps one pairing, by the resignation of the worse player."""
    for number in hall.state.open_in_stage:
        if number != but:
            pair = dict(hall.state.pairings)[number]
            worse = hall.state.entrants[max(pair.first, pair.second)].account
            assert hall.ask(worse, ResignMatch(), hall.matches[number].board).accepted


def paired_rounds(hall: Hall) -> list[int]:
    bodies = [decode_event(data).body for data in hall.bench.store.events(hall.number)]
    return [one.stage for one in bodies if isinstance(one, SectionPaired)]


def test_a_tournament_with_a_leaver_a_forfeit_and_a_late_result_is_played_to_confirmed_places(
    hall: Hall,
) -> None:
    begin(hall, 3, 6)
    settle(hall.side)
    assert hall.lists.waiting(9) == [hall.number]
    hall.turn()
    hall.turn()
    assert paired_rounds(hall) == [1]
    assert sorted(hall.matches) == [0, 1, 2]
    assert hall.lists.waiting(9) == []
    better_wins(hall, but=2)
    hall.turn()
    assert paired_rounds(hall) == [1]
    # the third match is not over at the end of the round, and is lost only afterwards
    late = hall.state.sections[0].pairings[2]
    hall.must(SERVER_ACCOUNT, EndRound(stage=1))
    loser = hall.state.entrants[late.second].account
    assert hall.ask(loser, ResignMatch(), hall.matches[2].board).accepted
    hall.turn()
    hall.turn()
    assert paired_rounds(hall) == [1, 2]
    assert hall.state.result_of(2) in ("+-", "1-0")
    leaver = hall.state.sections[1].pairings[0].second
    account = hall.state.entrants[leaver].account
    hall.must(ORGANISER, WithdrawPlayer(account=account, kind="accepted", text=bytes(32)))
    better_wins(hall)
    hall.turn()
    hall.turn()
    hall.turn()
    third = hall.state.sections[2]
    assert leaver not in third.players
    assert len(third.byes) == 1
    better_wins(hall)
    hall.turn()
    assert hall.state.phase is Phase.FINISHED
    assert {hall.state.result_of(number) for number in range(2)} <= {"+-", "-+"}
    hall.must(ORGANISER, ConfirmPlaces())
    ((first, *_, last),) = hall.state.places
    assert (first.points, first.place, last.place > 1) == (300, 1, True)
    settle(hall.side)
    assert hall.lists.waiting(9) == []
    for number in (hall.number, *(one.board for one in hall.matches.values())):
        assert check_match(hall.bench.store, number).events


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_manager_pairs_no_round_twice(
    hall: Hall, valkey: EmbeddedServer, point: str
) -> None:
    begin(hall, 2, 5)
    for number in (1, 2):
        settle(hall.side)
        assert tick(valkey.url, point) == -signal.SIGKILL
        hall.manager = hall.new_manager()  # which knows nothing of the other
        hall.turn()
        hall.turn()
        assert paired_rounds(hall) == [*range(1, number + 1)]
        better_wins(hall)
        hall.turn()
    assert hall.state.phase is Phase.FINISHED
    assert hall.ask(ORGANISER, ConfirmPlaces()).accepted
    assert check_match(hall.bench.store, hall.number).events


def test_a_library_that_fails_is_an_alarm_and_is_asked_again_while_others_go_on(
    hall: Hall, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now = 0.0
    hall.manager = tournament_manager.TournamentManager(
        hall.bench.store, hall.bench.lanes, hall.bench.client, lambda: now
    )
    begin(hall, 2, 4)
    other = Hall(hall.bench)
    other.number = hall.bench.store.allocate(b"another".ljust(16))
    other.draft()
    other.enter(3)
    asked = []

    def fails(*_: object) -> None:
        asked.append(now)
        raise RuntimeError

    pair_round = swiss_pairing.pair_round
    monkeypatch.setattr(tournament_manager, "pair_round", fails)
    with caplog.at_level(logging.ERROR):
        for _ in range(3):
            hall.turn()
    alarms = [one.message for one in caplog.records if "ALARM" in one.message]
    assert alarms == [f"ALARM: a round of tournament {hall.number} can't be paired"]
    assert asked == [0.0]
    assert len(other.matches) == 3
    monkeypatch.setattr(tournament_manager, "pair_round", pair_round)
    now = tournament_manager.PAIRING_RETRY_SECONDS + 1.0
    hall.turn()
    assert paired_rounds(hall) == [1]
    assert {one.account for one in hall.state.entrants} == set(PLAYERS[:4])
