"""How far the logs have been told by mail, and what waits for a daily digest."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec
import redis

from domain.match.events import AccountId
from infra import scripts
from infra.mail import keys

DIGEST_HOUR: Final = 6
"""When digests are sent, UTC: before most of Europe looks, and after most of America."""

NEWS_LIMIT: Final = 500
"""Notices a digest is made of, the newest."""

_HOUR: Final = 3_600_000
_DAY: Final = 24 * _HOUR

_FIRST_SECONDS: Final = 400 * 24 * 3600

_DIGEST_SENT: Final = scripts.Script("digest_sent")
_COUNTS: Final = msgspec.msgpack.Decoder(tuple[int, ...])


class Item(msgspec.Struct, frozen=True, array_like=True):
    """Something that happened, for a digest."""

    board: int
    """0 for a message."""
    seq: int
    what: str
    """A kind of notice, or for a message who wrote it."""
    at: int
    """Milliseconds."""


_ENCODER: Final = msgspec.msgpack.Encoder()
_ITEMS: Final = msgspec.msgpack.Decoder(Item)


class Progress:
    """Where the mailer stands. Errors of the server pass through; several mailers do no harm."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    # the logs

    def begin(self, ends: Sequence[int]) -> None:
        """Have mail told of everything after `ends`, unless it was begun before."""
        self._client.set(keys.READ, _ENCODER.encode(tuple(ends)), nx=True)

    def read(self) -> tuple[int, ...] | None:
        """Return for each shard how many leaves have been told; None before it was begun."""
        found: Any = self._client.get(keys.READ)
        return None if found is None else _COUNTS.decode(found)

    def move(self, before: Sequence[int], after: Sequence[int]) -> bool:
        """Note that leaves have been told; False when somebody else has done so."""
        old, new = (_ENCODER.encode(tuple(counts)) for counts in (before, after))
        return scripts.compare_and_set(self._client, keys.READ, old, new)

    # threads

    def first(self, board: int, seat: int, letter: str) -> str:
        """Return the id of a match's first letter to a player: this one, if there was none."""
        name = keys.first(board, seat)
        found: Any = self._client.set(name, letter, nx=True, get=True, ex=_FIRST_SECONDS)
        return letter if found is None else found.decode()

    # digests

    def keep(self, account: AccountId, items: Iterable[Item], now: int) -> None:
        """Keep items for an account's next digest; those that are kept already stay once."""
        name = keys.news(account)
        # redis-py types members as text only
        scores: Any = {_ENCODER.encode(item): item.at for item in items}
        due: Any = {account: next_digest(now)}
        with self._client.pipeline(transaction=True) as pipe:
            pipe.zadd(name, scores)
            pipe.zremrangebyrank(name, 0, -NEWS_LIMIT - 1)
            pipe.zadd(keys.DAILY, due, nx=True)
            pipe.execute()

    def digests_due(self, now: int, count: int) -> list[tuple[AccountId, int]]:
        """Return accounts whose digest is due, each with when it became so, ms."""
        found: Any = self._client.zrangebyscore(
            keys.DAILY, "-inf", now, start=0, num=count, withscores=True
        ) or self._client.zrangebyscore(
            # none is due in more than a day: a clock ran ahead when this was noted
            *(keys.DAILY, f"({now + _DAY}", "+inf"),
            start=0,
            num=count,
            withscores=True,
        )
        return [(account, int(due)) for account, due in found]

    def items(self, account: AccountId) -> list[Item]:
        """Return what an account's digest is to tell, the oldest first."""
        found: Any = self._client.zrange(keys.news(account), 0, -1)
        return [_ITEMS.decode(data) for data in found]

    def digested(self, account: AccountId, items: Iterable[Item], now: int) -> None:
        """Forget what a digest has told; what has come since waits for the next one."""
        names = [keys.news(account), keys.DAILY]
        told = [_ENCODER.encode(item) for item in items]
        scripts.call(self._client, _DIGEST_SENT, names, [account, next_digest(now), *told])

    def forget(self, account: AccountId) -> None:
        """Erase what is kept for an account; doing it twice is harmless."""
        with self._client.pipeline(transaction=True) as pipe:
            pipe.delete(keys.news(account))
            pipe.zrem(keys.DAILY, account)
            pipe.execute()


def next_digest(now: int) -> int:
    """Return when the first digest after `now` is sent, both in ms."""
    return (now - DIGEST_HOUR * _HOUR) // _DAY * _DAY + _DAY + DIGEST_HOUR * _HOUR
