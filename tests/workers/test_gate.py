"""Data that have lost leaves: the gate keeps drains out, and what was lost unpublished is noticed, once."""

import logging
from pathlib import Path

import pytest
from redis import Redis

from domain.errors import Code, Refusal
from domain.match.commands import PlayMove, StartMatch
from infra.projections.buckets import LISTS
from infra.projections.generations import Generations
from infra.projections.match_list_fold import MatchListsProjection
from infra.redis import keys
from infra.store.closed_shards import ClosedKind, ClosedShards, forked
from infra.store.log_gate import LOOK_SECONDS, LogGate
from infra.store.lost_leaves import SHOWN_MS, LossRecord, read_losses
from infra.store.watermarks import PublishedSizes
from tests.helpers.bench import Bench
from tests.helpers.gateways import StoreGateway
from tests.helpers.given import ALICE, BOB
from tests.helpers.lanes import LANE
from tests.helpers.rollback import copy_of, put_back
from tests.helpers.side import catch_up, contents, settle
from workers.commands.drain import Drain
from workers.log.restore import EVERY_SECONDS, LossCheck
from workers.projections import worker
from workers.projections.worker import ProjectionWorker

MOVE = PlayMove(text="m13-m9")


DRAWN_START = StartMatch(rules="powerdrain/1", options=(), seats=(ALICE, BOB))


SHARD = 1


@pytest.fixture
def bench(redis_client: Redis, tmp_path: Path) -> Bench:
    bench = Bench(redis_client, tmp_path / "seeds")
    bench.start(1, 2)
    return bench


def gate_of(bench: Bench) -> LogGate:
    gate = LogGate(bench.client, bench.client)
    bench.store.published = gate.published
    return gate


@pytest.fixture
def gate(bench: Bench) -> LogGate:
    return gate_of(bench)


def end_of(bench: Bench, shard: int = SHARD) -> int:
    return len(bench.store.leaves(shard, 0, 1_000))


def drain(bench: Bench, gate: LogGate) -> int:
    return Drain(
        *(bench.store, bench.lanes, bench.client, LANE), seeds=bench.seeds, gate=gate
    ).run()


@pytest.mark.parametrize("kind", [ClosedKind.ROLLED_BACK, ClosedKind.FORKED])
def test_a_drain_decides_nothing_in_a_shard_that_lacks_published_leaves_or_is_closed(
    bench, gate, caplog, kind
):
    end, closed = end_of(bench), ClosedShards(bench.client)
    gate.look(range(4))
    lost, other = bench.send(ALICE, MOVE, 1), bench.send(ALICE, MOVE, 2)
    if kind is ClosedKind.FORKED:
        closed.close(SHARD, forked(SHARD, 7))
        caplog.clear()  # the alarm was logged when it was closed
    else:
        PublishedSizes(bench.client, bench.client).record(SHARD, end + 3, bytes(32))
        gate = gate_of(bench)
    with caplog.at_level(logging.ERROR):
        assert drain(bench, gate) == 1
        assert drain(bench, gate) == 0
    assert bench.outcome(other).accepted
    assert bench.outcome(lost) is None
    assert end_of(bench) == end
    assert bench.store.inbox_size([SHARD]) == 1
    assert gate.closed_among([SHARD, SHARD + 1]) == {SHARD}
    alarm = f"ALARM: shard {SHARD} is closed: {end + 3} leaves are published"
    alarms = [line[: len(alarm)] for line in caplog.messages]
    assert alarms == [alarm] * (kind is ClosedKind.ROLLED_BACK)
    assert {shard: one.kind for shard, one in closed.read(range(4)).items()} == {SHARD: kind}


def test_the_commit_itself_is_refused_when_data_are_rolled_back_after_the_last_look(bench, gate):
    gate.closed_among(range(4))
    lost = bench.send(ALICE, MOVE)
    made = Drain(*(bench.store, bench.lanes, bench.client, LANE), seeds=bench.seeds, gate=gate)
    # as if another process had published in the meantime, and then the data went back
    bench.store.published = lambda shard: end_of(bench) + 1 if shard == SHARD else 0
    assert made.run() == 0
    assert bench.outcome(lost) is None
    assert SHARD in ClosedShards(bench.client).read(range(4))


def test_a_refused_commit_closes_no_shard_that_is_opened_meanwhile(bench):
    now = 0.0
    gate = LogGate(bench.client, bench.client, lambda: now)
    gate.note_closed(SHARD)
    assert gate.closed_among([SHARD]) == {SHARD}
    now += LOOK_SECONDS
    assert gate.closed_among([SHARD]) == set()
    assert ClosedShards(bench.client).read([SHARD]) == {}


def test_a_draw_in_a_shard_that_lacks_published_leaves_makes_no_chain(bench, gate):
    bench.send(ALICE, DRAWN_START, 5)
    bench.drain()
    before = copy_of(bench.client)
    bench.send(ALICE, DRAWN_START, 9)
    bench.drain()
    size = end_of(bench)
    put_back(bench.client, before)
    files = sorted(bench.seeds._folder.iterdir())
    PublishedSizes(bench.client, bench.client).record(SHARD, size, bytes(32))
    bench.send(ALICE, DRAWN_START, 13)
    assert drain(bench, gate) == 0
    assert sorted(bench.seeds._folder.iterdir()) == files
    assert SHARD in ClosedShards(bench.client).read([SHARD])


def test_a_size_that_was_seen_is_not_forgotten_with_the_queue_server(bench):
    now = 0.0
    gate = LogGate(bench.client, bench.client, lambda: now)
    PublishedSizes(bench.client, bench.client).record(SHARD, end_of(bench), bytes(32))
    assert gate.look([SHARD]) == set()
    bench.client.delete(keys.published(SHARD), keys.log(SHARD))
    assert gate.look([SHARD]) == set(), "what was read a moment ago is used"
    now += LOOK_SECONDS
    assert gate.look([SHARD, SHARD + 1]) == {SHARD}
    ClosedShards(bench.client).open(SHARD)
    bench.start(1)
    assert gate.closed_among([SHARD]) == {SHARD}
    now += LOOK_SECONDS
    assert gate.closed_among([SHARD]) == set()


def test_a_closed_shard_refuses_commands_and_shows_its_matches(bench):
    played = bench.send(ALICE, MOVE)
    bench.drain()
    ClosedShards(bench.client).close(SHARD, forked(SHARD, 7))
    with StoreGateway(bench.store, bench.lanes, bench.client) as gateway:
        with pytest.raises(Refusal) as refused:
            gateway.send(bench.order(ALICE, MOVE), 0, 0)
        assert refused.value.code is Code.UNAVAILABLE
        assert gateway.send(played, 0, 0).accepted, "an outcome that is stored is returned"
    assert bench.store.inbox_size([SHARD]) == 0
    assert bench.state().ply == 1


MOVES = ((ALICE, "m13-m9"), (BOB, "a1-a2"), (ALICE, "m9-m7"))


def play(bench: Bench, gate: LogGate, *moves: tuple[bytes, str]) -> None:
    """Send commands to the match of the shard, and decide them."""
    for account, text in moves:
        bench.send(account, PlayMove(text=text))
    drain = Drain(*(bench.store, bench.lanes, bench.client, LANE), seeds=bench.seeds, gate=gate)
    assert drain.run() == len(moves)


class Lost:
    """Leaves that were accepted, not published, and lost by a failover."""

    def __init__(self, bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
        self.bench, self.client = bench, bench.client
        caplog.set_level(logging.ERROR)
        self._caplog = caplog
        copy, self.start = copy_of(self.client), end_of(bench)
        self.gate = gate_of(bench)
        play(bench, self.gate, *MOVES)
        self.end = end_of(bench)
        assert self.client.hget(keys.published(SHARD), "end") == b"%d" % self.end
        self.fail_over = lambda: put_back(self.client, copy)

    def is_known(self) -> None:
        """Assert that it was noted and said once."""
        (line,) = self._caplog.messages
        assert line == (
            f"ALARM: shard {SHARD} has lost {self.end - self.start} leaves from {self.start} on, "
            "which were accepted and not yet published, by a failover or a backup"
        )
        (loss,) = read_losses(self.client, range(4))
        assert (loss.shard, loss.first, loss.end) == (SHARD, self.start, self.end)


@pytest.fixture
def lost(bench: Bench, caplog: pytest.LogCaptureFixture) -> Lost:
    return Lost(bench, caplog)


@pytest.mark.parametrize("same", [True, False])
def test_a_drain_notices_that_indexes_are_used_again(lost, same):
    """The drain that wrote the lost leaves, or one of another process, which has read where they ended."""
    lost.fail_over()
    if same:
        lost.client.hdel(keys.published(SHARD), "end")
    else:
        lost.client.hset(keys.published(SHARD), "end", lost.end)
        lost.gate = gate_of(lost.bench)
    play(lost.bench, lost.gate, MOVES[0])
    play(lost.bench, lost.gate, MOVES[1])
    lost.is_known()


def test_the_scheduler_notices_it_where_nobody_moves(lost):
    now = 0.0
    check = LossCheck(lost.client, lost.client, 4, lambda: now)
    check.tick()
    lost.fail_over()
    lost.client.hset(keys.published(SHARD), "end", lost.end)
    check.tick()
    assert not read_losses(lost.client, [SHARD])
    for _ in range(2):
        now += EVERY_SECONDS
        check.tick()
    play(lost.bench, gate_of(lost.bench), MOVES[0])
    lost.is_known()


def test_leaves_that_can_be_restored_are_not_said_to_be_lost(lost):
    lost.fail_over()
    lost.client.hset(keys.published(SHARD), "end", lost.end)
    PublishedSizes(lost.client, lost.client).record(SHARD, lost.end - 1, bytes(32))
    LossCheck(lost.client, lost.client, 4).tick()
    assert not read_losses(lost.client, [SHARD])


def test_one_leaf_is_one_and_a_loss_is_forgotten_after_a_week(bench):
    LossRecord(bench.client).note(SHARD, 7, 8)
    (loss,) = read_losses(bench.client, [SHARD])
    assert loss.sentence.startswith("shard 1 has lost leaf 7, which was accepted")
    assert read_losses(bench.client, [SHARD], loss.at + SHOWN_MS - 1)
    assert not read_losses(bench.client, [SHARD], loss.at + SHOWN_MS)


def lose_moves_that_lists_know(bench: Bench, gate: LogGate) -> int:
    """Take back two moves that the lists have read; return where the log ended with them."""
    before = copy_of(bench.client)
    play(bench, gate, *MOVES[:2])
    catch_up(bench.store, bench.client, [MatchListsProjection()])
    lists = copy_of(bench.client)
    end = end_of(bench)
    put_back(
        bench.client, before | {name: lists[name] for name in lists if name.startswith(b"{p:")}
    )
    return end


def test_lists_that_know_of_lost_leaves_are_rebuilt(bench):
    gate = gate_of(bench)
    end = lose_moves_that_lists_know(bench, gate)
    bench.client.hset(keys.published(SHARD), "end", end)
    play(bench, gate, (ALICE, "m13-j7"), (BOB, "a1-a3"), (ALICE, "j7-j8"))
    assert end_of(bench) > end
    side = ProjectionWorker(bench.store, bench.client, [MatchListsProjection()])
    for _ in range(10):
        side.round()
    live = Generations(bench.client, LISTS).live()
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


def test_lists_are_rebuilt_before_the_log_of_lost_leaves_has_grown_as_long_again(bench):
    gate = gate_of(bench)
    end = lose_moves_that_lists_know(bench, gate)
    LossRecord(bench.client).note(SHARD, end_of(bench), end)
    bench.send(ALICE, MOVE, 2)
    assert drain(bench, gate) == 1
    assert end_of(bench) < end
    side = ProjectionWorker(bench.store, bench.client, [MatchListsProjection()])
    for _ in range(10):
        side.round()
    assert Generations(bench.client, LISTS).live()[1].number == 2
    side.save()
    kept = contents(bench.client)
    bench.client.delete(*bench.client.keys("{p:*"))
    catch_up(bench.store, bench.client, [MatchListsProjection()])
    assert contents(bench.client) == kept


def test_a_loss_is_looked_for_often_in_the_shards_whose_logs_grow(bench, monkeypatch):
    for name in ("LOSSES_SECONDS", "RETRY_SECONDS"):
        monkeypatch.setattr(worker, name, 0.0)
    side = catch_up(bench.store, bench.client, [MatchListsProjection()])
    LossRecord(bench.client).note(SHARD, 7, 8)
    settle(side)
    assert Generations(bench.client, LISTS).live()[1].number == 1, "not grown, once a minute"
    bench.send(ALICE, MOVE, 1)
    assert drain(bench, gate_of(bench)) == 1
    settle(side)
    assert Generations(bench.client, LISTS).live()[1].number == 2
