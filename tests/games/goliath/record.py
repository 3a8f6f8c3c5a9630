"""What is recorded of goliath: matches of which options, and the board on file."""

FAMILIES = ((2, ""), (2, "-goliath_first"), (2, "-count"))
BOARD_PLY = 20
