"""A game as a package: every version of its rules, its drawings, its help, its option form."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

import msgspec

from domain.game.engine import GameEngine
from domain.game.option_form import OptionField
from domain.game.painter import Painter
from domain.game.protocol import SAY, AnyRules
from domain.game.svg import Markup
from domain.game.text import TextInput, TextPlace
from domain.sentences import Text
from domain.translation import Translation

PROMPT: Final = SAY("begin")
PIECE_PROMPT: Final = SAY("piece")
STONE_PROMPT: Final = SAY("stone")


def _no_places(view: TextInput) -> Iterable[TextPlace]:
    del view
    return ()


class WordMove(msgspec.Struct, frozen=True):
    """A move that is a word, as pages offer it."""

    label: Text
    """The words of its button."""
    follows: Text
    """A sentence on its consequence, without a full stop."""


class ChoiceWords(msgspec.Struct, frozen=True):
    """The words in which pages ask for a move in a position."""

    prompt: Text
    """In place of the package's."""
    words: Mapping[str, WordMove] = {}
    """The moves that are words."""


def _no_choice(position: Any, names: Sequence[str]) -> ChoiceWords | None:
    del position, names
    return None


@dataclass(frozen=True)
class GamePackage:
    """Everything that the server knows of a game. A game's package declares one, named `GAME`."""

    versions: tuple[AnyRules, ...]
    """Every version that can be played or replayed. Old versions are never removed, because
    a match is replayed by the version that it recorded."""
    draw: Callable[[TextInput], str]
    """Draws a position as text."""
    paint: Painter
    """Draws a position as SVG."""
    package: str
    """The package that holds the help pages, `help.txt` and `help.de.txt`."""
    options_form: tuple[OptionField, ...] = ()
    """The labels of the options, for forms; empty for a game without options."""
    featured: bool = False
    """Whether the first pages offer the game with one click. The first such game is suggested."""
    needs_previous_position: bool = False
    """Whether a drawing needs the position before the last move, to mark the places it touched."""
    ring_percent: int = 100
    """The size of the rings around places that can be chosen, in percent of the usual one.

    0 if the page marks the areas of the places instead, because they are shapes of the board.
    """
    prompt: Text = PROMPT
    """The sentence on a page before the player has chosen a place, without a full stop."""
    choice: Callable[[Any, Sequence[str]], ChoiceWords | None] = _no_choice
    """Returns the words that ask for a move, from a position and the players' names; None to ask with
    the prompt, and to name moves that are words by themselves."""
    figures: Mapping[str, Markup] = field(default_factory=dict)
    """Small drawings of pieces and marks, by a name: within 18 units of the origin each."""
    engine: GameEngine | None = None
    """An evaluation for robots and analysis; None to search by the rules alone."""

    text_places: Callable[[TextInput], Iterable[TextPlace]] = _no_places
    """Returns where the text drawing shows each place; without it a terminal lists the places."""

    @property
    def latest(self) -> AnyRules:
        """The rules by which new matches are played."""
        return max(self.versions, key=lambda rules: rules.version)

    @property
    def key(self) -> str:
        """The game's name in commands."""
        return self.latest.key


class GamePart(StrEnum):
    """A part of a game's package whose texts are no sentences: its option form, its guide.

    They are English; a translation has their words in a context for each part, such as `pow2:options`.
    """

    OPTIONS = "options"
    GUIDE = "guide"


def game_context(game: str, part: GamePart) -> str:
    """Return the context of the words of a part."""
    return f"{game}:{part}"


def game_text(game: str, part: GamePart, text: str, language: Translation) -> str:
    """Return a text of a game in a language; an empty one is empty."""
    return language.pgettext(game_context(game, part), text) if text else ""
