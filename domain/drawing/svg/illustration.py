"""Pictures of positions for guides and lists: the board alone, with places marked."""

import re
from collections.abc import Iterable
from typing import Any, Final

from domain.drawing.svg.document import draw_svg
from domain.game.painter import element
from domain.game.protocol import AnyRules

_PLACE: Final = '<g class="(?:place|plug)[^>]*data-(?:place|plug)="{}"[^>]*>'
"""The beginning of a place, or of a plug, as docs/adding-a-game.md promises it."""
_GROUP: Final = re.compile("<(/?)g[ >]")

_STYLE: Final = (
    "<style>.target,.chosen{stroke:var(--board-accent,#b0400c)}.around{fill:none;stroke-width:2.5}"
    ".dot{fill:var(--board-accent,#b0400c);fill-opacity:.75;stroke:none}"
    ".chosen{stroke-width:4}</style>"
)
"""The style of the marks, which only these pictures have."""

_DOT, _AROUND = 8, 19
"""The radius of the mark of an empty place, and of that around a piece."""


def illustrate(
    rules: AnyRules,
    position: Any,
    *,
    last: str = "",
    before: Any = None,
    chosen: Iterable[str] = (),
    targets: Iterable[str] = (),
) -> str:
    """Draw the board of a position as a file of its own, with chosen places and their targets marked."""
    drawn = draw_svg(rules, position, (), last=last, before=before, plates=False)
    plain = drawn
    for name in targets:
        drawn = _mark(drawn, name, "target")
    for name in chosen:
        drawn = _mark(drawn, name, "chosen")
    return drawn if drawn is plain else drawn.replace("</style>", f"</style>{_STYLE}", 1)


def _mark(drawn: str, name: str, kind: str) -> str:
    """Return a drawing with a mark on top of a place; the drawing itself if it has no such place."""
    found = re.search(_PLACE.format(re.escape(name)), drawn)
    if found is None:
        return drawn
    end = _end_of_group(drawn, found.end())
    inside = drawn[found.end() : end]
    stands = 'class="piece' in inside or "data-plug" in found[0]
    around = stands or kind == "chosen"
    shape, radius = ("around", _AROUND) if around else ("dot", _DOT)
    return f"{drawn[:end]}{element('circle', class_=f'{kind} {shape}', r=radius)}{drawn[end:]}"


def _end_of_group(drawn: str, at: int) -> int:
    """Return where the group that contains a position is closed."""
    depth = 1
    for found in _GROUP.finditer(drawn, at):
        depth += -1 if found[1] else 1
        if depth == 0:
            return found.start()
    raise ValueError("the group is not closed")
