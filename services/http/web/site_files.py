"""Files that browsers and search engines look for by name: icons, the manifest, robots.txt.

Pictures of boards and icons as PNG, for what shows no SVG: link previews, home screens, browser tabs.
"""

import re
import struct
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from litestar import MediaType, Response

from services.app.pictures import PAPER, png, with_plain_style
from services.http.web.assets import REVALIDATE, AnyRequest, sent_asset
from services.http.web.declared import Pages
from services.http.web.params import ContextDependency

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
    return png(page)


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
    return png(svg, width=size, height=size, skip_system_fonts=True)


def icon_ico() -> bytes:
    """Return the icon as a file of the kind ICO, with one PNG in it."""
    picture = icon_png(_ICO_SIZE)
    header = struct.pack("<3H", 0, 1, 1)
    entry = struct.pack("<4B2H2I", _ICO_SIZE, _ICO_SIZE, 0, 0, 1, 32, len(picture), 22)
    return header + entry + picture


pages = Pages()

_FOR_A_DAY: Final = {"Cache-Control": "public, max-age=86400"}
_FOR_AN_HOUR: Final = {"Cache-Control": "public, max-age=3600"}

_TOUCH_SIZE: Final = 180
_SIZES: Final = (192, 512)

_MANIFEST: Final = {
    "id": "/",
    "description": "Abstract board games by correspondence",
    "start_url": "/",
    "scope": "/",
    "display": "standalone",
    "background_color": "#faf7f1",
    "theme_color": "#faf7f1",
    "icons": [
        {
            "src": f"/icon-{size}.png",
            "sizes": f"{size}x{size}",
            "type": "image/png",
            "purpose": purpose,
        }
        for size in _SIZES
        for purpose in ("any", "maskable")
    ],
}

_ROBOTS: Final = """\
User-agent: *
Disallow: /account
Disallow: /api/
Disallow: /login
Disallow: /signup
Disallow: /password
Disallow: /unsubscribe
Disallow: /stream
Disallow: /new
Disallow: /m/*/check
Disallow: /m/*/compare
Disallow: /m/*/if
Disallow: /games/*/try
"""
"""Pages of one person, and those that lead on without end."""


def _png(data: bytes, kind: str = "image/png") -> Response[Any]:
    return Response(data, media_type=kind, headers=_FOR_A_DAY)


@pages.get("/favicon.ico", for_guests=True)
def show_favicon() -> Response[Any]:
    """Return the icon for tabs and bookmarks of browsers that take no SVG."""
    return _png(icon_ico(), "image/x-icon")


@pages.get("/apple-touch-icon.png", for_guests=True)
def show_touch_icon() -> Response[Any]:
    """Return the icon for home screens that cut off its corners."""
    return _png(icon_png(_TOUCH_SIZE, bleed=True))


@pages.get("/icon-192.png", for_guests=True)
def show_small_icon() -> Response[Any]:
    """Return the icon of the installed pages."""
    return _png(icon_png(_SIZES[0], bleed=True))


@pages.get("/icon-512.png", for_guests=True)
def show_large_icon() -> Response[Any]:
    """Return the icon of the installed pages, for their start."""
    return _png(icon_png(_SIZES[1], bleed=True))


@pages.get("/manifest.webmanifest", for_guests=True)
def show_manifest(context: ContextDependency) -> Response[Any]:
    """Return the manifest, by which a phone puts the pages on its home screen."""
    name = context.app.mastheads.recent().name
    named = {**_MANIFEST, "name": name, "short_name": name}
    return Response(named, media_type="application/manifest+json", headers=_FOR_AN_HOUR)


@pages.get("/robots.txt", in_thread=False, for_guests=True)
def show_robots() -> Response[Any]:
    """Return the pages that search engines should leave alone."""
    return Response(_ROBOTS, media_type=MediaType.TEXT, headers=_FOR_A_DAY)


@pages.get("/sw.js", in_thread=False, for_guests=True)
def show_service_worker(request: AnyRequest) -> Response[bytes]:
    """Return the service worker; at the root, because it serves all pages."""
    return sent_asset(request, "sw.js", REVALIDATE)
