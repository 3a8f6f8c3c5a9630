"""Watching and pinning matches, and following players: the buttons, and the page of all that is watched."""

from typing import Final

from litestar import Response
from litestar.response import Redirect

from domain.errors import Code, Refusal
from services.app import follows
from services.app.sentences import SAY
from services.http.web.declared import Pages
from services.http.web.lists.pagination import PAGE_SIZE, ListPart, first_row
from services.http.web.lists.watching_view import played_part, watched_part
from services.http.web.params import (
    AccountDependency,
    BoardNumber,
    ContextDependency,
    ListState,
    Own,
    PageNumber,
    Userid,
    VisitorDependency,
)
from services.http.web.render import back_to, render

pages = Pages()

_MATCHES: Final = "matches"
_PLAYED: Final = "played"


@pages.get("/watching")
def show_watching(
    context: ContextDependency,
    visitor: VisitorDependency,
    account: AccountDependency,
    listed: ListState = _MATCHES,
    page: PageNumber = 1,
) -> Response[str]:
    """Show the matches that the visitor watches, or what the players play whom the visitor follows."""
    app, _ = context.app, visitor.wording.gettext
    labels = {_MATCHES: _("Watched matches"), _PLAYED: _("Matches of players you follow")}
    if listed not in labels:
        raise Refusal(
            Code.NOT_FOUND, SAY("no-such-list", word=listed[:24], known=", ".join(labels))
        )
    followed, start = app.follows.of(account), first_row(page)
    shown = {
        _MATCHES: watched_part(context, followed, start, PAGE_SIZE, visitor.wording),
        _PLAYED: played_part(context, account, followed, start, PAGE_SIZE, visitor.wording),
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
