"""Members: finding, making, suspending and reinstating accounts, and new passwords for them."""

import re
from collections.abc import Callable, Sequence
from typing import Final

from litestar import Response
from litestar.response import Redirect

from domain.errors import Refusal
from infra.people.acts import MOST_OF_REASON
from services.app.accounts import PAGE, account_page, log_out_account, set_suspended
from services.app.passwords import MadeAccount, make_accounts, replace_lost_password
from services.app.queries import find_player
from services.app.roles import require_operator
from services.app.sanctions import read_days
from services.http.web.admin.sections import render_section
from services.http.web.declared import Pages
from services.http.web.forms import OwnForm
from services.http.web.lists.match_rows import ListPart, first_row
from services.http.web.params import NameStart, Own, OwnPage, PageNumber, SavedMark, Userid
from services.http.web.render import redirect_to
from services.words.slips import account_slip

pages = Pages()

_PATH: Final = "members"

_HEADER: Final = "userid"
"""The first cell of a pasted list that names its columns."""


@pages.get("/admin/members")
def show_members(own_page: OwnPage, page: PageNumber = 1, starts: NameStart = "") -> Response[str]:
    """Show a page of accounts, or those whose userids begin with a text; and the form that makes some."""
    return _members(own_page, page=page, starts=starts)


def _members(
    own: OwnForm, *, page: int = 1, starts: str = "", reason: Refusal | None = None
) -> Response[str]:
    start = first_row(page, PAGE)
    found = account_page(own.app, own.account, start=start, starts=starts)
    return render_section(
        "members.html",
        own,
        _PATH,
        found=found,
        starts=starts,
        is_cut=bool(starts) and len(found) == PAGE,
        part=ListPart.of(
            own.visitor.wording.gettext("Members"),
            start=start,
            shown=len(found),
            total=len(found) if starts else own.app.accounts.count(),
            path="/admin/members",
            size=PAGE,
        ),
        typed=own.raw("userids"),
        reason=reason,
    )


@pages.post("/admin/members")
def make_members(own: Own) -> Response[str]:
    """Make the accounts of a list, and show their passwords, which are not shown again."""
    try:
        made = make_accounts(own.app, userids_in(own.raw("userids")), by=own.account)
    except Refusal as reason:
        return _members(own, reason=reason)
    return _passwords(own, made)


def userids_in(text: str) -> list[str]:
    """Return the userids of a pasted list: those in the first cell of each line, without a header."""
    cells = [re.split(r"[,;\t]", line, maxsplit=1)[0] for line in text.splitlines()]
    found = [name for cell in cells for name in cell.split()]
    return found[1:] if found and found[0].lower() == _HEADER else found


def _passwords(own: OwnForm, made: Sequence[MadeAccount]) -> Response[str]:
    """Return the page with new passwords, on slips to print, and with the refusals."""
    words, site = own.visitor.wording, own.visitor.site
    slips = [account_slip(one.userid, one.password, site, words) for one in made if one.password]
    refused = [(one.userid, one.refusal.in_language(words)) for one in made if one.refusal]
    return render_section("new_passwords.html", own, _PATH, slips=slips, refused=refused)


# one account


@pages.get("/admin/members/{userid:str}")
def show_member(userid: Userid, own_page: OwnPage, saved: SavedMark = "") -> Response[str]:
    """Show an account, with what an operator may do to it; `saved` is what has just been done."""
    return _member(own_page, userid, saved=saved)


def _member(
    own: OwnForm, userid: str, *, saved: str = "", at: str = "", reason: Refusal | None = None
) -> Response[str]:
    require_operator(own.app, own.account)
    _, profile = find_player(own.app, userid)
    return render_section(
        "member.html",
        own,
        _PATH,
        member=profile,
        saved=saved,
        at=at,
        reason=reason,
        typed=own.get("why"),
        longest=MOST_OF_REASON,
    )


def _change(
    own: OwnForm, userid: str, at: str, change: Callable[[], object]
) -> Response[str] | Redirect:
    """Call `change`, and show the page that it returns, or else the account; a refusal is shown at the form `at`."""
    try:
        answer = change()
    except Refusal as reason:
        return _member(own, userid, at=at, reason=reason)
    if isinstance(answer, Response):
        return answer
    return redirect_to(f"/admin/members/{userid.lower()}?saved={at}")


@pages.post("/admin/members/{userid:str}/suspend")
def suspend(userid: Userid, own: Own) -> Response[str] | Redirect:
    """Suspend an account, with a reason for the record."""
    return _set_suspended(userid, own, suspended=True)


@pages.post("/admin/members/{userid:str}/reinstate")
def reinstate(userid: Userid, own: Own) -> Response[str] | Redirect:
    """Open a suspended account again, with a reason for the record."""
    return _set_suspended(userid, own, suspended=False)


def _set_suspended(userid: str, own: OwnForm, *, suspended: bool) -> Response[str] | Redirect:
    def change() -> None:
        by, why = own.account, own.get("why")
        days = read_days(own.get("days"))
        set_suspended(own.app, userid, suspended=suspended, days=days, by=by, why=why)

    return _change(own, userid, "suspend" if suspended else "reinstate", change)


@pages.post("/admin/members/{userid:str}/logout")
def log_out(userid: Userid, own: Own) -> Response[str] | Redirect:
    """End all sessions and tokens of an account."""
    return _change(own, userid, "logout", lambda: log_out_account(own.app, userid, by=own.account))


@pages.post("/admin/members/{userid:str}/password")
def replace_password(userid: Userid, own: Own) -> Response[str] | Redirect:
    """Replace a lost password, and show the new one, which is not shown again."""

    def change() -> Response[str]:
        require_operator(own.app, own.account)
        own.confirm()
        password = replace_lost_password(own.app, userid, by=own.account)
        return _passwords(own, [MadeAccount(userid.lower(), password)])

    return _change(own, userid, "password", change)
