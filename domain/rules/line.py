"""That's My Line: place stones where no opposing stone stands on any line through the place.

1. Light and Dark in turn place a stone on an empty intersection of the Power of Two board.
2. None of the lines through it, to their ends, may carry an opposing stone.
3. Who can't place, for want of an intersection or of a stone, is passed automatically.
4. The match ends when neither can. More stones win; on equal stones who placed last wins.
5. With `-stones=N` each has N stones; otherwise there is no limit.

Notation: `c3`, the intersection.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Any, Final, Literal

import msgspec

from domain.boards.pow2_board import INDEX, NAMES, SEEN, bits, names_of
from domain.errors import Code, Refusal
from domain.rules.defaults import RulesDefaults
from domain.rules.protocol import IllegalMove, Outcome, Seat, UnreadableMove

__all__ = ["Ending", "Intersection", "Line", "LineOptions", "LinePosition"]

SIDES: Final = ("Light", "Dark")
FORM: Final = "a move is written as one intersection, such as c3"

Intersection = int
"""A move: the intersection, by its index, on which a stone is placed."""


class LineOptions(msgspec.Struct, frozen=True):
    """The options of a match."""

    stones: Annotated[int, msgspec.Meta(ge=0, le=len(NAMES))] = 0
    """How many stones each player has; 0 for as many as find room."""


class Ending(StrEnum):
    """Why a match is over by the rules."""

    MORE_STONES = "more-stones"
    """Neither player can place a stone; the one who placed more wins."""
    LAST_STONE = "last-stone"
    """Neither player can place a stone, both placed equally many; who placed last wins."""


class LinePosition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The stones as sets of intersections, the seat whose turn it is, the stones each has.

    The turn is that of a player who can place, for passes are automatic; when neither can, it
    is that of the player who did not place last.
    """

    light: int
    dark: int
    turn: Seat
    limit: int


_EVERYWHERE: Final = (1 << len(NAMES)) - 1


def _room(own: int, opposing: int, limit: int) -> int:
    """Give where a player may place a stone."""
    if limit and own.bit_count() >= limit:
        return 0
    barred = own
    for at in bits(opposing):
        barred |= SEEN[at]
    return _EVERYWHERE & ~barred


def _open_to(position: LinePosition, seat: Seat) -> int:
    if seat:
        return _room(position.dark, position.light, position.limit)
    return _room(position.light, position.dark, position.limit)


def _play(position: LinePosition, at: Intersection) -> LinePosition:
    light, dark, limit = position.light, position.dark, position.limit
    if position.turn:
        dark |= 1 << at
        passed = not _room(light, dark, limit) and _room(dark, light, limit)
    else:
        light |= 1 << at
        passed = not _room(dark, light, limit) and _room(light, dark, limit)
    return LinePosition(light, dark, position.turn if passed else 1 - position.turn, limit)


def _outcome(position: LinePosition) -> Outcome:
    """Give the ending of a match in which neither player can place."""
    counts = (position.light.bit_count(), position.dark.bit_count())
    most = max(counts)
    stones = "1 stone" if most == 1 else f"{most} stones"
    if counts[0] == counts[1]:
        last = 1 - position.turn
        detail = f"{stones} each, and {SIDES[last]} placed last"
        return Outcome((last,), Ending.LAST_STONE, detail)
    more = counts.index(most)
    detail = f"{SIDES[more]} placed {stones} to {counts[1 - more]}"
    return Outcome((more,), Ending.MORE_STONES, detail)


def _fault(position: LinePosition, at: Intersection) -> str:
    """Say why no stone can be placed there."""
    if not _open_to(position, position.turn):
        return "the match is over: neither player can place a stone"
    if (position.light | position.dark) >> at & 1:
        return f"it is occupied by {'x' if position.dark >> at & 1 else 'o'}"
    opposing = position.light if position.turn else position.dark
    *others, final = names_of(SEEN[at] & opposing)
    whose = f"{SIDES[1 - position.turn]}'s"
    if not others:
        return f"{whose} stone at {final} stands on a line through it"
    return f"{whose} stones at {', '.join(others)} and {final} stand on lines through it"


class _PositionJson(msgspec.Struct, forbid_unknown_fields=True):
    board: dict[str, Literal["o", "x"]]
    stones: tuple[int, int]


def _bad(problem: str) -> Refusal:
    return Refusal(Code.BAD_SETUP, f"this is no position of line: {problem}")


def _from_json(data: object, options: LineOptions, to_move: Seat) -> LinePosition:
    try:
        given = msgspec.convert(data, _PositionJson)
    except msgspec.ValidationError as error:
        raise _bad(str(error)) from None
    boards = {"o": 0, "x": 0}
    for name, letter in given.board.items():
        if name not in INDEX:
            raise _bad(f"{name[:24]!r} is no intersection")
        boards[letter] |= 1 << INDEX[name]
    position = LinePosition(boards["o"], boards["x"], to_move, options.stones)
    _check_position(position, given.stones)
    return position


def _check_position(position: LinePosition, counts: tuple[int, int]) -> None:
    light, dark, to_move = position.light, position.dark, position.turn
    if counts != (light.bit_count(), dark.bit_count()):
        raise _bad("stones are not as many as on the board")
    if position.limit and max(counts) > position.limit:
        raise _bad(f"a player has more stones than {position.limit} (-stones)")
    for at in bits(light):
        if shared := SEEN[at] & dark:
            raise _bad(f"{NAMES[at]} and {names_of(shared)[0]} are opposing stones on one line")
    if to_move not in (0, 1) or (
        not _open_to(position, to_move) and _open_to(position, 1 - to_move)
    ):
        raise _bad(f"it can't be the turn of seat {to_move}")


class Line(RulesDefaults):
    """That's My Line, version 1."""

    key = "line"
    version = 1
    title = "That's My Line"
    sides: tuple[str, ...] = SIDES
    displays: tuple[str, ...] = ("large", "small")
    position_type = LinePosition
    options_type = LineOptions

    def start(self, options: LineOptions, players: int, setup: object | None) -> LinePosition:
        """Give the empty board; chance has no part in it."""
        if players not in self.players:
            raise Refusal(Code.BAD_PLAYERS, f"line is played by two, not by {players}")
        if setup is not None:
            raise Refusal(Code.BAD_SETUP, "line has no setup that chance draws")
        return LinePosition(0, 0, 0, options.stones)

    def to_move(self, position: LinePosition) -> Seat | None:
        """Give the next seat that can place a stone, None when neither can."""
        return position.turn if _open_to(position, position.turn) else None

    def moves(self, position: LinePosition) -> list[Intersection]:
        """Give every intersection on which a stone may be placed."""
        return list(bits(_open_to(position, position.turn)))

    def count_moves(self, position: LinePosition) -> int:
        """Count the intersections on which a stone may be placed."""
        return _open_to(position, position.turn).bit_count()

    def legal_moves(self, position: LinePosition) -> Iterator[str]:
        """Yield every legal move, in sorting order."""
        return map(self.write, self.moves(position))

    def read(self, text: str) -> Intersection:
        """Read the name of an intersection."""
        name = "".join(text.split()).lower()
        if not text.isascii() or name not in INDEX:
            raise UnreadableMove(f"{text[:24]!r} is no intersection; {FORM}")
        return INDEX[name]

    def write(self, move: Intersection) -> str:
        """Give the name of the intersection."""
        return NAMES[move]

    def check(self, position: LinePosition, move: Intersection) -> Intersection:
        """Give the move back if it is legal, else say what stands in its way."""
        if _open_to(position, position.turn) >> move & 1:
            return move
        raise IllegalMove(f"{NAMES[move]}: {_fault(position, move)}")

    def play(self, position: LinePosition, move: Intersection) -> LinePosition:
        """Place a stone, and pass whoever can't."""
        return _play(position, move)

    def outcome(self, position: LinePosition) -> Outcome | None:
        """Give the ending: neither player can place a stone."""
        return None if _open_to(position, position.turn) else _outcome(position)

    def to_json(self, position: LinePosition) -> dict[str, Any]:
        """Give the stones on the board and how many each player has placed."""
        light, dark = position.light, position.dark
        return {
            "board": {NAMES[at]: "o" if light >> at & 1 else "x" for at in bits(light | dark)},
            "stones": [light.bit_count(), dark.bit_count()],
        }

    def from_json(self, data: object, options: LineOptions, to_move: Seat) -> LinePosition:
        """Read what `to_json` gave."""
        return _from_json(data, options, to_move)
