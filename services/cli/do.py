"""`matchpost do`: run one command line; print its answer, or its refusal on standard error."""

import os
import sys
from getpass import getpass
from pathlib import Path

from domain.errors import Code, Refusal
from infra.settings import Settings
from services.app.context import App
from services.app.error_codes import CODE_INFO, EXIT_OK, EXIT_UNKNOWN
from services.cli.receipt_file import ReceiptFile
from services.language import LOCAL, Answer, Language
from services.language.parser import PasswordBlank, password_blanks


def run(
    line: str, url: str, key: str | None, wait: float, settings: Settings, receipt: str | None
) -> int:
    """Carry out the line, on the server at `url` if there is one, and return the exit code.

    With `receipt` the receipt of the command is written to that file.
    """
    try:
        line = _fill_in_input(line)
        if receipt is None:
            return _do(line, url, key, wait, settings, None)
        with _receipt_file(receipt, line) as file:
            return _do(line, url, key, wait, settings, file)
    except Refusal as reason:
        print(reason, file=sys.stderr)
        return CODE_INFO[reason.code].exit


def _receipt_file(name: str, line: str) -> ReceiptFile:
    if [word.lower() for word in line.split()[:1]] == ["multiple"]:
        raise Refusal(
            Code.USAGE, "--receipt is for one command, and `multiple` has several; nothing was sent"
        )
    return ReceiptFile(Path(name))


def _do(
    line: str, url: str, key: str | None, wait: float, settings: Settings, file: ReceiptFile | None
) -> int:
    if url:
        return _do_remotely(url, line, key, wait, file)
    with App(settings) as parts:
        language = Language(parts, origin=LOCAL)
        if file is not None and not language.gives_receipts:
            raise Refusal(Code.NOT_FOUND, "this server signs no receipts; nothing was sent")
        answer = language.do(line, key, wait)
        code = _print_answer(answer)
        if file is not None:
            file.write("".join(language.receipts(answer)))
        return code


def _do_remotely(
    url: str, line: str, key: str | None, wait: float, file: ReceiptFile | None
) -> int:
    """Send the line to the server at `url`, and return the exit code."""
    # slow to import, and rarely needed
    from httpx import InvalidURL, TransportError  # noqa: PLC0415

    from services.client import Client, ProblemError  # noqa: PLC0415

    try:
        with Client(url, os.environ.get("MATCHPOST_TOKEN") or None) as client:
            answer = client.do(line, key, wait)
    except ProblemError as problem:
        print(problem, file=sys.stderr)
        return CODE_INFO[Code(problem.code)].exit
    except (TransportError, InvalidURL) as error:
        print(
            f"{Code.UNAVAILABLE}: {url} does not answer ({error}); check the URL and that the server runs",
            file=sys.stderr,
        )
        return EXIT_UNKNOWN
    if file is not None:
        file.write(answer.receipt)
    if not answer.code:
        print(answer.text)
        return EXIT_OK
    print(answer.text, file=sys.stderr)
    return CODE_INFO[Code(answer.code)].exit


def _fill_in_input(line: str) -> str:
    """Return the line with each password that is written `-` filled in, and the lines of `multiple`.

    A hyphen in any other place stays as it is.
    """
    begun, rest = "", 0
    for blank in password_blanks(line):
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
    if len(word.split()) != 1:
        # the part after a space would become another word of the line
        raise Refusal(Code.USAGE, f"the {whose} has to be one word; nothing was done")
    return word


def _print_answer(answer: Answer) -> int:
    if not answer.code:
        print(answer.text)
        return EXIT_OK
    if answer.page:
        print(answer.page)
    print(f"{answer.code}: {answer.sentence}", file=sys.stderr)
    return CODE_INFO[Code(answer.code)].exit
