"""`matchpost verify BOARD`: check a match's whole history, from its bytes up.

Of a match in the archive, a signed checkpoint of the published log must cover the last event, too.
"""

import sys

from domain.match.history import BrokenHistory
from infra.archive.store import StoreWithArchive
from infra.audit.stored_match import check
from infra.settings import Settings
from services.app.context import App
from services.app.error_codes import EXIT_OK, EXIT_REFUSED
from services.language.arguments import read_board


def run(number: str, settings: Settings) -> int:
    """Check the match with that number, and return the exit code."""
    board = read_board(number)
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
