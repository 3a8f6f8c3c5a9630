"""Writes leaves of the published log back into a shard's log, each at its own index and nowhere else.

The commit script writes them as it wrote them first, with everything that belongs to them. It writes
nothing where the log's next index is another, or where the match has another last event. So no
leaf can come twice, or in the place of another, even if two processes restore at the same time.
"""

from collections.abc import Iterable
from typing import Any

import msgspec
import redis

from domain.match.history import PackedSnapshot
from domain.match.leaves import AnchorLeaf
from infra.redis import keys, scripts
from infra.store import snapshots
from infra.store.board_numbers import BoardNumbers
from infra.store.layout import Layout
from infra.store.log_gate import read_ends
from infra.store.port import CommitDone, Write
from infra.store.store_calls import anchor_call, commit_call, read_commit_replies


class RestoredCommand(msgspec.Struct, frozen=True):
    """The leaves of one command."""

    write: Write
    starts: bool
    """Whether it is the match's first."""


class RestoredAnchor(msgspec.Struct, frozen=True):
    """The leaf of an anchor."""

    anchor: AnchorLeaf
    data: bytes


Restored = RestoredCommand | RestoredAnchor


class NotRestoredError(Exception):
    """A leaf was not written, because the data are not what they were before it; a sentence."""


class RestoredLeaves:
    """Restores leaves; `data` is a client of the matches' Redis."""

    def __init__(self, data: redis.Redis, layout: Layout) -> None:
        self._data = data
        self._layout = layout
        self._numbers = BoardNumbers(data, layout)

    def end(self, shard: int) -> int:
        """Return the index of the log's next leaf."""
        return read_ends(self._data, [shard])[0]

    def read_match(self, shard: int, board: int) -> tuple[PackedSnapshot | None, bytes]:
        """Return a match's snapshot, and its conditional moves."""
        more = keys.conditional_moves(shard, board)
        client: Any = self._data
        reply = client.execute_command(*snapshots.read_command(shard, board, more))
        return snapshots.read_reply(reply), reply[-1] or b""

    def write(self, shard: int, start: int, found: Iterable[Restored]) -> int:
        """Write leaves from index `start` on, and return the index after them; `NotRestoredError`."""
        index = start
        calls: list[scripts.Call] = []
        checks: list[tuple[int, int, Restored]] = []
        for one in found:
            if isinstance(one, RestoredAnchor):
                chain, anchor = one.anchor.chain, one.anchor.anchor
                calls.append(anchor_call(shard, chain, anchor, one.data, index, index))
                checks.append((len(calls) - 1, index, one))
                index += 1
                continue
            if one.starts:
                calls.append(self._numbers.restore_call(one.write.id, one.write.board))
            calls.append(commit_call(self._layout.shards, shard, [one.write], index, index))
            checks.append((len(calls) - 1, index, one))
            index += len(one.write.leaves)
        replies = scripts.call_all(self._data, calls)
        for at, place, one in checks:
            if not _is_done(one, replies[at]):
                raise NotRestoredError(
                    f"shard {shard}: leaf {place} can't be restored, because the data are not what "
                    "they were before it"
                )
        return index


def _is_done(one: Restored, reply: Any) -> bool:
    if isinstance(one, RestoredAnchor):
        return bool(reply == 1)
    (result,) = read_commit_replies([one.write], reply)
    return isinstance(result, CommitDone)
