"""Takes leaves off the end of a closed shard's log, and all that followed from them.

It is for data that are another history than the published log, once an operator has decided that the
published one is right. The shard is then one that was rolled back, and its leaves are restored.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
import redis

from domain.match.audit import verify
from domain.match.decision import Decision
from domain.match.history import Snapshot, pack_snapshot
from domain.match.leaves import AnchorLeaf, EventEnvelope, RefusedLeaf, decode_leaf
from domain.match.state import MatchState, next_due
from infra.redis import keys
from infra.store import locators
from infra.store.closed_shards import rolled_back
from infra.store.log_gate import read_ends
from infra.store.outcomes import parse
from infra.store.port import Store, refusal_field
from infra.store.snapshots import REFUSALS_MARK, with_marks

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


def _write_events(pipe: Any, shard: int, board: int, events: Sequence[bytes]) -> MatchState:
    """Write a match's events, and what follows from them: snapshot, due time and end; return the state."""
    audit = verify(board, events)
    state = audit.state
    packed = pack_snapshot(Snapshot(audit.head, state))
    pipe.set(keys.snapshot(shard, board), with_marks(packed.state, b""))
    if packed.moves:
        pipe.set(keys.moves(shard, board), packed.moves)
    if packed.turns:
        pipe.set(keys.turns(shard, board), packed.turns)
    pipe.rpush(keys.events(shard, board), *events)
    if due := next_due(state):
        pipe.zadd(keys.due(shard), {str(board): due})
    if state.over:
        pipe.zadd(keys.ended(shard), {str(board): state.at})
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
