"""Boards on pages: drawn, with the moves that are legal on them, and what a move would change."""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from markupsafe import Markup

from domain.drawing import draw_svg
from domain.drawing.svg.painter import LOOKS
from domain.errors import Refusal
from domain.match.state import MatchState, position_at, position_of
from domain.rules import AnyRules, Game, Outcome, Seat, game_of, pinned
from services.app.move_text import read_move
from services.language.telling import how, without_winner

GONE: Final = "a former player"

MOST_MOVES: Final = 5_000
"""Legal moves that a page is told; beyond that they can still be typed."""

_PLACE: Final = re.compile(r'data-place="([^"]*)"[^>]*><title>[^<]*?(?:: ([^<]*))?</title>')
"""What `docs/drawing.md` promises of a place: its name, and a title that says what stands there."""
_ICON: Final = re.compile(rf'class="icon ({"|".join(LOOKS)})[ "]')
"""What it promises of a plate: an icon, whose first class is the look of the player's pieces."""


class Change(msgspec.Struct, frozen=True):
    """What a move would do to a place."""

    place: str
    was: str
    """What stood there, in words; empty for nothing."""
    now: str

    @property
    def kind(self) -> str:
        """Say how it changes, as style sheet and script have it."""
        if not self.was:
            return "comes"
        return "changes" if self.now else "goes"


class Shown(msgspec.Struct, frozen=True):
    """A board as a page shows it."""

    svg: Markup
    moves: str
    """Where the page finds the legal moves; empty where none can be chosen."""
    check: str
    """Where the page asks what a move would lead to."""
    ply: int
    turn: str
    """Who is to move, such as `Light`."""
    game: Game

    @property
    def looks(self) -> tuple[int, ...]:
        """Which look the pieces of each seat have, by its number in `LOOKS`.

        The board says it, because players can exchange pieces, and in some games dark ones begin.
        """
        return tuple(LOOKS.index(look) for look in _ICON.findall(self.svg))


def names_of(users: Sequence[str | None]) -> tuple[str, ...]:
    """Return names to show, also for who is no more."""
    return tuple(name or GONE for name in users)


def drawn(state: MatchState, ply: int, names: Sequence[str]) -> Markup:
    """Draw a match as it stands after so many moves, with the last of them marked."""
    rules = pinned(state.rules)
    position = position_of(state) if ply == state.ply else position_at(state, ply)
    last = state.moves_of(ply)[-1] if ply else ""
    before = position_at(state, ply - 1) if last and game_of(rules.key).needs_previous else None
    ended = _ended(state, names) if ply == state.ply else None
    return picture(rules, position, names, last=last, before=before, ended=ended)


def picture(
    rules: AnyRules,
    position: Any,
    names: Sequence[str],
    *,
    last: str = "",
    before: Any = None,
    ended: Outcome | None = None,
) -> Markup:
    """Draw a position for a page; the drawing escapes what people wrote."""
    svg = draw_svg(rules, position, names, last=last, before=before, ended=ended, standalone=False)
    return Markup(svg)  # noqa: S704 - made by us, with every word of it escaped


def _ended(state: MatchState, names: Sequence[str]) -> Outcome | None:
    """Return how a match ended that its rules did not end."""
    result = state.result
    if result is None:
        return None
    said = without_winner(result.reason)
    if not said:
        who = " and ".join(names[seat] for seat in result.winners)
        verb = "has won" if len(result.winners) == 1 else "share the win"
        said = f"{who} {verb} {how(result.reason)}"
    return Outcome(result.winners, result.reason, said[:1].upper() + said[1:])


def legal(rules: AnyRules, position: Any) -> dict[str, Any]:
    """Return the legal moves, for the page's script to choose from."""
    if rules.outcome(position) is not None:
        return {"moves": [], "more": False}
    moves, more = rules.first_moves(position, MOST_MOVES)
    return {"moves": moves, "more": more}


class Tried(msgspec.Struct, frozen=True):
    """What a move would lead to, or why it can't be played."""

    legal: bool
    move: str
    """Canonical if it is legal, else as it was written."""
    said: str
    """What comes next, or the reason."""
    svg: str = ""
    changes: tuple[Change, ...] = ()


def tried(rules: AnyRules, position: Any, text: str, names: Sequence[str]) -> Tried:
    """Try a move out; nothing is played."""
    outcome = rules.outcome(position)
    if outcome is not None:
        return Tried(legal=False, move=text, said=f"the match is over: {outcome.detail}")
    try:
        move = rules.check(position, read_move(rules, text))
    except Refusal as reason:
        return Tried(legal=False, move=text, said=reason.sentence)
    after, written = rules.play(position, move), rules.write(move)
    svg = picture(rules, after, names, last=written, before=position)
    was = standing(picture(rules, position, names))
    return Tried(
        legal=True,
        move=written,
        said=_next(rules, after, names),
        svg=svg,
        changes=tuple(_changes(was, standing(svg))),
    )


def _next(rules: AnyRules, position: Any, names: Sequence[str]) -> str:
    outcome, mover = rules.outcome(position), rules.to_move(position)
    if outcome is not None:
        return f"this ends the match: {outcome.detail}"
    if mover is None or len(rules.sides) == 1:
        return ""
    return f"then it is {who(rules, mover, names)}'s turn"


def who(rules: AnyRules, seat: Seat, names: Sequence[str]) -> str:
    """Name a player, or the side where there are no names."""
    return names[seat] if names else rules.sides[seat]


def standing(svg: str) -> dict[str, str]:
    """Return what stands on each place of a drawing, in words; empty for nothing."""
    return {html.unescape(name): html.unescape(what) for name, what in _PLACE.findall(svg)}


def _changes(was: Mapping[str, str], now: Mapping[str, str]) -> Iterator[Change]:
    for place in dict.fromkeys((*was, *now)):
        before, after = was.get(place, ""), now.get(place, "")
        if before != after:
            yield Change(place, before, after)
