"""Notices of an account as sentences for pages."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from domain.match.events import AccountId
from infra.projections.match_lists import MatchListRow
from infra.projections.notices import NoticeKind, PlayerNotice
from services.app.names import names_of
from services.http.context import ApiContext

_WORDS: Final = {
    NoticeKind.CHALLENGED: "{others} challenged you to a match; accept or decline it",
    NoticeKind.REVEAL: "The match with {others} waits until you reveal your text for the draw",
    NoticeKind.STARTED: "A match with {others} has begun",
    NoticeKind.YOUR_TURN: "Your turn against {others}",
    NoticeKind.OFFER: "{others} made an offer",
    NoticeKind.ANSWERED: "{others} answered an offer",
    NoticeKind.REPLIED: "Your conditional move was played against {others}",
    NoticeKind.RESIGNED: "One of {others} resigned, and the others play on",
    NoticeKind.FLAGGED: "A player ran out of time in the match with {others}",
    NoticeKind.RESUMED: "The pause has ended in the match with {others}",
    NoticeKind.DECLINED: "{others} declined to play",
    NoticeKind.OVER: "The match with {others} has ended",
    NoticeKind.REMINDER: "Your time is running out against {others}",
    NoticeKind.CHAT: "There is new chat in the match with {others}",
    NoticeKind.MESSAGE: "Somebody has written to you",
}


class NewsItem(msgspec.Struct, frozen=True):
    """A notice in words."""

    board: int
    at: int
    text: str


def newest_of_each(notices: Sequence[PlayerNotice], most: int) -> list[PlayerNotice]:
    """Return the newest notice of each match, for `most` matches at most; `notices` are newest first."""
    newest: dict[int, PlayerNotice] = {}
    for one in notices:
        if len(newest) < most:
            newest.setdefault(one.board, one)
    return list(newest.values())


def news_items(
    context: ApiContext, notices: Sequence[PlayerNotice], account: AccountId
) -> list[NewsItem]:
    """Return each notice in words."""
    rows = context.app.lists.rows([one.board for one in notices])
    names = names_of(context.app, (seat for row in rows if row for seat in row.seats))
    return named_news(notices, {row.board: row for row in rows if row}, names, account)


def named_news(
    notices: Sequence[PlayerNotice],
    rows: Mapping[int, MatchListRow],
    names: Mapping[AccountId, str],
    account: AccountId,
) -> list[NewsItem]:
    """Return each notice in words, by the matches and the names of all their players."""
    return [
        NewsItem(one.board, one.at, _text(one, rows.get(one.board), names, account))
        for one in notices
    ]


def _text(
    notice: PlayerNotice,
    row: MatchListRow | None,
    names: Mapping[AccountId, str],
    account: AccountId,
) -> str:
    others = [names[seat] for seat in row.seats if seat != account] if row else []
    return _WORDS[notice.kind].format(others=" and ".join(others) or "yourself")
