"""Roles, with the form that gives and takes them; and the record of what those who have one did."""

from litestar import Response
from litestar.response import Redirect

from domain.errors import Refusal
from infra.people.accounts import AccountRole
from services.app.acts import PAGE, acts_of
from services.app.roles import holders_of, read_role, require_operator, set_role
from services.http.web.admin.sections import render_section
from services.http.web.declared import Pages
from services.http.web.forms import OwnForm
from services.http.web.params import ActId, Own, OwnPage
from services.http.web.render import redirect_to
from services.words.acts import act_lines

pages = Pages()


@pages.get("/admin/roles")
def show_roles(own_page: OwnPage) -> Response[str]:
    """Show who has a role, and the form that gives or takes one."""
    return _roles(own_page)


def _roles(own: OwnForm, reason: Refusal | None = None) -> Response[str]:
    holders = [(role, holders_of(own.app, own.account, role)) for role in reversed(AccountRole)]
    return render_section("roles.html", own, "roles", holders=holders, typed=own, reason=reason)


@pages.post("/admin/roles")
def change_role(own: Own) -> Response[str] | Redirect:
    """Let an account have a role, or take it; the password must have been given recently."""
    try:
        require_operator(own.app, own.account)
        own.confirm()
        role, held = read_role(own.get("role")), own.get("do") != "take"
        set_role(own.app, own.account, own.get("userid"), role, held=held)
    except Refusal as reason:
        return _roles(own, reason)
    return redirect_to("/admin/roles")


@pages.get("/admin/record")
def show_record(own_page: OwnPage, before: ActId = "") -> Response[str]:
    """Show a page of the record, before the act of an id."""
    acts = acts_of(own_page.app, own_page.account, before)
    return render_section(
        "record.html",
        own_page,
        "record",
        lines=act_lines(own_page.app, acts, own_page.visitor.wording),
        before=before,
        older=acts[-1].id if len(acts) == PAGE else "",
    )
