"""Starting matches: challenges of players by name."""

from functools import partial
from typing import Annotated, Final

import msgspec
from litestar import Response
from litestar.params import JSONBody

from domain.errors import Code
from domain.match.start import OPENING_FLAG
from domain.rules import latest_rules
from domain.rules.openings import MOST_CHARACTERS
from infra.people.tokens import Scope
from services.app.play import give
from services.app.receipts import Answered
from services.app.rematch import rematch
from services.app.start import start_by_name
from services.http.api.bodies import RequestBody, Sender
from services.http.api.declared import ApiRoutes, created, refuses
from services.http.api.routes.accounts import Userid
from services.http.api.routes.commands import BoardNumber

Words = Annotated[
    tuple[Annotated[str, msgspec.Meta(max_length=64)], ...], msgspec.Meta(max_length=20)
]


Commitment = Annotated[str, msgspec.Meta(pattern="^([0-9A-Fa-f]{64})?$")]

Opening = Annotated[str, msgspec.Meta(max_length=MOST_CHARACTERS, examples=[""])]


def with_opening(terms: tuple[str, ...], opening: str) -> tuple[str, ...]:
    """Return the server's options of a match with its opening, if it has one."""
    return (*terms, f"{OPENING_FLAG}{opening}") if opening.strip() else terms


OPENING_ERRORS: Final = (Code.UNREADABLE_MOVE, Code.ILLEGAL_MOVE)
"""The codes of openings that are refused, beside `bad-option`."""

api = ApiRoutes("matches")


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
    opening: Opening = ""
    """The moves with which the match begins, with blanks between them; empty for none."""


@api.post("/api/matches", "New match", Scope.PLAY, waits=True, located=True, status_code=201)
@refuses(
    *OPENING_ERRORS,
    Code.SANCTIONED,
    Code.UNKNOWN_GAME,
    Code.GAME_OFF,
    Code.UNKNOWN_USER,
    Code.UNKNOWN_OPTION,
    Code.BAD_OPTION,
    Code.BAD_PLAYERS,
    Code.NOT_WANTED,
    Code.TOO_MANY,
    Code.ID_REUSED,
    Code.BUSY,
)
async def start_match(data: JSONBody[NewMatch], sender: Sender) -> Response[Answered]:
    """Challenge players by name; the match starts at once, or waits for their consent."""
    start = partial(
        start_by_name,
        sender.app,
        sender.actor,
        latest_rules(data.game.lower()),
        data.players,
        options=data.options,
        terms=with_opening(data.terms, data.opening),
        commitment=data.commitment,
    )
    return _created(await sender.submit(give(sender.app, start)))


def _created(answered: Answered) -> Response[Answered]:
    return created(answered, f"/api/matches/{answered.board}")


class Rematch(RequestBody, frozen=True):
    """A match to play again."""

    commitment: Commitment = ""
    """If the match gathers (`--gather`): SHA-256 of a secret text that you keep, in hex. If it is
    empty, the server keeps a text for you."""


@api.post(
    "/api/matches/{board:int}/rematch",
    "Start a rematch",
    Scope.PLAY,
    waits=True,
    located=True,
    status_code=201,
)
@refuses(
    Code.SANCTIONED,
    Code.GAME_OFF,
    Code.UNKNOWN_BOARD,
    Code.DAMAGED,
    Code.NOT_A_PLAYER,
    Code.TOO_EARLY,
    Code.BAD_PLAYERS,
    Code.UNKNOWN_USER,
    Code.NOT_WANTED,
    Code.TOO_MANY,
    Code.ID_REUSED,
    Code.BUSY,
)
async def start_rematch(
    board: BoardNumber, data: JSONBody[Rematch], sender: Sender
) -> Response[Answered]:
    """Start the rematch of a match that is over: the same players, game and options, sides exchanged.

    A match has one rematch. A player who asks after another gets the match that the other started. The
    request can be repeated safely, with any key.
    """
    asked = rematch(sender.app, sender.actor, board, data.commitment)
    return _created(await sender.submit(asked))
