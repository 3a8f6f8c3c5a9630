"""Logs that have lost published leaves get them back, and with them all that follows; the publisher sees to it."""

from collections.abc import Iterable

import msgspec
import pytest
from redis import Redis

import workers.log.restore
from domain.clocks.time_control import DAY
from domain.match.commands import PlayMove, ResignMatch, StartMatch
from infra.audit.log import first_difference
from infra.redis import keys
from infra.store.closed_shards import ClosedKind, ClosedShards
from infra.store.discarded_leaves import Restored, discard, find_discarded
from infra.store.outcomes import parse
from infra.store.watermarks import PublishedSizes
from tests.fakes.memory_store import MemoryObjects
from tests.helpers.bench import Bench
from tests.helpers.doctor import damaged_matches
from tests.helpers.given import ALICE, BOB
from tests.helpers.rollback import (
    Copy,
    copy_of,
    publish,
    published_log,
    put_back,
    read_all,
    restorer,
)
from tests.helpers.side import catch_up, contents
from tests.helpers.timed import BEGIN, SHORT, TimedBench
from tests.helpers.writes import refusals_counted
from tests.workers.month import Month

MOVE = PlayMove(text="m13-m9")


MATCHES = 20


def restore_all(client: Redis, bench: Bench, objects: MemoryObjects) -> None:
    for shard in range(4):
        one = restorer(client, bench.store, objects, shard)
        while not one.step():
            pass


def comparable(client: Redis) -> dict[str, object]:
    """All that is stored of matches, but for what the log does not have."""
    found = read_all(client, "{s*")
    for name in list(found):
        kind = name.rpartition(":")[2]
        if kind == "out":
            rows = {id_: parse(stored) for id_, stored in found[name].items()}
            found[name] = {id_: (one.index, one.code, one.seq) for id_, one in rows.items()}
        elif ":refused:" in name or kind in ("conditional", "in", "floor", "tries", "published"):
            # refused commands and conditional moves are not in the log; the rest is not of matches
            del found[name]
        elif name.partition(":m:")[2].isdecimal():
            found[name] = found[name][:32] + found[name][33:]  # without the marks
    return found


@pytest.mark.parametrize("step", [7, pytest.param(1_024, marks=pytest.mark.long)])
def test_a_month_of_matches_is_restored_as_it_was(redis_client, tmp_path, monkeypatch, step):
    monkeypatch.setattr(workers.log.restore, "STEP", step)
    month = Month(redis_client, tmp_path / "seeds", matches=MATCHES, seed=3, lucky=True)
    copies: list[Copy] = []
    month._at(BEGIN + 4 * DAY, lambda: copies.append(copy_of(redis_client)))
    month.run(days=14)
    objects = MemoryObjects()
    sizes = [publish(objects, month.store, shard) for shard in range(4)]
    wanted = comparable(redis_client)
    put_back(redis_client, copies[0])
    ends = [len(month.store.leaves(shard, 0, 100_000)) for shard in range(4)]
    assert sum(sizes) - sum(ends) > 60
    restore_all(redis_client, month, objects)
    assert list(damaged_matches(month.store, range(1, MATCHES + 1))) == []
    found = comparable(redis_client)
    assert {name: found.get(name) for name in wanted} == wanted
    assert found.keys() == wanted.keys()


def test_acknowledged_commands_that_were_lost_have_their_outcomes_and_boards_again(bench):
    bench.start(2)
    before = copy_of(bench.client)
    start = bench.order(ALICE, StartMatch(rules="pow2/1", options=(), seats=(ALICE, BOB)))
    board = bench.store.allocate(start.id)
    start = msgspec.structs.replace(start, match=board)
    sent = [bench.order(ALICE, MOVE, 2), bench.order(ALICE, MOVE, 2), start]
    for order in sent:
        bench.submit(order)
        bench.drain()
    outcomes = list(map(bench.outcome, sent))
    assert [one.code for one in outcomes] == ["", "not-your-turn", ""]
    objects = MemoryObjects()
    for shard in range(4):
        PublishedSizes(bench.client, bench.client).record(
            shard, publish(objects, bench.store, shard), bytes(32)
        )
    put_back(bench.client, before)
    restore_all(bench.client, bench, objects)
    for order, outcome in zip(sent, outcomes, strict=True):
        again = bench.outcome(order)
        assert (again.index, again.code, again.seq) == (outcome.index, outcome.code, outcome.seq)
        assert type(bench.submit(order)).__name__ == "AlreadyDecided"
    assert "rolled back" in bench.outcome(sent[1]).sentence
    assert bench.drain() == 0
    assert bench.store.allocate(start.id) == board
    others = {bench.store.allocate(bytes([number]) * 16) for number in range(1, 9)}
    assert len(others - {board}) == 8


def test_a_history_that_went_another_way_is_discarded_and_the_published_one_restored(
    redis_client, tmp_path
):
    month = Month(redis_client, tmp_path / "seeds", matches=MATCHES, seed=5, lucky=True)
    copies: list[Copy] = []
    month._at(BEGIN + 3 * DAY, lambda: copies.append(copy_of(redis_client)))
    month.run(days=8)
    objects = MemoryObjects()
    wanted = comparable(redis_client)
    for shard in range(4):
        publish(objects, month.store, shard)
    put_back(redis_client, copies[0])
    ends = [len(month.store.leaves(shard, 0, 100_000)) for shard in range(4)]
    month.now = BEGIN + 8 * DAY
    month.hears = False
    for board in range(1, MATCHES + 1):
        for account in month.state(board).seats[:2]:
            month._say(board, account, ResignMatch())
    closed = ClosedShards(redis_client)
    for shard in range(4):
        log = published_log(objects, shard)
        assert restorer(redis_client, month.store, objects, shard).step()
        assert closed.read([shard])[shard].kind is ClosedKind.FORKED
        rows = month.store.leaves(shard, 0, log.size)
        first = first_difference(rows, list(log.leaves(0, log.size)), 0)
        assert first is not None
        assert first == ends[shard]
        found = find_discarded(redis_client, month.store, shard, first)
        discard(redis_client, month.store, found, log.size)
        assert len(month.store.leaves(shard, 0, 100_000)) == ends[shard]
        assert closed.read([shard])[shard].kind is ClosedKind.ROLLED_BACK
    assert list(damaged_matches(month.store, range(1, MATCHES + 1))) == []
    restore_all(redis_client, month, objects)
    assert list(damaged_matches(month.store, range(1, MATCHES + 1))) == []
    found_again = comparable(redis_client)
    assert {name: found_again.get(name) for name in wanted} == wanted


def test_refusals_before_the_discarded_leaves_are_still_counted(bench):
    bench.start(1)
    bench.send(ALICE, PlayMove(text="a1-a9"))
    bench.drain()
    assert refusals_counted(bench.store, 1, ALICE, 0) == 1
    before = copy_of(bench.client)
    bench.send(BOB, PlayMove(text="a1-a9"))
    bench.send(ALICE, MOVE)
    bench.drain()
    objects = MemoryObjects()
    size = publish(objects, bench.store, 1)
    put_back(bench.client, before)
    bench.send(ALICE, PlayMove(text="m13-j7"))
    bench.drain()
    assert refusals_counted(bench.store, 1, ALICE, 0) == 0, "an event ends the count"
    assert restorer(bench.client, bench.store, objects, 1).step()
    first = size - 2
    discard(bench.client, bench.store, find_discarded(bench.client, bench.store, 1, first), size)
    assert refusals_counted(bench.store, 1, ALICE, 0) == 1
    one = restorer(bench.client, bench.store, objects, 1)
    while not one.step():
        pass
    assert len(bench.store.leaves(1, 0, 100)) == size
    assert refusals_counted(bench.store, 1, ALICE, 0) == 0, "the move was restored"


def test_two_that_restore_at_the_same_time_write_each_leaf_once(bench, monkeypatch):
    monkeypatch.setattr(workers.log.restore, "STEP", 2)
    bench.start(1)
    before = copy_of(bench.client)
    for actor, text in ((ALICE, "m13-m9"), (BOB, "m1-m5"), (ALICE, "m9-m8"), (ALICE, "m9-m8")):
        bench.send(actor, PlayMove(text=text))
        bench.drain()
    objects = MemoryObjects()
    publish(objects, bench.store, 1)
    wanted = bench.store.leaves(1, 0, 100)
    put_back(bench.client, before)
    slow, fast = (restorer(bench.client, bench.store, objects, 1) for _ in range(2))
    written = slow._written.write

    def overtaken(shard: int, start: int, found: Iterable[Restored]) -> int:
        fast.step()
        return written(shard, start, found)

    monkeypatch.setattr(slow._written, "write", overtaken)
    while not slow.step():
        pass
    assert bench.store.leaves(1, 0, 100) == wanted
    assert ClosedShards(bench.client).read([1]) == {}
    assert list(damaged_matches(bench.store, [1])) == []


def test_data_that_differ_in_a_match_alone_are_not_restored(bench):
    bench.start(1)
    before = copy_of(bench.client)
    bench.send(ALICE, MOVE)
    bench.drain()
    objects = MemoryObjects()
    publish(objects, bench.store, 1)
    put_back(bench.client, before)
    bench.client.setrange(keys.snapshot(1, 1), 0, b"another head")
    leaves = bench.store.leaves(1, 0, 100)
    assert restorer(bench.client, bench.store, objects, 1).step()
    found = ClosedShards(bench.client).read([1])[1]
    assert found.kind is ClosedKind.FORKED
    assert "event 2 of match 1 does not follow the data" in found.reason
    assert bench.store.leaves(1, 0, 100) == leaves


def test_projections_that_went_on_while_the_shard_was_closed_are_as_before(redis_client, tmp_path):
    """A watermark has promised that nothing older comes, and then older events are restored."""
    bench = TimedBench(redis_client, tmp_path / "seeds")
    bench.challenge(SHORT, 1, 2, 5)

    def play(board: int) -> None:
        for actor, command in (
            (ALICE, MOVE),
            (BOB, PlayMove(text="a13-c11")),
            (ALICE, ResignMatch()),
        ):
            bench.send(actor, command, board)
            bench.drain()
            bench.now += 60_000

    play(2)
    catch_up(bench.store, redis_client)
    before = copy_of(redis_client)
    play(1)
    play(5)
    bench.now += 3_600_000
    catch_up(bench.store, redis_client)
    wanted = contents(redis_client)
    objects = MemoryObjects()
    for shard in range(4):
        publish(objects, bench.store, shard)
    put_back(redis_client, before)
    catch_up(bench.store, redis_client)
    assert contents(redis_client) != wanted
    restore_all(redis_client, bench, objects)
    catch_up(bench.store, redis_client)
    found = contents(redis_client)
    ours = {name: one for name, one in found.items() if not name.endswith(":at")}
    assert ours == {name: one for name, one in wanted.items() if not name.endswith(":at")}
