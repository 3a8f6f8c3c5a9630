"""Outcomes of commands: stored beside the match, published to the sender, returned to retries.

Stored form: 8 bytes digest of the command, the log index in decimal, `:`, and the tail, which is
MessagePack of [code, seq], and of [code, seq, key, args...] for a refusal: the key of its sentence
and the arguments, see `domain.sentences`. An argument that is a sentence itself is such a list, too.
A sentence without a key has the empty one, and is its own argument. The commit script adds the
index, which only it can know.

A hash of outcomes stays small (a listpack) while no value is longer than the server's
`hash-max-listpack-value`, 64 bytes by default. So sentences are not stored, and frequent codes are
stored as numbers.

Publishes outcomes to the gateways that wait for them, on RQ's Redis: one message a batch and gateway.

A message may be lost (a drain that is killed after its commit sends none); a stored outcome can't. So a
gateway subscribes before it submits, and reads the stored outcome each second while it waits.
"""

from collections.abc import Iterable, Mapping
from secrets import token_urlsafe
from typing import Any, Final

import msgspec

import domain.match.events  # noqa: F401 - what is stored may be a sentence of a match, a tournament or a game
from domain.errors import Code
from domain.records import CommandId, RecordDecoder
from domain.sentences import Text, pack_text, unpack_text

NUMBERED_CODES: Final = (
    "",
    Code.ILLEGAL_MOVE,
    Code.UNREADABLE_MOVE,
    Code.NOT_YOUR_TURN,
    Code.STALE_PLY,
    Code.MATCH_OVER,
    Code.NOT_STARTED,
    Code.OFFER_STANDS,
    Code.NO_OFFER,
    Code.UNKNOWN_OFFER,
    Code.TIME_OVER,
    Code.TOO_EARLY,
    Code.TOO_LATE,
    Code.NOT_PAUSED,
    Code.NOT_A_PLAYER,
    Code.WRONG_TEXT,
)
"""Codes that are stored as their place in this list. It may get longer, and never changes otherwise."""
_NUMBERS: Final = {str(code): number for number, code in enumerate(NUMBERED_CODES)}


ANY_DIGEST: Final = bytes(8)
"""The digest of an outcome that was restored from the log, which does not have the command as it was sent."""


class CommandOutcome(msgspec.Struct, frozen=True):
    """The outcome of one command."""

    digest: bytes
    index: int
    """Of the command's first leaf in its shard's log."""
    code: str
    """Empty when it was accepted."""
    seq: int
    """Of the command's first event; of the last event before it if it was refused."""
    text: Text = ""
    """Why it was refused."""

    @property
    def accepted(self) -> bool:
        """Return whether the command led to events."""
        return not self.code

    @property
    def sentence(self) -> str:
        """Why it was refused, in English."""
        return str(self.text)


_ENCODER: Final = msgspec.msgpack.Encoder()
_TAILS: Final = RecordDecoder(list[Any])


def tail(code: str, seq: int, text: Text = "") -> bytes:
    """Return the part of the stored form that is known before the commit."""
    stored_code = _NUMBERS.get(code, str(code))
    return _ENCODER.encode([stored_code, seq, *(pack_text(text) if text else ())])


def encode_stored(digest: bytes, index: int, outcome_tail: bytes) -> bytes:
    """Return the whole stored form."""
    return b"%b%d:%b" % (digest, index, outcome_tail)


def parse(data: bytes) -> CommandOutcome:
    """Read the stored form; raises `ValueError` for any other bytes."""
    index, _, rest = data[8:].partition(b":")
    match _TAILS.decode(rest):
        # not `int(seq)`, which takes longer than all the rest here
        case [int() | str() as code, int() as seq]:
            return CommandOutcome(data[:8], int(index), _code(code), seq)
        case [int() | str() as code, int() as seq, *packed]:
            return CommandOutcome(data[:8], int(index), _code(code), seq, unpack_text(packed))
        case _:
            raise ValueError("the tail of an outcome has another form")


def _code(stored: int | str) -> str:
    if isinstance(stored, str):
        return stored
    if not 0 <= stored < len(NUMBERED_CODES):
        raise ValueError(f"no code has the number {stored}")
    return str(NUMBERED_CODES[stored])


OutcomeMessage = tuple[CommandId, bytes]
"""A command id with its stored outcome."""

_DECODER: Final = msgspec.msgpack.Decoder(list[OutcomeMessage])


def new_channel() -> str:
    """Return the name of a channel on which one gateway alone hears outcomes."""
    return f"reply:{token_urlsafe(9)}"  # short, because each command in an inbox names it


def add_outcomes(pipe: Any, outcomes: Mapping[str, Iterable[OutcomeMessage]]) -> None:
    """Add to a pipeline the messages of outcomes, by reply channel."""
    for channel, found in outcomes.items():
        pipe.publish(channel, _ENCODER.encode(list(found)))


def decode(message: bytes) -> list[OutcomeMessage]:
    """Return the outcomes in a message."""
    return _DECODER.decode(message)
