"""What is recorded of powerdrain: matches of which options, and the board on file."""

FAMILIES = ((2, ""), (2, "-o1"), (2, "-o2"), (2, "-p"))
BOARD_PLY = 11
