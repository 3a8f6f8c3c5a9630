"""Outcomes of commands: stored beside the match, published to the sender, returned to retries.

Stored form: 8 bytes digest of the command, the log index in decimal, `:`, and the tail, which is
MessagePack of [code, seq, sentence]. The commit script adds the index, which only it can know.
"""

from typing import Final

import msgspec


class CommandOutcome(msgspec.Struct, frozen=True):
    """The outcome of one command."""

    digest: bytes
    index: int
    """Of the command's first leaf in its shard's log."""
    code: str
    """Empty when it was accepted."""
    seq: int
    """Of the command's first event; of the last event before it if it was refused."""
    sentence: str
    """Why it was refused."""

    @property
    def accepted(self) -> bool:
        """Return whether the command led to events."""
        return not self.code


class _OutcomeTail(msgspec.Struct, frozen=True, array_like=True):
    code: str
    seq: int
    sentence: str


_ENCODER: Final = msgspec.msgpack.Encoder()
_TAILS: Final = msgspec.msgpack.Decoder(_OutcomeTail)


def tail(code: str, seq: int, sentence: str) -> bytes:
    """Return the part of the stored form that is known before the commit."""
    return _ENCODER.encode(_OutcomeTail(code, seq, sentence))


def encode_stored(digest: bytes, index: int, outcome_tail: bytes) -> bytes:
    """Return the whole stored form."""
    return b"%b%d:%b" % (digest, index, outcome_tail)


def parse(data: bytes) -> CommandOutcome:
    """Read the stored form."""
    index, _, rest = data[8:].partition(b":")
    found = _TAILS.decode(rest)
    return CommandOutcome(data[:8], int(index), found.code, found.seq, found.sentence)
