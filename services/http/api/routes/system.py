"""Health, the meaning of codes, and the documentation of the API."""

from collections.abc import Callable
from typing import Annotated, Any

import msgspec
from litestar import Request, Response, get
from litestar.di import NamedDependency
from litestar.params import PathParameter

from domain.errors import Code, Refusal
from services import __version__
from services.app.error_codes import CODE_INFO
from services.http.api.bodies import JSON
from services.http.api.declared_errors import OPERATOR_ROUTE, declare_errors
from services.http.api.etags import ETag
from services.http.api.openapi.docs_page import make_page
from services.http.api.openapi.document import Document, make_document
from services.http.context import ApiContext

AnyRequest = Request[Any, Any, Any]


class Health(msgspec.Struct, frozen=True):
    """The state of the server."""

    status: str
    """Always `ok`: this process answers. `/readyz` says whether a move can be kept."""
    version: str
    waiting: int
    """The number of commands that wait in all inboxes; the last known while the database is away."""


class Readiness(msgspec.Struct, frozen=True):
    """The server can take moves."""

    status: str
    """Always `ready`: a server that can't take moves answers 503."""
    version: str
    notes: list[str]
    """Sentences about faults that keep no move from being kept; normally none."""


class CodeMeaning(msgspec.Struct, frozen=True):
    """A stable error code."""

    code: str
    status: int
    """The HTTP status of answers with this code."""
    meaning: str


@get(
    "/healthz",
    opt=OPERATOR_ROUTE,
    tags=["the server"],
    summary="Whether this process answers",
)
async def health(context: NamedDependency[ApiContext]) -> Health:
    """Answer 200 as long as the process works, whatever state the database is in.

    So a supervisor restarts no process that only waits for the database.
    """
    # without a thread, because a busy pool of threads is no reason to restart the server
    return Health("ok", __version__, await context.health.waiting())


@get(
    "/readyz",
    opt=OPERATOR_ROUTE,
    tags=["the server"],
    summary="Whether a move can be kept now",
)
async def readiness(context: NamedDependency[ApiContext]) -> Readiness:
    """Check that an accepted move would be durable now; 503 with the reason if not.

    The database has to be a primary with durable settings and free memory, a write has to have been synced
    within half a minute, and a command worker has to have the seeds of each shard.
    """
    if fault := await context.health.fault():
        raise Refusal(Code.UNAVAILABLE, fault)
    return Readiness("ready", __version__, await context.health.notes())


@get(
    "/api/errors/{code:str}",
    sync_to_thread=False,
    tags=["the server"],
    opt=declare_errors(Code.NOT_FOUND),
    summary="What a code means",
)
def show_error(
    code: Annotated[
        str, PathParameter(max_length=40, description="the `code` of a problem document")
    ],
) -> CodeMeaning:
    """Return the meaning of an error code."""
    if code not in set(Code):
        raise Refusal(Code.NOT_FOUND, f"there is no code {code[:24]!r}")
    known = CODE_INFO[Code(code)]
    return CodeMeaning(code, known.status, known.meaning)


@get("/api/openapi.json", sync_to_thread=True, include_in_schema=False)
def openapi(request: AnyRequest) -> Response[bytes]:
    """Return the OpenAPI document."""
    return _cached(request, "openapi", JSON, lambda: msgspec.json.encode(_document(request)))


@get("/api", sync_to_thread=True, include_in_schema=False)
def show_api(request: AnyRequest) -> Response[bytes]:
    """Return the OpenAPI document as a page."""
    return _cached(request, "page", "text/html", lambda: make_page(_document(request)).encode())


def _document(request: AnyRequest) -> Document:
    if "document" not in request.app.state:
        request.app.state.document = make_document(request.app)
    found: Document = request.app.state.document
    return found


def _cached(
    request: AnyRequest, name: str, media_type: str, make: Callable[[], bytes]
) -> Response[bytes]:
    """Return content that is made once, on first use, and does not change."""
    if name not in request.app.state:
        request.app.state[name] = make()
    content = request.app.state[name]
    tag = ETag(name, content)
    if tag.is_current(request):
        return tag.not_modified()
    return Response(content, media_type=media_type, headers=tag.headers)
