"""The channels on which drains publish news, on the server of the queue.

| channel | message |
|---|---|
| `matches` | the matches that have changed, each with the number of its last event, in MessagePack |
| `logs` | the shards whose logs have new leaves, in decimal, separated by blanks |

A batch publishes one message on each. A message may be lost, so a listener to matches also looks at the store from
time to time, and those who follow the logs look into them every few seconds. A message that is older than another does
no harm: the listener keeps the highest number.
"""

import logging
import socket
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final

import msgspec
import redis

from infra.process.liveness import LIVENESS
from infra.redis.clients import ANSWER_TIMEOUT

MATCH_NEWS: Final = "matches"

_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(dict[int, int])


def add_news(pipe: Any, changed: Mapping[int, int]) -> None:
    """Add to a pipeline the message that these matches have events up to these numbers; nothing for none.

    `pipe` is a pipeline of redis-py to the server of the queue.
    """
    if changed:
        pipe.publish(MATCH_NEWS, _ENCODER.encode(changed))


def read_news(message: bytes) -> dict[int, int]:
    """Return the matches of a message, each with the number of its last event."""
    return _DECODER.decode(message)


logger = logging.getLogger(__name__)

CHANNEL: Final = "logs"


def add_log_news(pipe: Any, shards: Iterable[int]) -> None:
    """Add to a pipeline the message that these shards have new leaves.

    `pipe` is a pipeline of redis-py to the server of the queue.
    """
    pipe.publish(CHANNEL, " ".join(map(str, shards)))


class LogListener:
    """A subscription to the channel, made by the first `wait`; `client` is one of the queue's server."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        self._pubsub: Any = None  # redis-py types no part of it
        self.is_stopped = False

    def wait(self, seconds: float) -> set[int]:
        """Return the shards with news since the last call; wait at most so long for the first message.

        After a connection was lost the next call subscribes again. Errors of that pass through.
        """
        shards: set[int] = set()
        if not self._can_hear():
            return shards
        try:
            with LIVENESS.waiting():
                message = self._pubsub.get_message(timeout=seconds)
            while message is not None:
                shards.update(map(int, message["data"].split()))
                message = self._pubsub.get_message()
        except (redis.ConnectionError, redis.TimeoutError) as error:
            # also where nobody has read for long, because then the server ends the connection
            if not self.is_stopped:
                logger.info("the news of the logs can't be heard (%s); subscribing again", error)
            self.close()
        return shards

    def hears(self, seconds: float) -> bool:
        """Return whether `wait` has something to read; wait at most so long for it."""
        if not self._can_hear():
            return False
        # of a connection that is lost `wait` makes another
        heard = True
        with LIVENESS.waiting(), suppress(redis.ConnectionError, redis.TimeoutError):
            heard = bool(self._pubsub.connection.can_read(timeout=seconds))
        return heard and not self.is_stopped

    def _can_hear(self) -> bool:
        """Subscribe, if that has not been done; return False for one that was stopped."""
        if self._pubsub is None and not self.is_stopped:
            self._pubsub = self._client.pubsub(ignore_subscribe_messages=True)  # type: ignore[no-untyped-call]
            self._pubsub.subscribe(CHANNEL)
            try:
                # that it has subscribed is no news
                self._pubsub.get_message(timeout=ANSWER_TIMEOUT)
            except (redis.ConnectionError, redis.TimeoutError):
                if not self.is_stopped:
                    raise
        return not self.is_stopped

    def stop(self) -> None:
        """End each wait at once from now on, also one that goes on in another thread, or that a signal interrupts."""
        self.is_stopped = True
        # without a connection no wait goes on
        with suppress(AttributeError, OSError):
            self._pubsub.connection._sock.shutdown(socket.SHUT_RDWR)  # noqa: SLF001 - it has no other name

    def close(self) -> None:
        """End the subscription."""
        if self._pubsub is not None:
            self._pubsub.close()
            self._pubsub = None
