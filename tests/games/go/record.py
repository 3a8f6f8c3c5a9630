"""What is recorded of Go: matches of which options, and the board on file."""

FAMILIES = ((2, ""), (2, "-size=13 -komi=0"), (2, "-size=5"))
BOARD_PLY = 40
