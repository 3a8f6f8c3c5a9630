"""The messages that the code can say, and those for which a language has words."""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from babel.messages.extract import extract_from_file

import infra.languages
from domain.game.protocol import GamePart, game_context
from domain.rules import GamePackage, all_games
from domain.rules.guide import GameGuide, read_guide
from domain.sentences import Message, all_messages
from infra.languages.catalogues import catalogues

ROOT = Path(infra.languages.__file__).parents[2]
LAYERS = ("domain", "infra", "workers", "services")
KINDS = {
    "services/http/web/*/*.html": ("jinja2.ext:babel_extract", {"trimmed": "true"}),
    "infra/**/*.py": ("python", {}),
    "services/**/*.py": ("python", {}),
    "services/http/web/static/*.js": ("javascript", {}),
}

Key = tuple[str | None, Message]
"""A message with its context, if it has one."""


class Words(NamedTuple):
    """The words for a message in a file of a catalogue."""

    file: Path
    parts: tuple[str, ...]
    fuzzy: bool
    comments: tuple[str, ...]


@cache
def extracted(pattern: str) -> frozenset[Key]:
    """Return the messages of gettext in the files of a kind."""
    method, options = KINDS[pattern]
    found: set[Key] = set()
    for path in ROOT.glob(pattern):
        if path.name == "htmx.js":
            continue
        for _, message, _, context in extract_from_file(method, path, options=options):
            found.add((context, tuple(message[:2]) if isinstance(message, tuple) else message))
    return frozenset(found)


@cache
def of_sentences() -> frozenset[Key]:
    """Return the messages of all catalogues of sentences and their forms."""
    for layer in LAYERS:
        for path in (ROOT / layer).rglob("*.py"):
            if " Sentences(" in path.read_text("utf-8"):
                import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    return frozenset(all_messages())


def guide_of(game: GamePackage) -> GameGuide | None:
    """Return the guide of a game; None for a game without one."""
    file = files(game.package).joinpath("guide.toml")
    return read_guide(file.read_text("utf-8")) if file.is_file() else None


def guide_texts(guide: GameGuide) -> list[str]:
    found = [guide.about, guide.goal, guide.turn, guide.origin]
    found += [picture.caption for picture in guide.pictures]
    for part in guide.sections:
        found += [part.title, *part.text, *part.items]
    found += [line.means for line in guide.notation]
    found += [line.text for line in guide.legend]
    return [text for text in found if text]


def option_texts(game: GamePackage) -> list[str]:
    """Return all texts of a game's option form."""
    found = [
        text
        for field in game.options_form
        for text in (field.title, field.hint, *(pick.label for pick in field.picks))
    ]
    return [text for text in found if text]


def of_games() -> Iterator[Key]:
    """Yield the messages of option forms and guides."""
    for game in all_games():
        for text in option_texts(game):
            yield game_context(game.key, GamePart.OPTIONS), text
        for part in game.notation.parts:
            yield game_context(game.key, GamePart.NOTATION), part.means
        if guide := guide_of(game):
            for text in guide_texts(guide):
                yield game_context(game.key, GamePart.GUIDE), text


@cache
def said() -> frozenset[Key]:
    """Return all messages that the code can say."""
    pages = {message for pattern in KINDS for message in extracted(pattern)}
    return frozenset(pages | of_sentences() | set(of_games()))


def game_of(context: str | None) -> GamePackage | None:
    """Return the game whose message has this context; None for a message of the server."""
    key = re.split(r"[.:]", context or "")[0]
    return next((game for game in all_games() if game.key == key), None)


@cache
def written(language: str) -> dict[Key, list[Words]]:
    """Return the messages of a language's catalogues, each with its words."""
    found: dict[Key, list[Words]] = defaultdict(list)
    for name, catalogue in catalogues(language).items():
        for one in catalogue:
            if one.id:
                key = one.id if isinstance(one.id, str) else tuple(one.id)
                parts = (one.string,) if isinstance(one.string, str) else tuple(one.string)
                words = Words(Path(name), parts, one.fuzzy, tuple(one.auto_comments))
                found[one.context, key].append(words)
    return found
