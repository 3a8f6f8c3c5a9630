"""Typed text, read as it was meant; the functions are those of `services.app`."""

from services.app.move_text import read_move
from services.app.typography import as_flag, as_move, as_plain

__all__ = ["as_flag", "as_move", "as_plain", "read_move"]
