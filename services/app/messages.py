"""Texts of players to others: messages, broadcasts, and the chat of a match.

Each function that writes takes a command id, and writes once for each id.
"""

from collections.abc import Sequence

from domain.errors import Code, Refusal
from domain.match.decision import seat_of
from domain.records import AccountId, CommandId
from infra.people.messages import BOX_LIMIT, BROADCAST_LIMIT, MOST_RECIPIENTS, PlayerMessage
from infra.people.rate_limits import SecurityEvent, note_security
from services.app.acts import Act, record_act
from services.app.contact import check_chat, check_message, strangers_to
from services.app.context import App
from services.app.matches import load_state
from services.app.sanctions import check_may_write
from services.app.sentences import SAY


def find_recipients(app: App, userids: Sequence[str]) -> list[AccountId]:
    """Return the accounts of a message's recipients, each once; `unknown-user`, `bad-request`."""
    if len(userids) > MOST_RECIPIENTS:  # before each of them is looked up
        raise Refusal(
            Code.BAD_REQUEST,
            SAY("recipients", most=MOST_RECIPIENTS, count=len(userids)),
        )
    return list(dict.fromkeys(app.accounts.id_of(userid) for userid in userids))


def send_message(
    app: App, account: AccountId, to: Sequence[AccountId], text: str, command: CommandId
) -> None:
    """Write to players; `not-wanted` if one of them blocks the account, `too-many` to strangers, `sanctioned`."""
    check_may_write(app, account)
    check_message(app, account, to)
    strangers = strangers_to(app, account, to)
    app.messages.send(account, to, normalize_line_ends(text), command, strangers)


def broadcast(app: App, account: AccountId, text: str, command: CommandId) -> None:
    """Write to everybody, as an arbiter; `not-an-arbiter` for any other account."""
    profile = app.accounts.record_of(account)
    if profile is None or not profile.arbiter:
        raise Refusal(Code.NOT_AN_ARBITER, SAY("to-all"))
    check_may_write(app, account)
    app.messages.broadcast(account, normalize_line_ends(text), command)
    note_security(SecurityEvent.BROADCAST, account)
    record_act(app, account, Act.BROADCAST)


def inbox(app: App, account: AccountId) -> list[PlayerMessage]:
    """Return all messages and broadcasts that an account can read, the newest first."""
    return app.messages.read(account, BOX_LIMIT + BROADCAST_LIMIT)


def mark_read_until(app: App, account: AccountId, until: int) -> None:
    """Mark the messages that were written up to a time, in ms, as read."""
    app.messages.mark_read(account, [one for one in inbox(app, account) if one.at <= until])


def mark_unread_from(app: App, account: AccountId, at: int) -> None:
    """Mark the messages that were written at a time, in ms, or later as unread; `not-found` without one."""
    found = [one for one in inbox(app, account) if one.at == at]
    if not found:
        raise Refusal(Code.NOT_FOUND, SAY("no-message"))
    for message in found:
        app.messages.mark_unread(account, message)


def write_chat(app: App, board: int, account: AccountId, text: str, command: CommandId) -> None:
    """Write to the other players of a match; `not-a-player` for an account that does not play."""
    state = load_state(app, board)
    seat_of(account, state)
    check_may_write(app, account)
    check_chat(app, account, state.seats)
    deaf = app.messages.muted.by(state.seats, board)
    told = [seat for seat in state.seats if seat not in deaf]
    app.messages.chat(board, account, normalize_line_ends(text), command, told)


def read_chat(app: App, board: int, account: AccountId, count: int = 50) -> list[PlayerMessage]:
    """Return the newest lines of a match's chat, the oldest of them first, and mark them as read.

    `not-a-player` for an account that does not play.
    """
    seat_of(account, load_state(app, board))
    lines = app.messages.chat_of(board, count)
    app.messages.mark_chat_read(account, board, lines)
    return lines


def mute_chat(app: App, board: int, account: AccountId) -> None:
    """Bring an account no notices, mails and marks of a match's chat; `not-a-player`, `too-many`.

    The account still reads the chat and writes in it, and the other players do not learn of it.
    """
    seat_of(account, load_state(app, board))
    app.messages.muted.add(account, board)


def unmute_chat(app: App, board: int, account: AccountId) -> None:
    """End the muting of a match's chat, which need not be muted; `not-a-player`."""
    seat_of(account, load_state(app, board))
    app.messages.muted.remove(account, [board])


def normalize_line_ends(text: str) -> str:
    """Return a text with line feeds as its line ends, because browsers send others."""
    return text.replace("\r\n", "\n")
