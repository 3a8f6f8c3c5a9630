"""What is recorded of Lines of Action: matches of which options, and the board on file."""

FAMILIES = ((2, ""),)
BOARD_PLY = 40
