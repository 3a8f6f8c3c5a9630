"""Notices of messages and chat: per account and per broadcast the newest.

| key | what |
|---|---|
| `{a:<hex>}:notices` | sorted set: `<board>:<time of the message, ms>:<kind>:<sender>`; score: time of the notice, ms |
| `{broadcast}:notices` | the same, of broadcasts |

A notice refers to a message and repeats nothing of it. These are not projections, because messages
are in no log: notices are written with the message, and erased with its sender or its recipient.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeAlias

import msgspec
import redis

from domain.records import AccountId
from infra.projections.notices import (
    MOST_NOTICES,
    NoticeKind,
    NoticePosition,
    NoticesAfter,
    PlayerNotice,
    notices_after,
)
from infra.redis import keys, scripts
from infra.redis.clients import Clock
from infra.redis.reads import Read, read_one

KEPT_SECONDS: Final = 90 * 24 * 3600
"""How long an account's notices are kept after the newest."""

BORN_MARK: Final = "born"
"""The read mark that says when an account was made; what was written to everybody before is not for it.

Read marks are kept as long as broadcasts are, so without a mark there is none from before.
"""

_NOTIFY: Final = scripts.Script("notify")


class MessageNotice(msgspec.Struct, frozen=True):
    """A notice of a message, with a reference to it."""

    at: int
    """Time of the notice, ms."""
    board: int
    """0 for a message."""
    message_at: int
    """Time of the message, ms."""
    kind: NoticeKind
    sender: AccountId
    to_all: bool = False
    """Whether it is of a broadcast."""

    @property
    def notice(self) -> PlayerNotice:
        """Return it in the form that notices of matches have."""
        return PlayerNotice(
            self.at, self.board, 0, self.kind, sender=self.sender, to_all=self.to_all
        )


NoticeLists: TypeAlias = tuple[list[MessageNotice], list[MessageNotice], dict[str, float]]
"""The notices of messages to an account, and of broadcasts, each the oldest first; and its read marks."""


class MessageNotices:
    """The notices of messages. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis, clock: Clock | None = None) -> None:
        # redis-py types no answer precisely
        self._client: Any = client
        self._clock = clock

    def notify(
        self,
        accounts: Iterable[AccountId],
        board: int,
        sent_at: int,
        kind: NoticeKind,
        sender: AccountId,
    ) -> None:
        """Notify accounts of a message, each once; deleted accounts are left out."""
        member = f"{board:015}:{sent_at:015}:{kind}:{sender.hex()}"
        calls = [
            self._call([keys.message_notices(to), keys.account(to)], member) for to in accounts
        ]
        scripts.call_all(self._client, calls)

    def notify_all(self, sent_at: int, sender: AccountId) -> None:
        """Notify everybody of a broadcast."""
        member = f"{0:015}:{sent_at:015}:{NoticeKind.MESSAGE}:{sender.hex()}"
        scripts.call_all(self._client, [self._call([keys.BROADCAST_NOTICES], member)])

    def _call(self, names: Sequence[str], member: str) -> scripts.Call:
        now = "" if self._clock is None else str(self._clock())
        return _NOTIFY, names, [now, MOST_NOTICES, KEPT_SECONDS, member]

    def of(self, account: AccountId) -> list[MessageNotice]:
        """Return all notices of messages to an account, those of broadcasts included."""
        own, broadcasts, _ = read_one(self._client, self.read_of(account))
        return [*own, *broadcasts]

    @staticmethod
    def read_of(account: AccountId) -> Read[NoticeLists]:
        """Return the read of all notices of messages to an account, of broadcasts since it was made, and its marks."""

        def queue(pipe: Any) -> None:
            for name in (keys.message_notices(account), keys.BROADCAST_NOTICES):
                pipe.zrange(name, 0, -1, withscores=True)
            pipe.zrange(keys.read_marks(account), 0, -1, withscores=True)

        def parse(replies: list[Any]) -> NoticeLists:
            marks = {mark.decode(): at for mark, at in replies[2]}
            return (
                parse_notices(replies[0]),
                parse_notices(replies[1], marks.get(BORN_MARK, 0)),
                marks,
            )

        return Read(queue, parse)

    def since(self, account: AccountId, after: NoticePosition) -> Read[NoticesAfter]:
        """Return the read of an account's notices after a position in their order."""

        def queue(pipe: Any) -> None:
            for name in (keys.message_notices(account), keys.BROADCAST_NOTICES):
                pipe.zrange(name, 0, 0, withscores=True)
                pipe.zcard(name)
                pipe.zrangebyscore(name, after[0], "+inf", withscores=True)
            pipe.zscore(keys.read_marks(account), BORN_MARK)

        def parse(replies: list[Any]) -> NoticesAfter:
            both = (None, replies[:3]), (replies[6] or 0, replies[3:6])
            own, all_ = (
                notices_after(
                    [one.notice for one in parse_notices(found, born)],
                    [one.notice for one in parse_notices(first, born)],
                    n,
                )
                for born, (first, n, found) in both
            )
            return own.with_(all_)

        return Read(queue, parse)

    def forget(self, account: AccountId, recipients: Iterable[AccountId]) -> None:
        """Erase an account's notices, and those of its messages to the `recipients`."""
        for name in (keys.BROADCAST_NOTICES, *map(keys.message_notices, recipients)):
            ending = f":{account.hex()}".encode()
            gone = [one for one in self._client.zrange(name, 0, -1) if one.endswith(ending)]
            if gone:
                self._client.zrem(name, *gone)
        self._client.delete(keys.message_notices(account))


def parse_notices(
    found: Iterable[tuple[bytes, Any]], born: float | None = None
) -> list[MessageNotice]:
    """Return notices from members and their scores; those of broadcasts if written after `born`."""
    notices = (_message_notice(*one, to_all=born is not None) for one in found)
    return [one for one in notices if one.message_at > (born or 0)]


def _message_notice(member: bytes, score: Any, *, to_all: bool) -> MessageNotice:
    board, sent_at, kind, sender = member.decode().split(":")
    return MessageNotice(
        int(score), int(board), int(sent_at), NoticeKind(kind), bytes.fromhex(sender), to_all
    )
