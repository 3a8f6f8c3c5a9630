"""Watching matches and following players: the buttons, and the page of all that is watched."""

from typing import Final

from litestar import Response, get, post
from litestar.response import Redirect

from domain.errors import Code, Refusal
from services.app import follows
from services.app.sentences import SAY
from services.http.web.params import (
    BoardNumber,
    ContextDependency,
    FormDependency,
    ListState,
    PageNumber,
    Userid,
    VisitorDependency,
)
from services.http.web.render import local_path, redirect_to, render
from services.http.web.session import Form
from services.http.web.views.pagination import PAGE_SIZE, ListPart, first_row
from services.http.web.views.watching_view import played_part, watched_part

_MATCHES: Final = "matches"
_PLAYED: Final = "played"


@get("/watching", sync_to_thread=True)
def show_watching(
    context: ContextDependency,
    visitor: VisitorDependency,
    listed: ListState = _MATCHES,
    page: PageNumber = 1,
) -> Response[str]:
    """Show the matches that the visitor watches, or what the players play whom the visitor follows."""
    account, app, _ = visitor.require_account(), context.app, visitor.wording.gettext
    labels = {_MATCHES: _("Watched matches"), _PLAYED: _("Played by those you follow")}
    if listed not in labels:
        raise Refusal(
            Code.NOT_FOUND, SAY("no-such-list", word=listed[:24], known=", ".join(labels))
        )
    followed, start = app.follows.of(account), first_row(page)
    shown = {
        _MATCHES: watched_part(context, followed, start, PAGE_SIZE, visitor.language),
        _PLAYED: played_part(context, account, followed, start, PAGE_SIZE, visitor.language),
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


@post("/m/{board:int}/watch", sync_to_thread=True)
def watch_match(
    board: BoardNumber, form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> Redirect:
    """Watch a match."""
    account = visitor.require_account()
    context.app.pace.check(account)
    follows.watch_match(context.app, account, board)
    return _back(form, f"/m/{board}")


@post("/m/{board:int}/unwatch", sync_to_thread=True)
def unwatch_match(
    board: BoardNumber, form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> Redirect:
    """Stop watching a match."""
    account = visitor.require_account()
    context.app.pace.check(account)
    follows.unwatch_match(context.app, account, board)
    return _back(form, f"/m/{board}")


@post("/players/{userid:str}/follow", sync_to_thread=True)
def follow_player(
    userid: Userid, form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> Redirect:
    """Follow a player."""
    account = visitor.require_account()
    context.app.pace.check(account)
    follows.follow_player(context.app, account, userid)
    return _back(form, f"/players/{userid.lower()}")


@post("/players/{userid:str}/unfollow", sync_to_thread=True)
def unfollow_player(
    userid: Userid, form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> Redirect:
    """Stop following a player."""
    account = visitor.require_account()
    context.app.pace.check(account)
    follows.unfollow_player(context.app, account, userid)
    return _back(form, f"/players/{userid.lower()}")


def _back(form: Form, usual: str) -> Redirect:
    """Return to the page that the form names, or else to the usual one."""
    back = form.get("back")
    return redirect_to(local_path(back) if back else usual)
