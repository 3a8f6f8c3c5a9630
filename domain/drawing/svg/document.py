"""Positions as SVG, for pages and for files: one painter a game, one frame around them all."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from domain.drawing.svg.elements import Markup, element, number, words
from domain.drawing.svg.nameplates import Table, described, plates, title_of
from domain.drawing.svg.painter import WIDTH, Painter, Picture, Scene
from domain.drawing.svg.style import STYLE
from domain.drawing.svg_grid import paint_powerdrain
from domain.drawing.svg_hexes import paint_halves
from domain.drawing.svg_stones import (
    paint_duo,
    paint_goliath,
    paint_jump,
    paint_line,
    paint_one,
    paint_pow2,
    paint_two,
)
from domain.drawing.svg_torere import paint_torere
from domain.rules.protocol import AnyRules, Outcome

_PAINTERS: Final[Mapping[str, Painter]] = {
    "duo": paint_duo,
    "goliath": paint_goliath,
    "halves": paint_halves,
    "jump": paint_jump,
    "line": paint_line,
    "one": paint_one,
    "pow2": paint_pow2,
    "powerdrain": paint_powerdrain,
    "torere": paint_torere,
    "two": paint_two,
}
"""The key is the game's."""


def draw_svg(
    rules: AnyRules,
    position: msgspec.Struct,
    names: Sequence[str],
    *,
    last: str = "",
    before: msgspec.Struct | None = None,
    ended: Outcome | None = None,
    standalone: bool = True,
) -> str:
    """Draw a position as an SVG document; the same arguments give the same text.

    `names` are the players' by seat, or none. `last` is the canonical text of the move that led
    here, whose places are marked; in halves only the position `before` it tells all of them.
    `ended` is how the match ended if not by its rules. A `standalone` drawing brings its style,
    any other goes into a page that has `STYLE`.
    """
    earlier = None if before is None else rules.to_json(before)
    picture = _PAINTERS[rules.key](Scene(rules.to_json(position), last, earlier))
    match = _table(rules, position, names, len(picture.players), ended)
    says = (
        element("title", words(title_of(match))),
        element("desc", words(described(match, picture, last))),
        *([element("style", Markup(STYLE))] if standalone else []),
    )
    return _document(rules.key, says, picture, plates(match, picture), standalone=standalone)


def _table(
    rules: AnyRules,
    position: msgspec.Struct,
    names: Sequence[str],
    players: int,
    ended: Outcome | None,
) -> Table:
    if names and len(names) != players:
        raise ValueError(f"{len(names)} names are given for {players} seats")
    outcome = rules.outcome(position) or ended
    turn = None if outcome else rules.to_move(position)
    return Table(rules.title, rules.sides[:players], tuple(names), turn, outcome)


def _document(
    key: str,
    says: Sequence[Markup],
    picture: Picture,
    below: tuple[Markup, float],
    *,
    standalone: bool,
) -> str:
    height = picture.height + below[1]
    return element(
        "svg",
        *says,
        element("rect", class_="paper", width=WIDTH, height=height, rx=14),
        *picture.body,
        below[0],
        xmlns="http://www.w3.org/2000/svg" if standalone else None,
        class_="board",
        viewBox=f"0 0 {WIDTH} {number(height)}",
        role="img" if standalone else "group",
        data_game=key,
    )
