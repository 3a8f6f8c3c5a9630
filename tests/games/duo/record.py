"""What is recorded of duo: matches of which options, and the board on file."""

FAMILIES = ((1, ""),)
BOARD_PLY = 16
