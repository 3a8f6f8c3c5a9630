"""Starting matches: challenges of players by name."""

import asyncio
from typing import Annotated

import msgspec
from litestar import post
from litestar.di import NamedDependency
from litestar.params import JSONBody

from domain.errors import Code
from domain.rules import latest_rules
from services.app.start import start_by_name
from services.http.api.auth import PLAY_SCOPE
from services.http.api.bodies import RequestBody
from services.http.api.command_requests import Answered, CommandRequest
from services.http.api.declared_errors import declare_errors
from services.http.api.routes.accounts import Userid

Words = Annotated[
    tuple[Annotated[str, msgspec.Meta(max_length=64)], ...], msgspec.Meta(max_length=20)
]


Commitment = Annotated[str, msgspec.Meta(pattern="^([0-9A-Fa-f]{64})?$")]


class NewMatch(RequestBody, frozen=True):
    """A match to start."""

    game: Annotated[str, msgspec.Meta(max_length=24, examples=["pow2"])]
    players: Annotated[tuple[Userid, ...], msgspec.Meta(min_length=1, max_length=8)]
    """Userids, in the order of the seats; the caller is one of them."""
    options: Words = ()
    """The game's options, such as `-fast`."""
    terms: Words = ()
    """The server's options, such as `--days=3`, `--unrated`, `--entropy=WORD`, `--gather`."""
    commitment: Commitment = ""
    """With `--gather`: SHA-256 of a secret text that you keep, in hex. You reveal the text once all
    players have committed. If it is empty, the server keeps a text for you."""


@post(
    "/api/matches",
    security=PLAY_SCOPE,
    tags=["matches"],
    opt=declare_errors(
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
    command_request: NamedDependency[CommandRequest],
) -> Answered:
    """Challenge players by name; the match starts at once, or waits for their consent."""
    command = await asyncio.to_thread(
        start_by_name,
        command_request.context.app,
        command_request.actor,
        latest_rules(data.game.lower()),
        data.players,
        options=data.options,
        terms=data.terms,
        commitment=data.commitment,
    )
    return await command_request.send(command)
