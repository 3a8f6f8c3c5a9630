"""What is recorded of goliath: matches of which options, and the board on file."""

FAMILIES = ((2, ""), (2, "-goliath_first"), (2, "-count"))
"""The number of players and the flags that all games of a family have."""
BOARD_PLY = 20
"""How far the first recorded match is played for the board on file."""
