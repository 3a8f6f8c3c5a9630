"""Matches that can't be read: noted by the process that found them, shown by the doctor.

| key | what |
|---|---|
| `{damaged}` | hash: board -> the reason, in a sentence |

Matches in which a robot could not act: noted by the job, shown by the doctor.

| key | what |
|---|---|
| `{robots}:failed` | hash: board -> packed `RobotFailure` |

The scheduler removes the note once the match has gone on.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
import redis

from infra.redis import keys


class DamagedMatches:
    """The damaged matches on a server. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def note(self, board: int, why: str) -> None:
        """Note that a match can't be read."""
        self._client.hset(keys.DAMAGED, str(board), why[:500])

    def forget(self, board: int) -> None:
        """Remove a match that can be read."""
        self._client.hdel(keys.DAMAGED, str(board))

    def all(self) -> Mapping[int, str]:
        """Return the matches that can't be read, each with its reason."""
        found: Any = self._client.hgetall(keys.DAMAGED)
        return {int(board): why.decode(errors="replace") for board, why in sorted(found.items())}


_LONGEST: Final = 500


class RobotFailure(msgspec.Struct, frozen=True, array_like=True):
    """Why a robot could not act."""

    seq: int
    """The number of the match's last event then; 0 if it could not be read."""
    why: str


_ENCODER: Final = msgspec.msgpack.Encoder()
_RECORDS: Final = msgspec.msgpack.Decoder(RobotFailure)


class RobotFailures:
    """The notes of a server. Errors of the server pass through."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def note(self, board: int, seq: int, why: str) -> None:
        """Note why a robot could not act; the last note of a match stays."""
        failure = RobotFailure(seq, why[:_LONGEST])
        self._client.hset(keys.ROBOT_FAILURES, str(board), _ENCODER.encode(failure))

    def forget(self, boards: Iterable[int]) -> None:
        """Remove the notes of matches that have gone on."""
        if fields := [str(board) for board in boards]:
            self._client.hdel(keys.ROBOT_FAILURES, *fields)

    def all(self) -> Mapping[int, RobotFailure]:
        """Return all notes, by board."""
        found: Any = self._client.hgetall(keys.ROBOT_FAILURES)
        return {int(board): _RECORDS.decode(data) for board, data in sorted(found.items())}
