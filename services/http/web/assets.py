"""Static files of the pages: read once, and cached for a year under an address with their version."""

import re
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final

import msgspec
from litestar import Request, Response
from litestar.params import FromPath
from markupsafe import Markup

from domain.drawing import PAGE_STYLE
from domain.errors import Code, Refusal
from infra.languages.catalogues import script_words, translated
from services.app.sentences import SAY
from services.http.compression import Encoding, accepted_encoding, compress_well
from services.http.web.declared import Pages
from services.http.web.joined_scripts import ALONE, PAGES, join_scripts

pages = Pages()

AnyRequest = Request[Any, Any, Any]

_TYPES: Final = {
    "css": "text/css",
    "js": "text/javascript",
    "svg": "image/svg+xml",
}
FILE_TYPES: Final = frozenset(_TYPES.values())
"""The media types of static files."""

_FOREVER: Final = "public, max-age=31536000, immutable"
_REVALIDATE: Final = "no-cache"

_COMMENT: Final = re.compile(r"/\*.*?\*/", re.DOTALL)


class Asset(msgspec.Struct, frozen=True):
    """A static file."""

    data: bytes
    kind: str
    """Its media type."""


_STYLES: Final = (
    "tokens",
    "page",
    "forms",
    "lists",
    "home",
    "charts",
    "challenges",
    "puzzles",
    "board",
    "match",
    "chat",
    "choosing",
    "replay",
    "tree",
    "case",
    "account",
    "embed",
    "print",
)
"""The style sheets that pages get as one file, in this order."""
_STYLES_OF_SOME: Final = ("games", "newmatch")
"""Style sheets that only some pages link to, so that the page of a match stays light."""

_DOT: Final = b'<circle cx="76%" cy="24%" r="24%" fill="#fff"/><circle cx="76%" cy="24%" r="19%" fill="#d9480f"/>'
"""Drawn into the icon while matches wait for the visitor."""


def _read_assets() -> dict[str, Asset]:
    static = files("services.http.web").joinpath("static")
    found = {path.name: path.read_bytes() for path in static.iterdir() if path.is_file()}
    scripts = {name: data.decode() for name, data in found.items() if name.endswith(".js")}
    found |= {name: text.encode() for name, text in join_scripts(scripts).items()}
    styles = [static.joinpath("styles", f"{name}.css").read_bytes() for name in _STYLES]
    # the drawings' style comes first, because the pages' own style sets the board's colours
    found["style.css"] = _slim(b"".join([PAGE_STYLE.encode(), *styles]))
    for name in _STYLES_OF_SOME:
        found[f"{name}.css"] = _slim(static.joinpath("styles", f"{name}.css").read_bytes())
    found["icon-waiting.svg"] = found["icon.svg"].replace(b"</svg>", _DOT + b"</svg>")
    for language in translated():
        found[f"words.{language}.js"] = script_words(language)
    return {name: _asset(name, data) for name, data in found.items()}


def _slim(style: bytes) -> bytes:
    """Return a style sheet without its comments and indents."""
    text = _COMMENT.sub("", style.decode())
    return "".join(f"{line.strip()}\n" for line in text.splitlines() if line.strip()).encode()


def _asset(name: str, data: bytes) -> Asset:
    return Asset(data, _TYPES[name.rpartition(".")[2]])


ASSETS: Final[Mapping[str, Asset]] = _read_assets()

VERSION: Final = sha256(b"\0".join(ASSETS[name].data for name in sorted(ASSETS))).hexdigest()[:12]
"""Hash of all files, so that scripts that import each other stay together."""


def asset_url(name: str) -> str:
    """Return the address of a static file; `KeyError` if there is no such file."""
    _ = ASSETS[name]
    return f"/static/{VERSION}/{name}"


def module_tags(name: str) -> Markup:
    """Return the element that runs a module; a browser loads and begins their joined file once."""
    if name in ALONE:
        tag = Markup('<script src="{}" type="module"></script>').format(asset_url(name))
    else:
        tag = Markup('<script src="{}" type="module" data-module="{}"></script>').format(
            asset_url(PAGES), name
        )
    return tag


@pages.get("/static/{version:str}/{name:str}", in_thread=False)
def show_asset(request: AnyRequest, version: FromPath[str], name: FromPath[str]) -> Response[bytes]:
    """Return a static file. For an outdated version, return the current file, uncached."""
    asset = ASSETS.get(name)
    if asset is None:
        raise Refusal(Code.NOT_FOUND, SAY("no-file"))
    headers = {
        "Cache-Control": _FOREVER if version == VERSION else _REVALIDATE,
        "Vary": "Accept-Encoding",
    }
    encoding = accepted_encoding(request.headers.get("accept-encoding", ""))
    if encoding is None:
        return Response(asset.data, headers=headers, media_type=asset.kind)
    headers["Content-Encoding"] = encoding
    return Response(_packed(name, encoding), headers=headers, media_type=asset.kind)


@cache
def _packed(name: str, encoding: Encoding) -> bytes:
    return compress_well(ASSETS[name].data, encoding)


def pack_assets() -> None:
    """Compress the files that pages load as most browsers want them, so that no request waits for it."""
    for name in ASSETS:
        _packed(name, "br")
