"""Matches by name: until all have accepted or moved, they bind nobody; and deals without all texts."""

from hashlib import sha256

import pytest
from msgspec.structs import replace

from domain.clocks.time_control import DAY
from domain.errors import Code
from domain.fairness import Commitment
from domain.match.commands import (
    AnswerOffer,
    Command,
    DeclineMatch,
    FlagPlayer,
    GiveRuling,
    MakeOffer,
    PlayMove,
    ResignMatch,
    RevealText,
)
from domain.match.conditional_moves import ConditionalMove
from domain.match.events import Declined, Ended, MatchStarted, OfferAnswered
from domain.match.start import sealed_seed
from domain.match.state import ROBOT_ACCOUNTS, deadline, next_due
from domain.records import SERVER_ACCOUNT
from tests.helpers.given import ALICE, BEGIN, BOB, Match, challenge, sent

LAPSE = 14 * DAY
TERMS = ("--days=3", "--nagtime=1")
ACCEPT, REJECT = AnswerOffer(accept=True), AnswerOffer(accept=False)
ARBITER, TEXT = b"arbiter1", bytes(32)
OWN = b"a text that a browser keeps"
COMMITTED = Commitment(sha256(OWN).digest())
ROBOT = next(iter(ROBOT_ACCOUNTS.values()))
LAST_TURN = b"\0" + bytes(5)
"""A turn of the first seat that took no time."""


def invited(*words: str, seats: tuple[bytes, ...] = (ALICE, BOB)) -> Match:
    """A match by name of a game without chance, of alice and the others."""
    game = ("pow2",) if len(seats) == 2 else ("halves", "-manual_start", "-tiles_each=3")
    start = challenge(*game, *(words or TERMS), seats=seats)[1]
    match = Match()
    match.do(ALICE, replace(start, lapse=LAPSE), BEGIN)
    return match


def called(terms: tuple[str, ...] = TERMS) -> Match:
    """A match by name with a sealed deal, to which alice has committed."""
    start = challenge("powerdrain", *terms)[1]
    given = COMMITTED, Commitment()
    match = Match()
    match.do(ALICE, replace(start, gather=True, commitments=given, lapse=LAPSE), BEGIN)
    return match


def sealed() -> Match:
    """The same a day later, when bob has committed."""
    match = called()
    match.do(BOB, AnswerOffer(accept=True, commitment=COMMITTED), BEGIN + DAY)
    return match


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
    ended = Ended(winners=(), reason="declined")
    assert match.do(actor, command, BEGIN + 1) == (Declined(seat=seat), ended)
    assert (next_due(match.state), match.state.invited) == (0, ())
    match.holds()


@pytest.mark.parametrize("make", [invited, lambda: invited("-fast"), called, lambda: called(())])
def test_an_invitation_lapses_by_the_servers_flag_and_nobody_can_accept_it_then(make) -> None:
    """With clocks and without."""
    match = make()
    assert next_due(match.state) == BEGIN + LAPSE
    for command in (ACCEPT, DeclineMatch(), ResignMatch()):
        assert match.refuses(BOB, command, BEGIN + LAPSE) == Code.TIME_OVER
    match.do(SERVER_ACCOUNT, FlagPlayer(ply=0), BEGIN + LAPSE)
    assert match.bodies[1:] == [Declined(seat=1), Ended(winners=(), reason="declined")]
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
    match = sealed()
    match.do(ALICE, RevealText(text=OWN), BEGIN + DAY + 1)
    assert match.refuses(BOB, MakeOffer(kind="draw"), BEGIN + DAY + 1) == Code.NOT_STARTED
    match.do(ALICE, MakeOffer(kind="deal"), BEGIN + DAY + 2)
    assert match.refuses(ALICE, MakeOffer(kind="deal"), BEGIN + DAY + 3) == Code.OFFER_STANDS
    match.do(BOB, REJECT, BEGIN + DAY + 3)
    match.do(BOB, MakeOffer(kind="deal"), BEGIN + DAY + 4)
    answered, started = match.do(ALICE, MakeOffer(kind="deal"), BEGIN + DAY + 5)
    assert answered == OfferAnswered(seat=0, kind="deal", accept=True)
    assert isinstance(started, MatchStarted)
    assert started.draw.texts == (OWN, b"")
    assert (match.state.offer, match.state.gather) == (None, None)
    match.holds()


def test_the_sealed_seed_is_read_only_for_what_may_deal() -> None:
    match = sealed()
    needless = [MakeOffer(kind="deal"), REJECT, ACCEPT, DeclineMatch(), FlagPlayer(ply=0)]
    assert not any(sealed_seed(sent(BOB, one), match.state) for one in needless)
    assert sealed_seed(sent(BOB, RevealText(text=OWN)), match.state) == (1, 1)
    match.do(ALICE, MakeOffer(kind="deal"), BEGIN + DAY + 1)
    assert all(sealed_seed(sent(BOB, one), match.state) for one in (ACCEPT, MakeOffer(kind="deal")))
