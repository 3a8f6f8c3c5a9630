"""What is recorded of Four in a Row: matches of which options, and the board on file."""

FAMILIES = ((2, ""),)
BOARD_PLY = 20
