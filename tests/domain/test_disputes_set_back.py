"""Matches that are set back by a ruling: positions, seats, clocks, offers."""

from typing import Any

import pytest

from domain.clocks.match_clock import time_used
from domain.clocks.time_control import DAY
from domain.errors import Code
from domain.match.commands import (
    AnswerOffer,
    DeclineMatch,
    FlagPlayer,
    MakeOffer,
    PlayMove,
    ResignMatch,
    ResumeMatch,
)
from domain.match.conditional_moves import ConditionalMove
from domain.match.events import Absent, SetBack
from domain.match.state import deadline, next_due, position_of
from domain.records import SERVER_ACCOUNT
from tests.domain.given import three, two
from tests.domain.rulings import (
    ARBITER,
    LATE,
    any_legal,
    back,
    by_flag,
    give,
    go_on,
    played,
    rule,
    two_moves,
)
from tests.domain.test_imports import accepted, imported, timed
from tests.helpers.given import ALICE, BEGIN, BOB, CAROL, Match, challenge, pow2

# what ended


def by_resignation() -> Match:
    match = played()
    match.do(ALICE, ResignMatch(), BEGIN + 3 * DAY)
    return match


def by_agreement(kind: str) -> Match:
    match = played()
    match.do(BOB, MakeOffer(kind=kind), BEGIN + 3 * DAY)
    match.do(ALICE, AnswerOffer(accept=True), BEGIN + 3 * DAY)
    return match


def by_ruling() -> Match:
    match = played()
    match.do(ARBITER, rule(annul=True), BEGIN + 4 * DAY)
    return match


ENDED = {
    "resignation": by_resignation,
    "time": by_flag,
    "agreement": lambda: by_agreement("draw"),
    "aborted": lambda: by_agreement("abort"),
    "annulled": by_ruling,
}


@pytest.mark.parametrize("ply", [0, 1, 2])
@pytest.mark.parametrize("reason", ENDED)
def test_a_match_that_is_over_goes_on_at_a_ply(reason: str, ply: int) -> None:
    match = ENDED[reason]()
    assert match.state.result
    assert match.state.result.reason == reason
    gone = (0,) if reason in ("resignation", "time") else ()
    assert back(match, ply) == SetBack(ply=ply, next=ply % 2, back=gone)
    state = match.state
    assert (state.ply, state.over, state.out, state.next) == (ply, False, (), ply % 2)
    assert state.moves == " ".join(["m13-m9", "a13-c11"][:ply])
    assert position_of(state) == position_of(played_to(ply))
    assert deadline(state) == next_due(state) == LATE + 5 * DAY
    go_on(match, at=LATE + 1)
    match.holds()


def played_to(ply: int) -> Any:
    match = two("--days=5")
    match.play(*["m13-m9", "a13-c11"][:ply], at=BEGIN)
    return match.state


def test_a_match_that_is_over_by_its_rules_goes_on_before_its_last_move_at_most() -> None:
    match = Match(challenge("line", "-stones=9"))
    while not match.state.over:
        go_on(match)
    assert match.state.over
    ply = match.state.ply
    assert match.refuses(ARBITER, rule(back_to=ply)) == Code.BAD_RULING
    (*_, last) = match.state.first_moves(ply)
    assert back(match, ply - 1).next == (ply - 1) % 2
    assert not match.state.over
    match.play(last)
    assert match.state.over, "the same move ends it again"
    match.holds()


def test_a_flag_that_was_due_does_not_fall_after_a_match_was_set_back() -> None:
    match = played()
    assert deadline(match.state) == BEGIN + 8 * DAY
    back(match, 2, BEGIN + 9 * DAY)
    assert match.refuses(SERVER_ACCOUNT, FlagPlayer(), BEGIN + 9 * DAY) == Code.TOO_EARLY
    assert deadline(match.state) == BEGIN + 14 * DAY
    match.holds()


# seats


def left_three() -> Match:
    """Dark left at ply 3, and at ply 5 the next, which ended the match."""
    match = three("--days=5")
    match.play("1", "2", "3", at=BEGIN)
    match.do(BOB, ResignMatch(), BEGIN)
    match.play("4", "5", at=BEGIN)
    match.do(CAROL, ResignMatch(), BEGIN)
    assert match.state.over
    return match


@pytest.mark.parametrize(
    ("ply", "seats"), [(5, (2,)), (4, (2,)), (3, (1, 2)), (2, (1, 2)), (0, (1, 2))]
)
def test_seats_that_left_at_that_ply_or_later_are_back(ply: int, seats: tuple[int, ...]) -> None:
    match = left_three()
    assert back(match, ply).back == seats
    assert match.state.active_seats == tuple(sorted({0, *seats}))
    assert match.state.next in match.state.active_seats
    if 1 not in seats:
        assert match.refuses(BOB, PlayMove(text="6")) == Code.NOT_A_PLAYER
        assert match.refuses(ARBITER, rule(time=((1, DAY),))) == Code.BAD_RULING
    go_on(match)
    match.holds()


def test_who_left_before_moves_were_taken_back_left_at_the_ply_they_were_taken_back_to() -> None:
    match = left_three()
    back(match, 4)
    match.do(ALICE, MakeOffer(kind="undo"), LATE)
    match.do(CAROL, AnswerOffer(accept=True), LATE)
    assert match.state.ply == 3
    assert match.state.out == ((1, 3),)
    assert back(match, 3, LATE).back == (1,)
    match.holds()


# clocks


def test_the_time_of_the_moves_that_are_gone_is_given_back() -> None:
    match = two_moves(two("--bank=5"))
    assert time_used_by(match) == (DAY, 2 * DAY)
    match.do(ALICE, ResignMatch(), BEGIN + 4 * DAY)
    back(match, 1)
    assert time_used_by(match) == (DAY, 0)
    assert deadline(match.state) == LATE + 5 * DAY
    match.holds()


def time_used_by(match: Match) -> tuple[int, int]:
    clock = match.state.clock
    assert clock
    return time_used(clock, 0), time_used(clock, 1)


def test_a_pause_goes_on_until_a_player_ends_it() -> None:
    match = played()
    match.do(ALICE, MakeOffer(kind="pause"), BEGIN + 4 * DAY)
    match.do(BOB, AnswerOffer(accept=True), BEGIN + 4 * DAY)
    back(match, 1)
    assert (deadline(match.state), next_due(match.state)) == (None, 0)
    match.do(ALICE, ResumeMatch(), LATE + 50 * DAY)
    assert deadline(match.state) == LATE + 55 * DAY
    match.holds()


def test_vacations_that_began_after_the_end_stop_the_clock() -> None:
    match = by_resignation()
    match.away = {BOB: LATE + 7 * DAY, CAROL: LATE + 9 * DAY}
    _, _, absent = match.do(ARBITER, rule(back_to=1), LATE)
    assert absent == Absent(seat=1, until=LATE + 7 * DAY)
    assert deadline(match.state) == LATE + 12 * DAY
    match.holds()


# offers and conditional moves


def test_an_offer_lapses_when_a_match_is_set_back_and_stays_when_time_is_given() -> None:
    match = played()
    match.do(ALICE, MakeOffer(kind="draw"), BEGIN + 3 * DAY)
    give(match, BEGIN + 3 * DAY, (0, DAY))
    assert match.state.offer
    back(match, 2, BEGIN + 3 * DAY)
    assert match.state.offer is None
    match.holds()


def test_conditional_moves_stay_if_they_can_still_be_played() -> None:
    other = Match(pow2())
    other.play("m13-m9", "a13-c11")
    light = any_legal(other)
    go_on(other)
    dark = any_legal(other)
    match = Match(pow2())
    match.play("m13-m9")
    any_moves = ConditionalMove(3, None, "a1-a2")
    after_others = ConditionalMove(3, ("m13-m9", "a13-c11", light), dark)
    match.lay(1, after_others, any_moves)
    match.play("a13-c11")
    match.lay(0, ConditionalMove(4, (light, dark), "a1-a2"))
    back(match, 1)
    assert match.replies[1].moves == (after_others, any_moves)
    assert match.replies[0].moves == (), "its path begins with a ply that is gone"
    match.play("a13-c11", light)
    assert match.state.moves == f"m13-m9 a13-c11 {light} {dark}", "the prepared one was played"
    match.holds()


def test_a_result_drops_all_conditional_moves() -> None:
    match = Match(pow2())
    match.lay(1, ConditionalMove(1, None, "a13-c11"))
    match.do(ARBITER, rule(winners=(0,)))
    assert match.replies == {}
    match.holds()


# imported matches


def test_an_imported_match_that_waits_can_only_be_annulled() -> None:
    match = imported(timed())
    assert match.refuses(ARBITER, rule(back_to=1)) == Code.BAD_RULING
    assert match.refuses(ARBITER, rule(winners=(0,))) == Code.BAD_RULING
    match.do(match.state.seats[0], DeclineMatch())
    assert match.refuses(ARBITER, rule(back_to=1)) == Code.BAD_RULING
    match.do(ARBITER, rule(annul=True))
    match.holds()


def test_an_imported_match_is_set_back_even_into_the_moves_of_its_source() -> None:
    match = accepted(timed())
    began = match.state.at
    go_on(match, 2, began)
    match.do(match.state.seats[0], ResignMatch(), began)
    back(match, 1, began + DAY)
    assert match.state.moves == "m13-m9"
    assert time_used_by(match) == (2 * DAY, 0)
    go_on(match, 1, began + DAY)
    match.holds()
