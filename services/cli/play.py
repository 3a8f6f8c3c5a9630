"""`matchpost play`: a board in the terminal, on the server of the login."""

import sys
from urllib.parse import urlsplit

from domain.errors import Code, Refusal
from services.app.error_codes import CODE_INFO, EXIT_OK
from services.cli.remote import run_remotely
from services.client import Client
from services.client.connect import Connection, require_connection
from services.tui.match_api import MatchApi


def run(board: int | None, url: str) -> int:
    """Show a match until the player quits, and return the exit code.

    Without a board it is the match that has waited longest for the player.
    """
    try:
        _check_terminal()
        connection = require_connection(url)
    except Refusal as reason:
        print(reason, file=sys.stderr)
        return CODE_INFO[reason.code].exit
    return run_remotely(connection.url, lambda: _play(connection, board))


def _check_terminal() -> None:
    # textual draws on standard error
    if not (sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()):
        raise Refusal(Code.USAGE, "play draws a board, so it needs a terminal; `do` doesn't")


def _play(connection: Connection, board: int | None) -> int:
    with Client(connection.url, connection.token) as client:
        userid = client.get("/api/account")["userid"] if connection.token else ""
        source = MatchApi(client, userid, urlsplit(connection.url).netloc)
        if board is None:
            board = source.next_board()
        if board is None:
            print(f"no match waits for {connection}; `matchpost play BOARD` shows any match")
            return EXIT_OK
        source.view(board)  # a board without a match is refused before the screen is cleared
        # slow to import
        from services.tui.board_app import BoardApp  # noqa: PLC0415

        app = BoardApp(source, board)
        app.run()
    print(f"match {app.board}, {connection}")
    return EXIT_OK
