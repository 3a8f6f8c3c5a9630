"""Sealed events: golden bytes, the chain, and what is noticed when it is touched.

A forged or damaged history is found, however it was changed.
"""

import json
import re
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from domain import aggregates
from domain.clocks.time_control import TimeControl
from domain.match.audit import verify
from domain.match.commands import AnswerOffer, MakeOffer, PlayMove, ResignMatch
from domain.match.events import Event, Resigned
from domain.match.history import (
    EVENT_LIMIT,
    NO_HASH,
    BrokenHistory,
    EventEnvelope,
    check_chain,
    decode_event,
    decode_refusal,
    encode_event,
    leaf_hash,
    pack_snapshot,
    replay,
    unpack_snapshot,
)
from domain.match.state import cache_position
from domain.records import SCHEMA, command_id
from tests.golden.make_events import ALL, FILE, made
from tests.helpers.given import ALICE, BOB, Match, alternating, history, pow2
from tests.helpers.tournaments import NUMBER

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "events-1.json").read_text())
"""As an earlier version wrote them: a move without `queued`, a start without `terms`."""
OLD = [bytes.fromhex(data) for data in GOLDEN["match"]]
DECLINED = [bytes.fromhex(data) for data in GOLDEN["declined"]]
TODAY = {
    name: [bytes.fromhex(data) for data in events]
    for name, events in json.loads(FILE.read_text()).items()
}

EARLIER_TOURNAMENTS = json.loads((FILE.parent / "tournaments-earlier.json").read_text())
"""As earlier versions wrote them, whose terms ended with the fields that there were."""

PAGE = Path(__file__).parents[2] / "docs" / "formats.md"

TURNS = [
    pow2("-fast"),
    *alternating("i5-g4:g5", "a13-c11"),
    (ALICE, MakeOffer(kind="draw")),
    (BOB, AnswerOffer(accept=False)),
    (BOB, ResignMatch()),
]


def version_and_tag(data: bytes) -> tuple[int, object]:
    envelope = decode_event(data)
    return envelope.schema, tag_of(type(envelope.body))


def tag_of(body: type[Event]) -> object:
    return body.__struct_config__.tag


# --- the bytes of today


@pytest.mark.parametrize("name", ALL)
def test_the_bytes_of_whole_matches_are_the_golden_ones(name: str) -> None:
    match, context = made(name)
    assert [data.hex() for data in match.events] == [data.hex() for data in TODAY[name]]
    with context():
        match.holds()


def test_every_event_of_todays_schema_has_a_golden_sample() -> None:
    samples = {version_and_tag(data) for events in TODAY.values() for data in events}
    assert samples == {(SCHEMA, tag_of(body)) for body in get_args(Event)}


def test_every_match_that_is_made_is_recorded() -> None:
    assert ALL.keys() == TODAY.keys()


# --- the bytes of tournaments whose terms had fewer fields


@pytest.mark.parametrize("name", EARLIER_TOURNAMENTS)
def test_a_tournament_of_before_is_verified_by_its_own_bytes(name: str) -> None:
    events = [bytes.fromhex(data) for data in EARLIER_TOURNAMENTS[name]]
    assert aggregates.verify(NUMBER, events).head == leaf_hash(events[-1])


# --- the bytes of an earlier version, without clocks and replies


@pytest.mark.parametrize("events", [OLD, DECLINED])
def test_an_old_history_is_chained_folded_and_verified_by_its_own_bytes(
    events: list[bytes],
) -> None:
    assert [one.seq for one in check_chain(1, events)] == list(range(1, len(events) + 1))
    verdict = verify(1, events)
    assert verdict.head == leaf_hash(events[-1])
    assert verdict.state == cache_position(replay(events))
    assert verdict.state.clock is None


@pytest.mark.parametrize("length", [1, 3, 5])
def test_an_old_match_goes_on_with_the_events_of_today(length: int) -> None:
    match = Match()
    match.resume(OLD[:length])
    while match.state.ply < 2:
        match.play(["i5-g4:g5", "a13-c11"][match.state.ply])
    assert match.state.clock is None
    match.do(ALICE, PlayMove(text="m13-m9"))
    match.do(BOB, ResignMatch())
    assert match.events[:length] == OLD[:length]
    assert decode_event(match.events[length]).prev == leaf_hash(OLD[length - 1])
    match.holds()


# --- other bytes


def test_a_command_id_is_the_golden_one() -> None:
    assert command_id("terminal", ALICE, "key").hex() == GOLDEN["command id"]


def test_a_leaf_hash_is_that_of_rfc_6962() -> None:
    assert leaf_hash(b"").hex() == (
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
    )


def test_events_and_refusals_can_not_be_taken_for_each_other() -> None:
    events, _ = history(TURNS)
    refusal = bytes.fromhex(GOLDEN["refusal"])
    with pytest.raises(msgspec.MsgspecError):
        decode_event(refusal)
    for data in events:
        with pytest.raises(msgspec.MsgspecError):
            decode_refusal(data)


def test_events_are_numbered_and_chained() -> None:
    events, snapshot = history(TURNS)
    envelopes = [decode_event(data) for data in events]
    assert [envelope.seq for envelope in envelopes] == list(range(1, len(events) + 1))
    assert [envelope.prev for envelope in envelopes[1:]] == list(map(leaf_hash, events[:-1]))
    assert envelopes[0].prev == NO_HASH
    assert snapshot.head == leaf_hash(events[-1])
    assert all(
        encode_event(envelope) == data for envelope, data in zip(envelopes, events, strict=True)
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"moves": b""},
        {"moves": b"m13-m9"},
        {"moves": b"m13-m9 a13-a9 m9-m13"},
        {"moves": b"m13-m9 \xff"},
        {"turns": b"123456"},
        {"state": b"h" * 32},
        {"state": b"h" * 32 + b"\xc1"},
    ],
)
def test_a_snapshot_whose_parts_do_not_fit_can_not_be_read(changes: dict[str, bytes]) -> None:
    commands = [pow2(), (ALICE, PlayMove(text="m13-m9")), (BOB, PlayMove(text="a13-a9"))]
    packed = pack_snapshot(history(commands)[1])
    with pytest.raises(msgspec.MsgspecError):
        unpack_snapshot(msgspec.structs.replace(packed, **changes))


def test_an_event_too_large_for_a_tile_is_not_made() -> None:
    huge = EventEnvelope(1, 1, 1, 1, bytes(EVENT_LIMIT), ALICE, NO_HASH, Resigned(seat=0))
    with pytest.raises(ValueError, match="65535 is the limit"):
        encode_event(huge)


def test_the_page_of_formats_names_the_fields_of_terms_and_those_that_came_later() -> None:
    page = PAGE.read_text()
    assert f"`[{', '.join(TimeControl.__struct_fields__)}]`" in page
    later = page.partition("| field | of | read as |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", later, re.MULTILINE)
    named = {(tag, name) for name, tags in rows for tag in re.findall(r"`(.*?)`", tags)}
    assert named == {("challenged", "terms"), ("match-started", "terms"), ("moved", "queued")}


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


def test_a_history_of_another_board_is_found() -> None:
    events, _ = history(TURNS)
    with pytest.raises(BrokenHistory, match="event 1: it belongs to match 1"):
        verify(2, events)
