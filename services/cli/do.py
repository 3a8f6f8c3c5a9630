"""`matchpost do`: one command line, its answer on standard output, its refusal on standard error."""

import sys
from argparse import Namespace

from domain.errors import Code
from infra.settings import Settings
from services.compose import Composition
from services.language import Answer
from services.problems import FINE, PROBLEMS


def run(arguments: Namespace, settings: Settings) -> int:
    """Carry out the line; gives the exit code."""
    with Composition(settings) as parts:
        return _give(parts.language.do(arguments.line, arguments.key, arguments.wait))


def _give(answer: Answer) -> int:
    if not answer.code:
        print(answer.text)
        return FINE
    if answer.page:
        print(answer.page)
    print(f"{answer.code}: {answer.sentence}", file=sys.stderr)
    return PROBLEMS[Code(answer.code)].exit
