"""The page of the visitor's account, with what each of its forms changes; and this browser's display."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Final, TypeAlias

from litestar import Response
from litestar.params import QueryParameter
from litestar.response import Redirect, Stream
from litestar.status_codes import HTTP_204_NO_CONTENT

from domain.clocks.time_control import DAY, year_of
from domain.clocks.vacation import DAYS_A_YEAR
from domain.errors import Code, Refusal
from domain.rules import game_keys, latest_rules
from infra.people.tokens import FreshToken, Scope
from services.app import accounts, calendar, preferences, vacations
from services.app.apps import connected_apps
from services.app.follows import blocked_userids
from services.app.moderation import sanctions_of
from services.app.preferences import BrowserKeys, subscribe, unsubscribe, vapid_key
from services.app.second_factors import can_have_passkeys
from services.app.sentences import SAY
from services.app.typed_values import typed_number
from services.app.vacations import VacationStatus
from services.http.web.declared import Pages
from services.http.web.forms import OwnForm
from services.http.web.params import FormDependency, Id, Own, OwnPage
from services.http.web.render import back_to, logged_out_to, redirect_to, render
from services.http.web.session import change_display, display_cookie
from services.words.own_archive import MEDIA_TYPE, archive_name, own_archive

pages = Pages()

SavedSection = Annotated[str, QueryParameter(max_length=16)]
DeclinedCount = Annotated[int, QueryParameter(ge=0, le=10_000)]


@pages.get("/account")
def show_account(
    own_page: OwnPage, saved: SavedSection = "", declined: DeclinedCount = 0
) -> Response[str]:
    """Show the visitor's account; `saved` is the section that has just been changed.

    `declined` is how many matches a block ended.
    """
    return _page(own_page, saved=saved, declined=declined)


PageOrRedirect: TypeAlias = Response[str] | Redirect

_PREFERENCES: Final = ("playing", "notify", "drawings")
"""Sections of the page whose forms change preferences."""


def _page(
    own: OwnForm,
    issued: FreshToken | None = None,
    *,
    calendar_path: str = "",
    at: str = "",
    reason: Refusal | None = None,
    saved: str = "",
    declined: int = 0,
) -> Response[str]:
    """Return the page. The form `at`, if it has a mistake, keeps its fields."""
    app, visitor, account = own.app, own.visitor, own.account
    now = app.store.now()
    vacation = vacations.status(app, account)
    several = [rules for rules in map(latest_rules, game_keys()) if len(rules.displays) > 1]
    unverified = visitor.profile and any(not one.usable for one in visitor.profile.addresses)
    return render(
        "account.html",
        visitor,
        at=at,
        typed=own,
        me=visitor.profile,
        addresses=" ".join(one.address for one in visitor.profile.addresses)
        if visitor.profile
        else "",
        displays=dict(visitor.profile.displays) if visitor.profile else {},
        saved=saved,
        declined=declined,
        relay=bool(app.settings.relay),
        unverified=unverified,
        withheld=app.accounts.codes.withheld(account) if unverified else None,
        vacation=vacation,
        first_day=_date(vacation.until or now),
        last_day=_date(_last_day(vacation, now)),
        push_key=vapid_key(app).public if app.settings.sends_push else "",
        push_browsers=app.push_subscriptions.lasting(account),
        hooks=app.settings.sends_hooks,
        blocked=blocked_userids(app, account),
        drawn=several,
        tokens=[one for one in app.tokens.list_of(account) if not one.app],
        connected=connected_apps(app, account),
        sessions=app.sessions.list_of(account),
        sanctions=bool(sanctions_of(app, account)),
        factors=app.accounts.factors_of(account),
        provider=app.settings.oidc_label,
        passkeys_here=can_have_passkeys(visitor.site),
        scopes=list(Scope),
        issued=issued,
        calendar_path=calendar_path,
        calendar_since=app.calendar_links.since(account),
        reason=reason,
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


@pages.post("/account/preferences")
def change_preferences(own: Own) -> PageOrRedirect:
    """Change the language of help, the mail, the allowed challengers, and the displays."""
    drawn = {key: own.get(f"display-{key}") for key in game_keys() if own.get(f"display-{key}")}
    wanted = preferences.PreferenceChanges(
        language=own.get("language") if "language" in own.fields else None,
        notify=own.get("notify") or None,
        challenges=own.get("challenges") or None,
        displays=drawn or None,
        receipts=own.get("receipts") or None,
    )
    at = own.get("at")
    change = partial(preferences.change_preferences, own.app, own.account, wanted)
    return apply_change(own, change, at if at in _PREFERENCES else "playing")


@pages.post("/account/addresses")
def change_addresses(own: Own) -> PageOrRedirect:
    """Replace the e-mail addresses."""

    def changed() -> None:
        own.confirm()
        wanted = own.get("addresses").replace(",", " ").split()
        accounts.replace_addresses(own.app, own.account, wanted)

    return apply_change(own, changed, "mail")


def apply_change(own: OwnForm, change: Callable[[], object], at: str = "") -> PageOrRedirect:
    """Call `change`, and show the page that it returns, or else the account.

    A refusal is shown at the form `at`.
    """
    try:
        answer = change()
    except Refusal as reason:
        if not at:
            raise
        return _page(own, at=at, reason=reason)
    if isinstance(answer, Response):
        return answer
    return redirect_to(f"/account?saved={at}#{at}" if at else "/account")


@pages.post("/account/verify")
def verify_address(own: Own) -> PageOrRedirect:
    """Verify an address by the code that was mailed there."""
    verify = partial(accounts.prove_address, own.app, own.account, own.get("code"))
    return apply_change(own, verify, "verify")


@pages.post("/account/password")
def change_password(own: Own) -> PageOrRedirect:
    """Replace the password, and end all other sessions, and where the form says so all tokens."""
    session = own.visitor.session.id if own.visitor.session else ""
    old, new, end = own.raw("old"), own.raw("new"), bool(own.get("end-tokens"))
    change = partial(accounts.change_password, own.app, own.account, old, new, proven=True)
    return apply_change(own, partial(change, session=session, tokens=end), "password")


@pages.post("/account/logout-everywhere")
def log_out_everywhere(own: Own) -> Redirect:
    """End all sessions, including this one, and all tokens."""
    accounts.log_out_everywhere(own.app, own.account)
    return logged_out_to("/login", own.visitor)


@pages.post("/account/tokens")
def make_token(own: Own) -> PageOrRedirect:
    """Make a token, and show its text, which is not shown again."""

    def made() -> Response[str]:
        own.confirm()
        days = read_days(own.get("days"))
        issued = own.app.tokens.issue(own.account, own.get("label"), own.all("scope"), days)
        accounts.end_if_suspended(own.app, own.account)
        return _page(own, issued)

    return apply_change(own, made, "tokens")


def read_days(text: str) -> int | None:
    """Return the days for which a token works, as they were typed; None for nothing, `bad-request`."""
    if not text:
        return None
    days = typed_number(text)
    if days is None:
        raise Refusal(Code.BAD_REQUEST, SAY("token-days"))
    return days


@pages.post("/account/tokens/{id_:str}/revoke")
def revoke_token(id_: Id, own: Own) -> PageOrRedirect:
    """Revoke a token."""
    return apply_change(own, partial(accounts.revoke_token, own.app, own.account, id_))


@pages.post("/account/sessions/{id_:str}/end")
def end_session(id_: Id, own: Own) -> PageOrRedirect:
    """End another session of the visitor."""
    return apply_change(own, partial(accounts.end_session, own.app, own.account, id_))


@pages.post("/account/calendar")
def make_calendar(own: Own) -> PageOrRedirect:
    """Make a secret address of the calendar, and show it, which is not shown again; or end the one that there is."""
    if own.get("end"):
        calendar.end_calendar(own.app, own.account)
        return redirect_to("/account?saved=calendar#calendar")
    path = calendar.make_calendar(own.app, own.account)
    page = _page(own, calendar_path=path, saved="calendar")
    page.headers["Cache-Control"] = "no-store"
    return page


@pages.post("/account/vacation")
def take_vacation(own: Own) -> PageOrRedirect:
    """Start, extend or end a vacation."""

    def taken() -> None:
        if own.get("until"):
            vacations.take_until(own.app, own.actor(), _day(own.get("until")))
        else:
            vacations.change(own.app, own.actor(), own.get("days"))

    return apply_change(own, taken, "vacation")


def _day(text: str) -> int:
    """Return the beginning of a day, ms, from a field for dates."""
    try:
        return int(datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).timestamp() * 1000)
    except ValueError:
        raise Refusal(Code.BAD_OPTION, SAY("vacation-day")) from None


@pages.post("/account/export")
def export_account(own: Own) -> PageOrRedirect | Stream:
    """Send all that the server has about the account, as one file; the password may have to be given again."""

    def exported() -> Stream:
        own.confirm()
        name = archive_name(own.visitor.name)
        headers = {
            "Content-Disposition": f'attachment; filename="{name}"',
            "Cache-Control": "no-store",
        }
        archive = own_archive(own.app, own.account, own.visitor.wording)
        return Stream(archive, media_type=MEDIA_TYPE, headers=headers)

    return apply_change(own, exported, "export")


@pages.post("/account/deletion")
def delete_account(own: Own) -> PageOrRedirect:
    """Delete the account and its personal data."""

    def deleted() -> Redirect:
        accounts.delete_account(own.app, own.visitor.name, own.raw("password"), proven=True)
        return logged_out_to("/?over=account", own.visitor)

    return apply_change(own, deleted, "deletion")


@pages.post("/display", in_thread=False, for_guests=True)
def set_display(open_form: FormDependency) -> Response[Any]:
    """Keep the settings of the display that the form names, and return to the page that it was on.

    A script has shown the change already, and stays on its page.
    """
    visitor = open_form.visitor
    settings = change_display(
        visitor.display, {name: open_form.get(name) for name in open_form.fields}
    )
    cookie = display_cookie(settings, secure=visitor.secure)
    if visitor.partial:
        return Response(None, status_code=HTTP_204_NO_CONTENT, cookies=[cookie])
    return back_to(open_form.get("back") or "/", [cookie])


@pages.post("/account/push")
def allow_notifications(own: Own) -> Redirect:
    """Let this browser show notifications."""
    session = own.visitor.session
    subscribe(
        own.app,
        own.account,
        own.get("endpoint"),
        BrowserKeys(own.get("p256dh"), own.get("auth")),
        label=session.label if session else "",
        login=session.id if session else "",
    )
    return redirect_to("/account?saved=push#push")


@pages.post("/account/push/{id_:str}/end")
def end_notifications(id_: Id, own: Own) -> Redirect:
    """End the notifications of a browser."""
    unsubscribe(own.app, own.account, id_)
    return redirect_to("/account#push")
