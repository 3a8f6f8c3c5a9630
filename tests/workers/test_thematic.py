"""Thematic tournaments from draft to confirmed places: each match begins with the opening, with the sides either way round."""

import pytest

from domain.match.commands import PlayMove
from domain.match.state import position_of
from domain.rules import rules_by_id
from domain.tournament.commands import ConfirmPlaces, DraftTournament, OpenEntry, StartTournament
from infra.audit.stored_match import check_match
from infra.projections.match_lists import MatchFilter, MatchLists
from tests.helpers.bench import Bench
from tests.helpers.tournaments import OF_THREES
from tests.workers.test_tournaments import ORGANISER, PLAYERS, Hall, terms

OPENING = "m13-j7 a13-d7 m1-i3"


@pytest.fixture
def hall(bench: Bench) -> Hall:
    return Hall(bench)


def play(hall: Hall, board: int) -> None:
    """Have the player to move play any move."""
    state = hall.bench.state(board)
    assert state.next is not None
    move = next(iter(rules_by_id(state.rules).legal_moves(position_of(state))))
    assert hall.ask(state.seats[state.next], PlayMove(text=move, ply=state.ply), board).accepted


def to_its_places(hall: Hall) -> list[int]:
    """Play a tournament of three to its end; return the points by place."""
    for one in hall.matches.values():
        play(hall, one.board)
        play(hall, one.board)
    for player in PLAYERS[:2]:
        hall.lose(player)
    hall.turn()
    hall.must(ORGANISER, ConfirmPlaces())
    for number in (hall.number, *(one.board for one in hall.matches.values())):
        assert "holds" in str(check_match(hall.bench.store, number))
    return [one.points for one in hall.state.places[0]]


def test_a_double_round_robin_begins_from_one_position_with_sides_exchanged(hall: Hall) -> None:
    draft = DraftTournament(terms=terms(rules="pow2/1", cycles=2), opening=OPENING)
    hall.must(ORGANISER, draft, OpenEntry())
    hall.enter(3)
    hall.turn()
    states = [hall.bench.state(one.board) for one in hall.matches.values()]
    assert len({one.seats for one in states}) == len(states) == 6
    assert {(one.moves, one.opening, one.next) for one in states} == {(OPENING, 3, 1)}
    rows = MatchLists(hall.bench.client).of(PLAYERS[0], MatchFilter.ACTIVE, count=9)
    assert {(row.ply, row.waits) for row in rows} == {(3, (1,))}
    assert to_its_places(hall) == [400, 200, 0]
    assert all(hall.bench.state(one.board).rated for one in hall.matches.values())


def test_three_begin_with_the_tiles_of_the_opening(hall: Hall) -> None:
    given = terms(**OF_THREES | {"options": ("-manual_start", "-tiles_each=3")})
    hall.must(ORGANISER, DraftTournament(terms=given, opening="1 2 3 4"), OpenEntry())
    hall.enter(3)
    hall.must(ORGANISER, StartTournament())
    hall.turn()
    states = [hall.bench.state(one.board) for one in hall.matches.values()]
    assert {(one.moves, one.opening, one.next) for one in states} == {("1 2 3 4", 4, 1)}
    assert len(to_its_places(hall)) == 3
