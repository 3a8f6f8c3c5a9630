"""Signing up, logging in and out."""

from collections.abc import Callable, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from litestar import Response

from domain.errors import Code, Refusal
from domain.records import AccountId
from domain.rules import latest_rules
from services.app import accounts, second_factors
from services.app.admission import check_signups
from services.app.clubs import club_of_link
from services.app.context import App
from services.app.error_codes import CODE_INFO
from services.app.games_off import keys_on
from services.app.second_factors import PasskeyQuestion
from services.http.web.declared import Pages
from services.http.web.forms import VisitorForm
from services.http.web.params import Asked, FormDependency, NextPath, SessionOver, SignupLinkText
from services.http.web.render import local_path, logged_out_to, redirect_to, render
from services.http.web.session import AnyRequest, Visitor, browser_proof, session_cookie
from services.words.clubs import pairing_rule

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
def show_login(asked: Asked, wanted: NextPath = "/", over: SessionOver = "") -> Response[str]:
    """Show the form; a visitor who has logged in is redirected."""
    if asked.visitor.account is not None:
        return redirect_to(local_path(wanted))
    words, feedback = asked.visitor.wording, ""
    if "?move=" in wanted:
        feedback = words.gettext("Log in again; your move is kept.")
    elif over:
        feedback = words.gettext(
            "You’ve been logged out, so your form wasn’t sent. Log in and send it again."
        )
    return login_page(asked, wanted=wanted, feedback=feedback)


def login_page(
    asked: VisitorForm,
    *,
    wanted: str,
    name: str = "",
    feedback: str = "",
    status: int = 200,
    reason: Refusal | None = None,
) -> Response[str]:
    """Return the form for a password, with the other ways in; a `reason` is why the log-in begins again."""
    visitor = asked.visitor
    return render(
        "login.html",
        visitor,
        status=status,
        wanted=wanted,
        name=name,
        feedback=feedback,
        reason=reason,
        games=_games_to_try(asked.app) if visitor.admission.trial == "on" else (),
        returns_to=_with_next("/login", wanted),
        passkeys=second_factors.can_have_passkeys(visitor.site),
        provider=provider_label(asked.app),
    )


def provider_label(app: App) -> str:
    """Return what the group's own sign-in service is called; empty if there is none."""
    return app.settings.oidc_label if app.provider else ""


def for_script(visitor: Visitor, ask: Callable[[], PasskeyQuestion]) -> Response[Any]:
    """Return the request for a passkey to the page's script, or why there is none."""
    try:
        asked = ask()
    except Refusal as reason:
        said = reason.in_language(visitor.wording)
        return Response({"said": said}, status_code=CODE_INFO[reason.code].status)
    return Response({"step": asked.step, "options": asked.options}, status_code=200)


def _games_to_try(app: App) -> list[tuple[str, str]]:
    """Return key and title of each game whose board somebody without an account may try."""
    games = [latest_rules(key) for key in keys_on(app)]
    return [(rules.key, rules.title) for rules in games if rules.players != (1,)]


def _with_next(page: str, wanted: str) -> str:
    """Return the address of a form after which a visitor comes to the page that they wanted."""
    return page if wanted in ("", "/") else f"{page}?{urlencode({'next': wanted}, safe='/')}"


@pages.post("/login", for_guests=True)
def log_in(request: AnyRequest, open_form: FormDependency) -> Response[str]:
    """Check a password, and open a session."""
    visitor, wanted = open_form.visitor, open_form.get("next")
    name, password = open_form.get("userid"), open_form.raw("password")
    try:
        entry = second_factors.log_in(open_form.app, name, password, browser_proof(visitor))
    except Refusal as reason:
        # the same answer for both, because a stranger must not learn which userids exist
        if reason.code in (Code.UNKNOWN_USER, Code.WRONG_PASSWORD):
            said = visitor.wording.gettext("Wrong name or password.")
            return login_page(open_form, wanted=wanted, name=name, feedback=said, status=401)
        return login_page(open_form, wanted=wanted, name=name, reason=reason)
    if entry.step:
        return render("code.html", visitor, step=entry.step, wanted=wanted)
    return enter(request, open_form, entry.account, wanted)


def enter(
    request: AnyRequest, asked: VisitorForm, account: AccountId, wanted: str
) -> Response[str]:
    """Open a session, and redirect to the page that the visitor wanted, if it is on this server."""
    browser = browser_name(request.headers.get("user-agent", ""))
    opened = accounts.open_session(asked.app, account, browser, asked.visitor.session)
    return redirect_to(local_path(wanted), [session_cookie(asked.visitor, opened.text)])


_FIELDS: Final = {
    Code.BAD_NAME: "userid",
    Code.NAME_TAKEN: "userid",
    Code.BAD_PASSWORD: "password",
    Code.BAD_ADDRESS: "address",
}
"""The fields that refusals are about; all others are about the whole form."""


@pages.get("/signup", for_guests=True)
def show_signup(asked: Asked, wanted: NextPath = "/", link: SignupLinkText = "") -> Response[str]:
    """Show the form; a visitor who signs up comes to the page that they wanted."""
    if link and asked.visitor.account is not None:
        return redirect_to(f"/join-club?{urlencode({'link': link})}")
    form = VisitorForm({"link": (link,)}, asked.context, asked.visitor)
    try:
        check_signups(asked.app, link)
    except Refusal as reason:
        return _signup(form, wanted, reason)
    return _signup(form, wanted)


def _signup(form: VisitorForm, wanted: str, reason: Refusal | None = None) -> Response[str]:
    """Return the form; the field with a mistake has a sentence under it."""
    field = _FIELDS.get(reason.code, "form") if reason else ""
    club = club_of_link(form.app, form.get("link"))
    return render(
        "signup.html",
        form.visitor,
        wanted=wanted,
        name=form.get("userid"),
        address=form.get("address"),
        link=form.get("link"),
        pairing_rule=pairing_rule(form.visitor.wording) if club and club.pairs_members else "",
        at=field,
        closed=bool(reason and reason.code == Code.SIGNUPS_CLOSED),
        reason=reason,
        returns_to=_with_next("/signup", wanted),
        provider=provider_label(form.app),
    )


@pages.post("/signup", for_guests=True)
def sign_up(request: AnyRequest, open_form: FormDependency) -> Response[str]:
    """Make an account, and open its first session."""
    app = open_form.app
    try:
        password, addresses = open_form.raw("password"), open_form.all("address")
        account = accounts.sign_up(
            app, open_form.get("userid"), password, addresses, link=open_form.get("link")
        )
    except Refusal as reason:
        return _signup(open_form, open_form.get("next"), reason)
    path = open_form.get("next")
    if addresses and app.settings.relay and app.accounts.codes.withheld(account):
        path = "/account#mail"  # where a sentence says so
    return enter(request, open_form, account, path)


@pages.post("/logout", for_guests=True)
def log_out(form: FormDependency) -> Response[str]:
    """End the session that the form came with."""
    accounts.close_session(form.app, form.visitor.session)
    return logged_out_to("/", form.visitor)
