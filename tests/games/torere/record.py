"""What is recorded of torere: matches of which options, and the board on file."""

FAMILIES = ((2, ""),)
BOARD_PLY = 8
