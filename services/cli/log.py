"""`matchpost log discard SHARD [--yes]`: decide that the published log is right where the data differ.

Exit codes: 0 done, or shown what would be done; 1 refused; 2 the server does not answer.
"""

import sys

from domain.match.history import BrokenHistory
from infra.audit.log import first_difference
from infra.log.key_files import LogKeyError
from infra.log.published_log import LogDamagedError, PublishedLog, PublishedLogs
from infra.log.signed_note import NoteError
from infra.objects.port import ObjectStoreError
from infra.settings.settings import Settings
from infra.store.closed_shards import ClosedKind, ClosedShards
from infra.store.discarded_leaves import (
    CHUNK,
    DiscardedLeaves,
    NotDiscardedError,
    discard,
    find_discarded,
)
from infra.store.log_gate import read_ends
from services.app.context import App
from services.app.error_codes import EXIT_OK, EXIT_REFUSED

_FAILURES = (
    *(BrokenHistory, LogDamagedError, LogKeyError, NoteError, NotDiscardedError),
    ObjectStoreError,
)


def run(action: str, shard: int, yes: bool, settings: Settings) -> int:  # noqa: FBT001 - called by keyword
    """Show what would be discarded, or discard it; return the exit code."""
    assert action == "discard"
    with App(settings) as parts:
        closed = ClosedShards(parts.data).read([shard]) if shard in _shards(parts) else {}
        if not closed or closed[shard].kind is not ClosedKind.FORKED:
            return _refuse(f"shard {shard} has no other history than the published one")
        try:
            log = PublishedLogs(settings).of(shard)
            log.refresh()
            found = _find(parts, log)
            print(_summary(found, log.size))
            if not yes:
                print(
                    "nothing was done; copy the data, then run it with --yes. To keep these leaves "
                    "instead, put back the object store that belongs to them"
                )
                return EXIT_OK
            discard(parts.data, parts.store, found, log.size)
        except _FAILURES as error:
            return _refuse(str(error))
    print("done; the publisher restores the published leaves, and the shard opens")
    return EXIT_OK


def _shards(parts: App) -> range:
    return range(parts.store.shards)


def _find(parts: App, log: PublishedLog) -> DiscardedLeaves:
    (end,) = read_ends(parts.data, [log.shard])
    common = min(end, log.size)
    for start in range(0, common, CHUNK):
        wanted = list(log.leaves(start, min(start + CHUNK, common)))
        rows = parts.store.leaves(log.shard, start, len(wanted))
        first = first_difference(rows, wanted, start)
        if first is not None:
            return find_discarded(parts.data, parts.store, log.shard, first)
    raise NotDiscardedError(
        f"all leaves of shard {log.shard} that are in both are the same; restart `serve`, which looks again"
    )


def _summary(found: DiscardedLeaves, published: int) -> str:
    boards = ", ".join(map(str, found.boards[:20])) + (" and others" if found.boards[20:] else "")
    return (
        f"shard {found.shard}: leaves {found.first} to {found.end - 1} of the data are discarded, of the "
        f"matches {boards}; leaves {found.first} to {published - 1} of the published log take their place"
    )


def _refuse(sentence: str) -> int:
    print(f"matchpost: {sentence}", file=sys.stderr)
    return EXIT_REFUSED
