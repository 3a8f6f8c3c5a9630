"""The line puzzles as text and in SVG."""

from collections.abc import Mapping
from typing import Any, Final

from domain.boards.line_puzzle import SAY
from domain.boards.pieces import player_captions, stone_kind
from domain.boards.pow2_board import LINES, NAMES
from domain.boards.pow2_svg import board_picture, puzzle_line_figure
from domain.boards.pow2_text import board_below
from domain.game.painter import BoardInput, Picture
from domain.game.text import TextInput

_KINDS: Final = {"o": stone_kind("light", 0, SAY("set-stone"))}


def stones_by_line(position: Mapping[str, Any]) -> list[int]:
    """Return the number of stones on each line, from a position's JSON form."""
    stones = position["board"]
    return [sum(NAMES[at] in stones for at in line) for line in LINES]


def draw_lines(view: TextInput, wanted: int, word: str, *, more: bool = False) -> str:
    """Draw the board below a line that counts the stones, the lines that count, and the best so far.

    With `more` it counts the lines with too many stones, too.
    """
    on_lines, best = stones_by_line(view.position), view.position["best"]
    lines = f"Lines with exactly {word}: {on_lines.count(wanted)}"
    if more:
        lines += f" with more: {sum(on > wanted for on in on_lines)}"
    reached = f"Best: {best['lines']} by {best['stones']}"
    return board_below(f"Stones set: {len(view.position['board'])} {lines} {reached}", view)


def paint_lines(view: BoardInput, wanted: int) -> Picture:
    """Draw a position, and mark the lines that count and the lines with too many stones."""
    stones, best = view.position["board"], view.position["best"]
    marks = {
        at: "full" if on == wanted else "over"
        for at, on in enumerate(stones_by_line(view.position))
        if on >= wanted
    }
    lines = [*marks.values()]
    counts = SAY(
        "set-counts",
        stones=len(stones),
        full=lines.count("full"),
        wanted=wanted,
        over=lines.count("over"),
        lines=best["lines"],
        fewest=best["stones"],
    )
    return board_picture(view, _KINDS, player_captions(view, _KINDS, "o", [counts]), None, marks)


FIGURES: Final = {kind: puzzle_line_figure(kind) for kind in ("full", "over")}
"""A line that counts, and one with too many stones."""
