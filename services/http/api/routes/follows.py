"""Matches that the account watches, and players that it follows; only the account itself learns of it."""

from typing import Annotated

import msgspec
from litestar import delete, get, put
from litestar.di import NamedDependency
from litestar.params import PathParameter

from domain.errors import Code
from infra.people.tokens import Scope
from services.app import follows
from services.http.api.auth import PLAY_SCOPE, READ_SCOPE, Caller
from services.http.api.declared_errors import declare_errors
from services.http.api.routes.accounts import ACCOUNTS_TAG
from services.http.api.routes.commands import BoardNumber
from services.http.context import ApiContext

FollowedUserid = Annotated[
    str, PathParameter(max_length=24, description="the userid of the other player")
]


class Following(msgspec.Struct, frozen=True):
    """The matches that an account watches, and the players that it follows."""

    matches: tuple[int, ...]
    """The watched matches, the newest first."""
    players: tuple[str, ...]
    """The userids of the followed players, in alphabetical order."""


@get(
    "/api/account/following",
    sync_to_thread=True,
    security=READ_SCOPE,
    tags=[ACCOUNTS_TAG],
    opt=declare_errors(),
    summary="Matches that you watch, and players that you follow",
)
def list_following(
    context: NamedDependency[ApiContext], caller: NamedDependency[Caller]
) -> Following:
    """Return the matches and players; only the caller can see them."""
    account = caller.require(Scope.READ)
    found = context.app.follows.of(account)
    return Following(found.boards, tuple(follows.followed_userids(context.app, account, found)))


@put(
    "/api/account/following/matches/{board:int}",
    status_code=204,
    sync_to_thread=True,
    security=PLAY_SCOPE,
    tags=[ACCOUNTS_TAG],
    opt=declare_errors(Code.UNKNOWN_BOARD, Code.NOT_WANTED, Code.TOO_MANY),
    summary="Watch a match",
)
def watch_board(
    board: BoardNumber, context: NamedDependency[ApiContext], caller: NamedDependency[Caller]
) -> None:
    """Put a match on the list of those that you watch, up to 200."""
    follows.watch_match(context.app, caller.require(Scope.PLAY), board)


@delete(
    "/api/account/following/matches/{board:int}",
    sync_to_thread=True,
    security=PLAY_SCOPE,
    tags=[ACCOUNTS_TAG],
    opt=declare_errors(),
    summary="Take a match off the list",
)
def unwatch_board(
    board: BoardNumber, context: NamedDependency[ApiContext], caller: NamedDependency[Caller]
) -> None:
    """Stop watching a match; one that is not watched is no error."""
    follows.unwatch_match(context.app, caller.require(Scope.PLAY), board)


@put(
    "/api/account/following/players/{userid:str}",
    status_code=204,
    sync_to_thread=True,
    security=PLAY_SCOPE,
    tags=[ACCOUNTS_TAG],
    opt=declare_errors(Code.UNKNOWN_USER, Code.BAD_OPTION, Code.NOT_WANTED, Code.TOO_MANY),
    summary="Follow a player",
)
def follow_player(
    userid: FollowedUserid, context: NamedDependency[ApiContext], caller: NamedDependency[Caller]
) -> None:
    """Put a player on the list of those that you follow, up to 100; the player does not learn of it."""
    follows.follow_player(context.app, caller.require(Scope.PLAY), userid)


@delete(
    "/api/account/following/players/{userid:str}",
    sync_to_thread=True,
    security=PLAY_SCOPE,
    tags=[ACCOUNTS_TAG],
    opt=declare_errors(Code.UNKNOWN_USER),
    summary="Take a player off the list",
)
def unfollow_player(
    userid: FollowedUserid, context: NamedDependency[ApiContext], caller: NamedDependency[Caller]
) -> None:
    """Stop following a player; one who is not followed is no error."""
    follows.unfollow_player(context.app, caller.require(Scope.PLAY), userid)
