"""`matchpost do`: one command line, its answer on standard output, its refusal on standard error."""

import shlex
import sys
from argparse import Namespace
from uuid import uuid4

from redis.exceptions import RedisError

from domain.errors import Code
from infra.settings import Settings
from services.cli.failures import server_failure
from services.compose import Composition
from services.language import Answer
from services.problems import FINE, PROBLEMS


def run(arguments: Namespace, settings: Settings) -> int:
    """Carry out the line; gives the exit code."""
    # chosen here and not by the language, so that it can be told when the server fails
    key = uuid4().hex if arguments.key is None else arguments.key
    with Composition(settings) as parts:
        try:
            answer = parts.language.do(arguments.line, key, arguments.wait)
        except RedisError as error:
            answer = Answer(
                f"{server_failure(error)}; the command may have been taken, so repeat it with "
                f"--key {shlex.quote(key)}",
                code=Code.UNAVAILABLE,
            )
    return _give(answer)


def _give(answer: Answer) -> int:
    if not answer.code:
        print(answer.text)
        return FINE
    if answer.page:
        print(answer.page)
    print(f"{answer.code}: {answer.sentence}", file=sys.stderr)
    return PROBLEMS[Code(answer.code)].exit
