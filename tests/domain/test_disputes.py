"""Claims, rulings and appeals: who may make them, when, and what is refused.

Forged claims, rulings and appeals are found when a match is verified.

A ruling lets a seat have more time.
"""

from typing import Any

import pytest
from msgspec.structs import replace

from domain.clocks.time_control import DAY
from domain.errors import Code
from domain.match.audit import verify
from domain.match.commands import (
    GiveRuling,
    PlayMove,
)
from domain.match.disputes import APPEAL_MS, CLAIMS_LIMIT, may_be_ruled_on
from domain.match.events import Appealed, Claimed, Ended, ResultChanged, Ruled, SetBack, TimeGiven
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
from tests.domain.given import two
from tests.helpers.given import ALICE, BEGIN, BOB, CAROL, Match

# claims


@pytest.mark.parametrize(("actor", "seat"), [(ALICE, 0), (BOB, 1), (ARBITER, None)])
def test_players_and_arbiters_claim_about_a_ply(actor: bytes, seat: int | None) -> None:
    match = resigned()
    for ply in (3, -1):
        assert match.refuses(actor, claim(ply)) == Code.UNKNOWN_PLY
    assert match.do(actor, claim(2)) == (Claimed(seat=seat, ply=2, text=TEXT),)
    assert match.state.over
    match.holds()


def test_a_player_makes_so_many_claims_in_a_match_and_others_more() -> None:
    match = resigned()
    for _ in range(CLAIMS_LIMIT):
        match.do(ALICE, claim())
        match.do(ARBITER, rule(match.state.seq))
    assert match.refuses(ALICE, claim()) == Code.TOO_MANY
    match.do(BOB, claim())
    match.do(ARBITER, rule(match.state.seq))
    for _ in range(CLAIMS_LIMIT + 1):
        match.do(ARBITER, claim())
        match.do(OTHER_ARBITER, rule(match.state.seq))
    match.holds()


# rulings


def test_a_ruling_names_a_claim_that_waits_for_it() -> None:
    match = resigned()
    match.do(ALICE, claim())
    number = match.state.seq
    for wrong in (0, 1, number + 1):
        assert match.refuses(ARBITER, rule(wrong)) == Code.UNKNOWN_CLAIM
    match.do(ARBITER, rule(number))
    assert match.refuses(OTHER_ARBITER, rule(number)) == Code.ALREADY_RULED


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"upheld": True}, Code.BAD_RULING),
        ({"upheld": False, "back_to": 1}, Code.BAD_RULING),
        ({"upheld": False, "winners": (0,)}, Code.BAD_RULING),
        ({"upheld": False, "annul": True}, Code.BAD_RULING),
        ({"upheld": False, "time": ((0, DAY),)}, Code.BAD_RULING),
        ({"back_to": 1, "winners": (0,)}, Code.BAD_RULING),
        ({"back_to": 1, "annul": True}, Code.BAD_RULING),
        ({"winners": (0,), "annul": True}, Code.BAD_RULING),
        ({"winners": ()}, Code.BAD_RULING),
        ({"winners": (2,)}, Code.BAD_RULING),
        ({"winners": (-1,)}, Code.BAD_RULING),
        ({"winners": (1, 0)}, Code.BAD_RULING),
        ({"winners": (0, 0)}, Code.BAD_RULING),
        ({"winners": (0,), "time": ((0, DAY),)}, Code.BAD_RULING),
        ({"time": ((0, DAY),)}, Code.BAD_RULING),
        ({"back_to": 3}, Code.UNKNOWN_PLY),
        ({"back_to": -1}, Code.UNKNOWN_PLY),
        ({"back_to": 1, "time": ((0, 0),)}, Code.BAD_RULING),
        ({"back_to": 1, "time": ((2, 1),)}, Code.BAD_RULING),
        ({"back_to": 1, "time": ((0, 3651 * DAY),)}, Code.BAD_RULING),
        ({"back_to": 1, "time": ((0, 1), (0, 2))}, Code.BAD_RULING),
    ],
)
def test_a_ruling_that_makes_no_sense_is_refused(changes: dict[str, Any], code: Code) -> None:
    match = resigned()
    match.do(ALICE, claim())
    command = replace(GiveRuling(claim=match.state.seq, upheld=True, text=REASONS), **changes)
    assert match.refuses(ARBITER, command) == code


# results


@pytest.mark.parametrize("over", [False, True])
@pytest.mark.parametrize(
    ("changes", "event"),
    [
        ({"winners": (0,)}, ResultChanged(winners=(0,), reason="ruling")),
        ({"winners": (0, 1)}, ResultChanged(winners=(0, 1), reason="ruling")),
        ({"annul": True}, ResultChanged(winners=(), reason="annulled")),
    ],
)
def test_a_result_is_changed_or_ends_the_match(
    changes: dict[str, Any], event: ResultChanged, *, over: bool
) -> None:
    match = resigned() if over else two()
    match.do(BOB, claim())
    number = match.state.seq
    ruled = Ruled(claim=number, upheld=True, text=REASONS)
    assert match.do(ARBITER, rule(number, **changes)) == (ruled, event)
    assert match.state.result == Ended(winners=event.winners, reason=event.reason)
    assert match.state.next is None
    assert match.refuses(ALICE, PlayMove(text="m13-m9")) == Code.MATCH_OVER
    match.holds()


# appeals


def test_a_player_appeals_once_and_another_arbiter_rules_for_good() -> None:
    match = resigned()
    match.do(ALICE, claim())
    number = match.state.seq
    assert match.refuses(BOB, appeal(number)) == Code.TOO_EARLY
    match.do(ARBITER, rule(number, winners=(0,)))
    assert match.refuses(ARBITER, appeal(number)) == Code.NOT_A_PLAYER
    assert match.refuses(CAROL, appeal(number)) == Code.NOT_A_PLAYER
    assert match.do(BOB, appeal(number)) == (Appealed(seat=1, claim=number, text=TEXT),)
    assert match.refuses(ALICE, appeal(number)) == Code.ALREADY_APPEALED
    assert match.refuses(ARBITER, rule(number)) == Code.NOT_AN_ARBITER
    match.do(OTHER_ARBITER, rule(number, winners=(1,)))
    assert match.state.result == Ended(winners=(1,), reason="ruling")
    for arbiter in (ARBITER, OTHER_ARBITER, b"arbiter3"):
        assert match.refuses(arbiter, rule(number)) == Code.ALREADY_RULED
    assert match.refuses(BOB, appeal(number)) == Code.ALREADY_APPEALED
    match.holds()


def test_an_appeal_is_possible_for_fourteen_days() -> None:
    match = resigned()
    match.do(ALICE, claim(), BEGIN + 1_000)
    number = match.state.seq
    match.do(ARBITER, rule(number), BEGIN + 2_000)
    end = BEGIN + 2_000 + 14 * DAY
    assert end == BEGIN + 2_000 + APPEAL_MS
    assert may_be_ruled_on(match.state, end - 1)
    assert not may_be_ruled_on(match.state, end)
    assert match.refuses(BOB, appeal(number), end) == Code.TOO_LATE
    match.do(BOB, appeal(number), end - 1)
    assert may_be_ruled_on(match.state, end + 99 * DAY)
    match.do(OTHER_ARBITER, rule(number), end + 99 * DAY)
    assert not may_be_ruled_on(match.state, end + 99 * DAY)


# before a draw, and declined


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
