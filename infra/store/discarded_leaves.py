"""Takes leaves off the end of a closed shard's log, and all that followed from them.

It is for data that are another history than the published log, once an operator has decided that the
published one is right. The shard is then one that was rolled back, and its leaves are restored.

Writes leaves of the published log back into a shard's log, each at its own index and nowhere else.

The commit script writes them as it wrote them first, with everything that belongs to them. It writes
nothing where the log's next index is another, or where the match has another last event. So no
leaf can come twice, or in the place of another, even if two processes restore at the same time.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import redis

from domain import aggregates
from domain.aggregates import AnyState
from domain.match.decision import Decision
from domain.match.history import (
    AnchorLeaf,
    EventEnvelope,
    PackedSnapshot,
    RefusedLeaf,
    decode_leaf,
)
from infra.redis import keys, scripts
from infra.store import locators, snapshots
from infra.store.board_numbers import BoardNumbers
from infra.store.closed_shards import rolled_back
from infra.store.layout import Layout
from infra.store.log_gate import read_ends
from infra.store.outcomes import parse
from infra.store.port import CommitDone, Store, Write, refusal_field
from infra.store.snapshots import REFUSALS_MARK, with_marks
from infra.store.store_calls import anchor_call, commit_call, read_commit_replies

CHUNK = 4_096


class NotDiscardedError(Exception):
    """The leaves can't be discarded; the message is a sentence."""


class DiscardedLeaves(msgspec.Struct, frozen=True):
    """The leaves to discard."""

    shard: int
    first: int
    """The index of the first."""
    end: int
    """The index after the last."""
    boards: tuple[int, ...]
    """The matches that lose some."""
    seed: tuple[int, int] | None
    """Chain and number of the first seed that was used in them; None if none was."""
    anchors: tuple[int, ...]
    """The chains that were anchored in them."""


def find_discarded(data: redis.Redis, store: Store, shard: int, first: int) -> DiscardedLeaves:
    """Return the leaves of a shard's log from index `first` on."""
    (end,) = read_ends(data, [shard])
    boards, anchors, seeds = set(), [], []
    for start in range(first, end, CHUNK):
        for _, leaf in store.leaves(shard, start, min(CHUNK, end - start)):
            match decode_leaf(leaf):
                case AnchorLeaf() as anchor:
                    anchors.append(anchor.chain)
                case EventEnvelope() as event:
                    boards.add(event.match)
                    seeds += [seed] if (seed := Decision((event.body,)).seed) else []
                case refusal:
                    boards.add(refusal.match)
    return DiscardedLeaves(
        shard, first, end, tuple(sorted(boards)), min(seeds, default=None), tuple(anchors)
    )


def discard(data: redis.Redis, store: Store, found: DiscardedLeaves, published: int) -> None:
    """Discard leaves, in one step, and close the shard as one that lacks them; `NotDiscardedError`.

    `BrokenHistory` if what is left of a match does not hold.
    """
    shard, first = found.shard, found.first
    if any(chain > 1 for chain in found.anchors):
        raise NotDiscardedError(
            f"a chain of seeds of shard {shard} was anchored after leaf {first}; put back a copy of the "
            "data from before"
        )
    with data.pipeline(transaction=True) as pipe:
        for board in found.boards:
            _cut_match(pipe, store, shard, board, first)
        _cut_draws(pipe, found)
        _cut_log(pipe, data, shard, first)
        why = rolled_back(shard, published, first)
        fields: Any = {"kind": why.kind, "reason": why.reason}
        pipe.hset(keys.closed(shard), mapping=fields)
        pipe.execute()


def _cut_match(pipe: Any, store: Store, shard: int, board: int, first: int) -> None:
    indexes = store.leaf_indexes(board)
    for data in filter(None, store.leaves_at(shard, [one for one in indexes if one >= first])):
        if isinstance(leaf := decode_leaf(data), RefusedLeaf):
            pipe.hdel(keys.refused(shard, leaf.actor), leaf.command)
    indexes = [index for index in indexes if index < first]
    events: list[bytes] = []
    refused: list[RefusedLeaf] = []  # since the last event, because an event ends their count
    for data in filter(None, store.leaves_at(shard, indexes)):
        if isinstance(leaf := decode_leaf(data), RefusedLeaf):
            refused.append(leaf)
        else:
            events.append(data)
            refused.clear()
    outcomes = store.outcomes(board)
    wrong = [id_ for id_, stored in outcomes.items() if parse(stored).index >= first]
    pipe.delete(
        *(of(shard, board) for of in (keys.snapshot, keys.moves, keys.turns, keys.events)),
        *(of(shard, board) for of in (keys.locator, keys.refusals, keys.conditional_moves)),
    )
    pipe.zrem(keys.due(shard), str(board))
    pipe.zrem(keys.ended(shard), str(board))
    if wrong:
        pipe.hdel(keys.outcomes(shard, board), *wrong)
    if indexes:
        pipe.set(keys.locator(shard, board), locators.encode(indexes))
    ply = _write_events(pipe, shard, board, events).ply if events else 0
    for leaf in refused:
        pipe.hincrby(keys.refusals(shard, board), refusal_field(leaf.actor, ply), 1)
    if refused and events:
        pipe.setrange(keys.snapshot(shard, board), *REFUSALS_MARK)


def _write_events(pipe: Any, shard: int, board: int, events: Sequence[bytes]) -> AnyState:
    """Write a match's events, and what follows from them: snapshot, due time and end; return the state."""
    audit = aggregates.verify(board, events)
    state = audit.state
    packed = aggregates.pack(aggregates.snapshot_of(audit.head, state))
    pipe.set(keys.snapshot(shard, board), with_marks(packed.state, b""))
    if packed.moves:
        pipe.set(keys.moves(shard, board), packed.moves)
    if packed.turns:
        pipe.set(keys.turns(shard, board), packed.turns)
    pipe.rpush(keys.events(shard, board), *events)
    if due := aggregates.next_due(state):
        pipe.zadd(keys.due(shard), {str(board): due})
    if ended := aggregates.ended_at(state):
        pipe.zadd(keys.ended(shard), {str(board): ended})
    return state


def _cut_draws(pipe: Any, found: DiscardedLeaves) -> None:
    if found.anchors:
        pipe.delete(keys.seed_chain(found.shard))
    elif found.seed:
        pipe.hset(keys.seed_chain(found.shard), "k", str(found.seed[1] - 1))


def _cut_log(pipe: Any, data: redis.Redis, shard: int, first: int) -> None:
    """Write the log again up to a leaf, because a stream never goes back to an earlier id."""
    name = keys.log(shard)
    kept: Any = data.xrange(name, "-", f"({first}-0")
    pipe.delete(name)
    for id_, fields in kept:
        pipe.xadd(name, fields, id=id_)
    if not kept and first:
        # all of them were trimmed
        pipe.xadd(name, {"l": b""}, id=f"{first - 1}-1")
        pipe.xdel(name, f"{first - 1}-1")


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
