"""Commands that explain: help and games."""

from collections.abc import Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final, Protocol

from domain.errors import Code, Refusal
from domain.rules import game_by_key, latest_rules
from services.app.games import game_keys
from services.app.preferences import read_language
from services.language.answer import Answer
from services.language.arguments import nearest, usage_refusal
from services.language.invocation import Invocation
from services.language.redact import quote_safely

_HELP: Final = files("services.language").joinpath("help")


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
    subject = " ".join(call.line.all("subject")).lower()
    if not subject:
        return Answer(page=_page(_HELP, "general", language))
    if subject in game_keys():
        return Answer(page=_game_page(subject, language))
    return Answer(page=_on_command(subject, forms))


def show_game_help(call: Invocation) -> Answer:
    """Show a game's page."""
    return Answer(page=_game_page(call.rules.key, _language(call)))


def list_games(_: Invocation) -> Answer:
    """List the games."""
    lines = [
        f"{rules.key}: {rules.title}, for {_players(rules.players)} "
        f"({', '.join(rules.sides)}); `help {rules.key}` has the rules"
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
    return page.read_text("utf-8").rstrip("\n")


def _game_page(key: str, language: str) -> str:
    """Return a game's page, which is in the game's package."""
    return _page(files(game_by_key(key).package), "help", language)
