"""The gate: drains and gateways when data have lost published leaves."""

import logging
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from domain.errors import Code, Refusal
from domain.match.commands import PlayMove, StartMatch
from infra.redis import keys
from infra.redis.clients import make_client
from infra.store.closed_shards import ClosedKind, ClosedShards, forked
from infra.store.log_gate import LOOK_SECONDS, LogGate
from infra.store.watermarks import PublishedSizes
from tests.helpers.bench import Bench
from tests.helpers.gateways import StoreGateway
from tests.helpers.given import ALICE, BOB
from tests.helpers.lanes import LANE
from tests.helpers.rollback import copy_of, put_back
from workers.commands.drain import Drain

MOVE = PlayMove(text="m13-m9")
DRAWN_START = StartMatch(rules="powerdrain/1", options=(), seats=(ALICE, BOB))
SHARD = 1


@pytest.fixture
def bench(redis_client: Redis, tmp_path: Path) -> Bench:
    bench = Bench(redis_client, tmp_path / "seeds")
    bench.start(1, 2)
    return bench


@pytest.fixture
def gate(bench: Bench) -> LogGate:
    gate = LogGate(bench.client, bench.client)
    bench.store.published = gate.published
    return gate


def end_of(bench: Bench, shard: int = SHARD) -> int:
    return len(bench.store.leaves(shard, 0, 1_000))


def drain(bench: Bench, gate: LogGate) -> int:
    return Drain(
        *(bench.store, bench.lanes, bench.client, LANE), seeds=bench.seeds, gate=gate
    ).run()


def test_a_drain_decides_nothing_in_a_shard_that_lacks_published_leaves(
    bench: Bench, gate: LogGate, caplog: pytest.LogCaptureFixture
) -> None:
    end = end_of(bench)
    PublishedSizes(bench.client, bench.client).record(SHARD, end + 3, bytes(32))
    lost, other = bench.send(ALICE, MOVE, 1), bench.send(ALICE, MOVE, 2)
    with caplog.at_level(logging.ERROR):
        assert drain(bench, gate) == 1
        assert drain(bench, gate) == 0
    assert bench.outcome(other).accepted
    assert bench.outcome(lost) is None
    assert end_of(bench) == end
    assert bench.store.inbox_size([SHARD]) == 1
    (line,) = caplog.messages
    assert line.startswith(f"ALARM: shard {SHARD} is closed: {end + 3} leaves are published")
    found = ClosedShards(bench.client).read(range(4))
    assert {shard: one.kind for shard, one in found.items()} == {SHARD: ClosedKind.ROLLED_BACK}


def test_the_commit_itself_is_refused_when_data_are_rolled_back_after_the_last_look(
    bench: Bench, gate: LogGate
) -> None:
    gate.closed_among(range(4))
    lost = bench.send(ALICE, MOVE)
    made = Drain(*(bench.store, bench.lanes, bench.client, LANE), seeds=bench.seeds, gate=gate)
    # as if another process had published in the meantime, and then the data went back
    bench.store.published = lambda shard: end_of(bench) + 1 if shard == SHARD else 0
    assert made.run() == 0
    assert bench.outcome(lost) is None
    assert SHARD in ClosedShards(bench.client).read(range(4))


def test_a_shard_that_is_closed_after_a_command_came_commits_nothing(
    bench: Bench, gate: LogGate, caplog: pytest.LogCaptureFixture
) -> None:
    gate.look(range(4))
    lost, other = bench.send(ALICE, MOVE, 1), bench.send(ALICE, MOVE, 2)
    end = end_of(bench)
    closed = ClosedShards(bench.client)
    closed.close(SHARD, forked(SHARD, 7))
    caplog.clear()
    assert drain(bench, gate) == 1
    assert bench.outcome(other).accepted
    assert bench.outcome(lost) is None
    assert end_of(bench) == end
    assert gate.closed_among([SHARD, SHARD + 1]) == {SHARD}
    assert caplog.messages == [], "an alarm was logged when it was closed"
    assert closed.read([SHARD])[SHARD].kind is ClosedKind.FORKED


def test_a_refused_commit_closes_no_shard_that_is_opened_meanwhile(bench: Bench) -> None:
    now = 0.0
    gate = LogGate(bench.client, bench.client, lambda: now)
    gate.note_closed(SHARD)
    assert gate.closed_among([SHARD]) == {SHARD}
    now += LOOK_SECONDS
    assert gate.closed_among([SHARD]) == set()
    assert ClosedShards(bench.client).read([SHARD]) == {}


def test_a_draw_in_a_shard_that_lacks_published_leaves_makes_no_chain(
    bench: Bench, gate: LogGate
) -> None:
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


def test_a_size_that_was_seen_is_not_forgotten_with_the_queue_server(bench: Bench) -> None:
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


def test_what_is_published_while_the_server_of_the_data_dies_is_known_to_its_successor(
    bench: Bench, gate: LogGate
) -> None:
    with make_client("redis://127.0.0.1:1") as dead, pytest.raises(RedisConnectionError):
        PublishedSizes(dead, bench.client).record(SHARD, end_of(bench) + 3, bytes(32))
    assert gate.look([SHARD]) == {SHARD}


def test_a_closed_shard_refuses_commands_and_shows_its_matches(bench: Bench) -> None:
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


def test_a_forked_shard_is_not_called_rolled_back(bench: Bench) -> None:
    closed = ClosedShards(bench.client)
    closed.close(SHARD, forked(SHARD, 7))
    PublishedSizes(bench.client, bench.client).record(SHARD, end_of(bench) + 1, bytes(32))
    LogGate(bench.client, bench.client).closed_among([SHARD])
    assert closed.read([SHARD])[SHARD].kind is ClosedKind.FORKED
    closed.open(SHARD)
    assert closed.read([SHARD]) == {}
