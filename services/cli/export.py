"""`matchpost export BOARD`: write a match as a match document to standard output, one line.

With `--record` as a move record, the lines of commands by which it was played.
"""

import sys

from infra.settings import Settings
from services.app.context import App
from services.app.error_codes import EXIT_OK
from services.app.exports import export_match, export_record, for_operator
from services.language.arguments import read_board


def run(number: str, settings: Settings, record: bool = False) -> int:  # noqa: FBT001, FBT002 - called by keyword
    """Write the match with that number, with the outcomes of all refusals, and return the exit code.

    With `record` only its moves are written, which nothing proves.

    The bytes are written as they are, because a terminal's encoding must not change them.
    """
    with App(settings) as parts:
        board = read_board(number)
        line = export_record(parts, board) if record else export_match(parts, board, for_operator)
    sys.stdout.buffer.write(line)
    return EXIT_OK
