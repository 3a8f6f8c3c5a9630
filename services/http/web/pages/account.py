"""The page of the visitor's account, with what each of its forms changes; and this browser's display."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, Final, TypeAlias
from uuid import uuid4

from litestar import Response, get, post
from litestar.params import QueryParameter
from litestar.response import Redirect
from litestar.status_codes import HTTP_204_NO_CONTENT

from domain.clocks.calendar import DAY, year_of
from domain.clocks.vacation import DAYS_A_YEAR
from domain.errors import Code, Refusal
from domain.match.events import AccountId
from domain.rules import latest_rules
from infra.people.tokens import FreshToken, Scope
from services.app import accounts, preferences, vacations
from services.app.actor import Actor
from services.app.blocks import blocked_userids
from services.app.error_codes import CODE_INFO
from services.app.games import game_keys
from services.app.push import vapid_key
from services.app.recent_password import FRESH_MS, check_recent_password, is_fresh
from services.app.sentences import SAY
from services.app.vacations import VacationStatus
from services.http.context import ApiContext
from services.http.web.display_settings import change_display, display_cookie
from services.http.web.pages.match_actions import WEB_FRONT_END
from services.http.web.params import ContextDependency, FormDependency, Id, VisitorDependency
from services.http.web.render import local_path, logged_out_to, redirect_to, render
from services.http.web.session import Form, Visitor

SavedSection = Annotated[str, QueryParameter(max_length=16)]
DeclinedCount = Annotated[int, QueryParameter(ge=0, le=10_000)]


@get("/account", sync_to_thread=True)
def show_account(
    context: ContextDependency,
    visitor: VisitorDependency,
    saved: SavedSection = "",
    declined: DeclinedCount = 0,
) -> Response[str]:
    """Show the visitor's account; `saved` is the section that has just been changed.

    `declined` is how many matches a block ended.
    """
    visitor.require_account()
    return _page(context, visitor, saved=saved, declined=declined)


PageOrRedirect: TypeAlias = Response[str] | Redirect

_PREFERENCES: Final = ("playing", "notify", "drawings")
"""Sections of the page whose forms change preferences."""


def _page(  # noqa: PLR0913 - what the page may have more than the account
    context: ApiContext,
    visitor: Visitor,
    issued: FreshToken | None = None,
    *,
    feedback: str = "",
    at: str = "",
    typed: Form | None = None,
    status: int = 200,
    saved: str = "",
    declined: int = 0,
) -> Response[str]:
    """Return the page. The form `at`, if it has a mistake, keeps its fields `typed`."""
    account = visitor.require_account()
    now = context.app.store.now()
    vacation = vacations.status(context.app, account)
    several = [rules for rules in map(latest_rules, game_keys()) if len(rules.displays) > 1]
    unverified = visitor.profile and any(not one.usable for one in visitor.profile.addresses)
    return render(
        "account.html",
        visitor,
        status=status,
        at=at,
        typed=typed or Form({}),
        me=visitor.profile,
        addresses=" ".join(one.address for one in visitor.profile.addresses)
        if visitor.profile
        else "",
        displays=dict(visitor.profile.displays) if visitor.profile else {},
        saved=saved,
        declined=declined,
        relay=bool(context.app.settings.relay),
        unverified=unverified,
        withheld=context.app.accounts.codes.withheld(account) if unverified else None,
        vacation=vacation,
        first_day=_date(vacation.until or now),
        last_day=_date(_last_day(vacation, now)),
        push_key=vapid_key(context.app).public if context.app.settings.sends_push else "",
        push_browsers=context.app.push_subscriptions.lasting(account),
        blocked=blocked_userids(context.app, account),
        drawn=several,
        tokens=context.app.tokens.list_of(account),
        sessions=context.app.sessions.list_of(account),
        scopes=list(Scope),
        issued=issued,
        feedback=feedback,
        # half the time early, because the visitor reads the page before sending its form
        ask_password=not is_fresh(now + FRESH_MS // 2, _password_given_at(visitor)),
    )


def _last_day(vacation: VacationStatus, now: int) -> int:
    """Return the last instant, ms, of a day to which a vacation can go on."""
    begins = vacation.until or now
    last = begins + (vacation.left - 1) * DAY
    # the days of the next year are its own
    crosses = year_of((last + DAY) // DAY) > vacation.year
    return last + (DAYS_A_YEAR * DAY if crosses else 0)


def _date(at: int) -> str:
    """Return a day, UTC, as a field for dates has it."""
    return f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%d}"


def _password_given_at(visitor: Visitor) -> int:
    return visitor.session.created if visitor.session else 0


@post("/account/preferences", sync_to_thread=True)
def change_preferences(
    form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> PageOrRedirect:
    """Change the language of help, the mail, the allowed challengers, and the displays."""
    drawn = {key: form.get(f"display-{key}") for key in game_keys() if form.get(f"display-{key}")}
    wanted = preferences.PreferenceChanges(
        language=form.get("language") if "language" in form.fields else None,
        notify=form.get("notify") or None,
        challenges=form.get("challenges") or None,
        displays=drawn or None,
        receipts=form.get("receipts") or None,
    )

    def changed(account: AccountId) -> None:
        preferences.change_preferences(context.app, account, wanted)

    at = form.get("at")
    return _change(context, visitor, changed, form, at if at in _PREFERENCES else "playing")


@post("/account/addresses", sync_to_thread=True)
def change_addresses(
    form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> PageOrRedirect:
    """Replace the e-mail addresses."""
    wanted = form.get("addresses").replace(",", " ").split()

    def changed(account: AccountId) -> None:
        _confirm(context, visitor, form)
        accounts.replace_addresses(context.app, account, wanted)

    return _change(context, visitor, changed, form, "mail")


def _confirm(context: ApiContext, visitor: Visitor, form: Form) -> None:
    """Check the password, unless the visitor has logged in a moment ago."""
    check_recent_password(
        context.app, visitor.require_account(), form.raw("password"), _password_given_at(visitor)
    )


def _change(
    context: ApiContext,
    visitor: Visitor,
    change: Callable[[AccountId], Response[str] | object],
    form: Form,
    at: str = "",
) -> PageOrRedirect:
    """Call `change`, and show the page that it returns, or else the account.

    A refusal is shown at the form `at`.
    """
    account = visitor.require_account()
    context.app.pace.check(account)
    try:
        answer = change(account)
    except Refusal as reason:
        if not at:
            raise
        status = CODE_INFO[reason.code].status
        return _page(
            context,
            visitor,
            feedback=reason.in_language(visitor.language),
            at=at,
            typed=form,
            status=status,
        )
    if isinstance(answer, Response):
        return answer
    return redirect_to(f"/account?saved={at}#{at}" if at else "/account")


@post("/account/verify", sync_to_thread=True)
def verify_address(
    form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> PageOrRedirect:
    """Verify an address by the code that was mailed there."""

    def verified(account: AccountId) -> None:
        accounts.prove_address(context.app, account, form.get("code"))

    return _change(context, visitor, verified, form, "verify")


@post("/account/password", sync_to_thread=True)
def change_password(
    form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> PageOrRedirect:
    """Replace the password, and end all other sessions, and where the form says so all tokens."""
    session = visitor.session.id if visitor.session else ""
    old, new, end = form.raw("old"), form.raw("new"), bool(form.get("end-tokens"))

    def changed(account: AccountId) -> None:
        app = context.app
        accounts.change_password(app, account, old, new, session=session, tokens=end)

    return _change(context, visitor, changed, form, "password")


@post("/account/logout-everywhere", sync_to_thread=True)
def log_out_everywhere(
    form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> Redirect:
    """End all sessions, including this one, and all tokens."""
    del form
    accounts.log_out_everywhere(context.app, visitor.require_account())
    return logged_out_to("/login", visitor)


@post("/account/tokens", status_code=200, sync_to_thread=True)
def make_token(
    form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> PageOrRedirect:
    """Make a token, and show its text, which is not shown again."""

    def made(account: AccountId) -> Response[str]:
        _confirm(context, visitor, form)
        days = _days(form.get("days"))
        issued = context.app.tokens.issue(account, form.get("label"), form.all("scope"), days)
        accounts.end_if_suspended(context.app, account)
        return _page(context, visitor, issued)

    return _change(context, visitor, made, form, "tokens")


def _days(text: str) -> int | None:
    if text and not (text.isdecimal() and len(text) < len("100000")):
        raise Refusal(Code.BAD_REQUEST, SAY("token-days"))
    return int(text) if text else None


@post("/account/tokens/{id_:str}/revoke", sync_to_thread=True)
def revoke_token(
    id_: Id, form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> PageOrRedirect:
    """Revoke a token."""
    revoke = accounts.revoke_token
    return _change(context, visitor, lambda account: revoke(context.app, account, id_), form)


@post("/account/sessions/{id_:str}/end", sync_to_thread=True)
def end_session(
    id_: Id, form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> PageOrRedirect:
    """End another session of the visitor."""
    end = accounts.end_session
    return _change(context, visitor, lambda account: end(context.app, account, id_), form)


@post("/account/vacation", sync_to_thread=True)
def take_vacation(
    form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> PageOrRedirect:
    """Start, extend or end a vacation."""

    def taken(account: AccountId) -> None:
        actor = Actor(account, WEB_FRONT_END, uuid4().hex)
        if form.get("until"):
            vacations.take_until(context.app, actor, _day(form.get("until")))
        else:
            vacations.change(context.app, actor, form.get("days"))

    return _change(context, visitor, taken, form, "vacation")


def _day(text: str) -> int:
    """Return the beginning of a day, ms, from a field for dates."""
    try:
        return int(datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).timestamp() * 1000)
    except ValueError:
        raise Refusal(Code.BAD_OPTION, SAY("vacation-day")) from None


@post("/account/deletion", sync_to_thread=True)
def delete_account(
    form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> PageOrRedirect:
    """Delete the account and its personal data."""
    visitor.require_account()
    try:
        accounts.delete_account(context.app, visitor.name, form.raw("password"))
    except Refusal as reason:
        status, said = CODE_INFO[reason.code].status, reason.in_language(visitor.language)
        return _page(context, visitor, feedback=said, at="deletion", status=status)
    return logged_out_to("/?over=account", visitor)


@post("/display", sync_to_thread=False)
def set_display(form: FormDependency, visitor: VisitorDependency) -> Response[Any]:
    """Keep the settings of the display that the form names, and return to the page that it was on.

    A script has shown the change already, and stays on its page.
    """
    settings = change_display(visitor.display, {name: form.get(name) for name in form.fields})
    cookie = display_cookie(settings, secure=visitor.secure)
    if visitor.partial:
        return Response(None, status_code=HTTP_204_NO_CONTENT, cookies=[cookie])
    return redirect_to(local_path(form.get("back") or "/"), [cookie])
