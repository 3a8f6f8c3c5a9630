"""Rendering of pages from templates, with automatic escaping."""

from collections.abc import Sequence
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from litestar import Response
from litestar.datastructures import Cookie
from litestar.response import Redirect
from markupsafe import Markup

from services.app.names import join_names
from services.http.web.assets import asset_url
from services.http.web.session import CSRF_FIELD, Visitor, guest_cookie
from services.language.render.dates import instant, span
from services.language.render.match_text import offer_name

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
"""Headers of every page: it loads nothing inline or from other sites, and no site may frame it."""

_ENVIRONMENT: Final = Environment(
    loader=PackageLoader("services.http.web"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)
_ENVIRONMENT.globals["asset"] = asset_url


def sentence(text: str) -> str:
    """Return the text of a refusal or an outcome as a sentence; a move at its beginning keeps its case.

    A command at its end is left out, because a page has no place to enter one.
    """
    text = text.partition("; `")[0]
    first = text.partition(" ")[0].rstrip(",:")
    found = text[:1].upper() + text[1:] if first.isalpha() else text
    return found if found.endswith((".", "!", "?")) or not found else f"{found}."


_ENVIRONMENT.filters["sentence"] = sentence
_ENVIRONMENT.filters["instant"] = instant
_ENVIRONMENT.filters["span"] = span
_ENVIRONMENT.filters["listed"] = join_names
_ENVIRONMENT.filters["offered"] = offer_name


def render(template: str, visitor: Visitor, *, status: int = 200, **shown: Any) -> Response[str]:
    """Render a template; a guest without a cookie gets one, which the CSRF check of forms needs."""
    proof = Markup('<input type="hidden" name="{}" value="{}">').format(CSRF_FIELD, visitor.proof)
    text = _ENVIRONMENT.get_template(template).render(visitor=visitor, csrf=lambda: proof, **shown)
    cookies = [guest_cookie(visitor)] if visitor.guest else []
    return Response(
        text,
        status_code=status,
        headers={"Cache-Control": "private, no-cache", "Vary": "Cookie"},
        media_type=HTML,
        cookies=cookies,
    )


def redirect_to(path: str, cookies: Sequence[Cookie] = ()) -> Redirect:
    """Redirect the browser to a page of this server, after a form."""
    return Redirect(path, status_code=303, cookies=list(cookies))


def local_path(path: str) -> str:
    """Return the path if it is on this server, otherwise the home page."""
    # a browser reads `//host` and `/\host` as another site
    local = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if local else "/"


def add_security_headers(response: Response[Any]) -> Response[Any]:
    """Add the security headers of every page; a page may have a stricter policy of its own."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    return response
