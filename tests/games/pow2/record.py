"""What is recorded of pow2: matches of which options, and the board on file."""

FAMILIES = ((2, ""), (2, "-exact"), (2, "-noborder"), (2, "-fast"), (2, "-middle"), (2, "-free"))
BOARD_PLY = 16
