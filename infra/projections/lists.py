"""Who plays what: the matches of each player, and those of each game that go on.

| key | what |
|---|---|
| `rows` | hash: board -> packed `Row` |
| `next:<account>` | sorted set: matches that wait for the player; score: since when, ms |
| `active:<account>` | sorted set: matches that go on; score: board |
| `asked:<account>` | sorted set: matches with an offer that waits for the player; score: board |
| `over:<account>` | sorted set: matches that have ended; score: when, ms |
| `open:<game>` | sorted set: all matches of a game that go on; score: board |

Members are `<game>:<board>`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import islice
from typing import Final

import msgspec

from domain.match.events import AccountId
from domain.match.state import Offering
from domain.rules import Seat
from infra.projections.specs import LISTS
from infra.projections.view import View

ROWS: Final = "rows"


class Row(msgspec.Struct, frozen=True, array_like=True):
    """A match as a list shows it."""

    board: int
    seq: int
    """Of the last event that is in."""
    rules: str
    options: tuple[str, ...]
    seats: tuple[AccountId, ...]
    waits: tuple[Seat, ...]
    """Who is to act: the seat to move, or those that are to accept, commit or reveal."""
    since: int
    """When their turn began, ms."""
    ply: int
    at: int
    """Of the last event, ms."""
    started: bool = True
    """False while the match waits for consent before its draw."""
    left: tuple[Seat, ...] = ()
    """Seats that have left the match while others play on, in that order."""
    winners: tuple[Seat, ...] | None = None
    """None while it goes on; all tied seats for a draw, empty for a match that counts for nothing."""
    reason: str = ""
    """Why it ended."""
    offer: Offering | None = None
    """What stands proposed."""
    sealed: bool = False
    """Whether those that it waits for are to reveal texts that they have committed to."""

    @property
    def game(self) -> str:
        """The game's key, such as `pow2`."""
        return self.rules.partition("/")[0]

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.winners is not None

    @property
    def next(self) -> Seat | None:
        """The seat to move; None when it is over or waits for consent."""
        return self.waits[0] if self.started and self.waits else None

    @property
    def asked(self) -> tuple[Seat, ...]:
        """The seats whose answer to an offer is waited for."""
        if self.offer is None or self.over:
            return ()
        settled = {self.offer.seat, *self.offer.accepted, *self.left}
        return tuple(seat for seat in range(len(self.seats)) if seat not in settled)

    @property
    def member(self) -> str:
        """How the sorted sets have it."""
        return f"{self.game}:{self.board}"


class State(StrEnum):
    """Which of a player's matches are wanted."""

    NEXT = "next"
    """Those that wait for the player, the longest first."""
    ACTIVE = "active"
    """Those that go on, the newest board first."""
    INACTIVE = "inactive"
    """Those that have ended, the last ended first."""
    ALL = "all"
    """Those that go on, then those that have ended."""


class Counts(msgspec.Struct, frozen=True):
    """How many matches a player has."""

    next: int
    active: int
    inactive: int


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(Row)


def pack(row: Row) -> bytes:
    """Return the stored form."""
    return _ENCODER.encode(row)


def unpack(data: bytes) -> Row:
    """Read the stored form."""
    return _DECODER.decode(data)


def next_key(account: AccountId) -> str:
    """Name the matches that wait for a player."""
    return f"next:{account.hex()}"


def active_key(account: AccountId) -> str:
    """Name a player's matches that go on."""
    return f"active:{account.hex()}"


def asked_key(account: AccountId) -> str:
    """Name the matches in which an offer waits for a player's answer."""
    return f"asked:{account.hex()}"


def over_key(account: AccountId) -> str:
    """Name a player's matches that have ended."""
    return f"over:{account.hex()}"


def open_key(game: str) -> str:
    """Name a game's matches that go on."""
    return f"open:{game}"


class Lists(View):
    """The lists on a server."""

    spec = LISTS

    def of(
        self,
        account: AccountId,
        state: State = State.ALL,
        game: str | None = None,
        start: int = 0,
        count: int = 50,
    ) -> list[Row]:
        """Return some of a player's matches, of one game if it is named, from the `start`th on.

        O(log n + start + count) in the matches of that state; with a game O(n) at worst, for
        those of other games are passed over.
        """
        sources = {
            State.NEXT: [(next_key, False)],
            State.ACTIVE: [(active_key, True)],
            State.INACTIVE: [(over_key, True)],
            State.ALL: [(active_key, True), (over_key, True)],
        }[state]
        wanted = [(key(account), newest) for key, newest in sources]
        return self._some(wanted, game, start, count)

    def waiting(self, account: AccountId) -> list[Row]:
        """Return all matches that wait for a move, consent or answer of the player; O(their number)."""
        sources = [(key(account), False) for key in (asked_key, next_key)]
        found = {row.board: row for row in self._some(sources, None, 0, None)}
        return list(found.values())

    def others(self, account: AccountId, start: int = 0, count: int = 50) -> list[Row]:
        """Return matches that go on and don't wait for the player, the newest board first.

        O(n) in the player's matches that go on.
        """
        mine = set(self._boards_of(account, (asked_key, next_key)))
        boards = [one for one in self._boards_of(account, (active_key,)) if one not in mine]
        return self._rows(boards[::-1][start : start + count])

    def count_playing(self, game: str) -> int:
        """Count the matches of a game that go on; O(1)."""
        return int(self._client.zcard(self._generation().key(open_key(game))))

    def marks(self, accounts: Sequence[AccountId]) -> list[str]:
        """Return for each player a text that changes whenever their lists do; O(their number)."""
        generation = self._generation()
        with self._client.pipeline(transaction=False) as pipe:
            for account in accounts:
                for key in (next_key, asked_key, active_key, over_key):
                    name = generation.key(key(account))
                    pipe.zcard(name)
                    pipe.zrange(name, 0, 0, desc=True, withscores=True)
            found = pipe.execute()
        each = len(found) // len(accounts) if accounts else 0
        return [repr(found[at * each : (at + 1) * each]) for at in range(len(accounts))]

    def playing(self, game: str, start: int = 0, count: int = 50) -> list[Row]:
        """Return matches of a game that go on, the newest board first; O(log n + start + count)."""
        return self._some([(open_key(game), True)], game, start, count)

    def counts(self, account: AccountId) -> Counts:
        """Count a player's matches; O(1)."""
        generation = self._generation()
        with self._client.pipeline(transaction=False) as pipe:
            for key in (next_key, active_key, over_key):
                pipe.zcard(generation.key(key(account)))
            return Counts(*pipe.execute())

    def rows(self, boards: Sequence[int]) -> list[Row | None]:
        """Return matches by number, None for those that are not there; O(number of boards)."""
        found = self._fields(self._generation().key(ROWS), boards)
        return [None if data is None else unpack(data) for data in found]

    def _some(
        self, sources: Iterable[tuple[str, bool]], game: str | None, start: int, count: int | None
    ) -> list[Row]:
        generation = self._generation()
        members = (
            member
            for key, newest in sources
            for member in self._members(generation.key(key), newest=newest)
        )
        end = None if count is None else start + count
        return self._rows(islice(_boards(members, game), start, end))

    def _boards_of(
        self, account: AccountId, lists: Iterable[Callable[[AccountId], str]]
    ) -> list[bytes]:
        generation = self._generation()
        members = (
            member
            for key in lists
            for member in self._members(generation.key(key(account)), newest=False)
        )
        return list(_boards(members, None))

    def _rows(self, boards: Iterable[bytes]) -> list[Row]:
        found = self._fields(self._generation().key(ROWS), boards)
        # a match that ended between the two questions is in both lists or in none
        return [unpack(data) for data in found if data is not None]


def _boards(members: Iterable[bytes], game: str | None) -> Iterator[bytes]:
    beginning = b"" if game is None else f"{game}:".encode()
    for member in members:
        if member.startswith(beginning):
            yield member.rpartition(b":")[2]
