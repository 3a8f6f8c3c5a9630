"""Blocked players: the account gets no challenges, messages or chat from them."""

from typing import Annotated

import msgspec
from litestar import delete, get, put
from litestar.di import NamedDependency
from litestar.params import PathParameter

from domain.errors import Code
from infra.people.tokens import Scope
from services.app.blocks import add_block, blocked_userids, remove_block
from services.http.api.auth import ACCOUNT_SCOPE, READ_SCOPE, Caller
from services.http.api.declared_errors import declare_errors
from services.http.api.routes.accounts import ACCOUNTS_TAG
from services.http.context import ApiContext

BlockedUserid = Annotated[
    str, PathParameter(max_length=24, description="the userid of the other player")
]


class Blocks(msgspec.Struct, frozen=True):
    """The players that an account blocks."""

    userids: tuple[str, ...]
    """In alphabetical order."""


@get(
    "/api/account/blocks",
    sync_to_thread=True,
    security=READ_SCOPE,
    tags=[ACCOUNTS_TAG],
    opt=declare_errors(),
    summary="Players that you block",
)
def list_blocks(context: NamedDependency[ApiContext], caller: NamedDependency[Caller]) -> Blocks:
    """Return the players that the account blocks; only the caller can see them."""
    return Blocks(tuple(blocked_userids(context.app, caller.require(Scope.READ))))


@put(
    "/api/account/blocks/{userid:str}",
    status_code=204,
    sync_to_thread=True,
    security=ACCOUNT_SCOPE,
    tags=[ACCOUNTS_TAG],
    opt=declare_errors(Code.UNKNOWN_USER, Code.BAD_OPTION, Code.TOO_MANY),
    summary="Block a player",
)
def block_player(
    userid: BlockedUserid, context: NamedDependency[ApiContext], caller: NamedDependency[Caller]
) -> None:
    """Refuse challenges, messages and chat from a player, and decline the matches in which you have not moved.

    Those in which you have moved go on.
    """
    add_block(context.app, caller.require(Scope.ACCOUNT), userid)


@delete(
    "/api/account/blocks/{userid:str}",
    sync_to_thread=True,
    security=ACCOUNT_SCOPE,
    tags=[ACCOUNTS_TAG],
    opt=declare_errors(Code.UNKNOWN_USER),
    summary="End a block",
)
def unblock_player(
    userid: BlockedUserid, context: NamedDependency[ApiContext], caller: NamedDependency[Caller]
) -> None:
    """Accept challenges, messages and chat from a player again.

    A player who is not blocked is no error.
    """
    remove_block(context.app, caller.require(Scope.ACCOUNT), userid)
