"""Indexes of challenges: lists of all that are open, and each account's own."""

from collections.abc import Iterable
from typing import Any

import msgspec
import redis

from domain.records import AccountId
from infra.people.account_index import index_under_account
from infra.people.challenges.record import MOST_CHALLENGES, OPEN_MS, Challenge
from infra.redis import keys
from infra.redis.reads import Read


class ChallengeIds(msgspec.Struct, frozen=True):
    """Ids from the indexes, whose challenges may have ended."""

    account: AccountId | None
    count: int
    """How many of the newest were asked for; one more is read, which shows whether there are others."""
    own: list[str]
    """Of those that the account has opened or joined."""
    newest: list[str]
    """Of open ones, the newest first."""
    more: bool
    """Whether there are others than these."""


class ChallengeIndexes:
    """The indexes on a server. The records may be deleted, or have changed."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    # all challenges

    def publish(self, challenge: Challenge) -> None:
        """Add a challenge to the lists, and remove those that have expired; safe to repeat."""
        with self._client.pipeline(transaction=True) as pipe:
            for name in _lists(challenge):
                pipe.zadd(name, {challenge.id: challenge.created})
                pipe.zremrangebyscore(name, 0, challenge.created - OPEN_MS)
            pipe.execute()

    def unpublish(self, challenge: Challenge) -> None:
        """Remove a challenge from the lists; safe to repeat."""
        with self._client.pipeline(transaction=True) as pipe:
            for name in _lists(challenge):
                pipe.zrem(name, challenge.id)
            pipe.execute()

    def read_ids(self, account: AccountId | None, count: int) -> Read[ChallengeIds]:
        """Return the read of an account's ids and of the newest open ones."""

        def queue(pipe: Any) -> None:
            pipe.zrange(keys.open_challenges(), 0, count, desc=True)
            if account is not None:
                pipe.hkeys(keys.challenges_opened(account))
                pipe.hkeys(keys.challenges_joined(account))

        def parse(replies: list[Any]) -> ChallengeIds:
            newest, *own = replies
            ids = [id_ for reply in own for id_ in _decoded_ids(reply)]
            shown = _decoded_ids(newest[:count])
            return ChallengeIds(account, count, ids, shown, len(newest) > count)

        return Read(queue, parse)

    def page(self, name: str, start: int, count: int) -> list[str]:
        """Return ids of the list of a key, the newest first."""
        if start < 0 or count < 1:  # because Redis would count from the end
            return []
        return _decoded_ids(self._client.zrange(name, start, start + count - 1, desc=True))

    def count(self, game: str | None) -> int:
        """Return the length of a list."""
        return int(self._client.zcard(keys.open_challenges(game)))

    def remove(self, name: str, ids: Iterable[str]) -> None:
        """Remove ids from one list."""
        self._client.zrem(name, *ids)

    def add_filling(self, id_: str) -> None:
        """Add a challenge that is about to be full."""
        self._client.sadd(keys.FILLING_CHALLENGES, id_)

    def filling(self) -> list[str]:
        """Return the ids of challenges that are about to be full, or full without a match."""
        found: Any = self._client.smembers(keys.FILLING_CHALLENGES)
        return _decoded_ids(found)

    def remove_filling(self, ids: Iterable[str]) -> None:
        """Remove challenges that are not about to be full."""
        if settled := list(ids):
            self._client.srem(keys.FILLING_CHALLENGES, *settled)

    # those of an account

    def add_to_account(self, account: AccountId, name: str, id_: str) -> bool:
        """Add a challenge to one of the account's two lists; False if there is no room.

        `unknown-user` for a deleted account.
        """
        return index_under_account(self._client, account, name, id_, "", MOST_CHALLENGES)

    def of_account(self, name: str) -> list[str]:
        """Return the ids in one of an account's lists."""
        found: Any = self._client.hkeys(name)
        return _decoded_ids(found)

    def remove_from_account(self, name: str, ids: Iterable[str]) -> None:
        """Remove ids from one of an account's lists."""
        if dropped := list(ids):
            self._client.hdel(name, *dropped)


def _lists(challenge: Challenge) -> tuple[str, ...]:
    if club := challenge.proposal.club:
        return (keys.open_challenges(club=club),)
    return keys.open_challenges(), keys.open_challenges(challenge.proposal.game)


def _decoded_ids(found: Any) -> list[str]:
    return [id_.decode() for id_ in found]
