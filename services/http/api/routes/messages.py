"""Messages between players, and the chat of a match."""

from collections.abc import Sequence
from typing import Annotated
from uuid import uuid4

import msgspec
from litestar.params import JSONBody, QueryParameter

from domain.errors import Code
from domain.records import command_id
from infra.people.messages import CHAT_LIMIT, MOST_RECIPIENTS, PlayerMessage
from infra.people.tokens import Scope
from services.app import messages
from services.app.context import App
from services.http.api.auth import Own
from services.http.api.bodies import Key, RequestBody
from services.http.api.declared import ApiRoutes, refuses
from services.http.api.routes.accounts import Userid
from services.http.api.routes.commands import BoardNumber
from services.http.api.routes.players import Cursor, Limit
from services.http.api.values import one_of
from services.http.context import API_FRONT_END

api = ApiRoutes("letters")

# without a maximum, because `messages` checks the length
Text = Annotated[str, msgspec.Meta(min_length=1, examples=["Good luck!"])]


class NewMessage(RequestBody, frozen=True):
    """A message to send."""

    to: Annotated[tuple[Userid, ...], msgspec.Meta(min_length=1, max_length=MOST_RECIPIENTS)]
    """Userids of the recipients."""
    text: Text
    """Up to 2,000 characters."""


class NewLine(RequestBody, frozen=True):
    """A chat message."""

    text: Text
    """Up to 2,000 characters."""


class ReadUntil(RequestBody, frozen=True):
    """The time up to which messages are read."""

    until: Annotated[int, msgspec.Meta(ge=0, le=10**15)]
    """The `at` of the newest message that you have read, in ms since 1970."""


class Message(msgspec.Struct, frozen=True):
    """A message to you, or to everybody."""

    at: int
    """Time at which it was sent, in ms since 1970."""
    userid: str | None
    """Userid of the sender; null for a deleted account."""
    kind: Annotated[str, one_of(("message", "broadcast"))]
    """`message`, or `broadcast` for a message to everybody."""
    text: str


class Messages(msgspec.Struct, frozen=True):
    """A page of messages, the newest first."""

    unread: int
    """The number of all messages that are not marked as read."""
    messages: tuple[Message, ...]
    next: int | None
    """The `cursor` of the next page; null on the last."""


class Line(msgspec.Struct, frozen=True):
    """A line of the chat of a match."""

    at: int
    """Time at which it was written, in ms since 1970."""
    userid: str | None
    """Userid of the player who wrote it; null for a deleted account."""
    text: str


class Chat(msgspec.Struct, frozen=True):
    """The chat of a match, the oldest line first."""

    board: int
    lines: tuple[Line, ...]


@api.get("/api/matches/{board:int}/chat", "Read the chat of a match", Scope.READ)
@refuses(Code.UNKNOWN_BOARD, Code.NOT_A_PLAYER)
def show_chat(
    board: BoardNumber,
    own: Own,
    limit: Annotated[
        int,
        QueryParameter(
            ge=1, le=CHAT_LIMIT, description="the maximum number of lines; the newest are returned"
        ),
    ] = 50,
) -> Chat:
    """Return the chat of a match, and mark it as read; only its players can see it."""
    lines = messages.read_chat(own.app, board, own.account, limit)
    return Chat(
        board,
        tuple(
            Line(line.at, name, line.text)
            for line, name in zip(lines, _userids(own.app, lines), strict=True)
        ),
    )


@api.post("/api/matches/{board:int}/chat", "Write in the chat of a match", Scope.PLAY)
@refuses(Code.SANCTIONED, Code.UNKNOWN_BOARD, Code.NOT_A_PLAYER, Code.NOT_WANTED, Code.TOO_LONG)
def say(board: BoardNumber, data: JSONBody[NewLine], own: Own, key: Key = None) -> None:
    """Write to the other players. A request repeated with its key writes it once."""
    account = own.account
    messages.write_chat(own.app, board, account, data.text, _command_id(account, key))


@api.get("/api/messages", "Read messages", Scope.READ)
def list_messages(own: Own, cursor: Cursor = 0, limit: Limit = 50) -> Messages:
    """Return your messages; this does not mark them as read."""
    account = own.account
    inbox = messages.inbox(own.app, account)
    shown = inbox[cursor : cursor + limit]
    names = _userids(own.app, shown)
    return Messages(
        own.app.messages.unread(account),
        tuple(
            Message(message.at, name, message.kind, message.text)
            for message, name in zip(shown, names, strict=True)
        ),
        cursor + limit if len(inbox) > cursor + limit else None,
    )


@api.post("/api/messages", "Write to players", Scope.PLAY)
@refuses(Code.SANCTIONED, Code.UNKNOWN_USER, Code.NOT_WANTED, Code.TOO_LONG, Code.TOO_MANY)
def send_message(data: JSONBody[NewMessage], own: Own, key: Key = None) -> None:
    """Send a message to up to 20 players. A request repeated with its key sends it once."""
    account = own.account
    to = messages.find_recipients(own.app, data.to)
    messages.send_message(own.app, account, to, data.text, _command_id(account, key))


@api.post("/api/messages/read", "Mark messages as read", Scope.READ)
def mark_messages(data: JSONBody[ReadUntil], own: Own) -> None:
    """Mark all messages up to a time as read; a time before an earlier mark changes nothing."""
    messages.mark_read_until(own.app, own.account, data.until)


@api.put("/api/matches/{board:int}/chat/mute", "Mute the chat of a match", Scope.PLAY)
@refuses(Code.UNKNOWN_BOARD, Code.NOT_A_PLAYER, Code.TOO_MANY)
def mute_chat(board: BoardNumber, own: Own) -> None:
    """Get no notices, mails and counts of new lines; the other players do not learn of it."""
    messages.mute_chat(own.app, board, own.account)


@api.delete("/api/matches/{board:int}/chat/mute", "End the muting of a chat", Scope.PLAY)
@refuses(Code.UNKNOWN_BOARD, Code.NOT_A_PLAYER)
def unmute_chat(board: BoardNumber, own: Own) -> None:
    """Get notices of the chat again; one that is not muted is no error."""
    messages.unmute_chat(own.app, board, own.account)


def _command_id(account: bytes, key: str | None) -> bytes:
    return command_id(API_FRONT_END, account, key or uuid4().hex)


def _userids(app: App, shown: Sequence[PlayerMessage]) -> list[str | None]:
    return app.accounts.name_of([message.sender for message in shown])
