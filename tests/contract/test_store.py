"""The guarantees of `infra.store.port` by examples, asked of every adapter; `test_store_model.py` compares all else."""

import msgspec
import pytest
from redis import Redis

from domain.errors import Code
from domain.match.history import PackedSnapshot
from infra.durability.durability import Mode
from infra.store.layout import Layout
from infra.store.log_streams import ShardNews
from infra.store.outcomes import parse
from infra.store.port import (
    MOST_AHEAD_MS,
    AlreadyDecided,
    CommitArchived,
    CommitConflict,
    CommitDone,
    NotAccepted,
    Store,
    Write,
)
from infra.store.redis_store import RedisStore
from infra.store.refused_commands import RefusedId
from tests.fakes.memory_store import MemoryStore
from tests.helpers.writes import (
    ALICE,
    BOARD,
    HEADS,
    SHARD,
    attempts_counted,
    id_of,
    moved,
    queue,
    refused,
    submission,
)


def test_the_layout_of_existing_data_stays(store):
    layout = store.layout()
    assert store.create(Layout(shards=64, lanes=2)) == layout
    assert store.layout() == layout


def test_the_lanes_are_changed_when_that_is_asked_for(store):
    wanted = msgspec.structs.replace(store.layout(), lanes=3)
    assert store.change_lanes(3) == store.layout() == wanted
    for lanes in (0, 5):
        with pytest.raises(ValueError, match="from 1 to 4"):
            store.change_lanes(lanes)
        with pytest.raises(ValueError, match="from 1 to 4"):
            store.create(Layout(shards=4, lanes=lanes))
    assert store.layout() == wanted


def test_a_full_inbox_takes_no_more(store):
    queue(store, 1, 2, 3, 4, 5)
    assert store.submit([submission(6)]) == [NotAccepted(Code.BUSY)]
    assert store.inbox_size([SHARD]) == 5


def test_a_commit_writes_events_snapshot_log_and_outcome_and_empties_the_inbox(store):
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


@pytest.mark.parametrize("kind", [moved, refused])
def test_a_command_decided_on_another_head_conflicts_and_stays(store, kind):
    assert callable(kind)
    first, second = queue(store, 1, 2)
    store.commit([moved(first, 1, before=0)])
    assert store.commit([kind(second, 2, before=0)]) == [CommitConflict()]
    assert store.events(BOARD) == [b"event 1"]
    assert store.leaves(SHARD, 0, 10) == [(0, b"event 1")]
    assert [entry.id for entry in store.read_inbox([SHARD], 10)] == [second.id]


def test_the_watermark_is_the_received_time_of_the_oldest_command_that_waits(store):
    first = queue(store, 1)[0]
    store.submit([submission(2, board=4)])
    assert store.watermark().at == first.received
    store.commit([moved(first, 1, before=0)])
    (other,) = store.read_inbox([0], 10)
    assert first.received <= store.watermark().at <= other.received


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


def test_the_end_of_a_log_with_many_new_leaves_is_found(store):
    entries = queue(store, *range(1, 5))
    for number, entry in enumerate(entries, 1):
        store.commit([due(moved(entry, number, before=number - 1), SOON)])
    more = 0
    while len(store.leaves(SHARD, 0, 100)) < 12:
        more += 1
        elsewhere(store, SHARD + 4 * (10 + more), LATER)
    _, found = store.news([0] * 4)
    assert found[SHARD] == ShardNews(waiting=False, end=12)


def test_a_commit_decided_without_the_replies_that_are_there_conflicts_and_stays(store):
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


def moving(write: Write, moves: bytes, turns: bytes = b"", *, rewritten: bool = False) -> Write:
    """The same, with these moves and turns."""
    assert write.snapshot is not None
    snapshot = msgspec.structs.replace(write.snapshot, moves=moves, turns=turns)
    return msgspec.structs.replace(write, snapshot=snapshot, rewritten=rewritten)


def test_a_match_that_goes_on_again_is_not_listed_until_it_ends_again(store):
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


def ended(write: Write) -> Write:
    """The same, by which the match ends."""
    return msgspec.structs.replace(write, ended=SOON)


def retire(store: Store) -> None:
    """Retire the match after its first event."""
    assert store.retire([(BOARD, HEADS[1], store.leaf_indexes(BOARD))]) == [True]


def test_a_match_that_is_not_as_it_was_read_is_not_retired(store):
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


@pytest.mark.parametrize("kind", [moved, refused])
def test_a_command_that_waited_when_its_match_was_archived_changes_nothing_and_leaves(store, kind):
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


SOON, LATER, LAST = 1_700_000_001_000, 1_700_000_002_000, 1_700_000_003_000


def test_a_match_is_due_from_the_time_that_its_last_event_said(store):
    a, b, c, again, d = queue(store, 1, 2, 3, 1, 4)
    store.commit([replying(due(moved(a, 1, before=0), SOON), b"", b"laid")])
    assert store.due_boards(SHARD, SOON - 1, 10) == []
    told = replying(due(refused(b, 2, before=1), 0), b"another", b"nothing")
    late = replying(due(moved(c, 3, before=0), LAST), b"laid", b"other")
    known = replying(due(moved(again, 1, before=1), LAST), b"laid", b"other")
    results = [type(result) for result in store.commit([told, late, known])]
    assert results == [CommitDone, CommitConflict, AlreadyDecided]
    assert store.due_boards(SHARD, SOON, 10) == [BOARD]
    assert store.snapshots_with_conditional_moves([BOARD])[0][1] == b"laid"
    store.commit([replying(due(moved(d, 4, before=1), LATER), b"laid")])
    assert (store.due_boards(SHARD, SOON, 10), store.due_boards(SHARD, LATER, 10)) == ([], [BOARD])
    assert store.next_due([0, SHARD]) == [None, LATER]
    elsewhere(store, 3, LATER - 1)
    assert store.due_boards(SHARD, LAST, 10) == [3, BOARD]
    assert store.due_boards(SHARD, LAST, 1) == [3]


BEGIN = 1_795_100_400_000


SECOND = 1_000


class Clock:
    """The server's clock, which a test sets."""

    def __init__(self) -> None:
        self.now = BEGIN

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "valkey"])
def clocked(request: pytest.FixtureRequest, clock: Clock) -> Store:
    if request.param == "memory":
        made: Store = MemoryStore(clock)
    else:
        client: Redis = request.getfixturevalue("redis_client")
        made = RedisStore(client, Mode.FSYNC, clock=clock)
    made.create(Layout(shards=4, lanes=1))
    return made


def test_nothing_is_received_before_the_last_watermark_though_the_clock_steps_back(clocked, clock):
    promised = clocked.watermark().at
    assert promised == BEGIN
    clock.now -= 90 * SECOND
    (entry,) = queue(clocked, 1)
    assert entry.received == promised
    assert clocked.watermark().at == promised
    clocked.commit([moved(entry, 1, before=0)])
    clock.now = BEGIN + 1
    clocked.submit([submission(2)])
    (entry,) = clocked.read_inbox([entry.shard], 10)
    assert entry.received == BEGIN + 1, "the clock is there again"


def test_no_command_is_received_before_one_that_waits_in_its_inbox(clocked, clock):
    (first,) = queue(clocked, 1)
    clock.now -= 90 * SECOND
    clocked.submit([submission(2, board=BOARD)])
    promised = clocked.watermark().at
    clocked.commit([moved(first, 1, before=0)])
    (second,) = clocked.read_inbox([first.shard], 10)
    assert promised <= second.received == first.received


def test_a_clock_that_ran_far_ahead_is_believed_when_it_is_put_right(clocked, clock):
    clock.now = BEGIN + MOST_AHEAD_MS + 1
    clocked.watermark()
    clocked.submit([submission(1)])
    clock.now = BEGIN
    clocked.submit([submission(2)])
    received = [entry.received for entry in clocked.read_inbox([0, 1, 2, 3], 10)]
    assert received == [BEGIN + MOST_AHEAD_MS + 1, BEGIN], "no turn loses more than that"
