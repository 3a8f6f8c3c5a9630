"""Commands that explain: help and games."""

from collections.abc import Sequence
from importlib.resources.abc import Traversable
from typing import Final, Protocol

from domain.errors import Code, Refusal
from domain.rules import game_by_key, latest_rules
from infra.languages.catalogues import folder_of
from services.app.games import game_keys
from services.app.preferences import read_language
from services.language.answer import Answer
from services.language.arguments import nearest, usage_refusal
from services.language.form import LANGUAGES
from services.language.invocation import Invocation
from services.language.parser import ALIASES
from services.language.redact import quote_safely

_HELP: Final = folder_of("services.language").joinpath("help")
_LANGUAGES: Final = "LANGUAGES"
"""The word in a page in whose place the languages stand."""


class Explained(Protocol):
    """A form, as help shows it."""

    @property
    def name(self) -> str:
        """The words it begins with."""
        ...

    @property
    def summary(self) -> str:
        """A few words on its purpose."""
        ...

    def usage(self) -> str:
        """Return how the command is written."""
        ...

    def called(self, words: Sequence[str]) -> bool:
        """Return whether these are its name, or the beginning of it."""
        ...


def show_help(call: Invocation, forms: Sequence[Explained]) -> Answer:
    """Show the general page, a game's, or how a command is written."""
    language = _language(call)
    words = list(dict.fromkeys(word.lower() for word in call.line.all("subject")))
    if not words:
        return Answer(page=_page(_HELP, "general", language))
    pages, unknown = [], []
    while words:
        # a name of two words, such as `change password`, before one of one
        known = [n for n in (2, 1) if _is_known(" ".join(words[:n]), forms)]
        taken, words = words[: max(known, default=1)], words[max(known, default=1) :]
        try:
            pages.append(_page_on(" ".join(taken), forms, language))
        except Refusal as reason:
            unknown.append(reason)
    if not pages:
        raise unknown[0]
    return Answer("; ".join(reason.sentence for reason in unknown), "\n\n".join(pages))


def _is_known(subject: str, forms: Sequence[Explained]) -> bool:
    return subject in game_keys() or any(form.called(subject.split()) for form in forms)


def _page_on(subject: str, forms: Sequence[Explained], language: str) -> str:
    """Return the page of a game, or how a command is written."""
    if subject in game_keys():
        return _game_page(subject, language)
    return _on_command(ALIASES.get(subject, subject), forms)


def show_game_help(call: Invocation) -> Answer:
    """Show a game's page."""
    return Answer(page=_game_page(call.rules.key, _language(call)))


def list_games(_: Invocation) -> Answer:
    """List the games."""
    lines = [
        f"{rules.key}: {rules.title}, for {_players(rules.players)} "
        f"({', '.join(rules.side_names)}); `help {rules.key}` has the rules"
        for rules in map(latest_rules, game_keys())
    ]
    return Answer(page="\n".join(lines))


def _players(counts: Sequence[int]) -> str:
    """Return how many can play, such as `2 or 3 players`."""
    return f"{' or '.join(map(str, counts))} player{'s' * (counts[-1] > 1)}"


def _on_command(subject: str, forms: Sequence[Explained]) -> str:
    """Return how the commands are written whose name is the subject or begins with it."""
    found = [
        f"{form.usage()}\n    {form.summary}" for form in forms if form.called(subject.split())
    ]
    if not found:
        known = {form.name: f"help {form.name}" for form in forms}
        known |= {game: f"help {game}" for game in game_keys()}
        raise Refusal(
            Code.UNKNOWN_GAME,
            f"there is no game and no command {quote_safely(subject, known)}; {nearest(subject, known)}",
        )
    return "\n".join(found)


def _language(call: Invocation) -> str:
    """Return the language asked for by `--lang=CODE`, or else the reader's own."""
    flags: Sequence[str] = call.line.all("flag")
    if not flags:
        return call.language
    name, _, value = flags[0].partition("=")
    if name != "--lang" or len(flags) > 1:
        raise usage_refusal(call)
    return read_language(value)


def _page(folder: Traversable, name: str, language: str) -> str:
    """Return a page in that language, or in English where there is no translation."""
    translated = folder.joinpath(f"{name}.{language}.txt")
    page = translated if language and translated.is_file() else folder.joinpath(f"{name}.txt")
    text = page.read_text("utf-8").rstrip("\n")
    return text.replace(_LANGUAGES, LANGUAGES.ljust(len(_LANGUAGES)))


def _game_page(key: str, language: str) -> str:
    """Return a game's page, which is in the game's package."""
    return _page(folder_of(game_by_key(key).package), "help", language)
