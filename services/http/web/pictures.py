"""Pictures of boards and icons as PNG, for what shows no SVG: link previews, home screens, browser tabs."""

import re
import struct
from functools import lru_cache
from importlib.resources import files
from typing import Final

import resvg_py

from services.app.pictures import PAPER, with_plain_style

PREVIEW_WIDTH: Final = 1200
PREVIEW_HEIGHT: Final = 630
"""The size of previews, which networks and messengers ask for."""

_MARGIN: Final = 30
_ICO_SIZE: Final = 32

_ICON_BOX: Final = 'viewBox="0 0 64 64"><rect width="64" height="64" rx="14"'
_ICON_BLEED: Final = 'viewBox="-8 -8 80 80"><rect x="-8" y="-8" width="80" height="80"'

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
        f'<rect width="100%" height="100%" fill="{PAPER}"/>{board}</svg>'
    )
    return bytes(resvg_py.svg_to_bytes(svg_string=page))


def _size(svg: str) -> tuple[float, float]:
    found = _BOX.search(svg)
    assert found is not None, "a drawing has its size in whole units"
    return float(found[1]), float(found[2])


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
