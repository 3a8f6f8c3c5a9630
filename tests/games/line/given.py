"""That's My Line as its tests play it."""

import random
from functools import partial

from domain.games.line.rules import LinePosition
from domain.rules import latest_rules
from tests.games import playing

RULES = latest_rules("line")
OPTION_SETS = [(), ("-stones=16",), ("-stones=7",), ("-stones=3",), ("-stones=1",), ("-stones=64",)]

play = partial(playing.play, RULES)
legal = partial(playing.legal, RULES)
refused = partial(playing.refused, RULES)


def options(*flags):
    return RULES.read_options(flags)


def start(*flags):
    return RULES.start(options(*flags), 2, None)


def position(light, dark, seat, *flags):
    board = dict.fromkeys(light.split(), "o") | dict.fromkeys(dark.split(), "x")
    return LinePosition(*playing.sets(board, "ox"), seat, options(*flags).stones)


def random_game(flags, seed):
    """Yield the positions and moves of a game played at random to its end, the end with None."""
    rng = random.Random(f"{seed} {flags}")
    return playing.random_game(RULES, start(*flags), rng)


def positions():
    """Positions that come about by random play under any options, the last ones too."""

    def game(flags, seed):
        return [at for at, _ in random_game(flags, seed)]

    return playing.positions(OPTION_SETS, 60, game)
