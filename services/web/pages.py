"""Pages as text: templates filled in, everything in them escaped."""

from collections.abc import Sequence
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from litestar import Response
from litestar.datastructures import Cookie
from litestar.response import Redirect
from markupsafe import Markup

from services.app.names import listed
from services.language.telling import offer_name
from services.language.times import instant, span
from services.web.assets import url_of
from services.web.visitors import FIELD, Visitor, guest_cookie

HTML: Final = "text/html"

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    ),
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
"""Of every page: no script, style or picture is another's or inline, and none shows us in a frame."""

_ENVIRONMENT: Final = Environment(
    loader=PackageLoader("services.web"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)
_ENVIRONMENT.globals["asset"] = url_of


def sentence(text: str) -> str:
    """Write what a refusal or an outcome says as a sentence; a move it begins with stays as it is.

    A command that it ends with is left out, because a page has no place to write one.
    """
    text = text.partition("; `")[0]
    first = text.partition(" ")[0].rstrip(",:")
    told = text[:1].upper() + text[1:] if first.isalpha() else text
    return told if told.endswith((".", "!", "?")) or not told else f"{told}."


_ENVIRONMENT.filters["sentence"] = sentence
_ENVIRONMENT.filters["instant"] = instant
_ENVIRONMENT.filters["span"] = span
_ENVIRONMENT.filters["listed"] = listed
_ENVIRONMENT.filters["offered"] = offer_name


def page(template: str, visitor: Visitor, *, status: int = 200, **shown: Any) -> Response[str]:
    """Fill a template in; who has no cookie yet gets one, so that forms can be shown to be ours."""
    proof = Markup('<input type="hidden" name="{}" value="{}">').format(FIELD, visitor.proof)
    text = _ENVIRONMENT.get_template(template).render(visitor=visitor, csrf=lambda: proof, **shown)
    cookies = [guest_cookie(visitor)] if visitor.guest else []
    return Response(
        text,
        status_code=status,
        headers={"Cache-Control": "private, no-cache", "Vary": "Cookie"},
        media_type=HTML,
        cookies=cookies,
    )


def go(path: str, cookies: Sequence[Cookie] = ()) -> Redirect:
    """Send the browser on to a page of ours, after a form."""
    return Redirect(path, status_code=303, cookies=list(cookies))


def own_path(path: str) -> str:
    """Return where to go after a login: a page of ours, whatever was asked for."""
    # a browser reads `//host` and `/\host` as another site
    ours = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if ours else "/"


def secured(response: Response[Any]) -> Response[Any]:
    """Add to an answer what every page says to the browser."""
    response.headers.update(HEADERS)
    return response
