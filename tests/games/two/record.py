"""What is recorded of two: matches of which options, and the board on file."""

FAMILIES = ((1, ""),)
BOARD_PLY = 12
