"""What is recorded of Go: matches of which options, and the board on file."""

FAMILIES = ((2, ""), (2, "-size=13 -komi=0"), (2, "-size=5"))
"""The number of players and the flags that all games of a family have."""
BOARD_PLY = 40
"""How far the first recorded match is played for the board on file."""
PIECES = {
    "x": "dark stone 0",
    "o": "light stone 1",
    "b": "dark stone drained 0",
    "w": "light stone drained 1",
}
"""By letter of the JSON form: the classes of a piece, and its seat."""


def pieces(shown):
    """Return the classes and seat of each piece by its place."""
    return {name: PIECES[letter] for name, letter in shown["board"].items()}
