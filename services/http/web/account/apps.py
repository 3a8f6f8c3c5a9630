"""The apps that a visitor has registered, and those that act for the visitor."""

from functools import partial

from litestar import Response

from domain.errors import Refusal
from services.app import apps
from services.http.web.account.page import PageOrRedirect, apply_change
from services.http.web.declared import Pages
from services.http.web.forms import OwnForm
from services.http.web.params import ClientId, Own, OwnPage
from services.http.web.render import redirect_to, render

pages = Pages()


@pages.get("/account/apps")
def show_own_apps(own_page: OwnPage) -> Response[str]:
    """Show the apps that the visitor has registered, and the form for another."""
    return _page(own_page)


def _page(own: OwnForm, reason: Refusal | None = None) -> Response[str]:
    found = own.app.apps.of(own.account)
    at = "app" if reason else ""
    return render("own_apps.html", own.visitor, apps=found, typed=own, at=at, reason=reason)


@pages.post("/account/apps")
def register_app(own: Own) -> PageOrRedirect:
    """Register an app."""
    redirects = own.raw("redirects").split()
    try:
        apps.register_app(own.app, own.account, own.get("name"), own.get("site"), redirects)
    except Refusal as reason:
        return _page(own, reason)
    return redirect_to("/account/apps")


@pages.post("/account/apps/{client:str}/remove")
def remove_app(client: ClientId, own: Own) -> PageOrRedirect:
    """Remove an app of the visitor's own."""
    apps.remove_app(own.app, own.account, client)
    return redirect_to("/account/apps")


@pages.post("/account/apps/{client:str}/disconnect")
def disconnect_app(client: ClientId, own: Own) -> PageOrRedirect:
    """End what the visitor has let an app do."""
    return apply_change(own, partial(apps.disconnect_app, own.app, own.account, client), "apps")
