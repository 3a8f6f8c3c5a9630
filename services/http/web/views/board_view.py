"""Boards on pages: their drawings, legal moves, and the changes that a move would make."""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from markupsafe import Markup

from domain.drawing import draw_svg
from domain.drawing.svg.painter import LOOKS
from domain.errors import Refusal
from domain.match.state import MatchState
from domain.rules import AnyRules, GamePackage
from services.app.matches import board_svg, next_sentence
from services.app.move_text import read_move

MAX_MOVES: Final = 5_000
"""Legal moves that a page gets; others can still be typed."""

_PLACE: Final = re.compile(r'data-place="([^"]*)"[^>]*><title>[^<]*?(?:: ([^<]*))?</title>')
"""A place, as docs/drawing.md promises it: its name, and a title that describes its contents."""
_ICON: Final = re.compile(rf'class="icon ({"|".join(LOOKS)})[ "]')
"""A player's plate, as docs/drawing.md promises it: an icon whose first class is the look of the pieces."""


class PlaceChange(msgspec.Struct, frozen=True):
    """A change that a move would make to a place."""

    place: str
    was: str
    """The contents before the move, in words; empty for nothing."""
    now: str

    @property
    def kind(self) -> str:
        """How it changes, as a class of the style sheet: `comes`, `changes` or `goes`."""
        if not self.was:
            return "comes"
        return "changes" if self.now else "goes"


class BoardView(msgspec.Struct, frozen=True):
    """A board as a page shows it."""

    svg: Markup
    moves: str
    """Address of the legal moves; empty if the visitor can't choose any."""
    check: str
    """Address that previews a move."""
    ply: int
    turn: str
    """The player to move, such as `Light`."""
    game: GamePackage

    @property
    def looks(self) -> tuple[int, ...]:
        """The look of each seat's pieces, as an index of `LOOKS`.

        It is read from the drawing, because players can exchange pieces, and in some games Dark begins.
        """
        return tuple(LOOKS.index(look) for look in _ICON.findall(self.svg))


def draw_match(state: MatchState, ply: int, names: Sequence[str]) -> Markup:
    """Return a match as it stood after so many moves, drawn for a page."""
    return _safe(board_svg(state, ply, names, standalone=False))


def draw_position(
    rules: AnyRules,
    position: Any,
    names: Sequence[str],
    *,
    last: str = "",
    before: Any = None,
) -> Markup:
    """Return a position drawn for a page."""
    return _safe(draw_svg(rules, position, names, last=last, before=before, standalone=False))


def _safe(svg: str) -> Markup:
    """Mark a drawing as safe for a page, because the drawing has escaped all user text."""
    return Markup(svg)  # noqa: S704 - our own markup, with every text in it escaped


def legal_moves_json(rules: AnyRules, position: Any) -> dict[str, Any]:
    """Return the legal moves, for the page's script to choose from."""
    if rules.outcome(position) is not None:
        return {"moves": [], "more": False}
    moves, more = rules.first_moves(position, MAX_MOVES)
    return {"moves": moves, "more": more}


class MovePreview(msgspec.Struct, frozen=True):
    """The result of a move that is previewed, or why it can't be played."""

    legal: bool
    move: str
    """Canonical if it is legal, otherwise as it was written."""
    said: str
    """A sentence on the turn after it, or the reason why it is not legal."""
    svg: str = ""
    changes: tuple[PlaceChange, ...] = ()


def preview_move(
    rules: AnyRules, position: Any, text: str, names: Sequence[str], language: str = ""
) -> MovePreview:
    """Return the result of a move; nothing is played. A refusal is in the visitor's language."""
    outcome = rules.outcome(position)
    if outcome is not None:
        return MovePreview(legal=False, move=text, said=f"the match is over: {outcome.detail}")
    try:
        move = rules.check(position, read_move(rules, text))
    except Refusal as reason:
        return MovePreview(legal=False, move=text, said=reason.in_language(language))
    after, written = rules.play(position, move), rules.write(move)
    svg = draw_position(rules, after, names, last=written, before=position)
    was = contents_of_places(draw_position(rules, position, names))
    return MovePreview(
        legal=True,
        move=written,
        said=next_sentence(rules, after, names),
        svg=svg,
        changes=tuple(_changes(was, contents_of_places(svg))),
    )


def contents_of_places(svg: str) -> dict[str, str]:
    """Return the contents of each place of a drawing, in words; empty for nothing."""
    return {html.unescape(name): html.unescape(what) for name, what in _PLACE.findall(svg)}


def _changes(was: Mapping[str, str], now: Mapping[str, str]) -> Iterator[PlaceChange]:
    for place in dict.fromkeys((*was, *now)):
        before, after = was.get(place, ""), now.get(place, "")
        if before != after:
            yield PlaceChange(place, before, after)
