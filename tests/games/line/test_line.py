"""That's My Line: its moves, options, passes, endings and sentences.

That's My Line against a slow second opinion, and its positions as values.
"""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.boards.pow2_board import INDEX, NAMES
from domain.errors import Code, Refusal
from domain.games.line.rules import LinePosition
from tests.games import playing
from tests.games.line import reference
from tests.games.line.given import (
    OPTION_SETS,
    RULES,
    legal,
    options,
    play,
    position,
    positions,
    random_game,
    refused,
    start,
)

FORM = "a move is written as one intersection, such as c3"
LIGHT, DARK = 0, 1


# --- start and moves


def test_the_numbers_of_move_paths_are_those_on_record():
    at = start()
    assert RULES.count_moves(at) == 64
    assert sum(RULES.count_moves(RULES.play(at, move)) for move in RULES.moves(at)) == 3032


def test_all_lines_count_to_their_ends_and_no_further():
    barred = set(NAMES) - set(legal(play(start(), "a1")))
    # the left edge, the diagonal, the lines to the middles of the far sides, the upper edge
    on_lines = (
        "a1",
        "a5",
        "a7",
        "a13",
        "b4",
        "c3",
        "d2",
        "d4",
        "e5",
        "f6",
        "g1",
        "m1",
        "m7",
        "g13",
    )
    assert set(on_lines) <= barred
    assert barred == {other for line in reference.BOARD_LINES if "a1" in line for other in line}
    # beyond the end of the diagonal, across the centre
    assert {"h8", "i9", "m13"} & barred == set()


def test_line_is_played_by_two_without_a_setup():
    sentence = "line is played by two, not by 3"
    playing.refuses_players_and_setup(RULES, options(), 3, sentence)


# --- options


@pytest.mark.parametrize(
    ("flag", "written"),
    [("-stones=16", ("-stones=16",)), ("stones=1", ("-stones=1",)), ("-stones=0", ())],
)
def test_the_number_of_stones_is_recorded_unless_it_is_the_default(flag, written):
    assert RULES.write_options(options(flag)) == written


@pytest.mark.parametrize("flags", [["-stones"], ["-stones=65"], ["-stones=08"], ["-stones=-1"]])
def test_a_number_of_stones_out_of_range_is_refused(flags):
    with pytest.raises(Refusal, match="with N from 0 to 64") as refusal:
        RULES.read_options(flags)
    assert refusal.value.code is Code.BAD_OPTION


def test_with_one_stone_each_the_second_to_place_wins():
    after = play(start("-stones=1"), "g1", "a9")
    outcome = RULES.outcome(after)
    assert (outcome.winners, outcome.reason) == ((DARK,), "last-stone")
    assert outcome.detail == "1 stone each, and Dark placed last"


# --- passes and endings


def pass_in(flags=(), *, first=0):
    """Return a game's position and move after which the same player is to move again."""
    for seed in range(first, first + 200):
        game = list(random_game(flags, seed))
        for (at, text), (after, _) in pairwise(game):
            if text and RULES.to_move(after) == RULES.to_move(at):
                return at, text, after
    raise AssertionError("nobody was passed")


def test_who_cannot_place_is_passed_and_the_other_goes_on():
    at, text, after = pass_in()
    seat = RULES.to_move(at)
    assert RULES.to_move(play(at, text)) == seat
    shown = RULES.to_json(after)["board"]
    assert reference.places(shown, "xo"[seat], 0) == []
    assert legal(after) == reference.places(shown, "ox"[seat], 0)


def finished(condition):
    for seed in range(400):
        *_, (last, _) = random_game((), seed)
        light, dark = RULES.to_json(last)["stones"]
        if condition(light, dark):
            return last, light, dark
    raise AssertionError("no game ended so")


def test_more_stones_win():
    last, light, dark = finished(lambda light, dark: light > dark)
    outcome = RULES.outcome(last)
    assert (outcome.winners, outcome.reason) == ((LIGHT,), "more-stones")
    assert outcome.detail == f"Light placed {light} stones to {dark}"
    last, light, dark = finished(lambda light, dark: dark > light)
    outcome = RULES.outcome(last)
    assert (outcome.winners, outcome.detail) == ((DARK,), f"Dark placed {dark} stones to {light}")


def test_on_equal_stones_the_player_who_placed_last_wins():
    """After play from the start that is Dark: whoever is passed once never places again."""
    ties = 0
    for seed in range(300):
        *_, (before, _), (last, _) = random_game((), seed)
        light, dark = RULES.to_json(last)["stones"]
        if light == dark:
            outcome = RULES.outcome(last)
            assert (outcome.winners, outcome.reason) == ((before.turn,), "last-stone")
            assert outcome.winners == (DARK,)
            assert outcome.detail == f"{light} stones each, and Dark placed last"
            ties += 1
    assert ties > 0


def test_in_a_composed_position_light_may_have_placed_last_on_equal_stones():
    outcome = RULES.outcome(position("a5", "m9", DARK, "-stones=1"))
    assert (outcome.winners, outcome.detail) == ((LIGHT,), "1 stone each, and Light placed last")


def test_a_single_stone_is_told_as_one():
    alone = LinePosition(1 << INDEX["a1"], 0, DARK, 1)
    # nobody could place here if Dark had no stone to begin with
    assert RULES.outcome(alone) is None
    everywhere = LinePosition((1 << 64) - 1, 0, DARK, 64)
    assert RULES.outcome(everywhere).detail == "Light placed 64 stones to 0"


# --- refusals and notation


@pytest.mark.parametrize(
    ("at", "text", "sentence"),
    [
        (play(start(), "c3"), "c3", "c3: a light stone is already there"),
        (position("c3", "g9", LIGHT), "g9", "g9: a dark stone is already there"),
        (play(start(), "a1"), "c3", "c3: Light's stone at a1 stands on a line through it"),
        (
            position("a1", "h8", LIGHT),
            "m13",
            "m13: Dark's stone at h8 stands on a line through it",
        ),
        (
            position("a1 c3", "g9", DARK),
            "f6",
            "f6: Light's stones at a1 and c3 stand on lines through it",
        ),
        (
            position("a1 a5 c3", "g9 h8", DARK),
            "e5",
            "e5: Light's stones at a1, a5 and c3 stand on lines through it",
        ),
    ],
)
def test_an_illegal_move_is_refused_by_the_rule_it_breaks(at, text, sentence):
    assert refused(at, text) == sentence


def test_no_move_is_legal_after_the_end():
    over = play(start("-stones=1"), "g1", "a9")
    assert refused(over, "m13") == "m13: the match is over: neither player can place a stone"


@pytest.mark.parametrize(
    "text", ["", "c", "c03", "c4", "n1", "c3-d4", "c3,", "-c3", "c3:d4", "\u212a6", "c\u0663"]
)
def test_what_is_no_notation_is_refused_with_the_form(text):
    assert playing.unreadable(RULES, text) == f"{text!r} isn't an intersection; {FORM}"


# --- against the slow reference


@pytest.mark.parametrize("flags", OPTION_SETS, ids=" ".join)
def test_moves_passes_and_ends_agree_with_the_reference(flags):
    for seed in range(6):
        told = reference.Game(options(*flags).stones)
        for at, text in random_game(flags, seed):
            assert legal(at) == told.legal
            assert RULES.to_json(at)["board"] == told.board
            turn = RULES.to_move(at)
            assert told.turn == (None if turn is None else "ox"[turn])
            if text is None:
                assert RULES.outcome(at).winners == ("ox".index(told.winner),)
            else:
                told.place(text)


@given(positions())
def test_exactly_the_legal_moves_are_accepted(drawn):
    _, at = drawn
    accepted = playing.accepted(RULES, at, NAMES)
    assert accepted == legal(at)
    assert len(accepted) == RULES.count_moves(at)
    for name in set(NAMES) - set(accepted):
        assert refused(at, name).startswith(f"{name}: ")


@given(positions(), st.sampled_from(playing.SYMMETRIES))
def test_a_turned_or_mirrored_board_has_the_turned_or_mirrored_moves(drawn, symmetry):
    _, at = drawn
    other = playing.turned_board(RULES.to_json(at)["board"], symmetry)
    mirrored = LinePosition(*playing.sets(other, "ox"), at.turn, at.limit)
    assert set(legal(mirrored)) == {playing.turned(text, symmetry) for text in legal(at)}


# --- positions as values


@given(positions())
def test_json_lists_the_stones_in_sorting_order(drawn):
    names = list(RULES.to_json(drawn[1])["board"])
    assert names == reference.order(names)
