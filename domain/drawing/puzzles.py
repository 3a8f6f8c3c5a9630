"""The puzzles as text: the Power of Two board below a line of what has been reached."""

from collections.abc import Mapping
from typing import Any, Final

from domain.boards.pow2_board import LINES, NAMES
from domain.boards.pow2_text import draw_board

_LINES: Final = tuple(tuple(NAMES[at] for at in line) for line in LINES)


def _lines_with(board: Mapping[str, str]) -> list[int]:
    """Give the number of stones on each line."""
    return [sum(name in board for name in line) for line in _LINES]


def _drawn(counts: str, position: Mapping[str, Any], display: str) -> str:
    return f"{counts}\n\n{draw_board(position['board'], display)}"


def draw_one(position: Mapping[str, Any], display: str) -> str:
    """Draw a position of one, in its JSON form."""
    numbers = _lines_with(position["board"])
    more = sum(number > 1 for number in numbers)
    stones, best = len(position["board"]), position["best"]
    counts = f"Stones set: {stones} Lines with exactly one: {numbers.count(1)} with more: {more}"
    return _drawn(f"{counts} Best: {best['lines']} by {best['stones']}", position, display)


def draw_two(position: Mapping[str, Any], display: str) -> str:
    """Draw a position of two, in its JSON form."""
    numbers = _lines_with(position["board"])
    stones, best = len(position["board"]), position["best"]
    counts = f"Stones set: {stones} Lines with exactly two: {numbers.count(2)}"
    return _drawn(f"{counts} Best: {best['lines']} by {best['stones']}", position, display)
