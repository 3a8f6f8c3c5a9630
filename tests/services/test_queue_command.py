"""`matchpost queue`, and the same figures in the metrics."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from prometheus_client import CollectorRegistry, generate_latest
from redis import Redis

from domain.clocks.time_control import DAY
from domain.match.commands import ResignMatch
from infra.durability.durability import Mode
from infra.health.queue_status import JobQueueStatus, LaneStatus
from infra.health.retirement_limits import ArchiveFigures
from infra.redis import keys
from infra.redis.keys import Lane
from infra.redis.rq_jobs import COMMANDS, MAIL
from infra.settings.settings import Settings
from infra.store.closed_shards import ClosedShards, rolled_back
from infra.store.jobs import LaneTurn, last_turns, note_retire_run, note_turn
from infra.store.layout import Layout
from infra.store.leases import REQUESTED
from infra.store.redis_store import RedisStore
from infra.store.rq_wakeup import enqueue_drain
from infra.store.watermarks import PublishedSizes
from infra.valkey.server import EmbeddedServer
from services.app.context import App
from services.cli import queue
from services.metrics.collector import server_figures
from tests.helpers.bench import Bench
from tests.helpers.given import BOB
from tests.helpers.served import Served, until
from tests.helpers.writes import submission

SHAPE = Layout(shards=4, lanes=2)


@pytest.fixture
def parts(valkey: EmbeddedServer, redis_client: Redis, tmp_path) -> Iterator[App]:
    settings = Settings(data=tmp_path, redis_url=valkey.url, queue_url=f"{valkey.url}?db=1")
    RedisStore(redis_client, Mode.FSYNC).create(SHAPE)
    with App(settings) as app:
        app.queue.flushdb()
        yield app


def lanes_of(parts: App) -> dict[str, LaneStatus]:
    return {lane.lane: lane for lane in parts.status().queue.lanes}


def test_lanes_show_what_waits_and_since_when_and_who_has_the_lease(parts: App) -> None:
    now = parts.store.now()
    past = RedisStore(parts.data, Mode.FSYNC, clock=lambda: now - 60_000)
    past.submit([submission(1, 1), submission(2, 1)])
    busy = SHAPE.lane_of(1)
    (idle,) = set(SHAPE.all_lanes) - {busy}
    parts.queue.set(keys.lease(busy), "token")
    parts.queue.set(keys.lease(idle), REQUESTED)
    found = lanes_of(parts)
    assert (found[str(busy)].waiting, found[str(busy)].lease) == (2, "held")
    assert found[str(busy)].oldest_ms >= 60_000
    free = found[str(idle)]
    assert (free.waiting, free.oldest_ms, free.lease, free.last) == (0, 0, "requested", None)


def test_a_turn_with_outcomes_is_noted_and_an_empty_one_is_not(parts: App) -> None:
    lane = Lane(0, 2)
    note_turn(parts.queue, lane, outcomes=412, batches=9, seconds=0.31)
    note_turn(parts.queue, lane, outcomes=0, batches=0, seconds=0.1)
    first, second = last_turns(parts.queue, SHAPE.all_lanes)
    assert isinstance(first, LaneTurn)
    assert (first.outcomes, first.batches, first.ms) == (412, 9, 310)
    assert abs(first.at - time.time_ns() // 1_000_000) < 60_000
    assert second is None
    assert 0 < parts.queue.ttl(keys.last_turn(lane)) <= 24 * 3600
    assert parts.data.exists(keys.last_turn(lane)) == 0


def test_queues_show_jobs_and_failures(parts: App) -> None:
    enqueue_drain(parts.queue, Lane(0, 2))
    parts.queue.zadd(f"rq:failed:{COMMANDS}", {"drain-0-x": time.time() + 3600})
    found = {one.name: one for one in parts.status().queue.queues}
    assert found[COMMANDS] == JobQueueStatus(COMMANDS, waiting=1, started=0, failed=1, workers=0)
    assert found[MAIL] == JobQueueStatus(MAIL, 0, 0, 0, 0)


def test_the_metrics_have_the_same_figures(parts: App) -> None:
    parts.store.submit([submission(1, 1)])
    note_turn(parts.queue, SHAPE.lane_of(1), outcomes=3, batches=1, seconds=0.5)
    with server_figures(parts, CollectorRegistry()) as registry:
        text = generate_latest(registry).decode()
    lane = f'lane="{SHAPE.lane_of(1)}"'
    assert f"matchpost_inbox_commands{{{lane}}} 1.0" in text
    assert f"matchpost_inbox_oldest_seconds{{{lane}}}" in text
    assert f"matchpost_last_turn_outcomes{{{lane}}} 3.0" in text
    assert f"matchpost_last_turn_seconds{{{lane}}} 0.5" in text
    assert f'matchpost_queue_jobs{{queue="{COMMANDS}",state="waiting"}} 0.0' in text
    assert f'matchpost_queue_workers{{queue="{COMMANDS}"}} 0.0' in text
    assert "matchpost_queue_up 1.0" in text


def test_the_metrics_say_when_the_queue_does_not_answer(parts: App, tmp_path) -> None:
    settings = Settings(
        data=tmp_path, redis_url=parts.settings.redis_url, queue_url="unix:///nowhere"
    )
    with App(settings) as lost, server_figures(lost, CollectorRegistry()) as registry:
        text = generate_latest(registry).decode()
    assert "matchpost_queue_up 0.0" in text
    assert "matchpost_inbox_commands{" not in text


def bench_of(parts: App, tmp_path: Path) -> Bench:
    """Two matches of one shard, one of which ended 50 days ago, and a third that goes on."""
    made = Bench(parts.data, tmp_path / "seeds")
    now = made.store.now()
    made.store = RedisStore(parts.data, Mode.FSYNC, clock=lambda: now - 50 * DAY)
    made.start(1)
    made.send(BOB, ResignMatch(), 1)
    made.drain()
    made.store = RedisStore(parts.data, Mode.FSYNC, clock=lambda: now - 60_000)
    made.start(5, 2)
    made.send(BOB, ResignMatch(), 5)
    made.drain()
    return made


def test_the_logs_show_what_is_published_and_how_long_the_rest_has_waited(
    parts: App, tmp_path: Path
) -> None:
    bench_of(parts, tmp_path)
    ends = [parts.data.xlen(keys.log(shard)) for shard in range(4)]
    assert min(ends[1:3]) > 0
    sizes = PublishedSizes(parts.data, parts.queue)
    sizes.record(1, ends[1] - 1, bytes(32))
    sizes.record(2, ends[2], bytes(32))
    log = parts.status().log
    assert (log.leaves, log.size, log.unpublished) == (sum(ends), sum(ends) - 1, 1)
    assert 60_000 <= log.waited_ms(parts.store.now()) < DAY
    assert (parts.status().log_faults, parts.status().closed) == ([], {})
    sizes.record_fault(2, "its key is missing")
    ClosedShards(parts.data).close(1, rolled_back(1, 9, 5))
    status = parts.status()
    assert (status.log_faults, [*status.closed]) == (["its key is missing"], [1])
    sizes.record(1, ends[1], bytes(32))
    log = parts.status().log
    assert (log.unpublished, log.waited_ms(parts.store.now())) == (0, 0)


def test_leaves_that_were_trimmed_count_as_leaves(parts: App, tmp_path: Path) -> None:
    bench_of(parts, tmp_path)
    end = parts.data.xlen(keys.log(1))
    PublishedSizes(parts.data, parts.queue).record(1, end, bytes(32))
    before = parts.status().log
    parts.data.xtrim(keys.log(1), maxlen=1, approximate=False)
    log = parts.status().log
    assert (log.leaves, log.unpublished) == (before.leaves, before.unpublished)


def test_the_archive_shows_what_is_due_and_the_last_run(parts: App, tmp_path: Path) -> None:
    bench = bench_of(parts, tmp_path)
    status = parts.status()
    assert (status.archive[:3], status.last_retirement) == ((0, 2, 1), None)
    (snapshot,) = bench.store.snapshots([1])
    assert snapshot is not None
    assert bench.store.retire([(1, snapshot.state[:32], bench.store.leaf_indexes(1))]) == [True]
    note_retire_run(parts.queue, 3, retired=9, kept=0, seconds=1.0)
    note_retire_run(parts.queue, 1, retired=1, kept=2, seconds=0.25)
    status = parts.status()
    assert status.archive == ArchiveFigures(archived=1, ended=1, late=0, oldest=None)
    last = status.last_retirement
    assert last is not None
    assert (last.shard, last.retired, last.kept) == (1, 1, 2)
    assert last.ms == 250
    assert 0 < parts.queue.ttl(keys.last_retire_run(1)) <= 30 * 24 * 3600
    assert parts.data.exists(keys.last_retire_run(1)) == 0


def test_the_metrics_have_the_logs_and_the_archive(parts: App, tmp_path: Path) -> None:
    bench_of(parts, tmp_path)
    with server_figures(parts, CollectorRegistry()) as registry:
        text = generate_latest(registry).decode()
        assert "matchpost_last_retirement" not in text
        note_retire_run(parts.queue, 1, retired=1, kept=2, seconds=0.25)
        text = generate_latest(registry).decode()
    leaves = sum(parts.data.xlen(keys.log(shard)) for shard in range(4))
    assert f"matchpost_log_leaves {leaves}.0" in text
    assert "matchpost_log_published_leaves 0.0" in text
    assert f"matchpost_log_unpublished_leaves {leaves}.0" in text
    assert "matchpost_log_unpublished_seconds 4.3" in text, "50 days"
    assert "matchpost_log_faulty_shards 0.0" in text
    assert "matchpost_closed_shards 0.0" in text
    assert "matchpost_archived_matches 0.0" in text
    assert "matchpost_ended_matches 2.0" in text
    assert "matchpost_archive_due_matches 1.0" in text
    assert "matchpost_last_retirement_timestamp_seconds" in text
    assert "matchpost_last_retirement_seconds 0.25" in text
    assert "matchpost_last_retirement_matches 1.0" in text
    assert "matchpost_last_retirement_kept 2.0" in text


def test_logs_and_archive_are_printed(parts: App, tmp_path: Path, capsys) -> None:
    bench_of(parts, tmp_path)
    note_retire_run(parts.queue, 1, retired=1, kept=2, seconds=0.25)
    queue.run(parts.settings, as_json=False, interval=None)
    *_, log, archive, scrub = capsys.readouterr().out.splitlines()
    leaves = sum(parts.data.xlen(keys.log(shard)) for shard in range(4))
    assert log.startswith(f"log      {leaves} leaves, 0 published, {leaves} not yet, for 43")
    assert archive.startswith("archive  no matches, 2 over and not in it, 1 of them due, last run ")
    assert archive.endswith(" in shard 1: 1 retired, 2 kept, 250 ms")
    assert scrub == "scrub    no matches checked in the present round"


def test_with_durability_none_nothing_is_said_to_be_late(parts: App, tmp_path: Path) -> None:
    bench_of(parts, tmp_path)
    with App(msgspec.structs.replace(parts.settings, durability=Mode.NONE)) as weak:
        assert '"log":null' in queue._as_json(weak.status())
        with server_figures(weak, CollectorRegistry()) as registry:
            text = generate_latest(registry).decode()
    assert "matchpost_log" not in text
    assert "matchpost_archived_matches 0.0" in text


def test_it_is_printed_again_each_interval(parts: App, capsys, monkeypatch) -> None:
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(queue.time, "sleep", pause)
    with pytest.raises(KeyboardInterrupt):
        queue.run(parts.settings, as_json=True, interval=5.0)
    lines = capsys.readouterr().out.splitlines()
    assert pauses == [5.0, 5.0]
    assert [len(json.loads(line)["lanes"]) for line in lines] == [2, 2]


@pytest.mark.long
def test_on_a_real_server_it_shows_the_last_turn(tmp_path) -> None:
    with Served(tmp_path / "data", {"MATCHPOST_WORKERS": "1"}) as served:
        served.do("signup alice mad-hatter", "signup bob yes-we-can", "pow2 challenge alice bob")
        until(lambda: "last turn" in served.run("queue").stdout)
        text = served.run("queue").stdout
        assert "lane 0/1" in text
        assert "1 outcome in 1 batch," in text
        assert "0 waiting, 0 started, 0 failed, 1 worker" in text
        (lane,) = json.loads(served.run("queue", "--json").stdout)["lanes"]
        assert (lane["lane"], lane["waiting"], lane["last"]["outcomes"]) == ("0/1", 0, 1)
