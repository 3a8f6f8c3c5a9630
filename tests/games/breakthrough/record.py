"""What is recorded of Breakthrough: matches of which options, and the board on file."""

FAMILIES = ((2, ""), (2, "-size=5"))
BOARD_PLY = 24
