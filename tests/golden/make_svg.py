"""Draw the SVG boards on file again: `python -m tests.golden.make_svg`, after looking at them.

One position of each game, from its first recorded match, with its last move marked.
"""

from itertools import islice

from domain.drawing import draw_svg
from domain.rules import all_games, rules_by_id
from tests.golden.make_games import GAMES_FOLDER, read_games, record_of, replay

NAMES = ("alice", "bob", "carol")


def path_of(key):
    return GAMES_FOLDER / key / "board.svg"


def drawn(key):
    """Return the drawing of a game's position on file."""
    game, ply = read_games(key)[0], record_of(key).BOARD_PLY
    before, position = islice(replay(game), ply - 1, ply + 1)
    last = game["moves"].split()[ply - 1]
    names = NAMES[: game["players"]]
    return draw_svg(rules_by_id(game["rules"]), position, names, last=last, before=before) + "\n"


if __name__ == "__main__":
    for game in all_games():
        path_of(game.key).write_text(drawn(game.key))
