"""Get a Jump On as text."""

from domain.boards.pow2_text import board_below
from domain.game.text import TextInput


def draw(view: TextInput) -> str:
    """Draw a position below a line that counts the stones."""
    board = view.position["board"]
    if board and "O" not in board.values():
        return board_below(f"Stones left: {len(board)} Plies: {view.position['plies']}", view)
    return board_below(f"Stones set: {len(board)}", view)
