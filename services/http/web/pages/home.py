"""The home page: a welcome, or the matches of a visitor who has logged in."""

from uuid import uuid4

import msgspec
from litestar import Response, get

from domain.rules import latest_rules
from services.app.games import game_keys
from services.app.matches import load_state
from services.app.names import names_by_seat
from services.http.context import ApiContext
from services.http.web.params import ContextDependency, VisitorDependency
from services.http.web.render import render
from services.http.web.views.board_view import draw_match
from services.http.web.views.home_view import MAX_ROWS, read_home
from services.http.web.views.match_rows import named_rows, with_unread
from services.http.web.views.new_match_form import (
    DEFAULT_TIME,
    TIME_CHOICES,
    featured_games,
    needs_draw_by_default,
    robot_offers,
    showcase_games,
    suggested_game,
)
from services.http.web.views.news import named_news
from services.http.web.views.open_challenges import named_offers
from services.http.web.views.pagination import ListPart


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
            **robot_offers(context.app),
        )
    account = visitor.account
    home = read_home(context, account, visitor.now)
    mine, unread = home.waiting, home.unread
    shown = named_rows(mine.rows[:MAX_ROWS], home.names, account)
    to_move = with_unread(mine.with_deadlines(shown), unread)
    others = with_unread(named_rows(home.others, home.names, account), unread)
    return render(
        "home.html",
        visitor,
        mark=home.mark,
        messages=unread.messages,
        # also in matches that are over or not shown here
        chats=sorted(unread.boards.items()),
        now=visitor.now,
        to_move=to_move,
        to_move_part=_part("Your move", "waiting", len(to_move), len(mine.rows)),
        others=others,
        others_part=_part("Others to move", "others", len(others), home.others_total),
        news=named_news(home.notices, home.seats, home.names, account),
        offers=named_offers(home.challenges, home.names, account),
        offers_part=ListPart.of(
            "Open challenges",
            start=0,
            shown=len(home.open.newest),
            total=home.open.total,
            path="/challenges",
        ),
        quick=featured_games(),
        chance={rules.key for rules in featured_games() if needs_draw_by_default(rules)},
        quick_time=TIME_CHOICES[DEFAULT_TIME][0],
        cases=context.app.cases.count() if visitor.profile and visitor.profile.arbiter else 0,
        key=uuid4().hex,
        **robot_offers(context.app),
    )


def _part(label: str, show: str, shown: int, total: int) -> ListPart:
    return ListPart.of(
        label, start=0, shown=shown, total=total, path="/matches", query={"show": show}
    )


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
