"""Matches from elsewhere: proposed whole, accepted by all, and played on."""

import pytest
from msgspec.structs import replace

from domain.clocks import match_clock
from domain.clocks.time_control import DAY
from domain.errors import Code
from domain.match.commands import (
    AnswerOffer,
    DeclineMatch,
    FlagPlayer,
    GiveRuling,
    MakeOffer,
    PlayMove,
    ResignMatch,
    StartVacation,
)
from domain.match.conditional_moves import ConditionalMove
from domain.match.events import (
    Absent,
    Declined,
    Ended,
    Gathered,
    Imported,
    ImportedResult,
    MatchSource,
    MatchStarted,
    Moved,
    Undone,
)
from domain.match.history import EMPTY_SNAPSHOT, EVENT_LIMIT, pack_snapshot, unpack_snapshot
from domain.match.imports import import_command
from domain.match.start import needs_seed
from domain.match.state import position_of, positions
from domain.records import SERVER_ACCOUNT
from tests.helpers.given import ALICE, BOB, CAROL, Match, challenge, pow2, sent

HERE = (b"a-here..", b"b-here..", b"c-here..")
SOURCE = MatchSource("document", "play.example.org/log/s07", 17, bytes(32), 5, bytes(range(32)))
BEGIN = 1_790_000_000_000
ACCEPT = AnswerOffer(accept=True)


def timed():
    """A match of pow2 with a bank, in which both have moved; alice took two days, bob one."""
    match = Match()
    match.do(*challenge("pow2", "-exact", "--bank=10+1"), BEGIN)
    match.do(ALICE, PlayMove(text="m13-m9"), BEGIN + 2 * DAY)
    match.do(BOB, PlayMove(text="a13-c11"), BEGIN + 3 * DAY)
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
    assert here.refuses(HERE[0], PlayMove(text="m9-m5:l4")) is Code.NOT_STARTED
    (first,) = here.do(HERE[1], ACCEPT)
    assert first == Gathered(seat=1, text=b"")
    assert here.refuses(HERE[1], ACCEPT) is Code.OFFER_STANDS
    gathered, started = here.do(HERE[0], ACCEPT)
    assert isinstance(gathered, Gathered)
    assert isinstance(started, MatchStarted)
    assert started.next == source.state.next
    assert position_of(here.state) == position_of(source.state)
    assert positions(here.state) == positions(source.state)
    assert (here.state.moves, here.state.acted) == (source.state.moves, 3)
    moved = here.play("m9-m13")[0]
    assert (moved.ply, moved.seat) == (3, 0)
    here.holds()


def test_banks_that_were_used_stay_used_and_the_running_turn_begins_here():
    here = accepted(timed())
    clock = here.state.clock
    assert clock.since == BEGIN + 11 * DAY
    assert [match_clock.time_used(clock, seat) for seat in (0, 1)] == [2 * DAY, DAY]
    left = match_clock.time_left(clock, 0, here.state.next, BEGIN + 11 * DAY)
    assert left == 9 * DAY
    assert not clock.terms.rated
    assert here.refuses(SERVER_ACCOUNT, FlagPlayer(ply=2), BEGIN + 15 * DAY) is Code.TOO_EARLY
    here.do(SERVER_ACCOUNT, FlagPlayer(ply=2), BEGIN + 20 * DAY)
    assert here.state.result.winners == (1,)
    here.holds()


def test_nobody_is_flagged_while_it_waits():
    here = imported(timed())
    assert here.refuses(SERVER_ACCOUNT, FlagPlayer(), BEGIN + 900 * DAY) is Code.MATCH_OVER


@pytest.mark.parametrize("command", [DeclineMatch(), AnswerOffer(accept=False)])
def test_anyone_may_decline_though_they_have_moved_at_the_source(command):
    here = imported(timed())
    here.do(HERE[0], ACCEPT)
    declined, ended = here.do(HERE[1], command)
    assert declined == Declined(seat=1)
    assert ended == Ended(winners=(), reason="declined")
    here.holds()
    # once it goes on, a move of the source is a move
    assert accepted(timed()).refuses(HERE[1], DeclineMatch()) is Code.TOO_LATE


def test_only_the_server_imports_and_only_once():
    source = timed()
    command = import_command(source.state, HERE[:2], SOURCE)
    assert Match(board=2).refuses(HERE[0], command) is Code.NOT_A_PLAYER
    assert imported(source).refuses(SERVER_ACCOUNT, command) is Code.ALREADY_STARTED


def test_a_transferred_match_goes_on_and_is_over_at_its_source():
    source = timed()
    source.do(ALICE, MakeOffer(kind="transfer"))
    _, ended = source.do(BOB, ACCEPT)
    assert ended == Ended(winners=(), reason="transferred")
    assert not source.state.result.winners
    source.holds()
    here = accepted(source)
    assert not here.state.over
    assert here.state.next == 0
    here.holds()


def test_a_match_that_was_over_ends_again_as_it_did():
    source = timed()
    source.do(BOB, ResignMatch())
    here = imported(source)
    here.do(HERE[0], ACCEPT)
    *_, started, ended = here.do(HERE[1], ACCEPT)
    assert started.next is None
    assert ended == Ended(winners=(0,), reason="resignation")
    assert here.state.over
    assert not here.state.played
    assert not here.state.rated
    here.holds()


def test_an_imported_match_is_never_rated():
    source = Match(*challenge_without_clock())
    here = accepted(source)
    assert here.state.clock is None
    here.do(HERE[0], ResignMatch())
    assert here.state.played
    assert not here.state.rated


def challenge_without_clock():
    return (pow2("-fast"), (ALICE, PlayMove(text="i5-g4:g5")), (BOB, PlayMove(text="a13-c11")))


def test_three_of_whom_one_has_left_go_on_without_that_one():
    source = Match()
    source.do(*challenge("halves", "-manual_start", "--days=3", seats=(ALICE, BOB, CAROL)), BEGIN)
    source.play("1", "2", "3", "4", at=BEGIN)
    source.do(ALICE, ResignMatch(), BEGIN + DAY)
    here = imported(source)
    assert here.state.waits == (0, 1, 2)  # who has left agrees to be shown here, too
    for account in HERE:
        here.do(account, ACCEPT, BEGIN + 11 * DAY)
    assert here.state.active_seats == (1, 2)
    assert here.state.next == source.state.next == 1
    assert here.refuses(HERE[0], ResignMatch()) is Code.NOT_A_PLAYER
    assert position_of(here.state) == position_of(source.state)
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


def test_a_puzzle_is_imported_with_the_consent_of_its_one_player():
    source = Match(challenge("jump", seats=(ALICE,)))
    source.play("a1")
    here = imported(source)
    assert here.state.waits == (0,)
    _, started = here.do(HERE[0], ACCEPT)
    assert started.next == 0
    here.holds()


def test_moves_of_the_source_can_be_taken_back_by_agreement():
    here = accepted(timed())
    here.do(HERE[1], MakeOffer(kind="undo"))
    _, undone = here.do(HERE[0], ACCEPT)
    assert undone == Undone(ply=1, next=1)
    assert here.state.imported.ply == 1
    here.play("a13-c11")
    assert here.state.imported.ply == 1
    here.holds()


def test_conditional_moves_are_prepared_and_played_after_the_start():
    here = accepted(timed())
    here.lay(1, ConditionalMove(3, None, "a1-a5"))
    first, second = here.do(HERE[0], PlayMove(text="m9-m13"))
    assert isinstance(first, Moved)
    assert second.queued
    here.holds()


def test_a_player_on_vacation_when_it_begins_has_a_clock_that_stands():
    here = imported(timed())
    here.away = {HERE[0]: BEGIN + 30 * DAY}
    here.do(HERE[0], ACCEPT, BEGIN + 11 * DAY)
    *_, absent = here.do(HERE[1], ACCEPT, BEGIN + 11 * DAY)
    assert isinstance(absent, Absent)
    here.do(HERE[1], StartVacation(until=BEGIN + 40 * DAY), BEGIN + 12 * DAY)
    here.holds()


def test_a_snapshot_keeps_all_of_it_before_and_after_the_start():
    waiting, running = imported(timed()), accepted(timed())
    for snapshot in (waiting.snapshot, running.snapshot):
        assert unpack_snapshot(pack_snapshot(snapshot)) == snapshot
        # what a commit appends to nothing is everything
        assert pack_snapshot(snapshot, EMPTY_SNAPSHOT.state) == pack_snapshot(snapshot)


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
        ({"result": ImportedResult((0,), "time")}, Code.BAD_REQUEST),
        ({"next": None, "result": ImportedResult((4,), "time")}, Code.BAD_REQUEST),
        ({"moves": " ".join(["m13-m9"] * 10_000)}, Code.TOO_LONG),
    ],
    ids=str,
)
def test_what_can_not_go_on_is_refused(changes, code):
    command = import_command(timed().state, HERE[:2], SOURCE)
    assert Match(board=2).refuses(SERVER_ACCOUNT, replace(command, **changes)) is code


def test_the_event_of_the_longest_match_that_is_taken_fits():
    here = imported(timed())
    assert isinstance(here.bodies[0], Imported)
    assert len(here.events[0]) < EVENT_LIMIT


@pytest.mark.parametrize(
    ("field", "value"),
    [("moves", "m13-m9"), ("acted", 1), ("setup", "{}"), ("next", 1), ("rules", "pow2/9")],
)
def test_a_forged_import_does_not_verify(field, value):
    here = accepted(timed())
    here.events = here.forged(1, body=replace(here.bodies[0], **{field: value}))
    with pytest.raises(Exception, match="event 1"):
        here.holds()


ARBITER = b"arbiter."
TEXT = bytes(32)


def rule(**remedy) -> GiveRuling:
    return GiveRuling(claim=None, upheld=True, text=TEXT, **remedy)


def test_time_that_a_ruling_gave_is_taken_along():
    source = timed()
    source.do(ARBITER, rule(time=((0, 4 * DAY),)), BEGIN + 3 * DAY)
    here = accepted(source)
    assert here.state.clock.given == source.state.clock.given
    left = match_clock.time_left(here.state.clock, 0, 0, BEGIN + 11 * DAY)
    assert left == 13 * DAY
    here.holds()


def test_a_transferred_match_is_not_ruled_on_any_longer():
    source = timed()
    source.do(ALICE, MakeOffer(kind="transfer"))
    source.do(BOB, ACCEPT)
    for remedy in ({"back_to": 1}, {"winners": (0,)}, {"annul": True}):
        assert source.refuses(ARBITER, rule(**remedy)) is Code.BAD_RULING


def test_a_match_that_waits_is_annulled_and_not_set_back():
    here = imported(timed())
    assert here.refuses(ARBITER, rule(back_to=1)) is Code.BAD_RULING
    assert here.refuses(ARBITER, rule(winners=(0,))) is Code.BAD_RULING
    here.do(HERE[0], DeclineMatch())
    assert here.refuses(ARBITER, rule(back_to=1)) is Code.BAD_RULING
    here.holds()


def test_a_ruling_sets_it_back_to_a_ply_of_its_source():
    here = accepted(timed())
    here.play("m9-m13", at=BEGIN + 12 * DAY)
    here.do(ARBITER, rule(back_to=1), BEGIN + 13 * DAY)
    assert (here.state.ply, here.state.imported.ply, here.state.next) == (1, 1, 1)
    here.holds()


def test_one_that_was_over_elsewhere_is_set_back_and_goes_on_and_counts_nowhere():
    source = timed()
    source.do(BOB, ResignMatch())
    here = accepted(source)
    here.do(ARBITER, rule(back_to=2), BEGIN + 12 * DAY)
    assert not here.state.over
    here.play("m9-m13", at=BEGIN + 12 * DAY)
    here.do(HERE[1], ResignMatch(), BEGIN + 12 * DAY)
    assert not here.state.played
    here.holds()
