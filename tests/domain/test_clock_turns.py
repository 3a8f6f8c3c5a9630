"""The turns of a match, computed from its events, agree with the clock that the events lead to."""

from itertools import pairwise

import pytest

from domain.clocks.match_clock import time_used
from domain.clocks.time_control import DAY
from domain.match.clocks import ClockTurn, clock_turns
from domain.match.commands import AnswerOffer, FlagPlayer, MakeOffer, PlayMove, ResignMatch
from domain.match.events import SERVER_ACCOUNT
from domain.match.history import decode_event
from tests.golden.make_events import BEGIN, MATCHES
from tests.helpers.given import ALICE, BOB, Match, challenge


def turns_of(match: Match) -> list[ClockTurn]:
    return list(clock_turns(map(decode_event, match.events)))


def test_a_match_without_clocks_has_none():
    assert turns_of(MATCHES["plain"]()) == []


def test_a_turn_is_over_with_a_move_and_with_the_end():
    match = Match()
    match.do(*challenge("pow2", "--days=3"), BEGIN)
    match.do(ALICE, PlayMove(text="m13-m9"), BEGIN + DAY)
    match.do(ALICE, MakeOffer(kind="draw"), BEGIN + DAY)
    assert turns_of(match) == [ClockTurn(0, BEGIN, BEGIN + DAY, DAY, 2 * DAY)]
    match.do(ALICE, ResignMatch(), BEGIN + 2 * DAY)
    assert turns_of(match)[1:] == [ClockTurn(1, BEGIN + DAY, BEGIN + 2 * DAY, DAY, 2 * DAY)]


def test_moves_of_one_ms_are_turns_of_their_own():
    match = Match()
    match.do(*challenge("pow2", "--days=3"), BEGIN)
    match.do(ALICE, PlayMove(text="m13-m9"), BEGIN)
    match.do(BOB, PlayMove(text="a13-c11"), BEGIN)
    assert [(one.seat, one.began, one.ended) for one in turns_of(match)] == [
        (0, BEGIN, BEGIN),
        (1, BEGIN, BEGIN),
    ]


def test_a_turn_that_was_taken_back_stays_and_a_flag_leaves_nothing():
    match = Match()
    match.do(*challenge("pow2", "--bank=10"), BEGIN)
    match.do(ALICE, PlayMove(text="m13-m9"), BEGIN + DAY)
    match.do(ALICE, MakeOffer(kind="undo"), BEGIN + 2 * DAY)
    match.do(BOB, AnswerOffer(accept=True), BEGIN + 3 * DAY)
    match.do(SERVER_ACCOUNT, FlagPlayer(ply=0), BEGIN + 30 * DAY)
    assert turns_of(match) == [
        ClockTurn(0, BEGIN, BEGIN + DAY, DAY, 9 * DAY),
        ClockTurn(1, BEGIN + DAY, BEGIN + 3 * DAY, 2 * DAY, 8 * DAY),
        ClockTurn(0, BEGIN + 3 * DAY, BEGIN + 30 * DAY, 27 * DAY, 0),
    ]


@pytest.mark.parametrize("kind", sorted(MATCHES))
def test_the_turns_of_plies_that_stand_add_up_to_the_time_used(kind):
    match = MATCHES[kind]()
    clock, found = match.state.clock, turns_of(match)
    assert all(one.began <= one.ended and one.counted <= one.ended - one.began for one in found)
    for before, after in pairwise(found):
        assert before.ended <= after.began
    # the turns of a source are in its own ledger
    elsewhere = ("Undone", "SetBack", "Imported")
    if clock is not None and not any(type(one).__name__ in elsewhere for one in match.bodies):
        left = {seat for seat, _ in match.state.out}
        for seat in set(range(len(match.state.seats))) - left:
            used = sum(one.counted for one in found if one.seat == seat)
            assert used >= time_used(clock, seat)
