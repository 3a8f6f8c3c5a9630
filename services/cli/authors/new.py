"""`matchpost new-game`: a package of a game that runs at once, to be changed into another."""

import sys
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Final

from domain.errors import Code, Refusal
from domain.rules import all_games
from services import __version__

_BOARDS: Final = {"squares": "squares(6, 6)", "points": "points(7, 7)", "hexagons": "hexagons(7)"}
"""By the name of a board, which is a function of `domain.boards.plain`: how it is made."""

_FOLDER: Final = files("services.cli.authors").joinpath("package")
_PATHS: Final = {
    "pyproject.txt": "pyproject.toml",
    "readme.txt": "README.md",
    "init.txt": "matchpost_{key}/__init__.py",
    "rules.txt": "matchpost_{key}/rules.py",
    "help.txt": "matchpost_{key}/help.txt",
    "test.txt": "tests/test_{key}.py",
}
"""By the name of a template: the file that is made of it."""


def run(key: str, board: str, title: str = "") -> int:
    """Write the package into a folder `matchpost-KEY` of the working directory, which must not be there yet."""
    if not (key.isascii() and key.isalnum() and key.islower() and key[0].isalpha()):
        raise Refusal(
            Code.USAGE, f"{key[:24]!r} can't be a game's key: write lower-case letters and digits"
        )
    if key in {game.key for game in all_games()}:
        raise Refusal(Code.USAGE, f"there is a game {key!r} already; choose another key")
    folder = Path(f"matchpost-{key}")
    if folder.exists():
        raise Refusal(Code.USAGE, f"{folder} is there already; nothing was written")
    words = {
        "key": key,
        "title": title or key.capitalize(),
        "name": key.capitalize(),
        "board": _BOARDS[board],
        "kind": board,
        "version": __version__,
    }
    for template, path in _PATHS.items():
        target = folder / path.format(key=key)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = _FOLDER.joinpath(template).read_text("utf-8")
        target.write_text(Template(text).substitute(words), encoding="utf-8")
    sys.stdout.write(
        f"{folder} has a whole game: the first to connect five stones wins. Try it:\n\n"
        f"  pip install --no-deps --editable {folder}\n"
        f"  matchpost check-game {key}\n"
        f"  matchpost playground {key}\n\n"
        f"and then change {folder}/matchpost_{key}/rules.py into your own.\n"
    )
    return 0
