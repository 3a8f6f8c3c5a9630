"""Draw the SVG boards on file anew: `python tests/golden/make_svg.py`, after looking at them.

One position of each game, from its first recorded match, with its last move marked.
"""

from itertools import islice
from pathlib import Path

from domain.drawing import draw_svg
from domain.rules import pinned
from tests.golden.make_games import read_games, replay

GOLDEN = Path(__file__).parent
PLIES = {
    "duo": 16,
    "goliath": 20,
    "halves": 5,
    "jump": 12,
    "line": 17,
    "one": 7,
    "pow2": 16,
    "powerdrain": 11,
    "torere": 8,
    "two": 12,
}
"""How far each match is played."""
NAMES = ("alice", "bob", "carol")


def drawn(key):
    """Give the drawing of a game's position on file."""
    game = read_games(GOLDEN / f"games-{key}.json")[0]
    before, position = islice(replay(game), PLIES[key] - 1, PLIES[key] + 1)
    last = game["moves"].split()[PLIES[key] - 1]
    names = NAMES[: game["players"]]
    return draw_svg(pinned(game["rules"]), position, names, last=last, before=before) + "\n"


if __name__ == "__main__":
    for name in PLIES:
        (GOLDEN / f"{name}.svg").write_text(drawn(name))
