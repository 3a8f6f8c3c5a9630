"""Notifications in browsers: which browsers of an account show them."""

from base64 import urlsafe_b64decode
from binascii import Error
from typing import Annotated, Final

import msgspec

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra.log.key_files import keys_folder
from infra.mail.push_encryption import AUTH_BYTES, read_public_key
from infra.mail.vapid import VapidKey
from infra.people.push_subscriptions import PushSubscription
from infra.settings.push_services import is_allowed, read_push_services
from services.app.context import App
from services.app.sentences import SAY

MOST_LABEL: Final = 100


def vapid_key(app: App) -> VapidKey:
    """Return the key that browsers subscribe to; `MacKeyError` if the key it is derived from is missing."""
    return VapidKey.in_folder(keys_folder(app.settings), app.settings.site or "")


class BrowserKeys(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The keys of a browser's subscription, in base64 for URLs, by the names that browsers use."""

    p256dh: Annotated[str, msgspec.Meta(max_length=200)]
    auth: Annotated[str, msgspec.Meta(max_length=200)]


def subscribe(
    app: App,
    account: AccountId,
    endpoint: str,
    keys: BrowserKeys,
    *,
    label: str,
    login: str,
) -> PushSubscription:
    """Let a browser show notifications, while the session or the token of this id lasts.

    `bad-option` for an endpoint at no known push service, for unusable keys, and where notifications are off;
    `too-many`; `unknown-user`.
    """
    if not app.settings.sends_push:
        raise Refusal(Code.BAD_OPTION, SAY("push-off"))
    if not is_allowed(endpoint, read_push_services(app.settings.push_services)):
        raise Refusal(Code.BAD_OPTION, SAY("push-service"))
    one = PushSubscription(
        endpoint,
        _public_key(keys.p256dh),
        _secret(keys.auth),
        label.strip()[:MOST_LABEL],
        app.store.now(),
        login,
    )
    app.push_subscriptions.add(account, one)
    return one


def unsubscribe(app: App, account: AccountId, id_: str) -> None:
    """End the notifications of a browser; one that shows none is no error."""
    app.push_subscriptions.remove(account, id_)


def _public_key(text: str) -> bytes:
    data = _decode(text)
    try:
        read_public_key(data)
    except ValueError:
        raise _bad_keys() from None
    return data


def _secret(text: str) -> bytes:
    data = _decode(text)
    if len(data) != AUTH_BYTES:
        raise _bad_keys()
    return data


def _decode(text: str) -> bytes:
    try:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (Error, ValueError):
        raise _bad_keys() from None


def _bad_keys() -> Refusal:
    return Refusal(Code.BAD_OPTION, SAY("push-keys"))
