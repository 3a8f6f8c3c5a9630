"""Links in mails: to a new password, whose link is asked for here, and out of all mail."""

from typing import Annotated

from litestar import Response
from litestar.params import PathParameter

from domain.errors import Code, Refusal
from infra.log.key_files import keys_folder
from infra.mail.unsubscribe_links import UnsubscribeLinks
from services.app import accounts, passwords
from services.app.error_codes import CODE_INFO
from services.http.context import ApiContext
from services.http.web.account.login import browser_name
from services.http.web.declared import Pages
from services.http.web.params import ContextDependency, FormDependency, VisitorDependency
from services.http.web.render import redirect_to, render
from services.http.web.session import AnyRequest, Visitor, session_cookie

pages = Pages()

LinkText = Annotated[str, PathParameter(max_length=100)]


@pages.get("/password", in_thread=False, for_guests=True)
def show_forgotten(context: ContextDependency, visitor: VisitorDependency) -> Response[str]:
    """Show the form that asks for a link."""
    possible = passwords.can_reset(context.app)
    return render("forgotten.html", visitor, possible=possible, asked=False, feedback="")


@pages.post("/password", for_guests=True)
def ask_for_link(
    open_form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> Response[str]:
    """Ask for a link; the answer is the same whether there is such an account or not."""
    feedback, status = "", 200
    try:
        passwords.ask_reset(context.app, open_form.get("who"))
    except Refusal as reason:
        feedback, status = reason.in_language(visitor.wording), CODE_INFO[reason.code].status
    possible = passwords.can_reset(context.app)
    return render(
        "forgotten.html",
        visitor,
        status=status,
        possible=possible,
        asked=not feedback,
        feedback=feedback,
    )


@pages.get("/password/{link:str}", for_guests=True)
def show_reset(
    link: LinkText, context: ContextDependency, visitor: VisitorDependency
) -> Response[str]:
    """Show the form for a new password; looking at it does not use the link up."""
    try:
        needs_code = passwords.link_needs_code(context.app, link)
    except Refusal:
        return _outdated(visitor)
    return _reset_page(visitor, link, needs_code=needs_code)


def _reset_page(
    visitor: Visitor, link: str, feedback: str = "", status: int = 200, *, needs_code: bool
) -> Response[str]:
    return render(
        "reset.html",
        visitor,
        status=status,
        link=link,
        outdated=False,
        needs_code=needs_code,
        feedback=feedback,
    )


def _outdated(visitor: VisitorDependency) -> Response[str]:
    return render("reset.html", visitor, status=404, link="", outdated=True, feedback="")


@pages.post("/password/{link:str}", for_guests=True)
def reset_password(
    link: LinkText,
    request: AnyRequest,
    open_form: FormDependency,
    context: ContextDependency,
    visitor: VisitorDependency,
) -> Response[str]:
    """Replace the password, and log the browser in."""
    try:
        needs_code = passwords.link_needs_code(context.app, link)
    except Refusal:
        return _outdated(visitor)
    try:
        new, code = open_form.raw("new"), open_form.get("code")
        account = passwords.reset_password(context.app, link, new, code)
    except Refusal as reason:
        if reason.code is Code.NOT_FOUND:
            return _outdated(visitor)
        said = reason.in_language(visitor.wording)
        status = CODE_INFO[reason.code].status
        return _reset_page(visitor, link, said, status, needs_code=needs_code)
    browser = browser_name(request.headers.get("user-agent", ""))
    opened = accounts.open_session(context.app, account, browser, visitor.session)
    return redirect_to("/account?saved=password", [session_cookie(visitor, opened.text)])


@pages.get("/unsubscribe/{link:str}", for_guests=True)
def show_unsubscribe(
    link: LinkText, context: ContextDependency, visitor: VisitorDependency
) -> Response[str]:
    """Show what a link turns off, and the button that does."""
    return _page(context, visitor, link, done=False)


@pages.post("/unsubscribe/{link:str}", proven_by_address=True, for_guests=True)
def unsubscribe(
    link: LinkText, context: ContextDependency, visitor: VisitorDependency
) -> Response[str]:
    """End all mail to the account of a link."""
    return _page(context, visitor, link, done=True)


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
