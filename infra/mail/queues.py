"""The queue of messages between players that are also to be mailed.

An entry has the text until the mailer has made e-mails of it; `infra.people.messages` keeps the message itself.
On a server that never sent mail the queue stays empty.

The queue of match chat to mail to the other players.

It is sent with the next mail of the match, or after some minutes by itself, so that lines written one
after the other make one mail. The queue has times of lines and no texts: a line that was erased, or
read on a page, before the mail is made is not mailed.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import msgspec
import redis

from domain.records import AccountId, CommandId
from infra.mail.hooks import HookQueue
from infra.mail.push import PushQueue, QueuedPush
from infra.people.messages import CHAT_LIMIT, MessageKind, MessageStore, PlayerMessage
from infra.people.push_subscriptions import PushSubscriptions
from infra.people.texts import read_text
from infra.projections.notices import NoticeKind
from infra.redis import mail_keys as keys
from infra.redis import scripts
from infra.redis.clients import Clock, time_ms

WAIT_MS: Final = 5 * 60_000
"""How long a line waits for others, and for a move."""

_CHAT_MAILED: Final = scripts.Script("chat_mailed")
_KEYS: Final = (keys.CHAT_DUE, keys.CHAT_FIRST, keys.CHAT_LAST)


class UnmailedChat(msgspec.Struct, frozen=True):
    """Lines of a match's chat that were not mailed to an account yet."""

    account: AccountId
    board: int
    first: int
    """The time of the first line, ms."""
    last: int
    """The time of the newest one, ms."""


class ChatMailQueue:
    """The chat that waits to be mailed. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        # redis-py types no answer precisely
        self._client: Any = client

    def add(self, board: int, at: int, accounts: Iterable[AccountId], now: int) -> None:
        """Queue a line, by its time in the chat; safe to repeat."""
        with self._client.pipeline(transaction=True) as pipe:
            for account in accounts:
                member = _member(account, board)
                pipe.zadd(keys.CHAT_FIRST, {member: at}, lt=True)
                pipe.zadd(keys.CHAT_LAST, {member: at}, gt=True)
                pipe.zadd(keys.CHAT_DUE, {member: now + WAIT_MS}, nx=True)
            pipe.execute()

    def due(self, now: int, count: int) -> list[UnmailedChat]:
        """Return chat that is due to be mailed."""
        found = keys.due_members(self._client, keys.CHAT_DUE, now, WAIT_MS, count)
        return [talk for member, _ in found if (talk := self._talk(member.decode()))]

    def of(self, account: AccountId, board: int) -> UnmailedChat | None:
        """Return the unmailed chat of a match for an account, due or not; None if there is none."""
        return self._talk(_member(account, board))

    def mark_mailed(self, talk: UnmailedChat, upto: int, now: int) -> None:
        """Remove the lines up to a time, which were mailed or need not be."""
        args: list[scripts.Arg] = [_member(talk.account, talk.board), upto, now + WAIT_MS]
        scripts.call(self._client, _CHAT_MAILED, _KEYS, args)

    def forget(self, account: AccountId) -> None:
        """Erase the chat that waits for an account; safe to repeat."""
        found = self._client.zscan_iter(keys.CHAT_LAST, match=f"{account.hex()}:*")
        for member in [member for member, _ in found]:
            for name in _KEYS:
                self._client.zrem(name, member)

    def _talk(self, member: str) -> UnmailedChat | None:
        with self._client.pipeline(transaction=False) as pipe:
            pipe.zscore(keys.CHAT_FIRST, member)
            pipe.zscore(keys.CHAT_LAST, member)
            first, last = pipe.execute()
        if first is None or last is None:
            return None
        account, _, board = member.partition(":")
        return UnmailedChat(AccountId(bytes.fromhex(account)), int(board), int(first), int(last))


def lines_since(
    letters: MessageStore, account: AccountId, board: int, first: int
) -> list[PlayerMessage]:
    """Return the lines by others in a match from a time on that the account has not read."""
    read = letters.chat_read_until(account, board)
    said = letters.chat_of(board, CHAT_LIMIT)
    return [one for one in said if one.at >= first and one.at > read and one.sender != account]


def _member(account: AccountId, board: int) -> str:
    return f"{account.hex()}:{board}"


class QueuedMessage(msgspec.Struct, frozen=True, array_like=True):
    """A message to be mailed."""

    sender: AccountId
    recipients: tuple[AccountId, ...]
    """Empty for a broadcast."""
    text: str
    command: CommandId
    """The same for every repetition."""
    at: int
    """When it was written, ms."""
    after: str = ""
    """The userid of the last player to whom a broadcast was mailed."""

    @property
    def kind(self) -> MessageKind:
        """Return whether it is a message or a broadcast."""
        return MessageKind.MESSAGE if self.recipients else MessageKind.BROADCAST


_ENCODER: Final = msgspec.msgpack.Encoder()
_QUEUED: Final = msgspec.msgpack.Decoder(QueuedMessage)


def _encode(note: QueuedMessage) -> Any:
    """Return the stored form, which has no `after` before a part of a broadcast was mailed."""
    words = msgspec.structs.astuple(note)
    return _ENCODER.encode(words if note.after else words[:-1])


MOST_QUEUED: Final = 10_000
"""Most entries of the queue, the newest, while no mailer works."""


class MessageMailQueue:
    """The messages to be mailed, in the order in which they were written."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def add(self, sender: AccountId, to: Sequence[AccountId], text: str, id_: CommandId) -> None:
        """Queue a message, to everybody if `to` is empty; does nothing while no mail is sent.

        A repeated message is mailed once, because its e-mails have the same ids.
        """
        if self._client.exists(keys.CURSOR):
            note = QueuedMessage(sender, tuple(dict.fromkeys(to)), text, id_, time_ms(self._client))
            with self._client.pipeline(transaction=True) as pipe:
                pipe.rpush(keys.MESSAGE_QUEUE, _encode(note))
                pipe.ltrim(keys.MESSAGE_QUEUE, -MOST_QUEUED, -1)
                pipe.execute()

    def oldest(self, count: int) -> list[QueuedMessage]:
        """Return the oldest messages."""
        found: Any = self._client.lrange(keys.MESSAGE_QUEUE, 0, count - 1)
        return [_QUEUED.decode(data) for data in found]

    def done(self, note: QueuedMessage) -> None:
        """Remove a message for which e-mails were queued."""
        self._client.lrem(keys.MESSAGE_QUEUE, 1, _encode(note))

    def go_on(self, note: QueuedMessage, after: str) -> None:
        """Queue a broadcast behind the other messages, for the players whose userids come after this one."""
        later = msgspec.structs.replace(note, after=after)
        with self._client.pipeline(transaction=True) as pipe:
            pipe.rpush(keys.MESSAGE_QUEUE, _encode(later))
            pipe.lrem(keys.MESSAGE_QUEUE, 1, _encode(note))
            _, removed = pipe.execute()
        if not removed:  # its writer was deleted
            self.done(later)

    def forget(self, account: AccountId) -> None:
        """Erase the messages that an account wrote and that were not mailed yet."""
        for note in self.oldest(1 << 31):
            if note.sender == account:
                self.done(note)


class MailingMessageStore(MessageStore):
    """Messages that are also mailed, and shown by browsers as notifications."""

    def __init__(
        self, client: redis.Redis, shards: Callable[[], int], clock: Clock | None = None
    ) -> None:
        super().__init__(client, shards, clock)
        self._mail_queue = MessageMailQueue(client)
        self._chat_queue = ChatMailQueue(client)
        self._push_queue = PushQueue(client)
        self._hooks = HookQueue(client)
        self._subscriptions = PushSubscriptions(client)

    def _chat_added(self, board: int, at: int, others: Sequence[AccountId]) -> None:
        """Queue a line of chat for mail, if mail is sent at all."""
        # crash window: it is in the notices and not queued; the command repeated queues it
        if others and self._client.exists(keys.CURSOR):
            self._chat_queue.add(board, at, others, self._now())
        self._push(others, board, NoticeKind.CHAT, at)

    def _push(self, accounts: Sequence[AccountId], board: int, kind: NoticeKind, at: int) -> None:
        """Queue a notification for those of the accounts whose browsers show them, or that have hooks."""
        ways = (self._push_queue, self._subscriptions), (self._hooks, self._hooks.hooks)
        for queue, wanting in ways:
            if accounts and queue.is_on():
                wanted = wanting.those_with(accounts)
                queue.add(QueuedPush(one, at, board, 0, ((kind, ""),)) for one in wanted)

    def send(
        self,
        sender: AccountId,
        recipients: Sequence[AccountId],
        text: str,
        command: CommandId,
        strangers: Sequence[AccountId] = (),
    ) -> None:
        """Put a message into each recipient's inbox, and queue it for mail."""
        super().send(sender, recipients, text, command, strangers)
        # crash window: it is in the inboxes and not queued; the command repeated queues it
        self._mail_queue.add(sender, recipients, read_text(text), command)
        others = [one for one in recipients if one != sender]
        self._push(others, 0, NoticeKind.MESSAGE, self._now())

    def broadcast(self, sender: AccountId, text: str, command: CommandId) -> None:
        """Write to everybody, and queue it for mail."""
        super().broadcast(sender, text, command)
        self._mail_queue.add(sender, (), read_text(text), command)

    def forget(self, account: AccountId) -> None:
        """Erase what the account wrote, also in the queue."""
        super().forget(account)
        self._mail_queue.forget(account)
