"""A substitute takes over a seat of a tournament's match: position and bank stay, and nothing else of the leaver's."""

import pytest
from msgspec.structs import replace

from domain.clocks.time_control import DAY
from domain.errors import Code
from domain.match import commands
from domain.match.events import Absent, Moved, SeatTakenOver
from domain.match.state import LeftSeat, Reason
from domain.records import SERVER_ACCOUNT
from tests.helpers.given import ALICE, BOB, CAROL, Match, challenge

BEGIN = 1_790_000_000_000
ARBITER = b"arbiter1"
FIRST, SECOND = "m13-m9", "a13-c11"
TAKE = commands.SubstitutePlayer(seat=1, account=CAROL)


def match(*words: str, ofitself: bool = False) -> Match:
    """A match of a tournament between alice and bob, who is to move."""
    _, start = challenge("pow2", "-exact", *(words or ("--bank=10+1",)))
    found = Match()
    pairing = {} if ofitself else {"pairing": (7, 2)}
    found.do(ALICE if ofitself else SERVER_ACCOUNT, replace(start, **pairing), BEGIN)  # type: ignore[arg-type]
    found.do(ALICE, commands.PlayMove(text=FIRST), BEGIN + DAY)
    return found


def taken(found: Match, days: int = 3) -> Match:
    found.do(SERVER_ACCOUNT, TAKE, BEGIN + days * DAY)
    return found


def test_the_seat_is_the_substitutes_and_no_longer_the_leavers() -> None:
    found = taken(match())
    assert found.bodies[-1] == SeatTakenOver(seat=1, account=CAROL, next=1)
    assert found.state.seats == (ALICE, CAROL)
    assert found.state.left_seats == (LeftSeat(1, BOB, 1),)
    for command in (
        commands.PlayMove(text=SECOND),
        commands.ResignMatch(),
        commands.MakeOffer(kind="draw"),
    ):
        assert found.refuses(BOB, command, BEGIN + 4 * DAY) == Code.NOT_A_PLAYER
    (moved,) = found.do(CAROL, commands.PlayMove(text=SECOND), BEGIN + 4 * DAY)
    assert isinstance(moved, Moved)
    found.holds()


@pytest.mark.parametrize(("maker", "stays"), [(BOB, False), (ALICE, True)])
def test_an_open_offer_lapses_if_it_is_the_leavers(maker: bytes, *, stays: bool) -> None:
    found = match()
    found.do(maker, commands.MakeOffer(kind="draw"), BEGIN + 2 * DAY)
    taken(found)
    assert (found.state.offer is not None) == stays
    if stays:
        ended = found.do(CAROL, commands.AnswerOffer(accept=True), BEGIN + 4 * DAY)
        assert ended[-1].reason == Reason.AGREEMENT  # type: ignore[union-attr]


def test_a_vacation_of_the_leaver_ends_and_one_of_the_substitute_begins() -> None:
    found = match()
    found.do(BOB, commands.StartVacation(until=BEGIN + 30 * DAY), BEGIN + 2 * DAY)
    found.do(SERVER_ACCOUNT, TAKE, BEGIN + 3 * DAY)
    clock = found.state.clock
    assert clock is not None
    assert all(one.until <= BEGIN + 3 * DAY for one in clock.stops)
    found.away = {CAROL: BEGIN + 20 * DAY}
    events = found.do(
        SERVER_ACCOUNT, commands.SubstitutePlayer(seat=0, account=b"dave...."), BEGIN + 5 * DAY
    )
    assert Absent(seat=1, until=BEGIN + 20 * DAY) in events
    found.holds()
    found.do(CAROL, commands.EndVacation(until=BEGIN + 6 * DAY), BEGIN + 6 * DAY)


def test_a_match_with_a_substitute_is_not_rated() -> None:
    found = match()
    found.do(BOB, commands.PlayMove(text=SECOND), BEGIN + 2 * DAY)
    assert found.state.rated
    taken(found)
    assert not found.state.rated
    assert found.state.played


def test_who_had_a_seat_does_not_rule_in_the_match() -> None:
    found = taken(match())
    found.do(CAROL, commands.MakeClaim(ply=1, text=bytes(32)), BEGIN + 4 * DAY)
    ruling = commands.GiveRuling(claim=found.state.cases[0].claim, upheld=False, text=bytes(32))
    assert found.refuses(BOB, ruling, BEGIN + 5 * DAY) == Code.NOT_AN_ARBITER
    assert found.do(ARBITER, ruling, BEGIN + 5 * DAY)


@pytest.mark.parametrize(
    ("actor", "command", "code"),
    [
        (BOB, TAKE, Code.NOT_A_PLAYER),
        (ARBITER, TAKE, Code.NOT_A_PLAYER),
        (SERVER_ACCOUNT, commands.SubstitutePlayer(seat=2, account=CAROL), Code.BAD_REQUEST),
        (SERVER_ACCOUNT, commands.SubstitutePlayer(seat=-1, account=CAROL), Code.BAD_REQUEST),
        (SERVER_ACCOUNT, commands.SubstitutePlayer(seat=1, account=ALICE), Code.BAD_REQUEST),
        (SERVER_ACCOUNT, commands.SubstitutePlayer(seat=1, account=BOB), Code.BAD_REQUEST),
    ],
)
def test_what_is_refused(actor: bytes, command: commands.Command, code: Code) -> None:
    assert match().refuses(actor, command, BEGIN + 2 * DAY) == code


def test_only_a_tournaments_match_that_goes_on_is_taken_over() -> None:
    assert match(ofitself=True).refuses(SERVER_ACCOUNT, TAKE, BEGIN + DAY) == Code.AGAINST_TERMS
    assert Match().refuses(SERVER_ACCOUNT, TAKE, BEGIN) == Code.UNKNOWN_BOARD
    found = match()
    found.do(BOB, commands.ResignMatch(), BEGIN + 2 * DAY)
    assert found.refuses(SERVER_ACCOUNT, TAKE, BEGIN + 3 * DAY) == Code.MATCH_OVER
