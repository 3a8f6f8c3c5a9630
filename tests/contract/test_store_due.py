"""What every store promises of due times and conditional moves."""

import time

import msgspec

from domain.match.history import PackedSnapshot
from infra.store.log_streams import ShardNews
from infra.store.port import (
    AlreadyDecided,
    CommitConflict,
    CommitDone,
    Store,
    Write,
)
from tests.helpers.writes import BOARD, HEADS, SHARD, moved, queue, refused, submission

SOON, LATER, LAST = 1_700_000_001_000, 1_700_000_002_000, 1_700_000_003_000


def due(write: Write, at: int) -> Write:
    return msgspec.structs.replace(write, due=at)


def replying(write: Write, laid: bytes, left: bytes = b"") -> Write:
    """The same, decided with these replies, and with those left after it."""
    return msgspec.structs.replace(write, conditional_before=laid, conditional_after=left)


def elsewhere(store: Store, board: int, at: int) -> None:
    """Begin another match, due at that time."""
    number = 100 + board
    store.submit([submission(number, board)])
    (entry,) = store.read_inbox([board % 4], 1)
    fresh = msgspec.structs.replace(moved(entry, number, before=0), board=board)
    (result,) = store.commit([due(fresh, at)])
    assert isinstance(result, CommitDone)


def test_the_stores_clock_is_the_one_that_stamps_commands(store: Store) -> None:
    before = store.now()
    (entry,) = queue(store, 1)
    assert before <= entry.received <= store.now()
    assert abs(before - time.time_ns() // 1_000_000) < 60_000


def test_a_match_is_due_from_the_time_its_last_commit_said(store: Store) -> None:
    (entry,) = queue(store, 1)
    store.commit([due(moved(entry, 1, before=0), LATER)])
    assert store.due_boards(SHARD, LATER - 1, 10) == []
    assert store.due_boards(SHARD, LATER, 10) == [BOARD]
    assert store.due_boards(SHARD, LAST, 10) == [BOARD]


def test_the_next_commit_of_a_match_says_anew_when_it_is_due(store: Store) -> None:
    a, b, c = queue(store, 1, 2, 3)
    store.commit([due(moved(a, 1, before=0), SOON)])
    store.commit([due(moved(b, 2, before=1), LATER)])
    assert (store.due_boards(SHARD, SOON, 10), store.due_boards(SHARD, LATER, 10)) == ([], [BOARD])
    store.commit([due(moved(c, 3, before=2), 0)])
    assert store.due_boards(SHARD, LAST, 10) == []


def test_the_last_of_a_run_says_when_a_match_is_due(store: Store) -> None:
    a, b = queue(store, 1, 2)
    store.commit([due(moved(a, 1, before=0), SOON), due(moved(b, 2, before=1), LATER)])
    assert (store.due_boards(SHARD, SOON, 10), store.due_boards(SHARD, LATER, 10)) == ([], [BOARD])


def test_what_is_due_is_given_by_shards_the_oldest_first(store: Store) -> None:
    for board, at in ((7, LAST), (3, SOON), (11, LATER), (4, SOON)):
        elsewhere(store, board, at)
    assert store.due_boards(SHARD, LAST, 10) == [3, 11, 7]
    assert store.due_boards(SHARD, LAST, 2) == [3, 11]
    assert store.due_boards(0, LAST, 10) == [4]
    assert store.due_boards(1, LAST, 10) == []


def test_the_next_due_time_is_the_earliest_of_each_shard(store: Store) -> None:
    assert store.next_due([0, SHARD]) == [None, None]
    for board, at in ((7, LAST), (3, SOON), (11, LATER), (4, LATER)):
        elsewhere(store, board, at)
    assert store.next_due([SHARD, 0, 1]) == [SOON, LATER, None]
    assert store.next_due([]) == []


def test_the_news_of_shards_are_whether_commands_wait_and_where_the_logs_end(store: Store) -> None:
    nothing = [ShardNews(waiting=False, end=0)] * 4
    before = store.now()
    now, found = store.news([0] * 4)
    assert before <= now <= store.now()
    assert found == nothing
    a, b = queue(store, 1, 2)
    _, found = store.news([0] * 4)
    assert found[SHARD] == ShardNews(waiting=True, end=0)
    store.commit([due(moved(a, 1, before=0), SOON), due(moved(b, 2, before=1), LATER)])
    for start in (0, 1, 2):
        _, found = store.news([start if shard == SHARD else 0 for shard in range(4)])
        assert found[SHARD] == ShardNews(waiting=False, end=2)
        assert [one for shard, one in enumerate(found) if shard != SHARD] == nothing[1:]


def test_the_end_of_a_log_with_many_new_leaves_is_found(store: Store) -> None:
    entries = queue(store, *range(1, 5))
    for number, entry in enumerate(entries, 1):
        store.commit([due(moved(entry, number, before=number - 1), SOON)])
    more = 0
    while len(store.leaves(SHARD, 0, 100)) < 12:
        more += 1
        elsewhere(store, SHARD + 4 * (10 + more), LATER)
    _, found = store.news([0] * 4)
    assert found[SHARD] == ShardNews(waiting=False, end=12)


def test_a_refusal_leaves_due_time_and_replies_alone(store: Store) -> None:
    a, b = queue(store, 1, 2)
    store.commit([replying(due(moved(a, 1, before=0), SOON), b"", b"laid")])
    told = replying(due(refused(b, 2, before=1), 0), b"another", b"nothing")
    assert isinstance(store.commit([told])[0], CommitDone)
    assert store.due_boards(SHARD, SOON, 10) == [BOARD]
    assert store.snapshots_with_conditional_moves([BOARD]) == [
        (PackedSnapshot(HEADS[1] + b"state", b" move" * 1, b"t" * 1), b"laid")
    ]


def test_what_conflicts_or_is_known_leaves_due_time_and_replies_alone(store: Store) -> None:
    a, b, again = queue(store, 1, 2, 1)
    store.commit([replying(due(moved(a, 1, before=0), SOON), b"", b"laid")])
    late = replying(due(moved(b, 2, before=0), LAST), b"laid", b"other")
    known = replying(due(moved(again, 1, before=1), LAST), b"laid", b"other")
    assert [type(result) for result in store.commit([late, known])] == [
        CommitConflict,
        AlreadyDecided,
    ]
    assert store.due_boards(SHARD, SOON, 10) == [BOARD]
    assert store.snapshots_with_conditional_moves([BOARD]) == [
        (PackedSnapshot(HEADS[1] + b"state", b" move" * 1, b"t" * 1), b"laid")
    ]


def test_matches_come_with_what_is_laid_ready_in_them(store: Store) -> None:
    (entry,) = queue(store, 1)
    store.commit([moved(entry, 1, before=0)])
    assert store.snapshots_with_conditional_moves([8, BOARD]) == [
        (None, b""),
        (PackedSnapshot(HEADS[1] + b"state", b" move" * 1, b"t" * 1), b""),
    ]
    assert store.set_conditional_moves(BOARD, HEADS[1], b"", b"laid")
    assert store.snapshots_with_conditional_moves([BOARD, 8]) == [
        (PackedSnapshot(HEADS[1] + b"state", b" move" * 1, b"t" * 1), b"laid"),
        (None, b""),
    ]
    assert store.snapshots_with_conditional_moves([]) == []


def test_replies_are_laid_by_who_has_seen_the_match_and_the_replies_as_they_are(
    store: Store,
) -> None:
    (entry,) = queue(store, 1)
    store.commit([moved(entry, 1, before=0)])
    assert not store.set_conditional_moves(BOARD, HEADS[2], b"", b"on another head")
    assert not store.set_conditional_moves(BOARD, HEADS[1], b"none such", b"on other replies")
    assert store.snapshots_with_conditional_moves([BOARD]) == [
        (PackedSnapshot(HEADS[1] + b"state", b" move" * 1, b"t" * 1), b"")
    ]
    assert store.set_conditional_moves(BOARD, HEADS[1], b"", b"one")
    assert not store.set_conditional_moves(BOARD, HEADS[1], b"", b"by who has not seen one")
    assert store.set_conditional_moves(BOARD, HEADS[1], b"one", b"two")
    assert store.snapshots_with_conditional_moves([BOARD]) == [
        (PackedSnapshot(HEADS[1] + b"state", b" move" * 1, b"t" * 1), b"two")
    ]
    assert store.set_conditional_moves(BOARD, HEADS[1], b"two", b"")
    assert store.snapshots_with_conditional_moves([BOARD]) == [
        (PackedSnapshot(HEADS[1] + b"state", b" move" * 1, b"t" * 1), b"")
    ]


def test_nothing_is_laid_ready_where_there_is_no_match(store: Store) -> None:
    assert not store.set_conditional_moves(8, HEADS[1], b"", b"laid")
    assert store.snapshots_with_conditional_moves([8]) == [(None, b"")]


def test_a_commit_decided_without_the_replies_that_are_there_conflicts_and_stays(
    store: Store,
) -> None:
    a, b = queue(store, 1, 2)
    store.commit([moved(a, 1, before=0)])
    assert store.set_conditional_moves(BOARD, HEADS[1], b"", b"laid")
    assert store.commit([moved(b, 2, before=1)]) == [CommitConflict()]
    assert store.commit([replying(moved(b, 2, before=1), b"other")]) == [CommitConflict()]
    assert store.events(BOARD) == [b"event 1"]
    assert [entry.id for entry in store.read_inbox([SHARD], 10)] == [b.id]
    (result,) = store.commit([replying(moved(b, 2, before=1), b"laid", b"left")])
    assert isinstance(result, CommitDone)
    assert store.snapshots_with_conditional_moves([BOARD]) == [
        (PackedSnapshot(HEADS[2] + b"state", b" move" * 2, b"t" * 2), b"left")
    ]


def test_a_commit_after_which_no_replies_are_left_takes_them_away(store: Store) -> None:
    a, b, c = queue(store, 1, 2, 3)
    store.commit([replying(moved(a, 1, before=0), b"", b"laid")])
    store.commit([replying(moved(b, 2, before=1), b"laid", b"laid")])
    assert store.snapshots_with_conditional_moves([BOARD]) == [
        (PackedSnapshot(HEADS[2] + b"state", b" move" * 2, b"t" * 2), b"laid")
    ]
    store.commit([replying(moved(c, 3, before=2), b"laid", b"")])
    assert store.snapshots_with_conditional_moves([BOARD]) == [
        (PackedSnapshot(HEADS[3] + b"state", b" move" * 3, b"t" * 3), b"")
    ]


def test_what_follows_in_a_run_is_decided_with_the_replies_then_left(store: Store) -> None:
    a, b, c = queue(store, 1, 2, 3)
    run = [
        replying(moved(a, 1, before=0), b"", b"one"),
        replying(moved(b, 2, before=1), b"one", b"two"),
        replying(moved(c, 3, before=2), b"one", b"three"),
    ]
    assert [type(result) for result in store.commit(run)] == [
        CommitDone,
        CommitDone,
        CommitConflict,
    ]
    assert store.snapshots_with_conditional_moves([BOARD]) == [
        (PackedSnapshot(HEADS[2] + b"state", b" move" * 2, b"t" * 2), b"two")
    ]
