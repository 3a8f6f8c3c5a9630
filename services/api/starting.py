"""Matches that begin: challenges of players by name."""

import asyncio
from typing import Annotated
from uuid import uuid4

import msgspec
from litestar import post
from litestar.di import NamedDependency
from litestar.params import JSONBody

from domain.errors import Code
from domain.match.commands import Sent
from domain.match.events import CommandId, command_id
from domain.rules import current
from infra.tokens import Scope
from services.api.accounts import Userid
from services.api.answers import refuses
from services.api.bodies import Asked
from services.api.callers import PLAY, Caller
from services.api.commands import WAIT_SECONDS, Answered, Key, Wait, promised
from services.api.context import DOOR, ApiContext
from services.language.draws import Part
from services.language.starting import sent_by_name, start_command
from services.language.terms import read_agreed

Words = Annotated[
    tuple[Annotated[str, msgspec.Meta(max_length=64)], ...], msgspec.Meta(max_length=20)
]


Commitment = Annotated[str, msgspec.Meta(pattern="^([0-9A-Fa-f]{64})?$")]


class NewMatch(Asked, frozen=True):
    """A match that is asked for."""

    game: Annotated[str, msgspec.Meta(max_length=24, examples=["pow2"])]
    players: Annotated[tuple[Userid, ...], msgspec.Meta(min_length=1, max_length=8)]
    """Userids, in the order of the seats; the caller is one of them."""
    options: Words = ()
    """The game's options, such as `-fast`."""
    terms: Words = ()
    """The server's options, such as `--days=3`, `--unrated`, `--entropy=WORD`, `--gather`."""
    commitment: Commitment = ""
    """With `--gather`: SHA-256 of a text that you keep, and reveal once all have committed."""


@post(
    "/api/matches",
    security=PLAY,
    tags=["matches"],
    opt=refuses(
        Code.UNKNOWN_GAME,
        Code.UNKNOWN_USER,
        Code.UNKNOWN_OPTION,
        Code.BAD_OPTION,
        Code.BAD_PLAYERS,
        Code.NOT_WANTED,
        Code.TOO_MANY,
        Code.ID_REUSED,
        Code.BUSY,
        waits=True,
    ),
    summary="Start a match",
)
async def start_match(
    data: JSONBody[NewMatch],
    context: NamedDependency[ApiContext],
    caller: NamedDependency[Caller],
    key: Key = None,
    wait: Wait = WAIT_SECONDS,
) -> Answered:
    """Challenge players by name; the match starts at once, or waits for their consent."""
    account = caller.need(Scope.PLAY)
    id_ = command_id(DOOR, account, key or uuid4().hex)
    sent = await asyncio.to_thread(start_of, data, context, account, id_)
    return await begin(context, sent, wait)


async def begin(context: ApiContext, sent: Sent, wait: float) -> Answered:
    """Hand a start in, and give its outcome."""
    outcome = await context.gateway.send(sent, 0, wait)
    return promised(context, sent.match, sent.id, outcome)


def start_of(data: NewMatch, context: ApiContext, account: bytes, id_: CommandId) -> Sent:
    """Return the command that starts a match, under a number of its own; refused as a start is."""
    rules = current(data.game.lower())
    agreed = read_agreed(data.terms, len(data.players))
    seats = [context.app.accounts.id_of(name) for name in data.players]
    start = start_command(rules, data.options, agreed, seats, id_)
    return sent_by_name(context.app, account, id_, start, Part(agreed.word, data.commitment))
