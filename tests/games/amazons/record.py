"""What is recorded of Amazons: matches of which options, and the board on file."""

FAMILIES = ((2, ""), (2, "-size=8"), (2, "-size=6"))
BOARD_PLY = 24
