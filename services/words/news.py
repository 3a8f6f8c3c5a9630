"""Notices of an account as news for pages and notifications, true at the moment when they are shown."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from domain.match.events import AccountId
from domain.rules import rules_by_id
from infra.languages.wording import Wording
from infra.people.unread import UnreadCounts
from infra.projections.match_lists import MatchListRow
from infra.projections.notices import NoticeKind, PlayerNotice
from services.app.context import App
from services.app.listed_matches import with_older
from services.app.names import shown_name
from services.app.news import OF_A_TURN, NewsGroup, is_new
from services.words.endings import reason_label, verdict_for
from services.words.notices import NewsSubject, news_text

Rows = Mapping[int, MatchListRow]
"""Matches by board."""

_OF_A_CASE: Final = (NoticeKind.CLAIMED, NoticeKind.RULED, NoticeKind.APPEALED)


class NewsReader(msgspec.Struct, frozen=True):
    """The account that reads news, in a language, at a moment."""

    account: AccountId
    words: Wording
    unread: UnreadCounts
    now: int
    """Milliseconds."""


class NewsItem(msgspec.Struct, frozen=True):
    """A notice in words."""

    path: str
    at: int
    text: str
    note: str
    """How a match ended; otherwise empty."""
    tone: str
    """The verdict of a match that is over; otherwise empty."""
    current: bool
    """Whether it still asks the visitor for something, or tells what happened last."""
    new: bool
    """Whether it is news to the visitor; see `services.app.news`."""


def senders_of(notices: Sequence[PlayerNotice]) -> list[AccountId]:
    """Return who wrote the messages among notices."""
    return [one.sender for one in notices if one.sender]


def rows_of_notices(app: App, notices: Sequence[PlayerNotice], rows: Rows) -> Rows:
    """Return these rows, and those of the notices' matches that have left Redis."""
    return with_older(app, sorted({one.board for one in notices if one.board}), rows)


def named_news(
    groups: Sequence[NewsGroup],
    rows: Rows,
    names: Mapping[AccountId, str],
    reader: NewsReader,
) -> list[NewsItem]:
    """Return notices of an account in words, by the matches and the names of their players."""
    return [_item(one, rows.get(one.newest.board), names, reader) for one in groups]


def _item(
    group: NewsGroup,
    row: MatchListRow | None,
    names: Mapping[AccountId, str],
    reader: NewsReader,
) -> NewsItem:
    notice, count = group.newest, group.count
    account, words, unread = reader.account, reader.words, reader.unread
    current = _is_current(notice, row, account, unread)
    seat = row.seats.index(account) if row and account in row.seats else None
    verdict = verdict_for(row, seat) if row and notice.kind is NoticeKind.OVER else ""
    if current and notice.kind is NoticeKind.CHAT:
        count = unread.boards[notice.board]
    subject = msgspec.structs.replace(_subject(notice, row, names, reader), count=count)
    return NewsItem(
        path=_path(notice),
        at=notice.at,
        text=news_text(subject, verdict, words, current=current),
        note=reason_label(row.reason, words) if row and verdict else "",
        tone=verdict,
        current=current,
        new=current and is_new(notice, unread, reader.now),
    )


def _subject(
    notice: PlayerNotice,
    row: MatchListRow | None,
    names: Mapping[AccountId, str],
    reader: NewsReader,
) -> NewsSubject:
    sender = names.get(notice.sender, "")
    if row is None:  # a message, or a match that can't be read
        gone = shown_name(None, reader.words)
        return NewsSubject(notice.kind, "", (gone,), sender, to_all=notice.to_all)
    account = reader.account
    detail = notice.detail
    seat = detail.seat if detail and detail.seat < len(row.seats) else None
    invited = row.invited if notice.kind is NoticeKind.CHALLENGED else ()
    others = [one for at, one in enumerate(row.seats) if at not in invited]
    return NewsSubject(
        kind=notice.kind,
        game=rules_by_id(row.rules).title,
        others=tuple(names[one] for one in others if one != account),
        actor=sender if seat is None else names[row.seats[seat]],
        own=seat is not None and row.seats[seat] == account,
        offer=detail.offer if detail else "",
        accepted=bool(detail and detail.accepted),
    )


def _path(notice: PlayerNotice) -> str:
    if not notice.board:
        return "/messages"
    if notice.kind in _OF_A_CASE:
        return f"/m/{notice.board}/case"
    return f"/m/{notice.board}#chat" if notice.kind is NoticeKind.CHAT else f"/m/{notice.board}"


def _is_current(
    notice: PlayerNotice, row: MatchListRow | None, account: AccountId, unread: UnreadCounts
) -> bool:
    """Return whether a notice still holds: a turn that was taken is no news, nor is chat that was read."""
    if notice.kind is NoticeKind.MESSAGE:
        return unread.messages > 0
    if notice.kind is NoticeKind.CHAT:
        return notice.board in unread.boards
    if row is None or account not in row.seats:
        return True
    seat = row.seats.index(account)
    if notice.kind in OF_A_TURN:
        return seat in row.invited or (seat in row.waits and notice.at >= row.since)
    if notice.kind is NoticeKind.OFFER:
        return seat in row.asked
    return notice.kind is not NoticeKind.OVER or row.over
