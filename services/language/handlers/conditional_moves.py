"""Conditional moves: queue."""

from domain.match.conditional_moves import ConditionalMoves
from services.app.conditional_moves import (
    conditional_moves_of,
    drop_conditional_moves,
    set_conditional_moves,
)
from services.language.answer import Answer
from services.language.invocation import Invocation
from services.language.render.conditional_moves import conditional_move_lines


def queue(call: Invocation) -> Answer:
    """Store conditional moves, drop them, or show them."""
    app, actor, board = call.app, call.actor, call.board
    if call.line.has("clear"):
        return _shown(board, set_conditional_moves(app, actor, board, ()))
    if call.line.has("drop"):
        return _shown(board, drop_conditional_moves(app, actor, board, call.line.all("step")))
    if call.line.has("step"):
        lines = [call.line.all("step")]
        stored = set_conditional_moves(app, actor, board, lines, add=True, next_turn=True)
        return _shown(board, stored)
    return _shown(board, conditional_moves_of(app, actor.account, board))


def _shown(board: int, stored: ConditionalMoves) -> Answer:
    lines = conditional_move_lines(stored)
    if not lines:
        return Answer(f"match {board}: you have no conditional moves")
    return Answer(f"match {board}: only you can see this", "\n".join(lines))
