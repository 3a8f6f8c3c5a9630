"""What is recorded of pow2: matches of which options, and the board on file."""

FAMILIES = ((2, ""), (2, "-exact"), (2, "-noborder"), (2, "-fast"), (2, "-middle"), (2, "-free"))
"""The number of players and the flags that all games of a family have."""
BOARD_PLY = 16
"""How far the first recorded match is played for the board on file."""
PIECES = {"O": "light fresh 0", "o": "light aged 0", "X": "dark fresh 1", "x": "dark aged 1"}
"""By letter of the JSON form: the classes of a piece, and its seat."""


def pieces(shown):
    """Return the classes and seat of each piece by its place."""
    return {name: PIECES[letter] for name, letter in shown["board"].items()}
