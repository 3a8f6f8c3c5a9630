"""Signing in by the group's own provider, and accounts that are made by it, for which no password is needed.

An account belongs to a `sub` of the provider, whatever the name is there. It is made at the first sign-in,
within the admission, under a userid that they choose.
"""

import secrets
from typing import Final, NamedTuple

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.people.login_steps import LoginStep
from infra.people.openid import Provider
from infra.sentences import SAY as OF_ACCOUNTS
from services.app.accounts import begin_account
from services.app.admission import admitted, check_signups
from services.app.context import App
from services.app.passwords import is_fresh
from services.app.second_factors import step_over
from services.app.sentences import SAY
from services.app.userids import claimed_userid

_AWAY, _NEW = "provider", "provider-new"

BACK: Final = "/login/provider"
"""Where the provider sends browsers back to."""


class SignIn(NamedTuple):
    """The result of a sign-in at the provider."""

    wanted: str
    """The page that the visitor wanted."""
    account: AccountId | None = None
    step: str = ""
    """For somebody who has no account yet: the text of the step that makes it."""
    name: str = ""
    """The name there."""
    link: str = ""
    """The sign-up link with which they came."""


def provider_of(app: App) -> Provider:
    """Return the provider; `not-found` where there is none."""
    if app.provider is None:
        raise Refusal(Code.NOT_FOUND, OF_ACCOUNTS("no-provider"))
    return app.provider


def begin_sign_in(app: App, site: str, browser: bytes, wanted: str, link: str = "") -> str:
    """Return the address of the provider to which a browser is sent; `not-found`, `unavailable`."""
    provider = provider_of(app)
    nonce, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(48)
    kept = {"nonce": nonce, "verifier": verifier, "wanted": wanted, "link": link}
    state = app.login_steps.add(LoginStep(kind=_AWAY, browser=browser, state=kept))
    return provider.address(f"{site}{BACK}", state, nonce, verifier)


def end_sign_in(app: App, site: str, state: str, code: str, browser: bytes) -> SignIn:
    """Return what the provider's answer leads to.

    `not-found` if this browser asked for none, `unauthorized` if nobody was confirmed, `signups-closed` for somebody
    without an account where none can be made, `unavailable`.
    """
    app.ready()
    provider = provider_of(app)
    step = app.login_steps.take(state, _AWAY, browser)
    if step is None:
        raise step_over()
    kept = step.state
    person = provider.person(code, f"{site}{BACK}", kept["nonce"], kept["verifier"])
    account = app.accounts.of_external(person.digest)
    if account is not None:
        return SignIn(kept["wanted"], account)
    check_signups(app, kept["link"])
    found = {"digest": person.digest.hex()}
    new = app.login_steps.add(LoginStep(kind=_NEW, browser=browser, state=found))
    return SignIn(kept["wanted"], None, new, person.name, kept["link"])


def make_provided_account(
    app: App, step: str, userid: str, browser: bytes, *, link: str = ""
) -> AccountId:
    """Make the account of somebody whom the provider has confirmed.

    `bad-name`, `name-taken` and `signups-closed` leave the step; `not-found` if it is over.
    """
    app.ready()
    found = app.login_steps.read(step, _NEW, browser)
    if found is None:
        raise step_over()
    digest = bytes.fromhex(found.state["digest"])
    with admitted(app, link) as used, claimed_userid(app, userid):
        if app.login_steps.take(step, _NEW, browser) is None:
            raise step_over()
        try:
            account = app.accounts.signup_provided(userid, digest)
        except Refusal:
            # the same text can't be taken again, so the name is chosen for a step like it
            app.login_steps.put_back(step, found)
            raise
    begin_account(app, account, used)
    return account


def choose_password(app: App, account: AccountId, new: str, proven: int, session: str) -> None:
    """Choose the first password of an account that was made by the provider, soon after a sign-in at `proven`, ms.

    `password-needed` later, and where there is one already; `bad-password`.
    """
    app.ready()
    if app.accounts.factors_of(account).has_password or not is_fresh(app.store.now(), proven):
        raise Refusal(Code.PASSWORD_NEEDED, SAY("password-again"))
    app.accounts.reset_password(account, app.accounts.hash_new(account, new), session=session)
