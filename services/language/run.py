"""Carry out command lines: find the form of a line and call its handler."""

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import partial
from typing import Final
from uuid import uuid4

from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra.languages.wording import wording
from services.app.actor import Actor
from services.app.context import App
from services.app.games import game_keys
from services.app.play import WAIT_SECONDS, RecordedRefusal
from services.app.receipts import gives_receipts, receipt_if_any
from services.language.answer import Answer, refusal
from services.language.arguments import check_key, check_line, check_text, nearest, read_board
from services.language.commands import FORMS, GENERAL_FORMS
from services.language.form import CommandForm
from services.language.game_forms import GAME_FORMS
from services.language.handlers.boards import match_of_game
from services.language.invocation import UNKNOWN, Invocation, Origin
from services.language.parser import (
    ALIASES,
    CommandLine,
    Seat,
    UnparsedLine,
    forms_with_text,
    parse,
    parse_at_seat,
    parse_proven,
)
from services.language.redact import quote_safely, redact_refusal

_SIGNED_HINT: Final = (
    "your token stands for userid and password, except in commands that change the account"
)

_BY_RULE: Final = {form.rule: form for form in FORMS}


class Language:
    """Carries out command lines, one instance for each front end. As thread-safe as its `App`."""

    def __init__(self, app: App, front_end: str = "terminal", origin: Origin = UNKNOWN) -> None:
        """`origin` applies to each line that comes without one."""
        self._app = app
        self._front_end = front_end
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

        A command that changes a match or writes to others is carried out once for the same text
        and `key`, and a repetition gets the same answer; None makes a new key. Any other command
        is carried out each time. `seconds` is how long to wait for an outcome. Errors of the server
        pass through; then it is not known whether the command was delivered. `reader` is the
        account that reads the answer, if the front end knows it: help is in its language, and so are
        refusals, which are else in the language of the account that the line proves. `origin`
        is the front end's other knowledge of the sender. With a `seat` the line was sent to its
        address by its player, whom `origin` proves.
        """
        try:
            text = text.replace("\r\n", "\n")
            check_text(text)
            key = uuid4().hex if key is None else key
            check_key(key)
            origin = origin or self._origin
            if seat:
                line = _read_at_seat(text.strip(), seat)
            else:
                line = _read(text.strip(), self._reader_of(origin), origin)
            return self._do(line, key, seconds, reader, origin)
        except Refusal as reason:
            return refusal(reason)

    def _reader_of(self, origin: Origin) -> Callable[[str], CommandLine]:
        """Return the function that reads lines of an origin."""
        if not origin.signs or origin.proven is None:
            return parse
        (userid,) = self._app.accounts.name_of([origin.proven])
        if userid is None:
            raise Refusal(Code.UNKNOWN_TOKEN, "the account was deleted at this moment")
        return partial(parse_proven, userid=userid)

    @property
    def gives_receipts(self) -> bool:
        """Whether commands have receipts at all."""
        return gives_receipts(self._app)

    def receipts(self, answer: Answer) -> list[str]:
        """Return the receipts of the commands to which a line led, in their order."""
        found = [receipt_if_any(self._app, decided) for decided in answer.decided]
        return [receipt for receipt in found if receipt is not None]

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
            via=self._front_end,
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
                call = replace(call, identity=Actor(account, self._front_end, call_key))
            answer = form.handler(call)
        except Refusal as reason:
            language = call.language or (self._app.accounts.language_of(account) if account else "")
            answer = refusal(redact_refusal(reason, line, call.usage, wording(language)))
            if isinstance(reason, RecordedRefusal):
                answer = replace(answer, decided=(reason.decided,))
        return replace(answer, account=account) if line.has("password") else answer


def _read(text: str, read: Callable[[str], CommandLine], origin: Origin) -> CommandLine:
    if not text:
        raise Refusal(Code.USAGE, "the line is empty; `help` lists the commands")
    if not _may_have_text(text):
        check_line(text)  # first, because parsing a long line takes long
    try:
        line = read(text)
    except UnparsedLine:
        check_line(text)
        reason = _no_form(text.split("\n", 1)[0].split())
        if origin.signs and "userid password" in reason.sentence:
            raise Refusal(reason.code, f"{reason.sentence}; {_SIGNED_HINT}") from None
        raise reason from None
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
    """Return whether the line begins like a form that may have a free text."""
    first, second, *_ = [*text.lower().split(None, 2), ""]
    first, second = ALIASES.get(first, first), ALIASES.get(second, second)
    forms = [form for form in FORMS if form.rule in forms_with_text()]
    return any((second if form.of_game else first) == form.name for form in forms)


def _no_form(words: Sequence[str]) -> Refusal:
    """Return the refusal of a line that has no form. It repeats at most the misspelt word."""
    lowered = [ALIASES.get(word.lower(), word.lower()) for word in words]
    if lowered[0] in game_keys():
        return _no_game_form(lowered[1:], lowered[0])
    if forms := _forms_begun_by(GENERAL_FORMS, lowered):
        return _usage_refusal(forms, "")
    if (
        lowered[1:2]
        and _forms_begun_by(GAME_FORMS, lowered[1:])
        and lowered[0] not in {form.name for form in GAME_FORMS}
    ):
        return _unknown_game(words[0])
    known = {form.name.split()[0]: form.name for form in GENERAL_FORMS}
    # where forms share a name, the first is suggested
    known = {form.name: form.usage() for form in reversed(GAME_FORMS)} | known
    known |= {name: f"help {name}" for name in game_keys()}
    return Refusal(
        Code.UNKNOWN_COMMAND,
        f"there is no command {quote_safely(words[0], known)}; {nearest(lowered[0], known)}",
    )


def _no_game_form(words: Sequence[str], game: str) -> Refusal:
    known = {form.name: f"{game} {form.name}" for form in GAME_FORMS}
    if not words:
        return Refusal(Code.USAGE, f"say what to do: {', '.join(known.values())}")
    if forms := _forms_begun_by(GAME_FORMS, words):
        return _usage_refusal(forms, game)
    return Refusal(
        Code.UNKNOWN_COMMAND,
        f"{game} has no command {quote_safely(words[0], known)}; {nearest(words[0], known)}",
    )


def _forms_begun_by(forms: Sequence[CommandForm], words: Sequence[str]) -> list[CommandForm]:
    """Return the forms that the words begin; if several share a first word, the second decides."""
    same = [form for form in forms if form.name.split()[0] == words[0]]
    fitting = [form for form in same if form.called(words[: len(form.name.split())])]
    return fitting or same


def _usage_refusal(forms: Sequence[CommandForm], game: str) -> Refusal:
    usages = " or ".join(f"`{form.usage(game)}`" for form in forms)
    return Refusal(Code.USAGE, f"the form is {usages}; `help` lists the commands")


def _unknown_game(name: str) -> Refusal:
    """Return the refusal of a command that names no game, with the nearest as a hint."""
    near = get_close_matches(name.lower(), game_keys(), n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"the games are {', '.join(game_keys())}"
    return Refusal(Code.UNKNOWN_GAME, f"there is no game {quote_safely(name, game_keys())}; {hint}")
