"""Leaves that a failover took back before they were published: it is noticed, once, and said."""

import logging
from pathlib import Path

import pytest
from redis import Redis

from domain.match.commands import PlayMove
from infra.projections.buckets import LISTS
from infra.projections.generations import Generations
from infra.projections.match_list_fold import MatchListsProjection
from infra.redis import keys
from infra.store.log_gate import LogGate
from infra.store.lost_leaves import SHOWN_MS, LossRecord, read_losses
from infra.store.watermarks import PublishedSizes
from tests.helpers.bench import Bench
from tests.helpers.given import ALICE, BOB
from tests.helpers.lanes import LANE
from tests.helpers.rollback import Copy, copy_of, put_back
from tests.helpers.side import catch_up, contents
from workers.commands.drain import Drain
from workers.log.restore import EVERY_SECONDS, LossCheck
from workers.projections.worker import ProjectionWorker

SHARD = 1
MOVES = ((ALICE, "m13-m9"), (BOB, "a1-a2"), (ALICE, "m9-m7"))


@pytest.fixture
def bench(redis_client: Redis, tmp_path: Path) -> Bench:
    bench = Bench(redis_client, tmp_path / "seeds")
    bench.start(1, 2)
    return bench


def gate_of(bench: Bench) -> LogGate:
    gate = LogGate(bench.client, bench.client)
    bench.store.published = gate.published
    return gate


def play(bench: Bench, gate: LogGate, *moves: tuple[bytes, str]) -> None:
    """Send commands to the match of the shard, and decide them."""
    for account, text in moves:
        bench.send(account, PlayMove(text=text))
    drain = Drain(*(bench.store, bench.lanes, bench.client, LANE), seeds=bench.seeds, gate=gate)
    assert drain.run() == len(moves)


def end_of(bench: Bench) -> int:
    return int(bench.client.xlen(keys.log(SHARD)))


def fail_over(bench: Bench, copy: Copy, end: int | None) -> None:
    """Put a copy of the data back, and leave what the queue server knows, if it has not lost it."""
    put_back(bench.client, copy)
    if end is None:
        bench.client.hdel(keys.published(SHARD), "end")
    else:
        bench.client.hset(keys.published(SHARD), "end", end)


@pytest.mark.parametrize("same", [True, False])
def test_a_drain_notices_that_indexes_are_used_again(
    bench: Bench,
    caplog: pytest.LogCaptureFixture,
    same: bool,  # noqa: FBT001 - a parameter
) -> None:
    """The drain that wrote the lost leaves, or one of another process, which has read where they ended."""
    gate = gate_of(bench)
    copy, start = copy_of(bench.client), end_of(bench)
    play(bench, gate, *MOVES)
    assert bench.client.hget(keys.published(SHARD), "end") == b"%d" % end_of(bench)
    end = end_of(bench)
    fail_over(bench, copy, None if same else end)
    gate = gate if same else gate_of(bench)
    with caplog.at_level(logging.ERROR):
        play(bench, gate, MOVES[0])
        play(bench, gate, MOVES[1])
    (line,) = caplog.messages
    assert line == (
        f"ALARM: shard {SHARD} has lost {end - start} leaves from {start} on, which were accepted and "
        "not yet published, by a failover or a backup"
    )
    (loss,) = read_losses(bench.client, range(4))
    assert (loss.shard, loss.first, loss.end) == (SHARD, start, end)


def test_nothing_is_lost_while_matches_are_played_by_one_drain_after_the_other(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    for move in MOVES:
        play(bench, gate_of(bench), move)
        LossCheck(bench.client, bench.client, 4).tick()
    assert read_losses(bench.client, range(4)) == []
    assert not caplog.messages


def test_the_scheduler_notices_it_where_nobody_moves(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    now = 0.0
    check = LossCheck(bench.client, bench.client, 4, lambda: now)
    copy, start = copy_of(bench.client), end_of(bench)
    play(bench, gate_of(bench), *MOVES)
    check.tick()
    end = end_of(bench)
    fail_over(bench, copy, end)
    check.tick()
    assert not read_losses(bench.client, [SHARD])
    with caplog.at_level(logging.ERROR):
        for _ in range(2):
            now += EVERY_SECONDS
            check.tick()
        play(bench, gate_of(bench), MOVES[0])
    (line,) = caplog.messages
    assert line.startswith(f"ALARM: shard {SHARD} has lost {end - start} leaves from {start} on")


def test_leaves_that_can_be_restored_are_not_said_to_be_lost(bench: Bench) -> None:
    copy = copy_of(bench.client)
    play(bench, gate_of(bench), *MOVES)
    end = end_of(bench)
    fail_over(bench, copy, end)
    PublishedSizes(bench.client, bench.client).record(SHARD, end - 1, bytes(32))
    LossCheck(bench.client, bench.client, 4).tick()
    assert not read_losses(bench.client, [SHARD])


def test_lists_that_know_of_lost_leaves_are_rebuilt(bench: Bench) -> None:
    gate = gate_of(bench)
    before = copy_of(bench.client)
    play(bench, gate, *MOVES[:2])
    catch_up(bench.store, bench.client, [MatchListsProjection()])
    lists = copy_of(bench.client)
    end = end_of(bench)
    put_back(
        bench.client, before | {name: lists[name] for name in lists if name.startswith(b"{p:")}
    )
    bench.client.hset(keys.published(SHARD), "end", end)
    play(bench, gate, (ALICE, "m13-j7"), (BOB, "a1-a3"), (ALICE, "j7-j8"))
    assert end_of(bench) > end
    side = ProjectionWorker(bench.store, bench.client, [MatchListsProjection()])
    for _ in range(10):
        side.round()
    live = Generations(bench.client, LISTS).live()
    assert live is not None
    assert live[1].number == 2, "rebuilt once"
    side.save()
    another = ProjectionWorker(bench.store, bench.client, [MatchListsProjection()])
    another.round()
    assert Generations(bench.client, LISTS).live() == live
    assert Generations(bench.client, LISTS).all_failures(live[1]) == []
    kept = contents(bench.client)
    bench.client.delete(*bench.client.keys("{p:*"))
    catch_up(bench.store, bench.client, [MatchListsProjection()])
    assert contents(bench.client) == kept


def test_one_leaf_is_one_and_a_loss_is_forgotten_after_a_week(bench: Bench) -> None:
    LossRecord(bench.client).note(SHARD, 7, 8)
    (loss,) = read_losses(bench.client, [SHARD])
    assert loss.sentence.startswith("shard 1 has lost leaf 7, which was accepted")
    assert read_losses(bench.client, [SHARD], loss.at + SHOWN_MS - 1)
    assert not read_losses(bench.client, [SHARD], loss.at + SHOWN_MS)
