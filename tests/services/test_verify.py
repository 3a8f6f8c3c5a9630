import msgspec
import pytest
from redis.exceptions import ResponseError

from domain.errors import Code, Refusal
from domain.match.commands import (
    CommandEnvelope,
    ResignMatch,
    StartMatch,
    command_digest,
    encode_command,
)
from domain.match.decide import Decision, Rejection, decide
from domain.match.events import (
    Moved,
    RefusedLeaf,
    decode_event,
    decode_refusal,
    encode_event,
    leaf_hash,
)
from domain.match.history import (
    EMPTY_SNAPSHOT,
    BrokenHistory,
    PackedSnapshot,
    Snapshot,
    chain_events,
    encode_refusal,
    pack_snapshot,
    unpack_snapshot,
)
from domain.match.sentences import SAY
from domain.match.state import cache_position, evolve
from infra.audit.stored_match import check
from infra.store import outcomes
from tests.fakes.app import FakeApp, Terminal
from tests.fakes.memory_store import MemoryStore
from tests.helpers.edits import EDITS, a_flipped_bit

BOARD = 1
EVENTS = 8
"""Start, four moves, an offer, its answer, a move."""


@pytest.fixture
def store() -> MemoryStore:
    """A store with a match of `EVENTS` events, a refusal among them in the log."""
    app = FakeApp()
    terminal = Terminal(app)
    board = terminal.challenge("-fast")
    assert board == BOARD
    assert terminal.move(board, "bob", "a1-a5").code == Code.NOT_YOUR_TURN
    for name, text in (
        ("alice", "m13-m9"),
        ("bob", "a13-a9"),
        ("alice", "m1-m5"),
        ("bob", "a1-a5"),
        ("bob", "propose draw"),
        ("alice", "reject"),
        ("alice", "m9-m13"),
    ):
        assert terminal.move(board, name, text).code == ""
    app.close()
    return app.store


def broken(store: MemoryStore) -> BrokenHistory:
    with pytest.raises(BrokenHistory) as caught:
        check(store, BOARD)
    return caught.value


def test_an_untouched_match_holds(store):
    assert check(store, BOARD) == (
        "match 1 holds: 8 events in sequence, chained, and decided again by pow2/1 "
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
    assert check(app.store, BOARD).startswith("match 1 holds: 3 events")
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
    assert "it is missing: the snapshot was made after 8 events" in found.sentence


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


def test_an_outcome_that_was_changed_is_found(store):
    match = store._matches[BOARD]
    command = decode_event(match.events[4]).command
    stored = match.outcomes[command]
    match.outcomes[command] = outcomes.encode_stored(stored[:8], 5, outcomes.tail("", 4, ""))
    assert broken(store).seq == 5
    match.outcomes[command] = outcomes.encode_stored(
        stored[:8], 5, outcomes.tail("internal", 5, "x")
    )
    assert broken(store).seq == 5
    del match.outcomes[command]
    assert broken(store).seq == 5


OTHER_TAILS = [("illegal-move", 4, ""), ("", 5, "well played"), ("", 6, "")]


@pytest.mark.parametrize("tail", OTHER_TAILS)
def test_each_part_of_an_outcome_counts(store, tail):
    match = store._matches[BOARD]
    command = decode_event(match.events[4]).command
    before = outcomes.parse(match.outcomes[command])
    match.outcomes[command] = outcomes.encode_stored(
        before.digest, before.index, outcomes.tail(*tail)
    )
    assert broken(store).seq == 5


@pytest.mark.parametrize(
    "stored", [b"", b"digest..", b"digest..x:y", b"digest..-1:", b"digest..5:"]
)
def test_an_outcome_that_can_not_be_read_is_found(store, stored):
    match = store._matches[BOARD]
    for command in match.outcomes:
        kept = match.outcomes[command]
        match.outcomes[command] = stored
        broken(store)
        match.outcomes[command] = kept


@pytest.mark.parametrize("place", range(EVENTS))
def test_an_outcome_of_another_command_is_found(store, place):
    match = store._matches[BOARD]
    command = decode_event(match.events[place]).command
    match.outcomes[command] = b"another." + match.outcomes[command][8:]
    assert broken(store).sentence == "the outcome stored for its command is of another command"


def test_an_outcome_of_a_command_that_never_was_is_found(store):
    match = store._matches[BOARD]
    match.outcomes[b"f" * 16] = outcomes.encode_stored(bytes(8), 3, outcomes.tail("", 3, ""))
    found = broken(store)
    assert found.seq == 3
    assert found.sentence.startswith(f"it does not come from command {(b'f' * 16).hex()}")


REFUSAL = 1
"""The log index of the refusal, after the first event."""


def the_refusal(store) -> tuple[bytes, outcomes.CommandOutcome]:
    """The refused command's id and outcome."""
    leaf = decode_refusal(store._logs[BOARD % 4][REFUSAL])
    return leaf.command, outcomes.parse(store.outcome(BOARD, leaf.command))


@pytest.mark.parametrize(
    "other",
    [
        {"code": ""},
        {"code": "illegal-move"},
        {"seq": 0},
        {"seq": 2},
        {"index": 0},
        {"index": 2},
        {"index": 99},
    ],
)
def test_a_refusal_that_was_changed_is_found(store, other):
    command, was = the_refusal(store)
    now = msgspec.structs.replace(was, **other)
    store._matches[BOARD].outcomes[command] = outcomes.encode_stored(
        now.digest, now.index, outcomes.tail(now.code, now.seq, now.sentence)
    )
    broken(store)


@pytest.mark.parametrize(
    "other", [{"match": 2}, {"command": b"f" * 16}, {"code": "illegal-move"}, None]
)
def test_a_refusals_leaf_that_was_changed_is_found(store, other):
    log = store._logs[BOARD % 4]
    leaf = decode_refusal(log[REFUSAL])
    log[REFUSAL] = encode_event(msgspec.structs.replace(leaf, **other)) if other else b"nothing"
    found = broken(store)
    assert (found.seq, found.sentence) == (
        1,
        "leaf 1 of shard 1's log, for a refusal after it, is a different one",
    )


def test_a_commands_move_may_have_said_its_ply_and_consent_may_be_a_proposal():
    app = FakeApp()
    terminal = Terminal(app)
    board = terminal.challenge()
    for name, text in (("alice", "m13-j7#0"), ("bob", "propose draw"), ("alice", "propose draw")):
        assert terminal.move(board, name, text).code == ""
    assert "holds" in check(app.store, board)
    app.close()


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


def test_a_refusal_without_its_outcome_is_found(store):
    command, _ = the_refusal(store)
    del store._matches[BOARD].outcomes[command]
    found = broken(store)
    assert found.seq == 1
    assert found.sentence == (
        "leaf 1 of shard 1's log is a refusal after it, and no outcome is stored for its command "
        f"{command.hex()}"
    )


@pytest.mark.parametrize(
    "text", [SAY("over"), SAY("turn", side="Light", turn="Dark"), "another sentence", ""]
)
def test_a_changed_sentence_of_a_refusal_is_found(store, text):
    command, was = the_refusal(store)
    store._matches[BOARD].outcomes[command] = outcomes.encode_stored(
        was.digest, was.index, outcomes.tail(was.code, was.seq, text)
    )
    found = broken(store)
    assert found.seq == 1
    assert f"its stored sentence is {str(text)!r}, not {was.sentence!r}" in found.sentence


def test_a_refusals_digest_of_another_command_is_found(store):
    command, was = the_refusal(store)
    for digest, said in (
        (b"another.", "its outcome is of another command"),
        (bytes(8), "has no digest of its command"),
    ):
        store._matches[BOARD].outcomes[command] = outcomes.encode_stored(
            digest, was.index, outcomes.tail(was.code, was.seq, was.text)
        )
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


def test_a_match_of_which_only_a_refused_start_is_known_is_checked(store):
    sent = CommandEnvelope(
        5, b"s" * 16, b"alice...", StartMatch(rules="pow2/1", options=(), seats=(b"alice...",))
    )
    rejected = decide(sent, EMPTY_SNAPSHOT.state)
    assert isinstance(rejected, Rejection)
    log, match = store._logs[5 % 4], store._matches[5]
    log.append(encode_refusal(sent, rejected, EMPTY_SNAPSHOT, 7))
    match.indexes = [len(log) - 1]
    digest = command_digest(encode_command(sent))
    match.outcomes[sent.id] = outcomes.encode_stored(
        digest, len(log) - 1, outcomes.tail(rejected.code, 0, rejected.text)
    )
    assert check(store, 5) == (
        "match 5 never began; snapshot, outcomes and log agree; 1 refusal could not be decided again: "
        "the start is not stored"
    )
