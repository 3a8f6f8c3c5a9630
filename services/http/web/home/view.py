"""The contents of an account's home page, read in few round trips and few commands."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from domain.match.events import AccountId
from domain.translation import Translation
from infra.people.account_lists import FollowList
from infra.people.account_notices import newest_first
from infra.people.challenges import Challenge, ChallengesOverview
from infra.people.unread import UnreadCounts
from infra.projections.match_lists import MatchListRow, finished_row
from infra.projections.notices import MOST_NOTICES, newest_text
from infra.redis.reads import read_all
from infra.store.snapshots import read_snapshots
from services.app.names import shown_names
from services.app.news import NewsGroup, grouped, new_count
from services.app.waiting import OwnMatches, WaitingMatches, in_order
from services.http.context import ApiContext
from services.http.streams.page_marks import home_mark
from services.words.news import Rows, rows_of_notices, senders_of

MAX_CARDS: Final = 12
"""Matches with a picture of their board."""

MAX_ROWS: Final = 24
"""Matches that wait for the visitor, those with a picture included; another page has all."""

MAX_OTHERS: Final = 10
"""Other running matches; another page has all."""

_MAX_CHALLENGES: Final = 24

_MAX_NEWS: Final = 24
"""Rows of news that are looked at; many no longer hold."""


class HomeView(msgspec.Struct, frozen=True):
    """The contents of a home page."""

    mark: str
    """Changes with the page; see `services.http.streams.page_marks`."""
    waiting: WaitingMatches
    others: list[MatchListRow]
    """Some of the other running matches."""
    others_total: int
    """The number of all of them."""
    unread: UnreadCounts
    followed: FollowList
    """The matches that the account watches, and the players that it follows."""
    news: list[NewsGroup]
    new_news: int
    """How many rows of news are new."""
    rows: Rows
    """The matches of the lists and of the notices, by board."""
    open: ChallengesOverview
    names: Mapping[AccountId, str]
    """Of all players of these matches and challenges."""

    @property
    def challenges(self) -> list[Challenge]:
        """The account's own waiting challenges, then the newest of others."""
        return _shown(self.open)


def read_home(context: ApiContext, account: AccountId, now: int, language: Translation) -> HomeView:
    """Return the contents of an account's home page, in three round trips.

    The mark comes from the first of them, so that a later change reaches the page as news.
    """
    app = context.app
    boards, messages, matches, ids, followed = read_all(
        app.data,
        app.lists.read_boards(account),
        app.unread.read(account, now),
        # all notices, because one match may have many
        app.notices.matches.read_of(account, 0, MOST_NOTICES),
        app.challenges.read_ids(account, _MAX_CHALLENGES),
        app.follows.read(account),
    )
    own = OwnMatches(account, boards, followed)
    every = newest_first(matches, messages.notices)[:MOST_NOTICES]
    groups = grouped(every, kinds=False)[:_MAX_NEWS]
    notices = [one.newest for one in groups]
    shown = own.others[:MAX_OTHERS]
    going = {0, *boards.waiting, *boards.others}  # 0 is the board of a message
    wanted = [*boards.waiting, *shown, *(one.board for one in notices)]
    rows, over, listed = read_all(
        app.data,
        app.lists.read_rows(boards.bucket, wanted),
        app.history.read_rows({one.board for one in notices} - going),
        app.challenges.read_listed(ids, now),
    )
    open_ = app.challenges.overview_of(listed)
    # a match that ended between the two reads may have no row
    waiting = [rows[board] for board in boards.waiting if board in rows]
    finished = {board: finished_row(row) for board, row in over.items()}
    known = rows_of_notices(app, notices, {**finished, **rows})
    accounts = _players(
        [*(row.seats for row in known.values()), senders_of(notices)], _shown(open_)
    )
    snapshots, userids = read_all(
        app.data,
        read_snapshots(app.store.layout().shard_of, [row.board for row in waiting]),
        app.accounts.read_names(accounts),
    )
    return HomeView(
        mark=home_mark(open_, boards.mark, newest_text(matches), messages.mark),
        waiting=in_order(own, waiting, snapshots),
        others=[rows[board] for board in shown if board in rows],
        others_total=len(boards.others),
        unread=messages.counts,
        followed=followed,
        news=groups,
        new_news=new_count(matches, messages, now),
        rows=known,
        open=open_,
        names=dict(zip(accounts, shown_names(userids, language), strict=True)),
    )


def _shown(open_: ChallengesOverview) -> list[Challenge]:
    known = {one.id for one in open_.own}
    return [*open_.own, *(one for one in open_.newest if one.id not in known)]


def _players(
    groups: Iterable[Sequence[AccountId]], challenges: Sequence[Challenge]
) -> list[AccountId]:
    """Return the players of groups, such as matches, and of challenges, each once."""
    found = [one for group in groups for one in group]
    return list(dict.fromkeys([*found, *(one for each in challenges for one in each.players)]))
