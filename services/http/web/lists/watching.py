"""Watching and pinning matches, and following players: the buttons, and the page of all that is watched.

Watched matches, those of followed players, and all that go on, as pages show them.
"""

from collections.abc import Sequence
from typing import Final

import msgspec
from litestar import Response
from litestar.response import Redirect

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.people.account_lists import FollowList
from infra.projections.match_lists import MatchListRow
from services.app import follows
from services.app.follows import followed_boards, watched_matches
from services.app.queries import listed_matches
from services.app.sentences import SAY
from services.http.context import ApiContext
from services.http.web.declared import Pages
from services.http.web.lists.match_rows import PAGE_SIZE, ListPart, MatchRow, first_row, rated_rows
from services.http.web.params import BoardNumber, ListState, Own, OwnPage, PageNumber, Userid
from services.http.web.render import back_to, render
from services.http.web.session import Visitor


class ShownPart(msgspec.Struct, frozen=True):
    """A part of a list of matches."""

    rows: Sequence[MatchRow]
    total: int
    live: Sequence[str]
    """Board and number of events, such as `12:35`, of each that goes on; the page fetches itself again
    when one has more."""


NOTHING: Final = ShownPart((), 0, ())


def watched_part(
    context: ApiContext, followed: FollowList, start: int, count: int, visitor: Visitor
) -> ShownPart:
    """Return some of the matches that an account watches."""
    if not followed.boards:
        return NOTHING
    found = watched_matches(context.app, followed, start, count)
    return shown_part(context, found, len(followed.boards), visitor)


def played_part(
    context: ApiContext,
    account: AccountId,
    followed: FollowList,
    start: int,
    count: int,
    visitor: Visitor,
) -> ShownPart:
    """Return some of the matches that followed players play now, without those of the account itself."""
    if not followed.accounts:
        return NOTHING
    boards = followed_boards(context.app, account, followed)
    rows = listed_matches(context.app, boards[start : start + count])
    return shown_part(context, list(rows.values()), len(boards), visitor)


def shown_part(
    context: ApiContext, rows: Sequence[MatchListRow], total: int, visitor: Visitor
) -> ShownPart:
    """Return these rows as a part of a public list of so many."""
    live = [f"{row.board}:{row.seq}" for row in rows if not row.over]
    # without an owner, so that each row names all its players
    return ShownPart(rated_rows(context, rows, visitor), total, live)


pages = Pages()

_MATCHES: Final = "matches"
_PLAYED: Final = "played"


@pages.get("/watching")
def show_watching(
    own_page: OwnPage, listed: ListState = _MATCHES, page: PageNumber = 1
) -> Response[str]:
    """Show the matches that the visitor watches, or what the players play whom the visitor follows."""
    visitor, account = own_page.visitor, own_page.account
    app, _ = own_page.app, visitor.wording.gettext
    labels = {_MATCHES: _("Watched matches"), _PLAYED: _("Matches of players you follow")}
    if listed not in labels:
        raise Refusal(
            Code.NOT_FOUND, SAY("no-such-list", word=listed[:24], known=", ".join(labels))
        )
    followed, start = app.follows.of(account), first_row(page)
    shown = {
        _MATCHES: watched_part(own_page.context, followed, start, PAGE_SIZE, visitor),
        _PLAYED: played_part(own_page.context, account, followed, start, PAGE_SIZE, visitor),
    }
    part = ListPart.of(
        labels[listed],
        start=start,
        shown=len(shown[listed].rows),
        total=shown[listed].total,
        path="/watching",
        query={"state": listed},
    )
    return render(
        "watching.html",
        visitor,
        listed=listed,
        tabs=[(key, label, shown[key].total) for key, label in labels.items()],
        found=shown[listed],
        names=follows.followed_userids(app, account, followed),
        part=part,
        now=visitor.now,
    )


@pages.post("/m/{board:int}/watch")
def watch_match(board: BoardNumber, own: Own) -> Redirect:
    """Watch a match."""
    follows.watch_match(own.app, own.account, board)
    return back_to(own.get("back") or f"/m/{board}")


@pages.post("/m/{board:int}/unwatch")
def unwatch_match(board: BoardNumber, own: Own) -> Redirect:
    """Stop watching a match."""
    follows.unwatch_match(own.app, own.account, board)
    return back_to(own.get("back") or f"/m/{board}")


@pages.post("/m/{board:int}/pin")
def pin_match(board: BoardNumber, own: Own) -> Redirect:
    """Put a match of the visitor first in the visitor's lists."""
    follows.pin_match(own.app, own.account, board)
    return back_to(f"/m/{board}")


@pages.post("/m/{board:int}/unpin")
def unpin_match(board: BoardNumber, own: Own) -> Redirect:
    """Put a match back in its usual place in the visitor's lists."""
    follows.unpin_match(own.app, own.account, board)
    return back_to(f"/m/{board}")


@pages.post("/players/{userid:str}/follow")
def follow_player(userid: Userid, own: Own) -> Redirect:
    """Follow a player."""
    follows.follow_player(own.app, own.account, userid)
    return back_to(own.get("back") or f"/players/{userid.lower()}")


@pages.post("/players/{userid:str}/unfollow")
def unfollow_player(userid: Userid, own: Own) -> Redirect:
    """Stop following a player."""
    follows.unfollow_player(own.app, own.account, userid)
    return back_to(own.get("back") or f"/players/{userid.lower()}")
