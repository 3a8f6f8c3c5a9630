"""What players are told of their matches: per account the newest notices.

| key | what |
|---|---|
| `to:<account>` | sorted set: `<board>:<seq>:<kind>`; score: time of the event, ms |
| `tables` | hash: board -> packed `Table`, of matches of three and more that go on |

A set keeps a notice once, and its newest are the same in whatever order they came.
"""

from enum import StrEnum
from typing import Any, Final

import msgspec

from domain.match.events import AccountId
from domain.rules import Seat
from infra.projections.specs import NOTICES
from infra.projections.view import View

KEPT: Final = 200
"""Notices an account has at most."""

TABLES: Final = "tables"


class Kind(StrEnum):
    """What a notice is about."""

    CHALLENGED = "challenged"
    """A match was called for, and waits for the account's consent."""
    REVEAL = "reveal"
    """The account is to reveal the text it has committed to."""
    STARTED = "started"
    """A match has begun."""
    YOUR_TURN = "your-turn"
    """The account is to move."""
    OFFER = "offer"
    """Another player proposed something."""
    ANSWERED = "answered"
    """Another player answered what was proposed."""
    REPLIED = "replied"
    """A move that the account had laid ready was played."""
    RESIGNED = "resigned"
    """Another player has left, and the others play on."""
    FLAGGED = "flagged"
    """A player's time was over, perhaps the account's own, and the others play on."""
    RESUMED = "resumed"
    """Another player ended the pause: clocks run again."""
    DECLINED = "declined"
    """Another player refused to play."""
    OVER = "over"
    """A match has ended."""
    REMINDER = "reminder"
    """The account is to move, and its time runs out."""


class Notice(msgspec.Struct, frozen=True):
    """One thing an account is told."""

    at: int
    """Time of the event, ms."""
    board: int
    seq: int
    kind: Kind

    @property
    def member(self) -> str:
        """How the sorted set has it: text order is the order of events."""
        return f"{self.board:015}:{self.seq:010}:{self.kind}"


class Table(msgspec.Struct, frozen=True, array_like=True):
    """What must be known of three at a table to tell the right ones."""

    next: Seat | None
    left: tuple[Seat, ...] = ()
    """Seats that have left while others play on."""


_ENCODER: Final = msgspec.msgpack.Encoder()
_TABLES: Final = msgspec.msgpack.Decoder(Table)


def pack_table(table: Table) -> bytes:
    """Give the stored form."""
    return _ENCODER.encode(table)


def unpack_table(data: bytes) -> Table:
    """Read the stored form."""
    return _TABLES.decode(data)


def box_key(account: AccountId) -> str:
    """Name an account's notices."""
    return f"to:{account.hex()}"


class Notices(View):
    """The notices on a server."""

    spec = NOTICES

    def of(self, account: AccountId, start: int = 0, count: int = 50) -> list[Notice]:
        """Give an account's notices, the newest first; O(log n + start + count), n at most 200."""
        key = self._generation().key(box_key(account))
        found = self._client.zrange(key, start, start + count - 1, desc=True, withscores=True)
        return [_notice(member, score) for member, score in found]

    def since(self, account: AccountId, at: int) -> list[Notice]:
        """Give an account's notices of that time, ms, and later, the oldest first; O(n)."""
        key = self._generation().key(box_key(account))
        found = self._client.zrangebyscore(key, at, "+inf", withscores=True)
        return [_notice(member, score) for member, score in found]


def _notice(member: bytes, score: Any) -> Notice:
    board, seq, kind = member.decode().split(":")
    return Notice(int(score), int(board), int(seq), Kind(kind))
