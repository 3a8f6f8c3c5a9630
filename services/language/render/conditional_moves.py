"""A player's conditional moves in words, for that player alone."""

from domain.match.conditional_moves import ConditionalMove, ConditionalMoves
from domain.sentences import text_in
from infra.languages.wording import Wording


def conditional_move_lines(stored: ConditionalMoves, words: Wording) -> list[str]:
    """Return a line for each move that waits, and for each that was dropped."""
    waiting = [_line(move, words) for move in sorted(stored.moves, key=_order)]
    return [*waiting, *(text_in(note, words) for note in stored.notes)]


def _order(move: ConditionalMove) -> tuple[int, tuple[str, ...]]:
    return move.ply, move.path or ()


def _line(move: ConditionalMove, words: Wording) -> str:
    if move.next_turn:
        return words.gettext("conditional move for your next turn: %(move)s", move=move.move)
    if move.path is None:
        return words.gettext(
            "conditional move at #%(ply)s, whatever is played: %(move)s",
            ply=move.ply,
            move=move.move,
        )
    return words.gettext(
        "conditional move at #%(ply)s, after %(moves)s: %(move)s",
        ply=move.ply,
        moves=" ".join(move.path),
        move=move.move,
    )
