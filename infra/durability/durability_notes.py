"""Notes about the servers of the matches, in RQ's Redis: whether they are durable, and their settings.

Who may read a server's settings reads its `masterauth` too, which opens all data. So of the roles only the scheduler
may (`infra.redis.access`), and notes them for the others.
"""

import logging
from collections.abc import Mapping
from typing import Any, Final

import msgspec
import redis
from redis.exceptions import RedisError

from infra.redis import keys

logger = logging.getLogger(__name__)

NOTE_SECONDS: Final = 30.0
"""How long a note lasts."""

_NOTED_SECONDS: Final = 3600
"""How long noted settings count; the scheduler notes them with each of its verifications."""


class DurabilityNote(msgspec.Struct, frozen=True):
    """The result of the last verification."""

    fault: str
    """Why moves can't be accepted; empty if they can."""
    age: float
    """Seconds since the verification."""


class DurabilityNotes:
    """Reads and writes the note, and the settings of servers; `client` is of RQ's Redis."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def read(self) -> DurabilityNote | None:
        """Return the note; None if nobody has verified the server for `NOTE_SECONDS`."""
        with self._client.pipeline(transaction=False) as pipe:
            pipe.get(keys.DURABILITY)
            pipe.pttl(keys.DURABILITY)
            fault, left = pipe.execute()
        age = NOTE_SECONDS - left / 1000
        # one with more time left than it can have was written while a clock ran ahead
        return None if fault is None or age < 0 else DurabilityNote(fault.decode(), age)

    def write(self, fault: str) -> None:
        """Write the note."""
        self._client.set(keys.DURABILITY, fault, px=int(NOTE_SECONDS * 1000))

    def settings(self, server: str) -> dict[str, str] | None:
        """Return the settings of a server, by its `run_id`; None if none are known, and it has to be asked."""
        try:
            found: Any = self._client.get(keys.noted_settings(server))
        except RedisError:
            return None
        return None if found is None else msgspec.json.decode(found, type=dict[str, str])

    def write_settings(self, server: str, settings: Mapping[str, str]) -> None:
        """Note the settings of a server, if RQ's Redis answers; others ask for them otherwise."""
        note = msgspec.json.encode(settings)
        try:
            self._client.set(keys.noted_settings(server), note, ex=_NOTED_SECONDS)
        except RedisError as error:
            logger.warning("the settings of a server can't be noted: %s", error)
