"""The decider, given-when-then.

The decider and time that does not count: moves taken back, pauses, vacations.
"""

import pytest
from msgspec.structs import replace

from domain.clocks.time_control import DAY, TimeControl, read_time_control
from domain.errors import Code
from domain.match import events
from domain.match.commands import (
    AnswerOffer,
    FlagPlayer,
    MakeOffer,
    PlayMove,
    RemindPlayer,
    ResignMatch,
    ResumeMatch,
    StartMatch,
)
from domain.match.decide import decide
from domain.match.decision import Decision, DecisionContext, Rejection
from domain.match.evolve import evolve
from domain.match.sentences import SAY
from domain.match.state import deadline, initial, next_due, position_of, positions
from domain.records import SERVER_ACCOUNT
from domain.rules import rules_by_id, unpack_position
from tests.domain.given import FLAG, NAG, TERMS, two
from tests.helpers.examples import refused
from tests.helpers.given import (
    ALICE,
    BEGIN,
    BOB,
    CAROL,
    Match,
    alternating,
    challenge,
    pow2,
    sent,
    when,
)
from tests.helpers.sentences import in_english

STARTED = [pow2()]


def code(result: object) -> str:
    assert isinstance(result, Rejection), result
    return result.code


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (StartMatch(rules="pow2/9", options=(), seats=(ALICE, BOB)), Code.UNKNOWN_RULES),
        (StartMatch(rules="pow2/1", options=("-slow",), seats=(ALICE, BOB)), Code.UNKNOWN_OPTION),
        (StartMatch(rules="pow2/1", options=(), seats=(ALICE, BOB, CAROL)), Code.BAD_PLAYERS),
        (StartMatch(rules="pow2/1", options=(), seats=(ALICE, ALICE)), Code.BAD_PLAYERS),
    ],
)
def test_a_challenge_that_makes_no_sense_is_refused(command: StartMatch, expected: Code) -> None:
    assert code(when([], ALICE, command)) == expected


def test_a_move_may_name_the_ply_it_answers() -> None:
    assert not isinstance(when(STARTED, ALICE, PlayMove(text="m13-m9", ply=0)), Rejection)
    refused = when(STARTED, ALICE, PlayMove(text="m13-m9", ply=3))
    assert in_english(refused) == Rejection(
        Code.STALE_PLY,
        "the match has moved on in the meantime; `#3` was meant, and it is now at `#0`",
        "m13-m9",
    )
    later = [*STARTED, *alternating("m13-m9", "a13-c11")]
    assert code(when(later, ALICE, PlayMove(text="m9-m13", ply=0))) == Code.STALE_PLY
    again = PlayMove(text="m13-m9", ply=0)
    assert when(later, ALICE, again).text == SAY("played-already")
    assert when(later, BOB, again).text == SAY("stale", meant=0, ply=2)


def test_an_illegal_move_names_the_places_and_is_logged_in_its_canonical_form() -> None:
    refused = when(STARTED, ALICE, PlayMove(text="M13-b4"))
    assert isinstance(refused, Rejection)
    assert refused.code == Code.ILLEGAL_MOVE
    assert "m13" in refused.sentence
    assert "b4" in refused.sentence
    assert refused.move == "m13-b4"


BACK_AND_FORTH = ["m13-j7", "a13-c11", "j7-m13", "c11-a13"]


def test_a_draw_is_granted_at_once_when_the_position_stands_for_the_third_time() -> None:
    given = [*STARTED, *alternating(*BACK_AND_FORTH * 2)]
    assert when(given, ALICE, MakeOffer(kind="draw")) == (
        events.OfferMade(seat=0, kind="draw"),
        events.Ended(winners=(0, 1), reason="repetition"),
    )


def test_a_pause_that_is_agreed_stops_the_clock_and_puts_the_deadline_off_by_as_much() -> None:
    match = two()
    match.do(BOB, MakeOffer(kind="pause"), BEGIN + DAY)
    assert (next_due(match.state), deadline(match.state)) == (NAG, FLAG)  # proposing stops nothing
    assert match.do(ALICE, AnswerOffer(accept=True), BEGIN + DAY + 7) == (
        events.OfferAnswered(seat=0, kind="pause", accept=True),
        events.Paused(),
    )
    assert (next_due(match.state), deadline(match.state)) == (0, None)
    for command in (RemindPlayer(), FlagPlayer()):
        assert match.refuses(SERVER_ACCOUNT, command, FLAG + 99 * DAY) == Code.TOO_EARLY
    assert match.do(ALICE, ResumeMatch(), FLAG + 99 * DAY + 7) == (events.Resumed(seat=0),)
    paused = FLAG + 99 * DAY - BEGIN - DAY
    assert (next_due(match.state), deadline(match.state)) == (NAG + paused, FLAG + paused)
    match.holds()


def test_a_flag_may_end_the_match_by_its_rules_though_two_are_left() -> None:
    start = "-manual_start", "-tiles_each=2", "-invert_win"
    match = Match(challenge("halves", *start, *TERMS, seats=(ALICE, BOB, CAROL)))
    match.play("6", "9", "1", "swap", "2", "3")  # Carol has no tile any more
    assert match.do(SERVER_ACCOUNT, FlagPlayer(), FLAG + DAY) == (
        events.Flagged(seat=0),
        events.Ended(winners=(1,), reason="last-tiles"),
    )
    assert rules_by_id(match.state.rules).outcome(position_of(match.state)) is not None
    assert next_due(match.state) == 0
    match.holds()


def test_a_match_that_gathers_entropy_starts_its_clock_with_the_draw_and_not_before() -> None:
    alice, start = challenge("powerdrain", *TERMS)
    match = Match((alice, replace(start, gather=True)))
    later = BEGIN + 99 * DAY
    assert (next_due(match.state), deadline(match.state)) == (0, None)
    for command in (RemindPlayer(), FlagPlayer()):
        assert match.refuses(SERVER_ACCOUNT, command, later) == Code.MATCH_OVER
    _, started = match.do(BOB, AnswerOffer(accept=True, text=b"word"), later)
    assert isinstance(started, events.MatchStarted)
    assert started.terms == start.terms == read_time_control(TERMS)
    assert (next_due(match.state), deadline(match.state)) == (later + 2 * DAY, later + 5 * DAY)
    match.holds()


# --- a match on a game that is not installed: whatever needs the rules is refused in a


STARTED_WITHOUT_RULES = events.MatchStarted(
    rules="chess/1", options=(), seats=(ALICE, BOB), setup=None, next=0
)
STATE = evolve(
    evolve(initial(), STARTED_WITHOUT_RULES, 1_000),
    events.Moved(ply=1, seat=0, move="e2-e4", next=1),
    2_000,
)
SENTENCE = "the game 'chess' is not installed on this server; its matches are kept, and continue once it is installed"


STARTED_TIMED = replace(STARTED_WITHOUT_RULES, terms=TimeControl())
TIMED = evolve(
    evolve(initial(), STARTED_TIMED, 1_000), events.Moved(ply=1, seat=0, move="e2-e4", next=1), 2
)


@pytest.mark.parametrize(
    ("actor", "command", "state"),
    [
        (BOB, PlayMove(text="e7-e5", ply=1), STATE),
        (BOB, MakeOffer(kind="draw"), STATE),
        (ALICE, StartMatch(rules="chess/1", options=(), seats=(ALICE, BOB)), initial()),
        # nobody loses by time while nobody can move
        (SERVER_ACCOUNT, RemindPlayer(ply=1), TIMED),
        (SERVER_ACCOUNT, FlagPlayer(ply=1), TIMED),
    ],
)
def test_whatever_needs_rules_that_are_not_installed_is_refused_in_a_sentence(
    actor, command, state
):
    decided = decide(sent(actor, command), state, DecisionContext(received=400 * DAY))
    assert in_english(decided) == Rejection(Code.UNKNOWN_RULES, SENTENCE, None)


def test_a_player_can_give_up_because_that_needs_no_rules():
    decided = decide(sent(BOB, ResignMatch()), STATE)
    assert isinstance(decided, Decision)
    assert decided.events[-1] == events.Ended(winners=(0,), reason="resignation")


@pytest.mark.parametrize(
    "ask",
    [
        lambda: positions(STATE),
        lambda: position_of(STATE),
        lambda: position_of(replace(STATE, position=b"\x90")),
        lambda: unpack_position("chess/1", b"\x90"),
        lambda: rules_by_id("chess/1").read_options(["-exact"]),
        lambda: rules_by_id("chess/1").legal_moves(None),
    ],
)
def test_positions_and_moves_are_refused_in_a_sentence(ask):
    assert refused(Code.UNKNOWN_RULES, ask) == SENTENCE


# --- what goliath and line bring into a match: counts that are agreed to, and passes o


SEPARATED = "m13-a13:b10 a1-b4:f11 a13-e11:a13 b4-c6:e9 e11-d10:g13 c6-g4:i3 d10-c11:d10"
"""David has 3 intersections left, Goliath 52, who is to move."""
NINETEEN = (
    "b4 m13 k5 d10 g4 d12 f3 i1 e7 h8 f6 i7 c3 i11 e3 j10 d4 c11 e5 j12 a5 k3 c5 k8 c6 k11 d7 k9 d2"
    " g10 k6"
)


def started(key, *options):
    return (ALICE, StartMatch(rules=f"{key}/1", options=options, seats=(ALICE, BOB)))


def match(moves, key="goliath", *options):
    return [started(key, *options), *alternating(*moves.split())]


def refusal(result):
    assert isinstance(result, Rejection), result
    return result.code, result.sentence


def test_a_count_that_is_agreed_to_ends_the_match_for_the_larger_region():
    given = match(SEPARATED)
    assert when(given, ALICE, MakeOffer(kind="count")) == (events.OfferMade(seat=0, kind="count"),)
    given.append((ALICE, MakeOffer(kind="count")))
    assert when(given, BOB, AnswerOffer(accept=True)) == (
        events.OfferAnswered(seat=1, kind="count", accept=True),
        events.Ended(winners=(1,), reason="larger-region"),
    )


def test_a_count_is_refused_while_the_figures_are_joined_and_in_other_games():
    assert refusal(when(match("m13-h8:i9"), ALICE, MakeOffer(kind="count"))) == (
        Code.NO_OFFER,
        "a count can only be proposed while stones separate David and Goliath",
    )
    code, _ = refusal(when(match("a1", "line"), ALICE, MakeOffer(kind="count")))
    assert code == Code.UNKNOWN_OFFER


def test_a_pass_in_line_shows_in_the_record_as_the_same_player_next():
    """Light finds no room after Dark's h6 and is passed three times; Dark ends the match."""
    given = match(NINETEEN, "line")
    for text in ("h6", "i13", "m9"):
        [moved] = when(given, BOB, PlayMove(text=text))
        assert (moved.seat, moved.next) == (1, 1)
        given.append((BOB, PlayMove(text=text)))
    [moved, ended] = when(given, BOB, PlayMove(text="l10"))
    assert (moved.next, ended) == (None, events.Ended(winners=(1,), reason="more-stones"))
