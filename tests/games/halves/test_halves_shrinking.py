"""Halves: what is removed and which group survives, also when one of three leaves."""

import pytest

from tests.games.halves import reference
from tests.games.halves.given import (
    RULES,
    A,
    B,
    C,
    ending,
    legal,
    numbers,
    play,
    position,
    row,
    start,
)

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
