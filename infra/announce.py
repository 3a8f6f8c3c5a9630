"""Outcomes on their way to the doors: one message a batch and door, by publish and subscribe.

A message may be lost (a drain killed after its commit sends none); the outcome can't. So a door
subscribes before it submits and looks at the stored outcome each second while it waits.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
import redis

from domain.match.events import CommandId

Told = tuple[CommandId, bytes]
"""A command id with its stored outcome."""

_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(list[Told])


def messages(told: Mapping[str, Iterable[Told]]) -> dict[str, bytes]:
    """Return the message for each door with the outcomes it waits for."""
    return {door: _ENCODER.encode(list(outcomes)) for door, outcomes in told.items()}


def announce(client: redis.Redis, told: Mapping[str, Iterable[Told]]) -> None:
    """Tell each door the outcomes it waits for."""
    with client.pipeline(transaction=False) as pipe:
        for door, message in messages(told).items():
            pipe.publish(door, message)
        pipe.execute()


def read_told(message: bytes) -> list[Told]:
    """Read what was announced."""
    return _DECODER.decode(message)


class Listener:
    """A door's subscription to its own channel; close it when done."""

    def __init__(self, client: redis.Redis, door: str) -> None:
        self._pubsub: Any = client.pubsub()  # type: ignore[no-untyped-call]
        self._pubsub.subscribe(door)
        # the confirmation: only now is nothing announced past us
        self._pubsub.get_message(timeout=None)

    def heard(self, seconds: float) -> list[Told]:
        """Return what was announced, waiting up to `seconds` for it."""
        message: Any = self._pubsub.get_message(timeout=seconds)
        if message is None or message["type"] != "message":
            return []
        return read_told(message["data"])

    def close(self) -> None:
        """End the subscription."""
        self._pubsub.close()
