"""A board in SVG as a ground with places on it, each of which is drawn once and kept."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import msgspec

from domain.boards.pieces import PLACES_KEPT, PieceKind, PieceKinds, where_pieces_are
from domain.game.painter import (
    BoardInput,
    Markup,
    Picture,
    PlayerCaption,
    Point,
    element,
    place,
    ring,
)
from domain.sentences import Translation, text_in


class BoardFace(msgspec.Struct, frozen=True, eq=False):
    """The parts of a board that all of its positions share.

    Each is equal to itself alone, so that its places are found quickly.
    """

    centres: Mapping[str, Point]
    """Of each place, by its name in moves and in reading order, the middle."""
    hit: Markup
    """The area in which a touch means a place, around the origin."""
    ground: tuple[Markup, ...]
    """Everything below the places: lines, frames, letters and numbers."""
    height: float
    ring: float
    """The radius of the mark of the last move where no piece stands."""


def hit_square(side: float) -> Markup:
    """Return the touch area of a square place."""
    half = side / 2
    return element("rect", class_="hit", x=-half, y=-half, width=side, height=side)


@lru_cache(PLACES_KEPT)
def _drawn_place(
    board: BoardFace, name: str, kind: PieceKind | None, language: Translation, *, last: bool
) -> Markup:
    """Return a place with the piece on it, if any, and the mark of the last move."""
    inside = [board.hit]
    if last:
        inside.append(ring(kind.ring if kind else board.ring, gone=kind is None))
    if kind:
        inside.append(kind.piece())
    title = f"{name}: {text_in(kind.title, language)}" if kind else name
    return place(name, board.centres[name], title, *inside, last=last)


def paint_board(
    drawn: BoardFace,
    view: BoardInput,
    kinds: PieceKinds,
    players: Sequence[PlayerCaption],
    last: Iterable[str],
) -> Picture:
    """Draw the pieces of a position, by their letters in its `board`, and list where they are.

    `last` are the places of the last move.
    """
    letters, marked = view.position["board"], frozenset(last)
    places = (
        _drawn_place(
            drawn,
            name,
            kinds[letters[name]] if name in letters else None,
            view.language,
            last=name in marked,
        )
        for name in drawn.centres
    )
    body = (*drawn.ground, *places)
    return Picture(body, drawn.height, tuple(players), where_pieces_are(view, kinds))
