"""Matches by name: until all have accepted or moved, they bind nobody."""

from hashlib import sha256

import pytest
from msgspec.structs import replace

from domain.clocks.calendar import DAY
from domain.errors import Code
from domain.fairness import Commitment
from domain.match.audit import possible_digests
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
    ResumeMatch,
    RevealText,
    StartMatch,
    StartVacation,
    command_digest,
    encode_command,
)
from domain.match.conditional_moves import ConditionalMove
from domain.match.deals import DealKind, deal_kind
from domain.match.decide import sealed_seed
from domain.match.events import (
    SERVER_ACCOUNT,
    Absent,
    Accepted,
    DealProposed,
    Declined,
    Ended,
    MatchProposed,
    MatchStarted,
    OfferAnswered,
    Revealed,
    Sealed,
    Withheld,
    decode_event,
)
from domain.match.robots import ROBOT_ACCOUNTS
from domain.match.state import deadline, next_due, reminder_is_due
from tests.helpers.given import ALICE, BEGIN, BOB, CAROL, Match, challenge, sent

LAPSE = 14 * DAY
TERMS = ("--days=3", "--nagtime=1")
ACCEPT, REJECT = AnswerOffer(accept=True), AnswerOffer(accept=False)
ARBITER, TEXT = b"arbiter1", bytes(32)
KEPT = b"what the server keeps, 32 bytes."
OWN = b"a text that a browser keeps"
ROBOT = next(iter(ROBOT_ACCOUNTS.values()))


def invited(*words: str, seats: tuple[bytes, ...] = (ALICE, BOB), actor: bytes = ALICE) -> Match:
    """A match by name of a game without chance."""
    game = ("pow2",) if len(seats) == 2 else ("halves", "-manual_start", "-tiles_each=3")
    start = challenge(*game, *(words or TERMS), seats=seats)[1]
    match = Match()
    match.do(actor, replace(start, lapse=LAPSE), BEGIN)
    return match


def to(text: bytes) -> Commitment:
    return Commitment(sha256(text).digest())


def called(*commitments: Commitment, server_deals: bool = True, terms=TERMS) -> Match:
    """A match by name of a game of chance, called for by alice; the server keeps `KEPT` for each."""
    start = challenge("powerdrain", *terms)[1]
    more = {"server_deals": True} if server_deals else {}
    given = commitments or (to(KEPT), Commitment())
    match = Match()
    match.kept = {0: KEPT, 1: KEPT}
    match.do(ALICE, replace(start, gather=True, commitments=given, lapse=LAPSE, **more), BEGIN)
    return match


def sealed(own: tuple[bytes, bytes] = (OWN, OWN)) -> Match:
    """A match by name whose players have committed to texts of their own, a day after its start."""
    match = called(to(own[0]), Commitment(), server_deals=False)
    match.do(BOB, AnswerOffer(accept=True, commitment=to(own[1])), BEGIN + DAY)
    return match


def kind_of(match: Match) -> DealKind | None:
    return deal_kind(match.bodies)


# --- until all have accepted


def test_no_clock_runs_before_all_have_accepted() -> None:
    match = invited()
    assert isinstance(match.bodies[0], MatchProposed)
    assert (match.state.invited, match.state.waits) == ((1,), (0, 1))
    assert next_due(match.state) == deadline(match.state) == BEGIN + LAPSE
    assert not reminder_is_due(match.state, BEGIN + 2 * DAY)
    assert match.refuses(SERVER_ACCOUNT, RemindPlayer(ply=0), BEGIN + 2 * DAY) == Code.MATCH_OVER
    assert match.do(BOB, ACCEPT, BEGIN + 9 * DAY) == (Accepted(seat=1, next=0),)
    assert match.state.invitation is None
    assert next_due(match.state) == BEGIN + 10 * DAY
    assert deadline(match.state) == BEGIN + 12 * DAY
    match.holds()


def test_the_challenger_moves_at_once_and_the_others_time_begins_with_the_acceptance() -> None:
    match = invited()
    match.do(ALICE, PlayMove(text="m13-m9"), BEGIN + 5 * DAY)
    assert match.state.invited == (1,)
    assert match.state.clock.turns == b"\0" + bytes(5)
    match.do(BOB, ACCEPT, BEGIN + 10 * DAY)
    assert deadline(match.state) == BEGIN + 13 * DAY
    match.holds()


def test_a_move_of_the_invited_player_is_an_acceptance_and_takes_no_time() -> None:
    match = invited(actor=BOB)
    assert match.state.invited == (0,)
    match.do(ALICE, PlayMove(text="m13-m9"), BEGIN + 5 * DAY)
    assert match.state.invitation is None
    assert match.state.clock.turns == b"\0" + bytes(5)
    assert deadline(match.state) == BEGIN + 8 * DAY
    match.holds()


def test_a_conditional_move_of_the_invited_player_is_an_acceptance() -> None:
    match = invited()
    match.lay(1, ConditionalMove(1, None, "a13-c11"))
    match.do(ALICE, PlayMove(text="m13-m9"), BEGIN + DAY)
    assert match.state.invitation is None
    match.holds()


@pytest.mark.parametrize("actor", [ALICE, BOB])
@pytest.mark.parametrize("command", [DeclineMatch(), ResignMatch(), REJECT])
@pytest.mark.parametrize("deal", [False, True])
def test_each_player_may_end_an_invitation_by_any_refusal(
    actor: bytes, command: Command, *, deal: bool
) -> None:
    match = called() if deal else invited()
    declined, ended = match.do(actor, command, BEGIN + 1)
    assert declined == Declined(seat=(ALICE, BOB).index(actor))
    assert ended == Ended(winners=(), reason="declined")
    assert next_due(match.state) == 0
    match.holds()


def test_who_has_moved_may_still_take_the_challenge_back() -> None:
    match = invited()
    match.play("m13-m9", at=BEGIN)
    match.do(ALICE, ResignMatch(), BEGIN + 1)
    assert match.state.result == Ended(winners=(), reason="declined")
    assert not match.state.clock.paused
    match.holds()


@pytest.mark.parametrize(
    ("actor", "command", "code"),
    [
        (ALICE, ACCEPT, Code.OFFER_STANDS),
        (ALICE, MakeOffer(kind="draw"), Code.NOT_STARTED),
        (BOB, MakeOffer(kind="transfer"), Code.NOT_STARTED),
        (BOB, MakeOffer(kind="deal"), Code.NOT_STARTED),
        (BOB, ResumeMatch(), Code.NOT_STARTED),
        (BOB, RevealText(text=b"x"), Code.TOO_LATE),
        (BOB, PlayMove(text="a13-c11"), Code.NOT_YOUR_TURN),
        (CAROL, ACCEPT, Code.NOT_A_PLAYER),
        (SERVER_ACCOUNT, FlagPlayer(ply=0), Code.TOO_EARLY),
    ],
)
def test_what_is_refused_before_all_have_accepted(
    actor: bytes, command: Command, code: Code
) -> None:
    assert invited().refuses(actor, command, BEGIN + 1) == code


def test_a_rejection_with_a_text_is_no_acceptance() -> None:
    match = invited()
    match.do(BOB, AnswerOffer(accept=False, text=b"no"), BEGIN + 1)
    assert match.state.over


@pytest.mark.parametrize("deal", [False, True])
@pytest.mark.parametrize("terms", [(), TERMS])
def test_an_invitation_lapses_by_the_servers_flag_and_nobody_can_accept_it_then(
    *, deal: bool, terms: tuple[str, ...]
) -> None:
    match = called(terms=terms) if deal else invited(*(terms or ("-fast",)))
    assert next_due(match.state) == BEGIN + LAPSE
    accepts = AnswerOffer(accept=True, commitment=to(KEPT)) if deal else ACCEPT
    for command in (accepts, DeclineMatch(), ResignMatch()):
        assert match.refuses(BOB, command, BEGIN + LAPSE) == Code.TIME_OVER
    match.do(SERVER_ACCOUNT, FlagPlayer(ply=0), BEGIN + LAPSE)
    assert match.bodies[1:] == [Declined(seat=1), Ended(winners=(), reason="declined")]
    assert decode_event(match.events[1]).actor == SERVER_ACCOUNT
    match.holds()


def test_a_flag_that_comes_after_the_acceptance_is_too_early() -> None:
    match = invited()
    match.do(BOB, ACCEPT, BEGIN + LAPSE - 1)
    assert match.refuses(SERVER_ACCOUNT, FlagPlayer(ply=0), BEGIN + LAPSE) == Code.TOO_EARLY


def test_a_flag_that_was_sent_before_a_move_came_is_sent_again_for_the_new_ply() -> None:
    match = invited()
    match.play("m13-m9", at=BEGIN + LAPSE - 1)
    assert match.refuses(SERVER_ACCOUNT, FlagPlayer(ply=0), BEGIN + LAPSE) == Code.STALE_PLY
    match.do(SERVER_ACCOUNT, FlagPlayer(ply=1), BEGIN + LAPSE)
    assert match.bodies[-2] == Declined(seat=1)
    match.holds()


# --- three players


def test_of_three_the_first_acceptance_begins_nothing_and_a_move_is_the_second() -> None:
    match = invited(seats=(ALICE, BOB, CAROL))
    assert match.do(CAROL, ACCEPT, BEGIN + DAY) == (Accepted(seat=2, next=None),)
    assert match.state.invited == (1,)
    match.play("1", at=BEGIN + 2 * DAY)
    assert deadline(match.state) == BEGIN + LAPSE
    match.play("2", at=BEGIN + 3 * DAY)
    assert match.state.invitation is None
    assert deadline(match.state) == BEGIN + 6 * DAY
    match.holds()


def test_of_three_one_who_accepted_may_still_decline_until_all_have() -> None:
    match = invited(seats=(ALICE, BOB, CAROL))
    match.play("1", "2", at=BEGIN + DAY)
    assert match.state.invited == (2,)
    match.do(BOB, DeclineMatch(), BEGIN + 2 * DAY)
    assert match.state.over
    match.holds()


def test_of_three_only_those_who_have_not_accepted_have_let_it_lapse() -> None:
    match = invited(seats=(ALICE, BOB, CAROL))
    match.do(BOB, ACCEPT, BEGIN + DAY)
    match.do(SERVER_ACCOUNT, FlagPlayer(ply=0), BEGIN + LAPSE)
    assert match.bodies[-2] == Declined(seat=2)


def test_robots_are_not_invited() -> None:
    match = invited(seats=(ALICE, ROBOT, CAROL))
    assert match.state.invited == (2,)


# --- vacations


@pytest.mark.parametrize(("begins", "accepts"), [(0, 1), (1, 2), (4, 2)])
def test_a_vacation_before_during_or_after_an_invitation_counts_once(
    begins: int, accepts: int
) -> None:
    """Three days a move; alice is to move, and away from day `begins` for three days."""
    match = Match()
    start = replace(challenge("pow2", "--days=3")[1], lapse=LAPSE)
    if not begins:
        match.away = {ALICE: BEGIN + 3 * DAY}
    match.do(ALICE, start, BEGIN)
    assert isinstance(match.bodies[-1], MatchProposed if begins else Absent)
    for day in range(1, 6):
        if day == begins:
            match.do(ALICE, StartVacation(until=BEGIN + (day + 3) * DAY), BEGIN + day * DAY)
        if day == accepts:
            match.do(BOB, ACCEPT, BEGIN + day * DAY)
    back = BEGIN + (begins + 3) * DAY
    used = max(0, begins - accepts)
    assert deadline(match.state) == back + (3 - used) * DAY
    match.holds()


# --- rulings


@pytest.mark.parametrize("ended", [False, True])
def test_no_ruling_puts_anybody_into_a_match_that_was_not_accepted(*, ended: bool) -> None:
    match = invited()
    match.play("m13-m9", at=BEGIN)
    if ended:
        match.do(BOB, DeclineMatch(), BEGIN + 1)
    for change in ({"back_to": 0}, {"winners": (0,)}):
        ruling = GiveRuling(claim=None, upheld=True, text=TEXT, **change)
        assert match.refuses(ARBITER, ruling, BEGIN + 2) == Code.BAD_RULING
    match.do(ARBITER, GiveRuling(claim=None, upheld=True, text=TEXT, annul=True), BEGIN + 3)
    assert match.state.over
    assert match.refuses(SERVER_ACCOUNT, FlagPlayer(ply=1), BEGIN + LAPSE) == Code.MATCH_OVER
    back = GiveRuling(claim=None, upheld=True, text=TEXT, back_to=0)
    assert match.refuses(ARBITER, back, BEGIN + 4) == Code.BAD_RULING
    match.holds()


def test_a_ruling_still_sets_back_a_match_that_all_accepted() -> None:
    match = invited()
    match.do(BOB, ACCEPT, BEGIN + 1)
    match.do(BOB, DeclineMatch(), BEGIN + 2)
    match.do(ARBITER, GiveRuling(claim=None, upheld=True, text=TEXT, back_to=0), BEGIN + 3)
    assert not match.state.over
    match.holds()


# --- starts


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
def test_an_invitation_that_its_event_could_not_record_is_refused(
    game: str, seats: tuple[bytes, ...], changes: dict[str, object]
) -> None:
    start = replace(challenge(game, seats=seats)[1], **changes)
    assert Match().refuses(ALICE, start) == Code.BAD_OPTION


@pytest.mark.parametrize("match", [invited(), called(), called(server_deals=False), sealed()])
def test_each_command_of_an_invitation_is_found_by_its_events(match: Match) -> None:
    first = decode_event(match.events[0])
    body = first.body
    names = {name for name in StartMatch.__struct_fields__ if hasattr(body, name)}
    given = {name: getattr(body, name) for name in names}
    if isinstance(body, DealProposed):
        given |= {"gather": True} | ({} if body.server_deals else {"server_deals": None})
        given = {name: value for name, value in given.items() if value is not None}
    command = StartMatch(**given)
    digest = command_digest(encode_command(sent(ALICE, command)))
    assert digest in possible_digests([first], 0)


# --- deals


def test_the_server_deals_with_the_last_acceptance() -> None:
    match = called()
    assert match.bodies[0].server_deals
    assert (match.state.invited, match.state.waits) == ((1,), (1,))
    match.do(BOB, AnswerOffer(accept=True, commitment=to(KEPT)), BEGIN + DAY)
    started = match.bodies[-1]
    assert isinstance(started, MatchStarted)
    assert started.draw.texts == (KEPT, KEPT)
    assert kind_of(match) is DealKind.BY_SERVER
    assert deadline(match.state) == BEGIN + 4 * DAY
    match.holds()


def test_all_players_agree_that_the_server_deals_without_the_missing_texts() -> None:
    match = sealed()
    assert match.bodies[-1] == Sealed(chain=1, k=1, waits=(0, 1))
    match.do(ALICE, RevealText(text=OWN), BEGIN + DAY + 1)
    match.do(ALICE, MakeOffer(kind="deal"), BEGIN + DAY + 2)
    assert match.refuses(ALICE, MakeOffer(kind="deal"), BEGIN + DAY + 3) == Code.OFFER_STANDS
    assert kind_of(match) is DealKind.SEALED
    answered, started = match.do(BOB, ACCEPT, BEGIN + DAY + 4)
    assert answered == OfferAnswered(seat=1, kind="deal", accept=True)
    assert started.draw.texts == (OWN, b"")
    assert (match.state.offer, match.state.gather) == (None, None)
    assert kind_of(match) is DealKind.AGREED
    match.holds()


def test_proposing_the_same_deal_is_consent_and_a_rejection_leaves_the_match_sealed() -> None:
    match = sealed()
    match.do(ALICE, MakeOffer(kind="deal"), BEGIN + DAY + 1)
    match.do(BOB, REJECT, BEGIN + DAY + 2)
    assert match.state.sealed
    match.do(BOB, MakeOffer(kind="deal"), BEGIN + DAY + 3)
    assert isinstance(match.do(ALICE, MakeOffer(kind="deal"), BEGIN + DAY + 4)[1], MatchStarted)
    match.holds()


def test_an_open_deal_offer_is_gone_once_the_last_text_is_revealed() -> None:
    match = sealed()
    match.do(ALICE, MakeOffer(kind="deal"), BEGIN + DAY + 1)
    match.do(BOB, RevealText(text=OWN), BEGIN + DAY + 2)
    assert isinstance(match.do(ALICE, RevealText(text=OWN), BEGIN + DAY + 3)[0], Revealed)
    assert match.state.offer is None
    assert kind_of(match) is DealKind.SEALED
    match.holds()


def test_only_a_deal_can_be_agreed_on_while_texts_are_missing() -> None:
    match = sealed()
    for kind in ("draw", "undo", "transfer", "tea"):
        assert match.refuses(ALICE, MakeOffer(kind=kind), BEGIN + DAY + 1) == Code.NOT_STARTED


def test_the_sealed_seed_is_read_only_for_what_may_deal() -> None:
    match = sealed()
    needs = [RevealText(text=OWN)]
    needless = [MakeOffer(kind="deal"), REJECT, ACCEPT, DeclineMatch(), FlagPlayer(ply=0)]
    assert all(sealed_seed(sent(BOB, one), match.state) == (1, 1) for one in needs)
    assert not any(sealed_seed(sent(BOB, one), match.state) for one in needless)
    match.do(ALICE, MakeOffer(kind="deal"), BEGIN + DAY + 1)
    assert all(sealed_seed(sent(BOB, one), match.state) for one in (ACCEPT, MakeOffer(kind="deal")))


@pytest.mark.parametrize("unseen", [(), (1,), (0, 1)])
def test_who_could_not_reveal_has_declined_and_withheld_nothing(unseen: tuple[int, ...]) -> None:
    match = sealed()
    match.unseen = frozenset(unseen)
    match.do(SERVER_ACCOUNT, FlagPlayer(ply=0), BEGIN + 4 * DAY)
    kinds = [Declined if seat in unseen else Withheld for seat in (0, 1)]
    assert [type(body) for body in match.bodies[-3:-1]] == kinds
    match.holds()
