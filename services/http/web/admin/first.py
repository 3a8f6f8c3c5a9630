"""The page of the link that makes the first operator, which `matchpost serve` prints."""

from litestar import Response
from litestar.response import Redirect

from domain.errors import Refusal
from services.app.first_operator import become_first_operator, check_first_link
from services.http.web.declared import Pages
from services.http.web.forms import OwnForm
from services.http.web.params import FirstLink, Own, OwnPage
from services.http.web.render import redirect_to, secret_page

pages = Pages()


@pages.get("/admin/first")
def show_first(own_page: OwnPage, link: FirstLink = "") -> Response[str]:
    """Ask a visitor who has logged in whether their account is to be the operator's."""
    try:
        check_first_link(own_page.app, link)
    except Refusal as reason:
        return _first(own_page, reason=reason)
    return _first(own_page, link)


def _first(own: OwnForm, link: str = "", reason: Refusal | None = None) -> Response[str]:
    # the address has the link in it
    return secret_page("first.html", own.visitor, link=link, reason=reason, returns_to="/")


@pages.post("/admin/first")
def confirm_first(own: Own) -> Response[str] | Redirect:
    """Make the visitor's account the operator's."""
    try:
        become_first_operator(own.app, own.account, own.get("key"))
    except Refusal as reason:
        return _first(own, reason=reason)
    return redirect_to("/admin")
