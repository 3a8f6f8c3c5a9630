"""Health, the meaning of codes, and the documentation of the API."""

from collections.abc import Callable
from typing import Annotated

import msgspec
from litestar import Response
from litestar.params import PathParameter

from domain.errors import Code, Refusal
from services import __version__
from services.app.error_codes import CODE_INFO
from services.http.api.auth import AnyRequest, Context
from services.http.api.bodies import JSON
from services.http.api.declared import ANYBODY, ApiRoutes, refuses, tagged
from services.http.api.openapi.document import Document, make_document, make_page
from services.http.api.values import ErrorCode
from services.http.etag import ETag

api = ApiRoutes("the server")


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

    code: ErrorCode
    status: int
    """The HTTP status of answers with this code."""
    meaning: str


@api.get("/api/errors/{code:str}", "What a code means", ANYBODY, for_guests=True, tagged=True)
@refuses(Code.NOT_FOUND)
async def show_error(
    request: AnyRequest,
    code: Annotated[
        str, PathParameter(max_length=40, description="the `code` of a problem document")
    ],
) -> Response[CodeMeaning]:
    """Return the meaning of an error code."""
    if code not in set(Code):
        raise Refusal(Code.NOT_FOUND, f"there is no code {code[:24]!r}")
    known = CODE_INFO[Code(code)]
    return tagged(request, CodeMeaning(code, known.status, known.meaning))


@api.get("/healthz", "Whether this process answers", ANYBODY, apart=True)
async def health(context: Context) -> Health:
    """Answer 200 as long as the process works, whatever state the database is in.

    So a supervisor restarts no process that only waits for the database.
    """
    # without a thread, because a busy pool of threads is no reason to restart the server
    return Health("ok", __version__, await context.health.waiting())


@api.get("/readyz", "Whether a move can be kept now", ANYBODY, apart=True)
async def readiness(context: Context) -> Readiness:
    """Check that an accepted move would be durable now; 503 with the reason if not.

    The database has to be a primary with durable settings and free memory, a write has to have been synced
    within half a minute, and a command worker has to have the seeds of each shard.
    """
    found = await context.health.readiness()
    if found.fault:
        raise Refusal(Code.UNAVAILABLE, found.fault)
    return Readiness("ready", __version__, list(found.notes))


@api.get(
    "/api/openapi.json", "The OpenAPI document", ANYBODY, for_guests=True, include_in_schema=False
)
def openapi(request: AnyRequest) -> Response[bytes]:
    """Return the OpenAPI document."""
    return _cached(request, "openapi", JSON, lambda: msgspec.json.encode(_document(request)))


@api.get("/api", "The documentation of the API", ANYBODY, for_guests=True, include_in_schema=False)
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
    content: bytes = request.app.state[name]
    return ETag(name, content).answer(request, lambda: content, media_type)
