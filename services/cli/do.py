"""`matchpost do`: run one command line; print its answer, or its refusal on standard error.

Output of `matchpost do`: text on standard output and refusals on standard error, or one JSON object.

The object is the same for local data and for a server elsewhere. It has `text` and `code`; for a line that
is one command in a match also the fields of its outcome, as the API shows it.
"""

import sys
from collections.abc import Mapping
from functools import partial
from getpass import getpass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import to_builtins
from msgspec.structs import replace

from domain.errors import Code, Refusal
from infra.settings.settings import Settings
from services.app.context import App
from services.app.error_codes import CODE_INFO, EXIT_OK
from services.cli.errors import describe
from services.cli.receipt_file import ReceiptFile
from services.client.connect import ChosenBy, Connection, find_connection
from services.language import LOCAL, Language
from services.language.parser import PasswordBlank, password_blanks, quote_password


class LineResult(msgspec.Struct, frozen=True):
    """The result of a command line."""

    sentence: str = ""
    page: str = ""
    """A board or another text of several lines."""
    code: str = ""
    """Empty if the line was accepted or answered."""
    outcome: Mapping[str, Any] | None = None
    """The fields of the outcome, if the line was one command in a match and its outcome is known."""
    receipt: str = ""
    """The receipts of the commands in matches, as they stand in a file."""

    @property
    def exit_code(self) -> int:
        """The exit code that says whether the line was accepted."""
        return CODE_INFO[known_code(self.code)].exit if self.code else EXIT_OK

    def print(self) -> None:
        """Print the answer on standard output; the code and its sentence go to standard error."""
        if not self.code:
            print("\n\n".join(filter(None, (self.sentence, self.page))))
            return
        if self.page:
            print(self.page)
        print(f"{self.code}: {self.sentence}", file=sys.stderr)

    def print_json(self) -> None:
        """Print one JSON object on standard output."""
        text = "\n\n".join(filter(None, (self.sentence, self.page)))
        print(
            msgspec.json.encode({"text": text, "code": self.code, **(self.outcome or {})}).decode()
        )


def refused(reason: Refusal) -> LineResult:
    """Return the result of a line that was refused before it was carried out."""
    return LineResult(reason.sentence, code=str(reason.code))


def known_code(code: str) -> Code:
    """Return the code; `unavailable` for one of a newer server that this version does not know."""
    try:
        return Code(code)
    except ValueError:
        return Code.UNAVAILABLE


def run(  # noqa: PLR0913, PLR0917 - called by keyword
    line: str,
    url: str,
    key: str | None,
    wait: float,
    settings: Settings,
    receipt: str | None,
    as_json: bool = False,  # noqa: FBT001, FBT002
    is_local: bool = False,  # noqa: FBT001, FBT002
) -> int:
    """Carry out the line, and return the exit code.

    It goes to the server at `url`, or else to that of MATCHPOST_URL, or else, unless the caller has
    chosen the local data, to that of the login. Without any of these it is carried out on the local data.
    With `receipt` the receipt of the command is written to that file; with `as_json` the result is
    printed as a JSON object.
    """
    try:
        result = _do(_Asked(line, url, key, wait, is_local), settings, receipt, as_json)
    except Refusal as reason:
        result = refused(reason)
    except Exception as error:
        code, _, sentence = describe(error).partition(": ")
        if not as_json or code not in CODE_INFO:
            raise
        result = LineResult(sentence, code=code)
    if as_json:
        result.print_json()
    else:
        result.print()
    return result.exit_code


class _Asked(NamedTuple):
    """The line, and how it is to be carried out."""

    line: str
    url: str
    key: str | None
    wait: float
    is_local: bool


def _do(asked: _Asked, settings: Settings, receipt: str | None, as_json: bool) -> LineResult:  # noqa: FBT001
    connection = find_connection(asked.url, with_login=not asked.is_local)
    userid = connection.userid if connection else ""
    asked = asked._replace(line=_fill_in_input(asked.line, userid))
    if connection is None:
        task = partial(_do_locally, asked, settings, as_json)
    else:
        if connection.chosen_by is ChosenBy.LOGIN:
            # before the answer, so that nobody has to guess which server it is from
            print(connection, file=sys.stderr, flush=True)
        task = partial(_do_remotely, asked, connection)
    if receipt is None:
        return task(has_file=False)
    with _receipt_file(receipt, asked.line) as file:
        result = task(has_file=True)
        file.write(result.receipt)
        return result


def _receipt_file(name: str, line: str) -> ReceiptFile:
    if [word.lower() for word in line.split()[:1]] == ["multiple"]:
        raise Refusal(
            Code.USAGE, "--receipt is for one command, and `multiple` has several; nothing was sent"
        )
    return ReceiptFile(Path(name))


def _do_locally(asked: _Asked, settings: Settings, as_json: bool, *, has_file: bool) -> LineResult:  # noqa: FBT001
    """Carry out the line on the local data."""
    with App(settings) as parts:
        language = Language(parts, origin=LOCAL)
        if has_file and not language.gives_receipts:
            raise Refusal(Code.NOT_FOUND, "this server signs no receipts; nothing was sent")
        answer = language.do(asked.line, asked.key, asked.wait)
        receipts = language.receipts(answer) if has_file or as_json else []
    outcome = None
    if len(answer.decided) == 1 and not answer.pending:
        receipted = replace(answer.decided[0], receipt=next(iter(receipts), None))
        outcome = to_builtins(receipted)
    return LineResult(answer.sentence, answer.page, answer.code, outcome, "".join(receipts))


def _do_remotely(asked: _Asked, connection: Connection, *, has_file: bool) -> LineResult:
    """Send the line to a server elsewhere."""
    del has_file  # a server sends the receipt with each answer
    # slow to import, and rarely needed
    from httpx import InvalidURL, TransportError  # noqa: PLC0415

    from services.cli.remote import failure  # noqa: PLC0415
    from services.client import Client, ProblemError  # noqa: PLC0415

    try:
        with Client(connection.url, connection.token) as client:
            signs = connection.chosen_by is ChosenBy.LOGIN
            answer = client.do(asked.line, asked.key, asked.wait, signs=signs)
    except (ProblemError, TransportError, InvalidURL) as error:
        return refused(failure(connection.url, error))
    text = answer.text.removeprefix(f"{answer.code}: ") if answer.code else answer.text
    return LineResult(text, "", answer.code, answer.outcome, answer.receipt)


def _fill_in_input(line: str, proven: str = "") -> str:
    """Return the line with each password that is written `-` filled in, and the lines of `multiple`.

    A hyphen in any other place stays as it is. `proven` is the userid of the login, if it is used.
    """
    begun, rest = "", 0
    for blank in password_blanks(line, proven):
        begun += line[rest : blank.start] + _ask_password(blank)
        rest = blank.start + 1
    line = begun + line[rest:]
    if line.strip().lower() == "multiple":
        return f"{line}\n{sys.stdin.read()}"
    return line


def _ask_password(blank: PasswordBlank) -> str:
    """Return a password, read from the terminal without an echo, or from a line of standard input.

    A terminal asks for a new password twice, because the user can't see a typing mistake.
    """
    new = blank.part == "new" or blank.form == "signup"
    whose = f"{'new ' * new}password{f' of {blank.userid}' * bool(blank.userid)}"
    if not sys.stdin.isatty():
        word = sys.stdin.readline().rstrip("\n")
    else:
        word = getpass(f"{whose}: ")
        if new and getpass(f"{whose} again: ") != word:
            raise Refusal(Code.USAGE, "the two passwords differ; nothing was done")
    if not word.strip():
        raise Refusal(Code.USAGE, f"the {whose} is empty; nothing was done")
    return quote_password(word)
