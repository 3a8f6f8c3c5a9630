"""What a player has laid ready, in words; for that player's eyes only."""

from domain.match.replies import Laid, Reply


def lines_of(laid: Laid) -> list[str]:
    """Return a line for each reply that waits, and for each that was dropped."""
    waiting = [_line(reply) for reply in sorted(laid.replies, key=_order)]
    return [*waiting, *laid.notes]


def _order(reply: Reply) -> tuple[int, tuple[str, ...]]:
    return reply.ply, reply.path or ()


def _line(reply: Reply) -> str:
    when = "whatever is played" if reply.path is None else f"after {' '.join(reply.path)}"
    return f"laid ready for #{reply.ply}, {when}: {reply.move}"
