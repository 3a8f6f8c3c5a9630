"""Matches from elsewhere: proposed whole, accepted by all, and played on."""

import pytest
from msgspec.structs import replace

from domain.clocks.time_control import DAY
from domain.errors import Code
from domain.match import commands, events
from domain.match.imports import import_command
from domain.match.start import needs_seed
from domain.match.state import position_of, positions
from domain.records import SERVER_ACCOUNT
from tests.helpers.given import ALICE, BOB, Match, challenge, sent

HERE = (b"a-here..", b"b-here..", b"c-here..")
SOURCE = events.MatchSource(
    "document", "play.example.org/log/s07", 17, bytes(32), 5, bytes(range(32))
)
BEGIN = 1_790_000_000_000
ACCEPT = commands.AnswerOffer(accept=True)


def timed():
    """A match of pow2 with a bank, in which both have moved; alice took two days, bob one."""
    match = Match()
    match.do(*challenge("pow2", "-exact", "--bank=10+1"), BEGIN)
    match.do(ALICE, commands.PlayMove(text="m13-m9"), BEGIN + 2 * DAY)
    match.do(BOB, commands.PlayMove(text="a13-c11"), BEGIN + 3 * DAY)
    return match


def imported(match, **changes):
    """A match here that was imported from another, and waits for its players."""
    here = Match(board=2)
    command = import_command(match.state, HERE[: len(match.state.seats)], SOURCE)
    here.do(SERVER_ACCOUNT, replace(command, **changes), BEGIN + 10 * DAY)
    return here


def accepted(match, **changes):
    """A match here that was imported, and that all have accepted."""
    here = imported(match, **changes)
    for account in here.state.seats:
        here.do(account, ACCEPT, BEGIN + 11 * DAY)
    return here


def test_it_waits_for_every_player_and_then_goes_on_where_it_stood():
    source = timed()
    here = imported(source)
    assert here.state.waits == (0, 1)
    assert here.state.awaits_entropy
    assert here.refuses(HERE[0], commands.PlayMove(text="m9-m5:l4")) is Code.NOT_STARTED
    (first,) = here.do(HERE[1], ACCEPT)
    assert first == events.Gathered(seat=1, text=b"")
    assert here.refuses(HERE[1], ACCEPT) is Code.OFFER_STANDS
    gathered, started = here.do(HERE[0], ACCEPT)
    assert isinstance(gathered, events.Gathered)
    assert isinstance(started, events.MatchStarted)
    assert started.next == source.state.next
    assert position_of(here.state) == position_of(source.state)
    assert positions(here.state) == positions(source.state)
    assert (here.state.moves, here.state.acted) == (source.state.moves, 3)
    moved = here.play("m9-m13")[0]
    assert (moved.ply, moved.seat) == (3, 0)
    here.holds()


def test_a_transferred_match_goes_on_and_is_over_at_its_source():
    source = timed()
    source.do(ALICE, commands.MakeOffer(kind="transfer"))
    _, ended = source.do(BOB, ACCEPT)
    assert ended == events.Ended(winners=(), reason="transferred")
    assert not source.state.result.winners
    source.holds()
    here = accepted(source)
    assert not here.state.over
    assert here.state.next == 0
    here.holds()


def test_a_setup_that_chance_drew_is_taken_over_and_nothing_is_drawn():
    source = Match(challenge("powerdrain", "-p"))
    command = import_command(source.state, HERE[:2], SOURCE)
    here = Match(board=2)
    here.do(SERVER_ACCOUNT, command)
    assert not needs_seed(sent(HERE[0], ACCEPT), here.state)
    here.do(HERE[0], ACCEPT)
    here.seed = None  # a draw would need it
    _, started = here.do(HERE[1], ACCEPT)
    assert started.draw is None
    assert started.setup == source.state.setup
    here.holds()


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"rules": "pow2/9"}, Code.UNKNOWN_RULES),
        ({"rules": "chess/1"}, Code.UNKNOWN_RULES),
        ({"seats": HERE}, Code.BAD_PLAYERS),
        ({"seats": (HERE[0], HERE[0])}, Code.BAD_PLAYERS),
        ({"options": ("-nothing",)}, Code.UNKNOWN_OPTION),
        ({"setup": "[1]"}, Code.BAD_SETUP),
        ({"moves": "m13-m9 m9-m13"}, Code.ILLEGAL_MOVE),
        ({"moves": "m13-m9"}, Code.BAD_REQUEST),
        ({"turns": b""}, Code.BAD_REQUEST),
        ({"turns": b"12345"}, Code.BAD_REQUEST),
        ({"acted": 0}, Code.BAD_REQUEST),
        ({"acted": 7}, Code.BAD_REQUEST),
        ({"next": 1}, Code.BAD_REQUEST),
        ({"next": None}, Code.BAD_REQUEST),
        ({"out": ((0, 1),)}, Code.BAD_REQUEST),
        ({"out": ((5, 1),)}, Code.BAD_REQUEST),
        ({"result": events.ImportedResult((0,), "time")}, Code.BAD_REQUEST),
        ({"next": None, "result": events.ImportedResult((4,), "time")}, Code.BAD_REQUEST),
        ({"moves": " ".join(["m13-m9"] * 10_000)}, Code.TOO_LONG),
    ],
    ids=str,
)
def test_what_can_not_go_on_is_refused(changes, code):
    command = import_command(timed().state, HERE[:2], SOURCE)
    assert Match(board=2).refuses(SERVER_ACCOUNT, replace(command, **changes)) is code
