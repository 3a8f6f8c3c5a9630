"""The bare limit: the same submits and the same commits on the same server, nothing decided.

One client hands in the commands and commits what was decided beforehand, in batches of the drain's
size, each ended by the same barrier. No worker, no wake-up, no reading back.
"""

import time
from collections.abc import Iterable, Sequence

import msgspec

from domain.match import commands
from domain.match.commands import Sent
from domain.match.decide import Decided, decide
from domain.match.record import NO_MATCH, Snapshot, pack_snapshot, seal
from infra import outcomes
from infra.gateway import submission_of
from infra.keys import shard_of
from infra.store.port import Queued, Store, Write
from services.cli.bench.rig import SHARDS, Place, new_store
from services.cli.bench.workload import Game, moves, starts
from workers.commands.drain import BATCH


def measure(where: Place, played: Sequence[Game]) -> float:
    """Return the moves a second."""
    snapshots: dict[int, Snapshot] = {}
    first = decided(starts(played), snapshots)
    rest = decided(moves(played), snapshots)
    with where.server("limit") as server, server.client() as client:
        store = new_store(client, 1)
        write(store, first)
        task = where.progress.add_task("redis_limit", total=len(rest))
        began = time.perf_counter()
        for start in range(0, len(rest), BATCH):
            write(store, rest[start : start + BATCH])
            where.progress.advance(task, BATCH)
        seconds = time.perf_counter() - began
        where.progress.remove_task(task)
    return len(rest) / seconds


def decided(orders: Iterable[Sent], snapshots: dict[int, Snapshot]) -> list[tuple[Sent, Write]]:
    """Decide beforehand, from `snapshots` on, which are kept up to date."""
    found = []
    for order in orders:
        before = snapshots.get(order.match, NO_MATCH)
        decision = decide(order, before.state)
        if not isinstance(decision, Decided):
            raise RuntimeError(f"a move was refused: {decision.sentence}")
        leaves, after = seal(order, decision, before, before.state.at + 1)
        snapshots[order.match] = after
        found.append(
            (
                order,
                Write(
                    shard=shard_of(order.match, SHARDS),
                    entry="",
                    board=order.match,
                    id=order.id,
                    head=before.head,
                    digest=commands.digest(commands.encode(order)),
                    tail=outcomes.tail("", before.state.seq + 1, ""),
                    leaves=leaves,
                    snapshot=pack_snapshot(after),
                ),
            )
        )
    return found


def write(store: Store, batch: Sequence[tuple[Sent, Write]]) -> None:
    """Hand a batch in and commit it."""
    answers = store.submit([submission_of(order, 0, "door:limit") for order, _ in batch])
    store.commit(
        [
            msgspec.structs.replace(prepared, entry=answer.entry)
            for (_, prepared), answer in zip(batch, answers, strict=True)
            if isinstance(answer, Queued)
        ]
    )
