"""Oware: rules, every sentence and ending, the drawing, the help, robots, and two second opinions."""

import msgspec
import pytest

from domain.drawing import draw_svg
from domain.games.oware import evaluate
from domain.games.oware.rules import LONGEST, NOBODY, START, OwarePosition
from tests.games import openspiel, playing
from tests.games.oware import reference

OWARE = playing.Game("oware")
RULES, played, legal, ending = OWARE.rules, OWARE.played, OWARE.legal, OWARE.ending
NONE = [0] * 6


def position(row1, row2, turn=0, captured=(0, 0)):
    """Return a position from both rows as they are drawn, from left to right."""
    seeds = [*row1, *reversed(row2)]
    return OwarePosition(bytes(seeds), *captured, turn)


HUNGRY = position([0, 1, 0, 0, 0, 2], NONE, captured=(20, 23))
"""North has no seeds: only f1 reaches the upper row."""
END = OwarePosition(bytes(12), 30, 18, NOBODY, (), "starved")
TAKING = position([1, 0, 3, 2, 0, 4], [5, 0, 2, 1, 4, 2], captured=(10, 14))


class TestOware(playing.GameTests):
    key = "oware"
    illegal = (
        (START, "a2", "that house is North's"),
        (played("c1"), "d1", "that house is South's"),
        (played("c1 f2"), "c1", "that house is empty"),
        (HUNGRY, "b1", "North has no seeds, and none would reach North's row from there"),
        (END, "a1", "the match is over: South has 30 seeds, North has 18"),
    )
    unreadable = "", "a", "a3", "a0", "g1", "1a", "a1-b1", "a11", "a\u0661"
    form = "a move is written as one house, such as c1"
    shown = tuple((at, "large") for at in (START, TAKING, played("f1", at=TAKING)))


@pytest.mark.parametrize(
    ("at", "move", "row1", "row2", "south"),
    [
        # the house sown from stays empty in a second lap
        (position([13, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0]), "a1", [0, 2, 2, 1, 1, 1], [2, 2, 1, 1, 1, 1], 0),
        # twos and threes are captured backwards as far as they go, but none in the own row
        (position([0, 0, 0, 0, 0, 4], [5, 0, 2, 1, 4, 2]), "f1", NONE, [5, 0, 0, 0, 5, 3], 5),
        (position([0, 0, 0, 2, 1, 1], [0, 0, 0, 0, 1, 4]), "d1", [0, 0, 0, 0, 2, 2], [0, 0, 0, 0, 1, 4], 0),
        # captures end at the edge of the row, and nothing is captured where it would be all the opponent has
        (position([0, 0, 0, 0, 1, 3], [3, 0, 0, 1, 1, 1]), "f1", [0, 0, 0, 0, 1, 0], [3, 0, 0, 0, 0, 0], 6),
        (position([1, 0, 0, 0, 0, 2], [0, 0, 0, 0, 1, 1]), "f1", [1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 2, 2], 0),
        (position([1, 0, 0, 0, 0, 2], [1, 0, 0, 0, 1, 1]), "f1", [1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0], 4),
        # 24 seeds are not enough
        (position([1, 0, 0, 0, 0, 1], [4, 0, 0, 0, 0, 1], captured=(22, 19)), "f1", [1, 0, 0, 0, 0, 0], [4, 0, 0, 0, 0, 0], 24),
    ],
)  # fmt: skip
def test_what_is_sown_and_captured(at, move, row1, row2, south):
    after = played(move, at=at)
    assert ([*after.seeds[:6]], [*reversed(after.seeds[6:])], after.south) == (row1, row2, south)
    assert RULES.outcome(after) is None


def test_a_player_has_to_feed_an_opponent_without_seeds():
    assert legal(HUNGRY) == ["f1"]
    assert legal(position([6, 1, 4, 0, 2, 0], NONE)) == ["a1", "c1", "e1"]


ROUND = "f1 a2 a1 f2 b1 e2 c1 d2 d1 c2 e1 b2"
QUIET = tuple(range(LONGEST - 1))


@pytest.mark.parametrize(
    ("at", "moves", "end"),
    [
        (position([0, 0, 0, 0, 0, 1], [4, 0, 0, 0, 0, 1], captured=(23, 19)), "f1",
         ((0,), "majority", "South has captured 25 seeds, more than half of them")),
        (position([1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0], 1, (22, 24)), "a2",
         ((0, 1), "starved", "no seed can reach the empty row: South ends with 24 seeds, North with 24")),
        (position([0, 0, 0, 0, 0, 1], [1, 0, 0, 0, 0, 0], captured=(24, 22)), ROUND,
         ((0,), "repeated", "the position came up again: South ends with 25 seeds, North with 23")),
        (msgspec.structs.replace(START, earlier=QUIET), "a1",
         ((0, 1), "no-capture", "200 moves in a row captured nothing: South ends with 24 seeds, North with 24")),
    ],
)  # fmt: skip
def test_how_a_match_ends(at, moves, end):
    assert ending(played(moves, at=at)) == end


def test_the_seeds_left_stay_on_the_board_for_a_majority_alone_and_199_quiet_moves_are_too_few():
    won = position([0, 0, 0, 0, 0, 1], [4, 0, 0, 0, 0, 1], captured=(23, 19))
    assert max(played("f1", at=won).seeds) == 4
    fed = position([1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0], 1, (22, 24))
    assert not any(played("a2", at=fed).seeds)
    quiet = msgspec.structs.replace(START, earlier=QUIET[1:])
    assert RULES.outcome(played("a1", at=quiet)) is None


def test_random_games_agree_with_the_reference_and_no_position_comes_twice():
    reasons = set()
    for game in OWARE.games(START, range(40)):
        match, seen = reference.Match(), []
        for at, move in game:
            shown = RULES.to_json(at)
            assert shown == {"board": match.board, "captured": [*match.scores.values()]}
            assert legal(at) == match.legal()
            assert len(msgspec.msgpack.encode(at)) < 2_000
            seen.append(at)
            if move:
                match.play(move)
        assert RULES.outcome(at).reason == match.over
        assert len(set(seen)) == len(seen), "no draw by repetition can be claimed"
        reasons.add(match.over)
    assert {"majority", "starved"} <= reasons


def test_games_are_those_of_openspiel():
    def house(state, action):
        return reference.ORDER[6 * state.current_player() + action]

    openspiel.plays_alike(RULES, (), "oware", house)


def test_the_evaluation_counts_what_was_captured_and_what_can_be():
    assert evaluate(START) == (0.5, 0.5)
    assert evaluate(position([4] * 6, [4] * 6, captured=(3, 0)))[0] > 0.55
    assert evaluate(position([2, 4, 4, 4, 4, 4], [4] * 6))[0] < 0.5


def test_the_houses_that_a_move_has_emptied_are_marked():
    before = position([0, 0, 0, 0, 0, 4], [5, 0, 2, 1, 4, 2])
    drawn = draw_svg(RULES, played("f1", at=before), (), last="f1", before=before)
    marked = {each.split('"')[0] for each in drawn.split('class="place last" data-place="')[1:]}
    assert marked == {"f1", "c2", "d2"}


def test_a_turned_board_has_the_upper_row_below():
    drawn = draw_svg(RULES, START, (), turned=True)
    below = drawn.index('data-place="a2" transform="translate(')
    assert float(drawn[below:].split("translate(")[1].split(" ")[1].split(")")[0]) > 125
