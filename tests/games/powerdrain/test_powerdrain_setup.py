"""Powerdrain: its options, and what chance draws under each."""

import random

import pytest

from domain.errors import Code, Refusal
from domain.games.powerdrain.grid import PLUGS
from tests.games import playing
from tests.games.powerdrain.given import (
    COUNTING,
    HANDS,
    MIXED,
    OPTION_SETS,
    POSITIVE,
    RULES,
    SETUP,
    options,
    start,
)
from tests.golden.make_games import RandomChance


@pytest.mark.parametrize(("flags", "edge"), [(("-o1",), COUNTING), (("-o2",), MIXED)])
def test_o1_and_o2_fix_both_edges(flags, edge):
    for more in ((), ("-p",)):
        shown = RULES.to_json(start(*flags, *more))
        assert shown["left"] == shown["top"] == edge


def test_o1_and_o2_exclude_each_other():
    with pytest.raises(Refusal, match="-o1 and -o2 exclude each other") as refusal:
        options("-o1", "-o2")
    assert refusal.value.code is Code.BAD_OPTION


@pytest.mark.parametrize("flags", OPTION_SETS)
def test_options_are_recorded_sorted_with_hyphens(flags):
    assert RULES.write_options(options(*(flag[1:] for flag in reversed(flags)))) == flags


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


def test_the_first_eight_plugs_drawn_are_the_first_players_and_hands_are_sorted():
    class Backwards:
        def shuffled(self, purpose, items):
            del purpose
            return list(reversed(items))

    assert RULES.draw(options(), 2, Backwards()) == {
        "left": [9, 7, 5, 3, 1],
        "top": [9, 7, 5, 3, 1],
        "hands": [list(PLUGS[8:]), list(PLUGS[:8])],
    }


def test_the_plugs_are_in_order_of_their_digits():
    assert " ".join(PLUGS) == "22 24 26 28 42 44 46 48 62 64 66 68 82 84 86 88"


def test_with_p_the_drawn_setup_has_all_plugs_in_a_pool():
    setup = RULES.draw(options("-p"), 2, RandomChance(random.Random(1)))
    assert list(setup) == ["left", "top", "pool"]
    assert setup["pool"] == list(PLUGS)


@pytest.mark.parametrize("flags", OPTION_SETS)
def test_what_is_drawn_is_a_setup_and_the_first_position_shows_it(flags):
    for seed in range(30):
        setup = RULES.draw(options(*flags), 2, RandomChance(random.Random(seed)))
        at = RULES.start(options(*flags), 2, setup)
        shown = RULES.to_json(at)
        assert shown.pop("grid") == {}
        assert shown == setup or (setup is None and shown["pool"] == list(PLUGS))
        assert RULES.to_move(at) == POSITIVE
        assert RULES.option_warning(options(*flags)) == ""


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
