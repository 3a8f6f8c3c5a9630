"""Roles: the operators, moderators and arbiters, and the form that gives and takes these roles."""

from litestar import Response
from litestar.response import Redirect

from domain.errors import Refusal
from infra.people.accounts import AccountRole
from services.app.error_codes import CODE_INFO
from services.app.roles import holders_of, read_role, require_operator, set_role
from services.http.context import ApiContext
from services.http.web.admin.sections import render_section
from services.http.web.declared import Pages
from services.http.web.forms import Form
from services.http.web.params import (
    AccountDependency,
    ContextDependency,
    Own,
    VisitorDependency,
)
from services.http.web.render import redirect_to
from services.http.web.session import Visitor

pages = Pages()


@pages.get("/admin/roles")
def show_roles(
    context: ContextDependency, visitor: VisitorDependency, account: AccountDependency
) -> Response[str]:
    """Show who has a role, and the form that gives or takes one."""
    del account  # a dependency, because the page needs one
    return _roles(context, visitor)


def _roles(
    context: ApiContext,
    visitor: Visitor,
    typed: Form | None = None,
    reason: Refusal | None = None,
) -> Response[str]:
    by = visitor.require_account()
    return render_section(
        "roles.html",
        context,
        visitor,
        "roles",
        status=CODE_INFO[reason.code].status if reason else 200,
        holders=[(role, holders_of(context.app, by, role)) for role in reversed(AccountRole)],
        typed=typed or Form({}),
        feedback=reason.in_language(visitor.wording) if reason else "",
    )


@pages.post("/admin/roles")
def change_role(own: Own) -> Response[str] | Redirect:
    """Let an account have a role, or take it; the password must have been given recently."""
    try:
        require_operator(own.app, own.account)
        own.confirm()
        role, held = read_role(own.get("role")), own.get("do") != "take"
        set_role(own.app, own.account, own.get("userid"), role, held=held)
    except Refusal as reason:
        return _roles(own.context, own.visitor, own, reason)
    return redirect_to("/admin/roles")
