"""Matches that wait: for players to accept a match by name, and for texts that they commit to and then reveal."""

from hashlib import sha256
from typing import Any

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
    DeclineMatch,
    FlagPlayer,
    GiveRuling,
    MakeOffer,
    PlayMove,
    RemindPlayer,
    ResignMatch,
    RevealText,
)
from domain.match.conditional_moves import ConditionalMove
from domain.match.history import BrokenHistory
from domain.match.start import sealed_seed
from domain.match.state import ROBOT_ACCOUNTS, deadline, next_due, reminder_is_due
from domain.records import SERVER_ACCOUNT
from tests.helpers.given import ALICE, ARBITER, BEGIN, BOB, CAROL, TEXT, Match, challenge, sent

TEXTS = {ALICE: b"alice's text", BOB: b"bob's text", CAROL: b"carol's text"}
NOBODY = Commitment()
LAPSE = 14 * DAY
TERMS = "--days=3 --nagtime=1"
ACCEPT, REJECT = AnswerOffer(accept=True), AnswerOffer(accept=False)
ROBOT = next(iter(ROBOT_ACCOUNTS.values()))
LAST_TURN = b"\0" + bytes(5)
"""A turn of the first seat that took no time."""


def to(account: bytes) -> Commitment:
    return Commitment(sha256(TEXTS[account]).digest())


def accepts(account: bytes) -> AnswerOffer:
    return AnswerOffer(accept=True, commitment=to(account))


def call(*commitments: Commitment, terms: str = "--days=3", **more: Any) -> Match:
    """A match of alice and bob that was called for with these commitments."""
    alice, start = challenge("powerdrain", *terms.split())
    match = Match()
    match.do(alice, replace(start, gather=True, commitments=commitments, **more), BEGIN)
    return match


def sealed(**more: Any) -> Match:
    """One that waits for both to reveal, since `BEGIN` + 1 day."""
    match = call(to(ALICE), NOBODY, **more)
    match.do(BOB, accepts(BOB), BEGIN + DAY)
    return match


def invited(terms: str = TERMS) -> Match:
    """A match by name of a game without chance, of alice and bob."""
    match = Match()
    match.do(ALICE, replace(challenge("pow2", *terms.split())[1], lapse=LAPSE), BEGIN)
    return match


def called(terms: str = TERMS) -> Match:
    """A match by name with a sealed deal, to which alice has committed."""
    return call(to(ALICE), NOBODY, terms=terms, lapse=LAPSE)


def by_name_sealed() -> Match:
    """The same a day later, when bob has committed."""
    return sealed(terms=TERMS, lapse=LAPSE)


# --- texts


def test_no_text_is_known_before_all_have_committed_and_the_seed_is_fixed() -> None:
    match = sealed()
    assert [type(body) for body in match.bodies] == [events.Called, events.Committed, events.Sealed]
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


COMMITTING = [
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
]
REVEALING = [
    (ALICE, RevealText(text=b"another"), Code.WRONG_TEXT),
    (ALICE, RevealText(text=TEXTS[BOB]), Code.WRONG_TEXT),
    (ALICE, accepts(ALICE), Code.OFFER_STANDS),
    (BOB, RevealText(text=TEXTS[BOB]), Code.TOO_LATE),
    (CAROL, RevealText(text=TEXTS[ALICE]), Code.NOT_A_PLAYER),
    (ALICE, PlayMove(text="24-57"), Code.NOT_STARTED),
    (ALICE, MakeOffer(kind="draw"), Code.NOT_STARTED),
    (SERVER_ACCOUNT, FlagPlayer(), Code.TOO_EARLY),
]


def test_what_is_refused_while_players_commit_and_while_they_reveal() -> None:
    revealing = sealed()
    revealing.do(BOB, RevealText(text=TEXTS[BOB]), BEGIN + DAY)
    for match, rows in ((call(to(ALICE), NOBODY), COMMITTING), (revealing, REVEALING)):
        for actor, command, code in rows:
            assert match.refuses(actor, command, BEGIN + DAY + 1) == code, command


@pytest.mark.parametrize(
    "changes",
    [
        {"gather": True, "commitments": (NOBODY,)},
        {"gather": True, "commitments": (NOBODY, NOBODY, NOBODY)},
        {"gather": True, "commitments": (Commitment(b"short"), NOBODY)},
        {"commitments": (NOBODY, NOBODY)},
        {"gather": True, "text": b"x", "commitments": (NOBODY, NOBODY)},
    ],
)
def test_commitments_that_do_not_fit_the_match_are_refused(changes: dict[str, Any]) -> None:
    alice, start = challenge("powerdrain", "--days=3")
    assert Match().refuses(alice, replace(start, **changes)) == Code.BAD_OPTION


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


# --- until all have accepted


@pytest.mark.parametrize("by", ["accepting", "moving", "a conditional move"])
def test_the_challenger_moves_at_once_and_time_counts_from_the_acceptance(by: str) -> None:
    match = invited()
    if by == "a conditional move":
        match.lay(1, ConditionalMove(1, None, "a13-c11"))
    match.play("m13-m9", at=BEGIN + 5 * DAY)
    assert match.state.clock.turns.startswith(LAST_TURN)
    if by != "a conditional move":
        command = ACCEPT if by == "accepting" else PlayMove(text="a13-c11")
        match.do(BOB, command, BEGIN + 10 * DAY)
    assert match.state.invitation is None
    assert deadline(match.state) == match.state.at + 3 * DAY
    match.holds()


@pytest.mark.parametrize("actor", [ALICE, BOB])
@pytest.mark.parametrize(
    "command", [DeclineMatch(), ResignMatch(), REJECT, AnswerOffer(accept=False, text=b"no")]
)
@pytest.mark.parametrize("make", [invited, called])
def test_each_player_may_end_an_invitation_by_any_refusal(actor, command, make) -> None:
    match = make()
    seat = (ALICE, BOB).index(actor)
    ended = events.Ended(winners=(), reason="declined")
    assert match.do(actor, command, BEGIN + 1) == (events.Declined(seat=seat), ended)
    assert (next_due(match.state), match.state.invited) == (0, ())
    match.holds()


@pytest.mark.parametrize("make", [invited, lambda: invited("-fast"), called, lambda: called("")])
def test_an_invitation_lapses_by_the_servers_flag_and_nobody_can_accept_it_then(make) -> None:
    """With clocks and without."""
    match = make()
    assert next_due(match.state) == BEGIN + LAPSE
    for command in (ACCEPT, DeclineMatch(), ResignMatch()):
        assert match.refuses(BOB, command, BEGIN + LAPSE) == Code.TIME_OVER
    match.do(SERVER_ACCOUNT, FlagPlayer(ply=0), BEGIN + LAPSE)
    assert match.bodies[1:] == [
        events.Declined(seat=1),
        events.Ended(winners=(), reason="declined"),
    ]
    match.holds()


@pytest.mark.parametrize("answer", [None, DeclineMatch(), ACCEPT])
def test_no_ruling_puts_anybody_into_a_match_that_was_not_accepted(answer: Command | None) -> None:
    match = invited()
    match.play("m13-m9", at=BEGIN)
    if answer:
        match.do(BOB, answer, BEGIN + 1)
    ruling = GiveRuling(claim=None, upheld=True, text=TEXT)
    if answer != ACCEPT:
        for change in ({"back_to": 0}, {"winners": (0,)}):
            assert match.refuses(ARBITER, replace(ruling, **change)) == Code.BAD_RULING
    match.do(ARBITER, replace(ruling, annul=True), BEGIN + 3)
    assert match.refuses(SERVER_ACCOUNT, FlagPlayer(ply=1), BEGIN + LAPSE) == Code.MATCH_OVER
    back = match.decided(ARBITER, replace(ruling, back_to=0), BEGIN + 4)
    assert match.state.over == (answer != ACCEPT), back
    match.holds()


@pytest.mark.parametrize(
    ("game", "seats", "changes"),
    [
        ("pow2", (ALICE, ROBOT), {"lapse": LAPSE}),
        ("pow2", (ALICE, BOB), {"server_deals": True}),
        ("pow2", (ALICE, BOB), {"server_deals": False, "lapse": LAPSE}),
        ("powerdrain", (ALICE, BOB), {"gather": True, "lapse": LAPSE}),
        ("powerdrain", (ALICE, BOB), {"gather": True, "server_deals": True}),
    ],
)
def test_an_invitation_that_its_event_could_not_record_is_refused(game, seats, changes) -> None:
    start = replace(challenge(game, seats=seats)[1], **changes)
    assert Match().refuses(ALICE, start) == Code.BAD_OPTION


# --- deals without all texts


def test_all_players_agree_that_the_server_deals_without_the_missing_texts() -> None:
    match = by_name_sealed()
    match.do(ALICE, RevealText(text=TEXTS[ALICE]), BEGIN + DAY + 1)
    assert match.refuses(BOB, MakeOffer(kind="draw"), BEGIN + DAY + 1) == Code.NOT_STARTED
    match.do(ALICE, MakeOffer(kind="deal"), BEGIN + DAY + 2)
    assert match.refuses(ALICE, MakeOffer(kind="deal"), BEGIN + DAY + 3) == Code.OFFER_STANDS
    match.do(BOB, REJECT, BEGIN + DAY + 3)
    match.do(BOB, MakeOffer(kind="deal"), BEGIN + DAY + 4)
    answered, started = match.do(ALICE, MakeOffer(kind="deal"), BEGIN + DAY + 5)
    assert answered == events.OfferAnswered(seat=0, kind="deal", accept=True)
    assert isinstance(started, events.MatchStarted)
    assert started.draw.texts == (TEXTS[ALICE], b"")
    assert (match.state.offer, match.state.gather) == (None, None)
    match.holds()


def test_the_sealed_seed_is_read_only_for_what_may_deal() -> None:
    match = by_name_sealed()
    needless = [MakeOffer(kind="deal"), REJECT, ACCEPT, DeclineMatch(), FlagPlayer(ply=0)]
    assert not any(sealed_seed(sent(BOB, one), match.state) for one in needless)
    assert sealed_seed(sent(BOB, RevealText(text=TEXTS[ALICE])), match.state) == (1, 1)
    match.do(ALICE, MakeOffer(kind="deal"), BEGIN + DAY + 1)
    assert all(sealed_seed(sent(BOB, one), match.state) for one in (ACCEPT, MakeOffer(kind="deal")))
