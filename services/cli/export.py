"""`matchpost export NUMBER`: write the document of a match or a tournament to standard output, one line.

The document is built whole before its first byte is written, so nothing is written of a match that is refused.

Exit codes: 0 if it was written; 1 if there is no such match or tournament, or its document would be too long; 2 if match or
published log can't be read now. A refusal is one line on standard error, as elsewhere. `matchpost verify -`
checks what was written, and `matchpost referee` judges a match.

With `--record` it writes a move record, the lines of commands by which the match was played; with `--text` a game text.
"""

import sys

from infra.settings.settings import Settings
from services.app.context import App
from services.app.error_codes import EXIT_OK
from services.app.exports import export_game_text, export_number, export_record
from services.language.arguments import read_board


def run(number: str, settings: Settings, record: bool = False, text: bool = False) -> int:  # noqa: FBT001, FBT002 - called by keyword
    """Write the match or the tournament with that number, with the outcomes of all refusals, and return the exit code.

    With `record` or `text` only its moves are written, which nothing proves.

    The operator can read the data anyway, so that the document shows nothing new.
    """
    board = read_board(number)
    with App(settings) as parts:
        if text:
            line = export_game_text(parts, board).encode()
        else:
            line = export_record(parts, board) if record else export_number(parts, board)
    # the bytes as they are, because the encoding of a terminal must not change them
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
    return EXIT_OK
