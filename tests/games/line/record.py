"""What is recorded of line: matches of which options, and the board on file."""

FAMILIES = ((2, ""), (2, "-stones=16"), (2, "-stones=8"))
BOARD_PLY = 17
