"""What is recorded of Amazons: matches of which options, and the board on file."""

FAMILIES = ((2, ""), (2, "-size=8"), (2, "-size=6"))
"""The number of players and the flags that all games of a family have."""
BOARD_PLY = 24
"""How far the first recorded match is played for the board on file."""
PIECES = {"o": "light amazon 0", "x": "dark amazon 1", "#": "third arrow 2"}
"""By letter of the JSON form: the classes of a piece, and its seat."""


def pieces(shown):
    """Return the classes and seat of each piece by its place."""
    return {name: PIECES[letter] for name, letter in shown["board"].items()}
