"""The Power of Two: move a piece next to others, and bring in more pieces by triangles.

1. Move one of your pieces any distance along a line over empty intersections.
2. For each occupied neighbour of its destination, of either player, place a new piece on an empty
   intersection that forms a triangle with both. If not each can have its own, the move is illegal.
   With fewer pieces left than neighbours, place all of them (illegal with `-exact`).
3. If you placed any, the moved piece and your pieces among those neighbours age: fresh ones become
   aged, aged ones return to the supply.
4. A player who ends a turn with all 16 pieces on the board wins; a player who can't move loses.
5. With `-free` the players first place four pieces each, none next to another.

Notation: `m13-j7`, `a13-c11:a13,d10` (the new pieces, sorted), `c3` (placing with `-free`).

Move generation is fast because of tables. Slides have one table for each line and origin, by the
occupied part of the line. A triangle with the destination lies among its neighbours, so placements
have one table for each destination, by its occupied neighbours.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import lru_cache
from itertools import combinations
from typing import Any, Final

import msgspec

from domain.boards.pow2_board import (
    ADJACENT,
    BETWEEN,
    BETWEEN_INSIDE,
    EVERYWHERE,
    INDEX,
    NAMES,
    SLIDES,
    SLIDES_INSIDE,
    intersection,
    names_of,
    set_of,
)
from domain.boards.sets import bits
from domain.game.protocol import (
    GameOutcome,
    Rules,
    Seat,
    UnreadableMove,
    illegal_move,
    unreadable_move,
)
from domain.games.pow2.sentences import SAY, neighbours
from domain.sentences import Text

PIECES: Final = 16
FREE_PIECES: Final = 4
"""The pieces that each player places in the placing phase of `-free`."""
HAND: Final = len(NAMES)
"""The origin of a piece from the supply, in the placing phase."""
FORM: Final = SAY("form")


class Pow2Start(StrEnum):
    """The starting positions, by their flags."""

    CORNERS = ""
    FAST = "fast"
    MIDDLE = "middle"
    FREE = "free"


class Pow2Options(msgspec.Struct, frozen=True):
    """The options of a match."""

    exact: bool = False
    noborder: bool = False
    start: Pow2Start = Pow2Start.CORNERS


_STARTS: Final[Mapping[Pow2Start, tuple[str, str]]] = {
    Pow2Start.CORNERS: ("m1 m13", "a1 a13"),
    Pow2Start.FAST: ("m1 i5 i9 m13", "a1 e5 e9 a13"),
    Pow2Start.MIDDLE: ("m7 g13", "g1 a7"),
    Pow2Start.FREE: ("", ""),
}


class Ending(StrEnum):
    """Why a match is over by the rules."""

    ALL_PLACED = "all-placed"
    """A player ended a turn with all 16 pieces on the board, and wins."""
    NO_MOVE = "no-move"
    """The player to move has no legal move, and loses."""


# the bits of `Pow2Position.flags`
EXACT: Final = 1
NOBORDER: Final = 2
PLACING: Final = 4  # until the placing phase is over


def flags_of(options: Pow2Options) -> int:
    """Return the options in force, as bits of `Pow2Position.flags`."""
    return EXACT * options.exact | NOBORDER * options.noborder


class Pow2Position(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The pieces as sets of intersections, the seat to move, and the options in force."""

    light_fresh: int
    light_aged: int
    dark_fresh: int
    dark_aged: int
    turn: Seat
    flags: int

    @property
    def own(self) -> int:
        """The pieces of the player to move."""
        if self.turn:
            return self.dark_fresh | self.dark_aged
        return self.light_fresh | self.light_aged

    @property
    def occupied(self) -> int:
        """All pieces."""
        return self.light_fresh | self.light_aged | self.dark_fresh | self.dark_aged

    @property
    def won(self) -> bool:
        """Whether the player who moved last has all pieces on the board."""
        if self.turn:
            return (self.light_fresh | self.light_aged).bit_count() == PIECES
        return (self.dark_fresh | self.dark_aged).bit_count() == PIECES

    @property
    def supply(self) -> int:
        """The pieces that the player to move has left to place."""
        return PIECES - self.own.bit_count()


def letters(position: Pow2Position) -> dict[int, str]:
    """Return the letters of the pieces by intersection; capitals are fresh."""
    boards = (
        ("O", position.light_fresh),
        ("o", position.light_aged),
        ("X", position.dark_fresh),
        ("x", position.dark_aged),
    )
    pieces = {at: letter for letter, board in boards for at in bits(board)}
    return dict(sorted(pieces.items()))


class Pow2Move(msgspec.Struct, frozen=True, gc=False):
    """The origin (or `HAND`) and destination of a piece, and the set of the new pieces."""

    origin: int
    target: int
    placed: int = 0


@lru_cache(4096)  # more than the sets that can be placed; `read` may return others
def _names_text(board: int) -> str:
    return ",".join(names_of(board))


_MOST_PLACED: Final = max(near.bit_count() for near in ADJACENT) // 2


def complete_placements(target: int, around: int) -> set[int]:
    """Return the placements that serve each occupied neighbour with an intersection of its own."""
    empty = ADJACENT[target] & ~around
    if empty.bit_count() < around.bit_count():
        return set()
    partial = {0}
    for neighbour in bits(around):
        serving = [1 << at for at in bits(empty & ADJACENT[neighbour])]
        partial = {placed | one for placed in partial for one in serving if not placed & one}
    return partial


class _Placements(dict[int, tuple[int, ...]]):
    """The legal placements around a destination, by its occupied neighbours; computed on first use.

    There are at most 1,024 entries, because no destination has more than ten neighbours.
    """

    def __init__(self, target: int, supply: int, *, exact: bool) -> None:
        super().__init__()
        self._target, self._supply, self._exact = target, supply, exact

    def __missing__(self, around: int) -> tuple[int, ...]:
        found = complete_placements(self._target, around)
        if around.bit_count() > self._supply:
            found = set() if self._exact else self._short(found)
        self[around] = ordered = tuple(sorted(found, key=lambda placed: tuple(bits(placed))))
        return ordered

    def _short(self, complete: set[int]) -> set[int]:
        """Return the parts of complete placements that the supply is enough for."""
        return {
            sum(some)
            for placed in complete
            for some in combinations([1 << at for at in bits(placed)], self._supply)
        }


def _by_supply(*, exact: bool) -> tuple[tuple[_Placements, ...], ...]:
    """Return the tables for each supply from 0 to 16; from `_MOST_PLACED` on they are equal."""
    tables = [
        tuple(_Placements(target, supply, exact=exact) for target in range(len(NAMES)))
        for supply in range(_MOST_PLACED + 1)
    ]
    return tuple(tables[min(supply, _MOST_PLACED)] for supply in range(PIECES + 1))


_PLACEMENTS: Final = (_by_supply(exact=False), _by_supply(exact=True))


def placements(position: Pow2Position) -> tuple[_Placements, ...]:
    """Return, for each destination, the legal placements with the present supply."""
    return _placements(position.flags, position.own)


def _placements(flags: int, own: int) -> tuple[_Placements, ...]:
    return _PLACEMENTS[flags & EXACT][PIECES - own.bit_count()]


def free_places(position: Pow2Position) -> int:
    """Return the intersections open to a piece in the placing phase, as a set."""
    barred = position.occupied
    for at in bits(barred):
        barred |= ADJACENT[at]
    return EVERYWHERE & ~barred


@lru_cache(16)  # because an outcome and the next seat are asked for one after the other
def can_move(position: Pow2Position) -> bool:
    """Return whether there is a legal move; usually the first candidate is one."""
    if position.flags & PLACING:
        return free_places(position) != 0
    if position.won:
        return False
    own, occupied = position.own, position.occupied
    placing = _placements(position.flags, own)
    slides = SLIDES_INSIDE if position.flags & NOBORDER else SLIDES
    for origin in bits(own):
        rest = occupied ^ 1 << origin
        for line, reach in slides[origin]:
            for target, near in reach[line & rest]:
                if placing[target][near & rest]:
                    return True
    return False


def is_legal(position: Pow2Position, move: Pow2Move) -> bool:
    """Return whether a move is legal, without looking at the others."""
    if position.flags & PLACING:
        return move.origin == HAND and free_places(position) >> move.target & 1 == 1
    own = position.own
    if not own >> move.origin & 1 or position.won:
        return False
    ways = BETWEEN_INSIDE if position.flags & NOBORDER else BETWEEN
    rest = position.occupied ^ 1 << move.origin
    way = ways[move.origin].get(move.target)
    if way is None or rest & (way | 1 << move.target):
        return False
    placing = _placements(position.flags, own)
    return move.placed in placing[move.target][ADJACENT[move.target] & rest]


def _after_moving(fresh: int, aged: int, move: Pow2Move) -> tuple[int, int]:
    """Return the mover's fresh and aged pieces after a move and its ageing."""
    origin, target = 1 << move.origin, 1 << move.target
    if fresh & origin:
        fresh ^= origin | target
    else:
        aged ^= origin | target
    if not move.placed:
        return fresh, aged
    ageing = ADJACENT[move.target] | target
    return fresh & ~ageing | move.placed, aged & ~ageing | fresh & ageing


def _after_placing(position: Pow2Position, piece: int) -> Pow2Position:
    """Return the position after a ply of the placing phase; Dark's fourth piece ends it."""
    light, dark, flags = position.light_fresh, position.dark_fresh, position.flags
    if not position.turn:
        return Pow2Position(light | piece, 0, dark, 0, 1, flags)
    if dark.bit_count() == FREE_PIECES - 1:
        flags ^= PLACING
    return Pow2Position(light, 0, dark | piece, 0, 0, flags)


def why_illegal(position: Pow2Position, move: Pow2Move) -> Text:
    """Return which rule an illegal move breaks, and where."""
    if position.won:
        return SAY("over", winner=1 - position.turn)
    if position.flags & PLACING:
        return _placing_problem(position, move)
    if move.origin == HAND:
        return SAY("hand", form=FORM)
    return (
        _piece_problem(position, move)
        or _way_problem(position, move)
        or _neighbours_problem(position, move)
        or _places_problem(position, move)
    )


def _placing_problem(position: Pow2Position, move: Pow2Move) -> Text:
    at = move.target
    if move.origin != HAND:
        return SAY("free")
    if position.occupied >> move.target & 1:
        return SAY("taken", at=at, piece=_piece(position, at))
    return SAY("beside", at=at, beside=ADJACENT[at] & position.occupied)


def _piece_problem(position: Pow2Position, move: Pow2Move) -> Text | None:
    """Return what is wrong with the piece to be moved."""
    origin = move.origin
    if not position.occupied >> move.origin & 1:
        return SAY("none", at=origin)
    if not position.own >> move.origin & 1:
        return SAY("owner", at=origin, other=1 - position.turn, mover=position.turn)
    if move.origin == move.target:
        return SAY("stays", at=origin)
    return None


def _way_problem(position: Pow2Position, move: Pow2Move) -> Text | None:
    """Return what is wrong with the path from origin to destination."""
    origin, target = move.origin, move.target
    ways = BETWEEN[move.origin]
    if move.target not in ways:
        return SAY("line", origin=origin, target=target)
    if position.flags & NOBORDER and move.target not in BETWEEN_INSIDE[move.origin]:
        return SAY("border")
    if blocking := ways[move.target] & position.occupied:
        nearest = min(bits(blocking), key=lambda at: ways[at].bit_count())
        return SAY("way", piece=_piece(position, nearest), at=nearest)
    if position.occupied >> move.target & 1:
        return SAY("taken", at=target, piece=_piece(position, target))
    return None


def _neighbours_problem(position: Pow2Position, move: Pow2Move) -> Text | None:
    """Return why no placement serves all neighbours of the destination."""
    around = _occupied_neighbours(position, move)
    if not around:
        return SAY("alone", at=move.target)
    if not complete_placements(move.target, around):
        return _shortage(move.target, around)
    due, supply = around.bit_count(), position.supply
    if position.flags & EXACT and due > supply:
        return SAY("exact", due=due, supply=supply)
    return None


def _shortage(target: int, around: int) -> Text:
    """Return which neighbours have too few intersections for triangles."""
    serving = {at: ADJACENT[target] & ADJACENT[at] & ~around for at in bits(around)}
    barred = set_of(tuple(at for at, places in serving.items() if not places))
    if barred:
        return SAY("barred", barred=barred)
    for size in range(2, len(serving) + 1):
        for some in combinations(serving, size):
            places = 0
            for at in some:
                places |= serving[at]
            if places.bit_count() < size:
                return SAY("few", those=set_of(some), places=places)
    raise AssertionError(f"every neighbour of {NAMES[target]} can be served")


def _places_problem(position: Pow2Position, move: Pow2Move) -> Text:
    """Return what is wrong with the new pieces, in a move for which others would be legal."""
    around = _occupied_neighbours(position, move)
    for at in bits(move.placed):
        if wrong := _place_problem(position, move, at):
            return wrong
    example = placements(position)[move.target][around][0]
    due, named = example.bit_count(), move.placed.bit_count()
    origin, target = move.origin, move.target
    those, served, placed = (neighbours(target, board) for board in (move.placed, around, example))
    if named == due:
        return SAY("serve", those=those, around=served, origin=origin, target=target, placed=placed)
    return SAY(
        "due",
        due=due,
        around=served,
        named=named,
        origin=origin,
        target=target,
        placed=placed,
    )


def _place_problem(position: Pow2Position, move: Pow2Move, at: int) -> Text | None:
    """Return what is wrong with one new piece, independent of the others."""
    around = _occupied_neighbours(position, move)
    if at == move.target:
        return SAY("moved", at=at)
    if (position.occupied ^ 1 << move.origin) >> at & 1:
        return SAY("taken", at=at, piece=_piece(position, at))
    if not ADJACENT[move.target] >> at & 1 or not ADJACENT[at] & around:
        return SAY("triangle", at=at, target=move.target, around=around)
    return None


def _occupied_neighbours(position: Pow2Position, move: Pow2Move) -> int:
    """Return the destination's occupied neighbours without the origin."""
    return ADJACENT[move.target] & position.occupied & ~(1 << move.origin)


def _piece(position: Pow2Position, at: int) -> str:
    return letters(position)[at]


class Pow2Rules(Rules[Pow2Position, Pow2Move, Pow2Options]):
    """The Power of Two, version 1."""

    key = "pow2"
    title = "The Power of Two"
    sides: tuple[Text, ...] = (SAY("side", seat=0), SAY("side", seat=1))
    displays: tuple[str, ...] = ("large", "small")
    position_type = Pow2Position
    options_type = Pow2Options

    def start(self, options: Pow2Options, players: int, setup: object | None) -> Pow2Position:
        """Return the first position."""
        self.check_start(players, setup)
        light, dark = (
            sum(1 << INDEX[name] for name in names.split()) for names in _STARTS[options.start]
        )
        placing = PLACING if options.start is Pow2Start.FREE else 0
        return Pow2Position(light, 0, dark, 0, 0, flags_of(options) | placing)

    def to_move(self, position: Pow2Position) -> Seat | None:
        """Return the seat to move; None when the match is over."""
        return position.turn if can_move(position) else None

    def moves(self, position: Pow2Position) -> list[Pow2Move]:
        """Return all legal moves, each once, by origin."""
        if position.flags & PLACING:
            return [Pow2Move(HAND, at) for at in bits(free_places(position))]
        if position.won:
            return []
        occupied, placing = position.occupied, placements(position)
        slides = SLIDES_INSIDE if position.flags & NOBORDER else SLIDES
        return [
            Pow2Move(origin, target, placed)
            for origin in bits(position.own)
            for rest in (occupied ^ 1 << origin,)
            for line, reach in slides[origin]
            for target, near in reach[line & rest]
            for placed in placing[target][near & rest]
        ]

    def count_moves(self, position: Pow2Position) -> int:
        """Return the number of legal moves, without listing them."""
        if position.flags & PLACING:
            return free_places(position).bit_count()
        if position.won:
            return 0
        occupied, placing = position.occupied, placements(position)
        slides = SLIDES_INSIDE if position.flags & NOBORDER else SLIDES
        return sum(
            len(placing[target][near & rest])
            for origin in bits(position.own)
            for rest in (occupied ^ 1 << origin,)
            for line, reach in slides[origin]
            for target, near in reach[line & rest]
        )

    def legal_moves(self, position: Pow2Position) -> Iterator[str]:
        """Yield every legal move by origin, destination and placements, in sorting order."""
        ordered = sorted(self.moves(position), key=lambda move: move.origin << 6 | move.target)
        return map(self.write, ordered)

    def read(self, text: str) -> Pow2Move:
        """Return the move that a text has: one place, or two with the new pieces after a colon."""
        movement, colon, places = "".join(text.split()).lower().partition(":")
        origin, hyphen, target = movement.partition("-")
        if not text.isascii() or (not hyphen and (colon or origin not in INDEX)):
            raise unreadable_move(text, FORM)
        if not hyphen:
            return Pow2Move(HAND, INDEX[origin])
        placed = 0
        for name in places.split(",") if colon else ():
            piece = 1 << intersection(name, FORM)
            if placed & piece:
                raise UnreadableMove(SAY("repeated", name=name, form=FORM))
            placed |= piece
        return Pow2Move(intersection(origin, FORM), intersection(target, FORM), placed)

    def write(self, move: Pow2Move) -> str:
        """Return the canonical text of a move."""
        if move.origin == HAND:
            return NAMES[move.target]
        if not move.placed:
            return f"{NAMES[move.origin]}-{NAMES[move.target]}"
        return f"{NAMES[move.origin]}-{NAMES[move.target]}:{_names_text(move.placed)}"

    def check(self, position: Pow2Position, move: Pow2Move) -> Pow2Move:
        """Return the move if it is legal, else refuse it by the rule that it breaks."""
        if is_legal(position, move):
            return move
        movement = self.write(Pow2Move(move.origin, move.target))
        raise illegal_move(movement, why_illegal(position, move))

    def play(self, position: Pow2Position, move: Pow2Move) -> Pow2Position:
        """Apply a legal move."""
        if position.flags & PLACING:
            return _after_placing(position, 1 << move.target)
        if position.turn:
            fresh, aged = _after_moving(position.dark_fresh, position.dark_aged, move)
            return Pow2Position(
                position.light_fresh, position.light_aged, fresh, aged, 0, position.flags
            )
        fresh, aged = _after_moving(position.light_fresh, position.light_aged, move)
        return Pow2Position(fresh, aged, position.dark_fresh, position.dark_aged, 1, position.flags)

    def outcome(self, position: Pow2Position) -> GameOutcome | None:
        """Return the ending: a player has all pieces on the board, or has no legal move."""
        mover, other = position.turn, 1 - position.turn
        if position.won:
            said = SAY("all-placed", winner=other, pieces=PIECES)
            return GameOutcome((other,), Ending.ALL_PLACED, said)
        if not can_move(position):
            return GameOutcome((other,), Ending.NO_MOVE, SAY("no-move", mover=mover))
        return None

    def to_json(self, position: Pow2Position) -> dict[str, Any]:
        """Return the pieces on the board and the number each player has left to place."""
        light = (position.light_fresh | position.light_aged).bit_count()
        dark = (position.dark_fresh | position.dark_aged).bit_count()
        return {
            "board": {NAMES[at]: letter for at, letter in letters(position).items()},
            "supply": [PIECES - light, PIECES - dark],
        }
