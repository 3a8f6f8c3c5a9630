"""The pieces of a game in SVG: their kinds, icons beside names, figures of legends, and where they stand in words."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from domain.game.painter import (
    BoardInput,
    Markup,
    PlayerCaption,
    icon,
    piece,
    place_sentences,
    stone,
)
from domain.game.schemas import by_place, letters
from domain.sentences import Sentence, Text, text_in

STONE: Final = 11
RING: Final = 16.5
"""The sizes of a stone, and of the mark of the last move around it, where places lie close."""
_ICON: Final = 13
"""The radius of the largest stone in an icon."""


PLACES_KEPT: Final = 4_096
"""Drawn places that a board keeps, of 300 bytes or so: a move changes few, and all matches of a game have the same."""


class PieceKind(msgspec.Struct, frozen=True, eq=False):
    """A kind of piece: its CSS classes, its owner, its name and its shapes.

    Each is equal to itself alone, so that drawn places are found quickly by theirs.
    """

    classes: str
    seat: int
    title: Text
    shapes: tuple[Markup, ...]
    ring: float = RING
    """The size of the mark of the last move around it."""
    scale: float = 1
    """The size of its icon beside it: an icon is within 18 units of its middle."""

    def piece(self) -> Markup:
        """Return a piece of this kind, around the origin."""
        return piece(self.classes, self.seat, *self.shapes)

    def icon(self) -> Markup:
        """Return the icon beside a player's name."""
        return icon(self.classes, *self.shapes, scale=self.scale)


PieceKinds = Mapping[str, PieceKind]
"""The kinds of pieces of a game, by their letters in the JSON form."""


def stone_kind(
    look: str, seat: int, title: Text, size: float = STONE, ring: float = RING
) -> PieceKind:
    """Return a kind of plain stones."""
    scale = min(1, _ICON / size)
    return PieceKind(f"{look} stone", seat, title, stone(look, size), ring, scale)


def player_captions(
    view: BoardInput, kinds: PieceKinds, letters: str, counts: Sequence[Sentence]
) -> list[PlayerCaption]:
    """Return the captions of the players by seat, each with the icon of a kind of piece."""
    return [
        PlayerCaption(kinds[letter].icon(), count.in_language(view.language))
        for letter, count in zip(letters, counts, strict=True)
    ]


def where_pieces_are(view: BoardInput, kinds: PieceKinds) -> tuple[str, ...]:
    """Return a sentence for each kind of piece, with the places in `board` of the JSON form."""
    letters = view.position["board"]
    return place_sentences(
        {
            text_in(kind.title, view.language): [
                name for name, there in letters.items() if there == letter
            ]
            for letter, kind in kinds.items()
        }
    )


def board_schema(names: Sequence[str], kinds: PieceKinds) -> dict[str, Any]:
    """Return the JSON Schema of a `board`: a letter for each piece, by the name of its place."""
    titles = {letter: kind.title for letter, kind in kinds.items()}
    return by_place(names, letters(titles), "the pieces by place; an empty place is left out")


def figures_of(kinds: PieceKinds, letters: Mapping[str, str]) -> dict[str, Markup]:
    """Return figures of pieces by a name, each given by the letter of its kind."""
    return {name: kinds[letter].piece() for name, letter in letters.items()}
