"""Who a request is from: the bearer token in its header."""

from typing import Any

import msgspec
from litestar import Request

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra.tokens import Scope, Token
from services.api.hand import Hand

AnyRequest = Request[Any, Any, Any]

_SCHEME = "bearer "


class Caller(msgspec.Struct, frozen=True):
    """An account, and what the token it showed may be used for."""

    account: AccountId
    token: Token

    def need(self, scope: Scope) -> AccountId:
        """Give the account; `missing-scope` where the token is not for that."""
        if scope not in self.token.scopes:
            raise Refusal(
                Code.MISSING_SCOPE,
                f"the token {self.token.label!r} lacks the scope {scope}; make one that has it",
            )
        return self.account


async def caller(request: AnyRequest, hand: Hand) -> Caller:
    """Give who asks; `unauthorized` without a token, `unknown-token` for one that is none."""
    found = await guest(request, hand)
    if found is None:
        raise Refusal(
            Code.UNAUTHORIZED,
            "send a token: `Authorization: Bearer mp_...`; POST /api/tokens makes one",
        )
    return found


async def guest(request: AnyRequest, hand: Hand) -> Caller | None:
    """Give who asks where anybody may; a token that is shown must be good."""
    header = request.headers.get("authorization")
    if header is None:
        return None
    if not header.lower().startswith(_SCHEME):
        raise Refusal(
            Code.UNAUTHORIZED, "the header is not of the form `Authorization: Bearer mp_...`"
        )
    token = await hand.token(header[len(_SCHEME) :].strip())
    if token is None:
        raise Refusal(Code.UNKNOWN_TOKEN, "the token is not one, or not any more")
    hand.parts.pace.check(token.account)
    return Caller(token.account, token)
