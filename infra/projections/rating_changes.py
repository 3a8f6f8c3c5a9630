"""The changes that rated matches made in the ratings of their players.

| key | what |
|---|---|
| `changes:<game>:<block>` | hash: board -> packed `RatingChange` of each seat; a block is 256 boards |

The keys are in the bucket of the game, and the fold of `infra.projections.ratings` writes them. Blocks are small
hashes, which a server stores in a few bytes a match.
"""

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

import msgspec

from infra.projections.buckets import RedisWrite

_BLOCK: Final = 256


class RatingChange(msgspec.Struct, frozen=True, array_like=True):
    """A player's rating before and after a match, as players see it."""

    before: int
    after: int

    @property
    def difference(self) -> int:
        """The points gained; negative for points lost."""
        return self.after - self.before


MatchChanges: TypeAlias = tuple[RatingChange, ...]
"""The change of each seat; empty for a match that is not rated, or not rated yet."""

RatedMatch: TypeAlias = tuple[str, int]
"""A game and a board."""

_pack: Final = msgspec.msgpack.Encoder().encode
_unpack: Final = msgspec.msgpack.Decoder(MatchChanges).decode


def changes_key(game: str, board: int) -> str:
    """Return the key of the changes of a block of boards."""
    return f"changes:{game}:{board // _BLOCK}"


def changes_of(data: bytes | None) -> MatchChanges:
    """Return the changes of a match as they are stored; none for None."""
    return () if data is None else _unpack(data)


def change_writes(changes: Mapping[RatedMatch, Sequence[RatingChange]]) -> list[RedisWrite]:
    """Return the writes of changes; a match without any has lost those it had."""
    return [
        ("HSET", changes_key(game, board), board, _pack(found))
        if found
        else ("HDEL", changes_key(game, board), board)
        for (game, board), found in changes.items()
    ]
