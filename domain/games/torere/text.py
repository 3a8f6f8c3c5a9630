"""Mū tōrere as text: the circle of kewai around the putahi."""

from collections.abc import Iterator
from typing import Final

from domain.game.text import TextInput, TextPlace

_LETTERS: Final = "PABCDEFGH"
"""The letters in the template for the putahi and for the kewai 1 to 8."""
_TEMPLATE: Final = r"""
          1
       .--A--.
    8 H   |   B 2
     / \  |  / \
    /   \ | /   \
   /     \|/     \
7 G-------P-------C 3
   \     /|\ 0   /
    \   / | \   /
     \ /  |  \ /
    6 F   |   D 4
       '--E--'
          5
""".strip("\n")


def draw(view: TextInput) -> str:
    """Draw a position; there is only one display."""
    board = view.position["board"]
    stones = {letter: board.get(str(at), "*") for at, letter in enumerate(_LETTERS)}
    return _TEMPLATE.translate(str.maketrans(stones))


def places(view: TextInput) -> Iterator[TextPlace]:
    """Return where each place of the star is in the drawing."""
    del view
    for line, letters in enumerate(_TEMPLATE.splitlines()):
        for column, letter in enumerate(letters):
            if letter in _LETTERS:
                yield TextPlace(str(_LETTERS.index(letter)), line, column)
