"""A log that has lost published leaves: nothing is written to it."""

import pytest

from domain.match.history import NO_HASH, PackedSnapshot
from infra.store.closed_shards import ClosedShards, forked
from infra.store.outcomes import tail
from infra.store.port import (
    CommitClosed,
    CommitDone,
    CommitResult,
    LogCutOff,
    ShardClosedError,
    Store,
    Submission,
    Write,
)
from tests.fakes.memory_store import MemoryStore
from tests.helpers.given import ALICE

BOARDS = (4, 5)
"""One in shard 0 and one in shard 1."""


def submission(board: int) -> Submission:
    return Submission(board, b"%016d" % board, b"digest..", b"payload", ALICE, 0, "reply:1")


def write_of(store: Store, board: int) -> Write:
    """Return the write of the first event of a match, whose command waits alone in its shard."""
    (entry,) = store.read_inbox([board % 4], 1)
    place = (board % 4, entry.id, board, b"%016d" % board, NO_HASH, b"digest..", tail("", 1))
    return Write(*place, (b"event %d" % board,), PackedSnapshot(b"h" * 32))


def commit(store: Store, *boards: int) -> list[CommitResult]:
    """Commit a first event of each match."""
    store.submit([submission(board) for board in boards])
    return store.commit([write_of(store, board) for board in boards])


def test_no_commit_is_written_below_the_published_size(store: Store) -> None:
    store.published = lambda shard: 1 if shard == 0 else 0
    closed, done = commit(store, *BOARDS)
    assert closed == LogCutOff(0)
    assert isinstance(done, CommitDone)
    assert store.leaves(0, 0, 10) == []
    assert store.events(BOARDS[0]) == []
    assert store.outcomes(BOARDS[0]) == {}
    assert store.inbox_size([0]) == 1, "the command waits"
    store.published = lambda _: 0
    (done,) = commit(store, BOARDS[0])
    assert isinstance(done, CommitDone)


def close(store: Store, shard: int) -> None:
    """Close a shard of the store."""
    if isinstance(store, MemoryStore):
        store.closed.add(shard)
    else:
        ClosedShards(store._client).close(shard, forked(shard, 0))  # type: ignore[attr-defined]


def test_a_closed_shard_commits_nothing(store: Store) -> None:
    commit(store, *BOARDS)
    store.submit([submission(BOARDS[0] + 4), submission(BOARDS[1] + 4)])
    close(store, 0)
    closed, done = store.commit([write_of(store, BOARDS[0] + 4), write_of(store, BOARDS[1] + 4)])
    assert closed == CommitClosed()
    assert isinstance(done, CommitDone)
    assert len(store.leaves(0, 0, 10)) == 1
    assert store.inbox_size([0]) == 1, "the command waits"


def test_a_closed_shard_anchors_no_chain_of_seeds(store: Store) -> None:
    close(store, 0)
    with pytest.raises(ShardClosedError):
        store.anchor(0, 1, bytes(32), b"leaf")
    assert store.leaves(0, 0, 10) == []


def test_commits_go_on_at_the_published_size_and_above(store: Store) -> None:
    commit(store, BOARDS[0])
    store.published = lambda _: 1
    (done,) = commit(store, BOARDS[0] + 4)
    assert isinstance(done, CommitDone)
    assert [index for index, _ in store.leaves(0, 0, 10)] == [0, 1]


def test_no_chain_of_seeds_is_anchored_below_the_published_size(store: Store) -> None:
    store.published = lambda _: 1
    with pytest.raises(ShardClosedError):
        store.anchor(0, 1, bytes(32), b"leaf")
    assert store.leaves(0, 0, 10) == []
    assert store.seed_chain(0) is None
    store.published = lambda _: 0
    assert store.anchor(0, 1, bytes(32), b"leaf")
