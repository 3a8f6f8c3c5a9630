"""A rebuild by several processes makes what the live worker has made, whichever process is killed, and while people play."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
import redis
from redis import Redis

from domain.match.commands import PlayMove, ResignMatch, StartMatch
from infra.durability.durability import Mode
from infra.projections.buckets import LISTS, SCORES, STANDINGS, TOURNAMENTS, Bucket
from infra.projections.erasure import erase_projections
from infra.projections.generations import BusyError
from infra.projections.projection import Fact
from infra.projections.reorder import OrderedProjection
from infra.redis import keys
from infra.redis.clients import make_client
from infra.settings.game_packages import load_games
from infra.store.port import Store
from infra.store.redis_store import RedisStore
from tests.helpers.bench import Bench
from tests.helpers.corpus import Corpus
from tests.helpers.given import ALICE, BOB, CAROL
from tests.helpers.leaves import replace_leaf
from tests.helpers.rollback import names_of
from tests.helpers.side import catch_up, contents
from workers.projections import PROJECTIONS, feed, maintenance, processes, shards
from workers.projections.feed import Feed
from workers.projections.log_reader import LogReader
from workers.projections.processes import ShardProcesses
from workers.projections.rebuild import Rebuild, StuckError
from workers.projections.shards import fold_shard, tracks_of_shard

CHUNK = 10
"""Leaves that are folded together here, so that each shard has several chunks."""


@contextmanager
def open_parts(
    url: str, dying: str = "", folder: Path = Path()
) -> Iterator[tuple[Store, redis.Redis]]:
    """Open the parts of a process; the first to come there is killed `before` or `after` its second write."""
    load_games()
    processes.CHUNK = CHUNK  # type: ignore[misc]
    if dying:
        die_once(dying, folder / "killed")
    with make_client(url) as client:
        yield RedisStore(client, Mode.FSYNC), client


def die_once(when: str, mark: Path) -> None:
    write, calls = feed.make_changes, iter(range(1 << 30))

    def make_changes(*words):  # type: ignore[no-untyped-def]
        second = next(calls) == 2
        replies = write(*words) if when == "after" or not second else []
        if second:
            try:
                mark.touch(exist_ok=False)
            except FileExistsError:
                return replies or write(*words)
            os.kill(os.getpid(), signal.SIGKILL)
        return replies

    feed.make_changes = make_changes


class Report:
    """What a rebuild says; `during` is called after each step by which it comes further."""

    def __init__(self, during: Callable[[], object] = lambda: None) -> None:
        self.steps: list[tuple[str, int, int]] = []
        self.lines: list[str] = []
        self._during = during

    def progress(self, about: str, done: int, total: int) -> None:
        self.steps.append((about, done, total))
        self._during()

    def line(self, text: str) -> None:
        self.lines.append(text)


@pytest.fixture
def corpus(bench: Bench) -> Corpus:
    """Matches of all games by chance, with disputes, of which the live worker has made lists."""
    made = Corpus(bench, seed=5, matches=30)
    while made.leaves() < 240:
        made.step()
    return made


def data_of(bench: Bench) -> dict[str, object]:
    """All that is read of the projections; a rebuild counts its leaves in other steps."""
    return {name: one for name, one in contents(bench.client).items() if not name.endswith(":at")}


def rebuild(
    bench: Bench, url: str, count: int, report: Report, buckets: int | None = None, **dying: object
) -> None:
    helpers = ShardProcesses(partial(open_parts, url, **dying), count)
    maintenance.rebuild(
        bench.store, bench.client, list(PROJECTIONS), report, buckets, processes=helpers
    )


@pytest.mark.parametrize("when", [pytest.param("before", marks=pytest.mark.long), "after"])
def test_several_processes_build_what_the_live_worker_has_made_though_one_is_killed(
    bench, bench_url, corpus, tmp_path, caplog, when
):
    del corpus
    catch_up(bench.store, bench.client, buckets=3)
    before, report = data_of(bench), Report()
    rebuild(bench, bench_url, 3, report, dying=when, folder=tmp_path)
    assert (tmp_path / "killed").exists()
    assert "has ended with exit code -9; another one goes on where it was" in caplog.text
    assert data_of(bench) == before
    assert len(report.lines) == len(PROJECTIONS)
    together = [done for about, done, _ in report.steps if about == "leaves, by 3 processes"]
    assert together == sorted(together)
    assert any(0 < done < together[-1] for done in together)
    assert together[-1] == report.steps[-1][2]
    assert names_of(bench.client, "{p:*:at:*") == [], "each bucket has one checkpoint again"
    assert multiprocessing.active_children() == []


@pytest.mark.long
def test_processes_that_always_end_are_given_up(bench, bench_url, corpus, capfd):
    del corpus
    helpers = ShardProcesses(partial(open_parts, f"{bench_url}-of-nobody"), 2)
    with pytest.raises(
        StuckError, match=r"the process that read shard \d has ended with exit code 1, and so"
    ):
        maintenance.rebuild(
            bench.store, bench.client, list(PROJECTIONS), Report(), processes=helpers
        )
    assert "Error" in capfd.readouterr().err
    assert names_of(bench.client, "{p:*:at*") == []


def test_a_leaf_that_can_not_be_folded_is_named(bench, bench_url):
    bench.start(1, 2, 5, 6)
    (index,) = bench.store.leaf_indexes(6)
    replace_leaf(bench.client, 2, index, b"\x98 what is no event")
    with pytest.raises(StuckError, match=f"stop at leaf {index} of shard 2: "):
        rebuild(bench, bench_url, 2, Report())
    assert names_of(bench.client, "{p:*:at*") == []
    assert multiprocessing.active_children() == []


def test_who_was_overtaken_in_a_shared_bucket_folds_again(bench, corpus):
    del corpus
    shared = (SCORES, STANDINGS, TOURNAMENTS)
    chosen = [one for one in PROJECTIONS if one.spec in shared]
    assert [one.spec for one in PROJECTIONS if not one.shards_apart] == [*shared]
    catch_up(bench.store, bench.client)
    before = data_of(bench)
    rebuilds = [Rebuild(bench.store, bench.client, one) for one in chosen]
    built = [(one.projection, one.generation) for one in rebuilds]
    ends = rebuilds[0].goal.ends
    # both have read the checkpoints before either writes
    turns = [
        fold_shard(
            Feed(bench.store, bench.client, CHUNK),
            tracks_of_shard(bench.client, built, shard),
            shard,
            ends,
        )
        for shard in range(len(ends))
    ]
    while turns:
        turns = [turn for turn in turns if next(turn, None) is not None]
    for one in rebuilds:
        one.unite()
        assert all(track.position.counts == ends for track in one.tracks)
        assert one.promote(Feed(bench.store, bench.client))
    assert data_of(bench) == before


def test_an_account_that_is_deleted_meanwhile_gets_no_lists(bench):
    bench.start(900)
    (projection,) = (one for one in PROJECTIONS if one.spec == LISTS)
    started = Rebuild(bench.store, bench.client, projection)
    started.divide()
    built = [(projection, started.generation)]
    shard = keys.shard_of(900, 4)
    reader = Feed(bench.store, bench.client, CHUNK)
    tracks = tracks_of_shard(bench.client, built, shard)
    erase_projections(bench.client, ALICE)
    # its process has read the checkpoint before, and must not write by it
    for _ in fold_shard(reader, tracks, shard, started.goal.ends):
        pass
    bucket: Bucket = started.generation.bucket(0)
    assert bench.client.exists(bucket.key(f"active:{BOB.hex()}"))
    assert not bench.client.exists(bucket.key(f"active:{ALICE.hex()}"))
    started.drop()
    assert names_of(bench.client, f"{bucket.key('')}*") == []


def test_a_process_whose_rebuild_was_replaced_writes_nothing(bench):
    bench.start(1, 2, 3)
    (projection,) = (one for one in PROJECTIONS if one.spec == LISTS)
    first = Rebuild(bench.store, bench.client, projection)
    first.divide()
    tracks = tracks_of_shard(bench.client, [(projection, first.generation)], 1)
    bench.client.delete(keys.projection("lists", "building"))
    second = Rebuild(bench.store, bench.client, projection)
    turn = fold_shard(Feed(bench.store, bench.client, CHUNK), tracks, 1, first.goal.ends)
    assert list(turn) == []
    assert tracks[0].gone
    assert tracks_of_shard(bench.client, [(projection, first.generation)], 1) == []
    with pytest.raises(BusyError):
        first.unite()
    second.drop()


def test_a_process_ends_with_the_one_that_began_it(bench, bench_url):
    bench.start(1)
    (projection,) = (one for one in PROJECTIONS if one.spec == LISTS)
    started = Rebuild(bench.store, bench.client, projection)
    started.divide()
    built = [(projection, started.generation)]
    folding = processes._Folding(partial(open_parts, bench_url), built, started.goal.ends)
    folding.begin(1)
    folding.pipe.close()
    folding.process.join(60)
    assert folding.process.exitcode == 0


def test_what_settles_nothing_changes_nothing_for_those_that_say_so(bench, corpus):
    reader, start, facts = LogReader(bench.store), (0,) * 4, []
    while (chunk := reader.read(start)).leaves:
        facts += chunk.facts
        start = chunk.counts
    others = [fact for fact in facts if not fact.settles]
    assert len(facts) - len(others) > 8, "all kinds of events are there"
    assert corpus.commands["makeclaim"]
    for projection in PROJECTIONS:
        if projection.settled_only:
            assert [fact for fact in others if list(projection.owners(fact))] == []
        if isinstance(projection, OrderedProjection):
            assert [fact for fact in others if projection.buffered_text(fact) is not None] == []
    assert sum(projection.settled_only for projection in PROJECTIONS) == 5


def test_each_process_is_worth_its_start(monkeypatch):
    monkeypatch.setattr(processes, "usable_cores", lambda: 16)
    own = ShardProcesses(partial(open_parts, ""))
    one = processes.LEAVES_OF_A_PROCESS
    assert [own.count([leaves] * 8) for leaves in (0, 100, one // 4, one // 8, one)] == [
        1,
        1,
        3,
        2,
        4,
    ]
    asked = ShardProcesses(partial(open_parts, ""), 6)
    assert [asked.count(ends) for ends in ([5] * 8, [5, 0, 5], [0, 0])] == [6, 2, 1]
    assert one > shards.CHUNK


def test_moves_that_come_after_the_ends_are_read_by_the_one_that_began(bench, bench_url):
    bench.start(901, 902, 903)
    late = iter([lambda: bench.send(ALICE, PlayMove(text="m13-j7"), 901)])

    def move() -> None:
        for send in late:
            send()
            bench.drain()

    rebuild(bench, bench_url, 2, Report(move))
    side = catch_up(bench.store, bench.client)
    assert not side.has_work
    assert maintenance.check(bench.store, bench.client, list(PROJECTIONS), Report())


# The log reader: what it asks the server for, and where the result of a match comes from

BOARDS = range(1, 21)


def calls(client: Redis, *names: str) -> dict[str, int]:
    """How often these commands were run, inside scripts too."""
    found = client.info("commandstats")
    return {name: found.get(f"cmdstat_{name}", {"calls": 0})["calls"] for name in names}


def facts_of(store: Store) -> list[Fact]:
    """All facts of the logs."""
    reader, facts = LogReader(store), []
    chunk = reader.read((0,) * store.layout().shards)
    while chunk.leaves:
        assert not chunk.unreadable
        facts += chunk.facts
        chunk = reader.read(chunk.counts)
    return facts


def test_no_history_is_read_for_events_of_matches_that_it_does_not_know(bench):
    bench.start(*BOARDS)
    start = bench.store.watermark().ends
    for board in BOARDS:
        bench.send(ALICE, PlayMove(text="m13-j7"), board)
    bench.drain()
    before = calls(bench.client, "lrange", "lindex")
    reader = LogReader(bench.store)
    chunk = reader.read(start)
    assert {fact.setup.seats for fact in chunk.facts} == {(ALICE, BOB)}
    after = calls(bench.client, "lrange", "lindex")
    assert after["lrange"] == before["lrange"]
    assert after["lindex"] - before["lindex"] == len(BOARDS), "one for each beginning"
    reader.read(start)
    assert calls(bench.client, "lindex")["lindex"] == after["lindex"], "it knows them now"


def test_a_beginning_that_is_gone_or_no_list_stops_its_shard_alone(bench):
    bench.start(1, 2, 3)
    start = bench.store.watermark().ends
    for board in (1, 2, 3):
        bench.send(ALICE, PlayMove(text="m13-j7"), board)
    bench.drain()
    key = keys.events(2, 2)
    bench.client.lset(key, 0, b"\x98 what is no event")
    chunk = LogReader(bench.store).read(start)
    assert [leaf.shard for leaf in chunk.unreadable] == [2]
    assert [fact.event.match for fact in chunk.facts] == [1, 3]


class WithoutSnapshots:
    """A store that has no snapshots, so that results come from the histories."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def snapshots(self, boards: Sequence[int]) -> list[None]:
        """None at all."""
        return [None for _ in boards]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def test_a_result_from_the_snapshot_is_that_of_the_history(bench):
    corpus = Corpus(bench, players=8, matches=40, disputes=0)
    while corpus.leaves() < 400:
        corpus.step()
    before = calls(bench.client, "lrange")
    found = [fact for fact in facts_of(bench.store) if fact.result]
    short = [fact for fact in found if fact.result and not fact.result.history]
    assert calls(bench.client, "lrange")["lrange"] - before["lrange"] == len(found) - len(short)
    assert len(short) > 5
    wanted = {
        fact.event.match: fact.result
        for fact in facts_of(WithoutSnapshots(bench.store))  # type: ignore[arg-type]
        if fact.result
    }
    for fact in found:
        whole = wanted[fact.event.match]
        if fact in short:
            whole = msgspec.structs.replace(whole, history=())
        assert fact.result == whole
    assert any(fact.result and fact.result.played for fact in short)
    # a puzzle's best score is looked for in its history, and who refused a draw
    assert all(
        len(fact.setup.seats) == 1 or fact.result.reason == "declined"
        for fact in found
        if fact.result and fact.result.history
    )


def result_of(bench: Bench) -> Any:
    (found,) = [fact.result for fact in facts_of(bench.store) if fact.result]
    assert found.plies == 1
    return found


def test_a_snapshot_of_another_event_does_not_serve(bench):
    start = StartMatch(rules="pow2/1", options=(), seats=(ALICE, CAROL))
    bench.send(ALICE, start, 1)
    bench.send(ALICE, PlayMove(text="m13-j7"), 1)
    bench.send(CAROL, ResignMatch(), 1)
    bench.drain()
    assert not result_of(bench).history
    key = keys.snapshot(1, 1)
    found = bench.client.get(key)
    assert isinstance(found, bytes)
    bench.client.set(key, bytes(32) + found[32:])
    assert len(result_of(bench).history) == 4
    bench.client.set(key, found[:40])
    assert len(result_of(bench).history) == 4
    bench.client.delete(key)
    assert len(result_of(bench).history) == 4
