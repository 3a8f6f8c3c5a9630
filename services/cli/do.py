"""`matchpost do`: run one command line; print its answer, or its refusal on standard error.

Output of `matchpost do`: text on standard output and refusals on standard error, or one JSON object.

The object is the same for local data and for a server elsewhere. It has `text` and `code`; for a line that
is one command in a match also the fields of its outcome, as the API shows it.
"""

import os
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from getpass import getpass
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from domain.errors import Code, Refusal
from infra.settings.settings import Settings
from services.app.error_codes import CODE_INFO
from services.cli.do_protocol import (
    LineRequest,
    LineResult,
    Prompt,
    PromptsRequest,
    ask,
    refused,
)
from services.cli.receipt_file import ReceiptFile
from services.client.connect import ChosenBy, Connection, find_connection

_BLANK: Final = re.compile(r"(?<![^\s=])-(?!\S)")
"""A hyphen that may stand for a password; only the grammar knows."""


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
        # slow to import, and rarely needed
        from services.cli.errors import describe  # noqa: PLC0415

        code, _, sentence = describe(error).partition(": ")
        if not as_json or code not in CODE_INFO:
            raise
        result = LineResult(sentence, code=code)
    if as_json:
        _print_json(result)
    else:
        _print(result)
    return result.exit_code


def _print(result: LineResult) -> None:
    """Print the answer on standard output; the code and its sentence go to standard error."""
    if not result.code:
        print("\n\n".join(filter(None, (result.sentence, result.page))))
        return
    if result.page:
        print(result.page)
    print(f"{result.code}: {result.sentence}", file=sys.stderr)


def _print_json(result: LineResult) -> None:
    """Print one JSON object on standard output."""
    text = "\n\n".join(filter(None, (result.sentence, result.page)))
    printed = {"text": text, "code": result.code, **(result.outcome or {})}
    print(msgspec.json.encode(printed).decode())


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
    local = None if connection else settings
    asked = asked._replace(line=_fill_in_input(asked.line, userid, local))
    task: Callable[..., LineResult]
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
    """Have a server that runs on the local data carry out the line, or do it without one."""
    # the key is made here, so that a line whose outcome is not known can be repeated
    key = os.urandom(16).hex() if asked.key is None else asked.key
    request = LineRequest(asked.line, key, asked.wait, has_file or as_json, has_file)
    answered = ask(settings, request, LineResult)
    if answered is not None:
        return answered
    # slow to import, and not needed while a server runs
    from services.cli.lines import carry_out_here  # noqa: PLC0415

    return carry_out_here(settings, request)


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


def _prompts(line: str, proven: str, settings: Settings | None) -> Sequence[Prompt]:
    """Return each password that is written `-`; `settings` are those of local data, if the line is for them."""
    if not _BLANK.search(line):
        return ()
    if settings and (answered := ask(settings, PromptsRequest(line), list[Prompt])) is not None:
        return answered
    # slow to import, and rarely needed
    from services.cli.lines import prompts  # noqa: PLC0415

    return prompts(line, proven)


def _fill_in_input(line: str, proven: str = "", settings: Settings | None = None) -> str:
    """Return the line with each password that is written `-` filled in, and the lines of `multiple`.

    A hyphen in any other place stays as it is. `proven` is the userid of the login, if it is used, and
    `settings` are those of the local data otherwise.
    """
    begun, rest = "", 0
    for prompt in _prompts(line, proven, settings):
        begun += line[rest : prompt.start] + _ask_password(prompt)
        rest = prompt.start + 1
    line = begun + line[rest:]
    if line.strip().lower() == "multiple":
        return f"{line}\n{sys.stdin.read()}"
    return line


def _ask_password(prompt: Prompt) -> str:
    """Return a password as a line has it, read from the terminal without an echo, or from a line of standard input.

    A terminal asks for a new password twice, because the user can't see a typing mistake.
    """
    whose = f"{'new ' * prompt.is_new}password{f' of {prompt.userid}' * bool(prompt.userid)}"
    if not sys.stdin.isatty():
        word = sys.stdin.readline().rstrip("\n")
    else:
        word = getpass(f"{whose}: ")
        if prompt.is_new and getpass(f"{whose} again: ") != word:
            raise Refusal(Code.USAGE, "the two passwords differ; nothing was done")
    if not word.strip():
        raise Refusal(Code.USAGE, f"the {whose} is empty; nothing was done")
    if not re.search(r"\s", word):
        return word
    # slow to import, and rarely needed
    from services.language.parser import quote_password  # noqa: PLC0415

    return quote_password(word)
