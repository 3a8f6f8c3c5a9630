"""What is recorded of pow2: matches of which options, and the board on file."""

FAMILIES = ((2, ""), (2, "-exact"), (2, "-noborder"), (2, "-fast"), (2, "-middle"), (2, "-free"))
"""The number of players and the flags that all games of a family have."""
BOARD_PLY = 16
"""How far the first recorded match is played for the board on file."""
