"""What is recorded of Hex: matches of which options, and the board on file."""

FAMILIES = ((2, ""), (2, "-size=14"), (2, "-noswap -size=4"))
BOARD_PLY = 40
