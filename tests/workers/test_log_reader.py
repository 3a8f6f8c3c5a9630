"""The log reader: what it asks the server for, and where the result of a match comes from."""

from collections.abc import Sequence
from typing import Any

import msgspec
from redis import Redis

from domain.match.commands import PlayMove, ResignMatch, StartMatch
from infra.projections.projection import Fact
from infra.redis import keys
from infra.store.channels import LogListener
from infra.store.port import Store
from tests.fakes.logs import ANCHOR, Logs
from tests.helpers.bench import Bench
from tests.helpers.corpus import Corpus
from tests.helpers.given import ALICE, BOB, CAROL, moved, started
from workers.projections import log_reader
from workers.projections.log_reader import LogReader

BOARDS = range(1, 21)


def calls(client: Redis, *names: str) -> dict[str, int]:
    """How often these commands were run, inside scripts too."""
    found = client.info("commandstats")
    return {name: found.get(f"cmdstat_{name}", {"calls": 0})["calls"] for name in names}


def wait(reader: LogReader, starts: tuple[int, ...], client: Redis, seconds: float = 60) -> None:
    """Let a reader wait for leaves of all shards."""
    reader.wait(dict(enumerate(starts)), LogListener(client), seconds)


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


class Scripted(LogListener):
    """News of the shards to whose logs a leaf is added before each message."""

    def __init__(self, logs: Logs, *shards: int) -> None:
        self._logs, self.left = logs, list(shards)

    def wait(self, seconds: float) -> set[int]:
        assert seconds > 0
        shard = self.left.pop(0)
        self._logs.add_leaf(shard, ANCHOR)
        return {shard}


def test_a_wait_ends_with_news_of_its_own_shards_alone():
    logs = Logs(shards=4)
    reader, news = LogReader(logs.store), Scripted(logs, 3, 3, 0, 2)
    reader.wait({0: 0, 1: 0, 2: 0}, news, 60)
    assert news.left == [2]
    assert reader.read((0,) * 4).counts == (1, 0, 0, 2), "which looked at all shards"


class Counted(Logs):
    """Notes of which matches the first event is asked for."""

    def __init__(self) -> None:
        super().__init__(shards=1)
        self.asked: list[list[int]] = []

    def first_events(self, boards: Sequence[int]) -> list[bytes | None]:
        """Note them."""
        self.asked.append(list(boards))
        return super().first_events(boards)


def test_all_that_a_chunk_misses_is_read_together_and_the_last_used_are_kept(monkeypatch):
    monkeypatch.setattr(log_reader, "_SETUPS", 3)
    logs = Counted()
    for board in (1, 2, 3, 4):
        logs.add(board, 1, ALICE, started())
    at = (4,)
    reader = LogReader(logs.store)
    for boards, asked in [
        ((1, 2, 3), [[1, 2, 3]]),
        ((1,), []),
        ((4,), [[4]]),
        ((1, 3, 1), []),
        ((2,), [[2]]),
    ]:
        logs.asked.clear()
        for board in boards:
            logs.add(board, 2, BOB, moved(1, 0, 1))
        chunk = reader.read(at)
        at = chunk.counts
        assert [fact.event.match for fact in chunk.facts] == list(boards)
        assert logs.asked == asked


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
    while corpus.leaves() < 700:
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
