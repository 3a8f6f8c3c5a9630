"""David and Goliath: starts, moves, throws and endings."""

import pytest

from tests.games import playing
from tests.games.goliath.given import (
    BESIEGED,
    BOTH_SHUT,
    DAVID,
    GOLIATH,
    OPTION_SETS,
    REUSING,
    RULES,
    legal,
    options,
    pieces,
    places,
    play,
    position,
    start,
)

# --- the start


def test_the_figures_start_in_opposite_corners_with_fifteen_stones_each():
    assert RULES.to_json(start()) == {"board": {"a1": "G", "m13": "D"}, "supply": [15, 15]}
    assert RULES.to_move(start()) == DAVID


def test_goliath_may_go_first():
    at = start("-goliath_first")
    assert RULES.to_json(at) == RULES.to_json(start())
    assert RULES.to_move(at) == GOLIATH


def test_the_numbers_of_move_paths_are_those_on_record():
    at = start()
    assert RULES.count_moves(at) == 262
    assert sum(RULES.count_moves(RULES.play(at, move)) for move in RULES.moves(at)) == 38552


def test_goliath_is_played_by_two_without_a_setup():
    sentence = "goliath is played by two, not by 3"
    playing.refuses_players_and_setup(RULES, options(), 3, sentence)


@pytest.mark.parametrize("flags", OPTION_SETS, ids=" ".join)
def test_options_are_recorded_sorted_and_read_without_hyphens(flags):
    plain = [flag.removeprefix("-") for flag in reversed(flags)]
    assert RULES.write_options(options(*plain)) == flags


# --- moving and throwing


def test_david_moves_any_distance_and_goliath_one_or_two():
    along_edge = [name for name in places(start()) if name.startswith("m")]
    assert along_edge == ["m1", "m5", "m7", "m9"]
    along_edge = [name for name in places(start("-goliath_first")) if name.startswith("a")]
    assert along_edge == ["a5", "a7"]


def targets(at, movement):
    return [text.partition(":")[2] for text in legal(at) if text.startswith(f"{movement}:")]


def test_david_throws_one_or_two_far_and_goliath_up_to_seven():
    bare = position(pieces("a5", "m13"), DAVID)
    down = [name for name in targets(bare, "a5-a1") if name in ("g1", "i1", "m1", "e1", "d2", "e3")]
    assert down == ["d2", "e1", "e3", "g1"]
    bare = position(pieces("m13", "a5"), GOLIATH)
    ray = ["b4", "c5", "c6", "d7", "e9", "f11", "g13"]
    assert [name for name in targets(bare, "a5-a1") if name in ray] == ray


def test_the_place_just_left_may_be_thrown_at_and_over():
    found = targets(position(pieces("a5", "m13"), DAVID), "a5-a1")
    assert {"a5", "a7"} <= set(found)


def test_nothing_passes_over_figures_or_stones():
    at = position(pieces("m13", "m5", "i13"), DAVID)
    assert places(at) == places(position(pieces("m13", "m5", "", "i13"), DAVID))
    assert {"m7", "m9"} == {name for name in places(at) if name.startswith("m")}
    assert "g13" not in places(at)


def test_a_thrown_stone_stays_and_the_supply_goes_down():
    after = RULES.to_json(play(start(), "m13-h8:i9", "a1-c3:d4"))
    assert after == {"board": {"c3": "G", "d4": "x", "h8": "D", "i9": "o"}, "supply": [14, 14]}
    assert list(after["board"]) == ["c3", "d4", "h8", "i9"]


# --- with all stones used up


def test_with_all_stones_used_up_one_off_the_edges_is_picked_up_and_thrown():
    at = position(REUSING, DAVID)
    picked = {text.partition(":")[2].partition(">")[0] for text in legal(at)}
    assert picked == {"c3", "g5"}
    after = RULES.to_json(play(at, "m13-h8:c3>i9"))
    assert after["supply"] == [0, 15]
    assert after["board"] == {
        **{name: letter for name, letter in REUSING.items() if name not in ("c3", "m13")},
        "h8": "D",
        "i9": "o",
    }


# --- endings


@pytest.mark.parametrize("flags", [(), ("-count",)])
def test_the_player_who_cannot_move_loses(flags):
    at = position(BESIEGED, DAVID, *flags)
    outcome = RULES.outcome(at)
    assert (outcome.winners, outcome.reason) == ((GOLIATH,), "no-move")
    assert outcome.detail == "David can't move"
    assert RULES.to_move(at) is None
    assert legal(at) == []
    stuck = position(BOTH_SHUT, GOLIATH)
    assert RULES.outcome(stuck).detail == "Goliath can't move"
