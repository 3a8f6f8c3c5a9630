"""Claims, rulings and appeals: who may make them, when, what is refused and forged; and matches that are set back."""

from typing import Any

import pytest
from msgspec.structs import replace

from domain.clocks.time_control import DAY
from domain.errors import Code
from domain.match.audit import verify
from domain.match.commands import (
    AnswerOffer,
    FlagPlayer,
    GiveRuling,
    MakeAppeal,
    MakeClaim,
    MakeOffer,
    PlayMove,
    ResignMatch,
)
from domain.match.conditional_moves import ConditionalMove
from domain.match.disputes import APPEAL_MS, CLAIMS_LIMIT, may_be_ruled_on
from domain.match.events import Appealed, Claimed, Ended, ResultChanged, Ruled, SetBack, TimeGiven
from domain.match.history import BrokenHistory
from domain.match.state import deadline, next_due, position_of
from domain.records import SERVER_ACCOUNT
from domain.rules import rules_by_id
from tests.domain.given import two
from tests.helpers.given import ALICE, BEGIN, BOB, CAROL, Match, pow2

ARBITER, OTHER_ARBITER = b"arbiter1", b"arbiter2"
TEXT, REASONS = b"t" * 32, b"r" * 32


def claim(ply: int = 0) -> MakeClaim:
    return MakeClaim(ply=ply, text=TEXT)


def rule(claim: int | None = None, **changes: Any) -> GiveRuling:
    return GiveRuling(claim=claim, upheld=bool(changes), text=REASONS, **changes)


def appeal(claim: int) -> MakeAppeal:
    return MakeAppeal(claim=claim, text=TEXT)


def resigned() -> Match:
    """A match of two moves, which Light has resigned."""
    match = two()
    match.play("m13-m9", "a13-c11")
    match.do(ALICE, ResignMatch())
    return match


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


# set back


LATE = BEGIN + 100 * DAY
MOVES = ["m13-m9", "a13-c11"]


def back(match: Match, ply: int, at: int = LATE, **more: Any) -> SetBack:
    """Set a match back; return the event."""
    _, event, *_ = match.do(ARBITER, rule(back_to=ply, **more), at)
    assert isinstance(event, SetBack)
    return event


def any_legal(match: Match) -> str:
    """The first legal move."""
    rules = rules_by_id(match.state.rules)
    return next(iter(rules.legal_moves(position_of(match.state))))


def go_on(match: Match, plies: int = 1, at: int = LATE) -> None:
    for _ in range(plies):
        match.play(any_legal(match), at=at)


# what ended


ENDS: dict[str, list[tuple[bytes, Any, int]]] = {
    "resignation": [(ALICE, ResignMatch(), 3)],
    "time": [(SERVER_ACCOUNT, FlagPlayer(), 8)],
    "agreement": [(BOB, MakeOffer(kind="draw"), 3), (ALICE, AnswerOffer(accept=True), 3)],
    "aborted": [(BOB, MakeOffer(kind="abort"), 3), (ALICE, AnswerOffer(accept=True), 3)],
    "annulled": [(ARBITER, rule(annul=True), 4)],
}
"""What ends a match after two moves, and on which day."""


@pytest.mark.parametrize("ply", [0, 1, 2])
@pytest.mark.parametrize("reason", ENDS)
def test_a_match_that_is_over_goes_on_at_a_ply(reason: str, ply: int) -> None:
    match, there = two("--days=5"), two("--days=5")
    for day, move in ((1, MOVES[0]), (3, MOVES[1])):
        match.play(move, at=BEGIN + day * DAY)
    there.play(*MOVES[:ply], at=BEGIN)
    for actor, command, day in ENDS[reason]:
        match.do(actor, command, BEGIN + day * DAY)
    assert match.state.result
    assert match.state.result.reason == reason
    gone = (0,) if reason in ("resignation", "time") else ()
    assert back(match, ply) == SetBack(ply=ply, next=ply % 2, back=gone)
    state = match.state
    assert (state.ply, state.over, state.out, state.next) == (ply, False, (), ply % 2)
    assert state.moves == " ".join(MOVES[:ply])
    assert position_of(state) == position_of(there.state)
    assert deadline(state) == next_due(state) == LATE + 5 * DAY
    go_on(match, at=LATE + 1)
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
