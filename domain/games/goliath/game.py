"""David and Goliath: move your figure, throw a stone, and shut in your opponent.

1. The figure moves along a line over empty intersections, David any distance, Goliath one or two.
2. Then the player throws a stone from there along a line, David one or two far, Goliath any
   distance. Nothing passes over figures or stones.
3. A player whose 15 stones are on the board picks up one of them, not from the outer edges, and
   throws it elsewhere; without such a stone the turn is the move alone.
   A player who can't move loses.
4. When stones separate the figures, the players may agree to count: the larger region wins.
   With `-count` the regions are counted after every move. With `-goliath_first` Goliath begins.

Notation: `m13-h8:i9`, `m13-h8:c3>i9` (the stone at c3 is picked up), `m13-h8`.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Final

import msgspec

from domain.boards.pow2_board import INDEX, NAMES, intersection
from domain.errors import Code, Refusal
from domain.game.protocol import GameOutcome, Rules, Seat, unreadable_move
from domain.games.goliath.illegal import FORM, why_illegal
from domain.games.goliath.position import (
    SIDES,
    STONES,
    GoliathMove,
    GoliathPosition,
    can_move,
    count_moves,
    letters,
    moves,
    play,
    regions,
    seat_with_larger_region,
    sort_key,
    write,
)
from domain.games.goliath.sentences import SAY
from domain.sentences import Text

KEY: Final = "goliath"


class GoliathOptions(msgspec.Struct, frozen=True):
    """The options of a match."""

    goliath_first: bool = False
    count: bool = False


class Ending(StrEnum):
    """Why a match is over by the rules."""

    NO_MOVE = "no-move"
    """The player to move can't move, and loses."""
    LARGER_REGION = "larger-region"
    """The figures are separated, and the larger region wins by a count."""


_START: Final = (INDEX["m13"], INDEX["a1"])


def _read(text: str) -> GoliathMove:
    movement, colon, throw = "".join(text.split()).lower().partition(":")
    origin, hyphen, place = movement.partition("-")
    if not text.isascii() or not hyphen:
        raise unreadable_move(text, FORM)
    ends = intersection(origin, FORM), intersection(place, FORM)
    if not colon:
        return GoliathMove(*ends)
    stone, picked, target = throw.rpartition(">")
    if not picked:
        return GoliathMove(*ends, intersection(target, FORM))
    return GoliathMove(*ends, stone=intersection(stone, FORM), target=intersection(target, FORM))


def _outcome_by_count(position: GoliathPosition) -> GameOutcome | None:
    """Return the ending by a count; None unless the figures are separated and one region is larger."""
    winner = seat_with_larger_region(position)
    if winner is None:
        return None
    sizes = [region.bit_count() for region in regions(position) or ()]
    said = SAY("larger", winner=winner, size=sizes[winner], smaller=sizes[1 - winner])
    return GameOutcome((winner,), Ending.LARGER_REGION, said)


def _outcome(position: GoliathPosition) -> GameOutcome | None:
    if position.counts_regions and (counted := _outcome_by_count(position)):
        return counted
    if can_move(position):
        return None
    said = SAY("no-move", mover=position.turn)
    return GameOutcome((1 - position.turn,), Ending.NO_MOVE, said)


class GoliathRules(Rules[GoliathPosition, GoliathMove, GoliathOptions]):
    """David and Goliath, version 1."""

    key = KEY
    title = "David and Goliath"
    sides: tuple[str, ...] = SIDES
    displays: tuple[str, ...] = ("large", "small")
    offers: tuple[str, ...] = ("count",)
    position_type = GoliathPosition
    options_type = GoliathOptions
    read = staticmethod(_read)
    write = staticmethod(write)
    play = staticmethod(play)
    outcome = staticmethod(_outcome)

    def start(self, options: GoliathOptions, players: int, setup: object | None) -> GoliathPosition:
        """Return the first position."""
        self.check_start(players, setup)
        return GoliathPosition(*_START, 0, 0, int(options.goliath_first), options.count)

    def to_move(self, position: GoliathPosition) -> Seat | None:
        """Return the seat to move; None when the match is over."""
        return None if _outcome(position) else position.turn

    def moves(self, position: GoliathPosition) -> list[GoliathMove]:
        """Return every legal move."""
        return [] if _is_over_by_count(position) else moves(position)

    def count_moves(self, position: GoliathPosition) -> int:
        """Count the legal moves, in most positions without listing them."""
        return 0 if _is_over_by_count(position) else count_moves(position)

    def legal_moves(self, position: GoliathPosition) -> Iterator[str]:
        """Yield every legal move by destination, stone picked up and target, in sorting order."""
        return map(write, sorted(self.moves(position), key=sort_key))

    def why_illegal(self, position: GoliathPosition, move: GoliathMove) -> Text | None:
        """Return which rule a move breaks, and where; None for a legal move."""
        over = _outcome(position)
        return SAY("over", detail=over.detail) if over else why_illegal(position, move)

    def check_offer(self, position: GoliathPosition, kind: str) -> None:
        """Raise `Refusal` with `no-offer` unless the figures are separated."""
        del kind
        if position.counts_regions:
            raise Refusal(Code.NO_OFFER, SAY("counted"))
        if regions(position) is None:
            raise Refusal(
                Code.NO_OFFER,
                SAY("joined"),
            )

    def outcome_by_offer(self, position: GoliathPosition, kind: str) -> GameOutcome | None:
        """Return the ending by the larger region; None to play on if they are equal."""
        del kind
        return _outcome_by_count(position)

    def to_json(self, position: GoliathPosition) -> dict[str, Any]:
        """Return figures and stones on the board and the number each player has left to throw."""
        return {
            "board": {NAMES[at]: letter for at, letter in letters(position).items()},
            "supply": [STONES - position.light.bit_count(), STONES - position.dark.bit_count()],
        }


def _is_over_by_count(position: GoliathPosition) -> bool:
    return position.counts_regions and seat_with_larger_region(position) is not None
