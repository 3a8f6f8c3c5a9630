"""Matches as lists show them, and the matches that wait for a player, the most urgent first."""

from collections.abc import Mapping, Sequence

import msgspec

from domain.match.events import AccountId
from domain.match.history import PackedSnapshot, unpack_snapshot
from domain.match.state import deadline
from domain.rules import rules_by_id
from infra.people.unread import UnreadCounts
from infra.projections.finished_matches import FinishedMatchRow
from infra.projections.match_lists import MatchListRow
from services.app.endings import ending_in_list
from services.app.names import names_of
from services.http.context import ApiContext
from services.language.render.match_text import offer_name


class MatchRow(msgspec.Struct, frozen=True):
    """A match in a list."""

    board: int
    title: str
    players: tuple[str, ...]
    options: tuple[str, ...]
    others: tuple[str, ...]
    """All players except the owner of the list."""
    ply: int
    since: int
    """When the turn began, ms."""
    turn: str
    """The players who are to act."""
    mine: bool
    waiting: bool
    """Whether it waits for consent, or for texts for its draw."""
    sealed: bool
    """Whether all players have accepted, and the match waits for them to reveal their texts."""
    result: str
    """How it ended; empty while it goes on."""
    deadline: int | None = None
    offer: str = ""
    """An offer that the owner of the list has not answered."""
    unread: int = 0
    """Lines of chat that the owner of the list has not read."""


def finished_row(row: FinishedMatchRow) -> MatchListRow:
    """Return a finished match as the row of a list, with all that pages show of it."""
    return MatchListRow(
        board=row.board,
        seq=0,
        rules=row.rules,
        options=row.options,
        seats=row.seats,
        waits=(),
        since=row.at,
        ply=row.plies,
        at=row.at,
        winners=row.winners,
        reason=row.reason,
        ended=row.at,
    )


def match_rows(
    context: ApiContext, rows: Sequence[MatchListRow], account: AccountId | None = None
) -> list[MatchRow]:
    """Return matches as rows of a list; `account` is its owner, None for a public list."""
    found = names_of(context.app, (seat for row in rows for seat in row.seats))
    return named_rows(rows, found, account)


def named_rows(
    rows: Sequence[MatchListRow],
    names: Mapping[AccountId, str],
    account: AccountId | None = None,
) -> list[MatchRow]:
    """Return matches as rows of a list, by the names of all their players."""
    return [_match_row(row, [names[seat] for seat in row.seats], account) for row in rows]


def _match_row(row: MatchListRow, names: Sequence[str], account: AccountId | None) -> MatchRow:
    seat = row.seats.index(account) if account in row.seats else None
    return MatchRow(
        board=row.board,
        title=rules_by_id(row.rules).title,
        players=tuple(names),
        options=row.options,
        others=tuple(name for at, name in enumerate(names) if at != seat),
        ply=row.ply,
        since=row.since,
        turn=" and ".join(names[at] for at in row.waits),
        mine=seat in row.waits,
        waiting=not row.started,
        sealed=row.sealed,
        result=""
        if row.winners is None
        else ending_in_list(row.reason, [names[at] for at in row.winners], len(names)),
        offer=_offer(row, names) if seat in row.asked else "",
    )


def _offer(row: MatchListRow, names: Sequence[str]) -> str:
    if row.offer is None:
        return ""
    return f"{names[row.offer.seat]} proposes {offer_name(row.offer.kind)}"


def with_unread(found: Sequence[MatchRow], unread: UnreadCounts) -> list[MatchRow]:
    """Return the rows with the counts of their unread chat."""
    return [msgspec.structs.replace(one, unread=unread.boards.get(one.board, 0)) for one in found]


class WaitingMatches(msgspec.Struct, frozen=True):
    """The matches that wait for an account, the most urgent first."""

    rows: tuple[MatchListRow, ...]
    deadlines: dict[int, int | None]

    def items(
        self, context: ApiContext, account: AccountId, start: int, count: int
    ) -> list[MatchRow]:
        """Return some of them as rows of a list."""
        return self.with_deadlines(match_rows(context, self.rows[start : start + count], account))

    def with_deadlines(self, found: Sequence[MatchRow]) -> list[MatchRow]:
        """Return rows of these matches with their deadlines."""
        return [msgspec.structs.replace(one, deadline=self.deadlines[one.board]) for one in found]


def waiting_matches(context: ApiContext, account: AccountId) -> WaitingMatches:
    """Return the matches that wait for an account: first those with offers, then by deadline."""
    rows = context.app.lists.waiting(account)
    found = context.app.store.snapshots([row.board for row in rows]) if rows else []
    return in_order(account, rows, found)


def in_order(
    account: AccountId, rows: Sequence[MatchListRow], snapshots: Sequence[PackedSnapshot | None]
) -> WaitingMatches:
    """Return these matches that wait for an account: first those with offers, then by deadline.

    A match whose snapshot can't be read has no deadline here.
    """
    due = {row.board: _deadline(data) for row, data in zip(rows, snapshots, strict=True)}

    def order(row: MatchListRow) -> tuple[bool, bool, int, int]:
        at = due[row.board]
        asked = row.seats.index(account) in row.asked
        return not asked, at is None, at or 0, row.since

    return WaitingMatches(tuple(sorted(rows, key=order)), due)


def _deadline(data: PackedSnapshot | None) -> int | None:
    try:
        return deadline(unpack_snapshot(data).state)
    except msgspec.MsgspecError:
        return None
