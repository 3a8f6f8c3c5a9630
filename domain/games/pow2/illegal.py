"""Why a move of the Power of Two is illegal: one sentence that names the rule and the places."""

from itertools import combinations
from typing import Final

from domain.boards.pow2_board import (
    ADJACENT,
    BETWEEN,
    BETWEEN_INSIDE,
    NAMES,
    bits,
    set_of,
)
from domain.games.pow2.position import (
    EXACT,
    HAND,
    NOBORDER,
    PLACING,
    Pow2Move,
    Pow2Position,
    complete_placements,
    letters,
    placements,
)
from domain.games.pow2.sentences import SAY, neighbours
from domain.sentences import Text

FORM: Final = SAY("form")


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
