"""Channels: the plug-ins of apprise reach nothing but by the guard, and import nothing of the others."""

import sys
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests

from infra.mail import guarded_http
from infra.mail.guarded_http import GuardedCall
from infra.mail.hook_client import plugin_of, send
from infra.mail.hooks import HookAnswer, HookMessage

CHANNELS = {
    "discord://1234567890/abcdefgh": "discord.com",
    "https://discord.com/api/webhooks/123/abc": "discord.com",
    "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/": "hooks.slack.com",
    "tgram://123456789:abcdefg_hijklmnop-ABCDEFGHIJKLMNOPQRS/12315544": "api.telegram.org",
    "ntfys://ntfy.example.org/topic": "ntfy.example.org",
    "ntfy://topic": "ntfy.sh",
    "matrixs://token@matrix.example.org/!room:example.org": "matrix.example.org",
}


@pytest.fixture
def unguarded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where something is asked by another way than the guard."""

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("not by the guard")

    monkeypatch.setattr(requests.sessions.Session, "request", fail)
    monkeypatch.setattr(requests.api, "request", fail)


@pytest.mark.usefixtures("unguarded")
@pytest.mark.parametrize(("address", "host"), CHANNELS.items())
def test_each_channel_is_asked_by_the_guard_and_told_nothing_of_how(monkeypatch, address, host):
    asked: list[tuple[str, dict[str, Any]]] = []

    def request(call: GuardedCall, _: str, url: str, **options: Any) -> requests.Response:
        asked.append((url, options))
        call.last = HookAnswer(503, "later")
        answer = requests.Response()
        answer.status_code, answer._content = 503, b"{}"
        return answer

    monkeypatch.setattr(GuardedCall, "request", request)
    answer = send(HookMessage(address, (), "one\ntwo"), "msg_1", ())
    assert answer.status == 503
    assert {urlsplit(url).hostname for url, _ in asked} == {host}
    assert all(url.startswith("https://") for url, _ in asked)


@pytest.mark.parametrize(
    "address", ["ntfys://rebound.example.org/topic", "matrixs://token@rebound.example.org/!room"]
)
def test_a_channel_on_a_private_host_is_never_reached(monkeypatch, address):
    found = [(2, 1, 6, "", ("10.0.0.1", 443))]
    monkeypatch.setattr(guarded_http.socket, "getaddrinfo", lambda *_, **__: found)
    answer = send(HookMessage(address, (), "text"), "msg_1", ())
    assert (answer.status, answer.text) == (0, "hook-private")


def test_the_guard_decides_how_a_channel_is_asked(monkeypatch):
    given: dict[str, Any] = {}

    def request(*_: object, **options: Any) -> None:
        given.update(options)
        raise requests.Timeout

    monkeypatch.setattr(requests.Session, "request", request)
    # what these say of redirects, certificates and time is not for them to say
    address = "ntfys://ntfy.example.org/topic?verify=no&redirect=yes&rto=9999"
    assert send(HookMessage(address, (), "text"), "msg_1", ()).text == "hook-late"
    assert (given["verify"], given["allow_redirects"]) == (True, False)
    assert given["timeout"] == (guarded_http.CONNECT_SECONDS, guarded_http.READ_SECONDS)


def test_no_other_plug_in_is_used_or_imported():
    for address in ("mailto://a:b@example.org", "json://example.org", "file:///etc/passwd", "exec://ls", "discord://", "x"):  # fmt: skip
        assert plugin_of(address) is None, address
    loaded = {name.split(".")[2] for name in sys.modules if name.startswith("apprise.plugins.")}
    assert loaded <= {"base", "discord", "slack", "telegram", "ntfy", "matrix"}
