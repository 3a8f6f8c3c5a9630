"""Halves: the source's example, every option, sentence and ending, and a slow second opinion."""

import json
import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import Code, Refusal
from domain.rules import current, pack, unpack
from domain.rules.api import IllegalMove, UnreadableMove
from domain.rules.halves import Ending, HalvesMove, Keep, Phase, Touch
from tests.domain import halves_reference as reference
from tests.golden.make_games import RandomChance

RULES = current("halves")
A, B, C = 0, 1, 2
FORM = "a move is a number, as 3, or two, as 4,2 (remove 4, keep the group of 2), or keep or swap"


def options(*flags):
    return RULES.read_options(flags)


def start(*flags, players=2, seed=0):
    chosen = options(*flags)
    setup = RULES.draw(chosen, players, RandomChance(random.Random(seed)))
    return RULES.start(chosen, players, setup)


def position(tiles, turn, *flags, colours=(0, 1), phase="wane", **more):
    """Give a position from texts such as `w 0,2`; tiles are numbered in reading order."""
    cells = {}
    for text in tiles:
        letter, at = text.split()
        cells[tuple(map(int, at.split(",")))] = "wbd".index(letter)
    ordered = enumerate(reference.reading(cells), 1)
    listed = [[*at, cells[at], None if phase == "wax" else n] for n, at in ordered]
    data = {"phase": phase, "colours": list(colours), "tiles": listed, **more}
    return RULES.from_json(data, options(*flags), turn)


WANING = ("w 0,2", "w 1,1", "w 2,0", "b 2,1", "b 3,0")


def row(letters, *, turn=A, flags=(), **more):
    """Give a column of tiles, from above, numbered from 1: every tile between two others parts."""
    tiles = [f"{letter} 0,{r}" for r, letter in enumerate(letters)]
    return position(tiles, turn, *flags, **more)


def play(before, *texts):
    for text in texts:
        before = RULES.play(before, RULES.check(before, RULES.read(text)))
    return before


def legal(at):
    return list(RULES.legal_moves(at))


def numbers(at):
    return [number for *_, number in RULES.to_json(at)["tiles"]]


def refused(at, text):
    with pytest.raises(IllegalMove) as refusal:
        RULES.check(at, RULES.read(text))
    assert refusal.value.code is Code.ILLEGAL_MOVE
    return refusal.value.sentence


def random_flags(rng):
    """Give random options; small sets of tiles are likelier."""
    flags = [f"-tiles_each={rng.choice([2, 3, 4, 5, 6, 8, 12])}"]
    some = ["-manual_start", "-no_contract", "-invert_win", "-must_touch=2", "-touch_any"]
    flags += [flag for flag in some if rng.random() < 0.4]
    if rng.random() < 0.5:
        flags.append(f"-free_edges={rng.randint(1, 6)}")
    flags.append(f"-{rng.choice(list(Keep))}")
    return RULES.write_options(options(*flags))


def random_game(seed, *, leaving=True):
    """Give options, players and the positions of a game played at random, to its end."""
    rng = random.Random(seed)
    flags, players = random_flags(rng), rng.choice((2, 3))
    game = [start(*flags, players=players, seed=seed)]
    while RULES.outcome(game[-1]) is None:
        at = game[-1]
        if leaving and players == 3 and not at.out and rng.random() < 0.05:
            game.append(RULES.leave(at, rng.randrange(3)))
        else:
            game.append(RULES.play(at, rng.choice(RULES.moves(at))))
    return flags, players, game


@st.composite
def positions(draw):
    """Positions that come about by random play under any options, the last ones too."""
    flags, _, game = random_game(draw(st.integers(0, 400)))
    return flags, draw(st.sampled_from(game))


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
    assert RULES.note(options("-free_edges=3")) == ""
    assert RULES.note(options("-free_edges=4")) == (
        "with -free_edges=4 it can come to a position in which nobody can remove a tile; "
        "then the fewest tiles win"
    )
    assert RULES.note(options("-free_edges=6", "-invert_win")).endswith("the most tiles win")


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
    with pytest.raises(Refusal) as refusal:
        RULES.start(options("-tiles_each=2", *flags), 2, setup)
    assert refusal.value.code is Code.BAD_SETUP
    assert refusal.value.sentence.startswith("this does not fit halves: ")
    assert problem in refusal.value.sentence


def test_with_manual_start_chance_draws_nothing():
    chosen = options("-manual_start")
    assert not RULES.needs_draw(chosen, 2)
    assert RULES.draw(chosen, 2, Asked()) is None
    assert RULES.needs_draw(options(), 2)
    with pytest.raises(Refusal, match="with -manual_start chance draws no setup") as refusal:
        RULES.start(chosen, 2, {"tiles": []})
    assert refusal.value.code is Code.BAD_SETUP


# --- placing


def test_two_begin_one_above_the_other_and_a_places_beside_b():
    at = start("-manual_start")
    assert RULES.to_json(at) == {
        "phase": "wax",
        "colours": [0, 1],
        "tiles": [[0, 0, 0, None], [0, 1, 1, None]],
        "cells": [[-1, 1, 1], [1, 0, 2], [-1, 2, 3], [1, 1, 4], [0, 2, 5]],
    }
    assert RULES.to_move(at) == A
    assert legal(at) == ["1", "2", "3", "4", "5"]


def test_with_touch_any_a_tile_may_touch_only_its_own():
    assert RULES.count_moves(start("-manual_start", "-touch_any")) == 8


def test_with_must_touch_2_a_tile_touches_two():
    shown = RULES.to_json(start("-manual_start", "-must_touch=2"))
    assert shown["cells"] == [[-1, 1, 1], [1, 0, 2]]


def test_a_tile_is_placed_on_the_cell_of_its_number():
    after = play(start("-manual_start"), "5")
    assert RULES.to_json(after)["tiles"][-1] == [0, 2, 0, None]
    assert RULES.to_move(after) == B


ENCLOSED = ["b 0,0", *(f"w {q},{r}" for q, r in reference.STEPS)]


def test_who_can_not_touch_an_enemy_may_touch_any_tile():
    """Six white tiles lie around the only black one, so White has no enemy to touch."""
    game = reference.Game(2, {"must_touch": 2})
    game.tiles = {(0, 0): 1} | dict.fromkeys(reference.STEPS, 0)
    at = position(ENCLOSED, A, "-no_contract")
    at = msgspec.structs.replace(at, phase=Phase.WAX, options=options("-must_touch=2"))
    cells = [[*cell, n] for n, cell in enumerate(game.cells(), 1)]
    assert RULES.to_json(at)["cells"] == cells
    assert len(cells) == 12


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


# --- the contract


def test_who_keeps_or_swaps_lets_the_other_begin():
    at = start("-tiles_each=4")
    kept, swapped = play(at, "keep"), play(at, "swap")
    assert RULES.to_move(kept) == RULES.to_move(swapped) == B
    assert RULES.to_json(kept)["colours"] == [0, 1]
    assert RULES.to_json(swapped)["colours"] == [1, 0]
    own = [n for _, _, colour, n in RULES.to_json(swapped)["tiles"] if colour == 0]
    assert {text.partition(",")[0] for text in legal(swapped)} == set(map(str, own))


def test_among_three_only_the_first_two_swap():
    swapped = play(start("-tiles_each=2", players=3), "swap")
    assert RULES.to_json(swapped)["colours"] == [1, 0, 2]
    assert RULES.to_move(swapped) == B


def test_without_a_contract_a_begins_to_remove():
    at = start("-no_contract")
    assert RULES.to_json(at)["phase"] == "wane"
    assert RULES.to_move(at) == A


# --- removing


def test_of_two_equal_groups_the_mover_names_one_by_any_tile():
    at = row("bbwbb")
    assert legal(at) == ["3,1", "3,4"]
    assert numbers(play(at, "3,2")) == [1, 2]
    assert RULES.write(RULES.check(at, RULES.read("3,5"))) == "3,4"


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


def test_with_keep_most_friendly_equal_groups_are_the_movers_choice_whatever_their_size():
    assert legal(row("bbwb", flags=["-keep_most_friendly"])) == ["3,1", "3,4"]


def test_after_a_swap_the_friendly_tiles_are_those_of_the_new_colour():
    at = row("wwbb", turn=B, flags=["-keep_most_friendly"], colours=(1, 0))
    assert legal(at) == ["1", "2"]
    assert numbers(play(at, "2")) == [1]


def test_with_free_edges_inner_tiles_stay():
    around = [f"b {q},{r}" for q, r in reference.STEPS]
    at = position(["w 0,0", "w 0,-2", *around], A, "-free_edges=1")
    assert legal(at) == ["1"]
    assert refused(at, "5") == "5: tile 5 has 0 free edges, and needs 1 to be removed (-free_edges)"


def test_who_can_not_remove_a_tile_is_passed():
    around = [f"b {q},{r}" for q, r in reference.STEPS]
    at = position(["w 0,0", *around], B, "-free_edges=1")
    after = play(at, "1")
    assert RULES.to_move(after) == A
    at = position(["w 0,0", "b 0,-2", *around], B, "-free_edges=1")
    assert RULES.to_move(play(at, "1")) == B


# --- refusals


@pytest.mark.parametrize(
    ("at", "text", "sentence"),
    [
        (start("-manual_start"), "6", "6: there is no cell 6; they are numbered 1 to 5"),
        (start("-manual_start"), "1,2",
         "1,2: while tiles are placed a move is one number, that of a cell; groups come later"),
        (start("-manual_start"), "keep", "keep: keep and swap are for the contract, and none is due"),
        (start(), "3", "3: A first says keep or swap, for the colours"),
        (position(WANING, A), "swap", "swap: keep and swap are for the contract, and none is due"),
        (position(WANING, A), "6", "6: there is no tile 6; they are numbered 1 to 5"),
        (position(WANING, A), "3", "3: tile 3 is B's, and it is A's turn"),
        (play(position(WANING, A), "2"), "4", "4: tile 4 has gone already"),
        (row("bbwbb"), "3",
         "3: you choose which group survives, {1 2} or {4 5}; name a tile of it, such as 3,1"),
        (row("bbwbb"), "3,3", "3,3: tile 3 is the one removed; name one of the group that is kept"),
        (row("bbwbb"), "3,6", "3,6: there is no tile 6; they are numbered 1 to 5"),
        (play(position(WANING, A), "2"), "3,2", "3,2: tile 2 has gone already"),
        (row("bbwb"), "3,4",
         "3,4: the group of tile 4 does not survive; {1 2} does, with the most tiles"),
        (row("bbwwb", flags=["-keep_most_friendly"]), "3,1",
         "3,1: the group of tile 1 does not survive; {4 5} does, with the most of your tiles"),
        (row("wbwbw", flags=["-free_edges=5"]), "3",
         "3: tile 3 has 4 free edges, and needs 5 to be removed (-free_edges)"),
        (row("bbbbbbwbbbbbb"), "7",
         ("7: you choose which group survives, {1 2 3 4 5 ...} or {8 9 10 11 12 ...}; "
          "name a tile of it, such as 7,1")),
        (play(row("wb"), "1"), "2", "2: the match is over: A has no tile left"),
    ],
)  # fmt: skip
def test_an_illegal_move_is_refused_by_the_rule_it_breaks(at, text, sentence):
    assert refused(at, text) == sentence


def test_where_several_groups_may_survive_a_smaller_one_may_not():
    tiles = ["w 0,0", "b 0,-1", "b 0,-2", "b 1,0", "b 2,0", "b -1,1"]
    at = position(tiles, A)
    texts = legal(at)
    assert texts == ["3,1", "3,5"]
    assert refused(at, "3,4") == (
        "3,4: the group of tile 4 does not survive; {1 2} or {5 6} may, such as 3,1"
    )


# --- notation


@pytest.mark.parametrize(
    ("text", "canonical"),
    [("3", "3"), (" 3\n", "3"), ("4,2", "4,2"), ("4 , 2", "4,2"), ("1 2", "12"),
     ("KEEP", "keep"), ("Swap", "swap"), ("s w a p", "swap")],
)  # fmt: skip
def test_case_and_blanks_are_free(text, canonical):
    assert RULES.write(RULES.read(text)) == canonical


@pytest.mark.parametrize(
    "text",
    ["", "0", "03", "3,", ",3", "3,0", "3,04", "4,2,1", "4;2", "4:2", "-3", "keep,3", "resign",
     "12345", "\u0663", "\u212aeep", "a1", "9" * 9000],
)  # fmt: skip
def test_what_is_no_notation_is_refused_with_the_form(text):
    with pytest.raises(UnreadableMove) as refusal:
        RULES.read(text)
    assert refusal.value.code is Code.UNREADABLE_MOVE
    assert refusal.value.sentence == f"{text[:24]!r} is no move; {FORM}"


@given(st.text("0123456789, kepswaSW", max_size=8))
def test_any_text_is_read_to_a_move_that_writes_and_reads_alike_or_refused(text):
    try:
        move = RULES.read(text)
    except UnreadableMove:
        return
    assert RULES.read(RULES.write(move)) == move


@given(st.integers(1, 9999), st.integers(0, 9999))
def test_reading_gives_back_every_move_that_was_written(number, kept):
    move = HalvesMove(number, kept)
    assert RULES.read(RULES.write(move)) == move


# --- endings


def ending(at):
    outcome = RULES.outcome(at)
    assert RULES.to_move(at) is None
    assert legal(at) == RULES.moves(at) == []
    return outcome.winners, str(outcome.reason), outcome.detail


def test_who_has_no_tile_left_wins():
    assert ending(play(row("wb"), "1")) == ((A,), "no-tile", "A has no tile left")


def test_who_loses_the_last_tiles_by_anothers_move_wins_too():
    """Removing 3 cuts off the only tile of B."""
    assert ending(play(row("bwww"), "2")) == ((B,), "no-tile", "B has no tile left")


def test_several_without_tiles_share_the_win():
    three = {"colours": (0, 1, 2)}
    at = row("bwddd", **three)
    assert ending(play(at, "2")) == ((A, B), "no-tile", "A and B have no tile left")


def test_with_invert_win_the_last_who_has_tiles_wins():
    at = row("wb", flags=["-invert_win"])
    assert ending(play(at, "1")) == ((B,), "last-tiles", "B alone has tiles left")


def test_with_invert_win_of_three_the_match_goes_on_without_one():
    at = row("wbdbd", flags=["-invert_win"], colours=(0, 1, 2))
    after = play(at, "1")
    assert RULES.to_move(after) == B
    assert RULES.to_move(play(after, "2")) == C
    assert RULES.to_move(play(after, "2", "5")) == B
    assert ending(play(after, "2", "5", "4")) == ((C,), "last-tiles", "C alone has tiles left")


def test_if_nobody_can_remove_a_tile_the_fewest_win():
    at = row("wbb", flags=["-free_edges=6"])
    assert ending(at) == ((A,), "stuck", "nobody can remove a tile; A has the fewest, 1")


def test_if_nobody_can_remove_a_tile_with_invert_win_the_most_win():
    at = row("wbb", flags=["-free_edges=6", "-invert_win"])
    assert ending(at) == ((B,), "stuck", "nobody can remove a tile; B has the most, 2")


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


def test_every_ending_is_a_kebab_case_word():
    assert [str(ending) for ending in Ending] == ["no-tile", "last-tiles", "stuck"]


def test_up_to_three_free_edges_someone_of_those_in_can_always_remove_a_tile():
    for seed in range(150):
        flags, _, game = random_game(seed, leaving=False)
        if options(*flags).free_edges <= 3:
            assert RULES.outcome(game[-1]).reason != Ending.STUCK


# --- three players, one of whom leaves


def three(letters, *, turn=A, flags=(), **more):
    return row(letters, turn=turn, flags=flags, colours=(0, 1, 2), **more)


def test_one_who_is_out_places_no_more_tiles():
    at = RULES.leave(start("-manual_start", "-tiles_each=3", players=3), B)
    assert RULES.to_json(at)["out"] == [B]
    seats = []
    while RULES.to_json(at)["phase"] == "wax":
        seats.append(RULES.to_move(at))
        at = play(at, "1")
    assert seats == [A, C, A, C]
    assert len(numbers(at)) == 7


def test_one_who_leaves_in_the_own_turn_is_followed_by_the_next():
    at = RULES.leave(start("-manual_start", players=3), A)
    assert RULES.to_move(at) == B
    at = RULES.leave(three("wbdwbd"), A)
    assert RULES.to_move(at) == B
    assert RULES.to_move(RULES.leave(three("wbdwbd"), C)) == A


def test_the_last_to_place_may_leave_instead():
    at = play(start("-manual_start", "-tiles_each=2", players=3), "1", "1")
    assert RULES.to_move(at) == C
    assert RULES.to_json(RULES.leave(at, C))["phase"] == "contract"


@pytest.mark.parametrize(("seat", "first"), [(A, B), (B, A)])
def test_there_is_no_contract_if_one_of_the_first_two_is_out(seat, first):
    at = start("-manual_start", "-tiles_each=2", players=3)
    at = play(RULES.leave(at, seat), "1", "1")
    assert RULES.to_json(at)["phase"] == "wane"
    assert RULES.to_move(at) == first
    due = RULES.leave(start("-tiles_each=3", players=3), seat)
    assert RULES.to_json(due)["phase"] == "wane"
    assert RULES.to_move(due) == first


def test_the_contract_stands_if_the_third_is_out():
    at = RULES.leave(start("-tiles_each=3", players=3), C)
    assert legal(at) == ["keep", "swap"]
    assert RULES.to_move(play(at, "swap")) == B


def test_the_tiles_of_one_who_is_out_count_in_groups_and_can_be_cut_off():
    at = RULES.leave(three("wddbwb"), C)
    assert numbers(play(at, "5")) == [1, 2, 3, 4]
    assert numbers(play(three("wbbwd", out=[C]), "4")) == [1, 2, 3]


def test_one_who_is_out_does_not_win_without_tiles():
    at = three("wwbbd", out=[C], turn=B)
    after = play(at, "4")
    assert RULES.outcome(after) is None
    assert RULES.to_move(after) == A


def test_with_invert_win_those_in_are_judged_at_once_when_one_leaves():
    at = play(three("wbdbd", flags=["-invert_win"]), "1")
    assert ending(RULES.leave(at, B)) == ((C,), "last-tiles", "C alone has tiles left")


def test_with_invert_win_the_last_two_may_lose_their_tiles_at_once():
    at = three("bwddd", out=[C], flags=["-invert_win"])
    after = play(at, "2")
    assert ending(after) == ((A, B), "last-tiles", "A and B lost their last tiles at once")


def test_when_those_in_can_not_remove_a_tile_they_are_judged_among_themselves():
    around = [f"d {q},{r}" for q, r in reference.STEPS]
    tiles = ["w 0,0", "b 3,-2", "b 2,-1", *around]
    ring = {(2, -2), (3, -1), (2, 0), (3, -3), (4, -3), (4, -2), (1, -1), (1, 0)}
    tiles += [f"d {q},{r}" for q, r in sorted(ring - set(reference.STEPS))]
    at = position(tiles, C, "-free_edges=1", colours=(0, 1, 2))
    assert ending(RULES.leave(at, C)) == (
        (A,), "stuck", "nobody can remove a tile; A has the fewest, 1")  # fmt: skip


# --- against the slow reference


def parsed(flags):
    """Give the reference's options from flags."""
    how = {}
    for flag in flags:
        name, equals, number = flag.removeprefix("-").partition("=")
        how[name] = int(number) if equals else True
    return how


@pytest.mark.parametrize("part", range(8))
def test_random_games_under_random_options_agree_with_the_reference(part):
    for seed in range(part * 45, part * 45 + 45):
        rng = random.Random(f"reference {seed}")
        flags, players = random_flags(rng), rng.choice((2, 3))
        at, game = start(*flags, players=players, seed=seed), reference.Game(players, parsed(flags))
        if "-manual_start" not in flags:
            setup = RULES.draw(options(*flags), players, RandomChance(random.Random(seed)))
            for q, r, _ in setup["tiles"][players:]:
                game.place((q, r))
        while True:
            agree(at, game)
            if RULES.outcome(at) is not None:
                break
            if players == 3 and not game.out and rng.random() < 0.05:
                seat = rng.randrange(3)
                at = RULES.leave(at, seat)
                game.leave(seat)
            else:
                text = rng.choice(legal(at))
                at = play(at, text)
                game.play(text)


def agree(at, game):
    shown = RULES.to_json(at)
    assert {key: shown[key] for key in ("phase", "colours", "tiles")} == game.shown()
    assert RULES.to_move(at) == game.turn
    texts = legal(at)
    assert sorted(texts) == sorted(game.legal())
    assert len(texts) == RULES.count_moves(at) == len(RULES.moves(at))
    outcome = RULES.outcome(at)
    found = None if outcome is None else (str(outcome.reason), list(outcome.winners))
    assert found == game.result()


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_two_thousand_random_option_sets_start_and_play_to_an_end(part):
    for seed in range(part * 500, part * 500 + 500):
        _, _, game = random_game(f"options {seed}")
        assert RULES.outcome(game[-1]).reason in set(Ending)


def test_the_largest_matches_start_and_come_to_an_end():
    at = start("-tiles_each=60", players=3)
    rng = random.Random(0)
    while RULES.outcome(at) is None:
        at = RULES.play(at, rng.choice(RULES.moves(at)))
        shown = json.loads(json.dumps(RULES.to_json(at)))
        assert RULES.from_json(shown, options("-tiles_each=60"), RULES.to_move(at)) == at
        assert unpack("halves/1", pack(at)) == at
        assert len(pack(at)) < 1000
    assert RULES.outcome(at).winners


# --- properties


@given(positions(), st.data())
def test_legal_moves_are_accepted_as_they_are_and_nothing_else_is(drawn, data):
    _, at = drawn
    texts = set(legal(at))
    if texts:
        text = data.draw(st.sampled_from(sorted(texts)))
        assert RULES.write(RULES.check(at, RULES.read(text))) == text
    words = st.sampled_from(["keep", "swap"])
    number = st.integers(1, 26)
    pair = st.builds(lambda one, other: f"{one},{other}", number, number)
    text = data.draw(st.one_of(words, number.map(str), pair))
    try:
        meant = RULES.write(RULES.check(at, RULES.read(text)))
    except IllegalMove:
        assert refused(at, text).startswith(f"{text}: ")
        assert text not in texts
    else:
        assert meant in texts
        assert meant.partition(",")[0] == text.partition(",")[0]


def test_moves_come_sorted_by_number_and_group():
    for seed in range(60):
        _, _, game = random_game(seed)
        for at in game:
            texts = legal(at)
            if texts != ["keep", "swap"]:
                keys = [list(map(int, text.split(","))) for text in texts]
                assert keys == sorted(keys)


def mirrored(shown):
    """Give a position of the last phase with left and right exchanged, and the new numbers."""
    cells = {tuple(t[:2]): t for t in [*shown["tiles"], *shown.get("gone", [])]}
    flipped = {(-q, r + q): tile for (q, r), tile in cells.items()}
    new = {flipped[at][-1]: n for n, at in enumerate(reference.reading(flipped), 1)}
    after = {key: shown[key] for key in ("phase", "colours", "out") if key in shown}
    for key in ("tiles", "gone"):
        listed = [[-t[0], t[1] + t[0], *t[2:-1], new[t[-1]]] for t in shown.get(key, [])]
        after[key] = sorted(listed, key=lambda t: t[-1])
    return after, new


@given(positions())
def test_a_mirrored_position_has_the_mirrored_moves(drawn):
    flags, at = drawn
    shown = RULES.to_json(at)
    if shown["phase"] != "wane":
        return
    after, new = mirrored(shown)
    other = RULES.from_json(after, options(*flags), at.turn)
    expected = set()
    for text in legal(at):
        first, comma, kept = text.partition(",")
        move = f"{new[int(first)]}" + (f",{new[int(kept)]}" if comma else "")
        expected.add(RULES.write(RULES.check(other, RULES.read(move))))
    assert set(legal(other)) == expected
    assert RULES.outcome(other) == RULES.outcome(at)


@given(positions())
def test_positions_pass_through_json_and_messagepack_unchanged(drawn):
    flags, at = drawn
    data = json.loads(msgspec.json.encode(RULES.to_json(at)))
    again = RULES.from_json(data, options(*flags), RULES.to_move(at))
    unpacked = unpack("halves/1", pack(at))
    assert again == unpacked == at
    assert hash(again) == hash(unpacked) == hash(at)
    assert len(pack(at)) <= 60 + 4 * len(at.cells)


def test_keys_and_tiles_of_the_json_form_come_in_the_games_own_order():
    shown = RULES.to_json(RULES.leave(play(position(WANING, A), "2"), A))
    assert list(shown) == ["phase", "colours", "tiles", "gone", "out"]
    assert shown["gone"] == [[1, 1, 2], [0, 2, 4]]
    assert numbers(play(position(WANING, A), "2")) == [1, 3, 5]


WAX = {"phase": "wax", "colours": [0, 1], "tiles": [[0, 0, 0, None], [0, 1, 1, None]]}
PAIR = {"phase": "wane", "colours": [0, 1], "tiles": [[0, 0, 0, 1], [0, 1, 1, 2]]}


@pytest.mark.parametrize(
    ("data", "flags", "to_move", "problem"),
    [
        (None, (), 0, "Expected `object`, got `null`"),
        ({"phase": "wane"}, (), 0, "missing required field `colours`"),
        (PAIR | {"phase": "moon"}, (), 0, "Invalid enum value 'moon'"),
        (PAIR | {"more": 1}, (), 0, "unknown field `more`"),
        (PAIR | {"colours": [0]}, (), 0, "the colours can't be [0]"),
        (PAIR | {"colours": [0, 0]}, (), 0, "the colours can't be [0, 0]"),
        (PAIR | {"colours": [1, 0]}, ("-no_contract",), 0, "the colours can't be [1, 0]"),
        (PAIR | {"colours": [0, 1, 2, 3]}, (), 0, "the colours can't be [0, 1, 2, 3]"),
        (PAIR | {"colours": [2, 1, 0]}, (), 0, "the colours can't be [2, 1, 0]"),
        (WAX | {"colours": [1, 0]}, ("-manual_start",), 0, "the colours can't be [1, 0]"),
        (PAIR | {"out": [0]}, (), 1, "[0] can't be those who are out while a match goes on"),
        (PAIR | {"colours": [0, 1, 2], "out": [0, 1]}, (), 0, "[0, 1] can't be those who are out"),
        (PAIR | {"tiles": [[0, 0, 0, 1], [0, 0, 1, 2]]}, (), 0, "a cell is named twice"),
        (PAIR | {"gone": [[0, 0, 3]]}, (), 0, "a cell is named twice"),
        (PAIR | {"gone": [[0, -1, 3]]}, (), 0, "the tile at (0,-1) has number 1"),
        (PAIR | {"tiles": [[0, 0, 0, 1], [0, 1, 1, 3]]}, (), 0, "the tile at (0,1) has number 2"),
        (WAX | {"tiles": PAIR["tiles"]}, ("-manual_start",), 0, "the tile at (0,0) has no number"),
        (PAIR | {"tiles": [[0, 0, 0, 1], [0, 1, 2, 2]]}, (), 0, "no colour 2 among 2 players"),
        (PAIR | {"tiles": [[0, 0, 0, 1], [0, 2, 1, 2]]}, (), 0, "the tiles are not all connected"),
        (PAIR | {"tiles": []}, (), 0, "the tiles are not all connected"),
        (PAIR | {"tiles": [[0, 0, 0, 1], [0, 2000, 1, 2]]}, (), 0, "as far as (0,2000)"),
        (PAIR | {"tiles": [[0, r, 0, r + 1] for r in range(3)]}, ("-tiles_each=2",), 0,
         "no colour has more than 2 tiles"),
        (PAIR | {"gone": [[0, r, r + 1] for r in range(2, 5)]}, ("-tiles_each=2",), 0,
         "there were no more than 2 tiles for each"),
        (PAIR, (), 2, "it can't be the turn of seat 2"),
        (PAIR, (), None, "it can't be the turn of seat None"),
        (PAIR | {"phase": "contract"}, (), 0, "no contract is due"),
        (PAIR | {"phase": "contract"}, ("-no_contract",), 0, "no contract is due"),
        (WAX, (), 0, "the players place tiles with -manual_start only"),
        (WAX, ("-manual_start",), 1, "not from turns taken one after the other"),
        (WAX, ("-manual_start",), 2, "it can't be the turn of seat 2"),
        (WAX | {"cells": []}, ("-manual_start",), 0, "the free cells are others"),
        (WAX | {"colours": [0, 1, 2]}, ("-manual_start",), 0, "not from turns taken"),
        (WAX | {"tiles": [[0, r, r % 2, None] for r in range(4)]},
         ("-manual_start", "-tiles_each=2"), 0, "all tiles are placed"),
    ],
)  # fmt: skip
def test_what_is_no_position_is_refused(data, flags, to_move, problem):
    with pytest.raises(Refusal) as refusal:
        RULES.from_json(data, options(*flags), to_move)
    assert refusal.value.code is Code.BAD_SETUP
    assert refusal.value.sentence.startswith("this does not fit halves: ")
    assert problem in refusal.value.sentence


def test_flags_that_name_a_default_are_the_defaults():
    assert options().touch is Touch.ENEMY
    assert options().keep is Keep.LARGEST
