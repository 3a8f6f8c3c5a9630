"""The page of a player's own bots: makes them and their tokens, and sets which challenges they accept."""

from collections.abc import Callable
from functools import partial
from typing import Final

from litestar import Response

from domain.errors import Refusal
from domain.rules import game_keys, latest_rules
from infra.people.tokens import FreshToken
from services.app import bots
from services.app.bot_rules import MOST_AT_ONCE, MOST_DAYS
from services.app.bots import MOST_BOTS, TOKEN_SCOPES
from services.http.web.account.page import PageOrRedirect, read_days
from services.http.web.declared import Pages
from services.http.web.forms import OwnForm
from services.http.web.params import Id, Own, OwnPage, SavedMark, Userid
from services.http.web.render import redirect_to, render, secret_page

pages = Pages()

_NEW: Final = "new"
"""In place of a bot's userid, the form that makes one."""


@pages.get("/account/bots")
def show_bots(own_page: OwnPage, saved: SavedMark = "") -> Response[str]:
    """Show the visitor's bots; `saved` is the one that has just been changed."""
    return _page(own_page, saved=saved)


def _page(
    own: OwnForm,
    issued: FreshToken | None = None,
    *,
    at: str = "",
    saved: str = "",
    reason: Refusal | None = None,
) -> Response[str]:
    """Return the page; the form `at`, that of a bot or of a new one, has a mistake."""
    show = secret_page if issued else render
    return show(
        "bots.html",
        own.visitor,
        bots=bots.bots_of(own.app, own.account),
        games=[one for one in map(latest_rules, game_keys()) if one.players != (1,)],
        most=MOST_BOTS,
        most_days=MOST_DAYS,
        most_at_once=MOST_AT_ONCE,
        scopes=TOKEN_SCOPES,
        factors=own.app.accounts.factors_of(own.account),
        typed=own,
        issued=issued,
        at=at,
        saved=saved,
        reason=reason,
    )


def _apply(own: OwnForm, change: Callable[[], FreshToken | object], at: str) -> PageOrRedirect:
    """Call `change`, and show the token that it returns, or else the bots; a refusal stands at the form `at`."""
    try:
        answer = change()
    except Refusal as reason:
        return _page(own, at=at, reason=reason)
    if isinstance(answer, FreshToken):
        return _page(own, answer, at=at)
    return redirect_to(f"/account/bots?saved={at[:16]}")


def _confirmed(own: OwnForm, use_case: Callable[[], object]) -> object:
    own.confirm()
    return use_case()


@pages.post("/account/bots")
def make_bot(own: Own) -> PageOrRedirect:
    """Make a bot."""
    make = partial(bots.make_bot, own.app, own.account, own.get("userid"))
    return _apply(own, partial(_confirmed, own, make), _NEW)


@pages.post("/account/bots/{userid:str}/rules")
def change_bot(userid: Userid, own: Own) -> PageOrRedirect:
    """Change which challenges a bot accepts; a form names all that it changes, and `games` where none is chosen."""
    changes: dict[str, str | tuple[str, ...]] = {
        name: own.get(name)
        for name in ("challengers", "rated", "least_days", "most_days", "at_once")
        if name in own.fields
    }
    changes["games"] = own.all("games")
    return _apply(own, partial(bots.change_bot, own.app, own.account, userid, changes), userid)


@pages.post("/account/bots/{userid:str}/tokens")
def make_token(userid: Userid, own: Own) -> PageOrRedirect:
    """Make a token for a bot, and show its text, which is not shown again."""

    def made() -> object:
        days = read_days(own.get("days"))
        return bots.make_bot_token(own.app, own.account, userid, own.get("label"), days)

    return _apply(own, partial(_confirmed, own, made), userid)


@pages.post("/account/bots/{userid:str}/tokens/{id_:str}/revoke")
def revoke_token(userid: Userid, id_: Id, own: Own) -> PageOrRedirect:
    """Revoke a token of a bot."""
    return _apply(own, partial(bots.revoke_bot_token, own.app, own.account, userid, id_), userid)


@pages.post("/account/bots/{userid:str}/deletion")
def delete_bot(userid: Userid, own: Own) -> PageOrRedirect:
    """Delete a bot for good."""
    delete = partial(bots.delete_bot, own.app, own.account, userid)
    return _apply(own, partial(_confirmed, own, delete), userid)
