"""Powerdrain: the printed game, its moves, endings, drawings and every sentence.

Powerdrain: its options, and what chance draws under each.

Powerdrain against a slow second opinion, and its positions as values.
"""

import random

import pytest

from domain.drawing import draw_text
from domain.errors import Code, Refusal
from domain.games.powerdrain.grid import PLUGS, SECTIONS, remaining_volts
from tests.games import playing
from tests.games.powerdrain import reference
from tests.games.powerdrain.given import (
    COUNTING,
    GOLDEN,
    HANDS,
    MIXED,
    OPTION_SETS,
    RULES,
    SETUP,
    dealt,
    legal,
    options,
    play,
    printed,
    random_game,
    refused,
    start,
)
from tests.golden.make_games import RandomChance

FORM = "a move is written plug-section, two even digits and two odd ones, such as 24-57"


# --- the printed game


def test_the_printed_game_is_drawn_as_it_is_printed():
    figure = (GOLDEN / "figure.txt").read_text().removesuffix("\n")
    ended = "\n\n4 active plugs to 2"
    assert draw_text(RULES, printed(), "grid", ("player1", "player2")) == figure + ended


# --- moves


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("24-57", "24-57: plug 24 is Negative's, and it is Positive's turn"),
        ("26-11", "26-11: section 11 already holds plug 22"),
        ("22-13", "22-13: plug 22 is already in section 11"),
        ("24-13", "24-13: plug 24 is already in section 99"),
    ],
)
def test_an_illegal_move_is_refused_by_the_rule_it_breaks(text, sentence):
    at = dealt() if text == "24-57" else play(dealt(), "22-11", "24-99")
    assert refused(at, text) == sentence


# --- notation


@pytest.mark.parametrize(
    "text",
    ["", "24", "2424", "5757", "2557", "24-5", "24-577", "24--57", "24:57", "-2457", "2-457",
     "0457", "2450", "resign", "24-57x", "\u0662\u0664-57", "24\u201357", "1" * 9000],
)  # fmt: skip
def test_what_is_no_notation_is_refused_with_the_form(text):
    assert playing.unreadable(RULES, text) == f"{text[:24]!r} isn't a move; {FORM}"


# --- endings


def endings():
    """Yield outcomes of random games, from pools on the edges of -o1."""
    for seed in range(2000):
        game = random_game(("-o1", "-p"), seed)
        yield RULES.outcome(game[-1]), RULES.to_json(game[-1])


# --- drawing


def test_an_unknown_display_is_refused():
    with pytest.raises(Refusal, match="powerdrain has no display 'large'; known are grid"):
        draw_text(RULES, dealt(), "large")


class Recording(RandomChance):
    """A chance that keeps what it was asked for."""

    def __init__(self, rng):
        super().__init__(rng)
        self.asked = []

    def shuffled(self, purpose, items):
        self.asked.append((purpose, list(items)))
        return super().shuffled(purpose, items)


POTENTIALS = ("powerdrain/potentials", COUNTING)


DEAL = ("powerdrain/plugs", list(PLUGS))


@pytest.mark.parametrize(
    ("flags", "asked"),
    [
        ((), [POTENTIALS, POTENTIALS, DEAL]),
        (("-o1",), [DEAL]),
        (("-o2",), [DEAL]),
        (("-p",), [POTENTIALS, POTENTIALS]),
        (("-o1", "-p"), []),
        (("-o2", "-p"), []),
    ],
)
def test_only_what_the_options_leave_open_is_drawn(flags, asked):
    chance = Recording(random.Random(1))
    setup = RULES.draw(options(*flags), 2, chance)
    assert chance.asked == asked
    assert RULES.needs_draw(options(*flags), 2) == bool(asked)
    assert (setup is None) == (not asked)


def test_powerdrain_is_played_by_two():
    with pytest.raises(Refusal, match="powerdrain is played by two, not by 3") as players:
        RULES.start(options(), 3, SETUP)
    assert players.value.code is Code.BAD_PLAYERS


@pytest.mark.parametrize(
    ("flags", "change", "problem"),
    [
        ((), None, "Expected `object`, got `null`"),
        ((), {"left": [1, 3, 5, 7]}, "Expected `array` of length 5, got 4"),
        ((), {"left": [1, 3, 5, 7, "9"]}, "Expected `int`, got `str`"),
        ((), {"left": [1, 3, 5, 7, 7]}, "the left edge is not 1 3 5 7 9 in some order"),
        ((), {"top": [1, 3, 5, 7, 8]}, "the top edge is not 1 3 5 7 9 in some order"),
        (("-o1",), {}, "with -o1 the left edge is 1 3 5 7 9"),
        (("-o2",), {"left": MIXED}, "with -o2 the top edge is 7 9 1 3 5"),
        ((), {"grid": {}}, "Object contains unknown field `grid`"),
        ((), {"hands": [HANDS[0]]}, "Expected `array` of length 2, got 1"),
        ((), {"hands": [HANDS[0], HANDS[1][1:]]}, "plug 24 is missing"),
        ((), {"hands": [HANDS[0], [*HANDS[1], "22"]]}, "plug 22 is there twice"),
        ((), {"hands": [HANDS[0], [*HANDS[1], "24"]]}, "plug 24 is there twice"),
        ((), {"hands": [HANDS[0], [*HANDS[1][1:], "23"]]}, "'23' is no plug"),
        ((), {"hands": [HANDS[0][1:], [*HANDS[1], "22"]]}, "Positive does not have 8 plugs"),
        ((), {"hands": None}, "without -p there are two hands, and there is no pool"),
        ((), {"pool": []}, "without -p there are two hands, and there is no pool"),
        (("-p",), {}, "with -p there is a pool, and there are no hands"),
        (("-p",), {"hands": None, "pool": list(PLUGS[1:])}, "plug 22 is missing"),
        (("-o1", "-p"), {}, "with -o1 and -p chance draws no setup"),
    ],
)
def test_a_setup_that_does_not_fit_is_refused(flags, change, problem):
    setup = None if change is None else SETUP | change
    sentence = playing.bad_setup(RULES.start, options(*flags), 2, setup)
    assert sentence.startswith("this does not fit powerdrain: ")
    assert problem in sentence


# --- against the slow reference


@pytest.mark.parametrize("flags", OPTION_SETS, ids=" ".join)
def test_moves_their_effect_and_the_drain_agree_with_the_reference(flags):
    for seed in range(15):
        rng, at = random.Random(seed), start(*flags, seed=seed)
        while RULES.outcome(at) is None:
            shown = RULES.to_json(at)
            turn = RULES.to_move(at)
            assert turn == len(shown["grid"]) % 2
            assert legal(at) == reference.legal(shown, turn)
            assert RULES.count_moves(at) == len(RULES.moves(at)) == len(legal(at))
            text = rng.choice(legal(at))
            at = play(at, text)
            after = RULES.to_json(at)
            assert after == reference.play(shown, turn, text)
            assert list(after["grid"]) == sorted(after["grid"])
            left = remaining_volts(at.left, at.top, at.grid)
            assert {SECTIONS[s]: abs(v) for s, v in left.items()} == reference.drained(after)
        assert RULES.outcome(at).winners == reference.result(RULES.to_json(at))
