"""`matchpost play`: a board in the terminal, on the server of the login."""

import sys
from urllib.parse import urlsplit

from domain.errors import Code, Refusal
from infra.languages.wording import wording
from services.app.error_codes import EXIT_OK
from services.cli.remote import run_remotely
from services.client import Client
from services.client.connect import Connection, require_connection
from services.tui.match_api import MatchApi


def run(board: int | None, url: str) -> int:
    """Show a match until the player quits, and return the exit code.

    Without a board it is the match that has waited longest for the player.
    """
    _check_terminal()
    connection = require_connection(url)
    return run_remotely(connection.url, lambda: _play(connection, board))


def _check_terminal() -> None:
    # textual draws on standard error
    if not (sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()):
        raise Refusal(Code.USAGE, "play draws a board, so it needs a terminal; `do` doesn't")


def _play(connection: Connection, board: int | None) -> int:
    with Client(connection.url, connection.token) as client:
        account = client.get("/api/account") if connection.token else {}
        words = wording(account.get("language", ""))
        server = urlsplit(connection.url).netloc
        source = MatchApi(client, account.get("userid", ""), server, words)
        if board is None:
            board = source.next_board()
        if board is None:
            print(
                words.gettext(
                    "no match is waiting for %(player)s; `matchpost play BOARD` shows any match",
                    player=connection,
                )
            )
            return EXIT_OK
        source.view(board)  # a board without a match is refused before the screen is cleared
        # slow to import
        from services.tui.board_app import board_app  # noqa: PLC0415

        app = board_app(source, board)
        app.run()
    shown = words.gettext("match %(number)s", number=app.board)
    print(f"{shown}, {connection}")
    return EXIT_OK
