"""Messages between players, broadcasts to everybody, and chat of matches.

This free text is personal data. It is in no event, log or hash, and no error repeats it; it is stored
beside the matches and can be erased, see `MessageStore.forget`. Erased text is gone from the server's memory
at once, and from its append-only file at the next rewrite.

Messages are in lists; a message is two elements of one, the id of the command that wrote it and its
entry: the time in decimal, `:`, and MessagePack of [sender, text, kind]. The script that appends it
adds the time, which grows along a list even where the clock does not. An id that is still in the list
appends nothing, so a front end may repeat a command: the same id means the same message.

Writes are as durable as the server makes every write: in `fsync` mode it syncs before it answers.
Under durability `replicated` the client that writes them waits for the replicas, as for all that belongs to
accounts (`infra.redis.confirmed_writes`).

Messages to players who do not know their writer: so many a day.

| key | what |
|---|---|
| `{a:<hex>}:strangers` | hash: command and recipient, a day from the first |
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from hashlib import blake2b
from typing import Any, Final

import msgspec
import redis

from domain.errors import Code, Refusal
from domain.records import AccountId, CommandId
from infra.people.account_index import index_under_account
from infra.people.account_lists import MUTED, AccountList
from infra.people.message_notices import BORN_MARK, MessageNotice, MessageNotices
from infra.people.texts import read_text
from infra.projections.notices import NoticeKind
from infra.redis import keys, scripts
from infra.redis.clients import Clock, time_ms
from infra.redis.reads import Read, read_one
from infra.sentences import SAY

STRANGERS_A_DAY: Final = 20
"""Most messages of an account within a day to players who do not know it, counted by recipient."""

_HOUR: Final = 3600


def count_strangers(
    client: redis.Redis, sender: AccountId, strangers: Sequence[AccountId], command: CommandId
) -> None:
    """Count a message, once if it is repeated; `too-many`, and then it counts for nothing."""
    name, counted = keys.strangers(sender), list[str]()
    for field in [(command + other).hex() for other in strangers]:
        fits = index_under_account(client, sender, name, field, "", STRANGERS_A_DAY)
        # crash window: without it the count would not end; the next message sets it
        client.expire(name, 24 * _HOUR, nx=True)
        if not fits:
            if counted:
                client.hdel(name, *counted)
            hours = math.ceil(client.ttl(name) / _HOUR)
            raise Refusal(Code.TOO_MANY, SAY("strangers", most=STRANGERS_A_DAY, hours=hours))
        counted.append(field)


MOST_RECIPIENTS: Final = 20
"""Most recipients of a message."""

BOX_LIMIT: Final = 200
"""Messages kept for an account, the newest."""

BROADCAST_LIMIT: Final = 50
"""Broadcasts kept, the newest."""

CHAT_LIMIT: Final = 500
"""Lines of chat kept for a match, the newest."""

KEPT_SECONDS: Final = 90 * 24 * 3600
"""Seconds a message is shown. Chat is kept as long as its match is in Redis, and `ARCHIVED_CHAT_SECONDS` beyond."""

_RECIPIENTS_KEPT_SECONDS: Final = 2 * KEPT_SECONDS
"""Seconds an account's recipients are remembered after its last message.

A message too old to be shown is dropped by the next append, and a list expires `KEPT_SECONDS` after its last
append. So no message is stored for longer than twice `KEPT_SECONDS`.
"""

_APPEND: Final = scripts.Script("append_message")
_REMOVE: Final = scripts.Script("remove_messages")
_REPLACE: Final = scripts.Script("replace_message")


class MessageKind(StrEnum):
    """The kind of a message, by its recipients."""

    MESSAGE = "message"
    BROADCAST = "broadcast"
    CHAT = "chat"


class PlayerMessage(msgspec.Struct, frozen=True):
    """A message, a broadcast or a line of chat."""

    at: int
    """Milliseconds since 1970 by Redis's clock."""
    sender: AccountId
    text: str
    kind: MessageKind


class _MessageTail(msgspec.Struct, frozen=True, array_like=True):
    sender: AccountId
    text: str
    kind: MessageKind


_ENCODER: Final = msgspec.msgpack.Encoder()
_MESSAGES: Final = msgspec.msgpack.Decoder(_MessageTail)


class MessageStore:
    """The messages on a server. Errors of the server pass through; thread-safe.

    `shards` returns how many shards the matches are in. The caller decides who may write to whom.
    """

    def __init__(
        self, client: redis.Redis, shards: Callable[[], int], clock: Clock | None = None
    ) -> None:
        self._client = client
        self._shards = shards
        self._clock = clock
        self.notices = MessageNotices(client, clock)
        self.muted = AccountList(client, MUTED)

    # writing

    def send(
        self,
        sender: AccountId,
        recipients: Sequence[AccountId],
        text: str,
        command: CommandId,
        strangers: Sequence[AccountId] = (),
    ) -> None:
        """Put a message into each recipient's inbox; refused as `read_text` does.

        `strangers` are those of the recipients who do not know the sender: `too-many` if there were too
        many of them today. `bad-request` for no or too many recipients. After a kill some recipients
        have it; repeated with the same `command` it reaches the others, and nobody twice.
        """
        tail = _tail(sender, text, MessageKind.MESSAGE)
        to = _read_recipients(recipients)
        count_strangers(self._client, sender, strangers, command)
        self._remember_recipients(sender, to)
        # crash window: a recipient is remembered who has no message; erasing looks there in vain
        boxes = [keys.message_box(account) for account in to]
        calls = [self._append_call(box, tail, command, BOX_LIMIT, KEPT_SECONDS) for box in boxes]
        times = scripts.call_all(self._client, calls)
        # crash window: it is in the inboxes without a notice; the command repeated adds that
        for account, at in zip(to, times, strict=True):
            self.notices.notify([account], 0, at, NoticeKind.MESSAGE, sender)

    def broadcast(self, sender: AccountId, text: str, command: CommandId) -> None:
        """Write to everybody; refused as `read_text` does. Later accounts do not see it."""
        tail = _tail(sender, text, MessageKind.BROADCAST)
        call = self._append_call(keys.BROADCAST, tail, command, BROADCAST_LIMIT, KEPT_SECONDS)
        (at,) = scripts.call_all(self._client, [call])
        self.notices.notify_all(at, sender)

    def chat(
        self,
        board: int,
        sender: AccountId,
        text: str,
        command: CommandId,
        to: Sequence[AccountId] = (),
    ) -> None:
        """Add a line to a match's chat, and notify the players `to`; refused as `read_text` does."""
        tail = _tail(sender, text, MessageKind.CHAT)
        self._client.sadd(keys.chat_boards(sender), str(board))
        others = [account for account in dict.fromkeys(to) if account != sender]
        if others:
            self._remember_recipients(sender, others)
        # crash window: the match is remembered and has no line; the other way round there would be
        # a line that erasing does not find
        script, names, args = self._append_call(self._chat(board), tail, command, CHAT_LIMIT, 0)
        archived, bit = keys.archive_mark(board, self._shards())
        call = script, [*names, archived], [*args, bit, keys.ARCHIVED_CHAT_SECONDS]
        (at,) = scripts.call_all(self._client, [call])
        # crash window: the line is there without a notice; the command repeated adds that
        self.notices.notify(others, board, at, NoticeKind.CHAT, sender)
        self._chat_added(board, at, others)

    def _chat_added(self, board: int, at: int, others: Sequence[AccountId]) -> None:
        """Handle a new line of chat; a hook for subclasses."""

    # reading

    def read(self, account: AccountId, count: int = 20) -> list[PlayerMessage]:
        """Return the newest messages and broadcasts, the newest first, at most `count`."""
        return self._recent(account, count)[: max(count, 0)]

    def chat_of(self, board: int, count: int = 50) -> list[PlayerMessage]:
        """Return the newest lines of a match's chat, the oldest of them first, at most `count`."""
        found: Any = self._client.lrange(self._chat(board), *_newest(count))
        return _messages(found)

    def chats_of(self, account: AccountId) -> list[int]:
        """Return the boards that an account has chatted at, sorted."""
        found: Any = self._client.smembers(keys.chat_boards(account))
        return sorted(map(int, found))

    def written_by(self, account: AccountId) -> Iterator[tuple[AccountId, PlayerMessage]]:
        """Yield the messages of an account that are kept, each with its recipient; one recipient at a time."""
        recipients: Any = self._client.smembers(keys.recipients(account))
        for recipient in sorted(recipients):
            found: Any = self._client.lrange(keys.message_box(recipient), 0, -1)
            yield from (
                (recipient, message) for message in _messages(found) if message.sender == account
            )

    def read_chat_page(self, board: int) -> Read[tuple[list[PlayerMessage], str]]:
        """Return the read of all lines of a match's chat, and of the text of `chat_marks` for it."""
        return Read(
            lambda pipe: pipe.lrange(self._chat(board), *_newest(CHAT_LIMIT)),
            lambda replies: (_messages(replies[0]), _chat_text(len(replies[0]), replies[0][-2:-1])),
        )

    def unread(self, account: AccountId) -> int:
        """Return how many messages and broadcasts are newer than those marked as read."""
        marks = self._marks(account)
        messages = self._recent(account, BOX_LIMIT)
        return sum(message.at > marks.get(message.kind, 0) for message in messages)

    def has_written(self, sender: AccountId, recipient: AccountId) -> bool:
        """Return whether the account has written a message to the other within half a year."""
        # redis-py types members as text only
        member: Any = recipient
        return bool(self._client.sismember(keys.recipients(sender), member))

    def chat_marks(self, boards: Sequence[int]) -> Read[list[str]]:
        """Return the read of a text for each match that changes with its chat."""

        def queue(pipe: Any) -> None:
            for board in boards:
                pipe.llen(self._chat(board))
                pipe.lrange(self._chat(board), -2, -2)

        return Read(
            queue,
            lambda found: [_chat_text(*found[at : at + 2]) for at in range(0, len(found), 2)],
        )

    def messages_read_until(self, account: AccountId) -> dict[str, float]:
        """Return up to which time, ms, an account has read its messages of each kind."""
        return self._marks(account)

    def chat_read_until(self, account: AccountId, board: int) -> int:
        """Return up to which time, ms, an account has read a match's chat."""
        return read_one(self._client, self.read_chat_mark(account, board))

    @staticmethod
    def read_chat_mark(account: AccountId, board: int) -> Read[int]:
        """Return the read of `chat_read_until`."""
        return Read(
            lambda pipe: pipe.zscore(keys.read_marks(account), chat_mark(board)),
            lambda replies: int(replies[0] or 0),
        )

    def _marks(self, account: AccountId) -> dict[str, float]:
        return read_one(self._client, self.read_marks(account))

    @staticmethod
    def read_marks(account: AccountId) -> Read[dict[str, float]]:
        """Return the read of up to when, ms, an account has read messages by kind, and `chat_mark`s."""
        return Read(
            lambda pipe: pipe.zrange(keys.read_marks(account), 0, -1, withscores=True),
            lambda replies: {kind.decode(): at for kind, at in replies[0]},
        )

    def mark_read(self, account: AccountId, messages: Iterable[PlayerMessage]) -> None:
        """Mark messages as read, with all older ones of their kind.

        Pass the result of `read`, so that newer messages stay unread. Marks never go back by it.
        """
        marks: dict[str, int] = {}
        for message in messages:
            marks[message.kind] = max(message.at, marks.get(message.kind, 0))
        self._put_marks(account, marks)

    def mark_unread(self, account: AccountId, message: PlayerMessage) -> None:
        """Mark a message as unread, with all newer ones of its kind; one that is unread stays so."""
        marks: Any = {message.kind: message.at - 1}
        self._client.zadd(keys.read_marks(account), marks, xx=True, lt=True)

    def mark_chat_read(
        self, account: AccountId, board: int, messages: Sequence[PlayerMessage]
    ) -> None:
        """Mark lines of a match's chat as read, with all older ones; pass the result of `chat_of`."""
        if messages:
            self._put_marks(account, {chat_mark(board): max(message.at for message in messages)})

    def mark_born(self, account: AccountId) -> None:
        """Mark an account as made now: broadcasts from before are not for it."""
        self._put_marks(account, {BORN_MARK: self._now()})

    def mark_news_read(self, account: AccountId, until: int) -> None:
        """Mark notices as read, up to the one of a time (ms) that was shown."""
        self._put_marks(account, {NEWS_MARK: until})

    def _put_marks(self, account: AccountId, marks: Any) -> None:
        if marks:
            with self._client.pipeline(transaction=True) as pipe:
                pipe.zadd(keys.read_marks(account), marks, gt=True)
                # older messages are neither shown nor counted, whatever their mark
                pipe.zremrangebyscore(
                    keys.read_marks(account), "-inf", self._now() - KEPT_SECONDS * 1000
                )
                pipe.expire(keys.read_marks(account), KEPT_SECONDS)
                pipe.execute()

    # erasing

    def forget(self, account: AccountId) -> None:
        """Erase the account's inbox, and all it wrote: messages, broadcasts, chat.

        Safe to repeat, which finishes the work of a killed process. The account must be unable to
        write by then, because a message written meanwhile may stay.
        """
        for name in self._lists_written_to(account):
            self._erase(name, account)
        recipients: Any = self._client.smembers(keys.recipients(account))
        self.notices.forget(account, recipients)
        self.muted.forget(account)
        # crash window: until here everything that the account wrote can still be found
        names = [
            keys.message_box,
            keys.read_marks,
            keys.recipients,
            keys.strangers,
            keys.chat_boards,
        ]
        self._client.delete(*[name(account) for name in names])

    def _lists_written_to(self, account: AccountId) -> list[str]:
        """Return all lists that may have a message of the account."""
        recipients: Any = self._client.smembers(keys.recipients(account))
        chats = list(map(self._chat, self.chats_of(account)))
        return [keys.BROADCAST, *map(keys.message_box, recipients), *chats]

    def _erase(self, name: str, sender: AccountId) -> None:
        found: Any = self._client.lrange(name, 0, -1)
        messages = zip(found[::2], _messages(found), strict=True)
        commands = [command for command, message in messages if message.sender == sender]
        if commands:
            scripts.call(self._client, _REMOVE, [name], commands)

    def replace_text(self, place: AccountId | int, message: PlayerMessage, text: str) -> bool:
        """Replace the text of a message in the inbox of an account, or of a line in the chat of a board.

        Returns whether it was still there. Its time stays.
        """
        name = self._chat(place) if isinstance(place, int) else keys.message_box(place)
        old = _ENCODER.encode(_MessageTail(message.sender, message.text, message.kind))
        new = _tail(message.sender, text, message.kind)
        at = b"%d:" % message.at
        return bool(scripts.call(self._client, _REPLACE, [name], [at + old, at + new]))

    def recipients_of(self, sender: AccountId) -> list[AccountId]:
        """Return the accounts that an account has written to lately."""
        found: Any = self._client.smembers(keys.recipients(sender))
        return sorted(found)

    def _chat(self, board: int) -> str:
        return keys.chat(keys.shard_of(board, self._shards()), board)

    def _remember_recipients(self, sender: AccountId, recipients: Sequence[AccountId]) -> None:
        with self._client.pipeline(transaction=True) as pipe:
            pipe.sadd(keys.recipients(sender), *recipients)
            pipe.expire(keys.recipients(sender), _RECIPIENTS_KEPT_SECONDS)
            pipe.execute()

    def _append_call(
        self, name: str, tail: bytes, command: CommandId, limit: int, kept: int
    ) -> scripts.Call:
        now = "" if self._clock is None else str(self._clock())
        return _APPEND, [name], [command, now, tail, limit, kept]

    def _recent(self, account: AccountId, count: int) -> list[PlayerMessage]:
        """Return the newest `count` messages and as many broadcasts, the newest first."""
        oldest = self._now() - KEPT_SECONDS * 1000
        with self._client.pipeline(transaction=False) as pipe:
            for name in (keys.message_box(account), keys.BROADCAST):
                pipe.lrange(name, *_newest(count))
            pipe.zscore(keys.read_marks(account), BORN_MARK)
            own, broadcasts, born = pipe.execute()
        since = max(oldest, born or 0)
        shown = [
            *(message for message in _messages(own) if message.at > oldest),
            *(message for message in _messages(broadcasts) if message.at > since),
        ]
        return sorted(shown, key=lambda message: message.at, reverse=True)

    def _now(self) -> int:
        return time_ms(self._client, self._clock)


def _read_recipients(recipients: Sequence[AccountId]) -> list[AccountId]:
    """Return each recipient once."""
    to = list(dict.fromkeys(recipients))
    if not 1 <= len(to) <= MOST_RECIPIENTS:
        raise Refusal(
            Code.BAD_REQUEST, SAY("message-recipients", most=MOST_RECIPIENTS, count=len(to))
        )
    return to


NEWS_MARK: Final = "news"
"""The read mark of an account's notices."""


def chat_mark(board: int) -> str:
    """Return the member of the read marks for a match's chat."""
    return f"{MessageKind.CHAT}:{board}"


def unread_lines(notices: Iterable[MessageNotice], marks: Mapping[str, float]) -> dict[int, int]:
    """Return by match how many of the newest 200 lines by others are newer than the read marks."""
    chat = (one for one in notices if one.kind is NoticeKind.CHAT)
    return dict(
        Counter(one.board for one in chat if one.message_at > marks.get(chat_mark(one.board), 0))
    )


def _chat_text(size: int, last: Sequence[bytes]) -> str:
    """Return a text that changes with a chat: its size, because erasing makes it shorter, and last id."""
    return repr([size, last])


def _tail(sender: AccountId, text: str, kind: MessageKind) -> bytes:
    return _ENCODER.encode(_MessageTail(sender, read_text(text), kind))


def _newest(count: int) -> tuple[int, int]:
    """Return the range of the newest `count` messages of a list."""
    return (-2 * count, -1) if count > 0 else (1, 0)


def _messages(elements: Sequence[bytes]) -> list[PlayerMessage]:
    return [_parse(entry) for entry in elements[1::2]]


def _parse(entry: bytes) -> PlayerMessage:
    at, _, rest = entry.partition(b":")
    tail = _MESSAGES.decode(rest)
    return PlayerMessage(int(at), tail.sender, tail.text, tail.kind)


def mark_of(text: str) -> str:
    """Return a short mark of a text, which is another one once the text has changed."""
    return blake2b(text.encode(), digest_size=8).hexdigest()
