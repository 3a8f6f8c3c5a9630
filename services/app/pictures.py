"""Drawings for what shows no style sheets: their style written out in its light colours, and boards as PNG.

The renderer, resvg, knows neither custom properties nor `light-dark()`. A machine without fonts draws boards
without texts.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final
from zlib import compress, decompress

MAILED_WIDTH: Final = 640
"""Pixels of the width of a picture in a mail, which is shown smaller, so that it is sharp."""

PAPER: Final = "#f3ecdf"
"""The ground of boards on paper, which goes on around them."""

_MEDIA: Final = "@media"
_PROPERTY: Final = re.compile(r"(--[a-z-]+)\s*:\s*([^;{}]+)")
_CALL: Final = re.compile(r"(var|light-dark|color-mix)\(")
_STYLE: Final = re.compile(r"(<style>)(.*?)(</style>)", re.DOTALL)


def packed_drawing(svg: str) -> bytes:
    """Return a standalone drawing compressed, for a mail that waits: a tenth of the size of its picture."""
    return compress(with_plain_style(svg).encode())


def mailed_png(drawing: bytes) -> bytes:
    """Return the picture of a packed drawing, the same each time; `ValueError` for one that is none."""
    return png(decompress(drawing).decode(), width=MAILED_WIDTH, background=PAPER)


def png(svg: str, **size_and_ground: Any) -> bytes:
    """Return an SVG with plain style as a picture, with the renderer's options; `ValueError` if it is none."""
    import resvg_py  # noqa: PLC0415 - most processes draw none

    return bytes(resvg_py.svg_to_bytes(svg_string=svg, **size_and_ground))


def with_plain_style(svg: str) -> str:
    """Return a drawing whose style has plain colours only, those of the light theme."""
    return _STYLE.sub(lambda found: found[1] + _plain(found[2]) + found[3], svg)


def _plain(style: str) -> str:
    always = _without_media(style)
    known = {name: value.strip() for name, value in _PROPERTY.findall(always)}
    return _written_out(always, known)


def _without_media(style: str) -> str:
    """Return a style sheet without the rules for some media only."""
    while (start := style.find(_MEDIA)) >= 0:
        end = _closing(style, style.index("{", start), "{", "}")
        style = style[:start] + style[end + 1 :]
    return style


def _closing(text: str, start: int, opens: str, closes: str) -> int:
    """Return the index of the bracket that closes the one at `start`."""
    depth = 0
    for index in range(start, len(text)):
        depth += (text[index] == opens) - (text[index] == closes)
        if depth == 0:
            return index
    return len(text) - 1


def _written_out(text: str, known: Mapping[str, str], depth: int = 0) -> str:
    """Return a text with each function replaced by its value in the light theme."""
    if depth > _DEEPEST:
        return "none"
    while found := _CALL.search(text):
        end = _closing(text, found.end() - 1, "(", ")")
        inner = text[found.end() : end]
        if found[1] == "var":
            value = _written_out(_of_property(inner, known), known, depth + 1)
        else:
            value = _COLOURS[found[1]](_written_out(inner, known, depth + 1))
        text = text[: found.start()] + value + text[end + 1 :]
    return text


_DEEPEST: Final = 8
"""How deep values may refer to others; deeper ones would refer to themselves."""


def _of_property(arguments: str, known: Mapping[str, str]) -> str:
    name, _, fallback = arguments.partition(",")
    return known.get(name.strip(), fallback.strip()) or "none"


def _light(colours: str) -> str:
    """Return the first of two colours, which is that of the light theme."""
    return colours.partition(",")[0].strip()


def _mixed(colours: str) -> str:
    """Return the first colour of a mixture, without its share."""
    colour = colours.partition(",")[2].strip()
    return re.split(r"\s+[\d.]+%|,", colour)[0].strip()


_COLOURS: Final[Mapping[str, Callable[[str], str]]] = {"light-dark": _light, "color-mix": _mixed}
