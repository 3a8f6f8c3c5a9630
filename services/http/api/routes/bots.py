"""A player's own bots: programs with accounts of their own."""

from typing import Annotated, Any

import msgspec
from litestar.params import JSONBody, PathParameter

from domain.errors import Code
from infra.people.accounts.record import RatedChoice
from infra.people.tokens import USUAL_DAYS, Scope
from services.app import bots
from services.app.bot_rules import MOST_AT_ONCE, MOST_DAYS
from services.app.passwords import check_recent_password
from services.http.api.auth import Own
from services.http.api.bodies import RequestBody
from services.http.api.declared import ApiRoutes, refuses
from services.http.api.routes.accounts import (
    RECENT_PASSWORD,
    IssuedToken,
    Password,
    ShownToken,
    Userid,
    token_json,
)

api = ApiRoutes("bots")

BotUserid = Annotated[str, PathParameter(max_length=24, description="the userid of your bot")]
TokenId = Annotated[
    str, PathParameter(pattern="^[0-9a-f]{16}$", description="the id of the bot's token")
]
Games = Annotated[tuple[str, ...], msgspec.Meta(max_length=50, examples=[["pow2", "line"]])]
Days = Annotated[int, msgspec.Meta(ge=0, le=MOST_DAYS)]


class NewBot(RequestBody, frozen=True):
    """A bot to make."""

    userid: Annotated[str, msgspec.Meta(max_length=24, examples=["bot-deep"])]
    """It begins with `bot-`, which is put before it if you leave it out."""
    password: Password = ""
    """Required if your token is older than ten minutes."""


class ShownBot(msgspec.Struct, frozen=True):
    """A bot as its owner sees it."""

    userid: Userid
    challengers: str
    """Challenges by name that it accepts: from `anyone`, from `known` players, or from `none`."""
    games: tuple[str, ...]
    """The games that it plays; empty for all."""
    rated: RatedChoice
    """The matches that it plays: `any`, `rated` or `unrated` ones."""
    least_days: int
    """The fewest days for a move; 0 for any."""
    most_days: int
    """The most days for a move; 0 for any, also without a limit."""
    at_once: int
    """How many matches that others have started with it may go on at the same time."""
    suspended: bool
    tokens: tuple[ShownToken, ...]


class BotChanges(RequestBody, frozen=True):
    """Which challenges a bot accepts; what is left out or null stays."""

    challengers: Annotated[str, msgspec.Meta(max_length=8, examples=["anyone"])] | None = None
    games: Games | None = None
    rated: RatedChoice | None = None
    least_days: Days | None = None
    most_days: Days | None = None
    at_once: Annotated[int, msgspec.Meta(ge=0, le=MOST_AT_ONCE)] | None = None


class BotDeletion(RequestBody, frozen=True):
    """The confirmation that a bot is to be deleted."""

    password: Password = ""
    """Required if your token is older than ten minutes."""


class NewBotToken(RequestBody, frozen=True):
    """A token for a bot's program."""

    label: Annotated[str, msgspec.Meta(min_length=1, max_length=60, examples=["at home"])]
    days: Annotated[int, msgspec.Meta(ge=1, le=3650)] | None = USUAL_DAYS
    """Lifetime in days; null for a token that is valid until it is revoked."""
    password: Password = ""
    """Required if your token is older than ten minutes."""


@api.get("/api/account/bots", "Your bots", Scope.ACCOUNT)
def list_bots(own: Own) -> list[ShownBot]:
    """Return your bots, by userid."""
    return [_shown(one) for one in bots.bots_of(own.app, own.account)]


@api.post("/api/account/bots", "Make a bot", Scope.ACCOUNT, status_code=201)
@refuses(
    Code.BAD_NAME, Code.NAME_TAKEN, Code.TOO_MANY, Code.TOO_FAST, Code.NOT_WANTED, *RECENT_PASSWORD
)
def make_bot(data: JSONBody[NewBot], own: Own) -> ShownBot:
    """Make an account for a program of yours, which everybody can see is one.

    It has no password, and acts with tokens that you make. Matches in which a bot plays are rated apart.
    """
    check_recent_password(own.app, own.account, data.password, own.token.created)
    return _shown(bots.make_bot(own.app, own.account, data.userid))


@api.patch("/api/account/bots/{userid:str}", "Change which challenges a bot accepts", Scope.ACCOUNT)
@refuses(Code.NOT_FOUND, Code.BAD_OPTION, Code.UNKNOWN_GAME, Code.BUSY)
def change_bot(userid: BotUserid, data: JSONBody[BotChanges], own: Own) -> ShownBot:
    """Change the rules by which challenges by name are accepted. Others are refused, with the rule that they break."""
    found: dict[str, Any] = msgspec.structs.asdict(data)
    changes = {name: value for name, value in found.items() if value is not None}
    return _shown(bots.change_bot(own.app, own.account, userid, changes))


@api.post("/api/account/bots/{userid:str}/deletion", "Delete a bot", Scope.ACCOUNT)
@refuses(Code.NOT_FOUND, *RECENT_PASSWORD)
def delete_bot(userid: BotUserid, data: JSONBody[BotDeletion], own: Own) -> None:
    """Delete a bot for good; its matches stay, and it loses on time where it is to move."""
    check_recent_password(own.app, own.account, data.password, own.token.created)
    bots.delete_bot(own.app, own.account, userid)


@api.post(
    "/api/account/bots/{userid:str}/tokens",
    "Create a token for a bot",
    Scope.ACCOUNT,
    status_code=201,
)
@refuses(Code.NOT_FOUND, Code.SUSPENDED, Code.TOO_LONG, Code.TOO_MANY, *RECENT_PASSWORD)
def make_bot_token(userid: BotUserid, data: JSONBody[NewBotToken], own: Own) -> IssuedToken:
    """Return a new token with the scopes `read` and `play`, with which a program plays as the bot."""
    check_recent_password(own.app, own.account, data.password, own.token.created)
    made = bots.make_bot_token(own.app, own.account, userid, data.label, data.days)
    return IssuedToken(made.text, made.id, made.label, made.scopes, made.created, made.expires)


@api.delete(
    "/api/account/bots/{userid:str}/tokens/{token:str}", "Revoke a bot's token", Scope.ACCOUNT
)
@refuses(Code.NOT_FOUND)
def revoke_bot_token(userid: BotUserid, token: TokenId, own: Own) -> None:
    """Revoke a token of a bot at once."""
    bots.revoke_bot_token(own.app, own.account, userid, token)


def _shown(bot: bots.Bot) -> ShownBot:
    profile, rules = bot.profile, bot.profile.rules
    return ShownBot(
        profile.name,
        profile.challenges,
        rules.games,
        rules.rated,
        rules.least_days,
        rules.most_days,
        rules.at_once,
        profile.suspended,
        tuple(map(token_json, bot.tokens)),
    )
