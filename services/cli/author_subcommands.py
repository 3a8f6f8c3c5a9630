"""The subcommands of `matchpost` for authors of games: their names, help texts and arguments."""

from typing import Final

from services.cli.flags import whole_number
from services.cli.player_subcommands import Subcommand

AUTHOR_SUBCOMMANDS: Final = (
    Subcommand(
        "new-game",
        "write a package of a new game that runs at once, to be changed",
        "Write a package of a game into a folder `matchpost-KEY` of the working directory: rules, drawings, help and tests. "
        "Nothing that is there is overwritten.",
        (
            ("key", {"metavar": "KEY", "help": "what players type, such as `ludo`: lower-case letters and digits"}),
            ("--title", {"default": "", "help": "the game's name for people"}),
            ("--board", {
                "choices": ("squares", "points", "hexagons"), "default": "squares",
                "help": "squares, points on which lines cross, or hexagons",
            }),
        ),
        "services.cli.authors.new",
        has_settings=False,
    ),
    Subcommand(
        "check-game",
        "say what is wrong with the rules of an installed game",
        "Play matches at random, and say in sentences which of the laws of all games an installed game breaks. Exit code 1: "
        "it breaks one; 2: it can't be loaded.",
        (
            ("key", {"metavar": "KEY", "help": "the game"}),
            ("--matches", {
                "type": whole_number, "default": 20, "metavar": "N",
                "help": "so many for each number of players and each option (default 20)",
            }),
        ),
        "services.cli.authors.check",
        has_settings=False,
    ),
    Subcommand(
        "playground",
        "a board to try an installed game on, loaded again at each change",
        "Serve a board to try a game on until Ctrl-C, on a server of its own that is removed afterwards. When a file of the "
        "game's package changes it is checked as `check-game` does, and the page is loaded again.",
        (
            ("key", {"metavar": "KEY", "help": "the game"}),
            ("--at", {
                "default": "127.0.0.1:8090", "metavar": "HOST:PORT", "help": "where (default 127.0.0.1:8090)",
            }),
        ),
        "services.cli.authors.playground",
        has_settings=False,
    ),
)  # fmt: skip
