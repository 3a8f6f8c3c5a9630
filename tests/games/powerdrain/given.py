"""Powerdrain as its tests play it, and its printed game."""

import random
from functools import partial
from pathlib import Path

from domain.games.powerdrain.grid import PLUG, PLUGS, grid_bytes
from domain.games.powerdrain.rules import PowerdrainPosition
from domain.rules import latest_rules
from tests.games import playing
from tests.golden.make_games import RandomChance

GOLDEN = Path(__file__).parent
RULES = latest_rules("powerdrain")
OPTION_SETS = [(), ("-o1",), ("-o2",), ("-p",), ("-o1", "-p"), ("-o2", "-p")]
POSITIVE, NEGATIVE = 0, 1
COUNTING, MIXED = [1, 3, 5, 7, 9], [7, 9, 1, 3, 5]
HANDS = [list(PLUGS[::2]), list(PLUGS[1::2])]
SETUP = {"left": [9, 7, 1, 5, 3], "top": [1, 3, 7, 5, 9], "hands": HANDS}


# the finished game of the source: plug, player, value and what is left of it, by section
PRINTED = {
    "91": ("46", "+10", "+10"), "93": ("26", "+10", "+6"), "97": ("42", "+10", "0"),
    "95": ("82", "-4", "0"), "99": ("22", "+14", "0"),
    "71": ("28", "+12", "+8"), "73": ("66", "-4", "0"), "77": ("44", "-6", "0"),
    "79": ("24", "-10", "0"),
    "11": ("88", "+14", "0"), "13": ("86", "-10", "0"), "17": ("62", "+10", "0"),
    "15": ("48", "+6", "+6"),
    "51": ("64", "-4", "0"), "31": ("68", "-10", "-10"), "37": ("84", "-8", "-8"),
}  # fmt: skip
PRINTED_JSON = {
    "left": [9, 7, 1, 5, 3],
    "top": [1, 3, 7, 5, 9],
    "grid": {at: [plug, "+-".index(full[0])] for at, (plug, full, _) in PRINTED.items()},
    "hands": [[], []],
}

play = partial(playing.play, RULES)
legal = partial(playing.legal, RULES)
refused = partial(playing.refused, RULES)


def options(*flags):
    return RULES.read_options(flags)


def start(*flags, seed=0):
    chosen = options(*flags)
    return RULES.start(chosen, 2, RULES.draw(chosen, 2, RandomChance(random.Random(seed))))


def dealt():
    return RULES.start(options(), 2, SETUP)


def position(form):
    """Return the position of a JSON form."""
    grid = grid_bytes((section, plug, seat) for section, (plug, seat) in form["grid"].items())
    hands = form.get("hands") or [form["pool"]]
    sets = tuple(sum(1 << PLUG[plug] for plug in hand) for hand in hands)
    return PowerdrainPosition(tuple(form["left"]), tuple(form["top"]), grid, sets)


def printed():
    return position(PRINTED_JSON)


def random_game(flags, seed):
    """Return the positions of a game played at random, from the start to its end."""
    rng = random.Random(f"{seed} {flags}")
    return [at for at, _ in playing.random_game(RULES, start(*flags, seed=seed), rng)]


def positions():
    """Positions that come about by random play under any options, the last ones too."""
    return playing.positions(OPTION_SETS, 200, random_game)
