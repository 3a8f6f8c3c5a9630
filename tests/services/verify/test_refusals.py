"""A change of a refusal, of its leaf or of its outcome is found."""

import msgspec
import pytest

from domain.match.commands import (
    CommandEnvelope,
    ResignMatch,
    StartMatch,
    command_digest,
    encode_command,
    without_envelope,
)
from domain.match.decide import decide
from domain.match.decision import Rejection
from domain.match.events import Moved
from domain.match.evolve import evolve
from domain.match.history import (
    EMPTY_SNAPSHOT,
    RefusedLeaf,
    Snapshot,
    decode_event,
    decode_refusal,
    encode_event,
    encode_refusal,
    leaf_hash,
    pack_snapshot,
)
from domain.match.sentences import SAY
from domain.match.state import cache_position
from infra.audit.stored_match import check
from infra.store import outcomes
from infra.store.kept_texts import RefusedId
from tests.services.verify.checked_match import BOARD, EVENTS, REFUSAL, broken, the_refusal


@pytest.mark.parametrize(
    "other",
    [
        {"code": ""},
        {"code": "illegal-move"},
        {"seq": 0},
        {"seq": 3},
        {"index": 0},
        {"index": 1},
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
        2,
        "leaf 2 of shard 1's log, for a refusal after it, is a different one",
    )


def test_a_refusal_without_its_outcome_is_found(store):
    command, _ = the_refusal(store)
    del store._matches[BOARD].outcomes[command]
    found = broken(store)
    assert found.seq == 2
    assert found.sentence == (
        "leaf 2 of shard 1's log is a refusal after it, and no outcome is stored for its command "
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
    assert found.seq == 2
    assert f"its stored sentence is {str(text)!r}, not {was.sentence!r}" in found.sentence


def test_a_refusals_digest_of_another_command_is_found(store):
    command, was = the_refusal(store)
    for digest, said in (
        (b"another.", "the command that is kept of it is not the one of its outcome"),
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
        "the command is not kept"
    )
    store.kept[1][RefusedId(sent.actor, sent.id)] = without_envelope(encode_command(sent))
    assert check(store, 5) == (
        "match 5 never began; snapshot, outcomes and log agree; 1 refusal decided again with the same sentence"
    )


def test_a_kept_command_that_was_changed_is_found(store):
    ((refused, kept),) = store.kept[BOARD % 4].items()
    assert check(store, BOARD).endswith("; 1 refusal decided again with the same sentence")
    store.kept[BOARD % 4][refused] = without_envelope(
        encode_command(CommandEnvelope(BOARD, refused.command, refused.actor, ResignMatch()))
    )
    assert "the command that is kept of it is not the one of its outcome" in broken(store).sentence
    store.kept[BOARD % 4][refused] = kept[:-1]
    assert "the command that is kept of it" in broken(store).sentence
