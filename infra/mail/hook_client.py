"""Sends to hooks: signed JSON by the Standard Webhooks specification, or sentences to the chat of a group by apprise.

Both go through the guard of `infra.mail.guarded_http`: the plug-ins of apprise get it in place of `requests`, so that
nothing that a player writes into an address leads past it. A module of its own, because both libraries are slow to
import and one process sends.
"""

import logging
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final

import requests
from apprise import AppriseAsset, NotifyFormat
from apprise.exception import AppriseException
from apprise.plugins import discord, ntfy, slack, telegram
from apprise.plugins.matrix import base as matrix
from standardwebhooks.webhooks import Webhook

from infra.mail.guarded_http import GuardedCall
from infra.mail.hooks import HookAnswer, HookMessage

_CALL: Final[ContextVar[GuardedCall]] = ContextVar("call")
_PLUGINS: Final[tuple[Any, ...]] = (discord, slack, telegram, ntfy, matrix)
_BY_SCHEME: Final[dict[str, Any]] = {
    "discord": discord.NotifyDiscord, "slack": slack.NotifySlack, "tgram": telegram.NotifyTelegram,
    "ntfy": ntfy.NotifyNtfy, "ntfys": ntfy.NotifyNtfy, "matrix": matrix.NotifyMatrix, "matrixs": matrix.NotifyMatrix,
}  # fmt: skip
"""The plug-ins, each asked by itself, because apprise would import all of its hundred to find one."""
_WITH_OWN_ADDRESSES: Final = (discord.NotifyDiscord, slack.NotifySlack, ntfy.NotifyNtfy)
_UNUSABLE: Final = HookAnswer(0, "hook-address")


class _GuardedRequests:
    """`requests`, as the plug-ins see it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(requests, name)

    @staticmethod
    def request(method: str, url: str, **options: Any) -> requests.Response:
        return _CALL.get().request(method, url, **options)

    def get(self, url: str, **options: Any) -> requests.Response:
        return self.request("GET", url, **options)

    def post(self, url: str, **options: Any) -> requests.Response:
        return self.request("POST", url, **options)

    def put(self, url: str, **options: Any) -> requests.Response:
        return self.request("PUT", url, **options)


@cache
def _guard_plugins() -> None:
    for plugin in _PLUGINS:
        plugin.requests = _GuardedRequests()
    # its warnings repeat what the answer says, and have addresses
    logging.getLogger("apprise").setLevel(logging.CRITICAL + 1)


def plugin_of(address: str) -> Any:
    """Return what sends to an address of apprise; None if it can't be read, or is of another service."""
    _guard_plugins()
    asset = AppriseAsset(async_mode=False, image_url_mask="", app_url="", app_id="matchpost")
    scheme = address.partition("://")[0].lower()
    try:
        if scheme in _BY_SCHEME:
            kind = _BY_SCHEME[scheme]
            found = kind.parse_url(address)
        else:
            native = ((one, one.parse_native_url(address)) for one in _WITH_OWN_ADDRESSES)
            kind, found = next((pair for pair in native if pair[1]), (None, None))
        plugin = kind(**found, asset=asset) if found else None
    except (
        AppriseException,
        AttributeError,
        TypeError,
        ValueError,
    ):  # what they raise for some texts
        return None
    if plugin is not None:
        plugin.throttle = _wait_for_nothing  # a receiver would say for how long
    return plugin


def _wait_for_nothing(*_: object, **__: object) -> None:
    return


def send(
    message: HookMessage, id_: str, hosts: tuple[str, ...], *, trust: str | bool = True
) -> HookAnswer:
    """Send a message, and return the answer; a receiver that fails raises nothing."""
    with GuardedCall(hosts, trust=trust) as call:
        if not message.secrets:
            return _to_people(message, call)
        body = message.body.encode()
        try:
            call.request(
                "POST",
                message.address,
                data=body,
                headers=headers_of(message, id_, datetime.now(UTC)),
            )
        except requests.RequestException:
            return call.last  # it says why
        return call.last


def headers_of(message: HookMessage, id_: str, now: datetime) -> dict[str, str]:
    """Return the headers of a webhook, with a signature by each of its secrets."""
    signed = (Webhook(one).sign(id_, now, message.body) for one in message.secrets)
    return {
        "Content-Type": "application/json",
        "User-Agent": "matchpost",
        "webhook-id": id_,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(signed),
    }


def _to_people(message: HookMessage, call: GuardedCall) -> HookAnswer:
    plugin = plugin_of(message.address)
    if plugin is None:
        return _UNUSABLE
    token = _CALL.set(call)
    try:
        arrived = plugin.notify(
            body=message.body, title=message.title, body_format=NotifyFormat.TEXT
        )
    finally:
        _CALL.reset(token)
    if not arrived and call.last.is_success:
        return HookAnswer(0, call.last.text)  # the service says so in its own words
    return call.last
