"""A player's conditional moves in words, for that player alone."""

from domain.match.conditional_moves import ConditionalMove, ConditionalMoves


def conditional_move_lines(stored: ConditionalMoves) -> list[str]:
    """Return a line for each move that waits, and for each that was dropped."""
    waiting = [_line(move) for move in sorted(stored.moves, key=_order)]
    return [*waiting, *map(str, stored.notes)]


def _order(move: ConditionalMove) -> tuple[int, tuple[str, ...]]:
    return move.ply, move.path or ()


def _line(move: ConditionalMove) -> str:
    if move.next_turn:
        return f"conditional move for your next turn: {move.move}"
    when = "whatever is played" if move.path is None else f"after {' '.join(move.path)}"
    return f"conditional move at #{move.ply}, {when}: {move.move}"
