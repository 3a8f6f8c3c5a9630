"""Matches that are set back by a ruling: positions, seats, clocks, offers."""

from typing import Any

import pytest

from domain.clocks.time_control import DAY
from domain.match import commands
from domain.match.conditional_moves import ConditionalMove
from domain.match.events import SetBack
from domain.match.state import deadline, next_due, position_of
from tests.domain import rulings
from tests.domain.given import two
from tests.helpers.given import ALICE, BEGIN, BOB, Match, pow2

# what ended


def by_resignation() -> Match:
    match = rulings.played()
    match.do(ALICE, commands.ResignMatch(), BEGIN + 3 * DAY)
    return match


def by_agreement(kind: str) -> Match:
    match = rulings.played()
    match.do(BOB, commands.MakeOffer(kind=kind), BEGIN + 3 * DAY)
    match.do(ALICE, commands.AnswerOffer(accept=True), BEGIN + 3 * DAY)
    return match


def by_ruling() -> Match:
    match = rulings.played()
    match.do(rulings.ARBITER, rulings.rule(annul=True), BEGIN + 4 * DAY)
    return match


ENDED = {
    "resignation": by_resignation,
    "time": rulings.by_flag,
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
    assert rulings.back(match, ply) == SetBack(ply=ply, next=ply % 2, back=gone)
    state = match.state
    assert (state.ply, state.over, state.out, state.next) == (ply, False, (), ply % 2)
    assert state.moves == " ".join(["m13-m9", "a13-c11"][:ply])
    assert position_of(state) == position_of(played_to(ply))
    assert deadline(state) == next_due(state) == rulings.LATE + 5 * DAY
    rulings.go_on(match, at=rulings.LATE + 1)
    match.holds()


def played_to(ply: int) -> Any:
    match = two("--days=5")
    match.play(*["m13-m9", "a13-c11"][:ply], at=BEGIN)
    return match.state


# seats


# clocks


# offers and conditional moves


def test_conditional_moves_stay_if_they_can_still_be_played() -> None:
    other = Match(pow2())
    other.play("m13-m9", "a13-c11")
    light = rulings.any_legal(other)
    rulings.go_on(other)
    dark = rulings.any_legal(other)
    match = Match(pow2())
    match.play("m13-m9")
    any_moves = ConditionalMove(3, None, "a1-a2")
    after_others = ConditionalMove(3, ("m13-m9", "a13-c11", light), dark)
    match.lay(1, after_others, any_moves)
    match.play("a13-c11")
    match.lay(0, ConditionalMove(4, (light, dark), "a1-a2"))
    rulings.back(match, 1)
    assert match.replies[1].moves == (after_others, any_moves)
    assert match.replies[0].moves == (), "its path begins with a ply that is gone"
    match.play("a13-c11", light)
    assert match.state.moves == f"m13-m9 a13-c11 {light} {dark}", "the prepared one was played"
    match.holds()


# imported matches
