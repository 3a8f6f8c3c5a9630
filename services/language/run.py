"""The way from a line to the handler of its form."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final
from uuid import uuid4

from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra.store.gateway import WAIT_SECONDS
from services.app.actor import Actor
from services.app.context import App
from services.app.games import game_keys
from services.language.answer import Answer, refusal
from services.language.arguments import check_key, check_line, check_text, nearest, read_board
from services.language.commands import FORMS, GAME_FORMS, GENERAL_FORMS, CommandForm
from services.language.handlers.boards import match_of_game
from services.language.invocation import UNKNOWN, Invocation, Origin
from services.language.parser import (
    CommandLine,
    Seat,
    UnparsedLine,
    forms_with_text,
    parse,
    parse_at_seat,
)
from services.language.redact import quote_safely, redact_refusal

_BY_RULE: Final = {form.rule: form for form in FORMS}


class Language:
    """Carries out command lines; one for each door. As many threads as its desk allows."""

    def __init__(self, app: App, door: str = "terminal", origin: Origin = UNKNOWN) -> None:
        """`origin` is that of each line which comes with none of its own."""
        self._app = app
        self._door = door
        self._origin = origin

    def do(
        self,
        text: str,
        key: str | None = None,
        seconds: float = WAIT_SECONDS,
        reader: AccountId | None = None,
        origin: Origin | None = None,
        seat: Seat | None = None,
    ) -> Answer:
        """Carry out a command line; `multiple` has further lines.

        What changes a match or writes to others is carried out once and answered alike each time,
        if the same text comes with the same `key`; None stands for a key of its own. Of other
        commands a repetition is a new one. `seconds` is how long an outcome is waited for. Errors of the
        server pass through: whether the command was delivered is not known then. `reader` is who
        reads the answer, where the door knows: help is in their language. `origin` is what else the
        way in knows of the sender. With a
        `seat` the line is one that its player, whom `origin` proves, sends to its address.
        """
        try:
            text = text.replace("\r\n", "\n")
            check_text(text)
            key = uuid4().hex if key is None else key
            check_key(key)
            line = _read_at_seat(text.strip(), seat) if seat else _read(text.strip())
            return self._do(line, key, seconds, reader, origin or self._origin)
        except Refusal as reason:
            return refusal(reason)

    def _do(
        self,
        line: CommandLine,
        call_key: str,
        seconds: float,
        reader: AccountId | None,
        origin: Origin,
    ) -> Answer:
        form = _BY_RULE[line.form]
        call = Invocation(
            app=self._app,
            via=self._door,
            key=call_key,
            seconds=seconds,
            usage=form.usage(line.get("game").lower()),
            language=self._app.accounts.language_of(reader) if reader else "",
            line=line,
            run_line=lambda text, key: self.do(text, key, seconds, reader, origin),
            origin=origin,
        )
        account = None
        try:
            if form.in_match:
                board = read_board(line.get("board"))
                call = replace(call, match=(board, match_of_game(call, board)))
            account = form.proof(self._app, line, origin)
            if account is not None:
                self._app.pace.check(account)
                call = replace(call, identity=Actor(account, self._door, call_key))
            answer = form.handler(call)
        except Refusal as reason:
            answer = refusal(redact_refusal(reason, line, call.usage))
        return replace(answer, account=account) if line.has("password") else answer


def _read(text: str) -> CommandLine:
    if not text:
        raise Refusal(Code.USAGE, "the line is empty; `help` lists the commands")
    if not _may_have_text(text):
        check_line(text)  # before much is parsed in vain
    try:
        line = parse(text)
    except UnparsedLine:
        check_line(text)
        raise _no_form(text.split("\n", 1)[0].split()) from None
    if not line.has("text") and not line.has("body"):
        check_line(text)
    return line


def _read_at_seat(text: str, seat: Seat) -> CommandLine:
    try:
        line = parse_at_seat(text, seat)
    except UnparsedLine:
        check_line(text)
        meant = _forms_begun_by(GAME_FORMS, text.lower().split()[:1] or [""]) or _forms_begun_by(
            GAME_FORMS, ["move"]
        )
        raise _usage_refusal(meant, seat.game) from None
    if not line.has("text") and not line.has("body"):
        check_line(text)
    return line


def _may_have_text(text: str) -> bool:
    """Return whether the line begins as one does that may have a text of its sender's own."""
    first, second, *_ = [*text.lower().split(None, 2), ""]
    forms = [form for form in FORMS if form.rule in forms_with_text()]
    return any((second if form.of_game else first) == form.name for form in forms)


def _no_form(words: Sequence[str]) -> Refusal:
    """Say what is wrong with a line that has no form; repeat at most the word that is misspelt."""
    said = [word.lower() for word in words]
    if said[0] in game_keys():
        return _no_game_form(said[1:], said[0])
    if forms := _forms_begun_by(GENERAL_FORMS, said):
        return _usage_refusal(forms, "")
    if (
        said[1:2]
        and _forms_begun_by(GAME_FORMS, said[1:])
        and said[0] not in {form.name for form in GAME_FORMS}
    ):
        return _unknown_game(words[0])
    known = {form.name.split()[0]: form.name for form in GENERAL_FORMS}
    # of forms that share a name the first is meant
    known = {form.name: form.usage() for form in reversed(GAME_FORMS)} | known
    known |= {name: f"help {name}" for name in game_keys()}
    return Refusal(
        Code.UNKNOWN_COMMAND,
        f"there is no command {quote_safely(words[0], known)}; {nearest(said[0], known)}",
    )


def _no_game_form(said: Sequence[str], game: str) -> Refusal:
    known = {form.name: f"{game} {form.name}" for form in GAME_FORMS}
    if not said:
        return Refusal(Code.USAGE, f"say what to do: {', '.join(known.values())}")
    if forms := _forms_begun_by(GAME_FORMS, said):
        return _usage_refusal(forms, game)
    return Refusal(
        Code.UNKNOWN_COMMAND,
        f"{game} has no command {quote_safely(said[0], known)}; {nearest(said[0], known)}",
    )


def _forms_begun_by(forms: Sequence[CommandForm], said: Sequence[str]) -> list[CommandForm]:
    """Return the forms that the words begin; where several share a first word, the second decides."""
    same = [form for form in forms if form.name.split()[0] == said[0]]
    fitting = [form for form in same if form.called(said[: len(form.name.split())])]
    return fitting or same


def _usage_refusal(forms: Sequence[CommandForm], game: str) -> Refusal:
    usages = " or ".join(f"`{form.usage(game)}`" for form in forms)
    return Refusal(Code.USAGE, f"the form is {usages}; `help` lists the commands")


def _unknown_game(name: str) -> Refusal:
    """Say that a command names no game, with the nearest as a hint."""
    near = get_close_matches(name.lower(), game_keys(), n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"the games are {', '.join(game_keys())}"
    return Refusal(Code.UNKNOWN_GAME, f"there is no game {quote_safely(name, game_keys())}; {hint}")
