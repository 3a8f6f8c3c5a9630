"""Commands in a match: `POST /api/matches/{board}/commands`."""

import asyncio
from typing import Annotated, Final
from uuid import uuid4

import msgspec
from litestar import get, post
from litestar.di import NamedDependency
from litestar.params import HeaderParameter, JSONBody, PathParameter, QueryParameter

from domain.errors import Code, Refusal
from domain.match import commands
from domain.match.commands import Command, Sent
from domain.match.decide import OFFER_KINDS, seat_of
from domain.match.events import AccountId, CommandId, command_id
from domain.match.state import MatchState
from domain.rules import pinned
from infra.async_gateway import PendingAt
from infra.outcomes import Outcome, parse
from infra.tokens import Scope
from services.api.answers import refuses
from services.api.bodies import Asked
from services.api.callers import AHEAD, PLAY, Caller
from services.api.context import DOOR, ApiContext
from services.language.draws import Part, consent, read_text, revealed
from services.language.typography import read_move

WAIT_SECONDS: Final = 10.0

MOST_WAIT: Final = 60.0

BoardNumber = Annotated[int, PathParameter(ge=1, le=10**15, description="the match's number")]
Wait = Annotated[
    float,
    QueryParameter(
        ge=0, le=MOST_WAIT, description="how many seconds the outcome is waited for; 202 after that"
    ),
]
Key = Annotated[
    str | None,
    HeaderParameter(
        name="Idempotency-Key",
        min_length=1,
        max_length=200,
        description="repeating a command with its key is safe: it is carried out once, and "
        "answered alike each time; without one the command gets a key of its own",
    ),
]


RevealedText = Annotated[
    str, msgspec.Meta(min_length=2, max_length=128, pattern="^([0-9A-Fa-f]{2})+$")
]
"""In hex digits."""


class AskedInMatch(Asked, frozen=True, tag_field="do"):
    """What a player asks for in a match."""


class Move(AskedInMatch, frozen=True, tag="move"):
    """Play a move."""

    move: Annotated[str, msgspec.Meta(max_length=512, examples=["m13-j7"])]
    ply: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] | None = None
    """The number of plies that you believe were played: refused if another came between."""


class Offer(AskedInMatch, frozen=True, tag="offer"):
    """Propose something that needs the others' consent."""

    kind: Annotated[str, msgspec.Meta(max_length=24, examples=["draw", "undo", "pause"])]


class Accept(AskedInMatch, frozen=True, tag="accept"):
    """Accept the offer that stands, or a match that waits for consent."""

    entropy: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """A word of yours, mixed into the draw of a match that waits for it."""
    commitment: Annotated[str, msgspec.Meta(pattern="^([0-9A-Fa-f]{64})?$")] = ""
    """SHA-256 of a text that you keep, where the match waits for it; else the server keeps one."""


class Reveal(AskedInMatch, frozen=True, tag="reveal"):
    """Reveal the text that you committed to."""

    text: RevealedText


class Reject(AskedInMatch, frozen=True, tag="reject"):
    """Reject the offer that stands."""


class Resign(AskedInMatch, frozen=True, tag="resign"):
    """Return the match up."""


class Decline(AskedInMatch, frozen=True, tag="decline"):
    """Refuse to play, before your first move."""


class Resume(AskedInMatch, frozen=True, tag="resume"):
    """End a pause."""


AnyAsked = Move | Offer | Accept | Reveal | Reject | Resign | Decline | Resume


class Answered(msgspec.Struct, frozen=True):
    """What became of a command."""

    id: str
    """The command's, in hex: the same for every repetition with its key."""
    board: int
    accepted: bool
    code: str
    """Empty when it was accepted."""
    message: str
    """Why it was refused, in a sentence."""
    seq: int
    """Of its first event; of the last event before it when it was refused."""
    index: int
    """Of its first leaf in the log of its shard."""


@post(
    "/api/matches/{board:int}/commands",
    status_code=200,
    security=PLAY,
    tags=["commands"],
    opt={AHEAD: True}
    | refuses(
        Code.UNKNOWN_BOARD,
        Code.NOT_A_PLAYER,
        Code.UNREADABLE_MOVE,
        Code.TOO_LONG,
        Code.UNKNOWN_OFFER,
        Code.BAD_OPTION,
        Code.WRONG_TEXT,
        Code.NOT_STARTED,
        Code.MATCH_OVER,
        Code.ALREADY_STARTED,
        Code.STALE_PLY,
        Code.NOT_YOUR_TURN,
        Code.ILLEGAL_MOVE,
        Code.OFFER_STANDS,
        Code.NO_OFFER,
        Code.NOT_PAUSED,
        Code.TIME_OVER,
        Code.TOO_EARLY,
        Code.TOO_LATE,
        Code.ID_REUSED,
        Code.TOO_MANY_REFUSALS,
        Code.BUSY,
        waits=True,
    ),
    summary="Give a command in a match",
)
async def give_command(
    board: BoardNumber,
    data: JSONBody[AnyAsked],
    context: NamedDependency[ApiContext],
    caller: NamedDependency[Caller],
    key: Key = None,
    wait: Wait = WAIT_SECONDS,
) -> Answered:
    """Carry out a command, and give its outcome once it is durable."""
    account = caller.need(Scope.PLAY)
    state = (await context.snapshot(board, caller.match)).state
    seat_of(account, state)
    id_ = command_id(DOOR, account, key or uuid4().hex)
    command = await command_of(data, context, board, account, state, id_)
    sent = Sent(board, id_, account, command)
    return promised(context, board, id_, await context.gateway.send(sent, state.ply, wait))


class Revealing(Asked, frozen=True):
    """A text that a player has committed to."""

    text: RevealedText


@post(
    "/api/matches/{board:int}/reveal",
    status_code=200,
    tags=["commands"],
    opt=refuses(
        Code.UNKNOWN_BOARD,
        Code.MATCH_OVER,
        Code.TOO_EARLY,
        Code.TOO_LATE,
        Code.WRONG_TEXT,
        Code.TIME_OVER,
        Code.TOO_MANY_REFUSALS,
        Code.BUSY,
        waits=True,
    ),
    summary="Reveal a text for a draw",
)
async def reveal_text(
    board: BoardNumber,
    data: JSONBody[Revealing],
    context: NamedDependency[ApiContext],
    wait: Wait = WAIT_SECONDS,
) -> Answered:
    """Reveal a text for whoever committed to it. It proves itself, so nobody has to log in."""
    state = (await context.match(board)).state
    sent = revealed(board, state, read_text(data.text))
    return promised(context, board, sent.id, await context.gateway.send(sent, state.ply, wait))


@get(
    "/api/matches/{board:int}/commands/{command:str}",
    security=PLAY,
    tags=["commands"],
    opt=refuses(Code.NOT_FOUND, Code.NOT_A_PLAYER, waits=True),
    summary="Ask for the outcome of a command",
)
async def command_outcome(
    board: BoardNumber,
    command: Annotated[
        str, PathParameter(pattern="^[0-9a-f]{32}$", description="the command's id")
    ],
    context: NamedDependency[ApiContext],
    caller: NamedDependency[Caller],
) -> Answered:
    """Return the outcome of a command, accepted or refused; 404 while there is none.

    Only the players of the match are told. A 202 says where to ask.
    """
    state = (await context.snapshot(board)).state
    id_ = bytes.fromhex(command)
    (stored,) = await context.store.outcomes([(board, id_)])
    if state.started:
        seat_of(caller.account, state)
    if stored is None:
        raise Refusal(Code.NOT_FOUND, "no command of this id has an outcome in this match")
    outcome = parse(stored)
    if not outcome.accepted:
        return answered(board, id_, outcome)
    return promised(context, board, id_, outcome)


def promised(context: ApiContext, board: int, id_: CommandId, outcome: Outcome) -> Answered:
    """Show the outcome of a command that was accepted, and refuse one that was not.

    `PendingAt` where nothing may be promised.
    """
    if not outcome.accepted:
        raise Refusal(Code(outcome.code), outcome.sentence)
    if not context.app.durable:
        raise PendingAt(board, id_, "with durability none this is never more than pending")
    return answered(board, id_, outcome)


def answered(board: int, id_: CommandId, outcome: Outcome) -> Answered:
    """Show an outcome."""
    return Answered(
        id=id_.hex(),
        board=board,
        accepted=outcome.accepted,
        code=outcome.code,
        message=outcome.sentence,
        seq=outcome.seq,
        index=outcome.index,
    )


async def command_of(
    asked: AnyAsked,
    context: ApiContext,
    board: int,
    account: AccountId,
    state: MatchState,
    id_: CommandId,
) -> Command:
    """Return the command that is meant; what can be told without deciding is told here."""
    match asked:
        case Move():
            rules = pinned(state.rules)
            return commands.Move(text=rules.write(read_move(rules, asked.move)), ply=asked.ply)
        case Offer():
            return _offer(asked.kind, state)
        case Accept():
            part = Part(asked.entropy, asked.commitment)
            return await asyncio.to_thread(consent, context.app, board, account, state, id_, part)
        case Reveal():
            return commands.Reveal(text=read_text(asked.text))
        case _:
            return _PLAIN[type(asked)]


_PLAIN: Final[dict[type[AskedInMatch], Command]] = {
    Reject: commands.Answer(accept=False),
    Resign: commands.Resign(),
    Decline: commands.Decline(),
    Resume: commands.Resume(),
}


def _offer(kind: str, state: MatchState) -> commands.Offer:
    kinds = (*OFFER_KINDS, *pinned(state.rules).offers)
    if kind not in kinds:
        raise Refusal(
            Code.UNKNOWN_OFFER, f"{kind!r} can't be proposed; what can be is: {', '.join(kinds)}"
        )
    return commands.Offer(kind=kind)
