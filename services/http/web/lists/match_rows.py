"""Pagination of long lists.

Matches as lists show them.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, Self
from urllib.parse import urlencode

import msgspec

from domain.match.state import is_bot, robot_level
from domain.records import AccountId
from domain.rules import game_keys, rules_by_id
from infra.projections.match_lists import MatchListRow
from infra.projections.ratings import Rating, RatingChange, pool_of
from infra.redis.reads import read_all
from services.app.names import names_of
from services.app.tournament_names import tournaments_of_matches
from services.app.waiting import WaitingMatches
from services.http.context import ApiContext
from services.http.web.session import Visitor
from services.words.endings import Verdict, verdict_for

PAGE_SIZE: Final = 50
"""Rows of a page."""


def first_row(page: int, size: int = PAGE_SIZE) -> int:
    """Return the index of the first row of a page, from its number."""
    return (page - 1) * size


class ListPart(msgspec.Struct, frozen=True):
    """The part of a list that a page shows, with the addresses of the parts beside it."""

    label: str
    """The name of the list, for screen readers."""
    start: int
    shown: int
    total: int
    size: int
    path: str
    query: Mapping[str, str] = {}

    @classmethod
    def of(
        cls,
        label: str,
        *,
        start: int,
        shown: int,
        total: int,
        path: str,
        size: int = PAGE_SIZE,
        query: Mapping[str, str] | None = None,
    ) -> Self:
        """Return a part; the total is at least the number of rows up to its end."""
        total = max(total, start + shown) if shown else total
        return cls(label, start, shown, total, size, path, query or {})

    @property
    def needed(self) -> bool:
        """Whether the list has more rows than this part."""
        return self.total > self.shown

    @property
    def before(self) -> str:
        """Address of the previous page; empty for the first."""
        return self._url(max(0, self.start - self.size)) if self.start else ""

    @property
    def after(self) -> str:
        """Address of the next page; empty for the last."""
        end = self.start + self.shown
        return self._url(end) if self.shown and end < self.total else ""

    def _url(self, start: int) -> str:
        page = start // self.size + 1
        query = {**self.query, **({"page": str(page)} if page > 1 else {})}
        return f"{self.path}{'?' + urlencode(query) if query else ''}"


class RowPlayer(msgspec.Struct, frozen=True):
    """A player of a match in a list."""

    name: str
    robot: bool
    bot: bool = False
    rating: Rating | None = None
    """In the game of the match; None for a player without one, or if the list does not show it."""


class MatchRow(msgspec.Struct, frozen=True):
    """A match in a list."""

    board: int
    game: str
    """The game's key."""
    title: str
    known: bool
    """Whether this server still has the game."""
    players: tuple[str, ...]
    opponents: tuple[RowPlayer, ...]
    """All players except the owner of the list."""
    options: tuple[str, ...]
    ply: int
    since: int
    """When the turn began, ms."""
    turn: tuple[str, ...]
    """The players who are to act."""
    mine: bool
    waiting: bool
    """Whether it waits for consent, or for texts for its draw."""
    sealed: bool
    """Whether all players have accepted, and the match waits for them to reveal their texts."""
    invited: tuple[str, ...]
    """The players who have yet to accept the match by name."""
    makers: tuple[str, ...]
    """Those who challenge the owner of the list; empty for an owner who is not invited."""
    verdict: Verdict | Literal[""]
    """The result for the owner of the list; empty while it goes on."""
    winners: tuple[str, ...]
    reason: str
    """Why it ended."""
    ended: int
    """When it got its result, ms; 0 while it goes on."""
    offer: str = ""
    """The kind of an offer that the owner of the list has not answered."""
    offered_by: str = ""
    change: RatingChange | None = None
    """The change of the rating of the owner of the list; None without one."""
    deadline: int | None = None
    pinned: bool = False
    unread: int = 0
    """Lines of chat that the owner of the list has not read."""
    tournament: tuple[int, str] | None = None
    """Number and name of its tournament; None without one, or if the visitor may not see it."""

    @property
    def others(self) -> tuple[str, ...]:
        """The names of all players except the owner of the list."""
        return tuple(one.name for one in self.opponents)


def match_rows(
    context: ApiContext,
    rows: Sequence[MatchListRow],
    visitor: Visitor,
    account: AccountId | None = None,
) -> list[MatchRow]:
    """Return matches as rows of a list; `account` is its owner, None for a public list."""
    app, seats = context.app, (seat for row in rows for seat in row.seats)
    found = names_of(app, seats, visitor.wording)
    return named_rows(rows, found, account, tournaments_of_matches(app, visitor.account, rows))


def rated_rows(
    context: ApiContext,
    rows: Sequence[MatchListRow],
    visitor: Visitor,
    account: AccountId | None = None,
) -> list[MatchRow]:
    """Return the rows with the ratings of the players, and what each match changed for the owner."""
    app, pools = context.app, [pool_of(row.game, row.seats) for row in rows]
    players = list(
        dict.fromkeys(
            (pool, seat)
            for pool, row in zip(pools, rows, strict=True)
            for seat in row.seats
            if seat != account
        )
    )
    ratings, changes = read_all(
        app.data,
        app.ratings.read_players(players),
        app.ratings.read_changes(list(zip(pools, [row.board for row in rows], strict=True))),
    )
    known = dict(zip(players, ratings, strict=True))
    shown = []
    for item, row, pool, change in zip(
        match_rows(context, rows, visitor, account), rows, pools, changes, strict=True
    ):
        others = [seat for seat in row.seats if seat != account]
        rated = [known[pool, seat] for seat in others]
        opponents = tuple(
            msgspec.structs.replace(one, rating=rating if rating.matches else None)
            for one, rating in zip(item.opponents, rated, strict=True)
        )
        own = row.seats.index(account) if account in row.seats else len(change)
        shown.append(
            msgspec.structs.replace(
                item, opponents=opponents, change=change[own] if own < len(change) else None
            )
        )
    return shown


def named_rows(
    rows: Sequence[MatchListRow],
    names: Mapping[AccountId, str],
    account: AccountId | None = None,
    tournaments: Mapping[int, str] = {},
) -> list[MatchRow]:
    """Return matches as rows of a list, by the names of all their players, and of the tournaments to be named."""
    return [
        _match_row(row, [names[seat] for seat in row.seats], account, tournaments) for row in rows
    ]


def _match_row(
    row: MatchListRow,
    names: Sequence[str],
    account: AccountId | None,
    tournaments: Mapping[int, str],
) -> MatchRow:
    seat = row.seats.index(account) if account in row.seats else None
    asked = row.offer if seat in row.asked else None
    return MatchRow(
        board=row.board,
        game=row.game,
        title=rules_by_id(row.rules).title,
        known=row.game in game_keys(),
        players=tuple(names),
        opponents=tuple(
            RowPlayer(name, robot_level(row.seats[at]) is not None, is_bot(row.seats[at]))
            for at, name in enumerate(names)
            if at != seat
        ),
        options=row.options,
        ply=row.ply,
        since=row.since,
        turn=tuple(names[at] for at in row.waits),
        mine=seat in row.waits and not row.invited,
        waiting=not row.started,
        sealed=row.sealed,
        invited=tuple(names[at] for at in row.invited),
        makers=_makers(row, names) if seat in row.invited else (),
        verdict=verdict_for(row, seat),
        winners=tuple(names[at] for at in row.winners or ()),
        reason=row.reason,
        ended=row.ended,
        offer=asked.kind if asked else "",
        offered_by=names[asked.seat] if asked else "",
        tournament=(row.tournament, tournaments[row.tournament])
        if row.tournament in tournaments
        else None,
    )


def _makers(row: MatchListRow, names: Sequence[str]) -> tuple[str, ...]:
    people = [at for at, one in enumerate(row.seats) if robot_level(one) is None]
    return tuple(names[at] for at in people if at not in row.invited)


def with_own(
    found: Sequence[MatchRow], waiting: WaitingMatches, unread: Mapping[int, int]
) -> list[MatchRow]:
    """Return the rows with all that concerns their owner alone: deadlines, pins, and unread lines by board."""
    return [
        msgspec.structs.replace(
            one,
            unread=unread.get(one.board, 0),
            deadline=waiting.deadlines.get(one.board),
            pinned=one.board in waiting.pinned,
        )
        for one in found
    ]
