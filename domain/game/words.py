"""The texts of a game that are no sentences: those of its option form and of its guide.

They are English; a translation has their words in a context for each of these parts, such as
`pow2:options`.
"""

from enum import StrEnum

from domain.translation import Translation


class GamePart(StrEnum):
    """A part of a game's package that has texts."""

    OPTIONS = "options"
    GUIDE = "guide"


def game_context(game: str, part: GamePart) -> str:
    """Return the context of the words of a part."""
    return f"{game}:{part}"


def game_text(game: str, part: GamePart, text: str, language: Translation) -> str:
    """Return a text of a game in a language; an empty one is empty."""
    return language.pgettext(game_context(game, part), text) if text else ""
