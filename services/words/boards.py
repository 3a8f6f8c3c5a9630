"""Matches drawn, with how they ended, and as text, with whose turn follows."""

from collections.abc import Sequence
from typing import Any

import msgspec

from domain.drawing import TextPlace, draw_svg, draw_text, text_places
from domain.match.state import MatchState, position_at, position_of
from domain.rules import AnyRules, Seat, game_by_key, rules_by_id
from domain.sentences import text_in
from domain.translation import ENGLISH, Translation
from infra.languages.wording import wording
from services.app.games import read_display
from services.app.move_text import read_move
from services.words.endings import ending_in_drawing


def board_svg(
    state: MatchState,
    ply: int,
    names: Sequence[str],
    *,
    standalone: bool = True,
    plates: bool = True,
    turned: bool = False,
    language: Translation = ENGLISH,
) -> str:
    """Return a match as it stood after so many moves, drawn with the last of them marked."""
    rules = rules_by_id(state.rules)
    now = ply == state.ply
    last = state.first_moves(ply)[-1] if ply else ""
    return draw_svg(
        rules,
        position_of(state) if now else position_at(state, ply),
        names,
        last=last,
        before=position_at(state, ply - 1)
        if last and game_by_key(rules.key).needs_previous_position
        else None,
        ended=ending_in_drawing(state, names, wording(language.code)) if now else None,
        language=language,
        standalone=standalone,
        plates=plates,
        turned=turned,
    )


def board_text(state: MatchState, ply: int, names: Sequence[str], display: str = "") -> str:
    """Return a match as it stood after so many moves, drawn as text.

    `display` is one of the game's, or empty for its first; `bad-option` for any other.
    """
    rules = rules_by_id(state.rules)
    display = read_display(rules, display or rules.displays[0])
    return draw_text(rules, position_at(state, ply), display, names)


class TextBoard(msgspec.Struct, frozen=True):
    """A board as text, and where its places are."""

    ply: int
    """The number of moves played, a previewed one included."""
    move: str | None
    """The last of them in canonical form; null at the start."""
    next: str
    """A sentence on the turn after a previewed move; empty without one, and in a puzzle."""
    text: str
    places: tuple[TextPlace, ...]
    """Where the text shows each place; empty for a game that does not say it."""
    display: str
    """The display of the text, such as `small`."""
    displays: tuple[str, ...]
    """All displays of the game, the default first."""
    prompt: str
    """A sentence for a player who has chosen no place yet."""


def text_board(
    state: MatchState, ply: int, names: Sequence[str], display: str = "", move: str = ""
) -> TextBoard:
    """Return a match as it stood after so many moves, or as it would stand after a move then.

    Nothing is played. Refused as the move itself would be; `bad-option` for an unknown display.
    """
    rules = rules_by_id(state.rules)
    display = read_display(rules, display or rules.displays[0])
    position, following = position_at(state, ply), ""
    last = state.first_moves(ply)[-1] if ply else None
    if move:
        checked = rules.check(position, read_move(rules, move))
        position, last, ply = rules.play(position, checked), rules.write(checked), ply + 1
        following = what_follows(rules, position, names)
    return TextBoard(
        ply=ply,
        move=last,
        next=following,
        text=draw_text(rules, position, display),
        places=text_places(rules, position, display),
        display=display,
        displays=tuple(rules.displays),
        prompt=f"{str(game_by_key(rules.key).prompt).rstrip('.')}.",
    )


def what_follows(
    rules: AnyRules, position: Any, names: Sequence[str], language: Translation = ENGLISH
) -> str:
    """Return a clause on what follows in a position; empty in a puzzle that goes on."""
    words = wording(language.code)
    outcome, mover = rules.outcome(position), rules.to_move(position)
    if outcome is not None:
        detail = text_in(outcome.text, language).rstrip(".")
        return words.gettext("this ends the match: %(detail)s", detail=detail)
    if mover is None or len(rules.sides) == 1:
        return ""
    player = player_name(rules, mover, names, language)
    return words.gettext("it will be %(name)s's turn", name=player)


def player_name(
    rules: AnyRules, seat: Seat, names: Sequence[str], language: Translation = ENGLISH
) -> str:
    """Return a player's name, or the side if there are no names."""
    return names[seat] if names else text_in(rules.sides[seat], language)
