"""Sealed events: golden bytes, the chain, and what is noticed when it is touched."""

import json
from pathlib import Path

import msgspec
import pytest
from fakes.given import ALICE, BOB, alternating, history, pow2, sent

from domain.match.audit import verify
from domain.match.commands import Answer, Decline, Move, Offer, Resign
from domain.match.decide import Rejected
from domain.match.events import (
    EVENT_LIMIT,
    NO_HASH,
    SCHEMA,
    Envelope,
    RefusedLeaf,
    Resigned,
    command_id,
    decode,
    decode_refusal,
    encode,
    leaf_hash,
)
from domain.match.record import (
    NO_MATCH,
    Broken,
    check_chain,
    pack_snapshot,
    refold,
    seal_refusal,
    unpack_snapshot,
)
from domain.match.state import with_position

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "events-1.json").read_text())

TURNS = [
    pow2("-fast"),
    *alternating("i5-g4:g5", "a13-c11"),
    (ALICE, Offer(kind="draw")),
    (BOB, Answer(accept=False)),
    (BOB, Resign()),
]


def test_the_bytes_of_a_whole_match_are_the_golden_ones() -> None:
    events, snapshot = history(TURNS)
    assert [data.hex() for data in events] == GOLDEN["match"]
    assert snapshot.head.hex() == GOLDEN["head"]


def test_the_bytes_of_a_declined_match_are_the_golden_ones() -> None:
    events, _ = history([pow2(), (ALICE, Decline())])
    assert [data.hex() for data in events] == GOLDEN["declined"]


def test_the_bytes_of_a_refusal_are_the_golden_ones() -> None:
    rejected = Rejected("illegal-move", "no", "m13-l5")
    data = seal_refusal(sent(ALICE, Move(text="m13-l5"), 7), rejected, NO_MATCH, 1234)
    assert data.hex() == GOLDEN["refusal"]
    assert decode_refusal(data) == RefusedLeaf(
        SCHEMA, 1, 1234, (7).to_bytes(16, "big"), ALICE, "illegal-move", "m13-l5", None
    )


def test_a_command_id_is_the_golden_one() -> None:
    assert command_id("terminal", ALICE, "key").hex() == GOLDEN["command id"]


def test_ids_differ_by_door_account_and_key() -> None:
    ids = {command_id(d, a, k) for d in ("web", "mail") for a in (ALICE, BOB) for k in ("1", "2")}
    assert len(ids) == 8
    assert all(len(i) == 16 for i in ids)


def test_a_leaf_hash_is_that_of_rfc_6962() -> None:
    assert leaf_hash(b"").hex() == (
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
    )


def test_events_and_refusals_can_not_be_taken_for_each_other() -> None:
    events, _ = history(TURNS)
    refusal = bytes.fromhex(GOLDEN["refusal"])
    with pytest.raises(msgspec.MsgspecError):
        decode(refusal)
    for data in events:
        with pytest.raises(msgspec.MsgspecError):
            decode_refusal(data)


def test_events_are_numbered_and_chained() -> None:
    events, snapshot = history(TURNS)
    envelopes = [decode(data) for data in events]
    assert [envelope.seq for envelope in envelopes] == list(range(1, len(events) + 1))
    assert [envelope.prev for envelope in envelopes[1:]] == list(map(leaf_hash, events[:-1]))
    assert envelopes[0].prev == NO_HASH
    assert snapshot.head == leaf_hash(events[-1])
    assert all(encode(envelope) == data for envelope, data in zip(envelopes, events, strict=True))


def test_a_matchs_time_never_runs_backwards() -> None:
    _, snapshot = history(TURNS)
    late = snapshot.state.at
    refusal = seal_refusal(sent(ALICE, Resign()), Rejected("match-over", ""), snapshot, late - 500)
    assert decode_refusal(refusal).at == late


def test_a_snapshot_comes_back_as_it_was_stored() -> None:
    _, snapshot = history(TURNS)
    assert unpack_snapshot(pack_snapshot(snapshot)) == snapshot
    assert unpack_snapshot(None) == NO_MATCH


def test_the_snapshot_equals_the_fold_of_the_events() -> None:
    events, snapshot = history(TURNS)
    assert with_position(refold(events)) == snapshot.state


def test_an_event_too_large_for_a_tile_is_not_made() -> None:
    huge = Envelope(1, 1, 1, 1, bytes(EVENT_LIMIT), ALICE, NO_HASH, Resigned(seat=0))
    with pytest.raises(ValueError, match="65535 is the limit"):
        encode(huge)


def test_a_whole_history_holds() -> None:
    events, snapshot = history(TURNS)
    verdict = verify(1, events)
    assert verdict.events == len(events)
    assert (verdict.head, verdict.state) == (snapshot.head, snapshot.state)


def rechained(events: list[bytes], first: int, changed: Envelope) -> list[bytes]:
    """Put a changed event in and chain all that follow it anew, as a forger would."""
    found = events[: first - 1]
    head = leaf_hash(found[-1]) if found else NO_HASH
    for data in [encode(changed), *events[first:]]:
        envelope = msgspec.structs.replace(decode(data), prev=head)
        found.append(encode(envelope))
        head = leaf_hash(found[-1])
    return found


@pytest.mark.parametrize("at", range(1, 8))
def test_an_edited_event_is_found(at: int) -> None:
    events, _ = history(TURNS)
    for changes in ({"at": 999_999_999}, {"actor": b"mallory."}, {"command": b"x" * 16}):
        changed = msgspec.structs.replace(decode(events[at - 1]), **changes)
        edited = [*events[: at - 1], encode(changed), *events[at:]]
        if at < len(events):
            with pytest.raises(Broken) as caught:
                verify(1, edited)
            assert caught.value.seq in (at, at + 1)


@pytest.mark.parametrize("at", range(1, 7))
def test_a_dropped_swapped_or_repeated_event_is_found(at: int) -> None:
    events, _ = history(TURNS)
    dropped = events[: at - 1] + events[at:]
    swapped = [*events[: at - 1], events[at], events[at - 1], *events[at + 1 :]]
    repeated = events[:at] + events[at - 1 :]
    for tampered, first in ((dropped, at), (swapped, at), (repeated, at + 1)):
        with pytest.raises(Broken) as caught:
            verify(1, tampered)
        assert caught.value.seq == first


def test_a_forged_move_is_found_by_the_rules_though_the_chain_is_whole() -> None:
    events, _ = history(TURNS)
    moved = decode(events[1])
    for move in ("m13-m8", "m13-a1", "nonsense"):
        body = msgspec.structs.replace(moved.body, move=move)
        forged = rechained(events, 2, msgspec.structs.replace(moved, body=body))
        with pytest.raises(Broken, match="the rules refuse it") as caught:
            verify(1, forged)
        assert caught.value.seq == 2


def test_a_forged_actor_is_found_by_the_rules_though_the_chain_is_whole() -> None:
    events, _ = history(TURNS)
    forged = rechained(events, 2, msgspec.structs.replace(decode(events[1]), actor=BOB))
    with pytest.raises(Broken, match="event 2: the rules refuse it: you play Dark"):
        verify(1, forged)


def test_a_time_that_runs_backwards_is_found_though_the_chain_is_whole() -> None:
    events, _ = history(TURNS)
    earlier = msgspec.structs.replace(decode(events[1]), at=0)
    with pytest.raises(Broken, match="event 2: it is older than the event before it"):
        check_chain(1, rechained(events, 2, earlier))


def test_a_forged_result_is_found_by_the_rules_though_the_chain_is_whole() -> None:
    events, _ = history(TURNS)
    ended = decode(events[-1])
    body = msgspec.structs.replace(ended.body, winners=(1,))
    forged = rechained(events, len(events), msgspec.structs.replace(ended, body=body))
    with pytest.raises(Broken, match=f"event {len(events)}: the rules give") as caught:
        verify(1, forged)
    assert caught.value.seq == len(events)


def test_a_history_cut_off_within_a_command_is_found() -> None:
    events, _ = history(TURNS)
    with pytest.raises(Broken, match="the rules give 2 events here, not 1"):
        verify(1, events[:-1])


def test_a_history_of_another_board_is_found() -> None:
    events, _ = history(TURNS)
    with pytest.raises(Broken, match="event 1: it belongs to match 1"):
        verify(2, events)


def test_bytes_that_are_no_event_are_found() -> None:
    events, _ = history(TURNS)
    with pytest.raises(Broken, match="event 3: its bytes are no event"):
        verify(1, [*events[:2], b"\xc1", *events[3:]])
