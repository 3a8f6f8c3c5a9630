"""Roles: the operators, moderators and arbiters, and the form that gives and takes these roles."""

from litestar import Response
from litestar.response import Redirect

from domain.errors import Refusal
from infra.people.accounts import AccountRole
from services.app.roles import holders_of, read_role, require_operator, set_role
from services.http.web.admin.sections import render_section
from services.http.web.declared import Pages
from services.http.web.forms import OwnForm
from services.http.web.params import Own, OwnPage
from services.http.web.render import redirect_to

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
