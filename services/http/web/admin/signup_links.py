"""Sign-up links: making, listing and revoking them."""

from litestar import Response
from litestar.response import Redirect

from domain.errors import Refusal
from infra.people.admission import MOST_DAYS, MOST_OF_NOTE, MOST_USES
from services.app.admission import make_signup_link, revoke_signup_link, signup_links
from services.app.typed_values import typed_number
from services.http.web.admin.sections import render_section
from services.http.web.declared import Pages
from services.http.web.forms import Form, OwnForm
from services.http.web.params import Id, Own, OwnPage
from services.http.web.render import redirect_to

pages = Pages()


@pages.get("/admin/signup-links")
def show_links(own_page: OwnPage) -> Response[str]:
    """Show all sign-up links, and the form that makes one."""
    return _links(own_page)


def _links(own: OwnForm, *, made: str = "", reason: Refusal | None = None) -> Response[str]:
    """Return the page; `made` is the text of a new link."""
    return render_section(
        "signup_links.html",
        own,
        "signup-links",
        links=signup_links(own.app, by=own.account),
        now=own.visitor.now,
        made=f"{own.visitor.site}/signup?link={made}" if made else "",
        typed=own if reason else Form({"uses": ("1",), "days": ("14",)}),
        reason=reason,
        most_uses=MOST_USES,
        most_days=MOST_DAYS,
        longest=MOST_OF_NOTE,
    )


@pages.post("/admin/signup-links")
def make_link(own: Own) -> Response[str]:
    """Make a sign-up link, and show its text, which is not shown again."""
    try:
        uses, days = (typed_number(own.get(name)) or 0 for name in ("uses", "days"))
        _, text = make_signup_link(own.app, uses, days, own.get("note"), by=own.account)
    except Refusal as reason:
        return _links(own, reason=reason)
    return _links(own, made=text)


@pages.post("/admin/signup-links/{id_:str}/revoke")
def revoke_link(id_: Id, own: Own) -> Redirect:
    """End a sign-up link at once."""
    revoke_signup_link(own.app, id_, by=own.account)
    return redirect_to("/admin/signup-links")
