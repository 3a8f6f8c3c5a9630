"""What is recorded of one: matches of which options, and the board on file."""

FAMILIES = ((1, ""),)
"""The number of players and the flags that all games of a family have."""
BOARD_PLY = 7
"""How far the first recorded match is played for the board on file."""
