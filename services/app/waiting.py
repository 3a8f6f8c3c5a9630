"""The matches that wait for an account: pinned ones, then the most urgent.

News: notices of an account by match and kind, and which of them are new.

What asks for something, such as a turn, is never new, because the count of waiting matches has it. Chat and
messages that were read are no longer new.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import msgspec

from domain.match.history import PackedSnapshot, unpack_snapshot
from domain.match.state import deadline
from domain.records import AccountId
from domain.rules import rules_by_id
from domain.sentences import ENGLISH, Translation
from infra.people.account_lists import FollowList
from infra.people.account_notices import UnreadCounts, UnreadOverview
from infra.people.messages import KEPT_SECONDS
from infra.projections.match_lists import HomeBoards, MatchListRow
from infra.projections.notices import OF_TOURNAMENTS, NoticeKind, PlayerNotice
from infra.redis.reads import read_all
from infra.store.snapshots import read_snapshots
from services.app.context import App
from services.app.names import names_of

URGENT_MS: Final = 86_400_000
"""A deadline that is nearer than this is urgent."""


class OwnMatches(msgspec.Struct, frozen=True):
    """The running matches of an account, and those that it watches."""

    account: AccountId
    boards: HomeBoards
    followed: FollowList

    @property
    def others(self) -> list[int]:
        """The boards that do not wait for the account, in the order of its lists: pinned ones, then the newest."""
        return sorted(self.boards.others, key=lambda board: board not in self.followed.pinned)


class WaitingMatches(msgspec.Struct, frozen=True):
    """The matches that wait for an account, in the order of `in_order`."""

    rows: tuple[MatchListRow, ...] = ()
    deadlines: Mapping[int, int | None] = {}
    """By board, ms; None for a match without a limit."""
    pinned: Collection[int] = ()
    """All pinned matches of the account."""


class NextMatch(msgspec.Struct, frozen=True):
    """The match that an account should look at next."""

    board: int
    title: str
    others: tuple[str, ...]
    """The names of the other players; empty in a puzzle."""
    deadline: int | None
    """When the account's time is over, ms; None without a limit."""
    asked: bool
    """Whether an offer or an invitation waits for the account's answer."""
    waiting: int
    """The number of all matches that wait for the account, without the one that it comes from."""


def own_matches(app: App, account: AccountId) -> OwnMatches:
    """Return the running matches of an account, in one round trip."""
    boards, followed = read_all(app.data, app.lists.read_boards(account), app.follows.read(account))
    return OwnMatches(account, boards, followed)


def waiting_matches(app: App, own: OwnMatches) -> WaitingMatches:
    """Return the matches that wait for an account, in the order of `in_order`."""
    boards = own.boards
    rows, snapshots = read_all(
        app.data,
        app.lists.read_rows(boards.bucket, boards.waiting),
        read_snapshots(app.store.shard_of, boards.waiting),
    )
    found = dict(zip(boards.waiting, snapshots, strict=True))
    return in_order(own, list(rows.values()), [found[board] for board in rows])


def next_match(
    app: App,
    account: AccountId,
    after: int | None = None,
    language: Translation = ENGLISH,
    own: OwnMatches | None = None,
) -> NextMatch | None:
    """Return the first of the matches that wait for an account; None if none does. `own` are not read again.

    If the match `after` still waits, it is the one that follows in the order, and the first after the last;
    so all are gone through. `after` itself is never returned.
    """
    found = waiting_matches(app, own or own_matches(app, account))
    boards = [row.board for row in found.rows]
    at = boards.index(after) + 1 if after in boards else 0
    rows = [row for row in (*found.rows[at:], *found.rows[:at]) if row.board != after]
    if not rows:
        return None
    row = rows[0]
    names = names_of(app, row.seats, language)
    return NextMatch(
        board=row.board,
        title=rules_by_id(row.rules).title,
        others=tuple(names[seat] for seat in row.seats if seat != account),
        deadline=found.deadlines[row.board],
        asked=_is_asked(row, account),
        waiting=len(rows),
    )


def in_order(
    own: OwnMatches, rows: Sequence[MatchListRow], snapshots: Sequence[PackedSnapshot | None]
) -> WaitingMatches:
    """Return these matches that wait for an account: pinned ones, those with offers and invitations, then by deadline.

    A match whose snapshot can't be read has no deadline here.
    """
    due = {row.board: _deadline(data) for row, data in zip(rows, snapshots, strict=True)}

    pinned = own.followed.pinned

    def order(row: MatchListRow) -> tuple[bool, bool, bool, int, int]:
        at = due[row.board]
        asked = _is_asked(row, own.account)
        return row.board not in pinned, not asked, at is None, at or 0, row.since

    return WaitingMatches(tuple(sorted(rows, key=order)), due, pinned)


def _is_asked(row: MatchListRow, account: AccountId) -> bool:
    return row.seats.index(account) in (*row.asked, *row.invited)


def _deadline(data: PackedSnapshot | None) -> int | None:
    try:
        return deadline(unpack_snapshot(data).state)
    except msgspec.MsgspecError:
        return None


OF_A_TURN: Final = (
    NoticeKind.YOUR_TURN,
    NoticeKind.REMINDER,
    NoticeKind.REVEAL,
    NoticeKind.CHALLENGED,
)
"""Kinds that hold as long as the account is to act."""

LOOKED_AT: Final = 50
"""The newest notices of matches in which new ones are counted."""


class NewsGroup(msgspec.Struct, frozen=True):
    """The notices of a match and a kind, or of the messages of one sender."""

    newest: PlayerNotice
    count: int


def grouped(notices: Sequence[PlayerNotice], *, kinds: bool = True) -> list[NewsGroup]:
    """Return notices, the newest first, in groups, those with the newest first; without `kinds` one a match."""
    found: dict[object, list[PlayerNotice]] = {}
    for one in notices:
        of = one.board or (one.sender, one.to_all)
        found.setdefault((of, kinds and one.kind), []).append(one)
    return [NewsGroup(each[0], len(each)) for each in found.values()]


def boards_of(notices: Sequence[PlayerNotice]) -> list[int]:
    """Return the matches that notices are about, each once."""
    boards = (one.board for one in notices if one.board and one.kind not in OF_TOURNAMENTS)
    return list(dict.fromkeys(boards))


def tournaments_of(notices: Sequence[PlayerNotice]) -> list[int]:
    """Return the numbers of the tournaments that notices are about, each once."""
    return list(dict.fromkeys(one.board for one in notices if one.kind in OF_TOURNAMENTS))


def is_new(notice: PlayerNotice, unread: UnreadCounts, now: int) -> bool:
    """Return whether a notice is news to an account; `now` in ms."""
    if notice.at <= _read_until(unread, now):
        return False
    if notice.kind is NoticeKind.CHAT:
        return notice.board in unread.boards
    if notice.kind is NoticeKind.MESSAGE:
        return unread.messages > 0
    return notice.kind not in (*OF_A_TURN, NoticeKind.OFFER)


def new_count(matches: Sequence[PlayerNotice], written: UnreadOverview, now: int) -> int:
    """Return how many groups of notices, of matches and of what others wrote, are new."""
    read, counts = _read_until(written.counts, now), written.counts
    every = (*matches, *(one.notice for one in written.notices))
    # by the time first, because most are older
    return len(grouped([one for one in every if one.at > read and is_new(one, counts, now)]))


def _read_until(unread: UnreadCounts, now: int) -> int:
    # a read mark is kept as long as messages are
    return max(unread.news_read, now - KEPT_SECONDS * 1000)
