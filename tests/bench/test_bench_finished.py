"""Matches that a benchmark writes in bulk are as their commits would have left them."""

from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from redis import Redis

from bench.baselines.redis_only import decide_all, submit_and_commit
from bench.finished import SECRET, fill
from bench.harness import SHARDS, new_store
from bench.workload import endless, moves, resignations, starts
from domain.clocks.time_control import TimeControl
from domain.match.commands import CommandEnvelope
from infra.archive.objects import PublishedLeaves
from infra.durability import Mode
from infra.log.published_log import PublishedLog
from infra.objects.files import FileObjects
from infra.redis import keys
from infra.store.outcomes import parse
from infra.store.redis_store import RedisStore
from infra.store.whole_matches import WholeMatch
from infra.valkey.server import EmbeddedServer
from tests.helpers.damaged import damaged_matches

MATCHES, PLIES = 12, 6
BOARDS = range(1, MATCHES + 1)


@pytest.fixture
def filled(valkey: EmbeddedServer, redis_client: Redis, tmp_path: Path) -> RedisStore:
    store = new_store(redis_client, 1)
    assert sum(fill(valkey.url, tmp_path, MATCHES, PLIES)) == MATCHES
    return store


def orders() -> list[CommandEnvelope]:
    played = endless(MATCHES, PLIES)
    return [*starts(played, TimeControl()), *moves(played), *resignations(played)]


def log_of(folder: Path, shard: int) -> PublishedLog:
    return PublishedLog(FileObjects(folder), shard, [SECRET.signer(shard).key])


def without_places(match: WholeMatch | None) -> tuple[object, ...]:
    """A match without what depends on the order in which all were played."""
    assert match is not None
    outcomes = {
        id_: (one.digest, one.code, one.seq)
        for id_, one in ((id_, parse(stored)) for id_, stored in match.outcomes.items())
    }
    return match.snapshot, match.events, outcomes


def test_they_are_as_commits_leave_them(filled, redis_client):
    written = filled.whole_matches(BOARDS)
    names = {bytes(name) for name in redis_client.keys("*:m:*")}
    ends = [filled.ended_boards(shard, 1 << 50, MATCHES) for shard in range(SHARDS)]
    redis_client.flushall()
    store = new_store(redis_client, 1)
    submit_and_commit(store, decide_all(orders(), {}))
    assert list(map(without_places, written)) == list(
        map(without_places, store.whole_matches(BOARDS))
    )
    assert names == {bytes(name) for name in redis_client.keys("*:m:*")}
    assert ends == [store.ended_boards(shard, 1 << 50, MATCHES) for shard in range(SHARDS)]


def test_their_histories_hold_and_are_published_where_their_locators_say(
    filled, redis_client, tmp_path
):
    logs = PublishedLeaves(cache(partial(log_of, tmp_path)), parallel=False)
    trimmed: Any = SimpleNamespace(of=partial(log_of, tmp_path))
    store = RedisStore(redis_client, Mode.FSYNC, open_logs=lambda: trimmed)
    assert list(damaged_matches(store, BOARDS)) == []
    for board in BOARDS:
        shard, indexes = board % SHARDS, filled.leaf_indexes(board)
        leaves = logs.leaves_at(shard, indexes)
        assert leaves == filled.events(board)
        for index, leaf in zip(indexes, leaves, strict=True):
            logs.check(shard, index, leaf)
        for stored in filled.outcomes(board).values():
            assert parse(stored).index in indexes


@pytest.mark.usefixtures("filled")
def test_the_logs_go_on_where_they_end(redis_client, tmp_path):
    for shard in range(SHARDS):
        log = log_of(tmp_path, shard)
        (last,) = redis_client.xrange(keys.log(shard))
        assert last[0] == b"%d-1" % (log.refresh() - 1)
        assert last[1][b"l"] == log.leaf(log.size - 1)
