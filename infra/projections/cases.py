"""Cases that wait for a ruling: the queue of the arbiters.

| key | what |
|---|---|
| `open` | sorted set: `<board>:<claim>`; score: time of the claim or the appeal, ms |

A case is in the bucket of its board. It enters with its claim, leaves with its ruling, and enters again with
an appeal.
"""

from collections.abc import Iterator, Sequence
from heapq import merge
from itertools import islice
from typing import Final

import msgspec

from domain.match.events import Appealed, Claimed, Ruled
from infra.projections.buckets import CASES
from infra.projections.generations import Query
from infra.projections.projection import Fact, OwnedWrite, StatelessProjection

OPEN: Final = "open"


class OpenCase(msgspec.Struct, frozen=True, order=True):
    """A case that waits for a ruling."""

    since: int
    """When it was claimed or appealed, ms."""
    board: int
    claim: int
    """Its number: that of the event it began with."""


class OpenCases(Query):
    """Queries of the cases that wait."""

    spec = CASES

    def of(self, start: int, count: int) -> list[OpenCase]:
        """Return the cases from a place on, the oldest first; O(start + count)."""
        parts = [
            (_case(member, score) for score, member in self._scored(bucket.key(OPEN), newest=False))
            for bucket in self._generation().all
        ]
        return list(islice(merge(*parts), start, start + count))

    def count(self) -> int:
        """Return the number of cases that wait."""
        return self._count(self._generation(), OPEN)


def _case(member: bytes, score: float) -> OpenCase:
    board, _, claim = member.decode().partition(":")
    return OpenCase(int(score), int(board), int(claim))


class CasesProjection(StatelessProjection):
    """Keeps the cases that wait for a ruling."""

    spec = CASES
    settled_only = True

    def owners(self, fact: Fact) -> Sequence[int]:
        """Return the board, if the event opens or closes a case."""
        return (fact.event.match,) if any(self.writes(fact)) else ()

    def writes(self, fact: Fact) -> Iterator[OwnedWrite]:
        """Add or remove the case of an event."""
        event = fact.event
        match event.body:
            case Claimed():
                yield event.match, ("ZADD", OPEN, event.at, f"{event.match}:{event.seq}")
            case Appealed(claim=claim):
                yield event.match, ("ZADD", OPEN, event.at, f"{event.match}:{claim}")
            case Ruled(claim=int(claim)):
                yield event.match, ("ZREM", OPEN, f"{event.match}:{claim}")
            case _:
                return
