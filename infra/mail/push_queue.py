"""The notifications that wait for push services, and how far the logs were read for them.

An entry has the notice and no text: what a browser shows is written when it is sent, and says what is true then.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec
import redis

from domain.match.events import AccountId
from infra.mail.log_cursor import LogCursor
from infra.projections.notices import NoticeDetail, NoticeKind, PlayerNotice
from infra.redis import mail_keys as keys

LIFE_MS: Final = 24 * 3_600_000
"""How long a notice is worth a notification."""


class QueuedPush(msgspec.Struct, frozen=True, array_like=True):
    """The notices of one command to one account."""

    account: AccountId
    at: int
    """Milliseconds."""
    board: int
    """0 for a message."""
    seq: int
    notices: tuple[tuple[NoticeKind, str], ...]
    """The kind of each, and its detail as text."""
    tries: int = 0
    only: tuple[str, ...] = ()
    """Ids of the subscriptions that are tried again; none for all."""

    @property
    def player_notices(self) -> list[PlayerNotice]:
        """Return the notices."""
        return [
            PlayerNotice(
                self.at, self.board, self.seq, kind, NoticeDetail.read(text) if text else None
            )
            for kind, text in self.notices
        ]


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(QueuedPush)


class PushQueue(LogCursor):
    """The queue. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        super().__init__(client, keys.PUSH_CURSOR)
        # redis-py types members as text only
        self._queue: Any = client

    def end(self) -> None:
        """Forget everything: this server sends no notifications any more."""
        self._queue.delete(keys.PUSH_CURSOR, keys.PUSH_DUE)

    def is_on(self) -> bool:
        """Return whether notifications are sent at all."""
        return bool(self._queue.exists(keys.PUSH_CURSOR))

    def add(self, entries: Iterable[QueuedPush]) -> None:
        """Add entries that are due at once; safe to repeat until they were sent."""
        found = {_ENCODER.encode(one): one.at for one in entries}
        if found:
            self._queue.zadd(keys.PUSH_DUE, found, nx=True)

    def due(self, now: int, count: int) -> list[QueuedPush]:
        """Return entries that are due, the oldest first."""
        found = keys.due_members(self._queue, keys.PUSH_DUE, now, LIFE_MS, count)
        return [_DECODER.decode(member) for member, _ in found]

    def is_due(self, now: int) -> bool:
        """Return whether an entry is due."""
        return bool(self.due(now, 1))

    def done(self, entry: QueuedPush, again: QueuedPush | None = None, due: int = 0) -> None:
        """Remove an entry, and put another in its place, which is due at that time."""
        with self._queue.pipeline(transaction=True) as pipe:
            pipe.zrem(keys.PUSH_DUE, _ENCODER.encode(entry))
            if again is not None:
                pipe.zadd(keys.PUSH_DUE, {_ENCODER.encode(again): due})
            pipe.execute()

    def forget(self, account: AccountId) -> None:
        """Erase what waits for an account; safe to repeat."""
        gone: Sequence[bytes] = [
            member
            for member, _ in self._queue.zscan_iter(keys.PUSH_DUE)
            if _DECODER.decode(member).account == account
        ]
        if gone:
            self._queue.zrem(keys.PUSH_DUE, *gone)
