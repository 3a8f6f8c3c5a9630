"""What is recorded of Oware: matches, and the board on file."""

FAMILIES = ((2, ""),)
BOARD_PLY = 30
