"""Matches whose players commit to texts, and reveal them after all have committed."""

from hashlib import sha256

import pytest
from msgspec.structs import replace

from domain.clocks.time_control import DAY
from domain.errors import Code
from domain.fairness import Commitment
from domain.match import events
from domain.match.audit import verify
from domain.match.commands import (
    AnswerOffer,
    Command,
    FlagPlayer,
    MakeOffer,
    PlayMove,
    RemindPlayer,
    ResignMatch,
    RevealText,
)
from domain.match.history import BrokenHistory
from domain.match.state import deadline, next_due, reminder_is_due
from domain.records import SERVER_ACCOUNT
from tests.helpers.given import ALICE, BEGIN, BOB, CAROL, Match, challenge

TEXTS = {ALICE: b"alice's text", BOB: b"bob's text", CAROL: b"carol's text"}
NOBODY = Commitment()


def to(account: bytes) -> Commitment:
    return Commitment(sha256(TEXTS[account]).digest())


def call(*commitments: Commitment, terms: tuple[str, ...] = ("--days=3",)) -> Match:
    """A match of alice and bob that was called for with these commitments."""
    alice, start = challenge("powerdrain", *terms)
    match = Match()
    match.do(alice, replace(start, gather=True, commitments=commitments), BEGIN)
    return match


def accepts(account: bytes) -> AnswerOffer:
    return AnswerOffer(accept=True, commitment=to(account))


def sealed() -> Match:
    """One that waits for both to reveal, since `BEGIN` + 1 day."""
    match = call(to(ALICE), NOBODY)
    match.do(BOB, accepts(BOB), BEGIN + DAY)
    return match


def kinds(match: Match) -> list[type]:
    return [type(body) for body in match.bodies]


def test_no_text_is_known_before_all_have_committed_and_the_seed_is_fixed() -> None:
    match = sealed()
    assert kinds(match) == [events.Called, events.Committed, events.Sealed]
    assert match.bodies[-1] == events.Sealed(chain=1, k=1, waits=(0, 1))
    assert not any(text in data for text in TEXTS.values() for data in match.events)
    assert match.state.waits == (0, 1)
    match.do(BOB, RevealText(text=TEXTS[BOB]))
    assert match.state.waits == (0,)
    revealed, started = match.do(ALICE, RevealText(text=TEXTS[ALICE]))
    assert isinstance(revealed, events.Revealed)
    assert isinstance(started, events.MatchStarted)
    assert started.draw is not None
    assert started.draw.texts == (TEXTS[ALICE], TEXTS[BOB])
    assert (match.state.awaits_entropy, match.state.gather, match.state.waits) == (
        False,
        None,
        (0,),
    )
    match.holds()


@pytest.mark.parametrize(
    ("actor", "command", "code"),
    [
        (ALICE, RevealText(text=TEXTS[ALICE]), Code.TOO_EARLY),
        (BOB, RevealText(text=TEXTS[BOB]), Code.TOO_EARLY),
        (CAROL, accepts(CAROL), Code.NOT_A_PLAYER),
        (ALICE, accepts(ALICE), Code.OFFER_STANDS),
        (BOB, AnswerOffer(accept=True), Code.BAD_OPTION),
        (BOB, AnswerOffer(accept=True, commitment=Commitment(b"short")), Code.BAD_OPTION),
        (BOB, AnswerOffer(accept=True, commitment=Commitment(bytes(32), b"word")), Code.BAD_OPTION),
        (BOB, PlayMove(text="24-57"), Code.NOT_STARTED),
        (BOB, MakeOffer(kind="undo"), Code.NOT_STARTED),
        (BOB, ResignMatch(), Code.NOT_STARTED),
        (BOB, FlagPlayer(), Code.NOT_A_PLAYER),
        (SERVER_ACCOUNT, RemindPlayer(), Code.MATCH_OVER),
        (SERVER_ACCOUNT, FlagPlayer(), Code.TOO_EARLY),
    ],
)
def test_what_is_refused_while_players_commit(actor: bytes, command: Command, code: Code) -> None:
    assert call(to(ALICE), NOBODY).refuses(actor, command, BEGIN + 1) == code


@pytest.mark.parametrize(
    ("actor", "command", "code"),
    [
        (ALICE, RevealText(text=b"another"), Code.WRONG_TEXT),
        (ALICE, RevealText(text=TEXTS[BOB]), Code.WRONG_TEXT),
        (ALICE, accepts(ALICE), Code.OFFER_STANDS),
        (BOB, RevealText(text=TEXTS[BOB]), Code.TOO_LATE),
        (CAROL, RevealText(text=TEXTS[ALICE]), Code.NOT_A_PLAYER),
        (ALICE, PlayMove(text="24-57"), Code.NOT_STARTED),
        (ALICE, MakeOffer(kind="draw"), Code.NOT_STARTED),
        (SERVER_ACCOUNT, FlagPlayer(), Code.TOO_EARLY),
    ],
)
def test_what_is_refused_while_players_reveal(actor: bytes, command: Command, code: Code) -> None:
    match = sealed()
    match.do(BOB, RevealText(text=TEXTS[BOB]), BEGIN + DAY)
    assert match.refuses(actor, command, BEGIN + DAY + 1) == code


@pytest.mark.parametrize(
    "commitments",
    [(NOBODY,), (NOBODY, NOBODY, NOBODY), (Commitment(b"short"), NOBODY)],
)
def test_commitments_that_do_not_fit_the_match_are_refused(
    commitments: tuple[Commitment, ...],
) -> None:
    alice, start = challenge("powerdrain", "--days=3")
    match = Match()
    call = replace(start, gather=True, commitments=commitments)
    assert match.refuses(alice, call) == Code.BAD_OPTION
    plain = replace(start, commitments=(NOBODY, NOBODY))
    assert match.refuses(alice, plain) == Code.BAD_OPTION
    with_text = replace(start, gather=True, text=b"x", commitments=(NOBODY, NOBODY))
    assert match.refuses(alice, with_text) == Code.BAD_OPTION


def test_who_does_not_reveal_in_the_time_to_move_has_withheld_the_text() -> None:
    match = sealed()
    match.do(BOB, RevealText(text=TEXTS[BOB]), BEGIN + 2 * DAY)
    end = BEGIN + DAY + 3 * DAY
    assert (next_due(match.state), deadline(match.state)) == (end, end)
    assert not reminder_is_due(match.state, end)
    assert match.refuses(SERVER_ACCOUNT, FlagPlayer(ply=0), end - 1) == Code.TOO_EARLY
    assert match.refuses(ALICE, RevealText(text=TEXTS[ALICE]), end) == Code.TIME_OVER
    assert match.do(SERVER_ACCOUNT, FlagPlayer(ply=0), end) == (
        events.Withheld(seat=0),
        events.Ended(winners=(), reason="declined"),
    )
    assert next_due(match.state) == 0
    match.holds()


@pytest.mark.parametrize(
    ("seq", "changes", "found"),
    [
        (3, {"k": 2}, "the seed is not the one that was sealed"),
        (3, {"waits": (0,)}, "the rules give"),
        (4, {"text": b"another"}, "this is not the text that you committed to"),
        (2, {"commitment": Commitment(bytes(32))}, "this is not the text that you committed to"),
    ],
)
def test_a_forged_draw_is_found_though_the_chain_is_whole(
    seq: int, changes: dict[str, object], found: str
) -> None:
    match = sealed()
    for account in (BOB, ALICE):
        match.do(account, RevealText(text=TEXTS[account]))
    body = replace(match.bodies[seq - 1], **changes)
    with pytest.raises(BrokenHistory, match=found):
        verify(match.board, match.forged(seq, body=body))
