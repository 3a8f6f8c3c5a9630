"""The home page: a welcome, or the matches of a visitor who has logged in."""

from collections.abc import Sequence
from typing import Final
from uuid import uuid4

import msgspec
from litestar import Response, get

from domain.match.events import AccountId
from domain.rules import latest_rules
from infra.people.challenges import Challenge
from infra.people.message_notices import MessageNotice
from infra.projections.notices import MOST_NOTICES
from services.app.games import game_keys
from services.app.matches import load_state
from services.app.names import names_by_seat
from services.http.context import ApiContext
from services.http.streams.page_marks import HomeTopic, page_marks
from services.http.web.params import ContextDependency, VisitorDependency
from services.http.web.render import render
from services.http.web.views.board_view import draw_match
from services.http.web.views.match_rows import in_order, match_rows, with_unread
from services.http.web.views.new_match_form import (
    DEFAULT_TIME,
    TIME_CHOICES,
    featured_games,
    needs_draw_by_default,
    showcase_games,
    suggested_game,
)
from services.http.web.views.news import NewsItem, news_item
from services.http.web.views.open_challenges import offers
from services.http.web.views.pagination import ListPart

MAX_ROWS: Final = 24
"""Rows of each list; other pages have the rest."""
_MAX_NEWS: Final = 8
"""Matches whose newest notice is shown."""


@get("/", sync_to_thread=True)
def show_home(context: ContextDependency, visitor: VisitorDependency) -> Response[str]:
    """Show the matches that wait for the visitor, or a welcome."""
    if visitor.account is None:
        return render(
            "welcome.html",
            visitor,
            live=_live_match(context),
            games=[latest_rules(key) for key in game_keys()],
            suggested=suggested_game(),
        )
    account = visitor.account
    # first, because a change while the page is made has to reach it as news
    mark = page_marks(context.app, [HomeTopic(account)])[HomeTopic(account)]
    lists = context.app.lists.overview(account, MAX_ROWS)
    mine = in_order(context, account, lists.waiting)
    messages = context.app.unread.overview(account, visitor.now)
    unread = messages.counts
    shown = mine.rows[:MAX_ROWS]
    rows = match_rows(context, [*shown, *lists.others], account)
    to_move = with_unread(mine.with_deadlines(rows[: len(shown)]), unread)
    others = with_unread(rows[len(shown) :], unread)
    open_, open_part = _open_challenges(context, account)
    return render(
        "home.html",
        visitor,
        mark=mark,
        messages=unread.messages,
        # also in matches that are over or not shown here
        chats=sorted(unread.boards.items()),
        now=visitor.now,
        to_move=to_move,
        to_move_part=_part("Your move", "waiting", len(to_move), len(mine.rows)),
        others=others,
        others_part=_part("Others to move", "others", len(others), lists.active - len(mine.rows)),
        news=_news(context, account, messages.notices),
        offers=offers(context, open_, account),
        offers_part=open_part,
        quick=featured_games(),
        chance={rules.key for rules in featured_games() if needs_draw_by_default(rules)},
        quick_time=TIME_CHOICES[DEFAULT_TIME][0],
        key=uuid4().hex,
    )


def _part(label: str, show: str, shown: int, total: int) -> ListPart:
    return ListPart.of(
        label, start=0, shown=shown, total=total, path="/matches", query={"show": show}
    )


def _open_challenges(context: ApiContext, account: AccountId) -> tuple[list[Challenge], ListPart]:
    """Return the visitor's own open challenges, then the newest of others."""
    found = context.app.challenges.overview(account, MAX_ROWS)
    known = {one.id for one in found.own}
    part = ListPart.of(
        "Open challenges",
        start=0,
        shown=len(found.newest),
        total=found.total,
        path="/challenges",
    )
    return [*found.own, *(one for one in found.newest if one.id not in known)], part


def _news(
    context: ApiContext, account: AccountId, messages: Sequence[MessageNotice]
) -> list[NewsItem]:
    # all notices, because one match may have many
    found = context.app.notices.with_messages(account, messages, MOST_NOTICES)
    return news_item(context, found, account, _MAX_NEWS)


class LiveMatch(msgspec.Struct, frozen=True):
    """The match on the welcome page."""

    board: int
    title: str
    players: tuple[str, ...]
    svg: str
    ply: int
    seq: int


def _live_match(context: ApiContext) -> LiveMatch | None:
    """Return a match in progress; None if there is none."""
    for rules in showcase_games():
        for row in context.app.lists.playing(rules.key, 0, 1):
            state = load_state(context.app, row.board)
            if not state.has_no_position:
                names = names_by_seat(context.app, state.seats)
                svg = draw_match(state, state.ply, names)
                return LiveMatch(row.board, rules.title, names, svg, state.ply, state.seq)
    return None
