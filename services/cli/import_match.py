"""`matchpost import FILE --player SIDE=USERID ...`: propose a match from elsewhere to its players here.

Exit codes: 0 proposed, or proposed before; 1 refused; 2 it can't be checked here, or the server does not answer.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from domain.errors import Code, Refusal
from domain.match.state import MatchState
from domain.records import AccountId
from infra.audit.faults import NotCheckableError
from infra.settings.settings import Settings
from services.app.context import App
from services.app.error_codes import CODE_INFO, EXIT_OK
from services.app.imports import CheckedImport, check_import, plan_import, seats_of
from services.app.matches import load_state
from services.app.play import OutcomePending, give, submit
from services.cli.verify import VerifyReport, not_checkable, read_keys
from services.words.matches import summary
from services.words.named_match import NamedMatch

STANDARD_INPUT: Final = "-"


def run(
    file: str,
    players: Sequence[str],
    trusted: Sequence[str],
    still_running: bool,  # noqa: FBT001 - called by keyword
    wait: float,
    settings: Settings,
) -> int:
    """Check the file, propose the match, and return the exit code."""
    userids = dict(map(_player, players))
    try:
        keys = [key for one in trusted for key in read_keys(one)]
        checked = check_import(_read(file), keys, still_running=still_running)
    except NotCheckableError as error:
        return not_checkable(file, error).print()
    VerifyReport(checked.holds, checked.limits).print()
    with App(settings) as app:
        seats = seats_of(app, checked, userids)
        try:
            board, is_new = _propose(app, checked, seats, wait)
        except OutcomePending as pending:
            print(f"{Code.PENDING}: {pending}; run it again", file=sys.stderr)
            return CODE_INFO[Code.PENDING].exit
        state = load_state(app, board)
        if not is_new:
            print(f"it was imported before, as match {board}")
        print(summary(NamedMatch.of(app, board, state)))
        if state.awaits_entropy:
            print(_how_to_accept(board, state))
    return EXIT_OK


def _propose(
    app: App, checked: CheckedImport, seats: tuple[AccountId, ...], wait: float
) -> tuple[int, bool]:
    """Submit the command; return the board, and whether this has proposed the match."""
    planned = plan_import(app, checked, seats)
    if planned.is_new:
        submit(app, give(app, lambda: planned.sent), wait)
    return planned.sent.match, planned.is_new


def _how_to_accept(board: int, state: MatchState) -> str:
    game = state.rules.partition("/")[0]
    return (
        "it goes on once each player has accepted it, on its page, by mail, by a program, or with "
        f"`{game} move {board} USERID PASSWORD accept`; `decline` in place of `accept` ends it"
    )


def _player(text: str) -> tuple[str, str]:
    side, equals, userid = text.partition("=")
    if not (side and equals and userid):
        raise Refusal(Code.USAGE, "write --player SIDE=USERID, such as --player Light=alice")
    return side, userid


def _read(file: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == STANDARD_INPUT else Path(file).read_bytes()
    except OSError as error:
        raise NotCheckableError(str(error.strerror or error)) from None
