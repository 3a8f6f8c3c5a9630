"""Gives messages to push services, by HTTPS, to the services of the settings only.

The HTTP client, which is large, is imported for the first message.
"""

import time
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Final

from infra.mail.push import PushMessage, VapidKey, encrypt
from infra.people.push_subscriptions import PushSubscription
from infra.settings.push_services import is_allowed

if TYPE_CHECKING:
    import httpx

TIMEOUT_SECONDS: Final = 5.0

_GONE: Final = (404, 410)
_TOO_MANY: Final = 429
_SUCCESS: Final = range(200, 300)
_SERVER_ERROR: Final = 500


class PushStatus(StrEnum):
    """The fate of a message."""

    SENT = "sent"
    LATER = "later"
    """The service is busy, or fails."""
    AWAY = "away"
    """The service can't be reached."""
    GONE = "gone"
    """The browser does not want messages any more."""
    REFUSED = "refused"
    """The service refuses it, and would refuse it again."""


class PushClient:
    """Sends messages; thread-safe."""

    def __init__(self, key: VapidKey, services: tuple[str, ...]) -> None:
        self._key = key
        self._services = services

    @cached_property
    def _http(self) -> "httpx.Client":
        import httpx  # noqa: PLC0415 - see above

        # no redirects, because they would lead past the guard
        return httpx.Client(timeout=TIMEOUT_SECONDS, follow_redirects=False, trust_env=False)

    def close(self) -> None:
        """Close the connections."""
        if "_http" in vars(self):
            self._http.close()

    def send(self, to: PushSubscription, message: PushMessage) -> PushStatus:
        """Send a message to the service of a browser; a service that fails raises nothing."""
        import httpx  # noqa: PLC0415 - see above

        if not is_allowed(to.endpoint, self._services):
            return PushStatus.GONE  # the setting has changed since
        try:
            body = encrypt(message.text, to.key, to.auth)
        except ValueError:
            return PushStatus.REFUSED
        headers = {
            "Authorization": self._key.authorization(to.endpoint, time.time()),
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "TTL": str(message.seconds),
            "Topic": message.topic,
            "Urgency": "high" if message.urgent else "normal",
        }
        try:
            # the body of the answer is never read
            with self._http.stream("POST", to.endpoint, content=body, headers=headers) as answer:
                return _status_of(answer.status_code)
        except httpx.HTTPError:
            return PushStatus.AWAY
        except (httpx.InvalidURL, UnicodeError):  # an address that no program can ask
            return PushStatus.REFUSED


def _status_of(code: int) -> PushStatus:
    if code in _GONE:
        return PushStatus.GONE
    if code == _TOO_MANY or code >= _SERVER_ERROR:
        return PushStatus.LATER
    return PushStatus.SENT if code in _SUCCESS else PushStatus.REFUSED
