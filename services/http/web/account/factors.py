"""Second factors on the page of the account: an app for codes, recovery codes and passkeys."""

from collections.abc import Callable
from functools import partial
from io import StringIO
from typing import Any
from urllib.parse import urlsplit

from litestar import Response
from markupsafe import Markup

from domain.errors import Refusal
from services.app import provided_accounts, second_factors
from services.app.second_factors import NewApp, PasskeyAnswer, PasskeyQuestion
from services.http.web.account.login import browser_name, for_script
from services.http.web.account.page import PageOrRedirect, apply_change
from services.http.web.declared import Pages
from services.http.web.forms import OwnForm
from services.http.web.params import Own
from services.http.web.render import redirect_to, secret_page
from services.http.web.session import AnyRequest, browser_proof

pages = Pages()

_AT = "factors"
"""The section of the account's page."""


def _change(own: OwnForm, use_case: Callable[[], list[str] | None]) -> PageOrRedirect:
    """Confirm the visitor, call a use case, and show the recovery codes that it returns, once."""

    def changed() -> Response[str] | None:
        own.confirm()
        codes = use_case()
        return secret_page("recovery.html", own.visitor, codes=codes) if codes else None

    return apply_change(own, changed, _AT)


@pages.post("/account/app")
def begin_app(own: Own) -> PageOrRedirect:
    """Show the picture that an app reads, and ask for its first code."""

    def begun() -> Response[str]:
        own.confirm()
        browser, issuer = browser_proof(own.visitor), _issuer(own)
        made = second_factors.begin_app(own.app, own.account, browser, issuer=issuer)
        return _app_page(own, made)

    return apply_change(own, begun, _AT)


def _issuer(own: OwnForm) -> str:
    return urlsplit(own.visitor.site).hostname or "matchpost"


def _app_page(own: OwnForm, made: NewApp, reason: Refusal | None = None) -> Response[str]:
    import segno  # noqa: PLC0415 - slow to import, and seldom needed

    picture = StringIO()
    text = segno.make(made.uri, micro=False).svg_inline(
        scale=5, border=4, dark="#000", light="#fff"
    )
    picture.write(text)
    code = Markup(picture.getvalue())  # noqa: S704 - drawn here, and it has no text
    spaced = " ".join(made.secret[at : at + 4] for at in range(0, len(made.secret), 4))
    return secret_page(
        "app.html", own.visitor, step=made.step, picture=code, secret=spaced, reason=reason
    )


@pages.post("/account/app/confirm")
def confirm_app(own: Own) -> PageOrRedirect:
    """Turn an app's codes on by its first code."""
    step, browser = own.get("step"), browser_proof(own.visitor)
    try:
        codes = second_factors.confirm_app(own.app, own.account, step, own.get("code"), browser)
    except Refusal as reason:
        try:
            made = second_factors.app_in_setup(
                own.app, own.account, step, browser, issuer=_issuer(own)
            )
        except Refusal:
            return apply_change(own, partial(_raise, reason), _AT)
        return _app_page(own, made, reason)
    if codes:
        return secret_page("recovery.html", own.visitor, codes=codes)
    return redirect_to(f"/account?saved={_AT}#{_AT}")


def _raise(reason: Refusal) -> None:
    raise reason


@pages.post("/account/app/remove")
def remove_app(own: Own) -> PageOrRedirect:
    """Turn an app's codes off."""
    return _change(own, partial(second_factors.remove_app, own.app, own.account))


@pages.post("/account/recovery-codes")
def renew_recovery_codes(own: Own) -> PageOrRedirect:
    """Show new recovery codes, which replace all others."""
    return _change(own, partial(second_factors.renew_recovery_codes, own.app, own.account))


@pages.post("/account/passkeys/ask")
def ask_for_passkey(own: Own) -> Response[Any]:
    """Return what the browser is asked to make, for the page's script."""
    browser = browser_proof(own.visitor)

    def asked() -> PasskeyQuestion:
        own.confirm()
        return second_factors.begin_passkey(own.app, own.account, own.visitor.site, browser)

    return for_script(own.visitor, asked)


@pages.post("/account/passkeys")
def add_passkey(own: Own, request: AnyRequest) -> PageOrRedirect:
    """Add the passkey that the browser has made."""
    label = browser_name(request.headers.get("user-agent", ""))
    site, browser = own.visitor.site, browser_proof(own.visitor)
    answered = PasskeyAnswer(own.get("step"), own.raw("answer"))

    def added() -> Response[str] | None:
        codes = second_factors.add_passkey(own.app, own.account, site, answered, browser, label)
        return secret_page("recovery.html", own.visitor, codes=codes) if codes else None

    return apply_change(own, added, _AT)


@pages.post("/account/passkeys/remove")
def remove_passkey(own: Own) -> PageOrRedirect:
    """Remove a passkey."""
    return _change(
        own, partial(second_factors.remove_passkey, own.app, own.account, own.get("passkey"))
    )


@pages.post("/account/first-password")
def choose_password(own: Own) -> PageOrRedirect:
    """Choose the first password of an account that the group's provider opens."""
    session = own.visitor.session.id if own.visitor.session else ""
    chosen = partial(
        provided_accounts.choose_password,
        *(own.app, own.account, own.raw("new"), own.visitor.password_given_at, session),
    )
    return apply_change(own, chosen, "password")
