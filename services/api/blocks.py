"""Players that the caller wants no challenges, messages and chat of."""

from typing import Annotated

import msgspec
from litestar import delete, get, put
from litestar.di import NamedDependency
from litestar.params import PathParameter

from domain.errors import Code
from infra.tokens import Scope
from services.api.accounts import TAG
from services.api.answers import refuses
from services.api.callers import ACCOUNT, READ, Caller
from services.api.context import ApiContext
from services.app.blocks import add_block, blocked_by, remove_block

Blocked = Annotated[str, PathParameter(max_length=24, description="the other's userid")]


class Blocks(msgspec.Struct, frozen=True):
    """The players that an account blocks."""

    userids: tuple[str, ...]
    """In alphabetical order."""


@get(
    "/api/account/blocks",
    sync_to_thread=True,
    security=READ,
    tags=[TAG],
    opt=refuses(),
    summary="Players that you block",
)
def list_blocks(context: NamedDependency[ApiContext], caller: NamedDependency[Caller]) -> Blocks:
    """Return the players that the account blocks; only the caller can see them."""
    return Blocks(tuple(blocked_by(context.app, caller.need(Scope.READ))))


@put(
    "/api/account/blocks/{userid:str}",
    status_code=204,
    sync_to_thread=True,
    security=ACCOUNT,
    tags=[TAG],
    opt=refuses(Code.UNKNOWN_USER, Code.BAD_OPTION, Code.TOO_MANY),
    summary="Block a player",
)
def block_player(
    userid: Blocked, context: NamedDependency[ApiContext], caller: NamedDependency[Caller]
) -> None:
    """Take no challenges, messages and chat of a player; matches that there are go on."""
    add_block(context.app, caller.need(Scope.ACCOUNT), userid)


@delete(
    "/api/account/blocks/{userid:str}",
    sync_to_thread=True,
    security=ACCOUNT,
    tags=[TAG],
    opt=refuses(Code.UNKNOWN_USER),
    summary="End a block",
)
def unblock_player(
    userid: Blocked, context: NamedDependency[ApiContext], caller: NamedDependency[Caller]
) -> None:
    """Take challenges, messages and chat of a player again, who need not be blocked."""
    remove_block(context.app, caller.need(Scope.ACCOUNT), userid)
