"""The audit of a stored match: a change of an event, a snapshot, a locator, a leaf, an outcome or a refusal is found."""

from typing import Any

import pytest
from msgspec.structs import replace
from redis.exceptions import ResponseError

from domain.errors import Code, Refusal
from domain.match.commands import CommandEnvelope, ResignMatch, encode_command, without_envelope
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
from infra.store.outcomes import CommandOutcome, encode_stored, parse, tail
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


@pytest.fixture
def match(store: MemoryStore) -> Any:
    return store._matches[BOARD]


@pytest.fixture
def log(store: MemoryStore) -> Any:
    return store._logs[BOARD % 4]


def broken(store: Any) -> BrokenHistory:
    """Return the error that a check of the match ends with."""
    with pytest.raises(BrokenHistory) as caught:
        check(store, BOARD)
    return caught.value


class Reading:
    """A store of which some reads are other ones."""

    def __init__(self, store: MemoryStore, **reads: Any) -> None:
        self._store = store
        vars(self).update(reads)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def test_an_untouched_match_holds_and_is_read_in_one_round_trip(store, log):
    chunks = []
    once = Reading(
        store,
        leaves=None,  # which reads one
        leaves_at=lambda _, indexes: chunks.append(indexes) or [log[index] for index in indexes],
    )
    assert check(once, BOARD) == (
        "match 1 holds: 9 events in sequence, chained, and decided again by pow2/1 with the same result; "
        "snapshot, outcomes and log agree; 1 refusal decided again with the same sentence"
    )
    assert chunks == [list(range(EVENTS + 1))]
    with pytest.raises(Refusal) as caught:
        check(store, 99)
    assert caught.value.code is Code.UNKNOWN_BOARD


def test_a_match_that_goes_on_meanwhile_is_read_at_one_moment(store):
    reads = []

    def snapshots(boards: list[int]) -> list[Any]:
        """A move is committed while the events are read for the first time."""
        reads.append(boards)
        return store.snapshots(boards) if len(reads) > 1 else [b"an older one"]

    assert "holds" in check(Reading(store, snapshots=snapshots), BOARD)
    assert len(reads) == 4


def test_what_can_not_be_read_is_a_fault_if_it_is_of_another_type(store):
    def failing(error: str) -> Reading:
        def events(_: int) -> list[bytes]:
            raise ResponseError(error)

        return Reading(store, events=events)

    assert broken(failing("WRONGTYPE Operation against a key")).seq == 1
    with pytest.raises(ResponseError):
        check(failing("NOPERM"), BOARD)


# events, snapshot and log


def test_whatever_is_done_to_the_events_is_found_at_its_place(store, match):
    real = list(store.events(BOARD))
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


def test_a_forged_end_is_found_by_the_snapshot_the_outcomes_and_the_log_in_turn(store, match):
    snapshot = unpack_snapshot(match.snapshot)
    sent = CommandEnvelope(BOARD, b"f" * 16, snapshot.state.seats[0], ResignMatch())
    decided = decide(sent, snapshot.state)
    assert isinstance(decided, Decision)
    leaves, after = chain_events(sent, decided, snapshot, 0)
    match.events += leaves
    assert broken(store).seq == EVENTS + 1
    assert "the snapshot lacks it" in broken(store).sentence
    match.snapshot = pack_snapshot(after)
    assert "no outcome is stored" in broken(store).sentence
    for index, said in ((0, "a different one"), (8, "a different one"), (99, "missing")):
        match.outcomes[sent.id] = encode_stored(bytes(8), index, tail("", EVENTS + 1, ""))
        assert broken(store).seq == EVENTS + 1
        assert f"log is {said}" in broken(store).sentence


def test_a_snapshot_that_was_changed_is_found(store, match):
    snapshot = unpack_snapshot(match.snapshot)
    for changed in (
        replace(snapshot, head=bytes(32)),
        replace(snapshot, state=replace(snapshot.state, moves="m13-m9")),
        replace(snapshot, state=replace(snapshot.state, position=None)),
    ):
        match.snapshot = pack_snapshot(changed)
        assert broken(store).seq == EVENTS
    match.snapshot = PackedSnapshot(snapshot.head + b"\xc1")
    assert "can't be read" in broken(store).sentence
    match.snapshot = None
    assert broken(store).seq == 1


def test_a_locator_or_a_leaf_that_was_changed_or_dropped_is_found(store, match, log):
    indexes = match.indexes
    for changed in (indexes[:-1], [*indexes, 99]):
        match.indexes = changed
        assert "locator" in broken(store).sentence
    match.indexes = indexes
    for place in (0, 4, EVENTS - 1):
        at = log.index(store.events(BOARD)[place])
        leaf = log.pop(at)
        assert broken(store).seq == place + 1
        log.insert(at, a_flipped_bit(leaf))
        assert broken(store).seq == place + 1
        log[at] = leaf


def test_the_log_has_the_events_in_their_order(store, match, log):
    first, second = (decode_event(store.events(BOARD)[place]).command for place in (1, 2))
    a, b = parse(match.outcomes[first]), parse(match.outcomes[second])
    log[a.index], log[b.index] = log[b.index], log[a.index]
    for command, was, index in ((first, a, b.index), (second, b, a.index)):
        match.outcomes[command] = encode_stored(was.digest, index, tail("", was.seq, ""))
    assert broken(store).sentence == "the log has it before its predecessor"


# outcomes and refusals


def test_an_outcome_that_was_changed_is_found(store, match):
    command = decode_event(match.events[4]).command
    was = match.outcomes.pop(command)
    before = parse(was)
    assert broken(store).seq == 5
    for said in (("", 4, ""), ("internal", 5, "x"), ("illegal-move", 4, ""), ("", 5, "well played"), ("", 6, "")):  # fmt: skip
        match.outcomes[command] = encode_stored(before.digest, before.index, tail(*said))
        assert broken(store).seq == 5, said
    match.outcomes[command] = b"another." + was[8:]
    assert broken(store).sentence == "the outcome of its command is of another command"
    for stored in (b"", b"digest..", b"digest..x:y", b"digest..-1:", b"digest..5:"):
        match.outcomes[command] = stored
        broken(store)
    match.outcomes[command] = was
    match.outcomes[b"f" * 16] = encode_stored(bytes(8), 3, tail("", 3, ""))
    assert broken(store).seq == 3
    said = f"it does not come from command {(b'f' * 16).hex()}"
    assert broken(store).sentence.startswith(said)


def test_a_refusal_that_was_changed_is_found(store, match, log):
    command = decode_refusal(log[REFUSAL]).command
    stored = match.outcomes[command]
    was = parse(stored)

    def said(now: CommandOutcome) -> str:
        told = tail(now.code, now.seq, now.text)
        match.outcomes[command] = encode_stored(now.digest, now.index, told)
        found = broken(store)
        return f"{found.seq}: {found.sentence}"

    for other in ({"code": ""}, {"code": "illegal-move"}, {"seq": 0}, {"seq": 3}, {"index": 0}, {"index": 99}):  # fmt: skip
        assert said(replace(was, **other))
    for text in (SAY("over"), SAY("turn", side="Light", turn="Dark"), "another sentence", ""):
        wanted = f"its stored sentence is {str(text)!r}, not {was.sentence!r}"
        assert wanted in said(replace(was, text=text))
    other_command = "the command that is kept of it is not the one of its outcome"
    for digest, wanted in ((b"another.", other_command), (bytes(8), "has no digest of its command")):  # fmt: skip
        assert wanted in said(replace(was, digest=digest))
    del match.outcomes[command]
    leaf = "2: leaf 2 of shard 1's log"
    assert f"{broken(store).seq}: {broken(store).sentence}" == (
        f"{leaf} is a refusal after it, and no outcome is stored for its command {command.hex()}"
    )
    match.outcomes[command] = stored
    kept = store.kept[BOARD % 4]
    ((refused, whole),) = kept.items()
    resignation = CommandEnvelope(BOARD, refused.command, refused.actor, ResignMatch())
    kept[refused] = without_envelope(encode_command(resignation))
    assert other_command in broken(store).sentence
    kept[refused] = whole[:-1]
    assert "the command that is kept of it" in broken(store).sentence
    real = decode_refusal(log[REFUSAL])
    for changed in ({"match": 2}, {"command": b"f" * 16}, {"code": "illegal-move"}, None):
        log[REFUSAL] = encode_event(replace(real, **changed)) if changed else b"nothing"
        found = broken(store)
        assert f"{found.seq}: {found.sentence}" == f"{leaf}, for a refusal after it, is a different one"  # fmt: skip


def test_a_legal_move_that_was_made_a_refusal_is_found(store, match, log):
    """The last move of the match is taken out of it, and refused instead, in all that is stored."""
    moved = decode_event(match.events.pop())
    assert isinstance(moved.body, Moved)
    was = parse(match.outcomes[moved.command])
    lie = RefusedLeaf(
        1, BOARD, moved.at, moved.command, moved.actor, "not-your-turn", moved.body.move, None
    )
    log[was.index] = encode_event(lie)
    text = SAY("turn", side="Light", turn="Dark")
    match.outcomes[moved.command] = encode_stored(
        was.digest, was.index, tail(lie.code, EVENTS - 1, text)
    )
    snapshot = EMPTY_SNAPSHOT
    for data in match.events:
        event = decode_event(data)
        snapshot = Snapshot(leaf_hash(data), evolve(snapshot.state, event.body, event.at))
    match.snapshot = pack_snapshot(Snapshot(snapshot.head, cache_position(snapshot.state)))
    assert broken(store).seq == EVENTS - 1
    assert broken(store).sentence.endswith("does not hold: the rules accept it")
