"""Whatever bytes are in the place of a record, its reader raises the error that its callers look for."""

from collections.abc import Callable

import msgspec
import pytest

from domain.match.commands import PlayMove, decode_command, encode_command
from domain.match.conditional_moves import unpack
from domain.match.history import (
    BrokenHistory,
    PackedSnapshot,
    check_chain,
    decode_anchor,
    decode_event,
    decode_refusal,
    is_event,
    pack_snapshot,
)
from domain.match.history import unpack_snapshot as _unpack_snapshot
from tests.helpers.given import ALICE, BOARD, history, plays, pow2, sent

DEEP = b"\x91" * 100_000
"""Arrays in arrays."""

EVENTS, SNAPSHOT = history([pow2(), *plays(ALICE, "m13-j7")])


def unpack_snapshot(data: bytes) -> object:
    return _unpack_snapshot(PackedSnapshot(bytes(32) + data, b"", b""))


READERS = (decode_event, decode_refusal, decode_anchor, decode_command, unpack, unpack_snapshot)


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("data", [b"\x9f" + DEEP, b"\xc1", b"\x98"])
def test_other_bytes_are_refused(read: Callable[[bytes], object], data: bytes) -> None:
    with pytest.raises(msgspec.MsgspecError):
        read(data)


@pytest.mark.parametrize(
    ("read", "sound"),
    [
        (decode_event, EVENTS[0]),
        (decode_command, encode_command(sent(ALICE, PlayMove(text="m13")))),
        (unpack_snapshot, pack_snapshot(SNAPSHOT).state[32:]),
    ],
)
def test_arrays_in_arrays_after_the_last_field_are_refused_as_other_bytes_are(
    read: Callable[[bytes], object], sound: bytes
) -> None:
    size = len(msgspec.msgpack.decode(sound))
    header = 1 if sound[0] < 0xDC else 3
    with pytest.raises(msgspec.MsgspecError, match="arrays in arrays"):
        read(b"\xdc" + (size + 1).to_bytes(2) + sound[header:] + DEEP)


def test_a_text_that_is_no_utf8_is_refused_as_other_bytes_are() -> None:
    packed = pack_snapshot(SNAPSHOT)
    assert b"pow2/1" in EVENTS[0]
    assert b"pow2/1" in packed.state
    with pytest.raises(msgspec.MsgspecError):
        decode_event(EVENTS[0].replace(b"pow2/1", b"pow2\xff1"))
    with pytest.raises(msgspec.MsgspecError):
        _unpack_snapshot(
            msgspec.structs.replace(packed, state=packed.state.replace(b"pow2/1", b"\xffow2/1"))
        )
    with pytest.raises(msgspec.MsgspecError):
        decode_command(encode_command(sent(ALICE, PlayMove(text="m13"))).replace(b"m13", b"m1\xff"))


def test_a_history_with_such_an_event_is_broken_there() -> None:
    damaged = [EVENTS[0], EVENTS[1].replace(b"m13-j7", b"m13-j\xff")]
    with pytest.raises(BrokenHistory, match="event 2: its bytes are no event"):
        check_chain(BOARD, damaged)


@pytest.mark.parametrize("leaf", [b"", b"\x98"])
def test_a_leaf_without_a_second_byte_is_refused(leaf: bytes) -> None:
    with pytest.raises(msgspec.MsgspecError):
        is_event(leaf)
