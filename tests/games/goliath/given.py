"""David and Goliath as its tests play it, and positions that several of them look at."""

import random
from functools import partial
from itertools import product

from hypothesis import strategies as st

from domain.games.goliath.rules import GoliathPosition
from domain.rules import latest_rules
from tests.games import playing
from tests.games.pow2.reference import order

RULES = latest_rules("goliath")
DAVID, GOLIATH = 0, 1
OPTION_SETS = [
    tuple(flag for flag in flags if flag)
    for flags in product(("", "-count"), ("", "-goliath_first"))
]

play = partial(playing.play, RULES)
legal = partial(playing.legal, RULES)
refused = partial(playing.refused, RULES)
board = partial(playing.board, RULES)


def options(*flags):
    return RULES.read_options(flags)


def start(*flags):
    return RULES.start(options(*flags), 2, None)


def pieces(david, goliath, light="", dark=""):
    figures = {david: "D", goliath: "G"}
    return figures | dict.fromkeys(light.split(), "o") | dict.fromkeys(dark.split(), "x")


def position(board, seat, *flags):
    david, goliath, light, dark = playing.sets(board, "DGox")
    figures = david.bit_length() - 1, goliath.bit_length() - 1
    return GoliathPosition(*figures, light, dark, seat, options(*flags).count)


def random_game(flags, seed):
    """Yield the positions and moves of a game played at random, the end with None."""
    rng = random.Random(f"{seed} {flags}")
    return playing.random_game(RULES, start(*flags), rng)


def positions(*, over=True):
    """Positions that come about by random play under any options."""

    def game(flags, seed):
        return [at for at, text in random_game(flags, seed) if over or text]

    return playing.positions(OPTION_SETS, 40, game)


# fifteen light stones, of which c3 and g5 are off the outer edges
REUSING = pieces("m13", "h3", "c3 g5 a1 a5 a7 a9 a13 e1 e13 g1 i1 m1 m5 m7 g13")
EDGED = pieces("e5", "h3", "a1 a5 a7 a9 a13 e1 e13 g1 g13 i1 i13 m1 m5 m7 m9")
"""All fifteen light stones stand on the outer edges."""
WALLED = pieces("m13", "a1", "i13 j12 k11 l10", "k9 m7")
"""David is shut in with m9."""
SHUT = pieces("m13", "a1", "i13 j12 k11 l10 m9")
BOTH_SHUT = pieces("m13", "a1", "i13 j12 k11 l10 m9", "a5 b4 c3 d2 e1")
BESIEGED = pieces("m13", "m9", "i13 j12 k11 l10")
"""Goliath himself shuts David in; the figures are not separated."""


def places(at):
    return order({text.partition(":")[0].partition("-")[2] for text in legal(at)})


AT = st.integers(0, 63)
