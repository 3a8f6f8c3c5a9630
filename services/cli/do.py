"""`matchpost do`: one command line, its answer on standard output, its refusal on standard error."""

import os
import sys
from argparse import Namespace
from getpass import getpass

from domain.errors import Code
from infra.settings import Settings
from services.compose import Composition
from services.language import Answer
from services.problems import FINE, PROBLEMS, UNKNOWN


def run(arguments: Namespace, settings: Settings) -> int:
    """Carry out the line; gives the exit code."""
    line = _completed(arguments.line)
    if arguments.url:
        return _far(arguments.url, line, arguments.key, arguments.wait)
    with Composition(settings) as parts:
        return _give(parts.language.do(line, arguments.key, arguments.wait))


def _far(url: str, line: str, key: str | None, wait: float) -> int:
    """Have a server elsewhere carry the line out; gives the exit code."""
    # slow to import, and seldom needed
    from httpx import InvalidURL, TransportError  # noqa: PLC0415

    from services.client import Client, ProblemError  # noqa: PLC0415

    try:
        with Client(url, os.environ.get("MATCHPOST_TOKEN") or None) as client:
            answer = client.do(line, key, wait)
    except ProblemError as problem:
        print(problem, file=sys.stderr)
        return PROBLEMS[Code(problem.code)].exit
    except (TransportError, InvalidURL) as error:
        print(f"{Code.UNAVAILABLE}: {url} does not answer ({error})", file=sys.stderr)
        return UNKNOWN
    if not answer.code:
        print(answer.text)
        return FINE
    print(answer.text, file=sys.stderr)
    return PROBLEMS[Code(answer.code)].exit


def _completed(line: str) -> str:
    """Ask for each password that is written `-`, and read the lines that `multiple` takes."""
    line = " ".join(_asked() if word == "-" else word for word in line.split(" "))
    if line.strip().lower() == "multiple":
        return f"{line}\n{sys.stdin.read()}"
    return line


def _asked() -> str:
    """Ask at the terminal without an echo; a script gives a line of standard input."""
    return getpass("password: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")


def _give(answer: Answer) -> int:
    if not answer.code:
        print(answer.text)
        return FINE
    if answer.page:
        print(answer.page)
    print(f"{answer.code}: {answer.sentence}", file=sys.stderr)
    return PROBLEMS[Code(answer.code)].exit
