"""The games on the Power of Two board in SVG: which piece is which, and what is counted."""

from typing import Final

from domain.boards.pow2_board import LINES, NAMES
from domain.boards.pow2_svg import picture, players, stone
from domain.drawing.svg.painter import BoardInput, Picture
from domain.rules.defaults import counted

_DUO: Final = {"o": stone("light", 0, "light"), "x": stone("dark", 0, "dark")}
_PLACING: Final = {"o": stone("light", 0, "a stone")}

# --- games of two


# --- puzzles


def paint_duo(view: BoardInput) -> Picture:
    """Draw a position of duo; beside the name stands the stone that is placed next."""
    letters = [*view.position["board"].values()]
    light, dark, colour = letters.count("o"), letters.count("x"), view.position["colour"]
    counts = f"{counted(light + dark, 'stone')}, {light} light and {dark} dark"
    counts += f"; {colour} is next" if colour else ""
    return picture(view, _DUO, players(_DUO, "x" if colour == "dark" else "o", [counts]))


def _paint_placing(view: BoardInput, wanted: int, said: str) -> Picture:
    """Draw a puzzle of lines, those that count and those with too many stones marked as such."""
    stones, best = view.position["board"], view.position["best"]
    numbers = [sum(NAMES[at] in stones for at in line) for line in LINES]
    marks = {
        at: "full" if on == wanted else "over" for at, on in enumerate(numbers) if on >= wanted
    }
    lines = [*marks.values()]
    counts = (
        f"{counted(len(stones), 'stone')}, {lines.count('full')} lines with {said}, "
        f"{lines.count('over')} with more; best {best['lines']} by {best['stones']}"
    )
    return picture(view, _PLACING, players(_PLACING, "o", [counts]), None, marks)


def paint_one(view: BoardInput) -> Picture:
    """Draw a position of one."""
    return _paint_placing(view, 1, "one")


def paint_two(view: BoardInput) -> Picture:
    """Draw a position of two."""
    return _paint_placing(view, 2, "two")
