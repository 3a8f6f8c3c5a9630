"""Changes that somebody may make to the bytes of a stored event."""

from collections.abc import Callable

import msgspec

from domain.match.history import decode_event, encode_event


def a_flipped_bit(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


def another_time(data: bytes) -> bytes:
    envelope = decode_event(data)
    return encode_event(msgspec.structs.replace(envelope, at=envelope.at + 1))


def another_actor(data: bytes) -> bytes:
    return encode_event(msgspec.structs.replace(decode_event(data), actor=b"intruder"))


def another_command(data: bytes) -> bytes:
    return encode_event(msgspec.structs.replace(decode_event(data), command=b"x" * 16))


def nothing(data: bytes) -> bytes:
    del data
    return b""


def a_cut(data: bytes) -> bytes:
    return data[:-1]


EDITS: list[Callable[[bytes], bytes]] = [
    a_flipped_bit,
    another_time,
    another_actor,
    another_command,
    nothing,
    a_cut,
]
