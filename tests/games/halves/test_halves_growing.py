"""Halves: tiles that chance or the players place."""

import random

import pytest

from domain.errors import Code, Refusal
from tests.games import playing
from tests.games.halves import reference
from tests.games.halves.given import (
    RULES,
    A,
    legal,
    numbers,
    options,
    parsed,
    play,
    start,
)
from tests.golden.make_games import RandomChance

# --- random placement


class Asked:
    """A chance that keeps what it was asked for, and gives the first or the last."""

    def __init__(self, *, last=False):
        self.asked = []
        self._last = last

    def below(self, purpose, n):
        self.asked.append((purpose, n))
        return n - 1 if self._last else 0


def test_each_tile_is_one_draw_among_the_legal_cells_in_reading_order():
    chance = Asked()
    setup = RULES.draw(options("-tiles_each=3"), 2, chance)
    # the 5 free cells beside B's first tile
    assert chance.asked[0] == ("halves/placement", 5)
    assert len(chance.asked) == 4
    assert setup["tiles"][:4] == [[0, 0, 0], [0, 1, 1], [-1, 1, 0], [0, -1, 1]]
    last = RULES.draw(options("-tiles_each=3"), 2, Asked(last=True))
    assert last["tiles"][:3] == [[0, 0, 0], [0, 1, 1], [0, 2, 0]]


def test_three_begin_around_a_corner_and_place_in_turn():
    setup = RULES.draw(options("-tiles_each=4"), 3, Asked())
    assert setup["tiles"][:3] == [[0, 0, 0], [0, 1, 1], [1, 0, 2]]
    assert [colour for _, _, colour in setup["tiles"]] == [0, 1, 2] * 4


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


# --- placing


def test_a_cell_that_touches_two_tiles_is_always_found():
    """Around an enemy that can be touched there is one between a free cell and its neighbours."""
    for seed, players in ((seed, players) for seed in range(20) for players in (2, 3)):
        rng, at = random.Random(seed), start("-manual_start", "-must_touch=2", players=players)
        while (shown := RULES.to_json(at))["phase"] == "wax":
            tiles = {(q, r) for q, r, _, _ in shown["tiles"]}
            for q, r, _ in shown["cells"]:
                assert len(tiles.intersection(reference.beside((q, r)))) >= 2
            at = play(at, rng.choice(legal(at)))


@pytest.mark.parametrize(
    ("players", "flags", "numbers_of_paths"),
    [
        (2, (), [5, 42, 318]),
        (2, ("-touch_any",), [8, 78, 888]),
        (2, ("-must_touch=2",), [2, 6, 20]),
        (3, (), [7, 66, 745]),
        (3, ("-touch_any",), [9, 96, 1176]),
        (3, ("-must_touch=2",), [3, 12, 60]),
    ],
)
def test_the_numbers_of_placing_paths_are_those_on_record(players, flags, numbers_of_paths):
    def paths(at, length):
        if length == 1:
            return RULES.count_moves(at)
        return sum(paths(RULES.play(at, move), length - 1) for move in RULES.moves(at))

    at = start("-manual_start", *flags, players=players)
    assert [paths(at, length) for length in (1, 2, 3)] == numbers_of_paths


def test_when_all_are_placed_tiles_are_numbered_and_the_contract_is_due():
    at = play(start("-manual_start", "-tiles_each=2"), "1", "1")
    shown = RULES.to_json(at)
    assert shown["phase"] == "contract"
    assert numbers(at) == [1, 2, 3, 4]
    assert "cells" not in shown
    assert (RULES.to_move(at), legal(at)) == (A, ["keep", "swap"])
