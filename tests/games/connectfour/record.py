"""What is recorded of Four in a Row: matches of which options, and the board on file."""

FAMILIES = ((2, ""),)
"""The number of players and the flags that all games of a family have."""
BOARD_PLY = 20
"""How far the first recorded match is played for the board on file."""
PIECES = {"x": "dark stone 0", "o": "light stone 1"}
"""By letter of the JSON form: the classes of a piece, and its seat."""


def pieces(shown):
    """Return the classes and seat of each piece by its place."""
    return {name: PIECES[letter] for name, letter in shown["board"].items()}
