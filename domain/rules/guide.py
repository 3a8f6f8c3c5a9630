"""The guide of a game: what its page shows to people, with pictures from real moves.

A game has it as `guide.toml` in its package, in English; `domain.game.protocol` has its texts in the
reader's language.
"""

import re
from hashlib import sha256
from typing import Any, Final, NamedTuple

import msgspec

from domain.fairness import DrawStream
from domain.game.protocol import AnyRules
from domain.rules.registry import rules_id

_NAME: Final = re.compile(r"[a-z]*\d+")
"""A place in a move, as pages and drawings name it."""


class NotationLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A way to write a move."""

    move: str
    means: str


class GuidePicture(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A picture of a guide: a position that is reached by moves."""

    name: str
    caption: str
    moves: str = ""
    options: str = ""
    players: int = 0
    """0 for the smallest number that the game allows."""
    seed: str = ""
    """The seed of the draw, in a game with chance."""
    chosen: tuple[str, ...] = ()
    """Places that a player has chosen; those that can follow are marked, too."""
    choices: bool = False
    """Whether the places are marked from which a move can begin."""
    shows_last: bool = True
    """Whether the last move is marked."""


class GuideSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of the details."""

    title: str
    text: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    """A list below the text."""
    numbered: bool = False


class LegendLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of the legend below a board: what some of the game's `figures` mean."""

    figures: tuple[str, ...]
    text: str
    when: str = ""
    """A class of a place; without such a place on the board the line is left out."""
    large: bool = False
    """Whether the figures have details that need room."""


class GameGuide(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The texts and pictures of a game's page."""

    about: str
    """One sentence about the game, also for cards."""
    goal: str
    turn: str
    """One sentence: what a player does, at a board to try the game on."""
    card: str
    """The name of the picture that stands for the game in lists."""
    pictures: tuple[GuidePicture, ...]
    sections: tuple[GuideSection, ...]
    notation: tuple[NotationLine, ...]
    legend: tuple[LegendLine, ...] = ()
    moves: int = 0
    """About how many moves a match has; 0 if that says nothing."""
    welcome: bool = False
    """Whether the first page has a board on which visitors try this game."""
    origin: str = ""
    """The inventor."""

    def picture(self, name: str) -> GuidePicture | None:
        """Return the picture of this name; None if there is none."""
        return next((one for one in self.pictures if one.name == name), None)


def read_guide(text: str) -> GameGuide:
    """Read a guide; raises `msgspec.ValidationError` if something in it is missing or unknown."""
    return msgspec.toml.decode(text, type=GameGuide)


class ReachedPosition(NamedTuple):
    """The position of a picture."""

    position: Any
    before: Any
    """The position before the last move; None without moves."""
    last: str
    """The last move; empty without moves."""


def reach_position(rules: AnyRules, picture: GuidePicture) -> ReachedPosition:
    """Play the moves of a picture; raises `Refusal` if one is illegal."""
    options = rules.read_options(picture.options.split())
    players = picture.players or rules.players[0]
    chance = DrawStream(sha256(picture.seed.encode()).digest(), rules_id(rules))
    position = rules.start(options, players, rules.draw(options, players, chance))
    reached = ReachedPosition(position, None, "")
    for text in picture.moves.split():
        move = rules.check(reached.position, rules.read(text))
        after = rules.play(reached.position, move)
        reached = ReachedPosition(after, reached.position, rules.write(move))
    return reached


def next_places(rules: AnyRules, position: Any, chosen: tuple[str, ...]) -> tuple[str, ...]:
    """Return the places that can be chosen after these in a legal move, each once."""
    found: dict[str, None] = {}
    for text in rules.legal_moves(position):
        head, _, tail = text.partition(":")
        first, free = _NAME.findall(head), _NAME.findall(tail)
        begun = chosen[: len(first)]
        if [*begun] != first[: len(begun)] or not set(chosen[len(first) :]) <= set(free):
            continue
        rest = first[len(chosen) : len(chosen) + 1] or [name for name in free if name not in chosen]
        found.update(dict.fromkeys(rest))
    return tuple(found)
