"""Amazons: amazons move like queens and shoot arrows, which close squares for good, until one of the players can't move.

1. The board has 10 x 10 squares, or another size from 6 to 9. Each player has four amazons: on 10 x 10 White's are on
   a4, d1, g1 and j4, Black's on a7, d10, g10 and j7; on smaller boards they stand alike. White moves first.
2. A turn moves one of the player's amazons in a straight line, in any of eight directions, over empty squares.
3. Then the same amazon shoots an arrow in the same manner. It may fly over the square that the amazon has left, and
   hit it. The arrow stays for good.
4. Neither amazons nor arrows pass over a square with an amazon or an arrow. Nothing is captured.
5. A player who can't move loses. There are no draws.

Notation: `d1-d7/g7`, from where to where, and the square of the arrow; a1 is at the lower left.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from string import ascii_lowercase
from typing import Annotated, Any, Final

import msgspec

from domain.boards.sets import bits
from domain.game.protocol import GameOutcome, Rules, Seat, unreadable_move
from domain.games.amazons.sentences import SAY
from domain.sentences import Text

WHITE, BLACK = 0, 1
LETTERS: Final = "ox"
"""The letters of each seat's amazons in the JSON form."""
ARROW: Final = "#"
SMALLEST: Final = 6
LARGEST: Final = 10
_WON: Final = 2
"""At the end `turn` is the seat of the winner plus this."""
STRIDE: Final = LARGEST + 1
"""Places are numbered row by row from a1 on every board, with an unused place after each row."""
_BYTES: Final = 14
"""In a set of places."""
NAMES: Final = {
    STRIDE * row + column: f"{ascii_lowercase[column]}{row + 1}"
    for row in range(LARGEST)
    for column in range(LARGEST)
}
INDEX: Final = {name: place for place, name in NAMES.items()}
_STEPS: Final = (1, STRIDE - 1, STRIDE, STRIDE + 1)
"""Half of the directions; the others are backwards."""
Place = int
AmazonsMove = tuple[Place, Place, Place]
"""From where to where, and the place of the arrow."""
_FORM: Final = SAY("form")
_PLACE: Final = "([a-j](?:10|[1-9]))"
_NOTATION: Final = re.compile(f"{_PLACE}-?{_PLACE}[-/]?{_PLACE}")


class AmazonsOptions(msgspec.Struct, frozen=True):
    """The options of Amazons."""

    size: Annotated[int, msgspec.Meta(ge=SMALLEST, le=LARGEST)] = LARGEST
    """The rows and columns of the board."""


class Ending(StrEnum):
    """Why a match is over by the rules."""

    NO_MOVE = "no-move"
    """The player to move can't move, and loses."""


class AmazonsPosition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The amazons of both players as their places in order, the arrows as a set, little-endian, and the turn."""

    size: int
    white: bytes
    black: bytes
    arrows: bytes
    turn: int
    """The seat to move; at the end the winner's plus 2."""

    @property
    def amazons(self) -> tuple[bytes, bytes]:
        """The places of each seat's amazons."""
        return self.white, self.black

    @property
    def empty(self) -> int:
        """The set of the squares with neither an amazon nor an arrow."""
        taken = set_of(self.white) | set_of(self.black) | int.from_bytes(self.arrows, "little")
        return all_places(self.size) & ~taken


def set_of(places: bytes) -> int:
    """Return some places as a set."""
    found = 0
    for place in places:
        found |= 1 << place
    return found


@cache
def all_places(size: int) -> int:
    """Return the places of a board as a set."""
    return sum(((1 << size) - 1) << STRIDE * row for row in range(size))


def spread(places: int, empty: int) -> int:
    """Return the empty squares that are a queen's move away from one of these places."""
    found = 0
    for step in _STEPS:
        new = places << step & empty
        while new:
            found |= new
            new = new << step & empty
        new = places >> step & empty
        while new:
            found |= new
            new = new >> step & empty
    return found


def moves_of_amazons(amazons: bytes, empty: int) -> Iterator[tuple[Place, Place, int]]:
    """Yield for each move of one of the amazons from where it goes to where, and the set of possible arrows."""
    for start in amazons:
        for end in bits(spread(1 << start, empty)):
            yield start, end, spread(1 << end, empty ^ 1 << end | 1 << start)


def _line(start: Place, end: Place) -> range:
    """Return the places after one up to another in a straight line; none if there is no such line."""
    (row, column), (to_row, to_column) = divmod(start, STRIDE), divmod(end, STRIDE)
    up, right = to_row - row, to_column - column
    if start == end or (up and right and abs(up) != abs(right)):
        return range(0)
    step = (end - start) // max(abs(up), abs(right))
    return range(start + step, end + step, step)


@cache
def first_position(size: int) -> AmazonsPosition:
    """Return the start on a board of a size."""
    last, away = size - 1, (size - 4) // 2
    white = [(0, away), (0, last - away), (away, 0), (away, last)]
    places = [STRIDE * row + column for row, column in white]
    mirrored = [STRIDE * (last - row) + column for row, column in white]
    return AmazonsPosition(size, bytes(places), bytes(sorted(mirrored)), b"", WHITE)


class AmazonsRules(Rules[AmazonsPosition, AmazonsMove, AmazonsOptions]):
    """Amazons, version 1."""

    key = "amazons"
    title = "Amazons"
    sides = (SAY("side", seat=WHITE), SAY("side", seat=BLACK))
    displays = ("large",)
    options_type = AmazonsOptions
    position_type = AmazonsPosition

    def start(self, options: AmazonsOptions, players: int, setup: object | None) -> AmazonsPosition:
        """Return the board with four amazons each."""
        self.check_start(players, setup)
        return first_position(options.size)

    def to_move(self, position: AmazonsPosition) -> Seat | None:
        """Return the seat to move; None when the match is over."""
        return None if position.turn >= _WON else position.turn

    def moves(self, position: AmazonsPosition) -> list[AmazonsMove]:
        """Return the moves by amazon, then by where it goes, then by the arrow, each from a1 on."""
        if position.turn >= _WON:
            return []
        own = position.amazons[position.turn]
        return [
            (start, end, arrow)
            for start, end, arrows in moves_of_amazons(own, position.empty)
            for arrow in bits(arrows)
        ]

    def count_moves(self, position: AmazonsPosition) -> int:
        """Count the moves by sets of arrows, because there can be thousands."""
        if position.turn >= _WON:
            return 0
        own = position.amazons[position.turn]
        return sum(arrows.bit_count() for *_, arrows in moves_of_amazons(own, position.empty))

    def play(self, position: AmazonsPosition, move: AmazonsMove) -> AmazonsPosition:
        """Move an amazon, place the arrow, and look whether the other player can move."""
        (start, end, arrow), turn = move, position.turn
        own = bytes(sorted([end if place == start else place for place in position.amazons[turn]]))
        shot = int.from_bytes(position.arrows, "little") | 1 << arrow
        white, black = (position.white, own) if turn else (own, position.black)
        packed = shot.to_bytes(_BYTES, "little").rstrip(b"\0")
        after = AmazonsPosition(position.size, white, black, packed, 1 - turn)
        if spread(set_of(after.amazons[1 - turn]), after.empty):
            return after
        return AmazonsPosition(position.size, white, black, packed, turn + _WON)

    def read(self, text: str) -> AmazonsMove:
        """Read three squares; the signs between them may be left out, or both be hyphens."""
        found = _NOTATION.fullmatch("".join(text.split()).lower()) if text.isascii() else None
        if not found:
            raise unreadable_move(text, _FORM)
        start, end, arrow = map(INDEX.__getitem__, found.groups())
        return start, end, arrow

    def write(self, move: AmazonsMove) -> str:
        """Return the three squares."""
        start, end, arrow = move
        return f"{NAMES[start]}-{NAMES[end]}/{NAMES[arrow]}"

    def why_illegal(self, position: AmazonsPosition, move: AmazonsMove) -> Text | None:
        """Return which rule a move breaks, and where; None for a legal move."""
        (start, end, arrow), turn = move, position.turn
        if turn >= _WON:
            return SAY("over", loser=1 - (turn - _WON))
        inside = all_places(position.size)
        if not all(inside >> place & 1 for place in move):
            return SAY("off-board", last=NAMES[inside.bit_length() - 1])
        if start in position.amazons[1 - turn]:
            return SAY("owner", other=1 - turn, start=NAMES[start])
        if start not in position.amazons[turn]:
            return SAY("no-amazon", start=NAMES[start])
        return _why_blocked(position, start, start, end) or _why_blocked(
            position, start, end, arrow
        )

    def outcome(self, position: AmazonsPosition) -> GameOutcome | None:
        """Return the ending: the player to move can't move."""
        if position.turn < _WON:
            return None
        winner = position.turn - _WON
        said = SAY("no-move", loser=1 - winner, winner=winner)
        return GameOutcome((winner,), Ending.NO_MOVE, said)

    def to_json(self, position: AmazonsPosition) -> dict[str, Any]:
        """Return the size, and the pieces by square: o is White's, x is Black's, # is an arrow."""
        there = dict.fromkeys(bits(int.from_bytes(position.arrows, "little")), ARROW)
        for letter, amazons in zip(LETTERS, position.amazons, strict=True):
            there |= dict.fromkeys(amazons, letter)
        return {"size": position.size, "board": {NAMES[at]: there[at] for at in sorted(there)}}


def _why_blocked(position: AmazonsPosition, left: Place, start: Place, end: Place) -> Text | None:
    """Return what is in the way from one square to another, of which one has just been left."""
    way = _line(start, end)
    if not way:
        return SAY("no-line", start=NAMES[start], end=NAMES[end])
    for at in way:
        if at != left and not position.empty >> at & 1:
            what = next((seat for seat in (0, 1) if at in position.amazons[seat]), 2)
            return SAY("blocked", thing=what, at=NAMES[at])
    return None
