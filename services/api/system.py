"""How the server is, what its codes mean, and the page that shows the API."""

import html
from collections.abc import Mapping
from typing import Any

import msgspec
from litestar import Request, Response, get
from prometheus_client import generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from domain.errors import Code, Refusal
from services import __version__
from services.api.callers import APART
from services.api.edge import REGISTRY
from services.api.hand import Hand
from services.problems import PROBLEMS

AnyRequest = Request[Any, Any, Any]


class Health(msgspec.Struct, frozen=True):
    """Whether the server works."""

    status: str
    version: str
    waiting: int
    """Commands in all inboxes."""


class CodeMeaning(msgspec.Struct, frozen=True):
    """A stable code."""

    code: str
    status: int
    meaning: str


@get(
    "/healthz",
    sync_to_thread=True,
    opt=APART,
    tags=["the server"],
    summary="Whether the server works",
)
def health(hand: Hand) -> Health:
    """Ask the server of the matches; 503 when it does not answer."""
    store = hand.parts.store
    return Health("ok", __version__, store.depth(range(store.shape().shards)))


@get("/metrics", sync_to_thread=True, opt=APART, include_in_schema=False)
def metrics() -> Response[bytes]:
    """Give what Prometheus collects."""
    return Response(generate_latest(REGISTRY), media_type=CONTENT_TYPE_LATEST)


@get(
    "/api/errors/{code:str}",
    sync_to_thread=False,
    tags=["the server"],
    summary="What a code means",
)
def show_error(code: str) -> CodeMeaning:
    """Explain a stable code, as problem documents name it."""
    if code not in set(Code):
        raise Refusal(Code.NOT_FOUND, f"there is no code {code[:24]!r}")
    known = PROBLEMS[Code(code)]
    return CodeMeaning(code, known.status, known.meaning)


@get("/api/openapi.json", sync_to_thread=False, include_in_schema=False)
def openapi(request: AnyRequest) -> Response[Any]:
    """Give the OpenAPI document."""
    return Response(request.app.openapi_schema.to_schema(), media_type="application/json")


@get("/api", sync_to_thread=False, include_in_schema=False)
def show_api(request: AnyRequest) -> Response[str]:
    """Show the OpenAPI document as a page."""
    return Response(_page(request.app.openapi_schema.to_schema()), media_type="text/html")


def _page(document: Mapping[str, Any]) -> str:
    """Give the document as HTML without scripts."""
    rows = [
        _operation(method, path, operation)
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method in ("get", "post", "put", "patch", "delete")
    ]
    return (
        "<!doctype html><html lang=en><meta charset=utf-8>"
        "<meta name=viewport content='width=device-width'><title>matchpost API</title>"
        "<style>body{font:16px/1.5 system-ui;max-width:60rem;margin:2rem auto;padding:0 1rem}"
        "code{font-size:.95em}dt{margin-top:1rem;font-weight:600}.m{display:inline-block;"
        "min-width:4rem;text-transform:uppercase}</style>"
        f"<h1>matchpost API {html.escape(__version__)}</h1>"
        "<p>The document itself: <a href=/api/openapi.json><code>/api/openapi.json</code></a>. "
        "Send a token as <code>Authorization: Bearer mp_...</code>; "
        "<code>POST /api/tokens</code> makes one.</p>"
        f"<dl>{''.join(rows)}</dl></html>"
    )


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> str:
    parameters = "".join(
        f"<li><code>{html.escape(one['name'])}</code> ({html.escape(one['in'])}"
        f"{', required' if one.get('required') else ''}) "
        f"{html.escape(one.get('description') or '')}</li>"
        for one in operation.get("parameters", ())
    )
    text = operation.get("description") or operation.get("summary") or ""
    return (
        f"<dt><code class=m>{html.escape(method)}</code><code>{html.escape(path)}</code></dt>"
        f"<dd>{html.escape(text)}<ul>{parameters}</ul></dd>"
    )
