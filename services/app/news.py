"""News: notices of an account by match and kind, and which of them are new.

What asks for something, such as a turn, is never new, because the count of waiting matches has it. Chat and
messages that were read are no longer new.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from infra.people.messages import KEPT_SECONDS
from infra.people.unread import UnreadCounts, UnreadOverview
from infra.projections.notices import NoticeKind, PlayerNotice

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


def is_new(notice: PlayerNotice, unread: UnreadCounts, now: int) -> bool:
    """Return whether a notice is news to an account; `now` in ms."""
    # a read mark is kept as long as messages are
    if notice.at <= max(unread.news_read, now - KEPT_SECONDS * 1000):
        return False
    if notice.kind is NoticeKind.CHAT:
        return notice.board in unread.boards
    if notice.kind is NoticeKind.MESSAGE:
        return unread.messages > 0
    return notice.kind not in (*OF_A_TURN, NoticeKind.OFFER)


def new_count(matches: Sequence[PlayerNotice], written: UnreadOverview, now: int) -> int:
    """Return how many groups of notices, of matches and of what others wrote, are new."""
    every = [*matches, *(one.notice for one in written.notices)]
    return len(grouped([one for one in every if is_new(one, written.counts, now)]))
