"""What a player has laid ready, in words; for that player's eyes only."""

from domain.match.conditional_moves import ConditionalMove, ConditionalMoves


def conditional_move_lines(laid: ConditionalMoves) -> list[str]:
    """Return a line for each reply that waits, and for each that was dropped."""
    waiting = [_line(reply) for reply in sorted(laid.moves, key=_order)]
    return [*waiting, *laid.notes]


def _order(reply: ConditionalMove) -> tuple[int, tuple[str, ...]]:
    return reply.ply, reply.path or ()


def _line(reply: ConditionalMove) -> str:
    when = "whatever is played" if reply.path is None else f"after {' '.join(reply.path)}"
    return f"laid ready for #{reply.ply}, {when}: {reply.move}"
