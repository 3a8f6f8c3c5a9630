"""Halves: the source's example, every option, the contract and every ending.

Halves: tiles that chance or the players place.

Halves: what is removed and which group survives, also when one of three leaves.
"""

import random

import pytest

from domain.errors import Code, Refusal
from tests.games import playing
from tests.games.halves import reference
from tests.games.halves.given import (
    RULES,
    WANING,
    A,
    B,
    legal,
    numbers,
    options,
    parsed,
    play,
    position,
    row,
)
from tests.golden.make_games import RandomChance

# --- the example of the source


def test_white_removing_the_bridging_tile_wins_with_the_next_move():
    at = position(WANING, A)
    assert legal(at) == ["1", "2", "4"]
    after = play(at, "2")
    assert numbers(after) == [1, 3, 5]
    assert RULES.to_move(after) == B
    assert legal(after) == ["3", "5"]
    for reply in legal(after):
        won = play(after, reply, "1")
        assert RULES.outcome(won).winners == (A,)
        assert RULES.outcome(won).detail == "A has no tile left"


# --- options


@pytest.mark.parametrize(
    "flags",
    [("tiles_each=1",), ("tiles_each=61",), ("must_touch=0",), ("must_touch=3",),
     ("free_edges=7",), ("touch_any", "touch_enemy"), ("keep_chosen", "keep_largest"),
     ("keep_largest", "keep_most_friendly"), ("free_edges=1", "free_edges=2"), ("tiles_each",)],
)  # fmt: skip
def test_options_out_of_range_or_against_each_other_are_refused(flags):
    with pytest.raises(Refusal) as refusal:
        options(*flags)
    assert refusal.value.code is Code.BAD_OPTION


def test_the_challenge_says_that_nobody_may_be_able_to_remove_a_tile():
    assert RULES.option_warning(options("-free_edges=3")) == ""
    assert str(RULES.option_warning(options("-free_edges=4"))) == (
        "with -free_edges=4 it can happen that nobody can remove a tile; "
        "then the player with the fewest tiles wins"
    )
    assert str(RULES.option_warning(options("-free_edges=6", "-invert_win"))).endswith(
        "the player with the most tiles wins"
    )


# --- random placement


class Asked:
    """A chance that keeps what it was asked for, and gives the first or the last."""

    def __init__(self, *, last=False):
        self.asked = []
        self._last = last

    def below(self, purpose, n):
        self.asked.append((purpose, n))
        return n - 1 if self._last else 0


@pytest.mark.parametrize("flags", [(), ("-touch_any",), ("-must_touch=2",), ("-tiles_each=60",)])
@pytest.mark.parametrize("players", [2, 3])
def test_what_is_drawn_follows_the_rules_of_placing(flags, players):
    how = parsed(flags)
    game = reference.Game(players, how)
    setup = RULES.draw(options(*flags), players, RandomChance(random.Random(players)))
    for q, r, colour in setup["tiles"][players:]:
        assert colour == game.turn
        assert (q, r) in game.cells()
        game.place((q, r))
    assert game.phase == "contract"
    at = RULES.start(options(*flags), players, setup)
    assert RULES.to_json(at) == game.shown()


def test_halves_is_played_by_two_or_three():
    for players in (1, 4):
        with pytest.raises(Refusal, match="halves is played by two or three, not by") as refusal:
            RULES.start(options("-manual_start"), players, None)
        assert refusal.value.code is Code.BAD_PLAYERS


SETUP = [[0, 0, 0], [0, 1, 1], [1, 0, 0], [-1, 1, 1]]


@pytest.mark.parametrize(
    ("setup", "flags", "problem"),
    [
        (None, (), "Expected `object`, got `null`"),
        ({}, (), "missing required field `tiles`"),
        ({"tiles": SETUP, "more": 1}, (), "unknown field `more`"),
        ({"tiles": [*SETUP[:3], [1, 1]]}, (), "Expected `array` of length 3, got 2"),
        ({"tiles": [*SETUP[:3], [1, 1, "1"]]}, (), "Expected `int`, got `str`"),
        ({"tiles": SETUP[:3]}, (), "3 tiles are not 2 for each of 2"),
        ({"tiles": [*SETUP, [2, 0, 0]]}, (), "5 tiles are not 2 for each of 2"),
        ({"tiles": [SETUP[1], SETUP[0], *SETUP[2:]]}, (),
         "tile 1 is A's first and lies at (0,0)"),
        ({"tiles": [SETUP[0], [1, 0, 1], *SETUP[2:]]}, (),
         "tile 2 is B's first and lies at (0,1)"),
        ({"tiles": [*SETUP[:3], [-1, 1, 0]]}, (), "tile 4 has colour 0, and it is B's turn"),
        ({"tiles": [*SETUP[:3], [1, 0, 1]]}, (), "tile 4 can't be placed at (1,0)"),
        ({"tiles": [*SETUP[:3], [0, 2, 1]]}, (), "tile 4 can't be placed at (0,2)"),
        ({"tiles": [*SETUP[:3], [999, 2, 1]]}, (), "no tile gets as far as (999,2)"),
        ({"tiles": [*SETUP[:3], [0, -1, 1]]}, ("-must_touch=2",),
         "tile 4 can't be placed at (0,-1)"),
    ],
)  # fmt: skip
def test_a_setup_that_can_not_have_been_drawn_is_refused(setup, flags, problem):
    chosen = options("-tiles_each=2", *flags)
    sentence = playing.bad_setup(RULES.start, chosen, 2, setup)
    assert sentence.startswith("this does not fit halves: ")
    assert problem in sentence


def test_with_manual_start_chance_draws_nothing():
    chosen = options("-manual_start")
    assert not RULES.needs_draw(chosen, 2)
    assert RULES.draw(chosen, 2, Asked()) is None
    assert RULES.needs_draw(options(), 2)
    with pytest.raises(Refusal, match="with -manual_start chance draws no setup") as refusal:
        RULES.start(chosen, 2, {"tiles": []})
    assert refusal.value.code is Code.BAD_SETUP


# --- three players, one of whom leaves


def three(letters, *, turn=A, flags=(), **more):
    return row(letters, turn=turn, flags=flags, colours=(0, 1, 2), **more)
