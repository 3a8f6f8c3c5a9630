"""Links in mails: to a new password, whose link is asked for here, and out of all mail."""

from typing import Annotated, Any

from litestar import Response
from litestar.params import PathParameter

from domain.errors import Code, Refusal
from infra.log.key_files import keys_folder
from infra.mail.unsubscribe_links import UnsubscribeLinks
from services.app import accounts, passwords
from services.http.context import ApiContext
from services.http.web.account.login import enter
from services.http.web.declared import Pages
from services.http.web.params import Asked, FormDependency
from services.http.web.render import render
from services.http.web.session import AnyRequest, Visitor

pages = Pages()

LinkText = Annotated[str, PathParameter(max_length=100)]


@pages.get("/password", in_thread=False, for_guests=True)
def show_forgotten(asked: Asked) -> Response[str]:
    """Show the form that asks for a link."""
    possible = passwords.can_reset(asked.app)
    return render("forgotten.html", asked.visitor, possible=possible, asked=False)


@pages.post("/password", for_guests=True)
def ask_for_link(open_form: FormDependency) -> Response[str]:
    """Ask for a link; the answer is the same whether there is such an account or not."""
    app, visitor = open_form.app, open_form.visitor
    try:
        passwords.ask_reset(app, open_form.get("who"))
    except Refusal as reason:
        possible = passwords.can_reset(app)
        return render("forgotten.html", visitor, possible=possible, asked=False, reason=reason)
    return render("forgotten.html", visitor, possible=passwords.can_reset(app), asked=True)


@pages.get("/password/{link:str}", for_guests=True)
def show_reset(link: LinkText, asked: Asked) -> Response[str]:
    """Show the form for a new password; looking at it does not use the link up."""
    try:
        needs_code = passwords.link_needs_code(asked.app, link)
    except Refusal:
        return _outdated(asked.visitor)
    return _reset_page(asked.visitor, link, needs_code=needs_code)


def _reset_page(
    visitor: Visitor, link: str, reason: Refusal | None = None, *, needs_code: bool
) -> Response[str]:
    shown: dict[str, Any] = {"link": link, "outdated": False, "needs_code": needs_code}
    return render("reset.html", visitor, reason=reason, **shown)


def _outdated(visitor: Visitor) -> Response[str]:
    return render("reset.html", visitor, status=404, link="", outdated=True)


@pages.post("/password/{link:str}", for_guests=True)
def reset_password(link: LinkText, request: AnyRequest, open_form: FormDependency) -> Response[str]:
    """Replace the password, and log the browser in."""
    app, visitor = open_form.app, open_form.visitor
    try:
        needs_code = passwords.link_needs_code(app, link)
    except Refusal:
        return _outdated(visitor)
    try:
        new, code = open_form.raw("new"), open_form.get("code")
        account = passwords.reset_password(app, link, new, code)
    except Refusal as reason:
        if reason.code is Code.NOT_FOUND:
            return _outdated(visitor)
        return _reset_page(visitor, link, reason, needs_code=needs_code)
    return enter(request, open_form, account, "/account?saved=password")


@pages.get("/unsubscribe/{link:str}", for_guests=True)
def show_unsubscribe(link: LinkText, asked: Asked) -> Response[str]:
    """Show what a link turns off, and the button that does."""
    return _page(asked.context, asked.visitor, link, done=False)


@pages.post("/unsubscribe/{link:str}", proven_by_address=True, for_guests=True)
def unsubscribe(link: LinkText, asked: Asked) -> Response[str]:
    """End all mail to the account of a link."""
    return _page(asked.context, asked.visitor, link, done=True)


def _page(context: ApiContext, visitor: Visitor, link: str, *, done: bool) -> Response[str]:
    app = context.app
    account = UnsubscribeLinks(keys_folder(app.settings), app.settings.site).read(link)
    profile = account and app.accounts.record_of(account)
    if account and profile and done:
        accounts.sign_off(app, account)
    return render(
        "unsubscribe.html",
        visitor,
        status=200 if profile else 404,
        link=link,
        userid=profile.name if profile else "",
        done=done,
    )
