"""Signing up, logging in and out."""

from litestar import Response, get, post

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from services.app import accounts
from services.app.error_codes import CODE_INFO
from services.http.context import ApiContext
from services.http.web.params import (
    ContextDependency,
    FormDependency,
    NextPath,
    SessionOver,
    VisitorDependency,
)
from services.http.web.render import local_path, redirect_to, render
from services.http.web.session import AnyRequest, Visitor, session_cookie
from services.http.web.user_agent import browser_name

_WRONG_LOGIN = "the userid or the password is wrong"
_MOVE_KEPT = "log in again; your move is kept"
_SESSION_OVER = "you are logged out, and your form was not processed; log in and send it again"


@get("/login", sync_to_thread=False)
def show_login(
    visitor: VisitorDependency, wanted: NextPath = "/", over: SessionOver = ""
) -> Response[str]:
    """Show the form; a visitor who has logged in is redirected."""
    if visitor.account is not None:
        return redirect_to(local_path(wanted))
    feedback = _MOVE_KEPT if "?move=" in wanted else _SESSION_OVER if over else ""
    return _login(visitor, wanted=wanted, feedback=feedback)


def _login(
    visitor: Visitor,
    *,
    wanted: str,
    name: str = "",
    feedback: str = "",
    status: int = 200,
) -> Response[str]:
    return render("login.html", visitor, status=status, wanted=wanted, name=name, feedback=feedback)


@post("/login", sync_to_thread=True)
def log_in(
    request: AnyRequest,
    form: FormDependency,
    context: ContextDependency,
    visitor: VisitorDependency,
) -> Response[str]:
    """Check a password, and open a session."""
    name, wanted = form.get("userid"), form.get("next")
    try:
        account = accounts.authenticate(context.app, name, form.raw("password"))
    except Refusal as reason:
        # the same answer for both, because a stranger must not learn which userids exist
        wrong = reason.code in (Code.UNKNOWN_USER, Code.WRONG_PASSWORD)
        feedback, status = (
            (_WRONG_LOGIN, 401) if wrong else (reason.sentence, CODE_INFO[reason.code].status)
        )
        return _login(visitor, wanted=wanted, name=name, feedback=feedback, status=status)
    return _open_session(request, context, visitor, account, local_path(wanted))


def _open_session(
    request: AnyRequest, context: ApiContext, visitor: Visitor, account: AccountId, path: str
) -> Response[str]:
    """Open a session, and redirect to a page."""
    browser = browser_name(request.headers.get("user-agent", ""))
    opened = accounts.open_session(context.app, account, browser, visitor.session)
    return redirect_to(path, [session_cookie(visitor, opened.text)])


@get("/signup", sync_to_thread=False)
def show_signup(visitor: VisitorDependency, wanted: NextPath = "/") -> Response[str]:
    """Show the form; a visitor who signs up comes to the page that they wanted."""
    return render("signup.html", visitor, wanted=wanted, name="", address="", feedback="")


@post("/signup", sync_to_thread=True)
def sign_up(
    request: AnyRequest,
    form: FormDependency,
    context: ContextDependency,
    visitor: VisitorDependency,
) -> Response[str]:
    """Make an account, and open its first session."""
    name, address = form.get("userid"), form.get("address")
    try:
        password, addresses = form.raw("password"), form.all("address")
        account = accounts.sign_up(context.app, name, password, addresses)
    except Refusal as reason:
        status = CODE_INFO[reason.code].status
        return render(
            "signup.html",
            visitor,
            status=status,
            wanted=form.get("next"),
            name=name,
            address=address,
            feedback=reason.sentence,
        )
    return _open_session(request, context, visitor, account, local_path(form.get("next") or "/"))


@post("/logout", sync_to_thread=True)
def log_out(
    form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> Response[str]:
    """End the session that the form came with."""
    del form  # a dependency, because it checks the token; there are no fields
    accounts.close_session(context.app, visitor.session)
    return redirect_to("/", [session_cookie(visitor, "")])
