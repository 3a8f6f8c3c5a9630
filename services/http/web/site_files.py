"""Files that browsers and search engines look for by name: icons, the manifest, robots.txt."""

from typing import Any, Final

from litestar import MediaType, Response

from services.http.web.assets import ASSETS
from services.http.web.declared import Pages
from services.http.web.pictures import icon_ico, icon_png

pages = Pages()

_FOR_A_DAY: Final = {"Cache-Control": "public, max-age=86400"}

_TOUCH_SIZE: Final = 180
_SIZES: Final = (192, 512)

_MANIFEST: Final = {
    "id": "/",
    "name": "matchpost",
    "short_name": "matchpost",
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


@pages.get("/favicon.ico")
def show_favicon() -> Response[Any]:
    """Return the icon for tabs and bookmarks of browsers that take no SVG."""
    return _png(icon_ico(), "image/x-icon")


@pages.get("/apple-touch-icon.png")
def show_touch_icon() -> Response[Any]:
    """Return the icon for home screens that cut off its corners."""
    return _png(icon_png(_TOUCH_SIZE, bleed=True))


@pages.get("/icon-192.png")
def show_small_icon() -> Response[Any]:
    """Return the icon of the installed pages."""
    return _png(icon_png(_SIZES[0], bleed=True))


@pages.get("/icon-512.png")
def show_large_icon() -> Response[Any]:
    """Return the icon of the installed pages, for their start."""
    return _png(icon_png(_SIZES[1], bleed=True))


@pages.get("/manifest.webmanifest", in_thread=False)
def show_manifest() -> Response[Any]:
    """Return the manifest, by which a phone puts the pages on its home screen."""
    return Response(_MANIFEST, media_type="application/manifest+json", headers=_FOR_A_DAY)


@pages.get("/robots.txt", in_thread=False)
def show_robots() -> Response[Any]:
    """Return the pages that search engines should leave alone."""
    return Response(_ROBOTS, media_type=MediaType.TEXT, headers=_FOR_A_DAY)


@pages.get("/sw.js", in_thread=False)
def show_service_worker() -> Response[Any]:
    """Return the service worker, which shows notifications; at the root, because it serves all pages."""
    headers = {"Cache-Control": "no-cache"}
    return Response(ASSETS["sw.js"].data, media_type="text/javascript", headers=headers)
