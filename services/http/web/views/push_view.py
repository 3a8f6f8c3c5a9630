"""What the page of an account shows of notifications in browsers."""

from collections.abc import Sequence

import msgspec

from domain.match.events import AccountId
from infra.people.push_subscriptions import PushSubscription
from services.app.context import App
from services.app.push import vapid_key


class PushView(msgspec.Struct, frozen=True):
    """The notifications of an account."""

    key: str
    """The server's public key, to which browsers subscribe; empty where it sends none."""
    browsers: Sequence[PushSubscription]


def push_view(app: App, account: AccountId) -> PushView:
    """Return the notifications of an account."""
    if not app.settings.sends_push:
        return PushView("", ())
    return PushView(vapid_key(app).public, app.push_subscriptions.of(account))
