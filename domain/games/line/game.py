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

from domain.boards.pow2_board import (
    INDEX,
    NAMES,
    bits,
    stones_json,
)
from domain.game.protocol import GameOutcome, Rules, Seat, UnreadableMove
from domain.games.line.illegal import why_illegal
from domain.games.line.position import (
    SIDES,
    Intersection,
    LinePosition,
    open_places,
    play,
)
from domain.games.line.sentences import SAY
from domain.sentences import Text

KEY: Final = "line"
FORM: Final = SAY("form")


class LineOptions(msgspec.Struct, frozen=True):
    """The options of a match."""

    stones: Annotated[int, msgspec.Meta(ge=0, le=len(NAMES))] = 0
    """The stones of each player; 0 for no limit."""


class Ending(StrEnum):
    """Why a match is over by the rules."""

    MORE_STONES = "more-stones"
    """Neither player can place a stone; the player with more stones wins."""
    LAST_STONE = "last-stone"
    """Neither player can place a stone, and both have equally many; the last to place wins."""


class LineRules(Rules[LinePosition, Intersection, LineOptions]):
    """That's My Line, version 1."""

    key = KEY
    title = "That's My Line"
    sides: tuple[str, ...] = SIDES
    displays: tuple[str, ...] = ("large", "small")
    position_type = LinePosition
    options_type = LineOptions
    play = staticmethod(play)
    why_illegal = staticmethod(why_illegal)

    def side_text(self, seat: Seat) -> Text:
        """Return the name of a side, in the language of the reader."""
        return SAY("side", seat=seat)

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

    def read(self, text: str) -> Intersection:
        """Read the name of an intersection."""
        name = "".join(text.split()).lower()
        if not text.isascii() or name not in INDEX:
            raise UnreadableMove(SAY("unreadable", text=text[:24], form=FORM))
        return INDEX[name]

    def write(self, move: Intersection) -> str:
        """Return the name of the intersection."""
        return NAMES[move]

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
