"""The first page: a welcome, or the matches that wait for a visitor who has logged in."""

from typing import Final
from uuid import uuid4

import msgspec
from litestar import Response, get

from domain.match.events import AccountId
from domain.rules import current
from infra.challenges import Challenge
from infra.projections.notices import KEPT
from services.api.context import ApiContext
from services.api.marks import Home, marks
from services.app.games import games
from services.app.matches import state_of
from services.app.names import names_by_seat
from services.web.boards import drawn
from services.web.choices import TIMES, USUAL_TIME, draws_usually, featured, suggested, to_show
from services.web.offers import offers
from services.web.pages import page
from services.web.paging import Part
from services.web.params import TheContext, TheVisitor
from services.web.rows import items, waiting, with_unread
from services.web.telling import Told, told

SHOWN: Final = 24
"""Rows of each list; the others are on pages of their own."""
_NEWS: Final = 8
"""Matches whose latest news is shown."""


@get("/", sync_to_thread=True)
def show_home(context: TheContext, visitor: TheVisitor) -> Response[str]:
    """Show the matches that wait for the visitor, or a welcome."""
    if visitor.account is None:
        return page(
            "welcome.html",
            visitor,
            live=_live(context),
            games=[current(key) for key in games()],
            suggested=suggested(),
        )
    account = visitor.account
    # first, so that a change while the page is made is news to it
    mark = marks(context.app, [Home(account)])[Home(account)]
    mine = waiting(context, account)
    unread = context.app.unread.counts(account)
    to_move = with_unread(mine.items(context, account, 0, SHOWN), unread)
    going = context.app.lists.others(account, 0, SHOWN)
    others = with_unread(items(context, going, account), unread)
    active = context.app.lists.counts(account).active
    open_, open_part = _open(context, account)
    return page(
        "home.html",
        visitor,
        mark=mark,
        messages=unread.messages,
        # in matches that are over, too, and in those that are not shown here
        chats=sorted(unread.boards.items()),
        now=context.app.store.now(),
        to_move=to_move,
        to_move_part=_part("Your move", "waiting", len(to_move), len(mine.rows)),
        others=others,
        others_part=_part("Others to move", "others", len(others), active - len(mine.rows)),
        news=_news(context, account),
        offers=offers(context, open_, account),
        offers_part=open_part,
        quick=featured(),
        chance={rules.key for rules in featured() if draws_usually(rules)},
        quick_time=TIMES[USUAL_TIME][0],
        key=uuid4().hex,
    )


def _part(label: str, show: str, shown: int, total: int) -> Part:
    return Part.of(label, start=0, shown=shown, total=total, path="/matches", query={"show": show})


def _open(context: ApiContext, account: AccountId) -> tuple[list[Challenge], Part]:
    """Return the visitor's own open challenges, then the newest of others."""
    challenges = context.app.challenges
    own, newest = challenges.of(account), challenges.listed(None, 0, SHOWN)
    known = {one.id for one in own}
    part = Part.of(
        "Open challenges",
        start=0,
        shown=len(newest),
        total=challenges.count(),
        path="/challenges",
    )
    return [*own, *(one for one in newest if one.id not in known)], part


def _news(context: ApiContext, account: AccountId) -> list[Told]:
    # all: those of one match may be many
    return told(context, context.app.notices.of(account, count=KEPT), account, _NEWS)


class Live(msgspec.Struct, frozen=True):
    """A match to look at, on the first page."""

    board: int
    title: str
    players: tuple[str, ...]
    svg: str
    ply: int
    seq: int


def _live(context: ApiContext) -> Live | None:
    """Return a match that goes on; None where none does."""
    for rules in to_show():
        for row in context.app.lists.playing(rules.key, 0, 1):
            state = state_of(context.app, row.board)
            if not state.unplaced:
                names = names_by_seat(context.app, state.seats)
                svg = drawn(state, state.ply, names)
                return Live(row.board, rules.title, names, svg, state.ply, state.seq)
    return None
