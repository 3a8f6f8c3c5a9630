"""The page that checks receipts, proofs and match documents in the browser: one file, without a request.

Its script, its style and its text are in the folder `verify`, and are joined here. The policy names both by
their hashes and forbids all connections, so that the page can send nothing anywhere. The same policy is in
the page, because a saved copy has no headers.
"""

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from typing import Final

from litestar import Response, get

_SCRIPTS: Final = (
    "bytes.js",
    "sha256.js",
    "merkle.js",
    "note.js",
    "msgpack.js",
    "leaves.js",
    "report.js",
    "form.js",
    "document.js",
    "draw.js",
    "together.js",
    "files.js",
    "view.js",
)
"""The parts of the script, in their order."""

_FOLDER: Final = files("services.http.web").joinpath("verify")


def _read(name: str) -> str:
    return _FOLDER.joinpath(name).read_text("utf-8")


def _source(text: str) -> str:
    """Return the source of a policy that allows just this text."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


_SCRIPT: Final = "\n" + "\n".join(map(_read, _SCRIPTS))
_STYLE: Final = "\n" + _read("style.css")

_POLICY: Final = (
    f"default-src 'none'; script-src {_source(_SCRIPT)}; style-src {_source(_STYLE)}; "
    "base-uri 'none'; form-action 'none'"
)

PAGE: Final = (
    _read("page.html")
    .replace("{{ policy }}", _POLICY)
    .replace("{{ style }}", _STYLE)
    .replace("{{ script }}", _SCRIPT)
)
"""The whole page."""

_HEADERS: Final = {
    "Content-Security-Policy": f"{_POLICY}; frame-ancestors 'none'",
    "Cache-Control": "no-cache",
}


@get("/verify", sync_to_thread=False)
def show_verify_page() -> Response[str]:
    """Return the page; it is the same for everybody."""
    return Response(PAGE, media_type="text/html", headers=_HEADERS)
