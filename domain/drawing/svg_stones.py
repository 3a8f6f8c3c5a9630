"""The games on the Power of Two board in SVG: which piece is which, and what is counted."""

from typing import Final

from domain.boards.pow2_board import LINES, NAMES
from domain.boards.pow2_svg import picture, players, stone
from domain.drawing.svg.painter import BoardInput, Picture
from domain.rules.defaults import counted

_PLACING: Final = {"o": stone("light", 0, "a stone")}

# --- games of two


# --- puzzles


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
