"""Watched matches, those of followed players, and all that go on, as pages show them."""

from collections.abc import Sequence
from typing import Final

import msgspec

from domain.match.events import AccountId
from domain.translation import Translation
from infra.people.account_lists import FollowList
from infra.projections.match_lists import MatchListRow
from services.app.follows import followed_boards, watched_matches
from services.app.listed_matches import listed_matches
from services.http.context import ApiContext
from services.http.web.lists.match_rows import MatchRow, rated_rows


class ShownPart(msgspec.Struct, frozen=True):
    """A part of a list of matches."""

    rows: Sequence[MatchRow]
    total: int
    live: Sequence[str]
    """Board and number of events, such as `12:35`, of each that goes on; the page fetches itself again
    when one has more."""


NOTHING: Final = ShownPart((), 0, ())


def watched_part(
    context: ApiContext, followed: FollowList, start: int, count: int, language: Translation
) -> ShownPart:
    """Return some of the matches that an account watches."""
    if not followed.boards:
        return NOTHING
    found = watched_matches(context.app, followed, start, count)
    return shown_part(context, found, len(followed.boards), language)


def played_part(
    context: ApiContext,
    account: AccountId,
    followed: FollowList,
    start: int,
    count: int,
    language: Translation,
) -> ShownPart:
    """Return some of the matches that followed players play now, without those of the account itself."""
    if not followed.accounts:
        return NOTHING
    boards = followed_boards(context.app, account, followed)
    rows = listed_matches(context.app, boards[start : start + count])
    return shown_part(context, list(rows.values()), len(boards), language)


def shown_part(
    context: ApiContext, rows: Sequence[MatchListRow], total: int, language: Translation
) -> ShownPart:
    """Return these rows as a part of a public list of so many."""
    live = [f"{row.board}:{row.seq}" for row in rows if not row.over]
    # without an owner, so that each row names all its players
    return ShownPart(rated_rows(context, rows, language), total, live)
