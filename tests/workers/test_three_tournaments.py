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
from domain.tournament.state import AdjudicatedPairing, Phase
from infra.audit.stored_match import check_match
from tests.helpers.bench import Bench
from tests.helpers.tournaments import OF_THREES
from tests.workers.test_tournaments import ORGANISER, Hall

NEW, TEXT = b"newcomer", bytes(32)


@pytest.fixture
def hall(bench: Bench) -> Hall:
    return Hall(bench)


def begun(hall: Hall, players: int, rounds: int, days: int = 0) -> list[AccountId]:
    """A tournament whose matches have begun; return its players by number."""
    hall.draft(**OF_THREES | {"cycles": rounds, "days": days})
    hall.enter(players)
    hall.must(ORGANISER, StartTournament())
    hall.turn()
    return [one.account for one in hall.state.entrants]


def resign(hall: Hall, pairing: int, *players: AccountId) -> None:
    board = hall.matches[pairing].board
    for one in players:
        assert hall.ask(one, ResignMatch(), board).accepted


def points(hall: Hall) -> dict[int, int]:
    """The points of each player, in hundredths, as they are confirmed; all histories hold."""
    hall.must(ORGANISER, ConfirmPlaces())
    for number in (hall.number, *(one.board for one in hall.matches.values())):
        assert check_match(hall.bench.store, number).events
    (places,) = hall.state.places
    return {one.player: one.points for one in places}


def winners(hall: Hall, pairing: int) -> tuple[int, ...] | None:
    """The players who have won a match; None while it goes on."""
    result = hall.bench.state(hall.matches[pairing].board).result
    seats = dict(hall.state.seated)[pairing]
    return None if result is None else tuple(sorted(seats[seat] for seat in result.winners))


def test_a_tournament_is_played_to_its_places_with_a_leaver_a_substitute_and_a_decision(
    hall: Hall,
) -> None:
    players = begun(hall, players=3, rounds=3)
    for number, seats in hall.state.seated:
        started = hall.bench.state(hall.matches[number].board)
        assert started.seats == tuple(players[one] for one in seats)
    resign(hall, 0, players[0])  # the two others go on
    hall.must(NEW, VolunteerAsSubstitute(rating=1300))
    hall.must(ORGANISER, SubstituteInTournament(account=players[1], substitute=NEW, text=TEXT))
    hall.turn()
    assert all(NEW in one.seats and players[1] not in one.seats for one in hall.matches.values())
    resign(hall, 1, players[2])
    left = WithdrawPlayer(account=players[0], kind="silent", text=TEXT, ends=(1, 2))
    hall.must(ORGANISER, left)
    hall.turn()
    hall.turn()
    assert [winners(hall, pairing) for pairing in range(3)] == [None, (1,), (1, 2)]
    places = "-".join("3" if player == 0 else "1" for player in dict(hall.state.seated)[0])
    decided = AdjudicateMatches(results=(AdjudicatedPairing(0, places),), text=TEXT)
    hall.must(ORGANISER, decided)
    hall.turn()
    hall.turn()
    assert winners(hall, 0) == (1, 2)
    assert (hall.state.phase, hall.lists.waiting(9)) == (Phase.FINISHED, [])
    # 0 left the second match after 2 had resigned it
    assert points(hall) == {0: 100, 1: 150 + 200 + 150, 2: 150 + 0 + 150}


def test_an_announced_leaver_annuls_and_the_end_is_shared_by_those_who_still_play(
    hall: Hall,
) -> None:
    players = begun(hall, players=4, rounds=4, days=30)
    one, *others = dict(hall.state.seated)[3]
    (leaver,) = {0, 1, 2, 3} - {one, *others}
    hall.must(ORGANISER, WithdrawPlayer(account=players[leaver], kind="accepted", text=TEXT))
    hall.turn()
    hall.turn()
    assert [winners(hall, pairing) for pairing in range(3)] == [()] * 3
    resign(hall, 3, players[one])
    hall.must(SERVER_ACCOUNT, EndRound(stage=1))
    hall.turn()
    hall.turn()
    assert winners(hall, 3) == tuple(sorted(others))
    # each had a bye, and shares two of the matches that were annulled
    assert points(hall) == {leaver: 100, one: 400, **dict.fromkeys(others, 400 + 150)}
