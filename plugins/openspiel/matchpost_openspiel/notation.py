"""The moves of OpenSpiel's games as matchpost writes them: lower case, no blanks, and places by letters and a number.

OpenSpiel's own texts of actions, such as `Nf3` or `x(0,2)`, mean something only in a position, and a few differ in case
alone. What is written here is read alike in either case; docs/design/080-openspiel.md says why.
"""

import re
from collections.abc import Callable
from string import ascii_lowercase
from typing import Final

Seat = int
Notation = Callable[[int, str, Seat], str]
"""From an action, OpenSpiel's text of it and the player, in OpenSpiel's count, to what is written here."""

_PLACE: Final = re.compile(r"([a-z])(\d+)")
_PAIR: Final = re.compile(r"\((\d+), ?(\d+)\)")


def from_above(row: int, column: int) -> str:
    """Return the name of a square whose row is counted from above, both from 0."""
    return f"{ascii_lowercase[column]}{row + 1}"


def places(action: int, text: str, player: Seat) -> str:
    """Return the places that a text names, in its order; a text without any, such as a pass, is a word."""
    del action, player
    found = ["".join(one) for one in _PLACE.findall(text.lower())]
    return "-".join(found) or text.lower().split()[-1]


def lower(action: int, text: str, player: Seat) -> str:
    """Return a text in lower case."""
    del action, player
    return text.lower()


def numbers(action: int, text: str, player: Seat) -> str:
    """Return the numbers that a text names; a text without any is a word."""
    del action, player
    return "-".join(re.findall(r"\d+", text)) or text.lower()


def column(action: int, text: str, player: Seat) -> str:
    """Return the number of a column, from 1."""
    del text, player
    return f"{action + 1}"


def cell(size: int) -> Notation:
    """Return the notation of a board of that many columns whose actions are its places."""
    return lambda action, text, player: from_above(*divmod(action, size))  # noqa: ARG005


def pairs(rows: int, first: int = 0) -> Notation:
    """Return the notation of texts with pairs of a row from above and a column, counted from `first`; row 1 is below."""

    def written(action: int, text: str, player: Seat) -> str:
        del action, player
        found = ((int(row) - first, int(at) - first) for row, at in _PAIR.findall(text))
        return "-".join(f"{ascii_lowercase[at]}{rows - row}" for row, at in found)

    return written


def chess(planes: int) -> Notation:
    """Return the notation of chess and its kin: the squares from and to, and what a pawn becomes.

    An action has its square of origin, as the player sees the board, above `planes` kinds of steps.
    """

    def written(action: int, text: str, player: Seat) -> str:
        squares = re.findall(r"[a-h][1-8]", text)
        if "@" in text:
            return text.rstrip("+#").lower()
        if text.startswith("O"):
            row = 1 if player == 1 else 8
            return f"e{row}-{'c' if text.startswith('O-O-O') else 'g'}{row}"
        file, rank = divmod(action // planes, 8)
        origin = f"{ascii_lowercase[file]}{rank + 1 if player == 1 else 8 - rank}"
        became = re.search(r"=(\w)", text)
        return f"{origin}-{squares[-1]}{became[1].lower() if became else ''}"

    return written


def shogi(action: int, text: str, player: Seat) -> str:
    """Return squares by the letter of their row and the number of their file; `p` promotes, and `p@e5` drops a pawn."""
    del action, player
    squares = [letter + number for number, letter in re.findall(r"(\d)([a-i])", text)]
    if "*" in text:
        return f"{text[0].lower()}@{squares[0]}"
    return "-".join(squares) + ("p" if text.endswith("+") else "")


def pits(action: int, text: str, player: Seat) -> str:
    """Return a pit of Oware: `a1` to `f1` are the first player's, `a2` to `f2` the other's, each from its left."""
    del action
    return f"{text.lower()}{player + 1}"


def edge(action: int, text: str, player: Seat) -> str:
    """Return a line between dots: `h12` lies across, in row 1 and column 2, and `v12` upright."""
    del action, player
    kind, row, at = re.findall(r"[hv]|\d+", text.partition("(")[2])
    return f"{kind}{int(row) + 1}{int(at) + 1}"


def heap(action: int, text: str, player: Seat) -> str:
    """Return a heap's letter and how many are taken: `c2` takes two of the third."""
    del action, player
    number, taken = re.findall(r"\d+", text)
    return f"{ascii_lowercase[int(number) - 1]}{taken}"


def nested(action: int, text: str, player: Seat) -> str:
    """Return a square of nine boards of nine as one of 81; a whole board is chosen by its middle."""
    del action, player
    board, *square = map(int, re.findall(r"\d+", text))
    row, at = square or (1, 1)
    return from_above(3 * (board // 3) + row, 3 * (board % 3) + at)
