"""The audit of a stored match: a change of an event, a snapshot, a locator, a leaf, an outcome or a refusal is found."""

import msgspec
import pytest
from redis.exceptions import ResponseError

from domain.errors import Code, Refusal
from domain.match.commands import (
    CommandEnvelope,
    ResignMatch,
    encode_command,
    without_envelope,
)
from domain.match.decide import decide
from domain.match.decision import Decision
from domain.match.events import Moved
from domain.match.evolve import evolve
from domain.match.history import (
    EMPTY_SNAPSHOT,
    BrokenHistory,
    PackedSnapshot,
    RefusedLeaf,
    Snapshot,
    chain_events,
    decode_event,
    decode_refusal,
    encode_event,
    leaf_hash,
    pack_snapshot,
    unpack_snapshot,
)
from domain.match.sentences import SAY
from domain.match.state import cache_position
from infra.audit.stored_match import check
from infra.store import outcomes
from tests.fakes.app import FakeApp, Terminal
from tests.fakes.memory_store import MemoryStore
from tests.helpers.leaves import EDITS, a_flipped_bit

BOARD = 1
EVENTS = 9
"""Start, its acceptance, four moves, an offer, its answer, a move."""

REFUSAL = 2
"""The log index of the refusal, after the first two events."""


@pytest.fixture
def store() -> MemoryStore:
    """A store with a match of `EVENTS` events, a refusal among them in the log."""
    app = FakeApp()
    terminal = Terminal(app)
    assert terminal.challenge("-fast") == BOARD
    assert terminal.move(BOARD, "bob", "a1-a5").code == Code.NOT_YOUR_TURN
    for name, text in (
        ("alice", "m13-m9"), ("bob", "a13-a9"), ("alice", "m1-m5"), ("bob", "a1-a5"),
        ("bob", "propose draw"), ("alice", "reject"), ("alice", "m9-m13"),
    ):  # fmt: skip
        assert terminal.move(BOARD, name, text).code == ""
    app.close()
    return app.store


def broken(store: MemoryStore) -> BrokenHistory:
    """Return the error that a check of the match ends with."""
    with pytest.raises(BrokenHistory) as caught:
        check(store, BOARD)
    return caught.value


def the_refusal(store) -> tuple[bytes, outcomes.CommandOutcome]:
    """The refused command's id and outcome."""
    leaf = decode_refusal(store._logs[BOARD % 4][REFUSAL])
    return leaf.command, outcomes.parse(store.outcome(BOARD, leaf.command))


def test_an_untouched_match_holds_and_is_read_in_one_round_trip(store, monkeypatch):
    chunks = []
    monkeypatch.setattr(store, "leaves", None)  # which reads one
    logs = {index: store._logs[BOARD % 4][index] for index in range(EVENTS + 1)}
    monkeypatch.setattr(
        store,
        "leaves_at",
        lambda _, indexes: chunks.append(indexes) or [logs[index] for index in indexes],
    )
    assert check(store, BOARD) == (
        "match 1 holds: 9 events in sequence, chained, and decided again by pow2/1 with the same result; "
        "snapshot, outcomes and log agree; 1 refusal decided again with the same sentence"
    )
    assert chunks == [list(range(EVENTS + 1))]
    with pytest.raises(Refusal) as caught:
        check(store, 99)
    assert caught.value.code is Code.UNKNOWN_BOARD


# events


def test_whatever_is_done_to_the_events_is_found_at_its_place(store):
    match, real = store._matches[BOARD], list(store.events(BOARD))
    wrong = []

    def expect(events: list[bytes], *seqs: int) -> None:
        match.events = list(events)
        if broken(store).seq not in seqs:
            wrong.append((seqs, broken(store)))

    for place in range(EVENTS):
        for edit in EDITS:
            # an edit that leaves an event is noticed by the hash in the next one
            expect([*real[:place], edit(real[place]), *real[place + 1 :]], place + 1, place + 2)
        expect(real[:place] + real[place + 1 :], place + 1)
        # a copy beside its original: the second of the two is the one too many
        expect([*real[: place + 1], real[place], *real[place + 1 :]], place + 2)
        expect([real[place], *real] if place else [real[1], *real], 1)
    swapped = list(real)
    swapped[2], swapped[6] = swapped[6], swapped[2]
    expect(swapped, 3)
    assert wrong == []
    for count in (1, EVENTS):
        match.events = real[:-count]
        assert broken(store).seq == EVENTS - count + 1
        assert "it is missing: the snapshot was made after 9 events" in broken(store).sentence


def forged(store: MemoryStore) -> tuple[CommandEnvelope, list[bytes], PackedSnapshot]:
    """A resignation that nobody sent, chained to the last event, and the snapshot after it."""
    snapshot = unpack_snapshot(store._matches[BOARD].snapshot)
    sent = CommandEnvelope(BOARD, b"f" * 16, snapshot.state.seats[0], ResignMatch())
    decided = decide(sent, snapshot.state)
    assert isinstance(decided, Decision)
    leaves, after = chain_events(sent, decided, snapshot, 0)
    return sent, list(leaves), pack_snapshot(after)


def test_a_forged_end_is_found_by_the_snapshot_the_outcomes_and_the_log_in_turn(store):
    sent, leaves, snapshot = forged(store)
    match = store._matches[BOARD]
    match.events += leaves
    assert broken(store).seq == EVENTS + 1
    assert "the snapshot lacks it" in broken(store).sentence
    match.snapshot = snapshot
    assert "no outcome is stored" in broken(store).sentence
    tail = outcomes.tail("", EVENTS + 1, "")
    for index, said in ((0, "a different one"), (8, "a different one"), (99, "missing")):
        match.outcomes[sent.id] = outcomes.encode_stored(bytes(8), index, tail)
        assert broken(store).seq == EVENTS + 1
        assert f"log is {said}" in broken(store).sentence


def test_a_snapshot_that_was_changed_is_found(store):
    match = store._matches[BOARD]
    snapshot = unpack_snapshot(match.snapshot)
    for changed in (
        msgspec.structs.replace(snapshot, head=bytes(32)),
        msgspec.structs.replace(snapshot, state=msgspec.structs.replace(snapshot.state, moves="m13-m9")),
        msgspec.structs.replace(snapshot, state=msgspec.structs.replace(snapshot.state, position=None)),
    ):  # fmt: skip
        match.snapshot = pack_snapshot(changed)
        assert broken(store).seq == EVENTS
    match.snapshot = PackedSnapshot(snapshot.head + b"\xc1")
    assert "can't be read" in broken(store).sentence
    match.snapshot = None
    assert broken(store).seq == 1


# the log


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


@pytest.mark.parametrize("place", [0, 4, EVENTS - 1])
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


# outcomes


def test_an_outcome_that_was_changed_is_found(store):
    match = store._matches[BOARD]
    command = decode_event(match.events[4]).command
    was = match.outcomes.pop(command)
    before = outcomes.parse(was)
    assert broken(store).seq == 5
    for tail in (("", 4, ""), ("internal", 5, "x"), ("illegal-move", 4, ""), ("", 5, "well played"), ("", 6, "")):  # fmt: skip
        changed = outcomes.encode_stored(before.digest, before.index, outcomes.tail(*tail))
        match.outcomes[command] = changed
        assert broken(store).seq == 5, tail
    match.outcomes[command] = b"another." + was[8:]
    assert broken(store).sentence == "the outcome of its command is of another command"
    for stored in (b"", b"digest..", b"digest..x:y", b"digest..-1:", b"digest..5:"):
        match.outcomes[command] = stored
        broken(store)
    match.outcomes[command] = was
    match.outcomes[b"f" * 16] = outcomes.encode_stored(bytes(8), 3, outcomes.tail("", 3, ""))
    assert broken(store).seq == 3
    said = f"it does not come from command {(b'f' * 16).hex()}"
    assert broken(store).sentence.startswith(said)


# refusals


@pytest.mark.parametrize(
    "other",
    [{"code": ""}, {"code": "illegal-move"}, {"seq": 0}, {"seq": 3}, {"index": 0}, {"index": 99}],
)
def test_a_refusal_that_was_changed_is_found(store, other):
    command, was = the_refusal(store)
    now = msgspec.structs.replace(was, **other)
    store._matches[BOARD].outcomes[command] = outcomes.encode_stored(
        now.digest, now.index, outcomes.tail(now.code, now.seq, now.sentence)
    )
    broken(store)


def test_a_refusals_leaf_that_was_changed_is_found(store):
    log = store._logs[BOARD % 4]
    leaf = decode_refusal(log[REFUSAL])
    for other in ({"match": 2}, {"command": b"f" * 16}, {"code": "illegal-move"}, None):
        log[REFUSAL] = encode_event(msgspec.structs.replace(leaf, **other)) if other else b"nothing"
        assert (broken(store).seq, broken(store).sentence) == (
            2,
            "leaf 2 of shard 1's log, for a refusal after it, is a different one",
        )


def test_a_refusal_whose_outcome_is_missing_or_says_something_else_is_found(store):
    command, was = the_refusal(store)
    stored = store._matches[BOARD].outcomes
    del stored[command]
    assert broken(store).seq == 2
    said = (
        "leaf 2 of shard 1's log is a refusal after it, and no outcome is stored for its command "
    )
    assert broken(store).sentence == f"{said}{command.hex()}"
    for text in (SAY("over"), SAY("turn", side="Light", turn="Dark"), "another sentence", ""):
        tail = outcomes.tail(was.code, was.seq, text)
        stored[command] = outcomes.encode_stored(was.digest, was.index, tail)
        assert broken(store).seq == 2
        said = f"its stored sentence is {str(text)!r}, not {was.sentence!r}"
        assert said in broken(store).sentence
    for digest, said in (
        (b"another.", "the command that is kept of it is not the one of its outcome"),
        (bytes(8), "has no digest of its command"),
    ):
        tail = outcomes.tail(was.code, was.seq, was.text)
        stored[command] = outcomes.encode_stored(digest, was.index, tail)
        assert said in broken(store).sentence


def test_a_legal_move_that_was_made_a_refusal_is_found(store):
    """The last move of the match is taken out of it, and refused instead, in all that is stored."""
    match, log = store._matches[BOARD], store._logs[BOARD % 4]
    moved = decode_event(match.events.pop())
    assert isinstance(moved.body, Moved)
    was = outcomes.parse(match.outcomes[moved.command])
    lie = RefusedLeaf(
        1, BOARD, moved.at, moved.command, moved.actor, "not-your-turn", moved.body.move, None
    )
    log[was.index] = encode_event(lie)
    text = SAY("turn", side="Light", turn="Dark")
    match.outcomes[moved.command] = outcomes.encode_stored(
        was.digest, was.index, outcomes.tail(lie.code, EVENTS - 1, text)
    )
    snapshot = EMPTY_SNAPSHOT
    for data in match.events:
        event = decode_event(data)
        snapshot = Snapshot(leaf_hash(data), evolve(snapshot.state, event.body, event.at))
    match.snapshot = pack_snapshot(Snapshot(snapshot.head, cache_position(snapshot.state)))
    found = broken(store)
    assert found.seq == EVENTS - 1
    assert found.sentence.endswith("does not hold: the rules accept it")


def test_a_kept_command_that_was_changed_is_found(store):
    ((refused, kept),) = store.kept[BOARD % 4].items()
    store.kept[BOARD % 4][refused] = without_envelope(
        encode_command(CommandEnvelope(BOARD, refused.command, refused.actor, ResignMatch()))
    )
    assert "the command that is kept of it is not the one of its outcome" in broken(store).sentence
    store.kept[BOARD % 4][refused] = kept[:-1]
    assert "the command that is kept of it" in broken(store).sentence


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
    assert broken(Failing(store, "WRONGTYPE Operation against a key")).seq == 1
    with pytest.raises(ResponseError):
        check(Failing(store, "NOPERM"), BOARD)
