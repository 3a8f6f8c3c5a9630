"""Static files of the pages: read once, and cached for a year under an address with their version."""

import gzip
from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final

import msgspec
from litestar import Request, Response, get
from litestar.params import FromPath

from domain.drawing import STYLE
from domain.errors import Code, Refusal

AnyRequest = Request[Any, Any, Any]

_TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
_FOREVER: Final = "public, max-age=31536000, immutable"
_REVALIDATE: Final = "no-cache"


class Asset(msgspec.Struct, frozen=True):
    """A static file."""

    data: bytes
    packed: bytes
    """The data, compressed by gzip."""
    kind: str
    """Its media type."""


def _read_assets() -> dict[str, Asset]:
    found = {}
    for path in files("services.http.web").joinpath("static").iterdir():
        data = path.read_bytes()
        if path.name == "style.css":
            # the pages' own style comes last, because it sets the board's colours
            data = STYLE.encode() + data
        kind = _TYPES[path.name.rpartition(".")[2]]
        # without a time, so that all processes have the same version
        found[path.name] = Asset(data, gzip.compress(data, mtime=0), kind)
    return found


ASSETS: Final[Mapping[str, Asset]] = _read_assets()

VERSION: Final = sha256(b"\0".join(ASSETS[name].data for name in sorted(ASSETS))).hexdigest()[:12]
"""Hash of all files, so that scripts that import each other stay together."""


def asset_url(name: str) -> str:
    """Return the address of a static file; `KeyError` if there is no such file."""
    _ = ASSETS[name]
    return f"/static/{VERSION}/{name}"


@get("/static/{version:str}/{name:str}", sync_to_thread=False)
def show_asset(request: AnyRequest, version: FromPath[str], name: FromPath[str]) -> Response[bytes]:
    """Return a static file. For an outdated version, return the current file, uncached."""
    asset = ASSETS.get(name)
    if asset is None:
        raise Refusal(Code.NOT_FOUND, "there is no such file")
    headers = {
        "Cache-Control": _FOREVER if version == VERSION else _REVALIDATE,
        "Vary": "Accept-Encoding",
    }
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(asset.data, headers=headers, media_type=asset.kind)
    headers["Content-Encoding"] = "gzip"
    return Response(asset.packed, headers=headers, media_type=asset.kind)
