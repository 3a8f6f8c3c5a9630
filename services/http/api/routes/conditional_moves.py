"""Conditional moves: the server plays them as soon as it is your turn."""

from typing import Annotated

import msgspec
from litestar.params import JSONBody, QueryParameter

from domain.errors import Code
from domain.match.conditional_moves import CONDITIONAL_MOVES_LIMIT, ConditionalMoves
from infra.people.tokens import Scope
from services.app.conditional_moves import (
    conditional_moves_of,
    drop_conditional_moves,
    set_conditional_moves,
)
from services.http.api.auth import Own
from services.http.api.bodies import RequestBody
from services.http.api.declared import CHECKED_MOVE_ERRORS, ApiRoutes, refuses
from services.http.api.routes.commands import BoardNumber

api = ApiRoutes("replies")

_Line = Annotated[
    tuple[Annotated[str, msgspec.Meta(max_length=520)], ...],
    msgspec.Meta(min_length=1, max_length=CONDITIONAL_MOVES_LIMIT),
]


_DroppedLine = Annotated[
    str | None,
    QueryParameter(
        max_length=6_000,
        description="Only those that begin with these moves, with blanks between them; a move with a later "
        "ply, such as `a13-d7#5`, is the one for that ply. Without it all are dropped.",
    ),
]


class NewReplies(RequestBody, frozen=True):
    """Your conditional moves in a match, in place of all earlier ones."""

    lines: Annotated[
        tuple[_Line, ...],
        msgspec.Meta(
            min_length=1, max_length=CONDITIONAL_MOVES_LIMIT, examples=[[["m13-j7", "a13-d7"]]]
        ),
    ]
    """Each line has moves from the present position on, those of the others and yours in turn; or
    moves that each name a later ply, such as `a13-d7#5`, and are played there after any moves; or one
    move of yours, which is played at your next turn, while another player is to move."""


class Reply(msgspec.Struct, frozen=True):
    """A conditional move."""

    ply: int
    """The number of moves played before it."""
    after: tuple[str, ...] | None
    """The moves from the present position on that must come before it; null for any."""
    move: str
    next_turn: bool
    """Whether it is for your first turn from that ply on."""


class LaidReady(msgspec.Struct, frozen=True):
    """Your conditional moves in a match."""

    board: int
    """The number of the match."""
    replies: tuple[Reply, ...]
    notes: tuple[str, ...]
    """Why the server did not play some of them, in sentences."""


@api.get("/api/matches/{board:int}/replies", "Your conditional moves", Scope.READ)
@refuses(Code.UNKNOWN_BOARD, Code.NOT_A_PLAYER)
def show_replies(board: BoardNumber, own: Own) -> LaidReady:
    """Return your conditional moves in a match; nobody else can see them."""
    return _conditional_moves_json(board, conditional_moves_of(own.app, own.account, board))


@api.put("/api/matches/{board:int}/replies", "Set conditional moves", Scope.PLAY)
@refuses(*CHECKED_MOVE_ERRORS, Code.UNREADABLE_MOVE, Code.USAGE, Code.BUSY)
def lay_replies(board: BoardNumber, data: JSONBody[NewReplies], own: Own) -> LaidReady:
    """Replace all your conditional moves in a match."""
    actor = own.actor()
    return _conditional_moves_json(
        board, set_conditional_moves(own.app, actor, board, data.lines, next_turn=True)
    )


@api.delete("/api/matches/{board:int}/replies", "Drop conditional moves", Scope.PLAY)
@refuses(
    Code.UNKNOWN_BOARD,
    Code.NOT_A_PLAYER,
    Code.UNREADABLE_MOVE,
    Code.USAGE,
    Code.TOO_LONG,
    Code.BUSY,
)
def drop_replies(board: BoardNumber, own: Own, line: _DroppedLine = None) -> None:
    """Drop your conditional moves in a match, or those that begin with a line."""
    actor = own.actor()
    if line is None:
        set_conditional_moves(own.app, actor, board, ())
    else:
        drop_conditional_moves(own.app, actor, board, line.split())


def _conditional_moves_json(board: int, stored: ConditionalMoves) -> LaidReady:
    moves = sorted(stored.moves, key=lambda move: (move.ply, move.path or ()))
    return LaidReady(
        board,
        tuple(Reply(one.ply, one.path or None, one.move, one.next_turn) for one in moves),
        tuple(map(str, stored.notes)),
    )
