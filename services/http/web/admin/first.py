"""The page of the link that makes the first operator, which `matchpost serve` prints."""

from litestar import Response
from litestar.response import Redirect

from domain.errors import Refusal
from services.app.error_codes import CODE_INFO
from services.app.first_operator import become_first_operator, check_first_link
from services.http.web.declared import Pages
from services.http.web.params import (
    AccountDependency,
    ContextDependency,
    FirstLink,
    Own,
    VisitorDependency,
)
from services.http.web.render import redirect_to, render
from services.http.web.session import Visitor

pages = Pages()


@pages.get("/admin/first")
def show_first(
    context: ContextDependency,
    visitor: VisitorDependency,
    account: AccountDependency,
    link: FirstLink = "",
) -> Response[str]:
    """Ask a visitor who has logged in whether their account is to be the operator's."""
    del account  # a dependency, because the page needs one
    try:
        check_first_link(context.app, link)
    except Refusal as reason:
        return _first(visitor, reason=reason)
    return _first(visitor, link)


def _first(visitor: Visitor, link: str = "", reason: Refusal | None = None) -> Response[str]:
    answer = render(
        "first.html",
        visitor,
        status=CODE_INFO[reason.code].status if reason else 200,
        link=link,
        feedback=reason.in_language(visitor.wording) if reason else "",
        returns_to="/",  # the address has the link in it
    )
    answer.headers["Cache-Control"] = "no-store"
    return answer


@pages.post("/admin/first")
def confirm_first(own: Own) -> Response[str] | Redirect:
    """Make the visitor's account the operator's."""
    try:
        become_first_operator(own.app, own.account, own.get("key"))
    except Refusal as reason:
        return _first(own.visitor, reason=reason)
    return redirect_to("/admin")
