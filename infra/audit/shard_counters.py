"""The check of a shard's counters against its log: numbers of boards, and seeds that were used.

A counter that was set back would number a match as another one, or draw with a seed that was revealed.
"""

from collections.abc import Iterator

import redis

from infra.audit.leaf_order import LeafOrder
from infra.store.board_numbers import BoardNumbers
from infra.store.port import Store


def counter_faults(
    client: redis.Redis, store: Store, shard: int, order: LeafOrder
) -> Iterator[str]:
    """Return what does not fit in a shard's counters; they may be ahead of the log that was read."""
    highest = BoardNumbers(client, store.layout()).highest_of(shard)
    if highest < order.highest_board:
        yield (
            f"the counter of boards stands at {highest}, and shard {shard} has match "
            f"{order.highest_board}: it was set back, and would hand numbers out again"
        )
    for chain, index in order.anchors.items():
        found = store.anchor_index(shard, chain)
        if found != index:
            yield (
                f"chain {chain} of seeds of shard {shard} was anchored as leaf {index}, and the data say "
                f"{'nothing' if found is None else f'leaf {found}'}"
            )
    present = store.seed_chain(shard)
    last = len(order.anchors)
    if present is None and not last:
        return
    if present is None or present.chain < last:
        yield (
            f"shard {shard} draws from chain {present.chain if present else 0} of seeds, and chain "
            f"{last} was anchored"
        )
    elif present.chain == last and present.used < order.used.get(last, 0):
        yield (
            f"the counter of used seeds of shard {shard} stands at {present.used}, and seed "
            f"{order.used[last]} was used: it was set back, and would draw with known seeds"
        )
