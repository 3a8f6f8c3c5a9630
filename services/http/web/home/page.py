"""The home page: the matches of a visitor who has logged in, or a welcome to a guest."""

from typing import Final
from uuid import uuid4

import msgspec
from litestar import Response
from litestar.response import Redirect

from domain.rules import latest_rules
from domain.translation import Translation
from services.app.games import game_keys
from services.app.matches import load_state
from services.app.names import names_by_seat
from services.app.waiting import next_match
from services.http.context import ApiContext
from services.http.web.boards.board_view import draw_match
from services.http.web.boards.live_try import easiest_robot, live_try
from services.http.web.challenges.new_match_form import robot_offers, showcase_games
from services.http.web.challenges.open_challenges import named_offers, offers
from services.http.web.declared import Pages
from services.http.web.games.guides import game_cards, welcome_game
from services.http.web.home.view import MAX_CARDS, MAX_ROWS, read_home
from services.http.web.lists.match_rows import named_rows, with_own
from services.http.web.lists.pagination import ListPart
from services.http.web.lists.watching_view import played_part, watched_part
from services.http.web.params import (
    AccountDependency,
    AfterBoard,
    ContextDependency,
    VisitorDependency,
)
from services.http.web.render import redirect_to, render
from services.http.web.session import Visitor
from services.words.news import NewsReader, named_news
from services.words.offers import offered

pages = Pages()

_MAX_NEWS: Final = 8
_MAX_WATCHED: Final = 6
_MAX_PLAYED: Final = 4
_MAX_OFFERS: Final = 6


@pages.get("/")
def show_home(context: ContextDependency, visitor: VisitorDependency) -> Response[str]:
    """Show the matches that wait for the visitor, or a welcome."""
    if visitor.account is None:
        return _show_welcome(context, visitor)
    account = visitor.account
    home = read_home(context, account, visitor.now, visitor.wording)
    mine, unread = home.waiting, home.unread
    shown = named_rows(mine.rows[:MAX_ROWS], home.names, account)
    waiting = with_own(shown, mine, unread.boards)
    asked = [one for one in waiting if one.offer or one.makers]
    to_move = [one for one in waiting if not (one.offer or one.makers)]
    others = with_own(named_rows(home.others, home.names, account), mine, unread.boards)
    talked = [home.rows[board] for board in unread.boards if board in home.rows]
    matches = {one.board: one for one in named_rows(talked, home.names, account)}
    reader = NewsReader(account, visitor.wording, unread, visitor.now)
    news = named_news(home.news, home.rows, home.names, reader)
    return render(
        "home.html",
        msgspec.structs.replace(visitor, news=home.new_news),
        mark=home.mark,
        messages=unread.messages,
        # also in matches that are over or not shown here
        chats=[
            (board, lines, matches.get(board)) for board, lines in sorted(unread.boards.items())
        ],
        now=visitor.now,
        waiting=len(mine.rows),
        asked=[
            (one, one.offer and f"{offered(one.offer, one.offered_by, visitor.wording)}.")
            for one in asked
        ],
        cards=to_move[:MAX_CARDS],
        more=to_move[MAX_CARDS:],
        others=others,
        others_total=home.others_total,
        followed=home.followed,
        watched=watched_part(context, home.followed, 0, _MAX_WATCHED, visitor.wording),
        played=played_part(context, account, home.followed, 0, _MAX_PLAYED, visitor.wording),
        news=[one for one in news if one.current][:_MAX_NEWS],
        offers=named_offers(home.challenges, home.names, visitor),
        offers_part=ListPart.of(
            visitor.wording.gettext("Open challenges"),
            start=0,
            shown=len(home.open.newest),
            total=home.open.total,
            path="/challenges",
        ),
        tiles=game_cards(showcase_games(), visitor),
        cases=context.app.cases.count() if visitor.profile and visitor.profile.arbiter else 0,
        key=uuid4().hex,
        **robot_offers(context.app),
    )


@pages.get("/next")
def go_to_next(
    context: ContextDependency,
    visitor: VisitorDependency,
    account: AccountDependency,
    after: AfterBoard = None,
) -> Redirect:
    """Go to the match that waits next for the visitor, or home without one."""
    found = next_match(context.app, account, after, visitor.wording)
    return redirect_to(f"/m/{found.board}" if found else "/")


# the first page of a guest


class LiveMatch(msgspec.Struct, frozen=True):
    """A match in progress, which the page follows."""

    board: int
    title: str
    players: tuple[str, ...]
    svg: str
    ply: int
    seq: int


def _show_welcome(context: ApiContext, visitor: Visitor) -> Response[str]:
    """Show a guest what this is."""
    known = [latest_rules(key) for key in game_keys()]
    open_ = context.app.challenges.list_open(None, 0, _MAX_OFFERS)
    return render(
        "welcome.html",
        visitor,
        live=_live_match(context, visitor.wording),
        live_try=live_try(welcome_game(), visitor.wording, easiest_robot(context.app)),
        games=game_cards([one for one in known if one.players != (1,)], visitor),
        puzzles=game_cards([one for one in known if one.players == (1,)], visitor),
        offers=offers(context, open_, visitor),
        **robot_offers(context.app),
    )


def _live_match(context: ApiContext, language: Translation) -> LiveMatch | None:
    """Return a match in progress; None if there is none."""
    for rules in showcase_games():
        for row in context.app.lists.playing(rules.key, 0, 1):
            state = load_state(context.app, row.board)
            if not state.has_no_position:
                names = names_by_seat(context.app, state.seats, language)
                svg = draw_match(state, state.ply, names, language=language)
                return LiveMatch(row.board, rules.title, names, svg, state.ply, state.seq)
    return None
