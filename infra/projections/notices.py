"""What players are told of their matches: per account the newest notices.

| key | what |
|---|---|
| `to:<account>` | sorted set: `<board>:<seq>:<kind>`; score: time of the event, ms |
| `tables` | hash: board -> packed `Table`, of matches of three and more that go on |

A set keeps a notice once, and its newest are the same in whatever order they came.
"""

from collections.abc import Sequence
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
    CHAT = "chat"
    """Another player said something in a match; told by `infra.letter_notices`."""
    MESSAGE = "message"
    """Somebody wrote to the account, or to everybody; told by `infra.letter_notices`."""


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


Place = tuple[int, int, int, str]
"""Where a notice stands among all of its account: time in ms, board, seq, kind."""


def place_of(notice: Notice) -> Place:
    """Return where a notice stands."""
    return notice.at, notice.board, notice.seq, notice.kind


class Kept(msgspec.Struct, frozen=True):
    """What is kept of an account's notices after a place in their order."""

    notices: list[Notice]
    oldest: Place | None = None
    """The oldest that is kept, where older ones were dropped or may have been."""

    def with_(self, other: "Kept") -> "Kept":
        """Return these and others, in one order."""
        oldest = max((one for one in (self.oldest, other.oldest) if one), default=None)
        return Kept(sorted([*self.notices, *other.notices], key=place_of), oldest)


def kept_of(notices: list[Notice], first: list[Notice], count: int) -> Kept:
    """Return what is kept where a list has `count` notices, of which the oldest is in `first`."""
    return Kept(notices, place_of(first[0]) if first and count >= KEPT else None)


class Table(msgspec.Struct, frozen=True, array_like=True):
    """What must be known of three at a table to tell the right ones."""

    next: Seat | None
    left: tuple[Seat, ...] = ()
    """Seats that have left while others play on."""


_ENCODER: Final = msgspec.msgpack.Encoder()
_TABLES: Final = msgspec.msgpack.Decoder(Table)


def pack_table(table: Table) -> bytes:
    """Return the stored form."""
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
        """Return an account's notices, the newest first; O(log n + start + count), n at most 200."""
        key = self._generation().key(box_key(account))
        found = self._client.zrange(key, start, start + count - 1, desc=True, withscores=True)
        return [_notice(member, score) for member, score in found]

    def count(self, account: AccountId) -> int:
        """Count an account's notices; O(1)."""
        return int(self._client.zcard(self._generation().key(box_key(account))))

    def marks(self, accounts: Sequence[AccountId]) -> list[str]:
        """Return for each account a text that changes with its newest notice; O(their number)."""
        generation = self._generation()
        with self._client.pipeline(transaction=False) as pipe:
            for account in accounts:
                pipe.zrange(generation.key(box_key(account)), 0, 0, desc=True)
            return [repr(found) for found in pipe.execute()]

    def since(self, account: AccountId, after: Place) -> Kept:
        """Return an account's notices after a place, the oldest first; O(n).

        Those of the place's own millisecond may be before it.
        """
        key = self._generation().key(box_key(account))
        with self._client.pipeline(transaction=False) as pipe:
            pipe.zrange(key, 0, 0, withscores=True)
            pipe.zcard(key)
            pipe.zrangebyscore(key, after[0], "+inf", withscores=True)
            first, count, found = pipe.execute()
        return kept_of([_notice(*one) for one in found], [_notice(*one) for one in first], count)


def _notice(member: bytes, score: Any) -> Notice:
    board, seq, kind = member.decode().split(":")
    return Notice(int(score), int(board), int(seq), Kind(kind))
