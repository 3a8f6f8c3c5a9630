"""Notices of an account as sentences for pages."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from domain.errors import Refusal
from domain.match.events import AccountId
from domain.match.history import unpack_snapshot
from infra.projections.match_lists import MatchListRow
from infra.projections.notices import NoticeKind, PlayerNotice
from services.app.context import App
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
    NoticeKind.CLAIMED: "A claim was made in the match with {others}; an arbiter rules on it",
    NoticeKind.RULED: "An arbiter ruled in the match with {others}",
    NoticeKind.APPEALED: "There is an appeal against a ruling in the match with {others}",
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
    found = context.app.lists.rows([one.board for one in notices])
    seats = seats_of_matches(context.app, notices, {row.board: row for row in found if row})
    names = names_of(context.app, (seat for some in seats.values() for seat in some))
    return named_news(notices, seats, names, account)


def seats_of_matches(
    app: App, notices: Sequence[PlayerNotice], rows: Mapping[int, MatchListRow]
) -> dict[int, Sequence[AccountId]]:
    """Return the players of these rows, and of the notices' matches whose rows have left Redis.

    The match itself knows them, also from the archive; one that can't be read is left out.
    """
    seats: dict[int, Sequence[AccountId]] = {board: row.seats for board, row in rows.items()}
    for board in {one.board for one in notices if one.board} - seats.keys():
        try:
            (found,) = app.store.snapshots([board])
            seats[board] = unpack_snapshot(found).state.seats
        except (Refusal, msgspec.MsgspecError):
            continue
    return seats


def named_news(
    notices: Sequence[PlayerNotice],
    seats: Mapping[int, Sequence[AccountId]],
    names: Mapping[AccountId, str],
    account: AccountId,
) -> list[NewsItem]:
    """Return each notice in words, by the players of the matches and their names."""
    return [
        NewsItem(one.board, one.at, _text(one, seats.get(one.board), names, account))
        for one in notices
    ]


def _text(
    notice: PlayerNotice,
    seats: Sequence[AccountId] | None,
    names: Mapping[AccountId, str],
    account: AccountId,
) -> str:
    others = "your opponent"  # of a match that can't be read
    if seats is not None:
        others = " and ".join(names[seat] for seat in seats if seat != account) or "yourself"
    return _WORDS[notice.kind].format(others=others)
