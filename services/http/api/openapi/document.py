"""The OpenAPI document, generated from the routes.

Parameters, bodies and answers come from the signature of a route; it declares its error codes and its
scope beside that (`declared_errors`, `auth`). The examples are a real exchange, which
`tests/golden/make_api.py` records.

The OpenAPI document as a page for people.
"""

import inspect
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, Final

import msgspec
from jinja2 import ChainableUndefined, Environment, PackageLoader
from litestar import Litestar, MediaType, Response
from litestar.handlers import HTTPRouteHandler
from litestar.params import ParameterKwarg
from litestar.routes import HTTPRoute
from markupsafe import Markup, escape

from domain.errors import Code
from services import __version__
from services.app.error_codes import CODE_INFO, RETRY_SECONDS
from services.http.api.auth import FORM, SCHEME, parameters_of
from services.http.api.bodies import FORM_TYPE, JSON, TEXT
from services.http.api.declared import (
    ERROR_CODES,
    HAS_ETAG,
    HAS_LOCATION,
    MAY_BE_PENDING,
    PROGRESS,
    all_error_codes,
    body_type,
)
from services.http.api.openapi.schemas import parameter_schema, schemas
from services.http.api.problem_details import MEDIA_TYPE, OAuthError, Problem
from services.http.api.routes.events import NDJSON, SSE, Event

TAGS: Final = {
    "matches": "Starting, listing and viewing matches",
    "commands": "Moves and other acts in a match; each command is carried out exactly once",
    "events": "The whole history of a match, and new events as they come",
    "receipts": "The server's promise that something is in its published log, and the proof of it",
    "moderation": "Reports, sanctions and appeals",
    "site": "The site's own name, texts, banner and logo",
    "clubs": "Clubs and classes: their members, announcements and links",
    "tournaments": "Tournaments: their lists and tables, entering, and what organisers do",
    "challenges": "Matches with seats that any player may take",
    "replies": "Conditional moves, which the server plays as soon as it is your turn",
    "drafts": "Moves that you look at before you play them",
    "letters": "Messages between players",
    "analyses": "The engine's view of matches that are over, and of puzzles",
    "disputes": "Claims, appeals and rulings",
    "accounts": "Your account",
    "bots": "Your bots: programs with accounts of their own",
    "webhooks": "Notices for a program of yours or the chat of a group, and their deliveries",
    "administration": "Accounts, roles, sign-up links, admission, record, health and backups, for operators",
    "tokens": "A program sends a token in place of a password",
    "apps": "Programs of others that act for players who let them, by OAuth 2.1 with PKCE, or by a device code",
    "players": "Players, ratings, standings, finished matches",
    "games": "The games, and the best scores of the puzzles",
    "command lines": "The command language of terminal and mail",
    "the server": "Health, and the meaning of error codes",
}

_ABOUT: Final = """A correspondence match server. Each command is carried out exactly once: send it
with an `Idempotency-Key`, and repeat it with that key if you get no answer. An error is a problem
document (RFC 9457) with a stable `code`. docs/api.md has more."""

_EVENTS: Final = ("show_events", "show_tournament_events")
"""Routes of events, whose streams end."""

_METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
"""In their order in the document."""

_AGAIN: Final = "seconds after which to try again"
_ACCEPTED: Final = 202
_STATUS_TEXTS: Final = {200: "done", 201: "created", 202: "accepted", 204: "done; no body"}

Document = dict[str, Any]


def make_document(app: Litestar) -> Document:
    """Return the document of the application's routes."""
    operations = list(_operations(app))
    kinds: list[Any] = [Problem, OAuthError, Event]
    for _, _, handler, _ in operations:
        several = body_type(handler), _answer_type(handler)
        more = handler.opt.get(PROGRESS), handler.opt.get(FORM)
        kinds += [kind for kind in (*several, *more) if kind is not None]
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
        "tags": [{"name": name, "description": description} for name, description in TAGS.items()],
        "paths": paths,
        "components": {"schemas": named, "securitySchemes": {SCHEME: _security_scheme()}},
    }


def _operations(app: Litestar) -> Iterator[tuple[str, str, HTTPRouteHandler, Any]]:
    """Yield path, method, handler and parameters of each operation in the document."""
    for route in app.routes:
        if not isinstance(route, HTTPRoute):
            continue
        # in a fixed order, because the framework has them in one that differs between processes
        for method in sorted(route.route_handler_map, key=_METHODS.index):
            handler, model = route.route_handler_map[method]
            if handler.resolve_include_in_schema() and ERROR_CODES in handler.opt:
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
        "description": handler.description or _docstring(handler),
        "parameters": list(_parameters(handler, model, example)),
        "responses": _responses(handler, known, example),
    }
    if (body := body_type(handler)) is not None:
        operation["requestBody"] = _request(JSON, known[repr(body)], example)
    elif (form := handler.opt.get(FORM)) is not None:
        operation["requestBody"] = _request(FORM_TYPE, known[repr(form)], example)
    elif name == "do_line":
        operation["requestBody"] = _request(TEXT, {"type": "string", "minLength": 1}, example)
    if security := handler.resolve_security():
        operation["security"] = security
    else:
        operation["security"] = []
    return operation


def _docstring(handler: HTTPRouteHandler) -> str:
    """Return the docstring of a route's function."""
    # a function that is called in a thread is wrapped
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
        order = list(parameters_of(handler))
        for one in sorted(definitions, key=lambda one: order.index(one.field_name)):
            yield _parameter(handler, one, place, example)


def _parameter(handler: HTTPRouteHandler, one: Any, place: str, example: Document) -> Document:
    field = parameters_of(handler)[one.field_name]
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


# responses


def _responses(
    handler: HTTPRouteHandler, known: Mapping[str, Document], example: Document
) -> Document:
    status = handler.status_code
    responses: Document = {str(status): _success(handler, status, known, example)}
    if handler.opt.get(MAY_BE_PENDING):
        responses["202"] = _pending_response()
    if (progress := handler.opt.get(PROGRESS)) is not None:
        responses["202"] = _progress_response(known[repr(progress)])
    if handler.opt.get(HAS_ETAG):
        responses["304"] = {"description": "your copy is current"}
    if handler.handler_name in _EVENTS:
        responses["204"] = {"description": "it is over, and nothing more will come"}
    if not handler.opt.get("apart"):
        responses["431"] = _error_response([Code.TOO_LONG])  # by the connection, for any request
    for each, codes in _by_status(all_error_codes(handler)).items():
        responses[str(each)] = _error_response(codes)
    if FORM in handler.opt:
        _add_protocol_errors(responses)
    if handler.handler_name in ("do_line", "show_help"):
        _add_text_errors(responses)
    return dict(sorted(responses.items()))


def _success(
    handler: HTTPRouteHandler, status: int, known: Mapping[str, Document], example: Document
) -> Document:
    response: Document = {"description": _STATUS_TEXTS[status]}
    if status == _ACCEPTED:
        response["headers"] = {"Retry-After": _header("integer", _AGAIN)}
    answer = _answer_type(handler)
    if handler.opt.get(HAS_ETAG):
        response["headers"] = {"ETag": {"schema": {"type": "string"}}}
    if handler.opt.get(HAS_LOCATION):
        response["headers"] = {"Location": _header("string", "path of what was made")}
    if handler.handler_name in _EVENTS:
        response["content"] = _event_contents(known, example)
    elif handler.handler_name == "follow_account":
        response["content"] = {SSE: _text_content(example)}
    elif handler.media_type not in ("", MediaType.JSON):
        response["content"] = {str(handler.media_type): _text_content(example)}
    elif answer is not None:
        response["content"] = {JSON: {"schema": known[repr(answer)], **_example_of(example)}}
    return response


def _event_contents(known: Mapping[str, Document], example: Document) -> Document:
    events: Document = {"type": "array", "items": known[repr(Event)]}
    return {
        JSON: {"schema": events, **_example_of(example)},
        NDJSON: {"schema": {"type": "string"}},
        SSE: {"schema": {"type": "string"}},
    }


def _text_content(example: Document) -> Document:
    return {"schema": {"type": "string"}, **_example_of(example)}


def _example_of(example: Document) -> Document:
    return {"example": example["response"]} if "response" in example else {}


def _answer_type(handler: HTTPRouteHandler) -> Any:
    """Return the type of a JSON answer; None for text, and for no content."""
    answer = handler.parsed_fn_signature.return_type.annotation
    if inspect.isclass(getattr(answer, "__origin__", None)) and issubclass(
        answer.__origin__, Response
    ):
        (answer,) = answer.__args__
    return None if answer in (None, type(None), Any, str) or _is_response(answer) else answer


def _is_response(kind: Any) -> bool:
    return inspect.isclass(kind) and issubclass(kind, Response)


def _by_status(codes: Sequence[Code]) -> dict[int, list[Code]]:
    found: dict[int, list[Code]] = defaultdict(list)
    for code in sorted(set(codes)):
        found[CODE_INFO[code].status].append(code)
    if Code.TOO_LONG in codes:
        found[415].append(Code.BAD_REQUEST)
    return found


def _error_response(codes: Sequence[Code]) -> Document:
    response: Document = {
        "description": "; ".join(f"`{code}`: {CODE_INFO[code].meaning}" for code in codes),
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    if any(code in RETRY_SECONDS for code in codes):
        response["headers"] = {"Retry-After": _header("integer", _AGAIN)}
    return response


def _pending_response() -> Document:
    response = _error_response([Code.PENDING])
    response["headers"]["Location"] = _header("string", "URL of the outcome")
    return response


def _progress_response(schema: Document) -> Document:
    return {
        "description": "it is being made",
        "headers": {"Retry-After": _header("integer", _AGAIN)},
        "content": {JSON: {"schema": schema}},
    }


def _header(kind: str, description: str) -> Document:
    return {"schema": {"type": kind}, "description": description}


def _add_text_errors(responses: Document) -> None:
    """Add the errors of a command line, which are text with the code in a header."""
    for code, problem in CODE_INFO.items():
        response = responses.setdefault(str(problem.status), {"description": "", "content": {}})
        response["description"] = "; ".join(filter(None, (response["description"], f"`{code}`")))
        response["content"][TEXT] = {"schema": {"type": "string"}}
        headers = response.setdefault("headers", {})
        headers["Matchpost-Code"] = _header("string", "the stable code")
        if code in RETRY_SECONDS:
            headers["Retry-After"] = _header("integer", _AGAIN)


def _add_protocol_errors(responses: Document) -> None:
    """Add the errors of OAuth, which have a form of their own."""
    schema = {"$ref": "#/components/schemas/OAuthError"}
    for status, response in responses.items():
        if status >= "400":
            response["content"][JSON] = {"schema": schema}


def _security_scheme() -> Document:
    return {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "mp_...",
        "description": "A token, which `POST /api/tokens` makes. Scopes: `read` to see what only the "
        "player may see, `play` to act in matches, `account` to change the account, `admin` for operators and "
        "moderators, `organise` to pair others as an organiser.",
    }


def _examples() -> Document:
    data = files("services.http.api").joinpath("examples.json").read_bytes()
    found: Document = msgspec.json.decode(data)
    return found


_Document = Mapping[str, Any]

_MAX_EXAMPLE: Final = 4_000
"""The maximum length of an example, in characters."""

_ENVIRONMENT: Final = Environment(
    loader=PackageLoader("services.http.api"),
    autoescape=True,
    undefined=ChainableUndefined,  # most keys of the document are optional
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)


def make_page(document: _Document) -> str:
    """Return the page of a document."""
    groups = [(tag, list(_operations_of_tag(document, tag["name"]))) for tag in document["tags"]]
    return _ENVIRONMENT.get_template("docs.html").render(document=document, groups=groups)


def _operations_of_tag(document: _Document, tag: str) -> Iterator[tuple[str, str, _Document]]:
    """Yield method, path and operation for each operation with a tag."""
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if tag in operation["tags"]:
                yield method, path, operation


def _to_html(text: object) -> Markup:
    """Return text as HTML, with the words in backticks as code."""
    escaped = str(escape(" ".join(str(text).split())))
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped))  # noqa: S704 - escaped above


def _example(example: Any) -> str:
    """Return an example as text: JSON is indented, and a long text is cut."""
    if not isinstance(example, str):
        example = msgspec.json.format(msgspec.json.encode(example), indent=2).decode()
    return example if len(example) <= _MAX_EXAMPLE else f"{example[:_MAX_EXAMPLE]}\n..."


_ENVIRONMENT.filters["prose"] = _to_html
_ENVIRONMENT.filters["example"] = _example
