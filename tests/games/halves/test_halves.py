"""Halves: the source's example, every option, the contract and every ending.

Halves: tiles that chance or the players place.

Halves: what is removed and which group survives, also when one of three leaves.
"""

import random

import pytest

from domain.errors import Code, Refusal
from domain.games.halves.position import Ending
from tests.games import playing
from tests.games.halves import reference
from tests.games.halves.given import (
    RULES,
    WANING,
    A,
    B,
    C,
    ending,
    legal,
    numbers,
    options,
    parsed,
    play,
    position,
    random_game,
    row,
    start,
)
from tests.golden.make_games import RandomChance

# --- the example of the source


def test_the_tiles_of_the_example_are_numbered_in_reading_order():
    by_cell = {(q, r): n for q, r, _, n in RULES.to_json(position(WANING, A))["tiles"]}
    assert [by_cell[at] for at in ((0, 2), (1, 1), (2, 0), (2, 1), (3, 0))] == [4, 2, 1, 5, 3]


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


def test_without_the_bridging_move_black_is_two_moves_from_a_win():
    after = play(position(WANING, A), "4", "5", "2", "3")
    assert RULES.outcome(after).winners == (B,)


# --- options


@pytest.mark.parametrize(
    ("flags", "recorded"),
    [
        ((), ()),
        (("touch_enemy", "keep_largest", "tiles_each=12", "must_touch=1", "free_edges=0"), ()),
        (("-keep_chosen", "-free_edges=6"), ("-free_edges=6", "-keep_chosen")),
        (("touch_any", "must_touch=2"), ("-must_touch=2", "-touch_any")),
        (("no_contract", "manual_start", "invert_win", "tiles_each=60", "keep_most_friendly"),
         ("-invert_win", "-keep_most_friendly", "-manual_start", "-no_contract",
          "-tiles_each=60")),
    ],
)  # fmt: skip
def test_options_are_recorded_sorted_without_defaults(flags, recorded):
    assert RULES.write_options(options(*flags)) == recorded


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


# --- the contract


def test_who_keeps_or_swaps_lets_the_other_begin():
    at = start("-tiles_each=4")
    kept, swapped = play(at, "keep"), play(at, "swap")
    assert RULES.to_move(kept) == RULES.to_move(swapped) == B
    assert RULES.to_json(kept)["colours"] == [0, 1]
    assert RULES.to_json(swapped)["colours"] == [1, 0]
    own = [n for _, _, colour, n in RULES.to_json(swapped)["tiles"] if colour == 0]
    assert {text.partition(",")[0] for text in legal(swapped)} == set(map(str, own))


# --- endings


def test_who_has_no_tile_left_wins():
    assert ending(play(row("wb"), "1")) == ((A,), "no-tile", "A has no tile left")


def test_with_invert_win_of_three_the_match_goes_on_without_one():
    at = row("wbdbd", flags=["-invert_win"], colours=(0, 1, 2))
    after = play(at, "1")
    assert RULES.to_move(after) == B
    assert RULES.to_move(play(after, "2")) == C
    assert RULES.to_move(play(after, "2", "5")) == B
    assert ending(play(after, "2", "5", "4")) == ((C,), "last-tiles", "C alone has tiles left")


def test_equals_share_when_nobody_can_remove_a_tile():
    three = {"colours": (0, 1, 2), "flags": ["-free_edges=6"]}
    assert ending(row("wb", flags=["-free_edges=6"])) == (
        (A, B), "stuck", "nobody can remove a tile; A and B have 1 each")  # fmt: skip
    assert ending(row("wbdd", **three)) == (
        (A, B), "stuck", "nobody can remove a tile; A and B have the fewest, 1 each")  # fmt: skip


def test_a_match_in_which_nobody_can_ever_remove_a_tile_ends_when_that_phase_begins():
    at = start("-free_edges=6")
    assert RULES.to_move(at) == A
    assert ending(play(at, "keep"))[:2] == ((A, B), "stuck")
    assert ending(start("-free_edges=6", "-no_contract"))[:2] == ((A, B), "stuck")


def test_up_to_three_free_edges_someone_of_those_in_can_always_remove_a_tile():
    for seed in range(150):
        flags, _, game = random_game(seed, leaving=False)
        if options(*flags).free_edges <= 3:
            assert RULES.outcome(game[-1]).reason != Ending.STUCK


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


# --- removing


def test_the_larger_group_survives_without_a_choice():
    at = row("bbwb")
    assert legal(at) == ["3"]
    assert numbers(play(at, "3")) == [1, 2]
    assert RULES.write(RULES.check(at, RULES.read("3,1"))) == "3"


def test_a_group_may_be_named_where_nothing_falls_apart():
    at = row("wbb")
    assert RULES.write(RULES.check(at, RULES.read("1,3"))) == "1"


def test_with_keep_chosen_the_mover_chooses_also_a_smaller_group():
    at = row("bbwb", flags=["-keep_chosen"])
    assert legal(at) == ["3,1", "3,4"]
    assert numbers(play(at, "3,4")) == [4]


def test_with_keep_most_friendly_the_group_with_most_own_tiles_survives():
    flags = ["-keep_most_friendly"]
    assert legal(row("bbwwb", flags=flags)) == ["3", "4"]
    assert numbers(play(row("bbwwb", flags=flags), "3")) == [4, 5]
    assert legal(row("bwwb", flags=flags)) == ["2", "3"]
    assert legal(row("wbwb", flags=flags)) == ["1", "3"]
    assert numbers(play(row("wbwbb", flags=flags), "3")) == [1, 2]


def test_after_a_swap_the_friendly_tiles_are_those_of_the_new_colour():
    at = row("wwbb", turn=B, flags=["-keep_most_friendly"], colours=(1, 0))
    assert legal(at) == ["1", "2"]
    assert numbers(play(at, "2")) == [1]


# --- three players, one of whom leaves


def three(letters, *, turn=A, flags=(), **more):
    return row(letters, turn=turn, flags=flags, colours=(0, 1, 2), **more)


def test_one_who_is_out_places_no_more_tiles():
    at = RULES.remove_seat(start("-manual_start", "-tiles_each=3", players=3), B)
    assert RULES.to_json(at)["out"] == [B]
    seats = []
    while RULES.to_json(at)["phase"] == "wax":
        seats.append(RULES.to_move(at))
        at = play(at, "1")
    assert seats == [A, C, A, C]
    assert len(numbers(at)) == 7


def test_one_who_leaves_in_the_own_turn_is_followed_by_the_next():
    at = RULES.remove_seat(start("-manual_start", players=3), A)
    assert RULES.to_move(at) == B
    at = RULES.remove_seat(three("wbdwbd"), A)
    assert RULES.to_move(at) == B
    assert RULES.to_move(RULES.remove_seat(three("wbdwbd"), C)) == A


@pytest.mark.parametrize(("seat", "first"), [(A, B), (B, A)])
def test_there_is_no_contract_if_one_of_the_first_two_is_out(seat, first):
    at = start("-manual_start", "-tiles_each=2", players=3)
    at = play(RULES.remove_seat(at, seat), "1", "1")
    assert RULES.to_json(at)["phase"] == "wane"
    assert RULES.to_move(at) == first
    due = RULES.remove_seat(start("-tiles_each=3", players=3), seat)
    assert RULES.to_json(due)["phase"] == "wane"
    assert RULES.to_move(due) == first


def test_the_tiles_of_one_who_is_out_count_in_groups_and_can_be_cut_off():
    at = RULES.remove_seat(three("wddbwb"), C)
    assert numbers(play(at, "5")) == [1, 2, 3, 4]
    assert numbers(play(three("wbbwd", out=[C]), "4")) == [1, 2, 3]


def test_with_invert_win_those_in_are_judged_at_once_when_one_leaves():
    at = play(three("wbdbd", flags=["-invert_win"]), "1")
    assert ending(RULES.remove_seat(at, B)) == ((C,), "last-tiles", "C alone has tiles left")


def test_when_those_in_can_not_remove_a_tile_they_are_judged_among_themselves():
    around = [f"d {q},{r}" for q, r in reference.STEPS]
    tiles = ["w 0,0", "b 3,-2", "b 2,-1", *around]
    ring = {(2, -2), (3, -1), (2, 0), (3, -3), (4, -3), (4, -2), (1, -1), (1, 0)}
    tiles += [f"d {q},{r}" for q, r in sorted(ring - set(reference.STEPS))]
    at = position(tiles, C, "-free_edges=1", colours=(0, 1, 2))
    assert ending(RULES.remove_seat(at, C)) == (
        (A,), "stuck", "nobody can remove a tile; A has the fewest, 1")  # fmt: skip
