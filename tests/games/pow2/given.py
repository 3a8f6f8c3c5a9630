"""The Power of Two as its tests play it."""

import random
from functools import partial
from itertools import product

from domain.games.pow2.rules import Pow2Position, flags_of
from domain.rules import latest_rules
from tests.games import playing

RULES = latest_rules("pow2")
OPTION_SETS = [
    tuple(flag for flag in flags if flag)
    for flags in product(("", "-exact"), ("", "-fast", "-free", "-middle"), ("", "-noborder"))
]
LIGHT, DARK = 0, 1

play = partial(playing.play, RULES)
legal = partial(playing.legal, RULES)
refused = partial(playing.refused, RULES)
board = partial(playing.board, RULES)


def options(*flags):
    return RULES.read_options(flags)


def start(*flags):
    return RULES.start(options(*flags), 2, None)


def position(board, seat, *flags):
    """Return a position after the placing phase."""
    return Pow2Position(*playing.sets(board, "OoXx"), seat, flags_of(options(*flags)))


def random_game(flags, seed, longest=400):
    """Yield the positions and canonical moves of a game played at random."""
    rng = random.Random(f"{seed} {flags}")
    game = playing.random_game(RULES, start(*flags), rng, longest)
    return ((at, text) for at, text in game if text)


def positions():
    """Positions that come about by random play under any options."""

    def game(flags, seed):
        return [at for at, _ in random_game(flags, seed, 90)]

    return playing.positions(OPTION_SETS, 60, game)
