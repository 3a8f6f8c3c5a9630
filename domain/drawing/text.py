"""Positions as text, for terminals and mail."""

from collections.abc import Sequence

import msgspec

from domain.errors import Code, Refusal
from domain.game.protocol import AnyRules, TextInput, TextPlace
from domain.rules.registry import game_by_key
from domain.sentences import ENGLISH, Translation, text_in


def text_places(
    rules: AnyRules, position: msgspec.Struct, display: str, names: Sequence[str] = ()
) -> tuple[TextPlace, ...]:
    """Return where `draw_text` shows each place, for the same arguments; no two overlap.

    They are empty for a game that does not say where its places are.
    """
    view = TextInput(rules.to_json(position), display, names)
    return tuple(game_by_key(rules.key).text_places(view))


def draw_text(
    rules: AnyRules,
    position: msgspec.Struct,
    display: str,
    names: Sequence[str] = (),
    language: Translation = ENGLISH,
) -> str:
    """Draw a position, with the ending below if there is one; without trailing blanks or line end.

    `names` are the players' names by seat, for drawings that show them; the ending is in `language`.
    """
    if display not in rules.displays:
        known = ", ".join(rules.displays)
        raise Refusal(
            Code.BAD_OPTION, f"{rules.key} has no display {display[:24]!r}; known are {known}"
        )
    drawing = game_by_key(rules.key).draw(TextInput(rules.to_json(position), display, names))
    outcome = rules.outcome(position)
    return f"{drawing}\n\n{text_in(outcome.text, language)}" if outcome else drawing
