"""What is recorded of powerdrain: matches of which options, and the board on file."""

FAMILIES = ((2, ""), (2, "-o1"), (2, "-o2"), (2, "-p"))
"""The number of players and the flags that all games of a family have."""
BOARD_PLY = 11
"""How far the first recorded match is played for the board on file."""
