"""Forged claims, rulings and appeals are found when a match is verified."""

from typing import Any

import pytest

from domain.clocks.time_control import DAY
from domain.match.audit import verify
from domain.match.events import Appealed, Claimed, ResultChanged, Ruled, SetBack, TimeGiven
from domain.match.history import BrokenHistory
from tests.domain.dispute_commands import (
    ARBITER,
    OTHER_ARBITER,
    REASONS,
    TEXT,
    appeal,
    claim,
    resigned,
    rule,
)
from tests.helpers.given import ALICE, BEGIN, BOB, Match


def disputed() -> Match:
    match = resigned()
    match.do(BOB, claim(), BEGIN + 10)
    match.do(ARBITER, rule(match.state.seq, back_to=1, time=((0, DAY),)), BEGIN + 20)
    number = next(one.claim for one in match.state.cases)
    match.do(ALICE, appeal(number), BEGIN + 30)
    match.do(OTHER_ARBITER, rule(number, winners=(1,)), BEGIN + 40)
    return match


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        (Ruled, {"actor": ALICE}),
        (Ruled, {"body": Ruled(claim=99, upheld=True, text=REASONS)}),
        (Ruled, {"body": Ruled(claim=6, upheld=False, text=REASONS)}),
        (SetBack, {"body": SetBack(ply=1, next=0, back=(0,))}),
        (SetBack, {"body": SetBack(ply=1, next=1, back=())}),
        (SetBack, {"body": SetBack(ply=2, next=1, back=(0,))}),
        (SetBack, {"body": ResultChanged(winners=(0,), reason="agreement")}),
        (SetBack, {"actor": BOB}),
        (TimeGiven, {"body": TimeGiven(seat=0, ms=-DAY)}),
        (TimeGiven, {"body": TimeGiven(seat=2, ms=DAY)}),
        (TimeGiven, {"actor": ALICE}),
        (TimeGiven, {"command": b"x" * 16}),
        (Appealed, {"actor": ARBITER}),
        (Appealed, {"actor": BOB}),
        (Appealed, {"body": Appealed(seat=0, claim=7, text=TEXT)}),
        (Claimed, {"body": Claimed(seat=0, ply=0, text=TEXT)}),
        (Claimed, {"body": Claimed(seat=1, ply=3, text=TEXT)}),
        (Claimed, {"actor": ALICE}),
    ],
)
def test_a_forged_dispute_is_found(kind: type, changes: dict[str, Any]) -> None:
    match = disputed()
    match.holds()
    seq = next(n for n, body in enumerate(match.bodies, 1) if isinstance(body, kind))
    with pytest.raises(BrokenHistory) as broken:
        verify(match.board, match.forged(seq, **changes))
    assert broken.value.seq in (seq, seq - 1, seq - 2), "an event of the same command"


def test_the_first_arbiter_in_place_of_the_second_is_found() -> None:
    match = disputed()
    seq = len(match.events) - 1
    with pytest.raises(BrokenHistory, match="an appeal needs a different arbiter from the first"):
        verify(match.board, match.forged(seq, actor=ARBITER))


def test_an_appeal_that_came_too_late_is_found() -> None:
    match = resigned()
    match.do(BOB, claim())
    match.do(ARBITER, rule(match.state.seq))
    number = match.state.cases[0].claim
    match.do(ALICE, appeal(number))
    with pytest.raises(BrokenHistory, match="14 days"):
        verify(match.board, match.forged(len(match.events), at=BEGIN + 15 * DAY))


def test_a_second_ruling_is_found() -> None:
    match = resigned()
    match.do(BOB, claim())
    number = match.state.seq
    match.do(ARBITER, rule(number))
    match.do(ARBITER, rule(annul=True))
    body = Ruled(claim=number, upheld=True, text=REASONS)
    with pytest.raises(BrokenHistory, match="claim"):
        verify(match.board, match.forged(len(match.events) - 1, body=body))
