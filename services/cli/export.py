"""`matchpost export BOARD`: write a match as a match document to standard output, one line."""

import sys

from infra.settings import Settings
from services.app.context import App
from services.app.error_codes import EXIT_OK
from services.app.exports import export_match, for_operator
from services.language.arguments import read_board


def run(number: str, settings: Settings) -> int:
    """Write the match with that number, with the outcomes of all refusals, and return the exit code.

    The bytes are written as they are, because a terminal's encoding must not change them.
    """
    with App(settings) as parts:
        line = export_match(parts, read_board(number), for_operator)
    sys.stdout.buffer.write(line)
    return EXIT_OK
