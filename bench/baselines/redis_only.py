"""Baseline: only Redis, with the same submits and commits on the same server, and no decisions.

One client submits the commands and commits events that were decided beforehand, in batches of the
drain's size, each ended by the same barrier. It has no worker, no wake-up and no reads.
"""

import random
import time
from collections.abc import Iterable, Sequence
from itertools import chain, islice

import msgspec

from bench.harness import SHARDS, BenchEnvironment, new_store
from bench.workload import SEED, PlannedGame, moves, resignations, starts
from domain.clocks.time_control import TimeControl
from domain.match import commands
from domain.match.commands import CommandEnvelope
from domain.match.decide import decide
from domain.match.decision import Decision
from domain.match.history import EMPTY_SNAPSHOT, Snapshot, chain_events, pack_snapshot
from domain.match.state import next_due
from infra.redis.keys import shard_of
from infra.store import outcomes
from infra.store.gateway import submission_of
from infra.store.port import Queued, Store, Write
from workers.commands.drain import BATCH


def measure(bench: BenchEnvironment, played: Sequence[PlannedGame], terms: TimeControl) -> float:
    """Return the moves a second of matches with these terms."""
    with bench.server("limit") as server, server.client() as client:
        return measure_on(bench, new_store(client, 1), played, terms)


def measure_on(
    bench: BenchEnvironment, store: Store, played: Sequence[PlannedGame], terms: TimeControl
) -> float:
    """Return the same on a store that is empty."""
    snapshots: dict[int, Snapshot] = {}
    shards = store.layout().shards
    first = decide_all(starts(played, terms), snapshots, shards)
    rest = decide_all(moves(played), snapshots, shards)
    for start in range(0, len(first), BATCH):
        submit_and_commit(store, first[start : start + BATCH])
    task = bench.progress.add_task("redis_limit", total=len(rest))
    began = time.perf_counter()
    for start in range(0, len(rest), BATCH):
        submit_and_commit(store, rest[start : start + BATCH])
        bench.progress.advance(task, BATCH)
    seconds = time.perf_counter() - began
    bench.progress.remove_task(task)
    return len(rest) / seconds


def decide_all(
    orders: Iterable[CommandEnvelope], snapshots: dict[int, Snapshot], shards: int = SHARDS
) -> list[tuple[CommandEnvelope, Write]]:
    """Return the commits that the commands lead to; `snapshots` is updated."""
    found = []
    for order in orders:
        before = snapshots.get(order.match, EMPTY_SNAPSHOT)
        decision = decide(order, before.state)
        if not isinstance(decision, Decision):
            raise RuntimeError(f"a move was refused: {decision.sentence}")
        leaves, after = chain_events(order, decision, before, before.state.at + 1)
        snapshots[order.match] = after
        found.append(
            (
                order,
                Write(
                    shard=shard_of(order.match, shards),
                    entry="",
                    board=order.match,
                    id=order.id,
                    head=before.head,
                    digest=commands.command_digest(commands.encode_command(order)),
                    tail=outcomes.tail("", before.state.seq + 1),
                    leaves=leaves,
                    snapshot=pack_snapshot(after, before.state),
                    due=next_due(after.state),
                    ended=after.state.at if after.state.over else 0,
                ),
            )
        )
    return found


def play_to_the_end(bench: BenchEnvironment, store: Store, played: Sequence[PlannedGame]) -> None:
    """Commit whole matches that end by a resignation: all move in turn, each time in another order."""
    shuffled = moves(played, random.Random(SEED))  # noqa: S311 - a workload, not a secret
    orders = chain(starts(played, TimeControl()), shuffled, resignations(played))
    total = sum(len(game.moves) + 2 for game in played)
    task = bench.progress.add_task(f"{len(played)} matches", total=total)
    snapshots: dict[int, Snapshot] = {}
    while batch := list(islice(orders, BATCH)):
        submit_and_commit(store, decide_all(batch, snapshots))
        bench.progress.advance(task, len(batch))
    bench.progress.remove_task(task)


def submit_and_commit(store: Store, batch: Sequence[tuple[CommandEnvelope, Write]]) -> None:
    """Submit a batch, and commit it."""
    answers = store.submit([submission_of(order, 0, "reply:limit") for order, _ in batch])
    store.commit(
        [
            msgspec.structs.replace(prepared, entry=answer.entry)
            for (_, prepared), answer in zip(batch, answers, strict=True)
            if isinstance(answer, Queued)
        ]
    )
