"""Reads that a failover explains: of moves that were taken back unacknowledged, and of a primary that was replaced.

No durability promises anything of reads. They are counted, and the checker sees the others.
"""

from collections import defaultdict
from collections.abc import Iterable

import msgspec

from domain.match.history import leaf_hash
from tests.faults.harness.held import Held
from tests.faults.harness.record import Invocation, Result


class SortedReads(msgspec.Struct):
    """The calls of a run."""

    calls: list[Invocation]
    """Commands, and reads that need no explanation."""
    taken_back: int = 0
    """Reads that saw an event which is not in the final history."""
    stale: int = 0
    """Reads that missed an event which was acknowledged, or read, before they began."""


def sort_reads(calls: Iterable[Invocation], held: Held) -> SortedReads:
    """Return the calls without the reads that a failover explains, and how many those are."""
    found = SortedReads([])
    reads = []
    known: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for call in calls:
        if call.command:
            found.calls.append(call)
            if call.result is Result.OK and not call.code:
                known[call.match].append((call.done, call.seq))
        elif call.result is not Result.OK or _is_prefix(call, held):
            reads.append(call)
            known[call.match].append((call.done, call.seq))
        else:
            found.taken_back += 1
    for read in reads:
        least = max((seq for done, seq in known[read.match] if done < read.sent), default=0)
        if read.result is Result.OK and read.seq < least:
            found.stale += 1
        else:
            found.calls.append(read)
    return found


def _is_prefix(read: Invocation, held: Held) -> bool:
    final = held.events.get(read.match, [])
    if read.seq > len(final):
        return False
    return not read.seq or leaf_hash(final[read.seq - 1]) == read.head
