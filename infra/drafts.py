"""Moves that were submitted and wait for their player's `confirm`.

A draft is no part of its match: nothing is decided, hashed or logged before it is confirmed and
handed in as a move, with the ply it was meant for. It is no personal data either, as no move is:
account ids and moves, so nothing here needs to be erased with an account.

A match's drafts are one hash: account -> the time in decimal, `:`, and MessagePack of [text, ply];
and `<account>:ids` -> the ids of the newest commands that laid one. The script that lays a draft
puts the time in and compares the ids. Durable as `infra.letters` is.
"""

from collections.abc import Callable
from typing import Any, Final

import msgspec
import redis

from domain.match.events import AccountId, CommandId
from infra import keys, scripts
from infra.clients import Clock

KEPT: Final = 30 * 24 * 3600
"""Seconds a match's drafts are kept after the newest was laid."""

_IDS: Final = 8
"""Commands remembered for a player; a door does not repeat one that is older."""

_PUT: Final = scripts.Script("put_draft")


class Draft(msgspec.Struct, frozen=True):
    """A move laid ready."""

    text: str
    """As the game writes it."""
    ply: int
    """At which the match stood."""
    at: int
    """When it was laid, in milliseconds since 1970 by Redis's clock."""
    line: bytes = b""
    """Tells the moves before it from others, which an undo may have put in their place."""


class _Tail(msgspec.Struct, frozen=True, array_like=True):
    text: str
    ply: int
    line: bytes = b""


_ENCODER: Final = msgspec.msgpack.Encoder()
_TAILS: Final = msgspec.msgpack.Decoder(_Tail)


class Drafts:
    """The drafts on a server, one a player and match. Errors of the server pass through.

    `shards` gives how many shards the matches are in. `clock` gives the time in ms instead of the
    server's TIME: the port for tests.
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
        """Lay a move ready in place of the one before.

        A `command` repeated changes nothing, also when its draft was replaced or dropped since.
        """
        now = "" if self._clock is None else str(self._clock())
        tail = _ENCODER.encode(_Tail(text, ply, line))
        field = account.hex()
        args: list[scripts.Arg] = [field, f"{field}:ids", command, now, tail, _IDS, KEPT]
        scripts.call(self._client, _PUT, [self._name(board)], args)

    def get(self, board: int, account: AccountId) -> Draft | None:
        """Return the move laid ready; None when there is none."""
        found: Any = self._client.hget(self._name(board), account.hex())
        return found and _parse(found)

    def drop(self, board: int, account: AccountId) -> None:
        """Take the move away, if there is one."""
        self._client.hdel(self._name(board), account.hex())

    def _name(self, board: int) -> str:
        return keys.drafts(keys.shard_of(board, self._shards()), board)


def _parse(data: bytes) -> Draft:
    at, _, rest = data.partition(b":")
    tail = _TAILS.decode(rest)
    return Draft(tail.text, tail.ply, int(at), tail.line)
