"""What is recorded of Hex: matches of which options, and the board on file."""

FAMILIES = ((2, ""), (2, "-size=14"), (2, "-noswap -size=4"))
"""The number of players and the flags that all games of a family have."""
BOARD_PLY = 40
"""How far the first recorded match is played for the board on file."""
