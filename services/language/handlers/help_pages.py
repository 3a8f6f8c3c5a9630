"""Commands that explain: help and games."""

from collections.abc import Sequence
from importlib.resources.abc import Traversable
from typing import Final, Protocol

from domain.errors import Code, Refusal
from domain.rules import AnyRules, game_by_key, game_keys, latest_rules
from domain.sentences import text_in
from infra.languages.catalogues import folder_of
from infra.languages.wording import Wording, wording
from services.app.games_off import keys_on
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
    return Answer("; ".join(reason.in_language(language) for reason in unknown), "\n\n".join(pages))


def _is_known(subject: str, forms: Sequence[Explained]) -> bool:
    return subject in game_keys() or any(form.called(subject.split()) for form in forms)


def _page_on(subject: str, forms: Sequence[Explained], words: Wording) -> str:
    """Return the page of a game, or how a command is written."""
    if subject in game_keys():
        return _game_page(subject, words)
    return _on_command(ALIASES.get(subject, subject), forms, words)


def show_game_help(call: Invocation) -> Answer:
    """Show a game's page."""
    return Answer(page=_game_page(call.rules.key, _language(call)))


def list_games(call: Invocation) -> Answer:
    """List the games that can be begun."""
    lines = [_game_line(latest_rules(key), call.words) for key in keys_on(call.app)]
    return Answer(page="\n".join(lines))


def _game_line(rules: AnyRules, words: Wording) -> str:
    *fewer, most = rules.players
    if fewer:
        players = words.gettext(
            "%(fewer)s or %(most)s players", fewer=", ".join(map(str, fewer)), most=most
        )
    else:
        players = words.ngettext("%(count)s player", "%(count)s players", most)
    sides = [text_in(rules.sides[seat], words) for seat in range(most)]
    return words.gettext(
        "%(game)s: %(title)s, for %(players)s (%(sides)s); `help %(game)s` has the rules",
        game=rules.key,
        title=rules.title,
        players=players,
        sides=", ".join(sides),
    )


def _on_command(subject: str, forms: Sequence[Explained], words: Wording) -> str:
    """Return how the commands are written whose name is the subject or begins with it."""
    found = [
        f"{form.usage()}\n    {words.gettext(form.summary)}"
        for form in forms
        if form.called(subject.split())
    ]
    if not found:
        known = {form.name: f"help {form.name}" for form in forms}
        known |= {game: f"help {game}" for game in game_keys()}
        said = words.gettext(
            "there is no game and no command %(name)s", name=quote_safely(subject, known, words)
        )
        raise Refusal(Code.UNKNOWN_GAME, f"{said}; {nearest(subject, known, words)}")
    return "\n".join(found)


def _language(call: Invocation) -> Wording:
    """Return the words of the language asked for by `--lang=CODE`, or else the reader's own."""
    flags: Sequence[str] = call.line.all("flag")
    if not flags:
        return call.words
    name, _, value = flags[0].partition("=")
    if name != "--lang" or len(flags) > 1:
        raise usage_refusal(call)
    return wording(read_language(value))


def _page(folder: Traversable, name: str, words: Wording) -> str:
    """Return a page in that language, or in English where there is no translation."""
    translated = folder.joinpath(f"{name}.{words.code}.txt")
    page = translated if translated.is_file() else folder.joinpath(f"{name}.txt")
    text = page.read_text("utf-8").rstrip("\n")
    return text.replace(_LANGUAGES, LANGUAGES.ljust(len(_LANGUAGES)))


def _game_page(key: str, words: Wording) -> str:
    """Return a game's page, which is in the game's package."""
    return _page(folder_of(game_by_key(key).package), "help", words)
