"""The mailer's cursors in the logs, and the items that wait for daily digests.

How far a follower has read the logs: a count of leaves for each shard, which only moves from where it was read.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec
import redis

from domain.records import AccountId
from infra.redis import mail_keys as keys
from infra.redis import scripts

_ENCODER: Final = msgspec.msgpack.Encoder()
_COUNTS: Final = msgspec.msgpack.Decoder(tuple[int, ...])


class LogCursor:
    """A cursor in the logs under one key. Errors of the server pass through; several followers do no harm."""

    def __init__(self, client: redis.Redis, key: str) -> None:
        self._client = client
        self._cursor_key = key

    def begin(self, ends: Sequence[int]) -> None:
        """Set the cursor to `ends`, unless it was set before."""
        self._client.set(self._cursor_key, _ENCODER.encode(tuple(ends)), nx=True)

    def cursor(self) -> tuple[int, ...] | None:
        """Return for each shard how many leaves were read; None before `begin`."""
        found: Any = self._client.get(self._cursor_key)
        return None if found is None else _COUNTS.decode(found)

    def advance(self, before: Sequence[int], after: Sequence[int]) -> bool:
        """Move the cursor; False when another follower has moved it."""
        old, new = (_ENCODER.encode(tuple(counts)) for counts in (before, after))
        return scripts.compare_and_set(self._client, self._cursor_key, old, new)


DIGEST_HOUR: Final = 6
"""When digests are sent, UTC: before the morning of most of Europe, after the day of America."""

DIGEST_ITEMS: Final = 500
"""Most items of a digest, the newest."""

_HOUR: Final = 3_600_000
_DAY: Final = 24 * _HOUR

_FIRST_SECONDS: Final = 400 * 24 * 3600

_DIGEST_SENT: Final = scripts.Script("digest_sent")


class DigestItem(msgspec.Struct, frozen=True, array_like=True):
    """An event or message in a digest."""

    board: int
    """0 for a message, the number of a tournament for a notice of one."""
    seq: int
    what: str
    """The kind of a notice, with its detail after a colon for one of a tournament; for a message its sender."""
    at: int
    """Milliseconds."""


_ITEMS: Final = msgspec.msgpack.Decoder(DigestItem)


class MailerProgress(LogCursor):
    """The mailer's progress. Errors of the server pass through; several mailers do no harm."""

    def __init__(self, client: redis.Redis) -> None:
        super().__init__(client, keys.CURSOR)

    # threads

    def thread_id(self, board: int, seat: int, id_: str) -> str:
        """Return the Message-ID of a match's first e-mail to a player: this one if there was none."""
        name = keys.first_email(board, seat)
        found: Any = self._client.set(name, id_, nx=True, get=True, ex=_FIRST_SECONDS)
        return id_ if found is None else found.decode()

    # digests

    def add_digest_items(self, account: AccountId, items: Iterable[DigestItem], now: int) -> None:
        """Add items to an account's next digest, each once."""
        name = keys.digest_items(account)
        # redis-py types members as text only
        scores: Any = {_ENCODER.encode(item): item.at for item in items}
        due: Any = {account: next_digest(now)}
        with self._client.pipeline(transaction=True) as pipe:
            pipe.zadd(name, scores)
            pipe.zremrangebyrank(name, 0, -DIGEST_ITEMS - 1)
            pipe.zadd(keys.DIGESTS_DUE, due, nx=True)
            pipe.execute()

    def digests_due(self, now: int, count: int) -> list[tuple[AccountId, int]]:
        """Return accounts whose digest is due, each with the time since when, ms."""
        found = keys.due_members(self._client, keys.DIGESTS_DUE, now, _DAY, count)
        return [(account, int(due)) for account, due in found]

    def digest_items(self, account: AccountId) -> list[DigestItem]:
        """Return the items for an account's digest, the oldest first."""
        found: Any = self._client.zrange(keys.digest_items(account), 0, -1)
        return [_ITEMS.decode(data) for data in found]

    def mark_digest_sent(self, account: AccountId, items: Iterable[DigestItem], now: int) -> None:
        """Remove the items of a digest that was sent; newer ones wait for the next."""
        names = [keys.digest_items(account), keys.DIGESTS_DUE]
        members = [_ENCODER.encode(item) for item in items]
        scripts.call(self._client, _DIGEST_SENT, names, [account, next_digest(now), *members])

    def forget(self, account: AccountId) -> None:
        """Erase an account's items; safe to repeat."""
        with self._client.pipeline(transaction=True) as pipe:
            pipe.delete(keys.digest_items(account))
            pipe.zrem(keys.DIGESTS_DUE, account)
            pipe.execute()


def next_digest(now: int) -> int:
    """Return when the first digest after `now` is sent, both in ms."""
    return (now - DIGEST_HOUR * _HOUR) // _DAY * _DAY + _DAY + DIGEST_HOUR * _HOUR
