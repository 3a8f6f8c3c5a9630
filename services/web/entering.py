"""Signing up, logging in and out."""

from litestar import Response, get, post

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra.sessions import Sessions
from services.api.hand import Hand
from services.problems import PROBLEMS
from services.web.browsers import name_of_browser
from services.web.pages import go, own_path, page
from services.web.params import Next, TheForm, TheHand, TheVisitor
from services.web.visitors import AnyRequest, Visitor, session_cookie

_WRONG = "this userid and password do not belong together"


@get("/login", sync_to_thread=False)
def show_login(visitor: TheVisitor, wanted: Next = "/") -> Response[str]:
    """Show the form, or send on who has logged in."""
    if visitor.account is not None:
        return go(own_path(wanted))
    return _login(visitor, wanted=wanted, kept="?move=" in wanted)


def _login(
    visitor: Visitor,
    *,
    wanted: str,
    name: str = "",
    told: str = "",
    status: int = 200,
    kept: bool = False,
) -> Response[str]:
    told = told or ("log in again and your move is still here" if kept else "")
    return page("login.html", visitor, status=status, wanted=wanted, name=name, told=told)


@post("/login", sync_to_thread=True)
def log_in(request: AnyRequest, form: TheForm, hand: TheHand, visitor: TheVisitor) -> Response[str]:
    """Check a password, and open a session."""
    name, wanted = form.get("userid"), form.get("next")
    try:
        account = hand.parts.accounts.verify(name, form.raw("password"))
    except Refusal as reason:
        # which of the two is wrong is nobody's business
        wrong = reason.code in (Code.UNKNOWN_USER, Code.WRONG_PASSWORD)
        told, status = (_WRONG, 401) if wrong else (reason.sentence, PROBLEMS[reason.code].status)
        return _login(visitor, wanted=wanted, name=name, told=told, status=status)
    return _opened(request, hand, visitor, account, own_path(wanted))


def _opened(
    request: AnyRequest, hand: Hand, visitor: Visitor, account: AccountId, path: str
) -> Response[str]:
    """Open a session, under an id of its own whatever the browser held before."""
    sessions = Sessions(hand.parts.data)
    if visitor.session is not None:
        sessions.end(visitor.session.account, visitor.session.id)
    browser = name_of_browser(request.headers.get("user-agent", ""))
    opened = sessions.open(account, browser)
    return go(path, [session_cookie(visitor, opened.text)])


@get("/signup", sync_to_thread=False)
def show_signup(visitor: TheVisitor) -> Response[str]:
    """Show the form."""
    return page("signup.html", visitor, name="", address="", told="")


@post("/signup", sync_to_thread=True)
def sign_up(
    request: AnyRequest, form: TheForm, hand: TheHand, visitor: TheVisitor
) -> Response[str]:
    """Make an account, and open its first session."""
    name, address = form.get("userid"), form.get("address")
    try:
        hand.parts.ready()
        account = hand.parts.accounts.signup(name, form.raw("password"), form.all("address"))
    except Refusal as reason:
        status = PROBLEMS[reason.code].status
        return page(
            "signup.html", visitor, status=status, name=name, address=address, told=reason.sentence
        )
    return _opened(request, hand, visitor, account, "/")


@post("/logout", sync_to_thread=True)
def log_out(form: TheForm, hand: TheHand, visitor: TheVisitor) -> Response[str]:
    """End the session that the form came with."""
    del form  # its being ours is all that matters
    if visitor.session is not None:
        Sessions(hand.parts.data).end(visitor.session.account, visitor.session.id)
    return go("/", [session_cookie(visitor, "")])
