"""A forged or damaged history is found, however it was changed."""

import msgspec
import pytest

from domain.match.audit import verify
from domain.match.commands import AnswerOffer, MakeOffer, ResignMatch
from domain.match.history import (
    NO_HASH,
    BrokenHistory,
    EventEnvelope,
    check_chain,
    decode_event,
    encode_event,
    leaf_hash,
)
from tests.helpers.given import ALICE, BOB, alternating, history, pow2

TURNS = [
    pow2("-fast"),
    *alternating("i5-g4:g5", "a13-c11"),
    (ALICE, MakeOffer(kind="draw")),
    (BOB, AnswerOffer(accept=False)),
    (BOB, ResignMatch()),
]


def test_a_whole_history_holds() -> None:
    events, snapshot = history(TURNS)
    verdict = verify(1, events)
    assert verdict.events == len(events)
    assert (verdict.head, verdict.state) == (snapshot.head, snapshot.state)


def rechained(events: list[bytes], first: int, changed: EventEnvelope) -> list[bytes]:
    """Put a changed event in, and chain all that follow it again, as a forger would."""
    found = events[: first - 1]
    head = leaf_hash(found[-1]) if found else NO_HASH
    for data in [encode_event(changed), *events[first:]]:
        envelope = msgspec.structs.replace(decode_event(data), prev=head)
        found.append(encode_event(envelope))
        head = leaf_hash(found[-1])
    return found


@pytest.mark.parametrize("at", range(1, 8))
def test_an_edited_event_is_found(at: int) -> None:
    events, _ = history(TURNS)
    for changes in ({"at": 999_999_999}, {"actor": b"mallory."}, {"command": b"x" * 16}):
        changed = msgspec.structs.replace(decode_event(events[at - 1]), **changes)
        edited = [*events[: at - 1], encode_event(changed), *events[at:]]
        if at < len(events):
            with pytest.raises(BrokenHistory) as caught:
                verify(1, edited)
            assert caught.value.seq in (at, at + 1)


@pytest.mark.parametrize("at", range(1, 7))
def test_a_dropped_swapped_or_repeated_event_is_found(at: int) -> None:
    events, _ = history(TURNS)
    dropped = events[: at - 1] + events[at:]
    swapped = [*events[: at - 1], events[at], events[at - 1], *events[at + 1 :]]
    repeated = events[:at] + events[at - 1 :]
    for tampered, first in ((dropped, at), (swapped, at), (repeated, at + 1)):
        with pytest.raises(BrokenHistory) as caught:
            verify(1, tampered)
        assert caught.value.seq == first


def test_a_forged_move_is_found_by_the_rules_though_the_chain_is_whole() -> None:
    events, _ = history(TURNS)
    moved = decode_event(events[1])
    for move in ("m13-m8", "m13-a1", "nonsense"):
        body = msgspec.structs.replace(moved.body, move=move)
        forged = rechained(events, 2, msgspec.structs.replace(moved, body=body))
        with pytest.raises(BrokenHistory, match="the rules refuse it") as caught:
            verify(1, forged)
        assert caught.value.seq == 2


def test_a_forged_actor_is_found_by_the_rules_though_the_chain_is_whole() -> None:
    events, _ = history(TURNS)
    forged = rechained(events, 2, msgspec.structs.replace(decode_event(events[1]), actor=BOB))
    with pytest.raises(BrokenHistory, match="event 2: the rules refuse it: you play Dark"):
        verify(1, forged)


def test_a_time_that_runs_backwards_is_found_though_the_chain_is_whole() -> None:
    events, _ = history(TURNS)
    earlier = msgspec.structs.replace(decode_event(events[1]), at=0)
    with pytest.raises(BrokenHistory, match="event 2: it is older than the event before it"):
        check_chain(1, rechained(events, 2, earlier))


def test_a_forged_result_is_found_by_the_rules_though_the_chain_is_whole() -> None:
    events, _ = history(TURNS)
    ended = decode_event(events[-1])
    body = msgspec.structs.replace(ended.body, winners=(1,))
    forged = rechained(events, len(events), msgspec.structs.replace(ended, body=body))
    with pytest.raises(BrokenHistory, match=f"event {len(events)}: the rules give") as caught:
        verify(1, forged)
    assert caught.value.seq == len(events)


def test_a_history_cut_off_within_a_command_is_found() -> None:
    events, _ = history(TURNS)
    with pytest.raises(BrokenHistory, match="the rules give 2 events here, not 1"):
        verify(1, events[:-1])


def test_a_history_of_another_board_is_found() -> None:
    events, _ = history(TURNS)
    with pytest.raises(BrokenHistory, match="event 1: it belongs to match 1"):
        verify(2, events)


def test_bytes_that_are_no_event_are_found() -> None:
    events, _ = history(TURNS)
    with pytest.raises(BrokenHistory, match="event 3: its bytes are no event"):
        verify(1, [*events[:2], b"\xc1", *events[3:]])


# --- the page
