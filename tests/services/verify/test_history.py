"""A change of an event, a snapshot, a locator or a leaf is found."""

import msgspec
import pytest
from redis.exceptions import ResponseError

from domain.errors import Code, Refusal
from domain.match.commands import CommandEnvelope, ResignMatch
from domain.match.decide import decide
from domain.match.decision import Decision
from domain.match.history import (
    PackedSnapshot,
    chain_events,
    decode_event,
    pack_snapshot,
    unpack_snapshot,
)
from infra.audit.stored_match import check
from infra.store import outcomes
from tests.fakes.app import FakeApp, Terminal
from tests.fakes.memory_store import MemoryStore
from tests.helpers.leaves import EDITS, a_flipped_bit
from tests.services.verify.checked_match import BOARD, EVENTS, broken


def test_an_untouched_match_holds(store):
    assert check(store, BOARD) == (
        "match 1 holds: 9 events in sequence, chained, and decided again by pow2/1 "
        "with the same result; snapshot, outcomes and log agree; 1 refusal decided again with the same sentence"
    )


def test_leaves_are_read_many_in_one_round_trip(store, monkeypatch):
    chunks = []
    monkeypatch.setattr(store, "leaves", None)  # which reads one
    logs = {index: store._logs[BOARD % 4][index] for index in range(EVENTS + 1)}
    monkeypatch.setattr(
        store,
        "leaves_at",
        lambda _, indexes: chunks.append(indexes) or [logs[index] for index in indexes],
    )
    assert check(store, BOARD).startswith("match 1 holds")
    assert chunks == [list(range(EVENTS + 1))]


def test_a_match_that_is_over_holds():
    app = FakeApp()
    terminal = Terminal(app)
    terminal.challenge()
    terminal.move(BOARD, "bob", "decline")
    assert check(app.store, BOARD).startswith("match 1 holds: 4 events")
    app.close()


def test_there_must_be_a_match(store):
    with pytest.raises(Refusal) as caught:
        check(store, 99)
    assert caught.value.code is Code.UNKNOWN_BOARD


class Failing:
    """A store whose events can't be read."""

    def __init__(self, store: MemoryStore, error: str) -> None:
        self._store = store
        self._error = error

    def events(self, board):
        del board
        raise ResponseError(self._error)

    def __getattr__(self, name):
        return getattr(self._store, name)


def test_a_key_of_another_type_is_found(store):
    found = broken(Failing(store, "WRONGTYPE Operation against a key"))
    assert found.seq == 1
    with pytest.raises(ResponseError):
        check(Failing(store, "NOPERM"), BOARD)


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("place", range(EVENTS))
def test_an_edited_event_is_found(store, place, edit):
    events = store._matches[BOARD].events
    events[place] = edit(events[place])
    # an edit that leaves an event is noticed by the hash in the next one
    assert broken(store).seq in (place + 1, place + 2)


@pytest.mark.parametrize("place", range(EVENTS))
def test_a_dropped_event_is_named(store, place):
    del store._matches[BOARD].events[place]
    assert broken(store).seq == place + 1


@pytest.mark.parametrize("count", range(1, EVENTS + 1))
def test_dropping_the_last_events_is_found(store, count):
    del store._matches[BOARD].events[-count:]
    found = broken(store)
    assert found.seq == EVENTS - count + 1
    assert "it is missing: the snapshot was made after 9 events" in found.sentence


@pytest.mark.parametrize("first", range(EVENTS))
@pytest.mark.parametrize("second", range(EVENTS))
def test_swapped_events_are_found(store, first, second):
    events = store._matches[BOARD].events
    events[first], events[second] = events[second], events[first]
    if first == second:
        assert "holds" in check(store, BOARD)
    else:
        assert broken(store).seq == min(first, second) + 1


@pytest.mark.parametrize("place", range(EVENTS + 1))
@pytest.mark.parametrize("copied", range(EVENTS))
def test_an_inserted_copy_is_found(store, place, copied):
    events = store._matches[BOARD].events
    events.insert(place, events[copied])
    # a copy beside its original: the second of the two is the one too many
    beside = place in (copied, copied + 1)
    assert broken(store).seq == (copied + 2 if beside else place + 1)


def forged(store: MemoryStore) -> tuple[CommandEnvelope, list[bytes], PackedSnapshot]:
    """A resignation that nobody sent, chained to the last event, and the snapshot after it."""
    snapshot = unpack_snapshot(store._matches[BOARD].snapshot)
    sent = CommandEnvelope(BOARD, b"f" * 16, snapshot.state.seats[0], ResignMatch())
    decided = decide(sent, snapshot.state)
    assert isinstance(decided, Decision)
    leaves, after = chain_events(sent, decided, snapshot, 0)
    return sent, list(leaves), pack_snapshot(after)


def test_a_forged_end_is_found_by_the_snapshot(store):
    _, leaves, _ = forged(store)
    store._matches[BOARD].events += leaves
    assert broken(store).seq == EVENTS + 1


def test_a_forged_end_and_snapshot_are_found_by_the_outcomes(store):
    _, leaves, snapshot = forged(store)
    store._matches[BOARD].events += leaves
    store._matches[BOARD].snapshot = snapshot
    found = broken(store)
    assert found.seq == EVENTS + 1
    assert "no outcome is stored" in found.sentence


@pytest.mark.parametrize(
    ("index", "said"), [(0, "a different one"), (8, "a different one"), (99, "missing")]
)
def test_a_forged_end_snapshot_and_outcome_are_found_by_the_log(store, index, said):
    sent, leaves, snapshot = forged(store)
    match = store._matches[BOARD]
    match.events += leaves
    match.snapshot = snapshot
    tail = outcomes.tail("", EVENTS + 1, "")
    match.outcomes[sent.id] = outcomes.encode_stored(bytes(8), index, tail)
    found = broken(store)
    assert found.seq == EVENTS + 1
    assert f"log is {said}" in found.sentence


def test_a_snapshot_that_was_changed_is_found(store):
    match = store._matches[BOARD]
    snapshot = unpack_snapshot(match.snapshot)
    for changed in (
        msgspec.structs.replace(snapshot, head=bytes(32)),
        msgspec.structs.replace(
            snapshot, state=msgspec.structs.replace(snapshot.state, moves="m13-m9")
        ),
        msgspec.structs.replace(
            snapshot, state=msgspec.structs.replace(snapshot.state, position=None)
        ),
    ):
        match.snapshot = pack_snapshot(changed)
        assert broken(store).seq == EVENTS
    match.snapshot = PackedSnapshot(snapshot.head + b"\xc1")
    assert "can't be read" in broken(store).sentence
    match.snapshot = None
    assert broken(store).seq == 1


@pytest.mark.parametrize("change", [lambda all_: all_[:-1], lambda all_: [*all_, 99]])
def test_a_locator_that_was_changed_is_found(store, change):
    match = store._matches[BOARD]
    match.indexes = change(match.indexes)
    assert "locator" in broken(store).sentence


def test_the_log_has_the_events_in_their_order(store):
    first, second = (decode_event(store.events(BOARD)[place]).command for place in (1, 2))
    match, log = store._matches[BOARD], store._logs[BOARD % 4]
    a, b = outcomes.parse(match.outcomes[first]), outcomes.parse(match.outcomes[second])
    log[a.index], log[b.index] = log[b.index], log[a.index]
    for command, was, index in ((first, a, b.index), (second, b, a.index)):
        tail = outcomes.tail("", was.seq, "")
        match.outcomes[command] = outcomes.encode_stored(was.digest, index, tail)
    assert broken(store).sentence == "the log has it before its predecessor"


@pytest.mark.parametrize("place", range(EVENTS))
def test_a_leaf_that_was_changed_or_dropped_is_found(store, place):
    log = store._logs[BOARD % 4]
    at = log.index(store.events(BOARD)[place])
    leaf = log.pop(at)
    assert broken(store).seq == place + 1
    log.insert(at, a_flipped_bit(leaf))
    assert broken(store).seq == place + 1


def test_a_match_that_goes_on_meanwhile_is_read_at_one_moment(store):
    class Busy:
        """A store in which a forged move is committed while the events are read."""

        def __init__(self) -> None:
            self.add_reads = 0

        def snapshots(self, boards):
            self.add_reads += 1
            return store.snapshots(boards) if self.add_reads > 1 else [b"an older one"]

        def __getattr__(self, name):
            return getattr(store, name)

    busy = Busy()
    assert "holds" in check(busy, BOARD)
    assert busy.add_reads == 4
