"""Groups of three at Halves on a real server: from draft to confirmed places, with all that may happen to players."""

import pytest

from domain.match.commands import ResignMatch
from domain.records import SERVER_ACCOUNT, AccountId
from domain.tournament.commands import (
    AdjudicateMatches,
    ConfirmPlaces,
    EndRound,
    StartTournament,
    SubstituteInTournament,
    VolunteerAsSubstitute,
    WithdrawPlayer,
)
from domain.tournament.state import AdjudicatedPairing, FinalPlace, Phase
from infra.audit.stored_match import check_match
from tests.helpers.bench import Bench
from tests.workers.test_tournaments import ORGANISER, Hall

NEW, TEXT = b"newcomer", bytes(32)


@pytest.fixture
def hall(bench: Bench) -> Hall:
    return Hall(bench)


def begun(hall: Hall, players: int, rounds: int, days: int = 0) -> list[AccountId]:
    """A tournament whose matches have begun; return its players by number."""
    hall.draft(
        form="threes",
        rules="halves/1",
        section=0,
        cycles=rounds,
        days=days,
        points=(200, 100, 0),
        tiebreaks=("direct", "sonneborn-berger"),
        capacity=0,
        when_full=False,
    )
    hall.enter(players)
    hall.must(ORGANISER, StartTournament())
    hall.turn()
    return [one.account for one in hall.state.entrants]


def resign(hall: Hall, pairing: int, *players: AccountId) -> None:
    board = hall.matches[pairing].board
    for one in players:
        assert hall.ask(one, ResignMatch(), board).accepted


def points(hall: Hall) -> dict[int, int]:
    """The confirmed points of each player, in hundredths."""
    (places,) = hall.state.places
    return {one.player: one.points for one in places}


def verified(hall: Hall) -> None:
    for number in (hall.number, *(one.board for one in hall.matches.values())):
        assert check_match(hall.bench.store, number).events


def test_a_tournament_is_played_to_its_places_with_a_leaver_a_substitute_and_a_decision(
    hall: Hall,
) -> None:
    players = begun(hall, players=3, rounds=3)
    assert sorted(hall.matches) == [0, 1, 2]
    for number, seats in hall.state.seated:
        started = hall.bench.state(hall.matches[number].board)
        assert started.seats == tuple(players[one] for one in seats)
        assert started.pairing == (hall.number, number)
    resign(hall, 0, players[0])  # the two others go on
    hall.must(NEW, VolunteerAsSubstitute(rating=1300))
    hall.must(ORGANISER, SubstituteInTournament(account=players[1], substitute=NEW, text=TEXT))
    hall.turn()
    assert all(NEW in one.seats and players[1] not in one.seats for one in hall.matches.values())
    resign(hall, 1, players[2])
    hall.must(ORGANISER, WithdrawPlayer(account=players[0], kind="silent", text=TEXT, ends=(1, 2)))
    hall.turn()
    hall.turn()
    ended = [hall.bench.state(hall.matches[one].board).result for one in range(3)]
    assert ended[0] is None
    assert [len(one.winners) for one in ended[1:] if one is not None] == [1, 2]
    seats = dict(hall.state.seated)[0]
    others = tuple(one for one, player in enumerate(seats) if player != 0)
    shared = "-".join("1" if seat in others else "3" for seat in range(3))
    decided = AdjudicateMatches(results=(AdjudicatedPairing(0, shared),), text=TEXT)
    hall.must(ORGANISER, decided)
    hall.turn()
    hall.turn()
    assert hall.bench.state(hall.matches[0].board).result is not None
    assert (hall.state.phase, hall.lists.waiting(9)) == (Phase.FINISHED, [])
    hall.must(ORGANISER, ConfirmPlaces())
    # 1 and 2 share the matches 0 and 2; in match 1 player 2 resigned, then 0 left
    assert points(hall) == {0: 100, 1: 150 + 200 + 150, 2: 150 + 0 + 150}
    assert hall.state.places[0][0] == FinalPlace(1, 1, 500)
    verified(hall)


def test_an_announced_leaver_annuls_and_the_end_is_shared_by_those_who_still_play(
    hall: Hall,
) -> None:
    players = begun(hall, players=4, rounds=4, days=30)
    last = dict(hall.state.seated)[3]
    (leaver,) = {0, 1, 2, 3} - {*last}
    hall.must(ORGANISER, WithdrawPlayer(account=players[leaver], kind="accepted", text=TEXT))
    hall.turn()
    annulled = [hall.bench.state(hall.matches[n].board).result for n in range(3)]
    assert [one.winners if one else None for one in annulled] == [()] * 3
    hall.turn()
    resign(hall, 3, players[last[0]])
    hall.must(SERVER_ACCOUNT, EndRound(stage=1))
    hall.turn()
    hall.turn()
    ended = hall.bench.state(hall.matches[3].board).result
    assert ended is not None
    assert ended.winners == (1, 2)
    hall.must(ORGANISER, ConfirmPlaces())
    # each sat out once; the three others share two of the matches that were annulled
    assert points(hall) == {
        leaver: 100,
        **dict.fromkeys(last[:1], 100 + 300),
        **dict.fromkeys(last[1:], 100 + 300 + 150),
    }
    verified(hall)
