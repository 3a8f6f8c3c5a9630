"""`matchpost verify WHAT`: check a match's whole history, from its bytes up; or a file, without a server.

Of a match in the archive, a signed checkpoint of the published log must cover the last event, too.
"""

import sys
from collections.abc import Sequence

from domain.match.history import BrokenHistory
from infra.archive.store import StoreWithArchive
from infra.audit.stored_match import check
from infra.settings import Settings
from services.app.context import App
from services.app.error_codes import EXIT_OK, EXIT_REFUSED
from services.cli.verify_file import names_file, run_file
from services.language.arguments import read_board


def run(what: str, settings: Settings, trusted: Sequence[str] = ()) -> int:
    """Check the match with that number, or the file of that name, and return the exit code.

    `trusted` are keys from elsewhere by which a file is checked, or files with such keys.
    """
    if names_file(what):
        return run_file(what, trusted)
    board = read_board(what)
    with App(settings) as parts:
        try:
            print(check(parts.store, board))
            if isinstance(parts.store, StoreWithArchive) and any(parts.store.entries([board])):
                parts.archive.prove(board)
                print("it is in the archive, and a signed checkpoint of the log covers it")
            parts.damage.forget(board)
        except BrokenHistory as broken:
            parts.damage.note(board, str(broken))
            print(f"match {board} does not hold: {broken}", file=sys.stderr)
            return EXIT_REFUSED
    return EXIT_OK
