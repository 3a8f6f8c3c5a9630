"""Notifications in browsers: the browsers that show them for an account."""

from typing import Annotated

import msgspec
from litestar import delete, get, post
from litestar.di import NamedDependency
from litestar.params import JSONBody, PathParameter

from domain.errors import Code
from infra.people.push_subscriptions import PushSubscription
from infra.people.tokens import Scope
from infra.push.push_services import LONGEST_ENDPOINT
from services.app.push import MOST_LABEL, BrowserKeys, subscribe, unsubscribe, vapid_key
from services.app.recent_password import check_recent_password
from services.http.api.auth import ACCOUNT_SCOPE, READ_SCOPE, Caller
from services.http.api.declared_errors import declare_errors
from services.http.api.routes.accounts import ACCOUNTS_TAG, RECENT_PASSWORD, Password
from services.http.context import ApiContext

BrowserId = Annotated[
    str, PathParameter(max_length=32, description="the id of the browser in the list")
]


class NewBrowser(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A subscription, as `PushSubscription.toJSON()` of a browser gives it."""

    endpoint: Annotated[str, msgspec.Meta(max_length=LONGEST_ENDPOINT)]
    keys: BrowserKeys
    label: Annotated[str, msgspec.Meta(max_length=MOST_LABEL)] = ""
    expiration_time: int | None = msgspec.field(default=None, name="expirationTime")
    """Browsers give it, and it is not used."""
    password: Password = ""
    """Required if your token is older than ten minutes."""


class PushBrowser(msgspec.Struct, frozen=True):
    """A browser that shows notifications."""

    id: str
    label: str
    since: int
    """Milliseconds since 1970."""


class Push(msgspec.Struct, frozen=True):
    """The notifications of an account."""

    key: str
    """The server's public key, to which browsers subscribe; empty where it sends no notifications."""
    browsers: tuple[PushBrowser, ...]
    """The newest first."""


@get(
    "/api/account/push",
    sync_to_thread=True,
    security=READ_SCOPE,
    tags=[ACCOUNTS_TAG],
    opt=declare_errors(),
    summary="Browsers that show your notifications",
)
def list_push(context: NamedDependency[ApiContext], caller: NamedDependency[Caller]) -> Push:
    """Return the browsers, and the key that a further one subscribes to."""
    account = caller.require(Scope.READ)
    app = context.app
    key = vapid_key(app).public if app.settings.sends_push else ""
    return Push(key, tuple(map(_browser, app.push_subscriptions.lasting(account))))


@post(
    "/api/account/push",
    status_code=201,
    sync_to_thread=True,
    security=ACCOUNT_SCOPE,
    tags=[ACCOUNTS_TAG],
    opt=declare_errors(
        Code.BAD_OPTION,
        Code.TOO_MANY,
        *RECENT_PASSWORD,
    ),
    summary="Let a browser show notifications",
)
def add_push(
    data: JSONBody[NewBrowser],
    context: NamedDependency[ApiContext],
    caller: NamedDependency[Caller],
) -> PushBrowser:
    """Add a browser. The endpoint must belong to a push service that this server knows.

    The browser shows notifications while the token lasts. A token alone is enough for ten minutes after
    it was made; later the password is required, too.
    """
    account, app = caller.require(Scope.ACCOUNT), context.app
    check_recent_password(app, account, data.password, caller.token.created)
    login = caller.token.id
    made = subscribe(app, account, data.endpoint, data.keys, label=data.label, login=login)
    return _browser(made)


@delete(
    "/api/account/push/{browser:str}",
    sync_to_thread=True,
    security=ACCOUNT_SCOPE,
    tags=[ACCOUNTS_TAG],
    opt=declare_errors(),
    summary="End the notifications of a browser",
)
def remove_push(
    browser: BrowserId, context: NamedDependency[ApiContext], caller: NamedDependency[Caller]
) -> None:
    """Remove a browser; one that is not there is no error."""
    unsubscribe(context.app, caller.require(Scope.ACCOUNT), browser)


def _browser(one: PushSubscription) -> PushBrowser:
    return PushBrowser(one.id, one.label, one.since)
