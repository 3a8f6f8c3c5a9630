"""Signing up, logging in and out."""

from litestar import Response, get, post

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from services.api.context import ApiContext
from services.app import accounts
from services.app.error_codes import PROBLEMS
from services.web.browsers import name_of_browser
from services.web.pages import go, own_path, page
from services.web.params import Next, Over, TheContext, TheForm, TheVisitor
from services.web.visitors import AnyRequest, Visitor, session_cookie

_WRONG = "this userid and password do not belong together"
_KEPT = "log in again and your move is still here"
_OVER = "you are logged out, and what you sent was not taken; log in and send it again"


@get("/login", sync_to_thread=False)
def show_login(visitor: TheVisitor, wanted: Next = "/", over: Over = "") -> Response[str]:
    """Show the form; a visitor who has logged in is sent on."""
    if visitor.account is not None:
        return go(own_path(wanted))
    told = _KEPT if "?move=" in wanted else _OVER if over else ""
    return _login(visitor, wanted=wanted, told=told)


def _login(
    visitor: Visitor,
    *,
    wanted: str,
    name: str = "",
    told: str = "",
    status: int = 200,
) -> Response[str]:
    return page("login.html", visitor, status=status, wanted=wanted, name=name, told=told)


@post("/login", sync_to_thread=True)
def log_in(
    request: AnyRequest, form: TheForm, context: TheContext, visitor: TheVisitor
) -> Response[str]:
    """Check a password, and open a session."""
    name, wanted = form.get("userid"), form.get("next")
    try:
        account = accounts.authenticate(context.app, name, form.raw("password"))
    except Refusal as reason:
        # a stranger must not learn which userids there are
        wrong = reason.code in (Code.UNKNOWN_USER, Code.WRONG_PASSWORD)
        told, status = (_WRONG, 401) if wrong else (reason.sentence, PROBLEMS[reason.code].status)
        return _login(visitor, wanted=wanted, name=name, told=told, status=status)
    return _opened(request, context, visitor, account, own_path(wanted))


def _opened(
    request: AnyRequest, context: ApiContext, visitor: Visitor, account: AccountId, path: str
) -> Response[str]:
    """Open a session, and go on to a page."""
    browser = name_of_browser(request.headers.get("user-agent", ""))
    opened = accounts.open_session(context.app, account, browser, visitor.session)
    return go(path, [session_cookie(visitor, opened.text)])


@get("/signup", sync_to_thread=False)
def show_signup(visitor: TheVisitor) -> Response[str]:
    """Show the form."""
    return page("signup.html", visitor, name="", address="", told="")


@post("/signup", sync_to_thread=True)
def sign_up(
    request: AnyRequest, form: TheForm, context: TheContext, visitor: TheVisitor
) -> Response[str]:
    """Make an account, and open its first session."""
    name, address = form.get("userid"), form.get("address")
    try:
        password, addresses = form.raw("password"), form.all("address")
        account = accounts.sign_up(context.app, name, password, addresses)
    except Refusal as reason:
        status = PROBLEMS[reason.code].status
        return page(
            "signup.html", visitor, status=status, name=name, address=address, told=reason.sentence
        )
    return _opened(request, context, visitor, account, "/")


@post("/logout", sync_to_thread=True)
def log_out(form: TheForm, context: TheContext, visitor: TheVisitor) -> Response[str]:
    """End the session that the form came with."""
    del form  # it was shown to be ours, and has no fields
    accounts.close_session(context.app, visitor.session)
    return go("/", [session_cookie(visitor, "")])
