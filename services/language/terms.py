"""The options of a start, under the names that this package uses."""

from domain.match.start_options import StartOptions as Agreed
from domain.match.start_options import read_draw_options as read_draw
from domain.match.start_options import read_start_options as read_agreed

__all__ = ["Agreed", "read_agreed", "read_draw"]
