"""Publishes outcomes to the gateways that wait for them, on RQ's Redis: one message a batch and gateway.

A message may be lost (a drain that is killed after its commit sends none); a stored outcome can't. So a
gateway subscribes before it submits, and reads the stored outcome each second while it waits.
"""

from collections.abc import Iterable, Mapping
from secrets import token_urlsafe
from typing import Any, Final

import msgspec

from domain.match.events import CommandId

OutcomeMessage = tuple[CommandId, bytes]
"""A command id with its stored outcome."""

_ENCODER: Final = msgspec.msgpack.Encoder()
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
