"""What every store promises of a match around its events: moves, leaves, its end, the archive."""

import msgspec
import pytest

from domain.errors import Code
from domain.match.history import PackedSnapshot
from infra.store import locators
from infra.store.kept_texts import RefusedId
from infra.store.outcomes import parse
from infra.store.port import (
    AlreadyDecided,
    CommitArchived,
    CommitConflict,
    CommitDone,
    NotAccepted,
    Queued,
    Store,
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

SOON, LATER = 1_700_000_001_000, 1_700_000_002_000


def moving(write: Write, moves: bytes, turns: bytes = b"", *, rewritten: bool = False) -> Write:
    """The same, with these moves and turns."""
    assert write.snapshot is not None
    snapshot = msgspec.structs.replace(write.snapshot, moves=moves, turns=turns)
    return msgspec.structs.replace(write, snapshot=snapshot, rewritten=rewritten)


def snapshot_of(store: Store) -> PackedSnapshot | None:
    (plain,) = store.snapshots([BOARD])
    ((loaded, _),) = store.snapshots_with_conditional_moves([BOARD])
    assert plain == loaded
    return plain


def test_moves_and_turns_are_appended_to_those_before(store: Store) -> None:
    a, b, c = queue(store, 1, 2, 3)
    store.commit([moving(moved(a, 1, before=0), b"one", b"1")])
    store.commit(
        [moving(moved(b, 2, before=1), b" two", b"2"), moving(moved(c, 3, before=2), b"", b"")]
    )
    assert snapshot_of(store) == PackedSnapshot(HEADS[3] + b"state", b"one two", b"12")


def test_moves_taken_back_are_replaced_by_those_that_are_left(store: Store) -> None:
    a, b, c, d = queue(store, 1, 2, 3, 4)
    store.commit([moving(moved(a, 1, before=0), b"one two", b"12")])
    store.commit([moving(moved(b, 2, before=1), b"one", b"1", rewritten=True)])
    assert snapshot_of(store) == PackedSnapshot(HEADS[2] + b"state", b"one", b"1")
    store.commit([moving(moved(c, 3, before=2), b"", b"", rewritten=True)])
    assert snapshot_of(store) == PackedSnapshot(HEADS[3] + b"state")
    store.commit([moving(moved(d, 4, before=3), b"other", b"3")])
    assert snapshot_of(store) == PackedSnapshot(HEADS[4] + b"state", b"other", b"3")


def test_what_conflicts_is_known_or_is_refused_leaves_the_moves_alone(store: Store) -> None:
    a, b, again, c = queue(store, 1, 2, 1, 3)
    store.commit([moving(moved(a, 1, before=0), b"one", b"1")])
    before = snapshot_of(store)
    late = moving(moved(b, 2, before=0), b" two", b"2")
    known = moving(moved(again, 1, before=1), b"none", b"", rewritten=True)
    results = store.commit([late, known, refused(c, 3, before=1)])
    assert [type(result) for result in results] == [CommitConflict, AlreadyDecided, CommitDone]
    assert snapshot_of(store) == before


def test_conditional_moves_that_came_after_the_decision_are_met_by_the_commit(
    store: Store,
) -> None:
    a, b = queue(store, 1, 2)
    store.commit([moved(a, 1, before=0)])
    assert store.set_conditional_moves(BOARD, HEADS[1], b"", b"prepared")
    assert store.commit([moved(b, 2, before=1)]) == [CommitConflict()]
    assert store.set_conditional_moves(BOARD, HEADS[1], b"prepared", b"")
    assert isinstance(store.commit([moved(b, 2, before=1)])[0], CommitDone)


def test_conditional_moves_and_refusals_of_a_match_do_not_hide_each_other(store: Store) -> None:
    a, b, c, d = queue(store, 1, 2, 3, 4)
    store.commit([moved(a, 1, before=0)])
    store.commit([refused(b, 2, before=1)])
    assert store.set_conditional_moves(BOARD, HEADS[1], b"", b"prepared")
    store.commit([refused(c, 3, before=1)])
    assert refusals_counted(store, BOARD, ALICE, 0) == 2
    assert store.commit([moved(d, 4, before=1)]) == [CommitConflict()]
    aware = msgspec.structs.replace(moved(d, 4, before=1), conditional_before=b"prepared")
    assert isinstance(store.commit([aware])[0], CommitDone)
    assert refusals_counted(store, BOARD, ALICE, 0) == 0
    assert store.snapshots_with_conditional_moves([BOARD])[0][1] == b""


def test_a_refused_command_is_kept_as_it_was_first_sent(store: Store) -> None:
    a, b, c = queue(store, 1, 2, 3)
    store.commit([moved(a, 1, before=0), refused(b, 2, before=1), refused(c, 3, before=1)])
    again = msgspec.structs.replace(refused(b, 2, before=1), kept=b"another")
    assert isinstance(store.commit([again])[0], AlreadyDecided)
    wanted = [RefusedId(ALICE, id_of(number)) for number in (2, 1, 3)]
    assert store.kept_commands(SHARD, wanted) == [b"command 2", None, b"command 3"]


def test_refusals_before_a_match_begins_are_counted_until_it_does(store: Store) -> None:
    a, b = queue(store, 1, 2)
    store.commit([refused(a, 1, before=0), moved(b, 2, before=0)])
    assert refusals_counted(store, BOARD, ALICE, 0) == 0


def test_the_leaves_of_a_match_are_found_in_the_log(store: Store) -> None:
    first, second, third = queue(store, 1, 2, 3)
    other = BOARD + 4
    store.submit([submission(9, board=other)])
    elsewhere = store.read_inbox([SHARD], 10)[-1]
    assert store.leaf_indexes(BOARD) == []
    store.commit([refused(first, 1, before=0)])
    assert store.anchor(SHARD, 1, bytes(32), b"anchor")
    beside = msgspec.structs.replace(moved(elsewhere, 9, before=0), board=other)
    store.commit([moved(second, 2, before=0, leaves=2), beside, refused(third, 3, before=2)])
    assert store.leaf_indexes(BOARD) == [0, 2, 3, 5]
    assert store.leaf_indexes(other) == [4]


def test_a_match_that_ends_is_listed_by_the_time_of_its_end(store: Store) -> None:
    a, b, c = queue(store, 1, 2, 3)
    store.commit([moved(a, 1, before=0)])
    assert store.ended_boards(SHARD, LATER, 10) == []
    store.commit([msgspec.structs.replace(moved(b, 2, before=1), ended=LATER)])
    assert store.ended_boards(SHARD, SOON, 10) == []
    assert store.ended_boards(SHARD, LATER, 10) == [BOARD]
    store.commit([msgspec.structs.replace(refused(c, 3, before=2), ended=SOON)])
    assert store.ended_boards(SHARD, SOON, 10) == [], "a refusal ends nothing"
    assert store.ended_boards(0, LATER, 10) == []


def test_a_match_that_goes_on_again_is_not_listed_until_it_ends_again(store: Store) -> None:
    a, b, c, d = queue(store, 1, 2, 3, 4)
    store.commit([msgspec.structs.replace(moved(a, 1, before=0), ended=SOON)])
    store.commit([moving(moved(b, 2, before=1), b"one", b"1", rewritten=True)])
    assert store.ended_boards(SHARD, LATER, 10) == []
    store.commit([msgspec.structs.replace(moved(c, 3, before=2), ended=LATER)])
    assert store.ended_boards(SHARD, SOON, 10) == []
    assert store.ended_boards(SHARD, LATER, 10) == [BOARD]
    both = moving(moved(d, 4, before=3), b"", b"", rewritten=True)
    store.commit([msgspec.structs.replace(both, ended=LATER + 1)])
    assert store.ended_boards(SHARD, LATER, 10) == []
    assert store.ended_boards(SHARD, LATER + 1, 10) == [BOARD]


def test_matches_that_ended_are_listed_the_earliest_first(store: Store) -> None:
    for board, at in ((7, LATER), (3, SOON), (11, LATER + 1)):
        store.submit([submission(board, board)])
        (entry,) = store.read_inbox([SHARD], 1)
        ended = msgspec.structs.replace(moved(entry, board, before=0), board=board, ended=at)
        store.commit([ended])
    assert store.ended_boards(SHARD, LATER + 1, 10) == [3, 7, 11]
    assert store.ended_boards(SHARD, LATER + 1, 2) == [3, 7]


# the archive


def ended(write: Write) -> Write:
    """The same, by which the match ends."""
    return msgspec.structs.replace(write, ended=SOON)


def retire(store: Store) -> None:
    """Retire the match after its first event."""
    assert store.retire([(BOARD, HEADS[1], store.leaf_indexes(BOARD))]) == [True]


def test_a_match_in_the_archive_takes_no_command(store: Store) -> None:
    (first,) = queue(store, 1)
    store.commit([ended(moved(first, 1, before=0))])
    retire(store)
    assert store.submit([submission(2)]) == [NotAccepted(Code.MATCH_OVER)]
    assert not isinstance(store.submit([submission(1)])[0], Queued)
    assert store.inbox_size([SHARD]) == 0
    assert isinstance(store.submit([submission(3, board=BOARD + 4)])[0], Queued)


def test_a_repeated_start_of_a_match_in_the_archive_begins_no_other(store: Store) -> None:
    board = store.allocate(id_of(1))
    store.submit([submission(1, board)])
    shard = store.layout().shard_of(board)
    (entry,) = store.read_inbox([shard], 1)
    start = msgspec.structs.replace(moved(entry, 1, before=0), board=board)
    store.commit([ended(start)])
    assert store.retire([(board, HEADS[1], store.leaf_indexes(board))]) == [True]
    assert store.allocate(id_of(1)) == board
    assert not isinstance(store.submit([submission(1, board)])[0], Queued)
    assert store.inbox_size([shard]) == 0


def test_a_match_that_is_retired_is_not_listed_as_ended_and_is_retired_once(store: Store) -> None:
    (first,) = queue(store, 1)
    store.commit([ended(moved(first, 1, before=0))])
    indexes = store.leaf_indexes(BOARD)
    assert store.retire([(BOARD, HEADS[1], indexes)]) == [True]
    assert store.ended_boards(SHARD, LATER, 10) == []
    assert store.retire([(BOARD, HEADS[1], indexes)]) == [False]


def test_a_match_that_is_not_as_it_was_read_is_not_retired(store: Store) -> None:
    first, second, third = queue(store, 1, 2, 3)
    store.commit([moved(first, 1, before=0)])
    assert store.retire([(BOARD, HEADS[1], [0])]) == [False], "it goes on"
    store.commit([ended(moved(second, 2, before=1))])
    assert store.retire([(BOARD, HEADS[1], [0, 1])]) == [False], "its head is another"
    assert store.retire([(BOARD, HEADS[2], [0])]) == [False], "its leaves are others"
    store.commit([refused(third, 3, before=2)])
    kept = [RefusedId(ALICE, id_of(3))]
    assert store.retire([(BOARD, HEADS[2], [0, 1])], {BOARD: kept}) == [False], "a refusal came"
    assert store.ended_boards(SHARD, LATER, 10) == [BOARD]
    assert store.events(BOARD) == [b"event 1", b"event 2"]
    assert store.kept_commands(SHARD, kept) == [b"command 3"]
    assert store.retire([(BOARD, HEADS[2], [0, 1, 2])], {BOARD: kept}) == [True]
    assert store.kept_commands(SHARD, kept) == [None]


def test_a_retired_match_has_no_conditional_moves_and_takes_none(store: Store) -> None:
    (first,) = queue(store, 1)
    store.commit([ended(moved(first, 1, before=0))])
    assert store.set_conditional_moves(BOARD, HEADS[1], b"", b"prepared")
    retire(store)
    assert store.snapshots_with_conditional_moves([BOARD])[0][1] == b""
    assert not store.set_conditional_moves(BOARD, HEADS[1], b"", b"prepared")


@pytest.mark.parametrize("kind", [moved, refused])
def test_a_command_that_waited_when_its_match_was_archived_changes_nothing_and_leaves(
    store: Store, kind: object
) -> None:
    assert callable(kind)
    first, second, again = queue(store, 1, 2, 1)
    store.commit([ended(moved(first, 1, before=0))])
    store.count_attempt(SHARD, second.id)
    before = store.leaves(SHARD, 0, 10)
    retire(store)
    results = store.commit([kind(second, 2, before=1), moved(again, 1, before=1)])
    assert all(isinstance(result, CommitArchived) for result in results)
    assert isinstance(results[0], CommitArchived)
    outcome = parse(results[0].stored)
    assert (outcome.code, outcome.digest) == (Code.MATCH_OVER, b"digest..")
    assert store.outcome(BOARD, id_of(2)) is None
    assert store.leaves(SHARD, 0, 10) == before
    assert store.inbox_size([SHARD]) == 0
    assert attempts_counted(store, SHARD) == {}


def test_of_several_matches_those_that_are_as_they_were_read_are_retired(store: Store) -> None:
    boards = [BOARD, BOARD + 4, BOARD + 8]
    for number, board in enumerate(boards, 1):
        store.submit([submission(number, board)])
        (entry,) = store.read_inbox([SHARD], 1)
        store.commit([msgspec.structs.replace(ended(moved(entry, number, before=0)), board=board)])
    heads = [snapshot.state[:32] for snapshot in store.snapshots(boards) if snapshot]
    ends = [
        (board, head, [place])
        for place, (board, head) in enumerate(zip(boards, heads, strict=True))
    ]
    assert store.retire([ends[0], (boards[1], bytes(32), [1]), ends[2]]) == [True, False, True]
    assert store.ended_boards(SHARD, LATER, 10) == [boards[1]]
    assert store.retire([]) == []


def test_whole_matches_are_read_together(store: Store) -> None:
    first, second = queue(store, 1, 2)
    store.commit([moved(first, 1, before=0), refused(second, 2, before=1)])
    found, missing = store.whole_matches([BOARD, BOARD + 4])
    assert missing is None
    assert found is not None
    assert [found.snapshot] == store.snapshots([BOARD])
    assert found.events == store.events(BOARD)
    assert found.outcomes == store.outcomes(BOARD)
    assert locators.decode(found.locator) == store.leaf_indexes(BOARD) == [0, 1]
    assert store.whole_matches([]) == []
