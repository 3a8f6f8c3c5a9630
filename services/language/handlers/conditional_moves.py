"""Conditional moves: queue."""

from domain.match.conditional_moves import ConditionalMoves
from services.app.conditional_moves import (
    conditional_moves_of,
    drop_conditional_moves,
    set_conditional_moves,
)
from services.language.answer import Answer
from services.language.invocation import Invocation
from services.language.texts import conditional_move_lines


def queue(call: Invocation) -> Answer:
    """Store conditional moves, drop them, or show them."""
    app, actor, board = call.app, call.actor, call.board
    if call.line.has("clear"):
        return _shown(call, board, set_conditional_moves(app, actor, board, ()))
    if call.line.has("drop"):
        return _shown(call, board, drop_conditional_moves(app, actor, board, call.line.all("step")))
    if call.line.has("step"):
        lines = [call.line.all("step")]
        stored = set_conditional_moves(app, actor, board, lines, add=True, next_turn=True)
        return _shown(call, board, stored)
    return _shown(call, board, conditional_moves_of(app, actor.account, board))


def _shown(call: Invocation, board: int, stored: ConditionalMoves) -> Answer:
    lines, _ = conditional_move_lines(stored, call.words), call.words.gettext
    if not lines:
        return Answer(_("match %(board)s: you have no conditional moves", board=board))
    return Answer(_("match %(board)s: only you can see this", board=board), "\n".join(lines))
