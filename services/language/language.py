"""The table of command forms, and the way from a line to the handler of its form."""

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from importlib.resources import files
from typing import Final
from uuid import uuid4

import msgspec

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from domain.rules import RULES, current
from services.language import boards, people, play, puzzles
from services.language.answer import Answer, refusal
from services.language.desk import Call, Desk
from services.language.people import read_language
from services.language.reading import check_key, check_text, misused, nearest, split_options
from services.post import WAIT_SECONDS

_HELP: Final = files("services.language").joinpath("help")


class Form(msgspec.Struct, frozen=True):
    """A command: the words it begins with (after the game's, if it is one of a game's)."""

    name: str
    rest: str
    """What follows the name, as usage shows it."""
    handler: Callable[[Call], Answer]

    def usage(self, game: str = "") -> str:
        """Show how the command is written."""
        return " ".join(part for part in (game, self.name, self.rest) if part)


def _help(call: Call) -> Answer:
    words, language = _split_language(call)
    match words:
        case []:
            return Answer(page=_page("general", language))
        case [topic]:
            return _help_on(topic.lower(), language)
        case _:
            raise misused(call)


def _split_language(call: Call) -> tuple[list[str], str]:
    """Give the words less `--lang=CODE`, and the language: that one, or the player's own."""
    words, flags = split_options(call.words)
    language = call.language
    for flag in flags:
        name, _, value = flag.partition("=")
        if name != "--lang" or len(flags) > 1:
            raise misused(call)
        language = read_language(value)
    return words, language


def _help_on(topic: str, language: str) -> Answer:
    """Show how commands of that name are written, or else a game's page."""
    forms = [form.usage() for form in _GENERAL if form.name.split()[0] == topic]
    forms += [form.usage("GAME") for form in _OF_GAMES if form.name == topic]
    return Answer(page="\n".join(forms) if forms else _page(current(topic).key, language))


def _game_help(call: Call) -> Answer:
    words, language = _split_language(call)
    if words:
        raise misused(call)
    return Answer(page=_page(call.rules.key, language))


def _page(name: str, language: str) -> str:
    """Give a page in that language, or in English where there is no translation."""
    translated = _HELP.joinpath(f"{name}.{language}.txt")
    page = translated if language and translated.is_file() else _HELP.joinpath(f"{name}.txt")
    return page.read_text("utf-8").rstrip("\n")


def _list_games(call: Call) -> Answer:
    if call.words:
        raise misused(call)
    lines = [
        f"{rules.key}: {rules.title}, for {' or '.join(map(str, rules.players))} players "
        f"({', '.join(rules.sides)}); `help {rules.key}` has the rules"
        for rules in map(current, _games())
    ]
    return Answer(page="\n".join(lines))


def _games() -> list[str]:
    return sorted({rules.key for rules in RULES})


_GENERAL: Final = (
    Form("help", "[GAME|COMMAND] [--lang=de]", _help),
    Form("games", "", _list_games),
    Form("signup", "userid password", people.signup),
    Form("change password", "userid old new", people.change_password),
    Form("set", "userid password language en|de", people.set_preference),
)

_OF_GAMES: Final = (
    Form("challenge", "userid1 userid2 [-options]", play.challenge),
    Form("move", "BOARD userid password MOVE[#ply]", play.move),
    Form("resign", "BOARD userid password", play.resign),
    Form("decline", "BOARD userid password", play.decline),
    Form("show", "BOARD[#ply] ... [--display=NAME]", boards.show),
    Form("preview", "BOARD MOVE ...", boards.preview),
    Form("scores", "[-options]", puzzles.scores),
    Form("help", "[--lang=de]", _game_help),
)


class Language:
    """Carries out command lines; one for each door. As many threads as its desk allows."""

    def __init__(self, desk: Desk, door: str = "terminal") -> None:
        self._desk = desk
        self._door = door

    def do(
        self,
        line: str,
        key: str | None = None,
        seconds: float = WAIT_SECONDS,
        reader: AccountId | None = None,
    ) -> Answer:
        """Carry out a command line.

        The same line with the same `key` is carried out once and answered alike each time; None
        stands for a key of its own. `seconds` is how long an outcome is waited for. Errors of the
        server pass through: whether the command was delivered is not known then. `reader` is who
        reads the answer, where the door knows: help is in their language.
        """
        try:
            check_text(line)
            key = uuid4().hex if key is None else key
            check_key(key)
            language = self._desk.accounts.language_of(reader) if reader else ""
            return self._do(line.split(), key, seconds, language)
        except Refusal as reason:
            return refusal(reason)

    def _do(self, words: Sequence[str], key: str, seconds: float, language: str) -> Answer:
        if not words:
            raise Refusal(Code.USAGE, "the line is empty; `help` lists the commands")
        game = words[0].lower() if words[0].lower() in _games() else ""
        form, rest = _find(words, game)
        call = Call(
            desk=self._desk,
            door=self._door,
            key=key,
            seconds=seconds,
            form=form.usage(game),
            language=language,
            words=tuple(rest),
            game=current(game) if game else None,
        )
        return form.handler(call)


def _find(words: Sequence[str], game: str) -> tuple[Form, Sequence[str]]:
    """Give the form that the words begin with, and what follows its name."""
    forms, said = (_OF_GAMES, words[1:]) if game else (_GENERAL, words)
    lowered = [word.lower() for word in said]
    for form in forms:
        name = form.name.split()
        if lowered[: len(name)] == name:
            return form, said[len(name) :]
    raise _unknown(lowered, game)


def _unknown(said: Sequence[str], game: str) -> Refusal:
    """Say what is wrong with the first words, which begin no command; repeat no further ones."""
    if game:
        return _unknown_of_game(said, game)
    if said[1:2] and said[1] in {form.name for form in _OF_GAMES}:
        return _unknown_game(said[0])
    known = {form.name.split()[0]: form.name for form in _GENERAL}
    known |= {name: f"help {name}" for name in _games()}
    return Refusal(
        Code.UNKNOWN_COMMAND, f"there is no command {said[0][:24]!r}; {nearest(said[0], known)}"
    )


def _unknown_of_game(said: Sequence[str], game: str) -> Refusal:
    known = {form.name: f"{game} {form.name}" for form in _OF_GAMES}
    if not said:
        return Refusal(Code.USAGE, f"say what to do: {', '.join(known.values())}")
    return Refusal(
        Code.UNKNOWN_COMMAND,
        f"{game} has no command {said[0][:24]!r}; {nearest(said[0], known)}",
    )


def _unknown_game(name: str) -> Refusal:
    """Say that a command names no game, with the nearest as a hint."""
    games = _games()
    near = get_close_matches(name, games, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"the games are {', '.join(games)}"
    return Refusal(Code.UNKNOWN_GAME, f"there is no game {name[:24]!r}; {hint}")
