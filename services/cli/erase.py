"""`matchpost erase BOARD EVENT [--yes]`: erase the text of a claim, an appeal or a ruling; its hash stays.

Exit codes: 0 erased, or shown what would be; 1 there is no such text.
"""

from domain.errors import Code, Refusal
from domain.match.events import Appealed, Claimed, Ruled
from domain.match.history import decode_event
from domain.tournament.events import PlayerWithdrawn
from infra.languages.wording import IN_ENGLISH
from infra.people.rate_limits import SecurityEvent, note_security
from infra.people.statements import Statement
from infra.settings.settings import Settings
from services.app.acts import TERMINAL, Act, record_act
from services.app.context import App
from services.app.error_codes import EXIT_OK
from services.language.arguments import read_board


def run(number: str, event: int, yes: bool, settings: Settings) -> int:  # noqa: FBT001 - called by keyword
    """Show whose text it is, or erase it; return the exit code."""
    board = read_board(number)
    with App(settings) as parts:
        parts.ready()
        found = _find(parts, board, event)
        (name,) = parts.accounts.name_of([found.account])
        what = (
            f"the text of event {event} of match {board}, by {name} at {IN_ENGLISH.stamp(found.at)}"
        )
        if not yes:
            print(f"{what}, would be erased; nothing was done; to do it, add --yes")
            return EXIT_OK
        parts.statements.remove(board, found.command)
        note_security(SecurityEvent.TEXT_ERASED, found.account, match=board, seq=event)
        record_act(parts, TERMINAL, Act.TEXT_ERASED, found.account, what=str(board))
    print(f"{what}, has been erased; its hash stays in the log")
    return EXIT_OK


def _find(parts: App, board: int, event: int) -> Statement:
    """Return the statement of an event; `not-found` without one.

    The reasons of a ruling by which a match of a tournament ended are those of an event of the tournament.
    """
    events = parts.store.events(board)
    if 1 <= event <= len(events):
        body = decode_event(events[event - 1]).body
        if isinstance(body, Claimed | Ruled | Appealed | PlayerWithdrawn):
            for statement in parts.statements.of_match(board):
                if statement.digest == body.text:
                    return statement
    raise Refusal(
        Code.NOT_FOUND, f"event {event} of match {board} has no text, or it has been erased"
    )
