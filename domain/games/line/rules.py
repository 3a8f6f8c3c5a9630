"""That's My Line: place stones on intersections without an opposing stone on any of their lines.

1. Light and Dark in turn place a stone on an empty intersection of the Power of Two board.
2. None of the lines through it, to their ends, may carry an opposing stone.
3. A player without such an intersection, or without a stone, is passed automatically.
4. The match ends when neither can place. More stones win; with equal stones the last to place wins.
5. With `-stones=N` each has N stones; otherwise there is no limit.

Notation: `c3`, the intersection.
"""

from enum import StrEnum
from typing import Annotated, Any, Final

import msgspec

from domain.boards.pow2_board import INDEX, NAMES, ON_COMMON_LINE, stones_json, unopposed
from domain.boards.sets import bits
from domain.game.protocol import GameOutcome, Rules, Seat, UnreadableMove
from domain.games.line.sentences import SAY
from domain.sentences import Text


class LineOptions(msgspec.Struct, frozen=True):
    """The options of a match."""

    stones: Annotated[int, msgspec.Meta(ge=0, le=len(NAMES))] = 0
    """The stones of each player; 0 for no limit."""


Intersection = int
"""A move: the intersection, by its index, on which a stone is placed."""
FORM: Final = SAY("form")


class Ending(StrEnum):
    """Why a match is over by the rules."""

    MORE_STONES = "more-stones"
    """Neither player can place a stone; the player with more stones wins."""
    LAST_STONE = "last-stone"
    """Neither player can place a stone, and both have equally many; the last to place wins."""


class LinePosition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The stones as sets of intersections, the seat to move, and the limit of stones, 0 for none.

    The seat to move can place, because passes are automatic. When neither can, `turn` is the seat
    that did not place last.
    """

    light: int
    dark: int
    turn: Seat
    limit: int


def _open_places(own: int, opposing: int, limit: int) -> int:
    """Return the intersections open to a player, as a set."""
    if limit and own.bit_count() >= limit:
        return 0
    return unopposed(own, opposing)


def open_places_of(position: LinePosition, seat: Seat) -> int:
    """Return the intersections open to a seat, as a set."""
    if seat:
        return _open_places(position.dark, position.light, position.limit)
    return _open_places(position.light, position.dark, position.limit)


def open_places(position: LinePosition) -> int:
    """Return the intersections open to the player to move, as a set."""
    return open_places_of(position, position.turn)


class LineRules(Rules[LinePosition, Intersection, LineOptions]):
    """That's My Line, version 1."""

    key = "line"
    title = "That's My Line"
    sides: tuple[Text, ...] = (SAY("side", seat=0), SAY("side", seat=1))
    displays: tuple[str, ...] = ("large", "small")
    position_type = LinePosition
    options_type = LineOptions

    def start(self, options: LineOptions, players: int, setup: object | None) -> LinePosition:
        """Return the empty board."""
        self.check_start(players, setup)
        return LinePosition(0, 0, 0, options.stones)

    def to_move(self, position: LinePosition) -> Seat | None:
        """Return the next seat that can place a stone; None if neither can."""
        return position.turn if open_places(position) else None

    def moves(self, position: LinePosition) -> list[Intersection]:
        """Return every intersection open to the player to move, in sorting order."""
        return list(bits(open_places(position)))

    def count_moves(self, position: LinePosition) -> int:
        """Count the intersections open to the player to move."""
        return open_places(position).bit_count()

    def play(self, position: LinePosition, move: Intersection) -> LinePosition:
        """Place a stone, and pass a player who can't place one."""
        light, dark, limit = position.light, position.dark, position.limit
        if position.turn:
            dark |= 1 << move
            passed = not _open_places(light, dark, limit) and _open_places(dark, light, limit)
        else:
            light |= 1 << move
            passed = not _open_places(dark, light, limit) and _open_places(light, dark, limit)
        return LinePosition(light, dark, position.turn if passed else 1 - position.turn, limit)

    def read(self, text: str) -> Intersection:
        """Read the name of an intersection."""
        name = "".join(text.split()).lower()
        if not text.isascii() or name not in INDEX:
            raise UnreadableMove(SAY("unreadable", text=text[:24], form=FORM))
        return INDEX[name]

    def write(self, move: Intersection) -> str:
        """Return the name of the intersection."""
        return NAMES[move]

    def why_illegal(self, position: LinePosition, move: Intersection) -> Text | None:
        """Return why the player can't place a stone there; None for a legal move."""
        if open_places(position) >> move & 1:
            return None
        if not open_places(position):
            return SAY("over")
        if (position.light | position.dark) >> move & 1:
            return SAY("taken", stone=position.dark >> move & 1)
        opposing = position.light if position.turn else position.dark
        stones, other = ON_COMMON_LINE[move] & opposing, 1 - position.turn
        if stones.bit_count() == 1:
            return SAY("seen", other=other, stones=stones)
        return SAY("seen-all", other=other, stones=stones)

    def outcome(self, position: LinePosition) -> GameOutcome | None:
        """Return the ending: neither player can place a stone."""
        if open_places(position):
            return None
        counts = (position.light.bit_count(), position.dark.bit_count())
        most = max(counts)
        if counts[0] == counts[1]:
            last = 1 - position.turn
            said = SAY("last", stones=most, seat=last)
            return GameOutcome((last,), Ending.LAST_STONE, said)
        more = counts.index(most)
        said = SAY("more", seat=more, stones=most, fewer=counts[1 - more])
        return GameOutcome((more,), Ending.MORE_STONES, said)

    def to_json(self, position: LinePosition) -> dict[str, Any]:
        """Return the stones on the board and how many each player has placed."""
        light, dark = position.light, position.dark
        return {
            "board": stones_json(light, dark),
            "stones": [light.bit_count(), dark.bit_count()],
        }
