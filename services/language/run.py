"""Carry out command lines: find the form of a line and call its handler."""

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import partial
from typing import Final
from uuid import uuid4

from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.match.offers import OFFER_KINDS
from domain.records import AccountId
from domain.rules import game_keys
from infra.languages.wording import IN_ENGLISH, Wording, wording
from services.app.admission import members_only
from services.app.context import Actor, App
from services.app.play import WAIT_SECONDS, RecordedRefusal
from services.app.receipts import receipt_if_any
from services.app.sentences import SAY
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
        account that reads the answer, if the front end knows it. The answer is in its language, or else
        in that of the account that the line proves, or else in English. `origin` is the front end's
        other knowledge of the sender. With a `seat` the line was sent to its
        address by its player, whom `origin` proves.
        """
        origin = origin or self._origin
        words = self._words_of(reader or origin.proven)
        try:
            text = text.replace("\r\n", "\n")
            check_text(text, words)
            key = uuid4().hex if key is None else key
            check_key(key, words)
            if seat:
                line = _read_at_seat(text.strip(), seat, words)
            else:
                line = _read(text.strip(), self._reader_of(origin), origin, words)
            return self._do(line, key, seconds, reader, origin, words)
        except Refusal as reason:
            return refusal(reason, words)

    def _is_outsider(self, origin: Origin) -> bool:
        """Return whether nothing of matches and players is for a sender who does not prove an account."""
        known = origin.trusted or origin.is_member or origin.proven is not None
        return not known and self._app.admissions.recent().for_members_only

    def _words_of(self, account: AccountId | None) -> Wording:
        """Return the words of an account's language; English for nobody."""
        return wording(self._app.accounts.language_of(account)) if account else IN_ENGLISH

    def _reader_of(self, origin: Origin) -> Callable[[str], CommandLine]:
        """Return the function that reads lines of an origin."""
        if not origin.signs or origin.proven is None:
            return parse
        (userid,) = self._app.accounts.name_of([origin.proven])
        if userid is None:
            raise Refusal(Code.UNKNOWN_TOKEN, SAY("account-gone"))
        return partial(parse_proven, userid=userid)

    @property
    def gives_receipts(self) -> bool:
        """Whether commands have receipts at all."""
        return self._app.gives_receipts

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
        words: Wording,
    ) -> Answer:
        form = _BY_RULE[line.form]
        call = Invocation(
            app=self._app,
            via=self._front_end,
            key=call_key,
            seconds=seconds,
            usage=form.usage(line.get("game").lower()),
            words=words,
            line=line,
            run_line=lambda text, key: self.do(text, key, seconds, reader, origin),
            origin=origin,
        )
        account = None
        try:
            if not form.for_guests and self._is_outsider(origin):
                # first, because other refusals may say something of a match
                account = form.proof(self._app, line, origin)
                if account is None:
                    raise members_only()
            if form.in_match:
                board = read_board(line.get("board"), words)
                call = replace(call, match=(board, match_of_game(call, board)))
            if account is None:
                account = form.proof(self._app, line, origin)
            if account is not None:
                if reader is None and account != origin.proven:
                    call = replace(call, words=self._words_of(account))
                self._app.pace.check(account)
                call = replace(call, identity=Actor(account, self._front_end, call_key))
            answer = form.handler(call)
        except Refusal as reason:
            answer = refusal(redact_refusal(reason, line, call.usage, call.words), call.words)
            if isinstance(reason, RecordedRefusal):
                answer = replace(answer, decided=(reason.decided,))
        return replace(answer, account=account) if line.has("password") else answer


def _read(
    text: str, read: Callable[[str], CommandLine], origin: Origin, words: Wording
) -> CommandLine:
    if not text:
        raise Refusal(Code.USAGE, words.gettext("the line is empty; `help` lists the commands"))
    if not _may_have_text(text):
        check_line(text, words)  # first, because parsing a long line takes long
    try:
        line = read(text)
    except UnparsedLine:
        check_line(text, words)
        reason = _no_form(text.split("\n", 1)[0].split(), words)
        if origin.signs and "userid password" in reason.sentence:
            hint = words.gettext(
                "your token replaces userid and password, except in commands that change the account"
            )
            raise Refusal(reason.code, f"{reason.sentence}; {hint}") from None
        raise reason from None
    if not line.has("text") and not line.has("body"):
        check_line(text, words)
    return line


def _read_at_seat(text: str, seat: Seat, words: Wording) -> CommandLine:
    try:
        line = parse_at_seat(text, seat)
    except UnparsedLine:
        check_line(text, words)
        meant = _forms_begun_by(GAME_FORMS, text.lower().split()[:1] or [""]) or _forms_begun_by(
            GAME_FORMS, ["move"]
        )
        raise _usage_refusal(meant, seat.game, words) from None
    if not line.has("text") and not line.has("body"):
        check_line(text, words)
    return line


def _may_have_text(text: str) -> bool:
    """Return whether the line begins like a form that may have a free text."""
    first, second, *_ = [*text.lower().split(None, 2), ""]
    first, second = ALIASES.get(first, first), ALIASES.get(second, second)
    forms = [form for form in FORMS if form.rule in forms_with_text()]
    return any((second if form.of_game else first) == form.name for form in forms)


def _no_form(written: Sequence[str], words: Wording) -> Refusal:
    """Return the refusal of a line that has no form. It repeats at most the misspelt word."""
    lowered = [ALIASES.get(word.lower(), word.lower()) for word in written]
    if lowered[0] in game_keys():
        return _no_game_form(lowered[1:], lowered[0], words)
    if forms := _forms_begun_by(GENERAL_FORMS, lowered):
        return _usage_refusal(forms, "", words)
    if (
        lowered[1:2]
        and _forms_begun_by(GAME_FORMS, lowered[1:])
        and lowered[0] not in {form.name for form in GAME_FORMS}
    ):
        return _unknown_game(written[0], words)
    known = {form.name.split()[0]: form.name for form in GENERAL_FORMS}
    # where forms share a name, the first is suggested
    known = {form.name: form.usage() for form in reversed(GAME_FORMS)} | known
    known |= {name: f"help {name}" for name in game_keys()} | {"unsubscribe": known["signoff"]}
    name = quote_safely(written[0], known, words)
    said = words.gettext("there is no command %(name)s", name=name)
    return Refusal(Code.UNKNOWN_COMMAND, f"{said}; {nearest(lowered[0], known, words)}")


_IN_MOVE: Final = ("accept", "reject", "resume", "reveal", "undo")
"""Words that stand in place of a move."""


def _no_game_form(written: Sequence[str], game: str, words: Wording) -> Refusal:
    known = {form.name: f"{game} {form.name}" for form in GAME_FORMS}
    if not written:
        forms = ", ".join(known.values())
        return Refusal(Code.USAGE, words.gettext("say what to do: %(forms)s", forms=forms))
    if meant := _forms_begun_by(GAME_FORMS, written):
        return _usage_refusal(meant, game, words)
    instead = {word: word for word in _IN_MOVE}
    instead |= {kind: f"propose {kind}" for kind in OFFER_KINDS if kind not in instead}
    known |= {word: f"{game} move BOARD userid password {text}" for word, text in instead.items()}
    name = quote_safely(written[0], known, words)
    said = words.gettext("%(game)s has no command %(name)s", game=game, name=name)
    return Refusal(Code.UNKNOWN_COMMAND, f"{said}; {nearest(written[0], known, words)}")


def _forms_begun_by(forms: Sequence[CommandForm], words: Sequence[str]) -> list[CommandForm]:
    """Return the forms that the words begin, with the longest name; if several share a first word, the second decides."""
    same = [form for form in forms if form.name.split()[0] == words[0]]
    fitting = [form for form in same if form.called(words[: len(form.name.split())])]
    longest = max((form.name.count(" ") for form in fitting), default=0)
    return [form for form in fitting if form.name.count(" ") == longest] or same


def _usage_refusal(forms: Sequence[CommandForm], game: str, words: Wording) -> Refusal:
    usages = words.gettext(" or ").join(f"`{form.usage(game)}`" for form in forms)
    said = words.gettext("the form is %(usage)s; `help` lists the commands", usage=usages)
    return Refusal(Code.USAGE, said)


def _unknown_game(name: str, words: Wording) -> Refusal:
    """Return the refusal of a command that names no game, with the nearest as a hint."""
    near = get_close_matches(name.lower(), game_keys(), n=1)
    if near:
        hint = words.gettext("did you mean %(near)s?", near=repr(near[0]))
    else:
        hint = words.gettext("the games are %(names)s", names=", ".join(game_keys()))
    said = words.gettext("there is no game %(name)s", name=quote_safely(name, game_keys(), words))
    return Refusal(Code.UNKNOWN_GAME, f"{said}; {hint}")
