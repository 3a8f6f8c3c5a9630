"""What is recorded of Oware: matches, and the board on file."""

FAMILIES = ((2, ""),)
"""The number of players and the flags that all games of a family have."""
BOARD_PLY = 30
"""How far the first recorded match is played for the board on file."""
