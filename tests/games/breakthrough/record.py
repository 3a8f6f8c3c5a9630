"""What is recorded of Breakthrough: matches of which options, and the board on file."""

FAMILIES = ((2, ""), (2, "-size=5"))
"""The number of players and the flags that all games of a family have."""
BOARD_PLY = 24
"""How far the first recorded match is played for the board on file."""
