"""Pictures of boards and icons as PNG, for what shows no SVG: link previews, home screens, browser tabs.

The renderer, resvg, knows neither custom properties nor `light-dark()`, so the style of a drawing is
written out first, in its light colours. A machine without fonts draws boards without texts.
"""

import re
import struct
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Final

import resvg_py

PREVIEW_WIDTH: Final = 1200
PREVIEW_HEIGHT: Final = 630
"""The size of previews, which networks and messengers ask for."""

_MARGIN: Final = 30
_PAPER: Final = "#f3ecdf"
"""The ground of boards on paper, which goes on around them."""
_ICO_SIZE: Final = 32

_ICON_BOX: Final = 'viewBox="0 0 64 64"><rect width="64" height="64" rx="14"'
_ICON_BLEED: Final = 'viewBox="-8 -8 80 80"><rect x="-8" y="-8" width="80" height="80"'

_MEDIA: Final = "@media"
_PROPERTY: Final = re.compile(r"(--[a-z-]+)\s*:\s*([^;{}]+)")
_CALL: Final = re.compile(r"(var|light-dark|color-mix)\(")
_STYLE: Final = re.compile(r"(<style>)(.*?)(</style>)", re.DOTALL)
_BOX: Final = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
_ROOT: Final = re.compile(r"<svg\b")


@lru_cache(maxsize=64)
def preview_png(svg: str) -> bytes:
    """Return a standalone drawing as the picture of a link preview."""
    width, height = _size(svg)
    scale = min((PREVIEW_WIDTH - 2 * _MARGIN) / width, (PREVIEW_HEIGHT - 2 * _MARGIN) / height)
    shown_width, shown_height = width * scale, height * scale
    x, y = (PREVIEW_WIDTH - shown_width) / 2, (PREVIEW_HEIGHT - shown_height) / 2
    board = _ROOT.sub(
        f'<svg x="{x:.1f}" y="{y:.1f}" width="{shown_width:.1f}" height="{shown_height:.1f}"',
        with_plain_style(svg),
        count=1,
    )
    page = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{PREVIEW_WIDTH}" height="{PREVIEW_HEIGHT}">'
        f'<rect width="100%" height="100%" fill="{_PAPER}"/>{board}</svg>'
    )
    return bytes(resvg_py.svg_to_bytes(svg_string=page))


def _size(svg: str) -> tuple[float, float]:
    found = _BOX.search(svg)
    assert found is not None, "a drawing has its size in whole units"
    return float(found[1]), float(found[2])


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


@lru_cache(maxsize=8)
def icon_png(size: int, *, bleed: bool = False) -> bytes:
    """Return the icon as a square; `bleed` fills the corners, for systems that cut their own shape."""
    svg = files("services.http.web").joinpath("static", "icon.svg").read_text()
    if bleed:
        # the shape that a system cuts may leave four fifths of the width
        svg = svg.replace(_ICON_BOX, _ICON_BLEED)
    return bytes(
        resvg_py.svg_to_bytes(svg_string=svg, width=size, height=size, skip_system_fonts=True)
    )


def icon_ico() -> bytes:
    """Return the icon as a file of the kind ICO, with one PNG in it."""
    picture = icon_png(_ICO_SIZE)
    header = struct.pack("<3H", 0, 1, 1)
    entry = struct.pack("<4B2H2I", _ICO_SIZE, _ICO_SIZE, 0, 0, 1, 32, len(picture), 22)
    return header + entry + picture
