"""The queue of messages between players that are also to be mailed.

An entry has the text until the mailer has made e-mails of it; `infra.letters` keeps the message itself.
On a server that never sent mail the queue stays empty.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec
import redis

from domain.match.events import AccountId, CommandId
from infra.clients import Clock, time_ms
from infra.letters import Kind, Letters, read_text
from infra.mail import keys
from infra.mail.chats import Chats


class Note(msgspec.Struct, frozen=True, array_like=True):
    """A message to be mailed."""

    sender: AccountId
    recipients: tuple[AccountId, ...]
    """Empty for a broadcast."""
    text: str
    command: CommandId
    """The same for every repetition."""
    at: int
    """When it was written, ms."""

    @property
    def kind(self) -> Kind:
        """Return whether it is a message or a broadcast."""
        return Kind.MESSAGE if self.recipients else Kind.BROADCAST


_ENCODER: Final = msgspec.msgpack.Encoder()
_NOTES: Final = msgspec.msgpack.Decoder(Note)


NOTES: Final = 10_000
"""Most entries of the queue, the newest, while no mailer works."""


class Written:
    """The messages to be mailed, in the order in which they were written."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def add(self, sender: AccountId, to: Sequence[AccountId], text: str, id_: CommandId) -> None:
        """Queue a message, to everybody if `to` is empty; does nothing while no mail is sent.

        A repeated message is mailed once, because its e-mails have the same ids.
        """
        if self._client.exists(keys.READ):
            note = Note(sender, tuple(dict.fromkeys(to)), text, id_, time_ms(self._client))
            with self._client.pipeline(transaction=True) as pipe:
                pipe.rpush(keys.WRITTEN, _ENCODER.encode(note))
                pipe.ltrim(keys.WRITTEN, -NOTES, -1)
                pipe.execute()

    def oldest(self, count: int) -> list[Note]:
        """Return the oldest messages."""
        found: Any = self._client.lrange(keys.WRITTEN, 0, count - 1)
        return [_NOTES.decode(data) for data in found]

    def done(self, note: Note) -> None:
        """Remove a message for which e-mails were queued."""
        # redis-py types elements as text only
        element: Any = _ENCODER.encode(note)
        self._client.lrem(keys.WRITTEN, 1, element)

    def forget(self, account: AccountId) -> None:
        """Erase the messages that an account wrote and that were not mailed yet."""
        for note in self.oldest(1 << 31):
            if note.sender == account:
                self.done(note)


class MailedLetters(Letters):
    """Messages that are also mailed."""

    def __init__(
        self, client: redis.Redis, shards: Callable[[], int], clock: Clock | None = None
    ) -> None:
        super().__init__(client, shards, clock)
        self._written = Written(client)
        self._chats = Chats(client)

    def _said(self, board: int, at: int, others: Sequence[AccountId]) -> None:
        """Queue a line of chat for mail, if mail is sent at all."""
        # crash window: it is in the notices and not queued; the command repeated queues it
        if others and self._client.exists(keys.READ):
            self._chats.add(board, at, others, self._now())

    def send(
        self, sender: AccountId, recipients: Sequence[AccountId], text: str, command: CommandId
    ) -> None:
        """Put a message into each recipient's inbox, and queue it for mail."""
        super().send(sender, recipients, text, command)
        # crash window: it is in the inboxes and not queued; the command repeated queues it
        self._written.add(sender, recipients, read_text(text), command)

    def broadcast(self, sender: AccountId, text: str, command: CommandId) -> None:
        """Write to everybody, and queue it for mail."""
        super().broadcast(sender, text, command)
        self._written.add(sender, (), read_text(text), command)

    def forget(self, account: AccountId) -> None:
        """Erase what the account wrote, also in the queue."""
        super().forget(account)
        self._written.forget(account)
