"""What is recorded of line: matches of which options, and the board on file."""

FAMILIES = ((2, ""), (2, "-stones=16"), (2, "-stones=8"))
"""The number of players and the flags that all games of a family have."""
BOARD_PLY = 17
"""How far the first recorded match is played for the board on file."""
