"""Browsers that keep a text for a sealed deal, as seen since its seal.

A browser tells which texts it keeps whenever it asks what to reveal. A player none of whose browsers has the
text can't reveal it, and is not counted as withholding it: the drain asks here before it decides that.

A note is of an account and a board, because a player has one text for a match. Personal data: erased with
the account. Durable as `infra.people.messages` is.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import redis

from domain.records import AccountId
from domain.rules import Seat
from infra.redis import keys

_KEPT_SECONDS: Final = 90 * 24 * 3600
"""A browser keeps a text as long; see `draws.js`."""

_MOST: Final = 500
"""Matches of an account; the notes of the newest are kept."""


class SeenTexts:
    """The notes on a server. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def note(self, account: AccountId, boards: Collection[int], now: int) -> None:
        """Note at `now`, ms, that a browser with the account's texts for these matches was seen."""
        if not boards:
            return
        name, seen = keys.seen_texts(account), dict.fromkeys(map(str, boards), now)
        with self._client.pipeline(transaction=True) as pipe:
            pipe.zadd(name, seen)
            pipe.zremrangebyscore(name, "-inf", now - _KEPT_SECONDS * 1000)
            pipe.zremrangebyrank(name, 0, -_MOST - 1)
            pipe.expire(name, _KEPT_SECONDS)
            pipe.execute()

    def unseen(
        self, board: int, seats: Sequence[AccountId], waits: Sequence[Seat]
    ) -> frozenset[Seat]:
        """Return those of the seats in `waits` whose text for a match no browser was seen with."""
        with self._client.pipeline(transaction=False) as pipe:
            for seat in waits:
                pipe.zscore(keys.seen_texts(seats[seat]), str(board))
            found: Mapping[Seat, Any] = dict(zip(waits, pipe.execute(), strict=True))
        return frozenset(seat for seat, at in found.items() if at is None)

    def forget(self, account: AccountId) -> None:
        """Erase an account's notes; safe to repeat, see `Accounts.delete`."""
        self._client.delete(keys.seen_texts(account))
