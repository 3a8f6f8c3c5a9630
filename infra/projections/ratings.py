"""How strong each player is, of each game, and was after each match.

| key | what |
|---|---|
| `players:<game>` | hash: account -> packed `Rating` |
| `table:<game>` | sorted set of accounts; score: the skill's ordinal, in millionths |
| `series:<game>:<account>` | list of packed `Point`, in the order of the matches |
| `pending` | what waits for its turn, see `infra.projections.pending` |

Rated matches of two and more that somebody won count, in the order in which they ended.
"""

from typing import Final

import msgspec

from domain.match.events import AccountId
from domain.ratings import Skill
from infra.projections.specs import RATINGS
from infra.projections.view import View


class Rating(msgspec.Struct, frozen=True, array_like=True):
    """A player's rating as it stands."""

    skill: Skill = Skill()
    matches: int = 0
    """How many have counted."""
    board: int = 0
    """The last of them."""
    at: int = 0
    """When it ended, ms."""

    @property
    def shown(self) -> int:
        """The rating as people see it."""
        return self.skill.shown


class Point(msgspec.Struct, frozen=True, array_like=True):
    """A player's rating after a match."""

    board: int
    at: int
    """When the match ended, ms."""
    skill: Skill

    @property
    def shown(self) -> int:
        """The rating as people see it."""
        return self.skill.shown


class Rated(msgspec.Struct, frozen=True):
    """A player in a game's table."""

    account: AccountId
    rating: Rating


_ENCODER: Final = msgspec.msgpack.Encoder()
_RATINGS: Final = msgspec.msgpack.Decoder(Rating)
_POINTS: Final = msgspec.msgpack.Decoder(Point)


def pack(item: Rating | Point) -> bytes:
    """Return the stored form."""
    return _ENCODER.encode(item)


def unpack(data: bytes) -> Rating:
    """Read a rating's stored form."""
    return _RATINGS.decode(data)


def players_key(game: str) -> str:
    """Name a game's ratings."""
    return f"players:{game}"


def table_key(game: str) -> str:
    """Name a game's players in the order of their ratings."""
    return f"table:{game}"


def series_key(game: str, account: AccountId) -> str:
    """Name a player's ratings after each match."""
    return f"series:{game}:{account.hex()}"


class Ratings(View):
    """The ratings on a server."""

    spec = RATINGS

    def of(self, game: str, start: int = 0, count: int = 50) -> list[Rated]:
        """Return a game's players, the best first, from the `start`th on; O(log n + count)."""
        generation = self._generation()
        members = self._client.zrange(
            generation.key(table_key(game)), start, start + count - 1, desc=True
        )
        rows = self._fields(generation.key(players_key(game)), members)
        return [
            Rated(AccountId.fromhex(member.decode()), unpack(row))
            for member, row in zip(members, rows, strict=True)
            if row is not None
        ]

    def player(self, game: str, account: AccountId) -> Rating:
        """Return a player's rating, a newcomer's for who has none; O(1)."""
        key = self._generation().key(players_key(game))
        (row,) = self._fields(key, [account.hex()])
        return Rating() if row is None else unpack(row)

    def place(self, game: str, account: AccountId) -> int | None:
        """Return a player's place in the table, from 1; None for who has no rating; O(log n)."""
        key = self._generation().key(table_key(game))
        above = self._client.zrevrank(key, account.hex())
        return None if above is None else int(above) + 1

    def series(
        self, game: str, account: AccountId, start: int = 0, count: int = 1_000
    ) -> list[Point]:
        """Return a player's rating after each match, from the `start`th on; O(start + count)."""
        key = self._generation().key(series_key(game, account))
        return [_POINTS.decode(data) for data in self._client.lrange(key, start, start + count - 1)]

    def count(self, game: str) -> int:
        """Count the players of a game that have a rating; O(1)."""
        return int(self._client.zcard(self._generation().key(table_key(game))))
