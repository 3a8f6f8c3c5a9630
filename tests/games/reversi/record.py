"""What is recorded of reversi: matches of which options, and the board on file."""

FAMILIES = ((2, ""),)
BOARD_PLY = 30
