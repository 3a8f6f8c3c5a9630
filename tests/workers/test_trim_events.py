"""Trimming events of matches that are published: every reader reads what it read before."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from domain.errors import Code, Refusal
from domain.match.commands import MakeOffer, PlayMove, ResignMatch
from domain.match.events import is_event
from infra.archive.archive import Archive
from infra.archive.async_store import AsyncStoreWithArchive
from infra.archive.objects import open_archive
from infra.archive.store import StoreWithArchive
from infra.audit.stored_match import check
from infra.durability import Mode
from infra.failpoints import FAILPOINTS
from infra.log.key_files import generate_keys
from infra.log.published_logs import PublishedLogs
from infra.redis import keys
from infra.redis.autopipeline import AutoPipeline
from infra.redis.clients import make_async_client
from infra.settings import Settings
from infra.store.closed_shards import ClosedShards
from infra.store.discarded_leaves import discard, find_discarded
from infra.store.layout import Layout
from infra.store.log_gate import read_ends
from infra.store.published_sizes import PublishedSizes, read_published_sizes
from infra.store.redis_store import RedisStore
from infra.store.trimmed_leaves import TrimmedLeavesError
from infra.valkey.server import EmbeddedServer
from tests.helpers.bench import Bench
from tests.helpers.corpus import Corpus
from tests.helpers.given import ALICE, BOB
from tests.helpers.rollback import copy_of, put_back
from tests.helpers.side import catch_up
from workers import retire_job
from workers.log.job import make_publisher
from workers.log.trim_events import EventTrimmer

SHARDS = 4
BOARDS = (1, 2, 5)
MOVES = ("m13-j7", "a13-d7", "m1-i3")
POINTS = [point for point in FAILPOINTS if point.startswith("trim.")]


class EventBench:
    """Matches whose events are published and trimmed by hand."""

    def __init__(self, bench: Bench, settings: Settings) -> None:
        self.bench = bench
        self.client: Redis = bench.client
        self.settings = settings
        generate_keys(settings.data / "keys", "example.org")

    def play(self, *boards: int) -> None:
        """Play three moves, of which the second is refused before it is right."""
        self.bench.start(*boards)
        for board in boards:
            for actor, move in zip((ALICE, BOB, ALICE), MOVES, strict=True):
                self.bench.send(actor, PlayMove(text="a1-a2"), board)
                self.bench.send(actor, PlayMove(text=move), board)
        self.bench.drain()

    def publish(self, **settings: Any) -> None:
        """Publish all leaves."""
        changed = Settings(**{**self._fields, **settings})
        publisher = make_publisher(changed, self.client, self.client)
        publisher.begin()
        while publisher.round(0):
            pass
        publisher.begin()

    @property
    def _fields(self) -> dict[str, Any]:
        return {name: getattr(self.settings, name) for name in Settings.__struct_fields__}

    def trim(self, bundle: int = 1) -> int:
        """Trim events; return how many were removed."""
        return EventTrimmer(self.client, PublishedLogs(self.settings).of, bundle).trim(SHARDS, 1e9)

    def store(self) -> StoreWithArchive:
        """A store that has read nothing yet."""
        return StoreWithArchive(self.client, Mode.FSYNC, self.archive())

    def archive(self) -> Archive:
        return Archive(lambda: open_archive(self.settings), lambda: SHARDS)

    def in_redis(self, board: int) -> list[bytes]:
        found: Any = self.client.lrange(keys.events(board % SHARDS, board), 0, -1)
        return list(found)

    def histories(self) -> Mapping[int, list[bytes]]:
        return {board: self.store().events(board) for board in BOARDS}


@pytest.fixture
def matches(bench: Bench, valkey: EmbeddedServer, tmp_path: Path) -> EventBench:
    """Three matches of four events, published."""
    settings = Settings(data=tmp_path, redis_url=valkey.url, queue_url=valkey.url)
    made = EventBench(bench, settings)
    made.play(*BOARDS)
    made.publish()
    return made


class InLoop:
    """The store of event loops."""

    def __init__(self, runner: asyncio.Runner, url: str, archive: Archive) -> None:
        self.runner = runner
        self._client = make_async_client(url)
        self._pipe = AutoPipeline(self._client)
        layout = Layout(SHARDS, 1)
        self.store = AsyncStoreWithArchive(self._pipe, layout, 1_000, archive)

    def close(self) -> None:
        async def close() -> None:
            await self._pipe.__aexit__(None, None, None)
            await self._client.aclose()

        self.runner.run(close())

    def events(self, board: int, start: int) -> list[bytes]:
        return self.runner.run(self.store.events(board, start))

    def counts(self, *boards: int) -> list[int]:
        return self.runner.run(self.store.event_counts(boards))


@pytest.fixture
def in_loop(matches: EventBench, valkey: EmbeddedServer) -> Iterator[InLoop]:
    with asyncio.Runner() as runner:
        made = InLoop(runner, valkey.url, matches.archive())
        yield made
        made.close()


def test_the_first_and_the_last_event_stay_and_all_is_read_as_before(matches, in_loop):
    before = matches.histories()
    sizes = [len(events) for events in before.values()]
    assert matches.trim() == sum(size - 2 for size in sizes)
    for board, events in before.items():
        mark = b"#%d" % (len(events) - 2)
        assert matches.in_redis(board) == [events[0], mark, events[-1]]
        for start in range(1, len(events) + 3):
            assert in_loop.events(board, start) == events[start - 1 :]
    assert matches.histories() == before
    assert in_loop.counts(*BOARDS, 9) == [*sizes, 0]
    assert matches.store().first_events(BOARDS) == [events[0] for events in before.values()]
    assert matches.trim() == 0


def test_a_match_goes_on_and_is_trimmed_between_its_moves(matches, in_loop):
    bench = matches.bench
    for actor, command in (
        (BOB, MakeOffer(kind="draw")),
        (BOB, PlayMove(text="a1-a2")),
        (BOB, ResignMatch()),
    ):
        matches.trim()
        bench.send(actor, command, 5)
        bench.drain()
        matches.publish()
        leaves = bench.store.leaves_at(1, bench.store.leaf_indexes(5))
        events = [leaf for leaf in leaves if leaf is not None and is_event(leaf)]
        assert matches.store().events(5) == in_loop.events(5, 1) == events
        assert in_loop.counts(5) == [len(events)]
        assert check(matches.store(), 5).startswith(f"match 5 holds: {len(events)} events")
    assert len(matches.in_redis(5)) < len(events)


def test_events_in_a_bundle_that_is_not_full_stay(matches):
    before = matches.histories()
    assert matches.trim(bundle=256) == 0
    assert {board: matches.in_redis(board) for board in BOARDS} == before


def test_the_setting_trims_with_each_run_of_the_publisher(matches):
    corpus = Corpus(matches.bench, players=10, matches=40)
    while min(matches.bench.store.watermark().ends) < 300:
        corpus.step()
    matches.publish()
    assert matches.trim(bundle=1 << 40) == 0
    boards = [board for board in range(1, 60) if matches.in_redis(board) and board not in BOARDS]
    before = {board: matches.store().events(board) for board in boards}
    assert all(matches.in_redis(board) == events for board, events in before.items())
    matches.publish(keep_events="unpublished")
    kept = sum(len(matches.in_redis(board)) for board in boards)
    assert kept < sum(map(len, before.values()))
    assert {board: matches.store().events(board) for board in boards} == before
    ends = [one.trimmed_events for one in read_published_sizes(matches.client, SHARDS)]
    assert ends == [one.size // 256 * 256 for one in read_published_sizes(matches.client, SHARDS)]
    # with the default again, nothing more is trimmed, and what was is read as before
    corpus.step()
    matches.publish()
    assert ends == [one.trimmed_events for one in read_published_sizes(matches.client, SHARDS)]
    for board, events in before.items():
        assert matches.store().events(board)[: len(events)] == events
        assert check(matches.store(), board)


def test_a_trimmed_match_retires_and_is_the_same_in_the_archive(matches):
    before = matches.histories()
    for board in BOARDS:
        matches.bench.send(BOB, ResignMatch(), board)
    matches.bench.drain()
    matches.publish()
    full = matches.histories()
    matches.trim()
    catch_up(matches.bench.store, matches.client)
    done = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retire_job, "DAY", 0)
        for shard in (1, 2):
            done += retire_job.run(
                matches.settings, matches.store(), matches.client, matches.client, shard
            )
    assert done == len(BOARDS)
    assert [matches.in_redis(board) for board in BOARDS] == [[]] * 3
    assert matches.histories() == full
    assert all(full[board][: len(events)] == events for board, events in before.items())


def test_without_its_object_store_a_match_goes_on_and_its_history_is_unavailable(
    matches, in_loop, tmp_path
):
    before = matches.histories()
    matches.trim()
    (tmp_path / "log").rename(tmp_path / "away")
    for read in (lambda: matches.store().events(1), lambda: in_loop.events(1, 2)):
        with pytest.raises(Refusal, match="the archive can't be read now") as refused:
            read()
        assert refused.value.code == Code.UNAVAILABLE
    last = len(before[1])
    assert in_loop.events(1, last) == before[1][-1:]
    move = matches.bench.send(BOB, ResignMatch(), 1)
    matches.bench.drain()
    outcome = matches.bench.outcome(move)
    assert outcome is not None
    assert (outcome.code, outcome.seq) == ("", last + 1)
    with pytest.raises(TrimmedLeavesError, match="events 2 to 3 of match 1 were trimmed"):
        RedisStore(matches.client, Mode.FSYNC).events(1)
    (tmp_path / "away").rename(tmp_path / "log")
    assert matches.store().events(1)[:last] == before[1]


def test_published_events_that_do_not_fit_are_damaged_and_others_go_on(matches, tmp_path, caplog):
    before = matches.histories()
    matches.trim()
    (bundle,) = (tmp_path / "log" / "s02" / "tile" / "entries").rglob("000.p/*")
    bundle.chmod(0o600)
    whole = bundle.read_bytes()
    bundle.write_bytes(whole.replace(b"a13-d7", b"a13-d8"))
    assert bundle.read_bytes() != whole
    with pytest.raises(Refusal) as refused:
        matches.store().events(2)
    assert refused.value.code == Code.DAMAGED
    assert "events 2 to 3 in the published log do not fit those in Redis" in caplog.text
    assert matches.store().events(1) == before[1]


def test_nothing_is_trimmed_that_the_object_store_does_not_have(matches, tmp_path, caplog):
    before = matches.histories()
    (tmp_path / "log" / "s01").rename(tmp_path / "away")
    matches.trim()
    assert matches.in_redis(1) == before[1]
    assert matches.in_redis(2) != before[2]
    assert "the events of shard 1 stay in Redis for now" in caplog.text


def test_a_shard_that_contradicts_what_is_published_keeps_everything(matches):
    before = matches.histories()
    PublishedSizes(matches.client, matches.client).record_fault(1, "another history")
    matches.trim()
    assert matches.in_redis(1) == before[1]
    assert matches.in_redis(2) != before[2]


def test_a_key_of_another_type_stops_no_other_match(matches):
    matches.client.delete(keys.events(1, 1))
    matches.client.set(keys.events(1, 1), "damaged")
    before = matches.store().events(5)
    matches.trim()
    assert matches.in_redis(5) != before
    assert matches.store().events(5) == before


@pytest.mark.parametrize("trimmed_before", [True, False], ids=["trimmed copy", "whole copy"])
def test_data_that_went_back_are_restored_and_trimmed_again(
    matches, monkeypatch, *, trimmed_before
):
    monkeypatch.setattr("workers.log.recovery.LOOK_SECONDS", 0.0)
    if trimmed_before:
        matches.trim()
    copy = copy_of(matches.client)
    matches.bench.send(BOB, PlayMove(text="a13-d7"), 1)
    matches.bench.send(BOB, ResignMatch(), 1)
    matches.bench.drain()
    matches.publish()
    matches.trim()
    before = matches.histories()
    put_back(matches.client, copy)
    publisher = make_publisher(matches.settings, matches.client, matches.client)
    publisher.begin()
    assert ClosedShards(matches.client).read([1])
    while ClosedShards(matches.client).read([1]):
        publisher.round(0)
    assert matches.histories() == before
    matches.trim()
    assert matches.histories() == before
    assert len(matches.in_redis(1)) == 3
    assert check(matches.store(), 1)


def test_leaves_that_are_discarded_take_their_events_along(matches):
    store = RedisStore(
        matches.client, Mode.FSYNC, open_logs=lambda: PublishedLogs(matches.settings)
    )
    before = matches.histories()
    matches.trim()
    (end,) = read_ends(matches.client, [1])
    matches.bench.send(BOB, ResignMatch(), 1)
    matches.bench.drain()
    discard(matches.client, store, find_discarded(matches.client, store, 1, end), end)
    assert matches.in_redis(1) == before[1]
    assert matches.histories() == before
    matches.trim()
    assert matches.histories() == before


@pytest.mark.parametrize("point", POINTS)
def test_a_kill_between_loses_and_doubles_nothing(matches, point):
    before = matches.histories()
    program = (
        "import redis, sys; from pathlib import Path; from infra.settings import Settings;"
        "from infra.log.published_logs import PublishedLogs;"
        "from workers.log.trim_events import EventTrimmer;"
        "settings = Settings(data=Path(sys.argv[1]));"
        "client = redis.Redis.from_url(sys.argv[2]);"
        f"EventTrimmer(client, PublishedLogs(settings).of, 1).trim({SHARDS})"
    )
    words = [sys.executable, "-c", program, matches.settings.data, matches.settings.redis_url]
    environment = {**os.environ, "MATCHPOST_FAULT": f"{point}:1"}
    killed = subprocess.run(words, env=environment, timeout=120, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert matches.histories() == before
    assert [one.trimmed_events for one in read_published_sizes(matches.client, SHARDS)] == [0] * 4
    matches.trim()
    assert matches.histories() == before
    assert all(len(matches.in_redis(board)) == 3 for board in BOARDS)
