"""Who a request is from: the bearer token in its header.

What a route needs stands at the route, once: its `security` is in the OpenAPI document, and is what
`admit` goes by, before anything of the request is read.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from uuid import uuid4

import msgspec
from litestar import Request
from litestar.datastructures import MultiDict
from litestar.di import NamedDependency

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra.tokens import Scope, Token
from services.api.context import DOOR, ApiContext, Asked
from services.api.visitors import weight_of
from services.app.actor import Actor

AnyRequest = Request[Any, Any, Any]

SCHEME: Final = "token"
"""The name of the security scheme."""

ANY: Final[tuple[dict[str, list[str]], ...]] = ({SCHEME: []},)
READ: Final = ({SCHEME: [str(Scope.READ)]},)
PLAY: Final = ({SCHEME: [str(Scope.PLAY)]},)
ACCOUNT: Final = ({SCHEME: [str(Scope.ACCOUNT)]},)

QUERY: Final = "query"
"""Under which a route keeps the parameters it knows, by name, each with its form."""


class Form(NamedTuple):
    """How a value is written in a query: the framework would take more than that for it."""

    pattern: re.Pattern[str]
    said: str


_FORMS: Final = {
    bool: Form(re.compile("true|false"), "true or false"),
    int: Form(re.compile("-?(0|[1-9][0-9]*)", re.ASCII), "a whole number in digits"),
    float: Form(
        re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?", re.ASCII),
        "a number, such as 2.5",
    ),
}
AHEAD: Final = "ahead"
"""Routes with this ask for their match while the token is looked at."""

_BEARER: Final = "bearer "


class Caller(msgspec.Struct, frozen=True):
    """An account, and what the token it showed may be used for."""

    account: AccountId
    token: Token
    match: Asked | None
    """The match that the route is about, where it was asked for together with the token."""

    def need(self, scope: Scope) -> AccountId:
        """Return the account; `missing-scope` where the token is not for that."""
        if scope not in self.token.scopes:
            raise Refusal(
                Code.MISSING_SCOPE,
                f"the token {self.token.label!r} lacks the scope {scope}; make one that has it",
            )
        return self.account

    def actor(self, scope: Scope, key: str | None = None) -> Actor:
        """Return the account as who acts, by the key of the request or one of its own."""
        return Actor(self.need(scope), DOOR, key or uuid4().hex)


async def admit(request: AnyRequest) -> None:
    """Let a request go on whose caller may do what it asks for, and that is well formed.

    A token that is shown must be good, also where none is needed: `unknown-token`. Without one it is
    `unauthorized` where one is needed. `missing-scope`, `too-fast`, `bad-request`, `not-found`.
    """
    handler = request.route_handler
    if "apart" not in handler.opt:
        request.scope["auth"] = await _identify(request, request.app.state.context)
    _check_path(request)
    if request.scope["query_string"]:
        _check_query(request.query_params, handler.opt.get(QUERY, {}))


async def _identify(request: AnyRequest, context: ApiContext) -> Caller | None:
    needed = request.route_handler.resolve_security()
    header = request.headers.get("authorization")
    ahead = header is not None and AHEAD in request.route_handler.opt
    match = context.ask(request.path_params["board"]) if ahead else None
    try:
        caller = await _known(header, context, match)
    except Refusal:
        context.visitors.check(request)
        raise
    if caller is None:
        context.visitors.check(request)
        if needed:
            raise Refusal(
                Code.UNAUTHORIZED,
                "send a token: `Authorization: Bearer mp_...`; POST /api/tokens makes one",
            )
        return None
    context.app.pace.check(caller.account, weight_of(request))
    for scope in (scope for each in needed for scope in each[SCHEME]):
        caller.need(Scope(scope))
    return caller


async def _known(header: str | None, context: ApiContext, match: Asked | None) -> Caller | None:
    """Return whose token stands in the header; None without one."""
    if header is None:
        return None
    if not header.lower().startswith(_BEARER):
        raise Refusal(
            Code.UNAUTHORIZED, "the header is not of the form `Authorization: Bearer mp_...`"
        )
    token = await context.token(_text_of(header))
    if token is None:
        raise Refusal(Code.UNKNOWN_TOKEN, "the token is not one, or not any more")
    return Caller(token.account, token, match)


async def still_good(request: AnyRequest, context: ApiContext) -> bool:
    """Whether the token that opened a stream is one still; what was opened without one stays open."""
    header = request.headers.get("authorization")
    return header is None or await context.token(_text_of(header)) is not None


def _text_of(header: str) -> str:
    return header[len(_BEARER) :].strip()


def caller(request: AnyRequest, context: NamedDependency[ApiContext]) -> Caller:
    """Return who asks, in a route that needs to know."""
    del context  # named, so that the two come one after the other: at once costs the framework more
    found: Caller = request.auth
    return found


def _check_path(request: AnyRequest) -> None:
    """Refuse numbers that are written otherwise than we write them: a place has one address."""
    for value in request.path_params.values():
        if isinstance(value, int) and str(value) not in request.scope["path"].split("/"):
            raise Refusal(
                Code.NOT_FOUND, "a number in the path is written in digits, without leading zeros"
            )


def _check_query(given: MultiDict[str], known: Mapping[str, Form | None]) -> None:
    """Refuse parameters that the route has not, ones given twice, and ones of another form."""
    for name, value in given.multi_items():
        if name not in known:
            has = f"there are {', '.join(sorted(known))}" if known else "there are none here"
            raise Refusal(Code.BAD_REQUEST, f"there is no parameter {name[:24]!r}; {has}")
        if len(given.getall(name)) > 1:
            raise Refusal(Code.BAD_REQUEST, f"the parameter {name} is given twice; give it once")
        form = known[name]
        if form and not form.pattern.fullmatch(value):
            raise Refusal(Code.BAD_REQUEST, f"{name} is {form.said}, not {value[:24]!r}")


def form_of(kind: Any) -> Form | None:
    """Return how values of a type are written in a query; None for text, which is its own form."""
    kinds = {kind, *getattr(kind, "__args__", ())}
    return next((form for of, form in _FORMS.items() if of in kinds), None)
