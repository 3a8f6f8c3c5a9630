"""Halves: the source's example, every option, the contract and every ending."""

import pytest

from domain.errors import Code, Refusal
from domain.games.halves.position import Ending
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
    play,
    position,
    random_game,
    row,
    start,
)

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
