"""A whole match as one animated picture: SVG without scripts, in which the boards share elements.

Each drawing is split into its outermost elements. An element that several drawings have is written
once, with the times at which it is visible.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from domain.drawing import draw_svg
from domain.drawing.svg.elements import element, escape_text
from domain.drawing.svg.painter import WIDTH
from domain.match.state import MatchState, positions
from domain.rules import rules_by_id

SECONDS_A_BOARD: Final = 1.2
"""Seconds for which each board is shown."""

_LAST_TURNS: Final = 4
"""Turns for which the last board stays."""

_SPOKEN_TAGS: Final = ("<title", "<desc")

_TAG: Final = re.compile(r"<(/?)([a-z]+)[^>]*?(/?)>")
_BOX: Final = re.compile(r'viewBox="0 0 (\d+) ([\d.]+)"')


def animate_match(state: MatchState, names: Sequence[str]) -> str:
    """Return the animated picture of a match."""
    boards = _boards(state, names)
    layers = _layers([list(_parts(board)) for board in boards])
    turns = len(boards) - 1 + _LAST_TURNS
    height = max(float(_search(_BOX, board)[2]) for board in boards)
    shown = "".join(_layer(part, seen, len(boards), turns) for part, seen in layers)
    opening = _BOX.sub(f'viewBox="0 0 {WIDTH} {height:g}"', boards[0][: boards[0].index(">") + 1])
    title = element("title", escape_text(" against ".join(names)))
    return f"{opening}{title}{shown}</svg>\n"


def _boards(state: MatchState, names: Sequence[str]) -> list[str]:
    rules, found, moves = rules_by_id(state.rules), positions(state), state.first_moves(state.ply)
    drawn = [draw_svg(rules, found[0], names)]
    for before, position, move in zip(found, found[1:], moves, strict=False):
        drawn.append(draw_svg(rules, position, names, last=move, before=before))
    return drawn


def _parts(svg: str) -> Iterator[str]:
    """Yield the children of a drawing's root element, without its title and description."""
    depth, start = 0, 0
    for tag in _TAG.finditer(svg):
        closes, empty = bool(tag[1]), bool(tag[3])
        if depth == 1 and not closes:
            start = tag.start()
        depth += -1 if closes else 0 if empty else 1
        if depth == 1 and (closes or empty) and not svg.startswith(_SPOKEN_TAGS, start):
            yield svg[start : tag.end()]


def _layers(boards: Sequence[Sequence[str]]) -> list[tuple[str, list[int]]]:
    """Return each element once, in the order of the boards, with the numbers of the boards that have it."""
    order: list[str] = []
    seen: dict[str, list[int]] = {}
    for number, parts in enumerate(boards):
        at = 0
        for part in parts:
            if part not in seen:
                order.insert(at, part)
                seen[part] = []
            at = order.index(part) + 1
            seen[part].append(number)
    return [(part, seen[part]) for part in order]


def _layer(part: str, seen: Sequence[int], boards: int, turns: int) -> str:
    if len(seen) == boards:
        return part
    times, values = _changes(seen, boards, turns)
    return (
        f'<g display="none">{part}<animate attributeName="display" dur="{turns * SECONDS_A_BOARD:g}s" '
        f'repeatCount="indefinite" calcMode="discrete" keyTimes="{";".join(times)}" '
        f'values="{";".join(values)}"/></g>'
    )


def _changes(seen: Sequence[int], boards: int, turns: int) -> tuple[list[str], list[str]]:
    """Return the key times and values for an element, as fractions of the whole time."""
    there = {*seen}
    times, values = ["0"], ["inline" if 0 in there else "none"]
    for number in range(1, boards):
        now = "inline" if number in there else "none"
        if now != values[-1]:
            times.append(f"{number / turns:.5g}")
            values.append(now)
    return times, values


def _search(pattern: re.Pattern[str], text: str) -> re.Match[str]:
    found = pattern.search(text)
    assert found is not None
    return found
