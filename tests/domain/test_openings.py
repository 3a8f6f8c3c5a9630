"""Matches that begin with given moves."""

import random
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from domain.clocks.match_clock import NO_SEAT, seats_of_turns, time_left
from domain.clocks.time_control import DAY
from domain.errors import Code
from domain.match import commands
from domain.match.audit import BrokenHistory, verify
from domain.match.decision import Rejection
from domain.match.events import OpeningGiven
from domain.records import SERVER_ACCOUNT
from domain.tournament.commands import DraftTournament
from tests.domain.given import any_move
from tests.helpers.given import ALICE, ARBITER, BEGIN, BOB, TEXT, Match, challenge
from tests.helpers.tournaments import OF_THREES, ORGANISER, Tournament, terms_of_three

FIRST = "m13-j7 a13-d7 m1-i3"
"""Three moves of pow2: the second player is next."""


def start(
    opening: str,
    game: str = "pow2",
    *words: str,
    seats: Sequence[bytes] = (ALICE, BOB),
    **more: Any,
) -> commands.StartMatch:
    _, found = challenge(game, *words, seats=seats)
    return replace(found, opening=opening, **more)


def begun(*words: str, **more: Any) -> Match:
    match = Match()
    match.do(ALICE, start(FIRST, "pow2", *words, **more), BEGIN)
    return match


def test_a_match_begins_with_the_position_of_its_opening_and_no_time_is_counted_for_it() -> None:
    match, played = begun("--bank=3+1"), Match(challenge("pow2"))
    played.play(*FIRST.split())
    assert match.bodies[-1] == OpeningGiven(moves=FIRST)
    state = match.state
    assert (state.ply, state.moves, state.next) == (3, FIRST, 1)
    assert state.position == played.state.position
    assert state.clock is not None
    assert seats_of_turns(state.clock.turns) == [NO_SEAT] * 3
    assert [time_left(state.clock, seat, 1, BEGIN) for seat in (0, 1)] == [3 * DAY, 3 * DAY]
    match.play("a1-a5", at=BEGIN + 2 * DAY)
    assert match.state.clock is not None
    assert time_left(match.state.clock, 1, 0, BEGIN) == 2 * DAY
    match.holds()


def test_the_moves_of_an_opening_are_no_players() -> None:
    begun("--days=3").do(ALICE, commands.DeclineMatch())
    # five moves in all, and each player has made one of them
    match = begun("--days=3", "--rated-from=2")
    match.play("a1-a5")
    match.play(any_move(match, random.Random(1)))
    match.do(SERVER_ACCOUNT, commands.FlagPlayer(), BEGIN + 9 * DAY)
    assert (match.state.played, match.state.rated) == (True, False)


def test_nothing_goes_back_behind_the_opening() -> None:
    match, undo = begun("--days=3", lapse=DAY), commands.MakeOffer(kind="undo")
    match.play("a1-a5")
    assert match.state.invited == ()
    assert match.refuses(ALICE, undo) == Code.UNKNOWN_OFFER
    match.do(BOB, undo)
    match.do(ALICE, commands.AnswerOffer(accept=True))
    assert (match.state.ply, match.state.moves, match.state.next) == (3, FIRST, 1)
    ruling = commands.GiveRuling(claim=None, upheld=True, text=TEXT, back_to=2)
    assert match.refuses(ARBITER, ruling) == Code.BAD_RULING
    match.do(ARBITER, replace(ruling, back_to=3))
    match.holds()


def sentence_of(command: commands.StartMatch) -> tuple[str, str]:
    found = Match().decided(ALICE, command)
    assert isinstance(found, Rejection)
    return found.code, found.sentence


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (start("m13-j7 zz"), Code.UNREADABLE_MOVE, "move 2 of the opening is not possible: 'zz' isn't a move"),
        (start("m13-j7 m13-j7"), Code.ILLEGAL_MOVE, "there is no piece at m13"),
        (start(" ".join(["m13-j7"] * 41)), Code.BAD_OPTION, "an opening has up to 40 moves"),
        (start("M13-J7"), Code.BAD_OPTION, "isn't in its recorded form"),
        (start("a1", "one", seats=(ALICE,)), Code.BAD_OPTION, "a puzzle has no opening"),
        (start("1", "halves"), Code.BAD_OPTION, "Halves has no opening here, because chance sets up the match"),
        (start("1", "powerdrain", gather=True), Code.BAD_OPTION, "because chance sets up the match"),
    ],
)  # fmt: skip
def test_an_opening_that_can_not_be_is_refused(
    command: commands.StartMatch, code: Code, said: str
) -> None:
    found, sentence = sentence_of(command)
    assert found == code
    assert said in sentence


def test_an_opening_does_not_end_the_match() -> None:
    match, rng = Match(challenge("torere")), random.Random(1)
    while not match.state.over:
        match.play(any_move(match, rng))
    said = f"after move {match.state.ply} of the opening the match would be over"
    assert sentence_of(start(match.state.moves, "torere")) == (Code.BAD_OPTION, said)


def test_a_tournament_is_refused_such_an_opening_too() -> None:
    for terms, opening, code in (
        (terms_of_three(rules="pow2/1"), "m13-j7 m13-j7", Code.ILLEGAL_MOVE),
        (terms_of_three(rules="pow2/1"), "M13-J7", Code.BAD_OPTION),
        (terms_of_three(**OF_THREES), "1", Code.BAD_OPTION),
    ):
        draft = DraftTournament(terms=terms, opening=opening)
        assert Tournament().refuses(ORGANISER, draft)[0] == code


def test_a_forged_opening_is_found() -> None:
    match = begun("--days=3")
    match.play("a1-a5")
    for changes in ({"body": OpeningGiven(moves="m13-j7")}, {"command": bytes(16)[:-1] + b"\x09"}):
        with pytest.raises(BrokenHistory):
            verify(1, match.forged(2, **changes))
