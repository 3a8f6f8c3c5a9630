"""The page of the own account: preferences, addresses, sessions, tokens, vacation, deletion."""

from collections.abc import Callable
from typing import TypeAlias
from uuid import uuid4

from litestar import Response, get, post
from litestar.response import Redirect

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from domain.rules import current
from infra.tokens import Issued, Scope
from services.api.context import ApiContext
from services.app import accounts, preferences, vacations
from services.app.actor import Actor
from services.app.blocks import blocked_by
from services.app.error_codes import PROBLEMS
from services.app.games import games
from services.app.password_check import FRESH_MS, confirm, is_fresh
from services.language.vacations import in_words
from services.web.acts import DOOR
from services.web.pages import go, page
from services.web.params import Id, TheContext, TheForm, TheVisitor
from services.web.visitors import Form, Visitor, session_cookie


@get("/account", sync_to_thread=True)
def show_account(context: TheContext, visitor: TheVisitor) -> Response[str]:
    """Show the own account."""
    visitor.need()
    return _page(context, visitor)


Answer: TypeAlias = Response[str] | Redirect


def _page(
    context: ApiContext,
    visitor: Visitor,
    issued: Issued | None = None,
    *,
    told: str = "",
    at: str = "",
    typed: Form | None = None,
    status: int = 200,
) -> Response[str]:
    """Return the page. A form with a mistake in it, at place `at`, keeps what was `typed`."""
    account = visitor.need()
    several = [rules for rules in map(current, games()) if len(rules.displays) > 1]
    return page(
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
        languages=preferences.LANGUAGES,
        notices=preferences.NOTICES,
        challenges=preferences.CHALLENGES,
        blocked=blocked_by(context.app, account),
        drawn=several,
        tokens=context.app.tokens.list_of(account),
        sessions=context.app.sessions.list_of(account),
        scopes=list(Scope),
        issued=issued,
        told=told,
        # a little early: the page is looked at before its form is sent
        ask_password=not is_fresh(context.app.store.now() + FRESH_MS // 2, _since(visitor)),
    )


def _since(visitor: Visitor) -> int:
    return visitor.session.created if visitor.session else 0


@post("/account/preferences", sync_to_thread=True)
def change_preferences(form: TheForm, context: TheContext, visitor: TheVisitor) -> Answer:
    """Change the language of help, when mail is sent, whose challenges are taken, and displays."""
    drawn = {key: form.get(f"display-{key}") for key in games() if form.get(f"display-{key}")}
    wanted = preferences.PreferenceChanges(
        language=form.get("language") or None,
        notify=form.get("notify") or None,
        challenges=form.get("challenges") or None,
        displays=drawn or None,
    )

    def changed(account: AccountId) -> None:
        preferences.change_preferences(context.app, account, wanted)

    return _change(context, visitor, changed, form, "preferences")


@post("/account/addresses", sync_to_thread=True)
def change_addresses(form: TheForm, context: TheContext, visitor: TheVisitor) -> Answer:
    """Replace the mail addresses."""
    wanted = form.get("addresses").replace(",", " ").split()

    def changed(account: AccountId) -> None:
        _confirm(context, visitor, form)
        accounts.replace_addresses(context.app, account, wanted)

    return _change(context, visitor, changed, form, "mail")


def _confirm(context: ApiContext, visitor: Visitor, form: Form) -> None:
    """Check the password, unless the visitor has logged in a moment ago."""
    confirm(context.app, visitor.need(), form.raw("password"), _since(visitor))


def _change(
    context: ApiContext,
    visitor: Visitor,
    change: Callable[[AccountId], Response[str] | object],
    form: Form,
    at: str = "",
) -> Answer:
    """Change something, and show the account, or the page that `change` gives.

    A refusal of the form `at` a place of the page is shown there.
    """
    account = visitor.need()
    context.app.pace.check(account)
    try:
        answer = change(account)
    except Refusal as reason:
        if not at:
            raise
        status = PROBLEMS[reason.code].status
        return _page(context, visitor, told=reason.sentence, at=at, typed=form, status=status)
    return answer if isinstance(answer, Response) else go("/account")


@post("/account/password", sync_to_thread=True)
def change_password(form: TheForm, context: TheContext, visitor: TheVisitor) -> Answer:
    """Replace the password, and end all other sessions; where asked, all tokens too."""
    session = visitor.session.id if visitor.session else ""
    old, new, end = form.raw("old"), form.raw("new"), bool(form.get("end-tokens"))

    def changed(account: AccountId) -> None:
        app = context.app
        accounts.change_password(app, account, old, new, session=session, tokens=end)

    return _change(context, visitor, changed, form, "password")


@post("/account/logout-everywhere", sync_to_thread=True)
def log_out_everywhere(form: TheForm, context: TheContext, visitor: TheVisitor) -> Redirect:
    """End all sessions, this one among them, and all tokens."""
    del form
    accounts.log_out_everywhere(context.app, visitor.need())
    return go("/login", [session_cookie(visitor, "")])


@post("/account/tokens", status_code=200, sync_to_thread=True)
def make_token(form: TheForm, context: TheContext, visitor: TheVisitor) -> Answer:
    """Make a token, and show its text this once."""

    def made(account: AccountId) -> Response[str]:
        _confirm(context, visitor, form)
        days = _days(form.get("days"))
        issued = context.app.tokens.issue(account, form.get("label"), form.all("scope"), days)
        return _page(context, visitor, issued)

    return _change(context, visitor, made, form, "tokens")


def _days(text: str) -> int | None:
    if text and not (text.isdecimal() and len(text) < len("100000")):
        raise Refusal(Code.BAD_REQUEST, "a token lasts a number of days, or until it is revoked")
    return int(text) if text else None


@post("/account/tokens/{id_:str}/revoke", sync_to_thread=True)
def revoke_token(id_: Id, form: TheForm, context: TheContext, visitor: TheVisitor) -> Answer:
    """End a token."""
    revoke = accounts.revoke_token
    return _change(context, visitor, lambda account: revoke(context.app, account, id_), form)


@post("/account/sessions/{id_:str}/end", sync_to_thread=True)
def end_session(id_: Id, form: TheForm, context: TheContext, visitor: TheVisitor) -> Answer:
    """Log out somewhere else."""
    end = accounts.end_session
    return _change(context, visitor, lambda account: end(context.app, account, id_), form)


@post("/account/vacation", status_code=200, sync_to_thread=True)
def take_vacation(form: TheForm, context: TheContext, visitor: TheVisitor) -> Answer:
    """Begin, prolong or end a vacation."""

    def taken(account: AccountId) -> Response[str]:
        actor = Actor(account, DOOR, uuid4().hex)
        status = vacations.change(context.app, actor, form.get("days"))
        return _page(context, visitor, told=in_words(status))

    return _change(context, visitor, taken, form, "vacation")


@post("/account/deletion", sync_to_thread=True)
def delete_account(form: TheForm, context: TheContext, visitor: TheVisitor) -> Redirect:
    """Erase the account, for good."""
    visitor.need()
    accounts.delete_account(context.app, visitor.name, form.raw("password"))
    return go("/", [session_cookie(visitor, "")])
