"""Accounts: sign up, log in, change and delete.

A function that takes a password checks the server's durability first, because even a right password
changes stored data. So nothing that an account does later needs to check it again.
"""

from collections.abc import Sequence
from functools import partial

from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra.mail.erasure import erase_mail
from infra.people.accounts import Profile
from infra.people.sessions import FreshSession, Session
from infra.projections.erasure import erase_projections
from services.app.context import App
from services.app.sentences import SAY


def sign_up(app: App, userid: str, password: str, addresses: Sequence[str] = ()) -> AccountId:
    """Make an account; `bad-name`, `bad-password`, `bad-address` or `name-taken`."""
    app.ready()
    return app.accounts.signup(userid, password, addresses)


def authenticate(app: App, userid: str, password: str) -> AccountId:
    """Return the account whose password this is; refuses as `Accounts.verify` does."""
    app.ready()
    return app.accounts.verify(userid, password)


def own_profile(app: App, account: AccountId) -> Profile:
    """Return the profile of an account that has just been proven."""
    found = app.accounts.record_of(account)
    if found is None:
        raise Refusal(Code.UNKNOWN_USER, SAY("deleted"))
    return found


def change_password(
    app: App, account: AccountId, old: str, new: str, *, session: str = "", tokens: bool = False
) -> None:
    """Replace a password, and end all sessions but the one of this id, and if asked all tokens."""
    app.ready()
    name = own_profile(app, account).name
    app.accounts.change_password(name, old, new, session=session, tokens=tokens)


def add_addresses(app: App, account: AccountId, addresses: Sequence[str]) -> None:
    """Add mail addresses to those that an account has; `bad-address`."""
    app.accounts.add_addresses_of(account, addresses)


def replace_addresses(app: App, account: AccountId, addresses: Sequence[str]) -> None:
    """Replace all mail addresses of an account; `bad-address`. Mail to the old ones says so."""
    app.accounts.change_addresses_of(account, addresses)


def prove_address(app: App, account: AccountId, code: str) -> str:
    """Return the address that a code proves; `bad-address` for a code that proves nothing."""
    return app.standing.prove(account, code)


def sign_off(app: App, account: AccountId) -> None:
    """End all mail to an account."""
    app.accounts.change_of(account, lambda record: replace(record, signed_off=True))


def delete_account(app: App, userid: str, password: str) -> None:
    """Erase an account and all personal data, for good; its matches stay.

    Repeated after a crash, it erases what is left.
    """
    app.ready()
    app.accounts.delete(userid, password, partial(erase_account, app))


def erase_account(app: App, account: AccountId) -> None:
    """Erase everything stored about an account except its record; safe to repeat."""
    for part in (
        app.messages,
        app.tokens,
        app.challenges,
        app.blocks,
        app.follows,
        app.starts,
        app.seen_texts,
        app.sessions,
        app.notes,
        app.push_subscriptions,
        app.statements,
    ):
        part.forget(account)
    erase_mail(app.people, account)
    erase_projections(app.people, account)


# sessions


def open_session(
    app: App, account: AccountId, browser: str, former: Session | None = None
) -> FreshSession:
    """Open a session, and end the one that the browser had, so that its id is no longer valid."""
    close_session(app, former)
    return app.sessions.open(account, browser)


def close_session(app: App, session: Session | None) -> None:
    """End a session, if there is one."""
    if session is not None:
        app.sessions.end(session.account, session.id)


def end_session(app: App, account: AccountId, id_: str) -> None:
    """End one of an account's sessions; `not-found` for an id that it does not have."""
    if not app.sessions.end(account, id_):
        raise Refusal(Code.NOT_FOUND, SAY("no-session"))


def log_out_everywhere(app: App, account: AccountId) -> None:
    """End all sessions and all tokens of an account."""
    app.accounts.end_access(account, tokens=True)


# tokens


def revoke_token(app: App, account: AccountId, id_: str) -> None:
    """End a token, at once and everywhere; `not-found` for an id that the account does not have."""
    if not app.tokens.revoke(account, id_):
        raise Refusal(Code.NOT_FOUND, SAY("no-token"))
