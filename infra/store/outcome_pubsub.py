"""Publishes outcomes to the gateways that wait for them, on RQ's Redis: one message a batch and gateway.

A message may be lost (a drain that is killed after its commit sends none); a stored outcome can't. So a
gateway subscribes before it submits, and reads the stored outcome each second while it waits.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
import redis

from domain.match.events import CommandId
from infra.redis.clients import ANSWER_TIMEOUT

OutcomeMessage = tuple[CommandId, bytes]
"""A command id with its stored outcome."""

_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(list[OutcomeMessage])


def add_outcomes(pipe: Any, outcomes: Mapping[str, Iterable[OutcomeMessage]]) -> None:
    """Add to a pipeline the messages of outcomes, by reply channel."""
    for channel, found in outcomes.items():
        pipe.publish(channel, _ENCODER.encode(list(found)))


def decode(message: bytes) -> list[OutcomeMessage]:
    """Return the outcomes in a message."""
    return _DECODER.decode(message)


class OutcomeListener:
    """A subscription to one reply channel; close it when done."""

    def __init__(self, client: redis.Redis, channel: str) -> None:
        self._pubsub: Any = client.pubsub()  # type: ignore[no-untyped-call]
        self._pubsub.subscribe(channel)
        # the confirmation: from here on no message is missed
        if self._pubsub.get_message(timeout=ANSWER_TIMEOUT) is None:
            self._pubsub.close()
            raise redis.TimeoutError("the server did not confirm a subscription in time")

    def poll(self, seconds: float) -> list[OutcomeMessage]:
        """Return the outcomes of the next message, or none after `seconds`."""
        message: Any = self._pubsub.get_message(timeout=seconds)
        if message is None or message["type"] != "message":
            return []
        return decode(message["data"])

    def close(self) -> None:
        """End the subscription."""
        self._pubsub.close()
