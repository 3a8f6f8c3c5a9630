"""Positions of the Power of Two that several tests look at."""


def pieces(**by_letter):
    """Return a board from names by letter: `pieces(O="m1 m13", x="c5")`."""
    return {name: letter for letter, names in by_letter.items() for name in names.split()}


def json(board):
    """Return the JSON form of a position with this board."""
    light = sum(letter in "Oo" for letter in board.values())
    return {"board": board, "supply": [16 - light, 16 - len(board) + light]}


FIGURE_3 = pieces(X="a1 a13", x="c5", O="m1 e3 l10 d12 j12 m13", o="b10 j10")

NO_MOVE = pieces(X="a1 a13", O="a5 b4 c3 d2 e1 a9 b10 c11 d12 e13")
"""Dark is shut in at both corners."""

WON = pieces(X="a1 a13", O="e1 e5 e9 e13 g1 g5 g9 g13 i1 i5 i9 i13 m1 m5 m9", o="m13")
"""Light has all sixteen on the board."""
