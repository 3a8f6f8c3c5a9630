"""Accounts and their tokens."""

from typing import Annotated, Final, Literal

import msgspec
from litestar import Response
from litestar.params import JSONBody, PathParameter
from litestar.response import Stream
from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.records import AccountId
from domain.sentences import ENGLISH
from infra.languages.catalogues import languages
from infra.languages.wording import wording
from infra.people.accounts import Profile
from infra.people.tokens import USUAL_DAYS, Scope, Token
from services.app import accounts, preferences
from services.app.context import App
from services.app.passwords import check_recent_password
from services.app.preferences import CHALLENGE_CHOICES, MAIL_CHOICES
from services.http.api.auth import Context, Own
from services.http.api.bodies import RequestBody
from services.http.api.declared import ANY_TOKEN, ANYBODY, ApiRoutes, created, refuses
from services.http.api.values import one_of
from services.words.own_archive import MEDIA_TYPE, archive_name, own_archive

api = ApiRoutes("accounts")

Userid = Annotated[str, msgspec.Meta(max_length=24, examples=["alice"])]
Password = Annotated[str, msgspec.Meta(max_length=200, examples=["mad-hatter"])]
MailAddress = Annotated[str, msgspec.Meta(max_length=254, examples=["alice@example.org"])]
RECENT_PASSWORD: Final = (
    Code.PASSWORD_NEEDED,
    Code.WRONG_PASSWORD,
    Code.TOO_MANY_ATTEMPTS,
    Code.BUSY,
)
"""Errors of a request for which a token alone is not enough once it is old."""

Addresses = Annotated[tuple[MailAddress, ...], msgspec.Meta(max_length=5)]


class Signup(RequestBody, frozen=True):
    """A new account."""

    userid: Userid
    password: Password
    addresses: Addresses = ()
    """Mail addresses of the account; it may have none."""
    link: Annotated[str, msgspec.Meta(max_length=100)] = ""
    """The text of a sign-up link, on a server where people sign up only with one."""


class Address(msgspec.Struct, frozen=True):
    """A mail address of an account."""

    address: str
    verified: bool
    """True once its owner has sent back the code that was mailed to it."""


class OwnAccount(msgspec.Struct, frozen=True):
    """An account as its owner sees it."""

    userid: str
    created: int
    """Time at which the account was created, in ms since 1970."""
    language: Annotated[str, one_of(languages())]
    """The language of help."""
    notify: Annotated[str, one_of(MAIL_CHOICES)]
    """When mail is sent: `move` at once, `daily` once a day, or `none`."""
    signed_off: bool
    """True if the account gets no mail at all, whatever `notify` is."""
    challenges: Annotated[str, one_of(CHALLENGE_CHOICES)]
    """Challenges by name that are accepted: from `anyone`, from `known` players, or from `none`."""
    addresses: tuple[Address, ...]
    displays: dict[str, str]
    """Names of text displays by game, where they differ from the first display of the game."""
    arbiter: bool
    """True if the account may send messages to everybody."""
    notice: str = ""
    """Why no codes were sent to the unverified addresses, in a sentence; empty if they were."""
    receipts: bool = False
    """True if mail has receipts, and each accepted move by mail is answered by itself."""


class Preferences(RequestBody, frozen=True):
    """Preferences to change; those that are left out or null stay."""

    language: Annotated[str, msgspec.Meta(max_length=8, examples=["de"])] | None = None
    """The language of help: `en` or `de`."""
    notify: Annotated[str, msgspec.Meta(max_length=8, examples=["daily"])] | None = None
    """When mail is sent: `move` at once, `daily` once a day, or `none`."""
    challenges: Annotated[str, msgspec.Meta(max_length=8, examples=["known"])] | None = None
    """Challenges by name to accept: from `anyone`, from `known` players, or from `none`."""
    displays: Annotated[dict[str, str], msgspec.Meta(max_length=50)] | None = None
    """Names of text displays by game; games that are left out get their first display."""
    receipts: bool | None = None
    """Whether mail has receipts, and each accepted move by mail is answered by itself."""
    password: Password = ""
    """Required to change `notify` or `challenges` if your token is older than ten minutes."""


class NewPassword(RequestBody, frozen=True):
    """A change of the password."""

    old: Password
    new: Password
    tokens: Literal["keep", "end"] = "end"
    """`keep` for tokens to stay valid; else all are revoked, including the one of this request."""


class Confirmed(RequestBody, frozen=True):
    """The password, because a token alone is not enough to delete an account."""

    password: Password


class NewAddresses(RequestBody, frozen=True):
    """All mail addresses of the account."""

    addresses: Addresses
    """The new addresses; the account loses all others."""
    password: Password = ""
    """Required if your token is older than ten minutes."""


class NewToken(RequestBody, frozen=True):
    """A token to make."""

    userid: Userid
    password: Password
    label: Annotated[str, msgspec.Meta(min_length=1, max_length=60, examples=["my bot"])]
    scopes: Annotated[tuple[Scope, ...], msgspec.Meta(min_length=1, max_length=len(Scope))]
    days: Annotated[int, msgspec.Meta(ge=1, le=3650)] | None = USUAL_DAYS
    """Lifetime in days; null for a token that is valid until it is revoked."""
    code: Annotated[str, msgspec.Meta(max_length=40)] = ""
    """A code of the account's app, or a recovery code; required if the account has a second factor."""


class ShownToken(msgspec.Struct, frozen=True):
    """A token, without its text."""

    id: str
    label: str
    scopes: tuple[Scope, ...]
    created: int
    """Time at which it was made, in ms since 1970."""
    last_used: int | None
    """Start of the day of its last use, in ms since 1970; null if it was never used."""
    expires: int | None
    """Time at which it expires, in ms since 1970; null for a token that is valid until it is
    revoked."""
    app: str = ""
    """Client id of the app that has it; empty for a token that you have made."""


class IssuedToken(msgspec.Struct, frozen=True):
    """A new token; its text is shown only once."""

    token: str
    """The text to send as `Authorization: Bearer`."""
    id: str
    label: str
    scopes: tuple[Scope, ...]
    created: int
    """Time at which it was made, in ms since 1970."""
    expires: int | None
    """Time at which it expires, in ms since 1970; null for a token that is valid until it is
    revoked."""


@api.post("/api/accounts", "Sign up", ANYBODY, for_guests=True, located=True, status_code=201)
@refuses(
    Code.BAD_NAME,
    Code.BAD_PASSWORD,
    Code.BAD_ADDRESS,
    Code.NAME_TAKEN,
    Code.SIGNUPS_CLOSED,
    Code.BUSY,
)
def sign_up(data: JSONBody[Signup], context: Context) -> Response[OwnAccount]:
    """Create an account."""
    account = accounts.sign_up(
        context.app, data.userid, data.password, data.addresses, link=data.link
    )
    made = _with_notice(context.app, account)
    return created(made, f"/api/players/{made.userid}")


@api.get("/api/account", "Your account", Scope.READ)
def show_account(own: Own) -> OwnAccount:
    """Return the account of the token."""
    return _with_notice(own.app, own.account)


@api.patch("/api/account", "Change preferences", Scope.ACCOUNT)
@refuses(Code.BAD_OPTION, Code.UNKNOWN_GAME, *RECENT_PASSWORD)
def change_account(data: JSONBody[Preferences], own: Own) -> OwnAccount:
    """Change the language of help, mail, receipts in mail, challenges by name, and displays.

    For mail and challenges a token alone is enough for ten minutes after it was made; later the password
    is required, too.
    """
    wanted = preferences.PreferenceChanges(
        data.language, data.notify, data.challenges, data.displays, receipts=data.receipts
    )
    account = own.account
    if data.notify is not None or data.challenges is not None:
        check_recent_password(own.app, account, data.password, own.token.created)
    return _account_json(preferences.change_preferences(own.app, account, wanted))


@api.put("/api/account/addresses", "Replace the mail addresses", Scope.ACCOUNT)
@refuses(Code.BAD_ADDRESS, *RECENT_PASSWORD)
def change_addresses(data: JSONBody[NewAddresses], own: Own) -> OwnAccount:
    """Replace the mail addresses; the old ones get a mail about it.

    A token alone is enough for ten minutes after it was made; later the password is required, too.
    """
    account = own.account
    check_recent_password(own.app, account, data.password, own.token.created)
    accounts.replace_addresses(own.app, account, data.addresses)
    return _with_notice(own.app, account)


@api.post("/api/account/password", "Change password", Scope.ACCOUNT)
@refuses(Code.BAD_PASSWORD, Code.WRONG_PASSWORD, Code.TOO_MANY_ATTEMPTS, Code.BUSY)
def change_password(data: JSONBody[NewPassword], own: Own) -> None:
    """Replace the password, and end all browser sessions and, unless they are to be kept, all tokens.

    Notifications of browsers end with the session or the token that allowed them, a link for a new password
    ends, and the e-mails about matches so far can't be answered any more. A mail says so.
    """
    account, end = own.account, data.tokens == "end"
    accounts.change_password(own.app, account, data.old, data.new, tokens=end, proven=True)


@api.post("/api/account/logout", "Log out everywhere", Scope.ACCOUNT)
@refuses(Code.BUSY)
def log_out_everywhere(own: Own) -> None:
    """End all browser sessions and revoke all tokens, including the one of this request.

    Notifications of browsers and a link for a new password end, too, and the e-mails about matches so far
    can't be answered any more.
    """
    accounts.log_out_everywhere(own.app, own.account)


@api.get(
    "/api/account/export",
    "All of your data",
    Scope.ACCOUNT,
    weight=50,
    media_type=MEDIA_TYPE,
    description="A ZIP file with all that the server has about the account: JSON files, and each of its matches with "
    "its board as a picture and as text. It is made while it is sent.",
)
def export_account(own: Own) -> Stream:
    """Return all data of the account of the token."""
    profile = _profile_of(own.app, own.account)
    name = archive_name(profile.name)
    return Stream(
        own_archive(own.app, own.account, wording(profile.language)),
        media_type=MEDIA_TYPE,
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


@api.post("/api/account/deletion", "Delete account", Scope.ACCOUNT)
@refuses(Code.WRONG_PASSWORD, Code.TOO_MANY_ATTEMPTS, Code.BUSY)
def delete_account(data: JSONBody[Confirmed], own: Own) -> None:
    """Delete the account and all personal data for good; matches stay."""
    name = _profile_of(own.app, own.account).name
    accounts.delete_account(own.app, name, data.password, proven=True)


@api.post("/api/tokens", "Create token", ANYBODY, for_guests=True, tag="tokens", status_code=201)
@refuses(
    Code.UNKNOWN_USER,
    Code.WRONG_PASSWORD,
    Code.SUSPENDED,
    Code.CODE_NEEDED,
    Code.WRONG_CODE,
    Code.TOO_MANY_ATTEMPTS,
    Code.TOO_LONG,
    Code.TOO_MANY,
    Code.BUSY,
)
def make_token(data: JSONBody[NewToken], context: Context) -> IssuedToken:
    """Return a new token for a userid and its password, and a code if the account has a second factor."""
    account = accounts.authenticate(context.app, data.userid, data.password, data.code)
    made = context.app.tokens.issue(account, data.label, data.scopes, data.days)
    accounts.end_if_suspended(context.app, account)
    return IssuedToken(made.text, made.id, made.label, made.scopes, made.created, made.expires)


@api.get("/api/tokens", "Your tokens", Scope.ACCOUNT, tag="tokens")
def list_tokens(own: Own) -> list[ShownToken]:
    """Return the account's tokens, the newest first."""
    return [token_json(token) for token in own.app.tokens.list_of(own.account)]


@api.delete("/api/tokens/{token:str}", "Revoke a token", ANY_TOKEN, tag="tokens")
@refuses(Code.NOT_FOUND)
def revoke_token(
    token: Annotated[str, PathParameter(pattern="^[0-9a-f]{16}$", description="the token's id")],
    own: Own,
) -> None:
    """Revoke a token at once; with that of an app ends what you have let the app do by it.

    Revoking another token than that of the request needs the scope `account`.
    """
    account = own.account if token == own.token.id else own.require(Scope.ACCOUNT)
    accounts.revoke_token(own.app, account, token)


def token_json(one: Token) -> ShownToken:
    """Return a token as JSON shows it."""
    return ShownToken(
        one.id, one.label, one.scopes, one.created, one.last_used, one.expires, one.app
    )


def _profile_of(app: App, account: AccountId) -> Profile:
    found = app.accounts.record_of(account)
    if found is None:
        raise Refusal(Code.UNKNOWN_TOKEN, "the account was deleted at this moment")
    return found


def _with_notice(app: App, account: AccountId) -> OwnAccount:
    profile = _profile_of(app, account)
    withheld = app.accounts.codes.withheld(account)
    notice = withheld.in_language(wording(profile.language)) if withheld else ""
    return replace(_account_json(profile), notice=notice)


def _account_json(profile: Profile) -> OwnAccount:
    return OwnAccount(
        userid=profile.name,
        created=profile.created,
        language=profile.language or ENGLISH.code,
        notify=profile.notify,
        signed_off=profile.signed_off,
        challenges=profile.challenges,
        addresses=tuple(Address(a.address, a.verified) for a in profile.addresses),
        displays=dict(profile.displays),
        arbiter=profile.arbiter,
        receipts=profile.receipts,
    )
