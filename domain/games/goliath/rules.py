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

from domain.boards.pow2_board import (
    ADJACENT,
    BETWEEN,
    EVERYWHERE,
    INDEX,
    NAMES,
    OUTER,
    SLIDES,
    SLIDES_SHORT,
    adjacent_to,
    intersection,
    set_of,
)
from domain.boards.sets import bits
from domain.errors import Code, Refusal
from domain.game.protocol import GameOutcome, Rules, Seat, unreadable_move
from domain.games.goliath.notation import NOWHERE, GoliathMove, packed_move, sort_key
from domain.games.goliath.sentences import SAY, SIDES
from domain.sentences import Text

STONES: Final = 15
FORM: Final = SAY("form")


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
_EDGE: Final = set_of(tuple({at for line in OUTER for at in line}))
"""Stones on the outer edges are never picked up."""
_FAR: Final = len(NAMES)
_SLIDES_MOVING: Final = (SLIDES, SLIDES_SHORT)
_SLIDES_THROWING: Final = (SLIDES_SHORT, SLIDES)
_FARTHEST_MOVING: Final = (_FAR, 2)
"""How far David and Goliath move."""
_FARTHEST_THROWING: Final = (2, _FAR)


class GoliathPosition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The figures, the stones as sets, the seat to move, and whether `-count` is in force."""

    david: int
    goliath: int
    light: int
    dark: int
    turn: Seat
    counts_regions: bool

    @property
    def figure(self) -> int:
        """The place of the figure to move."""
        return self.goliath if self.turn else self.david

    @property
    def own(self) -> int:
        """The stones of the player to move."""
        return self.dark if self.turn else self.light

    @property
    def occupied(self) -> int:
        """All stones and both figures."""
        return self.light | self.dark | 1 << self.david | 1 << self.goliath

    @property
    def stones_to_pick_up(self) -> int:
        """The stones that the player to move may pick up in this turn."""
        return 0 if self.own.bit_count() < STONES else self.own & ~_EDGE


def letters(position: GoliathPosition) -> dict[int, str]:
    """Return the letters of figures and stones by intersection."""
    stones = dict.fromkeys(bits(position.light), "o") | dict.fromkeys(bits(position.dark), "x")
    return dict(sorted({**stones, position.david: "D", position.goliath: "G"}.items()))


def _reachable(start: int, open_to: int, goal: int = 0) -> int:
    """Return the places that chains of edges over a set reach; the search may stop at the goal."""
    reached = newest = 1 << start
    while newest and not reached & goal:
        newest = adjacent_to(newest) & open_to & ~reached
        reached |= newest
    return reached


def regions(position: GoliathPosition) -> tuple[int, int] | None:
    """Return each figure's region, a set of empty intersections; None unless stones separate them."""
    david, goliath = 1 << position.david, 1 << position.goliath
    open_to = EVERYWHERE & ~(position.light | position.dark)
    reached = _reachable(position.david, open_to, goliath)
    if reached & goliath:
        return None
    return reached ^ david, _reachable(position.goliath, open_to) ^ goliath


def seat_with_larger_region(position: GoliathPosition) -> Seat | None:
    """Return the seat with the larger region; None if the regions are equal or joined."""
    found = regions(position)
    if found is None:
        return None
    david, goliath = (region.bit_count() for region in found)
    return None if david == goliath else int(goliath > david)


def can_move(position: GoliathPosition) -> bool:
    """Return whether the figure can move. Then it can also throw, at least back to its origin."""
    return ADJACENT[position.figure] & ~position.occupied != 0


def _places(position: GoliathPosition) -> Iterator[int]:
    """Yield the destinations of the figure."""
    rest, origin = position.occupied, position.figure
    for line, reach in _SLIDES_MOVING[position.turn][origin]:
        for place, _ in reach[line & rest]:
            yield place


def moves(position: GoliathPosition) -> list[GoliathMove]:
    """Return all legal moves, each once. The match is not over."""
    origin, throwing = position.figure, _SLIDES_THROWING[position.turn]
    rest = position.occupied ^ 1 << origin
    if position.own.bit_count() < STONES:
        return [
            GoliathMove(origin, place, target)
            for place in _places(position)
            for line, reach in throwing[place]
            for target, _ in reach[line & rest]
        ]
    if not position.stones_to_pick_up:
        return [GoliathMove(origin, place) for place in _places(position)]
    return [
        GoliathMove(origin, place, target, stone)
        for place in _places(position)
        for stone in bits(position.stones_to_pick_up)
        for line, reach in throwing[place]
        for target, _ in reach[line & (rest ^ 1 << stone)]
        if target != stone
    ]


def count_moves(position: GoliathPosition) -> int:
    """Return the number of legal moves. The match is not over."""
    if position.stones_to_pick_up:
        return len(moves(position))
    if position.own.bit_count() == STONES:
        return sum(1 for _ in _places(position))
    throwing = _SLIDES_THROWING[position.turn]
    rest = position.occupied ^ 1 << position.figure
    return sum(
        len(reach[line & rest]) for place in _places(position) for line, reach in throwing[place]
    )


def _is_over_by_count(position: GoliathPosition) -> bool:
    return position.counts_regions and seat_with_larger_region(position) is not None


def _outcome_by_count(position: GoliathPosition) -> GameOutcome | None:
    """Return the ending by a count; None unless the figures are separated and one region is larger."""
    winner = seat_with_larger_region(position)
    if winner is None:
        return None
    sizes = [region.bit_count() for region in regions(position) or ()]
    said = SAY("larger", winner=winner, size=sizes[winner], smaller=sizes[1 - winner])
    return GameOutcome((winner,), Ending.LARGER_REGION, said)


def _figure_problem(position: GoliathPosition, move: GoliathMove) -> Text | None:
    """Return what is wrong with the figure to be moved."""
    mover = position.turn
    if move.origin != position.figure:
        if move.origin in (position.david, position.goliath):
            return SAY("turn", other=1 - mover, at=move.origin, mover=mover)
        return SAY("figure", mover=mover, figure=position.figure, at=move.origin)
    if move.origin == move.place:
        return SAY("stays", mover=mover)
    return None


def _way_problem(
    position: GoliathPosition,
    farthest: tuple[int, int],
    start: int,
    end: int,
    occupied: int,
) -> Text | None:
    """Return what is wrong with the way of a figure or a stone."""
    if end not in BETWEEN[start]:
        return SAY("line", start=start, end=end)
    passed = BETWEEN[start][end]
    steps = passed.bit_count() + 1
    if steps > farthest[position.turn]:
        mover = position.turn
        if farthest is _FARTHEST_MOVING:
            return SAY("steps", mover=mover, end=end, steps=steps)
        return SAY("far", mover=mover, end=end, steps=steps)
    if blocking := passed & occupied:
        nearest = min(bits(blocking), key=lambda at: BETWEEN[start][at].bit_count())
        piece = letters(position)[nearest]
        return SAY("way", start=start, end=end, piece=piece, nearest=nearest)
    if occupied >> end & 1:
        return SAY("taken", end=end, piece=letters(position)[end])
    return None


def _kind_problem(position: GoliathPosition, move: GoliathMove) -> Text | None:
    """Return what is wrong with the kind of throw: none, of a new stone, or of one picked up."""
    if left := STONES - position.own.bit_count():
        if move.target == NOWHERE:
            return SAY("throw", example=_example(position, move))
        if move.stone != NOWHERE:
            return SAY("supply", stones=STONES, left=left)
        return None
    return _reuse_problem(position, move)


def _reuse_problem(position: GoliathPosition, move: GoliathMove) -> Text | None:
    """Return what is wrong with the kind of throw when all stones are on the board."""
    if not position.stones_to_pick_up:
        if move.target == NOWHERE:
            return None
        return SAY("edges", stones=STONES)
    if move.stone != NOWHERE:
        return None
    example = _example(position, move)
    if move.target == NOWHERE:
        return SAY("reuse", stones=STONES, example=example)
    return SAY("name", stones=STONES, example=example)


def _example(position: GoliathPosition, move: GoliathMove) -> int:
    """Return an example, packed: a legal move to the same place, with the same target if possible."""
    legal = (other for other in moves(position) if other.place == move.place)
    return packed_move(min(legal, key=lambda it: (it.target != move.target, sort_key(it))))


def _throw_problem(position: GoliathPosition, move: GoliathMove) -> Text | None:
    """Return what is wrong with the stone that is picked up, or with the target of the throw."""
    if move.target == NOWHERE:
        return None
    occupied = position.occupied ^ 1 << position.figure
    if move.stone != NOWHERE:
        if wrong := _stone_problem(position, move):
            return wrong
        occupied ^= 1 << move.stone
    if move.target == move.place:
        return SAY("stands", mover=position.turn, at=move.place)
    return _way_problem(position, _FARTHEST_THROWING, move.place, move.target, occupied)


def _stone_problem(position: GoliathPosition, move: GoliathMove) -> Text | None:
    """Return what is wrong with the stone that is picked up."""
    stone = move.stone
    if not (position.light | position.dark) >> move.stone & 1:
        return SAY("none", at=stone)
    if not position.own >> move.stone & 1:
        return SAY("owner", at=stone, other=1 - position.turn)
    if not position.stones_to_pick_up >> move.stone & 1:
        return SAY("edge", at=stone)
    if move.stone == move.target:
        return SAY("return", at=stone)
    return None


class GoliathRules(Rules[GoliathPosition, GoliathMove, GoliathOptions]):
    """David and Goliath, version 1."""

    key = "goliath"
    title = "David and Goliath"
    sides: tuple[Text, ...] = SIDES
    displays: tuple[str, ...] = ("large", "small")
    offers: tuple[str, ...] = ("count",)
    position_type = GoliathPosition
    options_type = GoliathOptions

    def start(self, options: GoliathOptions, players: int, setup: object | None) -> GoliathPosition:
        """Return the first position."""
        self.check_start(players, setup)
        return GoliathPosition(*_START, 0, 0, int(options.goliath_first), options.count)

    def to_move(self, position: GoliathPosition) -> Seat | None:
        """Return the seat to move; None when the match is over."""
        return None if self.outcome(position) else position.turn

    def moves(self, position: GoliathPosition) -> list[GoliathMove]:
        """Return every legal move."""
        return [] if _is_over_by_count(position) else moves(position)

    def count_moves(self, position: GoliathPosition) -> int:
        """Count the legal moves, in most positions without listing them."""
        return 0 if _is_over_by_count(position) else count_moves(position)

    def play(self, position: GoliathPosition, move: GoliathMove) -> GoliathPosition:
        """Apply a legal move."""
        stones = position.own
        if move.stone != NOWHERE:
            stones ^= 1 << move.stone
        if move.target != NOWHERE:
            stones |= 1 << move.target
        if position.turn:
            return GoliathPosition(
                position.david, move.place, position.light, stones, 0, position.counts_regions
            )
        return GoliathPosition(
            move.place, position.goliath, stones, position.dark, 1, position.counts_regions
        )

    def legal_moves(self, position: GoliathPosition) -> Iterator[str]:
        """Yield every legal move by destination, stone picked up and target, in sorting order."""
        return map(str, sorted(self.moves(position), key=sort_key))

    def read(self, text: str) -> GoliathMove:
        """Return the move that a text has: the figure's, and the throw after a colon."""
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
        return GoliathMove(
            *ends, stone=intersection(stone, FORM), target=intersection(target, FORM)
        )

    def write(self, move: GoliathMove) -> str:
        """Return the canonical text of a move."""
        return str(move)

    def why_illegal(self, position: GoliathPosition, move: GoliathMove) -> Text | None:
        """Return which rule a move breaks, and where; None for a legal move."""
        if over := self.outcome(position):
            return SAY("over", detail=over.detail)
        return (
            _figure_problem(position, move)
            or _way_problem(position, _FARTHEST_MOVING, move.origin, move.place, position.occupied)
            or _kind_problem(position, move)
            or _throw_problem(position, move)
        )

    def outcome(self, position: GoliathPosition) -> GameOutcome | None:
        """Return the ending: a count, where `-count` is in force, or the player to move can't move."""
        if position.counts_regions and (counted := _outcome_by_count(position)):
            return counted
        if can_move(position):
            return None
        said = SAY("no-move", mover=position.turn)
        return GameOutcome((1 - position.turn,), Ending.NO_MOVE, said)

    def check_offer(self, position: GoliathPosition, kind: str) -> None:
        """Raise `Refusal` with `no-offer` unless the figures are separated."""
        del kind
        if position.counts_regions:
            raise Refusal(Code.NO_OFFER, SAY("counted"))
        if regions(position) is None:
            raise Refusal(Code.NO_OFFER, SAY("joined"))

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
