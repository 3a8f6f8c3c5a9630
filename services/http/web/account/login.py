"""Signing up, logging in and out."""

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlencode

from litestar import Response

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from domain.rules import latest_rules
from services.app import accounts, second_factors
from services.app.admission import check_signups
from services.app.error_codes import CODE_INFO
from services.app.games import game_keys
from services.http.context import ApiContext
from services.http.web.declared import Pages
from services.http.web.forms import Form
from services.http.web.params import (
    ContextDependency,
    FormDependency,
    NextPath,
    SessionOver,
    SignupLinkText,
    VisitorDependency,
)
from services.http.web.render import local_path, logged_out_to, redirect_to, render
from services.http.web.session import AnyRequest, Visitor, browser_proof, session_cookie

pages = Pages()

_BROWSERS: Final = (
    ("Edg", "Edge"),
    ("OPR", "Opera"),
    ("Firefox", "Firefox"),
    ("Chrom", "Chrome"),  # also in the headers of Chromium, Edge and Opera
    ("Safari", "Safari"),  # in nearly all headers
)
_SYSTEMS: Final = (
    ("Android", "Android"),  # its header has Linux, too
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS", "macOS"),
    ("Linux", "Linux"),
)


def browser_name(agent: str) -> str:
    """Return a short name that is the same in every language, such as `Firefox, Linux`; empty for an unknown one."""
    return ", ".join(filter(None, (_first(_BROWSERS, agent), _first(_SYSTEMS, agent))))


def _first(known: Sequence[tuple[str, str]], agent: str) -> str:
    return next((name for mark, name in known if mark in agent), "")


@pages.get("/login", in_thread=False, for_guests=True)
def show_login(
    context: ContextDependency,
    visitor: VisitorDependency,
    wanted: NextPath = "/",
    over: SessionOver = "",
) -> Response[str]:
    """Show the form; a visitor who has logged in is redirected."""
    if visitor.account is not None:
        return redirect_to(local_path(wanted))
    words, feedback = visitor.wording, ""
    if "?move=" in wanted:
        feedback = words.gettext("Log in again; your move is kept.")
    elif over:
        feedback = words.gettext(
            "You’ve been logged out, so your form wasn’t sent. Log in and send it again."
        )
    return login_page(context, visitor, wanted=wanted, feedback=feedback)


def login_page(
    context: ApiContext,
    visitor: Visitor,
    *,
    wanted: str,
    name: str = "",
    feedback: str = "",
    status: int = 200,
) -> Response[str]:
    """Return the form for a password, with the other ways in."""
    return render(
        "login.html",
        visitor,
        status=status,
        wanted=wanted,
        name=name,
        feedback=feedback,
        games=_games_to_try() if visitor.admission.trial == "on" else (),
        returns_to=_with_next("/login", wanted),
        passkeys=second_factors.can_have_passkeys(visitor.site),
        provider=provider_label(context),
    )


def provider_label(context: ApiContext) -> str:
    """Return what the group's own sign-in service is called; empty if there is none."""
    return context.app.settings.oidc_label if context.app.provider else ""


def _games_to_try() -> list[tuple[str, str]]:
    """Return key and title of each game whose board somebody without an account may try."""
    games = [latest_rules(key) for key in game_keys()]
    return [(rules.key, rules.title) for rules in games if rules.players != (1,)]


def _with_next(page: str, wanted: str) -> str:
    """Return the address of a form after which a visitor comes to the page that they wanted."""
    return page if wanted in ("", "/") else f"{page}?{urlencode({'next': wanted}, safe='/')}"


@pages.post("/login", for_guests=True)
def log_in(
    request: AnyRequest,
    open_form: FormDependency,
    context: ContextDependency,
    visitor: VisitorDependency,
) -> Response[str]:
    """Check a password, and open a session."""
    name, wanted = open_form.get("userid"), open_form.get("next")
    try:
        password = open_form.raw("password")
        entry = second_factors.log_in(context.app, name, password, browser_proof(visitor))
    except Refusal as reason:
        # the same answer for both, because a stranger must not learn which userids exist
        wrong = reason.code in (Code.UNKNOWN_USER, Code.WRONG_PASSWORD)
        said = visitor.wording.gettext("Wrong name or password.")
        feedback = said if wrong else reason.in_language(visitor.wording)
        status = 401 if wrong else CODE_INFO[reason.code].status
        return login_page(
            context, visitor, wanted=wanted, name=name, feedback=feedback, status=status
        )
    if entry.step:
        return render("code.html", visitor, step=entry.step, wanted=wanted, feedback="")
    return enter(request, context, visitor, entry.account, local_path(wanted))


def enter(
    request: AnyRequest, context: ApiContext, visitor: Visitor, account: AccountId, path: str
) -> Response[str]:
    """Open a session, and redirect to a page."""
    browser = browser_name(request.headers.get("user-agent", ""))
    opened = accounts.open_session(context.app, account, browser, visitor.session)
    return redirect_to(path, [session_cookie(visitor, opened.text)])


_FIELDS: Final = {
    Code.BAD_NAME: "userid",
    Code.NAME_TAKEN: "userid",
    Code.BAD_PASSWORD: "password",
    Code.BAD_ADDRESS: "address",
}
"""The fields that refusals are about; all others are about the whole form."""


@pages.get("/signup", for_guests=True)
def show_signup(
    context: ContextDependency,
    visitor: VisitorDependency,
    wanted: NextPath = "/",
    link: SignupLinkText = "",
) -> Response[str]:
    """Show the form; a visitor who signs up comes to the page that they wanted."""
    if link and visitor.account is not None:
        return redirect_to(f"/join-club?{urlencode({'link': link})}")
    asked = Form({"link": (link,)})
    try:
        check_signups(context.app, link)
    except Refusal as reason:
        return _signup(context, visitor, wanted, asked, reason)
    return _signup(context, visitor, wanted, asked)


def _signup(
    context: ApiContext, visitor: Visitor, wanted: str, form: Form, reason: Refusal | None = None
) -> Response[str]:
    """Return the form; the field with a mistake has a sentence under it."""
    field = _FIELDS.get(reason.code, "form") if reason else ""
    return render(
        "signup.html",
        visitor,
        status=CODE_INFO[reason.code].status if reason else 200,
        wanted=wanted,
        name=form.get("userid"),
        address=form.get("address"),
        link=form.get("link"),
        at=field,
        closed=bool(reason and reason.code == Code.SIGNUPS_CLOSED),
        feedback=reason.in_language(visitor.wording) if reason else "",
        returns_to=_with_next("/signup", wanted),
        provider=provider_label(context),
    )


@pages.post("/signup", for_guests=True)
def sign_up(
    request: AnyRequest,
    open_form: FormDependency,
    context: ContextDependency,
    visitor: VisitorDependency,
) -> Response[str]:
    """Make an account, and open its first session."""
    try:
        password, addresses = open_form.raw("password"), open_form.all("address")
        account = accounts.sign_up(
            context.app, open_form.get("userid"), password, addresses, link=open_form.get("link")
        )
    except Refusal as reason:
        return _signup(context, visitor, open_form.get("next"), open_form, reason)
    path = local_path(open_form.get("next") or "/")
    if addresses and context.app.settings.relay and context.app.accounts.codes.withheld(account):
        path = "/account#mail"  # where a sentence says so
    return enter(request, context, visitor, account, path)


@pages.post("/logout", for_guests=True)
def log_out(
    form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> Response[str]:
    """End the session that the form came with."""
    del form  # a dependency, because it checks the token; there are no fields
    accounts.close_session(context.app, visitor.session)
    return logged_out_to("/", visitor)
