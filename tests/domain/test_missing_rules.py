"""A match on a game that is not installed: whatever needs the rules is refused in a sentence."""

import pytest
from msgspec.structs import replace

from domain.clocks.time_control import DAY, TimeControl
from domain.errors import Code, Refusal
from domain.match.commands import (
    Command,
    FlagPlayer,
    MakeOffer,
    PlayMove,
    RemindPlayer,
    ResignMatch,
    StartMatch,
)
from domain.match.decide import decide
from domain.match.decision import Decision, DecisionContext, Rejection
from domain.match.events import Ended, MatchStarted, Moved
from domain.match.evolve import evolve
from domain.match.state import initial, position_of, positions
from domain.records import SERVER_ACCOUNT
from domain.rules import rules_by_id, unpack_position
from tests.helpers.given import ALICE, BOB, sent
from tests.helpers.sentences import in_english

STARTED = MatchStarted(rules="chess/1", options=(), seats=(ALICE, BOB), setup=None, next=0)
STATE = evolve(evolve(initial(), STARTED, 1_000), Moved(ply=1, seat=0, move="e2-e4", next=1), 2_000)
SENTENCE = "the game 'chess' is not installed on this server; its matches are kept, and continue once it is installed"


@pytest.mark.parametrize("command", [PlayMove(text="e7-e5", ply=1), MakeOffer(kind="draw")])
def test_a_move_and_an_offer_are_refused_in_a_sentence(command: Command):
    decided = decide(sent(BOB, command), STATE)
    assert in_english(decided) == Rejection(Code.UNKNOWN_RULES, SENTENCE, None)


def test_no_match_of_it_starts():
    command = StartMatch(rules="chess/1", options=(), seats=(ALICE, BOB))
    decided = decide(sent(ALICE, command), initial())
    assert isinstance(decided, Rejection)
    assert (decided.code, decided.sentence) == (Code.UNKNOWN_RULES, SENTENCE)


def test_a_player_can_give_up_because_that_needs_no_rules():
    decided = decide(sent(BOB, ResignMatch()), STATE)
    assert isinstance(decided, Decision)
    assert decided.events[-1] == Ended(winners=(0,), reason="resignation")


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
    with pytest.raises(Refusal) as refusal:
        ask()
    assert (refusal.value.code, refusal.value.sentence) == (Code.UNKNOWN_RULES, SENTENCE)


@pytest.mark.parametrize("command", [RemindPlayer(ply=1), FlagPlayer(ply=1)])
def test_nobody_loses_by_time_while_nobody_can_move(command: Command):
    started = replace(STARTED, terms=TimeControl())
    state = evolve(evolve(initial(), started, 1_000), Moved(ply=1, seat=0, move="e2-e4", next=1), 2)
    late = DecisionContext(received=400 * DAY)
    decided = decide(sent(SERVER_ACCOUNT, command), state, late)
    assert in_english(decided) == Rejection(Code.UNKNOWN_RULES, SENTENCE, None)
