"""Logging in with a second factor, or with a passkey alone; and how an account gets and loses them.

A log-in has up to two requests: a password or the group's provider, then a code of an app or a recovery code. Between
them is a step (`infra.people.login_steps`), which ends when access to the account does. A passkey needs no other proof.

What is changed here was confirmed by a password before: see `services.app.passwords.check_recent_password`.
"""

import hmac
import json
from base64 import b32decode, b32encode, urlsafe_b64decode
from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.people.accounts.record import Account, Passkey
from infra.people.accounts.second_factors import (
    MOST_PASSKEYS,
    digests,
    new_recovery_codes,
    new_secret,
    seal,
    step_of_code,
    without_idle_codes,
)
from infra.people.login_steps import LoginStep
from infra.people.rate_limits import SecurityEvent, note_security
from infra.sentences import SAY
from services.app.accounts import authenticate, own_profile
from services.app.context import App

if TYPE_CHECKING:
    from fido2.server import Fido2Server

_LOGIN, _PASSKEY, _NEW_PASSKEY, _APP = "login", "passkey", "new-passkey", "app"
_LONGEST_ANSWER: Final = 20_000
_LABEL_LENGTH: Final = 60


class Entry(NamedTuple):
    """How far a log-in has come."""

    account: AccountId
    step: str = ""
    """The text of the step that asks for a code; empty if nothing more is needed."""


class NewApp(NamedTuple):
    """An app that is being set up."""

    step: str
    secret: str
    """For typing it in, in base32."""
    uri: str
    """For the picture that an app reads."""


class PasskeyQuestion(NamedTuple):
    """The request to a browser to use or make a passkey."""

    step: str
    options: dict[str, Any]
    """As `PublicKeyCredential.parseRequestOptionsFromJSON` and its sibling take them."""


class PasskeyAnswer(NamedTuple):
    """The answer of a browser."""

    step: str
    answer: str
    """The JSON of its credential."""


# logging in


def log_in(app: App, userid: str, password: str, browser: bytes) -> Entry:
    """Check a password, and return how far that leads; refuses as `authenticate` does."""
    return go_on(app, authenticate(app, userid, password, proven=True), browser)


def go_on(app: App, account: AccountId, browser: bytes) -> Entry:
    """Return how far the proof of an account by a password or the provider leads; `suspended`, `unknown-user`."""
    record = app.accounts.passwordless_record(account)
    if not record.needs_code:
        return Entry(account)
    step = LoginStep(kind=_LOGIN, browser=browser, account=account, seal=_seal_of(record))
    return Entry(account, app.login_steps.add(step))


def finish_login(app: App, step: str, code: str, browser: bytes) -> AccountId:
    """Return the account of a log-in, whose code is used up.

    `wrong-code`, `code-needed` and `too-many-attempts` leave the step; `not-found` if it is over.
    """
    app.ready()
    found = _of_account(app.login_steps.read(step, _LOGIN, browser))
    _check_seal(app, found)
    app.accounts.use_code(found.account, code)
    _of_account(app.login_steps.take(step, _LOGIN, browser))
    return found.account


def _seal_of(record: Account) -> bytes:
    """Return what changes when all access to an account ends."""
    return sha256(f"{record.password} {record.mail_turn}".encode()).digest()


def _check_seal(app: App, step: LoginStep) -> None:
    record = app.accounts.passwordless_record(step.account)
    if not hmac.compare_digest(step.seal, _seal_of(record)):
        raise step_over()


def _of_account(step: LoginStep | None, account: AccountId | None = None) -> LoginStep:
    """Return a step that is there, and is that of an account if one is named; `not-found`."""
    if step is None or account not in (None, step.account):
        raise step_over()
    return step


def step_over() -> Refusal:
    """Return the refusal of a step that is over, was taken, or is another browser's: `not-found`."""
    return Refusal(Code.NOT_FOUND, SAY("step-over"))


# an app


def begin_app(app: App, account: AccountId, browser: bytes, *, issuer: str) -> NewApp:
    """Return the secret for an app, which counts once a code of it was sent; `issuer` names the server in the app."""
    secret = b32encode(new_secret()).decode()
    step = LoginStep(kind=_APP, browser=browser, account=account, state={"secret": secret})
    return app_in_setup(app, account, app.login_steps.add(step), browser, issuer=issuer)


def app_in_setup(app: App, account: AccountId, step: str, browser: bytes, *, issuer: str) -> NewApp:
    """Return the app that is being set up, once more; `not-found`."""
    secret = _of_account(app.login_steps.read(step, _APP, browser), account).state["secret"]
    label = quote(f"{issuer}:{own_profile(app, account).name}")
    query = urlencode({"secret": secret, "issuer": issuer}, quote_via=quote)
    return NewApp(step, secret, f"otpauth://totp/{label}?{query}")


def confirm_app(app: App, account: AccountId, step: str, code: str, browser: bytes) -> list[str]:
    """Turn codes of an app on, and return recovery codes, if there are none yet; `wrong-code`, `not-found`."""
    app.ready()
    found = _of_account(app.login_steps.read(step, _APP, browser), account)
    secret = b32decode(found.state["secret"])
    at = step_of_code(secret, code, app.store.now())
    if at is None:
        raise Refusal(Code.WRONG_CODE, SAY("wrong-code"))
    _of_account(app.login_steps.take(step, _APP, browser))
    sealed = seal(app.accounts.macs, account, secret)
    return _add(app, account, lambda old: replace(old, totp=sealed, totp_step=at))


def remove_app(app: App, account: AccountId) -> None:
    """Turn codes of an app off; recovery codes go with the last factor."""
    _change(app, account, lambda old: without_idle_codes(replace(old, totp=b"", totp_step=0)))


def renew_recovery_codes(app: App, account: AccountId) -> list[str]:
    """Return new recovery codes, in place of those that there were; `not-found` without another factor."""
    codes = new_recovery_codes()

    def renewed(old: Account) -> Account:
        if not (old.totp or old.passkeys):
            raise Refusal(Code.NOT_FOUND, SAY("step-over"))
        return replace(old, recovery=digests(codes))

    _change(app, account, renewed)
    return codes


def _change(app: App, account: AccountId, change: Callable[[Account], Account]) -> None:
    """Change the second factors of an account, and note when; mail to the proven addresses says so."""
    now = app.store.now()
    app.accounts.change_of(account, lambda old: replace(change(old), factors_changed=now))


def _add(app: App, account: AccountId, change: Callable[[Account], Account]) -> list[str]:
    """Add a factor, and recovery codes if there are none; return these."""
    made: list[str] = []

    def added(old: Account) -> Account:
        new = change(old)
        made[:] = [] if old.recovery else new_recovery_codes()
        return replace(new, recovery=digests(made)) if made else new

    _change(app, account, added)
    return made


# passkeys


def begin_passkey(app: App, account: AccountId, site: str, browser: bytes) -> PasskeyQuestion:
    """Ask a browser of the account for a new passkey, at a site such as https://play.example.org; `too-many`."""
    from fido2.webauthn import (  # noqa: PLC0415 - slow to import, and seldom needed
        PublicKeyCredentialUserEntity,
        ResidentKeyRequirement,
        UserVerificationRequirement,
    )

    known = app.accounts.factors_of(account).passkeys
    _check_room(known)
    name = own_profile(app, account).name
    options, state = _server(site).register_begin(
        PublicKeyCredentialUserEntity(name=name, id=account, display_name=name),
        [_credential(one) for one in known],
        resident_key_requirement=ResidentKeyRequirement.REQUIRED,
        user_verification=UserVerificationRequirement.REQUIRED,
    )
    return _ask(app, _NEW_PASSKEY, browser, account, options, state)


def add_passkey(
    app: App, account: AccountId, site: str, answered: PasskeyAnswer, browser: bytes, label: str
) -> list[str]:
    """Add the passkey that a browser has made, and return recovery codes, if there are none yet.

    `wrong-code` for an answer to something else; `not-found`, `too-many`.
    """
    app.ready()
    found = _of_account(app.login_steps.take(answered.step, _NEW_PASSKEY, browser), account)
    try:
        made = _server(site).register_complete(found.state, _read(answered.answer))
    except _bad_answers() as error:
        raise _refused() from error
    credential = made.credential_data
    assert credential is not None
    key = Passkey(
        credential.credential_id,
        bytes(credential),
        label[:_LABEL_LENGTH],
        app.store.now(),
        made.counter,
    )

    def added(old: Account) -> Account:
        _check_room(old.passkeys)
        return replace(old, passkeys=(*old.passkeys, key))

    return _add(app, account, added)


def remove_passkey(app: App, account: AccountId, id_: str) -> None:
    """Remove a passkey by its id in hex; `not-found`. Recovery codes go with the last factor."""

    def removed(old: Account) -> Account:
        left = tuple(one for one in old.passkeys if one.id.hex() != id_)
        if len(left) == len(old.passkeys):
            raise Refusal(Code.NOT_FOUND, SAY("no-passkey"))
        return without_idle_codes(replace(old, passkeys=left))

    _change(app, account, removed)


def ask_passkey(app: App, site: str, browser: bytes) -> PasskeyQuestion:
    """Ask a browser for any passkey that it has for a site."""
    from fido2.webauthn import UserVerificationRequirement  # noqa: PLC0415 - as above

    options, state = _server(site).authenticate_begin(
        user_verification=UserVerificationRequirement.REQUIRED
    )
    return _ask(app, _PASSKEY, browser, b"", options, state)


def log_in_by_passkey(app: App, site: str, step: str, answer: str, browser: bytes) -> AccountId:
    """Return the account whose passkey has signed; `wrong-code`, `not-found`, `suspended`."""
    from fido2.webauthn import AuthenticationResponse  # noqa: PLC0415 - as above

    app.ready()
    found = _of_account(app.login_steps.take(step, _PASSKEY, browser))
    try:
        fields = _read(answer)
        account = urlsafe_b64decode(fields["response"]["userHandle"] + "==")
        record = app.accounts.passwordless_record(account)
        keys = {one.id: one for one in record.passkeys}
        known = [_credential(one) for one in keys.values()]
        signed = _server(site).authenticate_complete(found.state, known, fields)
        count = AuthenticationResponse.from_dict(fields).response.authenticator_data.counter
        used = keys[signed.credential_id]
        _check_count(used, count)
    except Refusal as reason:
        if reason.code == Code.SUSPENDED:
            raise
        raise _refused() from reason
    except _bad_answers() as error:
        note_security(SecurityEvent.LOGIN_FAILED, None, why=Code.WRONG_CODE)
        raise _refused() from error
    if count:
        _count(app, account, used.id, count)
    note_security(SecurityEvent.LOGIN, account)
    return account


def _check_count(used: Passkey, count: int) -> None:
    if (count or used.count) and count <= used.count:
        raise ValueError("the counter of the device has gone back, so there are two of it")


def _count(app: App, account: AccountId, id_: bytes, count: int) -> None:
    def counted(old: Account) -> Account:
        # a passkey that was removed meanwhile lets nobody in
        known = {one.id: one for one in old.passkeys}
        if id_ not in known or known[id_].count >= count:
            raise _refused()
        known[id_] = replace(known[id_], count=count)
        return replace(old, passkeys=tuple(known.values()))

    app.accounts.change_of(account, counted)


def _ask(
    app: App, kind: str, browser: bytes, account: AccountId, options: Any, state: dict[str, Any]
) -> PasskeyQuestion:
    kept = {name: str(value) for name, value in state.items()}
    step = LoginStep(kind=kind, browser=browser, account=account, state=kept)
    return PasskeyQuestion(app.login_steps.add(step), dict(options)["publicKey"])


def _server(site: str) -> "Fido2Server":
    """Return the library's part for a site; `unavailable` without https, but on this machine."""
    from fido2.server import Fido2Server  # noqa: PLC0415 - as above
    from fido2.webauthn import PublicKeyCredentialRpEntity  # noqa: PLC0415

    if not can_have_passkeys(site):
        raise Refusal(Code.UNAVAILABLE, SAY("passkeys-away"))
    host = urlsplit(site).hostname or ""
    return Fido2Server(
        PublicKeyCredentialRpEntity(name=host, id=host), verify_origin=lambda one: one == site
    )


def can_have_passkeys(site: str) -> bool:
    """Return whether browsers have passkeys for a site: with https, or on this machine."""
    return site.startswith("https://") or urlsplit(site).hostname == "localhost"


def _credential(one: Passkey) -> Any:
    from fido2.webauthn import AttestedCredentialData  # noqa: PLC0415 - as above

    return AttestedCredentialData(one.data)


def _read(answer: str) -> dict[str, Any]:
    if len(answer) > _LONGEST_ANSWER:
        raise ValueError("the answer is too long")
    found: dict[str, Any] = json.loads(answer)
    return found


def _check_room(known: tuple[Passkey, ...]) -> None:
    if len(known) >= MOST_PASSKEYS:
        raise Refusal(Code.TOO_MANY, SAY("passkeys", most=MOST_PASSKEYS))


def _refused() -> Refusal:
    return Refusal(Code.WRONG_CODE, SAY("passkey-refused"))


def _bad_answers() -> tuple[type[Exception], ...]:
    """Return the errors about an answer that a stranger has made up; all others are faults of the server."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - as above
    from fido2.attestation.base import InvalidAttestation  # noqa: PLC0415

    of_form = (ValueError, LookupError, TypeError, AttributeError)
    return (InvalidAttestation, InvalidSignature, *of_form)
