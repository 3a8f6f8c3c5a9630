"""The Power of Two board as text: two constant templates with 64 marks to fill in."""

from collections.abc import Iterator, Mapping
from typing import Final

from domain.boards.pow2_board import NAMES
from domain.game.text import TextInput, TextPlace

LARGE: Final = r"""
     a     b c cdd   e  ff   g   hh  i   jjk k l     m
 1   * - - - - - - - * - - - * - - - * - - - - - - - *    1
     |.\ - _       / |     /.|.\     | \       _ - /.|
     | . \   - _ /       / .   . \       \ _ -   / . |
 2   |  .  \   /*- _ | /  .  |  .  \ | _ -*\   /  .  |    2
 3   |   .   *  .    * _ .       . _ *    .  *   .   |    3
 3   |    ./- _\ . / |  *- _ | _ -*  | \ . /_ -\.    |    3
 4   |   / *    -*     .   _ * _   .     *-    * \   |    4
     | /    .  /   \ |._ -   |   - _.| /   \  .    \ |
 5   * - - - * - - _ * - - - * - - - * _ - - * - - - *    5
     |     /  ._ -  .| \   /   \   / |.  - _.  \     |
 6   |   / _ - *   .     *       *     .   * - _ \   |    6
     | / -      . .  | /           \ |  . .      - \ |
 7   * - - - - - * - *     P o T     * - * - - - - - *    7
     | \ - _    . .  | \           / |  . .    _ - / |
 8   |   \   - *   .     *       *     .   * -   /   |    8
     |     \  .  - _.| /   \   /   \ |._ -  .  /     |
 9   * - - - * - - - * _ - - * - - _ * - - - * - - - *    9
     | \    .  \   / |.  - _ | _ -  .| \   /  .    / |
10   |   \ *  _ -*     .   _ * _   .     *- _  * /   |   10
11   |    .\-  / . \ | _*-   |   -*_ | / . \  -/.    |   11
11   |   .   *  .  _ *   .       .   * _  .  *   .   |   11
12   |  .  /   \*-   | \  .  |  .  / |   -*/   \  .  |   12
     | . / _ -   \       \ .   . /       /   - _ \ . |
     |./ -         \ |     \.|./     | /         - \.|
13   * - - - - - - - * - - - * - - - * - - - - - - - *   13
     a     b c cdd   e  ff   g   hh  i   jjk k l     m
"""

SMALL: Final = r"""
   a b c d e f g h i j k l m
 1 * - - - * - * - * - - - *  1
 2 |     * |   |   | *     |  2
 3 |   *   * * | * *   *   |  3
 4 | *   * |   *   | *   * |  4
 5 * - * - * - * - * - * - *  5
 6 |   *   | *   * |   *   |  6
 7 * - - * *  PoT  * * - - *  7
 8 |   *   | *   * |   *   |  8
 9 * - * - * - * - * - * - *  9
10 | *   * |   *   | *   * | 10
11 |   *   * * | * *   *   | 11
12 |     * |   |   | *     | 12
13 * - - - * - * - * - - - * 13
   a b c d e f g h i j k l m
"""

# in the large drawing four marks of rows 3 and 11 are on separate lines, nearer the middle
_OWN_LINE: Final = {"f3": 3.5, "h3": 3.5, "f11": 10.5, "h11": 10.5}


def _reading_order(own_line: Mapping[str, float]) -> tuple[str, ...]:
    """Return the intersections in the order of their marks in a template."""
    return tuple(sorted(NAMES, key=lambda name: (own_line.get(name, int(name[1:])), name[0])))


_TEMPLATES: Final = {
    "large": (LARGE.strip("\n").replace("*", "{}"), _reading_order(_OWN_LINE)),
    "small": (SMALL.strip("\n").replace("*", "{}"), _reading_order({})),
}


def _marks(template: str, order: tuple[str, ...]) -> tuple[TextPlace, ...]:
    """Return where each mark of a template is."""
    found = [
        (line, column)
        for line, letters in enumerate(template.strip("\n").splitlines())
        for column, letter in enumerate(letters)
        if letter == "*"
    ]
    return tuple(TextPlace(name, *at) for name, at in zip(order, found, strict=True))


_MARKS: Final = {
    "large": _marks(LARGE, _TEMPLATES["large"][1]),
    "small": _marks(SMALL, _TEMPLATES["small"][1]),
}

_ABOVE: Final = 2
"""Lines above the board in `board_below`."""


def draw_board(pieces: Mapping[str, str], display: str) -> str:
    """Draw the board with a letter for each piece, and `*` for each empty intersection."""
    template, order = _TEMPLATES[display]
    return template.format(*(pieces.get(name, "*") for name in order))


def board_below(line: str, view: TextInput) -> str:
    """Draw the board of a position below a line of counts."""
    return f"{line}\n\n{draw_board(view.position['board'], view.display)}"


def places_below(view: TextInput) -> Iterator[TextPlace]:
    """Return where each intersection is in what `board_below` returns."""
    for mark in _MARKS[view.display]:
        yield TextPlace(mark.name, mark.line + _ABOVE, mark.column)
