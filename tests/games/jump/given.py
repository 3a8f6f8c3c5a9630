"""Get a Jump On as its tests play it."""

import json
from functools import partial
from pathlib import Path

from domain.games.jump.rules import NOBODY, JumpPosition
from domain.rules import latest_rules
from tests.games import playing
from tests.games.puzzles import random_match
from tests.games.puzzles import start as started

RULES = latest_rules("jump")
LARGE = (
    "-solitaire=a1,a7,a9,b4,c3,c6,c9,d2,d10,e1,e5,e11,f3,f8,g4,g9,h6,h11,i1,i5,i13,j4,j10,k6,"
    "k9,l4,m5,m13"
)
SMALL = "-solitaire=c3,d4,e5,e9,g4"
FAMILIES = [(), (LARGE,), (SMALL,)]
BEST = Path(__file__).parents[1] / "puzzles-best.json"
WHOLE = next(
    best["moves"].split() for best in json.loads(BEST.read_text()) if best["rules"] == "jump/1"
)
"""All 32 stones, then part two down to one."""

play = partial(playing.play, RULES)
legal = partial(playing.legal, RULES)
refused = partial(playing.refused, RULES)
board = partial(playing.board, RULES)


def start(*flags):
    return started("jump", *flags)


def position(board, plies=0, flags=(), *, done=False):
    jumper, others = playing.sets(board, "Oo")
    place = jumper.bit_length() - 1 if jumper else NOBODY
    solitaire = len(RULES.read_options(flags).solitaire)
    return JumpPosition(jumper | others, place, plies, solitaire, done)


def split(at):
    """Return the stones and the jumper as the reference has them."""
    shown = board(at)
    return set(shown), next((name for name, letter in shown.items() if letter == "O"), None)


def positions():
    """Positions that come about by random play, in both parts, and how they began."""

    def match(flags, seed):
        return [at for at, _ in random_match("jump", flags, seed)]

    return playing.positions(FAMILIES, 80, match)
