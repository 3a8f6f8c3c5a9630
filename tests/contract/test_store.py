"""The guarantees of `infra.store.port`, asked of every adapter."""

import msgspec
import pytest

from domain.errors import Code
from domain.match.history import NO_HASH, PackedSnapshot
from infra.store.layout import Layout, Numbering
from infra.store.log_streams import MOST_NEXT
from infra.store.outcomes import parse, tail
from infra.store.port import (
    MOST_REFUSALS,
    AlreadyDecided,
    CommitConflict,
    CommitDone,
    NotAccepted,
    Queued,
    Store,
    Submission,
    Write,
)
from tests.helpers.writes import (
    ALICE,
    BOARD,
    HEADS,
    SHARD,
    attempts_counted,
    id_of,
    moved,
    queue,
    refusals_counted,
    refused,
    submission,
)

FIRST = dict.fromkeys(range(4), 0)
"""The first leaves of all shards."""


def test_the_layout_of_existing_data_stays(store: Store) -> None:
    layout = store.layout()
    assert store.create(Layout(shards=64, lanes=2)) == layout
    assert store.layout() == layout


def test_the_lanes_are_changed_when_that_is_asked_for(store: Store) -> None:
    wanted = msgspec.structs.replace(store.layout(), lanes=3)
    assert store.change_lanes(3) == store.layout() == wanted
    for lanes in (0, 5):
        with pytest.raises(ValueError, match="from 1 to 4"):
            store.change_lanes(lanes)
        with pytest.raises(ValueError, match="from 1 to 4"):
            store.create(Layout(shards=4, lanes=lanes))
    assert store.layout() == wanted


def test_a_challenge_gets_the_same_board_each_time(store: Store) -> None:
    first, second = store.allocate(id_of(1)), store.allocate(id_of(2))
    assert first != second
    assert store.allocate(id_of(1)) == first
    assert store.board_numbers([id_of(2), id_of(3), id_of(1)]) == [second, None, first]
    third = store.allocate(id_of(3))
    assert store.board_numbers([id_of(3)]) == [third]
    if store.layout().numbering is Numbering.SERVER:
        assert (first, second, third) == (1, 2, 3), "to ask for a number allocates none"


def test_boards_that_shards_number_are_never_0_and_never_used_twice(store: Store) -> None:
    boards = [store.allocate(id_of(number)) for number in range(20)]
    assert len({*boards}) == 20
    assert 0 not in boards
    if store.layout().numbering is Numbering.SHARD:
        assert [board % 4 for board in boards] == [
            int.from_bytes(id_of(number)) % 4 for number in range(20)
        ]


def test_the_first_events_of_matches_are_read_together(store: Store) -> None:
    (entry,) = queue(store, 1)
    store.commit([moved(entry, 1, before=0, leaves=2)])
    other = BOARD + 1
    assert store.first_events([other, BOARD, BOARD]) == [None, b"event 1", b"event 1"]
    assert store.first_events([]) == []


def test_a_queued_command_waits_with_its_received_time(store: Store) -> None:
    (entry,) = queue(store, 1)
    assert (entry.shard, entry.payload, entry.reply_to) == (SHARD, b"payload 1", "reply:1")
    assert entry.received > 1_700_000_000_000
    assert store.inbox_size([SHARD]) == 1
    assert store.inbox_size([0, 1, 2]) == 0
    assert store.inbox_size([0, 1, 2, 3]) == 1


def test_commands_wait_in_the_order_they_came(store: Store) -> None:
    assert [e.payload for e in queue(store, 3, 1, 2)] == [
        b"payload 3",
        b"payload 1",
        b"payload 2",
    ]


def test_waiting_asks_several_shards_for_about_as_many_entries_as_wanted(store: Store) -> None:
    store.submit([submission(n, board=n) for n in range(8)])
    assert {e.shard for e in store.read_inbox([0, 1, 2, 3], 4)} == {0, 1, 2, 3}
    assert len(store.read_inbox([0, 1, 2, 3], 4)) == 4


def test_an_empty_inbox_gives_nothing_after_the_wait(store: Store) -> None:
    assert list(store.read_inbox([0, 1], 10)) == []


def test_a_full_inbox_takes_no_more(store: Store) -> None:
    queue(store, 1, 2, 3, 4, 5)
    assert store.submit([submission(6)]) == [NotAccepted(Code.BUSY)]
    assert store.inbox_size([SHARD]) == 5


def test_a_commit_writes_events_snapshot_log_and_outcome_and_empties_the_inbox(
    store: Store,
) -> None:
    (entry,) = queue(store, 1)
    (result,) = store.commit([moved(entry, 1, before=0, leaves=2)])
    assert isinstance(result, CommitDone)
    outcome = parse(result.stored)
    assert (outcome.accepted, outcome.seq, outcome.index) == (True, 1, 0)
    assert store.events(BOARD) == [b"event 1", b"event 2"]
    assert store.outcome(BOARD, id_of(2)) is None
    assert store.snapshots([BOARD, 8]) == [
        PackedSnapshot(HEADS[2] + b"state", b" move move", b"tt"),
        None,
    ]
    assert store.leaves(SHARD, 0, 10) == [(0, b"event 1"), (1, b"event 2")]
    assert store.outcome(BOARD, id_of(1)) == result.stored
    assert store.outcomes(BOARD) == {id_of(1): result.stored}
    assert store.outcomes(8) == {}
    assert store.inbox_size([SHARD]) == 0


def test_a_refusal_is_a_leaf_and_changes_nothing_else(store: Store) -> None:
    entries = queue(store, 1, 2)
    store.commit([moved(entries[0], 1, before=0)])
    (result,) = store.commit([refused(entries[1], 2, before=1)])
    assert isinstance(result, CommitDone)
    assert parse(result.stored).code == "illegal-move"
    assert store.events(BOARD) == [b"event 1"]
    assert store.leaves(SHARD, 0, 10) == [(0, b"event 1"), (1, b"refusal")]
    assert store.snapshots([BOARD]) == [PackedSnapshot(HEADS[1] + b"state", b" move", b"t")]


def test_a_run_of_commands_is_committed_in_order_with_one_index_after_the_other(
    store: Store,
) -> None:
    a, b, c = queue(store, 1, 2, 3)
    results = store.commit(
        [moved(a, 1, before=0), refused(b, 2, before=1), moved(c, 3, before=1, leaves=2)]
    )
    assert [parse(r.stored).index for r in results if isinstance(r, CommitDone)] == [0, 1, 2]
    assert [i for i, _ in store.leaves(SHARD, 1, 2)] == [1, 2]
    ((_, first), (_, second)) = store.leaves(SHARD, 1, 2)
    assert store.leaves_at(SHARD, [2, 99, 1]) == [second, None, first]
    assert store.leaves_at(SHARD, []) == []


def test_a_command_id_that_has_an_outcome_changes_nothing(store: Store) -> None:
    first, again = queue(store, 1, 1)
    (done,) = store.commit([moved(first, 1, before=0)])
    assert isinstance(done, CommitDone)
    assert store.commit([moved(again, 1, before=1)]) == [AlreadyDecided(done.stored)]
    assert store.events(BOARD) == [b"event 1"]
    assert store.inbox_size([SHARD]) == 0


def test_the_same_command_twice_in_a_run_is_one_event(store: Store) -> None:
    first, again = queue(store, 1, 1)
    done, known = store.commit([moved(first, 1, before=0), moved(again, 1, before=1)])
    assert isinstance(done, CommitDone)
    assert known == AlreadyDecided(done.stored)
    assert store.events(BOARD) == [b"event 1"]


@pytest.mark.parametrize("kind", [moved, refused])
def test_a_command_decided_on_another_head_conflicts_and_stays(store: Store, kind: object) -> None:
    assert callable(kind)
    first, second = queue(store, 1, 2)
    store.commit([moved(first, 1, before=0)])
    assert store.commit([kind(second, 2, before=0)]) == [CommitConflict()]
    assert store.events(BOARD) == [b"event 1"]
    assert store.leaves(SHARD, 0, 10) == [(0, b"event 1")]
    assert [entry.id for entry in store.read_inbox([SHARD], 10)] == [second.id]


def test_what_follows_a_conflict_of_its_match_conflicts_too(store: Store) -> None:
    _, second, third = queue(store, 1, 2, 3)
    results = store.commit([moved(second, 2, before=4), moved(third, 3, before=5)])
    assert results == [CommitConflict(), CommitConflict()]


def test_shards_are_committed_independently(store: Store) -> None:
    (entry,) = queue(store, 1)
    store.submit([submission(2, board=4)])
    (other,) = store.read_inbox([0], 10)
    begun = PackedSnapshot(HEADS[1])
    ok = Write(0, other.id, 4, id_of(2), NO_HASH, b"digest..", tail("", 1, ""), (b"e",), begun)
    results = store.commit([moved(entry, 1, before=3), ok])
    assert isinstance(results[0], CommitConflict)
    assert isinstance(results[1], CommitDone)


def test_a_repeated_command_is_answered_from_its_outcome(store: Store) -> None:
    (entry,) = queue(store, 1)
    (done,) = store.commit([moved(entry, 1, before=0)])
    assert isinstance(done, CommitDone)
    assert store.submit([submission(1)]) == [AlreadyDecided(done.stored)]
    assert store.inbox_size([SHARD]) == 0


def test_an_id_used_for_another_command_is_told(store: Store) -> None:
    (entry,) = queue(store, 1)
    store.commit([moved(entry, 1, before=0)])
    assert store.submit([submission(1, digest=b"another.")]) == [NotAccepted(Code.ID_REUSED)]


def test_too_many_refusals_at_a_ply_close_the_door_until_the_match_moves_on(store: Store) -> None:
    for number in range(MOST_REFUSALS):
        (entry,) = queue(store, number)
        store.commit([refused(entry, number, before=0)])
    assert refusals_counted(store, BOARD, ALICE, 0) == MOST_REFUSALS
    assert store.submit([submission(200)]) == [NotAccepted(Code.TOO_MANY_REFUSALS)]
    other = Submission(BOARD, id_of(201), b"digest..", b"bob's", b"bob.....", 0, "reply:1")
    assert isinstance(store.submit([other])[0], Queued)
    (entry,) = store.read_inbox([SHARD], 10)
    store.commit([moved(entry, 201, before=0)])
    assert refusals_counted(store, BOARD, ALICE, 0) == 0
    assert isinstance(store.submit([submission(200)])[0], Queued)


def test_attempts_are_counted_until_the_outcome(store: Store) -> None:
    (entry,) = queue(store, 1)
    assert [store.count_attempt(SHARD, entry.id) for _ in range(2)] == [1, 2]
    assert attempts_counted(store, SHARD) == {entry.id: 2}
    store.commit([moved(entry, 1, before=0)])
    assert attempts_counted(store, SHARD) == {}


def test_attempts_can_be_taken_off_the_count(store: Store) -> None:
    (entry,) = queue(store, 1)
    store.count_attempt(SHARD, entry.id)
    store.reset_attempts(SHARD, entry.id)
    assert attempts_counted(store, SHARD) == {}
    assert store.count_attempt(SHARD, entry.id) == 1


def test_an_entry_set_aside_waits_no_more(store: Store) -> None:
    first, second = queue(store, 1, 2)
    store.dead_letter(first)
    assert [entry.id for entry in store.read_inbox([SHARD], 10)] == [second.id]


def test_news_names_the_shards_whose_logs_have_more(store: Store) -> None:
    assert store.next_leaves(FIRST) == {}
    (entry,) = queue(store, 1)
    store.commit([moved(entry, 1, before=0, leaves=2)])
    leaves = store.leaves(SHARD, 0, 2)
    assert store.next_leaves(FIRST) == {SHARD: leaves}
    assert store.next_leaves({**FIRST, SHARD: 1}) == {SHARD: leaves[1:]}
    assert store.next_leaves({**FIRST, SHARD: 2}) == {}
    assert store.next_leaves({0: 0, SHARD: 0}) == {SHARD: leaves}
    assert store.next_leaves({0: 0}) == store.next_leaves({}) == {}


def test_of_many_new_leaves_the_first_are_named(store: Store) -> None:
    first, second = queue(store, 1, 2)
    store.commit([moved(first, 1, before=0, leaves=4), moved(second, 2, before=4, leaves=4)])
    (more,) = queue(store, 3)
    store.commit([refused(more, 3, before=8)])
    assert len(store.leaves(SHARD, 0, 100)) == MOST_NEXT + 1
    assert store.next_leaves(FIRST) == {SHARD: store.leaves(SHARD, 0, MOST_NEXT)}


def test_the_watermark_is_the_received_time_of_the_oldest_command_that_waits(
    store: Store,
) -> None:
    first = queue(store, 1)[0]
    store.submit([submission(2, board=4)])
    assert store.watermark().at == first.received
    store.commit([moved(first, 1, before=0)])
    (other,) = store.read_inbox([0], 10)
    assert first.received <= store.watermark().at <= other.received


def test_the_watermark_is_now_where_nothing_waits(store: Store) -> None:
    before = store.watermark()
    (entry,) = queue(store, 1)
    assert entry.received >= before.at
    assert before.ends == (0, 0, 0, 0)
    store.commit([moved(entry, 1, before=0, leaves=2)])
    after = store.watermark()
    assert after.at >= before.at
    assert after.ends == (0, 0, 0, 2)
