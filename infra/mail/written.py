"""Messages between players, and chat, that are also to be mailed.

A note holds the text, and only until the mailer has made letters of it; what a player reads in
`messages` is kept where it always is. Where no mail was ever sent, no notes are made.
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
    """Empty for everybody."""
    text: str
    command: CommandId
    """The same for every repetition."""
    at: int
    """When it was written, ms."""

    @property
    def kind(self) -> Kind:
        """To whom it goes."""
        return Kind.MESSAGE if self.recipients else Kind.BROADCAST


_ENCODER: Final = msgspec.msgpack.Encoder()
_NOTES: Final = msgspec.msgpack.Decoder(Note)


NOTES: Final = 10_000
"""Notes that are kept, the newest, where no mailer works on them."""


class Written:
    """The notes on a server, in the order in which they were written."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def add(self, sender: AccountId, to: Sequence[AccountId], text: str, id_: CommandId) -> None:
        """Have a message mailed, to everybody if `to` is empty; where mail is sent at all.

        Repeated, it is mailed once: its letters have the same ids.
        """
        if self._client.exists(keys.READ):
            note = Note(sender, tuple(dict.fromkeys(to)), text, id_, time_ms(self._client))
            with self._client.pipeline(transaction=True) as pipe:
                pipe.rpush(keys.WRITTEN, _ENCODER.encode(note))
                pipe.ltrim(keys.WRITTEN, -NOTES, -1)
                pipe.execute()

    def oldest(self, count: int) -> list[Note]:
        """Return the oldest notes."""
        found: Any = self._client.lrange(keys.WRITTEN, 0, count - 1)
        return [_NOTES.decode(data) for data in found]

    def done(self, note: Note) -> None:
        """Forget a note of which letters were made."""
        # redis-py types elements as text only
        element: Any = _ENCODER.encode(note)
        self._client.lrem(keys.WRITTEN, 1, element)

    def forget(self, account: AccountId) -> None:
        """Erase all that an account wrote and is not made letters of yet."""
        for note in self.oldest(1 << 31):
            if note.sender == account:
                self.done(note)


class MailedLetters(Letters):
    """Letters that are mailed, too."""

    def __init__(
        self, client: redis.Redis, shards: Callable[[], int], clock: Clock | None = None
    ) -> None:
        super().__init__(client, shards, clock)
        self._written = Written(client)
        self._chats = Chats(client)

    def _said(self, board: int, at: int, others: Sequence[AccountId]) -> None:
        """Have a line mailed, where mail is sent at all."""
        # crash window: it is told and not mailed; who repeats the command has it mailed
        if others and self._client.exists(keys.READ):
            self._chats.add(board, at, others, self._now())

    def send(
        self, sender: AccountId, recipients: Sequence[AccountId], text: str, command: CommandId
    ) -> None:
        """Put a message into each recipient's box, and have it mailed."""
        super().send(sender, recipients, text, command)
        # crash window: it is in the boxes and not mailed; who repeats the command has it mailed
        self._written.add(sender, recipients, read_text(text), command)

    def broadcast(self, sender: AccountId, text: str, command: CommandId) -> None:
        """Write to everybody, and have it mailed."""
        super().broadcast(sender, text, command)
        self._written.add(sender, (), read_text(text), command)

    def forget(self, account: AccountId) -> None:
        """Erase what the account wrote, here and in its notes."""
        super().forget(account)
        self._written.forget(account)
