"""Authentication by the bearer token in a request's header.

A route declares once what scope it needs (`declared`). The OpenAPI document shows it, and
`authenticate` checks it before the body of a request is read. A function that acts for the account
takes a parameter `own`, whose scope has been checked.
"""

import asyncio
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeAlias
from uuid import uuid4

import msgspec
from litestar import Request
from litestar.datastructures import MultiDict
from litestar.di import NamedDependency
from litestar.handlers import BaseRouteHandler
from litestar.typing import FieldDefinition

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.people.tokens import Scope, Token
from services.app.admission import members_only
from services.app.context import Actor, App
from services.http.context import API_FRONT_END, ApiContext
from services.http.request_limits import note_budget, request_weight

AnyRequest = Request[Any, Any, Any]

SCHEME: Final = "token"
"""The name of the security scheme."""

QUERY_PARAMETERS: Final = "query"
"""The `opt` key of the query parameters that a route accepts: by name, each with its form."""


class QueryValueForm(NamedTuple):
    """How a value must be written in a query, because the framework accepts other spellings, too."""

    pattern: re.Pattern[str]
    description: str


_QUERY_VALUE_FORMS: Final = {
    bool: QueryValueForm(re.compile("true|false"), "true or false"),
    int: QueryValueForm(re.compile("-?(0|[1-9][0-9]*)", re.ASCII), "a whole number in digits"),
    float: QueryValueForm(
        re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?", re.ASCII),
        "a number, such as 2.5",
    ),
}
_READS: Final = ("GET", "HEAD", "OPTIONS")

BEARER: Final = "bearer "

FORM: Final = "form"
"""The `opt` key of the form that a route takes from pages of any site, because it proves who acts."""

FAILED: Final = "failed"
"""The key in a scope of the error of a request that was carried out before the framework."""


class Caller(msgspec.Struct, frozen=True):
    """The account in whose name a request comes, and the request's token."""

    context: ApiContext
    account: AccountId
    token: Token

    @property
    def app(self) -> App:
        """The context of the use cases."""
        return self.context.app

    def require(self, scope: Scope) -> AccountId:
        """Return the account; `missing-scope` if the token lacks the scope."""
        if scope not in self.token.scopes:
            raise Refusal(
                Code.MISSING_SCOPE,
                f"the token {self.token.label!r} lacks the scope {scope}; make one that has it",
            )
        return self.account

    def actor(self, key: str | None = None) -> Actor:
        """Return the actor of a command, with a random key by default."""
        return Actor(self.account, API_FRONT_END, key or uuid4().hex)


Context: TypeAlias = NamedDependency[ApiContext]
"""The type of a function's parameter `context`."""

Own: TypeAlias = NamedDependency[Caller]
"""The type of a function's parameter `own`: its caller, who has the scope that the route needs."""


def viewer_of(request: AnyRequest) -> AccountId | None:
    """Return the account whose token may read, for a route that needs none; None without one."""
    caller: Caller | None = request.auth
    return caller.account if caller and Scope.READ in caller.token.scopes else None


async def authenticate(request: AnyRequest) -> None:
    """Authenticate a request, and check its scope, its rate and the form of its parameters.

    A token that is sent must be valid, even where none is needed: `unknown-token`. Without a token a
    route that needs one answers `unauthorized`. Also `missing-scope`, `cross-site`, `too-fast`,
    `bad-request`, `not-found`. Raises the error of a short path, if that has failed.
    """
    scope: Any = request.scope
    if FAILED in scope:
        raise scope[FAILED]
    handler = request.route_handler
    if "apart" not in handler.opt:
        request.scope["auth"] = await _identify(request, request.app.state.context)
    _check_path(request)
    if request.scope["query_string"]:
        _check_query(request.query_params, handler.opt.get(QUERY_PARAMETERS, {}))


async def _identify(request: AnyRequest, context: ApiContext) -> Caller | None:
    needed = request.route_handler.resolve_security()
    header = request.headers.get("authorization")
    scope, limits = request.scope, context.request_limits
    try:
        caller = await _caller_of(header, context)
    except Refusal:
        note_budget(scope, "address", limits.check(request))
        raise
    if caller is None:
        note_budget(scope, "address", limits.check(request))
        if needed:
            raise Refusal(
                Code.UNAUTHORIZED,
                "send a token: `Authorization: Bearer mp_...`; POST /api/tokens makes one",
            )
        if await context.needs_account(request) and not await _comes_in_session(request, context):
            raise members_only()
        _check_site(request)
        return None
    await context.needs_account(request)
    if request.method in _READS:
        note_budget(scope, "reads", limits.count_account_request(request, caller.account))
    else:
        budget = context.app.pace.check(caller.account, request_weight(request))
        note_budget(scope, "commands", budget)
    for required in (one for each in needed for one in each[SCHEME]):
        caller.require(Scope(required))
    return caller


async def _comes_in_session(request: AnyRequest, context: ApiContext) -> bool:
    """Return whether a script of a member's page asks, as that of `/verify` does for the log."""
    # no other site can read an answer to its visitor's cookie, or send anything with it
    return await asyncio.to_thread(context.has_session, request)


def _check_site(request: AnyRequest) -> None:
    """Refuse what a page of another site sends without a token, but for reads: `cross-site`."""
    if request.method in _READS or FORM in request.route_handler.opt:
        return
    if request.headers.get("sec-fetch-site") == "cross-site":
        raise Refusal(
            Code.CROSS_SITE,
            "a page of another site sent this; send it from a page of this server, or with a token",
        )


async def _caller_of(header: str | None, context: ApiContext) -> Caller | None:
    """Return the caller whose token is in the header; None without a header."""
    if header is None:
        return None
    if not header.lower().startswith(BEARER):
        raise Refusal(
            Code.UNAUTHORIZED, "the header is not of the form `Authorization: Bearer mp_...`"
        )
    token = await context.token(_token_text(header))
    if token is None:
        raise Refusal(Code.UNKNOWN_TOKEN, "the token is unknown, or no longer valid")
    return Caller(context, token.account, token)


async def token_still_valid(request: AnyRequest, context: ApiContext) -> bool:
    """Return whether the token that opened a stream is still valid, or a stream without one still for guests."""
    header = request.headers.get("authorization")
    if header is None:
        needed = await context.needs_account(request)
        return not needed or await _comes_in_session(request, context)
    return await context.token(_token_text(header)) is not None


def _token_text(header: str) -> str:
    return header[len(BEARER) :].strip()


def own(request: AnyRequest, context: Context) -> Caller:
    """Return the caller, for functions that take it as a parameter."""
    # a parameter because the framework resolves two in sequence faster than in parallel
    del context
    found: Caller = request.auth
    return found


def _check_path(request: AnyRequest) -> None:
    """Refuse numbers that are not in canonical form, because a resource has one address."""
    for value in request.path_params.values():
        if isinstance(value, int) and str(value) not in request.scope["path"].split("/"):
            raise Refusal(
                Code.NOT_FOUND, "a number in the path is written in digits, without leading zeros"
            )


def _check_query(query: MultiDict[str], known: Mapping[str, QueryValueForm | None]) -> None:
    """Refuse parameters that are unknown, repeated or malformed."""
    for name, value in query.multi_items():
        if name not in known:
            has = ", ".join(sorted(known)) or "none"
            raise Refusal(Code.BAD_REQUEST, f"unknown parameter {name[:24]!r}; this path has {has}")
        if len(query.getall(name)) > 1:
            raise Refusal(Code.BAD_REQUEST, f"the parameter {name} is repeated; send it once")
        form = known[name]
        if form and not form.pattern.fullmatch(value):
            raise Refusal(Code.BAD_REQUEST, f"{name} is {form.description}, not {value[:24]!r}")


def parameters_of(handler: BaseRouteHandler) -> dict[str, FieldDefinition]:
    """Return the parameters of a route by their names in the code, and those of its dependencies."""
    found: dict[str, FieldDefinition] = {}
    for dependency in handler.resolve_dependencies().values():
        found |= dependency.parsed_fn_signature.parameters
    return found | handler.parsed_fn_signature.parameters


def query_value_form(kind: Any) -> QueryValueForm | None:
    """Return the form of a type's values in a query; None for text, which has any form."""
    kinds = {kind, *getattr(kind, "__args__", ())}
    return next((form for of, form in _QUERY_VALUE_FORMS.items() if of in kinds), None)
