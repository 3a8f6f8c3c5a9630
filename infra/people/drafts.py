"""Moves that were submitted and wait for their player's `confirm`.

A draft is no part of its match: nothing is decided, hashed or logged before it is confirmed and
submitted as a move, with the ply it was meant for. It is no personal data either: it has account ids
and moves, so nothing here needs to be erased with an account.

A match's drafts are one hash: account -> the time in decimal, `:`, and MessagePack of [text, ply];
and `<account>:ids` -> the ids of the newest commands that stored one. The script that stores a draft
adds the time and compares the ids. Durable as `infra.people.messages` is.
"""

from collections.abc import Callable
from typing import Any, Final

import msgspec
import redis

from domain.records import AccountId, CommandId
from infra.redis import keys, scripts
from infra.redis.clients import Clock

KEPT_SECONDS: Final = 30 * 24 * 3600
"""Seconds a match's drafts are kept after the newest."""

_MOST_IDS: Final = 8
"""Commands remembered for a player; a front end does not repeat an older one."""

_PUT: Final = scripts.Script("put_draft")


class Draft(msgspec.Struct, frozen=True):
    """A move that waits to be confirmed."""

    text: str
    """As the game writes it."""
    ply: int
    """The ply of the match when it was submitted."""
    at: int
    """When it was submitted, in milliseconds since 1970 by Redis's clock."""
    line: bytes = b""
    """Identifies the moves before it, because an undo may replace them by others."""


class _DraftTail(msgspec.Struct, frozen=True, array_like=True):
    text: str
    ply: int
    line: bytes = b""


_ENCODER: Final = msgspec.msgpack.Encoder()
_DRAFTS: Final = msgspec.msgpack.Decoder(_DraftTail)


class Drafts:
    """The drafts on a server, one a player and match. Errors of the server pass through.

    `shards` returns how many shards the matches are in.
    """

    def __init__(
        self, client: redis.Redis, shards: Callable[[], int], clock: Clock | None = None
    ) -> None:
        self._client = client
        self._shards = shards
        self._clock = clock

    def put(
        self,
        board: int,
        account: AccountId,
        text: str,
        ply: int,
        command: CommandId,
        line: bytes = b"",
    ) -> None:
        """Store a draft in place of the last one.

        A repeated `command` changes nothing, also if its draft was replaced or dropped since.
        """
        now = "" if self._clock is None else str(self._clock())
        tail = _ENCODER.encode(_DraftTail(text, ply, line))
        field = account.hex()
        args: list[scripts.Arg] = [
            field,
            f"{field}:ids",
            command,
            now,
            tail,
            _MOST_IDS,
            KEPT_SECONDS,
        ]
        scripts.call(self._client, _PUT, [self._name(board)], args)

    def get(self, board: int, account: AccountId) -> Draft | None:
        """Return the draft; None if there is none."""
        found: Any = self._client.hget(self._name(board), account.hex())
        return found and _parse(found)

    def drop(self, board: int, account: AccountId) -> None:
        """Delete the draft, if there is one."""
        self._client.hdel(self._name(board), account.hex())

    def _name(self, board: int) -> str:
        return keys.drafts(keys.shard_of(board, self._shards()), board)


def _parse(data: bytes) -> Draft:
    at, _, rest = data.partition(b":")
    tail = _DRAFTS.decode(rest)
    return Draft(tail.text, tail.ply, int(at), tail.line)
