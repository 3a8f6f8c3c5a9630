"""What is said at a board: who may, who is told, and who has read it, behind every door."""

from domain.match.decide import seat_of
from domain.match.events import AccountId, CommandId
from infra.letters import Letter
from services.app.contact import check_chat
from services.app.context import App
from services.app.matches import state_of


def say(app: App, board: int, account: AccountId, text: str, command: CommandId) -> None:
    """Say something to the other players of a match; refused for who is none of them."""
    state = state_of(app, board)
    seat_of(account, state)
    check_chat(app, account, state.seats)
    app.ready()
    app.letters.chat(board, account, text, command, state.seats)


def heard(app: App, board: int, account: AccountId, count: int = 50) -> list[Letter]:
    """Return the newest lines said at a board, the oldest of them first, to a player who reads them.

    They are marked as read.
    """
    seat_of(account, state_of(app, board))
    said = app.letters.chat_of(board, count)
    app.letters.mark_chat_read(account, board, said)
    return said
