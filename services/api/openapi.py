"""The OpenAPI document, made from the routes themselves.

What a route takes and gives is its own signature; what it refuses, and whom, it says beside that
(`answers`, `callers`). The examples are of a real exchange: `tests/golden/make_api.py` has it.
"""

import inspect
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, Final

import msgspec
from litestar import Litestar, Response
from litestar.handlers import HTTPRouteHandler
from litestar.params import ParameterKwarg
from litestar.routes import HTTPRoute

from domain.errors import Code
from services import __version__
from services.api.answers import REFUSES, TAGGED, WAITS
from services.api.bodies import JSON, TEXT
from services.api.callers import SCHEME
from services.api.events import NDJSON, SSE, Event
from services.api.problems import MEDIA_TYPE, RETRY_SECONDS, Problem
from services.api.schemas import parameter_schema, schemas
from services.app.error_codes import PROBLEMS

TAGS: Final = {
    "matches": "Starting matches, listing them, looking at them",
    "commands": "What players do in a match: carried out exactly once",
    "events": "A match's whole history, and what happens now",
    "challenges": "Matches that wait for whoever wants to play",
    "replies": "Moves laid ready, played by the server the moment their turn comes",
    "drafts": "Moves that are looked at before they are played",
    "letters": "What players write to each other",
    "accounts": "The own account",
    "tokens": "What a program shows in place of a password",
    "players": "Players, ratings, tables, finished matches",
    "games": "The games, and the best scores of the puzzles",
    "command lines": "The command language of terminal and mail",
    "the server": "How the server is, and what its codes mean",
}

_ABOUT: Final = """A correspondence match server. Each command is carried out exactly once: send it
with an `Idempotency-Key`, and send it again with that key whenever you have no answer. What is
refused is a problem document (RFC 9457) with a stable `code`. docs/api.md says more."""

_ANY_TEXT: Final = ("show_text", "show_svg", "show_help", "do_line")

_WORDS: Final = {200: "done", 201: "made", 202: "taken", 204: "done; there is no body"}

Document = dict[str, Any]


def make_document(app: Litestar) -> Document:
    """Return the document of the application's routes."""
    operations = list(_operations(app))
    kinds: list[Any] = [Problem, Event]
    for _, _, handler, _ in operations:
        kinds += [kind for kind in (_body(handler), _given(handler)) if kind is not None]
    found, named = schemas(kinds)
    known = {repr(kind): schema for kind, schema in zip(kinds, found, strict=True)}
    examples = _examples()
    paths: dict[str, Document] = defaultdict(dict)
    for path, method, handler, model in operations:
        paths[path][method] = _operation(handler, model, known, examples)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "matchpost",
            "version": __version__,
            "description": _ABOUT,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": name, "description": said} for name, said in TAGS.items()],
        "paths": paths,
        "components": {"schemas": named, "securitySchemes": {SCHEME: _security_scheme()}},
    }


def _operations(app: Litestar) -> Iterator[tuple[str, str, HTTPRouteHandler, Any]]:
    """Return path, method, handler and parameters of what is in the document."""
    for route in app.routes:
        if not isinstance(route, HTTPRoute):
            continue
        for method, (handler, model) in route.route_handler_map.items():
            if handler.resolve_include_in_schema() and REFUSES in handler.opt:
                yield route.path_format, method.lower(), handler, model


def _operation(
    handler: HTTPRouteHandler, model: Any, known: Mapping[str, Document], examples: Document
) -> Document:
    name = handler.handler_name
    example = examples.get(name, {})
    operation: Document = {
        "operationId": name,
        "tags": handler.resolve_tags(),
        "summary": handler.summary,
        "description": handler.description or _said(handler),
        "parameters": list(_parameters(handler, model, example)),
        "responses": _responses(handler, known, example),
    }
    if (body := _body(handler)) is not None:
        operation["requestBody"] = _request(JSON, known[repr(body)], example)
    elif name == "do_line":
        operation["requestBody"] = _request(TEXT, {"type": "string", "minLength": 1}, example)
    if security := handler.resolve_security():
        operation["security"] = security
    else:
        operation["security"] = []
    return operation


def _said(handler: HTTPRouteHandler) -> str:
    """Return what the function of a route says of itself."""
    # one that is called in a thread is wrapped
    return inspect.getdoc(getattr(handler.fn, "func", handler.fn)) or ""


def _request(media_type: str, schema: Document, example: Document) -> Document:
    content: Document = {"schema": schema}
    if "request" in example:
        content["example"] = example["request"]
    return {"required": True, "content": {media_type: content}}


# parameters


def _parameters(handler: HTTPRouteHandler, model: Any, example: Document) -> Iterator[Document]:
    for place, definitions in (
        ("path", model.expected_path_params),
        ("query", model.expected_query_params),
        ("header", model.expected_header_params),
    ):
        order = list(handler.parsed_fn_signature.parameters)
        for one in sorted(definitions, key=lambda one: order.index(one.field_name)):
            yield _parameter(handler, one, place, example)


def _parameter(handler: HTTPRouteHandler, one: Any, place: str, example: Document) -> Document:
    field = handler.parsed_fn_signature.parameters[one.field_name]
    about = field.kwarg_definition if isinstance(field.kwarg_definition, ParameterKwarg) else None
    parameter: Document = {
        "name": one.field_alias,
        "in": place,
        "required": place == "path",
        "schema": parameter_schema(field.annotation, about, one.default),
    }
    if about and about.description:
        parameter["description"] = about.description
    if one.field_alias in example.get("parameters", {}):
        parameter["example"] = example["parameters"][one.field_alias]
    return parameter


def _body(handler: HTTPRouteHandler) -> Any:
    """Return the type of the body; None where there is none, or plain text."""
    field = handler.parsed_fn_signature.parameters.get("data")
    return field.annotation if field else None


# responses


def _responses(
    handler: HTTPRouteHandler, known: Mapping[str, Document], example: Document
) -> Document:
    status = handler.status_code
    responses: Document = {str(status): _success(handler, status, known, example)}
    if handler.opt[WAITS]:
        responses["202"] = _pending()
    if handler.opt[TAGGED]:
        responses["304"] = {"description": "what you have is what there is"}
    if handler.handler_name == "show_events":
        responses["204"] = {"description": "the match is over, and nothing more will come"}
    for each, codes in _by_status(codes_of(handler)).items():
        responses[str(each)] = _refusal(codes)
    if handler.handler_name in ("do_line", "show_help"):
        _tell_in_text(responses)
    return dict(sorted(responses.items()))


def _success(
    handler: HTTPRouteHandler, status: int, known: Mapping[str, Document], example: Document
) -> Document:
    told: Document = {"description": _WORDS[status]}
    given = _given(handler)
    if handler.opt[TAGGED]:
        told["headers"] = {"ETag": {"schema": {"type": "string"}}}
    if handler.handler_name == "show_events":
        told["content"] = _event_contents(known, example)
    elif handler.handler_name == "follow_account":
        told["content"] = {SSE: _text(example)}
    elif handler.handler_name in _ANY_TEXT:
        told["content"] = {str(handler.media_type): _text(example)}
    elif given is not None:
        told["content"] = {JSON: {"schema": known[repr(given)], **_shown(example)}}
    return told


def _event_contents(known: Mapping[str, Document], example: Document) -> Document:
    events: Document = {"type": "array", "items": known[repr(Event)]}
    return {
        JSON: {"schema": events, **_shown(example)},
        NDJSON: {"schema": {"type": "string"}},
        SSE: {"schema": {"type": "string"}},
    }


def _text(example: Document) -> Document:
    return {"schema": {"type": "string"}, **_shown(example)}


def _shown(example: Document) -> Document:
    return {"example": example["response"]} if "response" in example else {}


def _given(handler: HTTPRouteHandler) -> Any:
    """Return the type of what is answered as JSON; None for text, and for nothing."""
    given = handler.parsed_fn_signature.return_type.annotation
    if inspect.isclass(getattr(given, "__origin__", None)) and issubclass(
        given.__origin__, Response
    ):
        (given,) = given.__args__
    return None if given in (None, type(None), Any, str) or _is_response(given) else given


def _is_response(kind: Any) -> bool:
    return inspect.isclass(kind) and issubclass(kind, Response)


def codes_of(handler: HTTPRouteHandler) -> list[Code]:
    """Return all codes that a route may be answered with."""
    if handler.opt.get("apart"):
        return [Code.UNAVAILABLE, Code.INTERNAL]
    codes = [Code.BAD_REQUEST, Code.UNAUTHORIZED, Code.UNKNOWN_TOKEN, Code.TOO_FAST]
    codes += [Code.UNAVAILABLE, Code.DAMAGED, Code.INTERNAL, *handler.opt[REFUSES]]
    if handler.resolve_security():
        codes += [Code.MISSING_SCOPE, Code.UNKNOWN_USER]
    if ":int}" in "".join(handler.paths):
        codes.append(Code.NOT_FOUND)
    if _body(handler) is not None or handler.handler_name == "do_line":
        codes.append(Code.TOO_LONG)
    return codes


def _by_status(codes: Sequence[Code]) -> dict[int, list[Code]]:
    found: dict[int, list[Code]] = defaultdict(list)
    for code in sorted(set(codes)):
        found[PROBLEMS[code].status].append(code)
    if Code.TOO_LONG in codes:
        found[415].append(Code.BAD_REQUEST)
    return found


def _refusal(codes: Sequence[Code]) -> Document:
    told: Document = {
        "description": "; ".join(f"`{code}`: {PROBLEMS[code].meaning}" for code in codes),
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    if any(code in RETRY_SECONDS for code in codes):
        told["headers"] = {"Retry-After": _header("integer", "seconds after which to try again")}
    return told


def _pending() -> Document:
    told = _refusal([Code.PENDING])
    told["headers"]["Location"] = _header("string", "where the outcome will be")
    return told


def _header(kind: str, said: str) -> Document:
    return {"schema": {"type": kind}, "description": said}


def _tell_in_text(responses: Document) -> None:
    """Say that a command line's own refusals are text, with the code in a header."""
    for code, problem in PROBLEMS.items():
        told = responses.setdefault(str(problem.status), {"description": "", "content": {}})
        told["description"] = "; ".join(filter(None, (told["description"], f"`{code}`")))
        told["content"][TEXT] = {"schema": {"type": "string"}}
        told.setdefault("headers", {})["Matchpost-Code"] = _header("string", "the stable code")


def _security_scheme() -> Document:
    return {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "mp_...",
        "description": "A token, which `POST /api/tokens` makes. Its scopes: `read`, to see what "
        "only the player may see; `play`, to act; `account`, to change the account.",
    }


def _examples() -> Document:
    data = files("services.api").joinpath("examples.json").read_bytes()
    found: Document = msgspec.json.decode(data)
    return found
