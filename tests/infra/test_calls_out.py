"""Requests to addresses that players have named: the guard of all, webhooks and channels, and web push."""

import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
from cryptography.hazmat.primitives.asymmetric import ec

from infra.mail import guarded_http
from infra.mail.guarded_http import MOST_BYTES, GuardedCall
from infra.mail.hook_client import plugin_of, send
from infra.mail.hooks import HookAnswer, HookMessage
from infra.mail.push import LONGEST, VapidKey, encode, encrypt
from infra.settings.hook_hosts import AddressError, checked_address, is_public, read_hook_hosts
from infra.settings.push_services import KNOWN, is_allowed, read_push_services
from tests.helpers.push_service import PushService, claims_of, decode
from tests.helpers.tls import make_certificate

PRIVATE = """
    0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 169.254.169.254 172.16.0.1 192.0.0.8 192.0.2.1 192.88.99.1 192.168.1.1
    198.18.0.1 203.0.113.5 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255 :: ::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8
    ::127.0.0.1 64:ff9b::7f00:1 64:ff9b::a00:1 64:ff9b:1::1 100::1 2001::1 2001:db8::1 2002:7f00:1:: fc00::1 fd12::1
    fe80::1 fe80::1%eth0 fec0::1 ff02::1
"""
PUBLIC = "1.1.1.1 8.8.8.8 100.63.0.1 2606:4700:4700::1111 64:ff9b::808:808"
REFUSED = {
    "hook-https": ["http://example.org/"],
    "hook-private": [
        *("https://127.0.0.1/", "https://[::1]/", "https://localhost/", "https://2130706433/"),
        *("https://0x7f.1/", "https://127.1/"),
    ],
    "hook-port": ["https://example.org:25/"],
    "hook-address": [
        *("https://a:b@example.org/", "https://example.org\\@127.0.0.1/", "https://exa mple.org/"),
        *("ftp://example.org/", "https:///path", "https://example.org:99999/", ""),
        *("https://exämple.org/", "https://example.org/#part", "https://" + "a" * 500 + ".org"),
    ],
}


@pytest.fixture(scope="module")
def service() -> Iterator[PushService]:
    with PushService() as one:
        yield one


def test_only_addresses_of_the_internet_are_public_and_any_other_is_refused_where_it_is_named():
    assert [one for one in PRIVATE.split() if is_public(one)] == []
    assert [one for one in PUBLIC.split() if not is_public(one)] == []
    for key, addresses in REFUSED.items():
        for address in addresses:
            with pytest.raises(AddressError) as refused:
                checked_address(address, ())
            assert refused.value.key == key, address


def test_the_operator_allows_hosts_by_name_and_port():
    hosts = read_hook_hosts("ci.lan 127.0.0.1:8080 [::1]:99")
    assert checked_address("http://ci.lan:81/x", hosts).hostname == "ci.lan"
    assert checked_address("http://127.0.0.1:8080/x", hosts).port == 8080
    with pytest.raises(AddressError):
        checked_address("http://127.0.0.1:8081/x", hosts)
    with pytest.raises(ValueError, match="hosts in small letters"):
        read_hook_hosts("http://ci.lan")


def resolved(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[list[str]]:
    """Have names lead to these addresses, one answer after the other; return those that were not asked for yet."""
    pending = list(answers)

    def lookup(host: str, port: int, *_: object, **__: object) -> list[object]:
        assert host.endswith(".example.org"), "addresses are looked up once"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in pending.pop(0)]

    monkeypatch.setattr(guarded_http.socket, "getaddrinfo", lookup)
    return pending


def test_a_name_with_one_private_address_is_never_connected_to(monkeypatch, service):
    service.received.clear()
    port = service.url.rpartition(":")[2]
    left = resolved(monkeypatch, ["127.0.0.1", "8.8.8.8"], ["127.0.0.1"])
    for _ in range(2):
        with GuardedCall(()) as call, pytest.raises(requests.RequestException):
            call.request("POST", f"https://rebound.example.org:{port}/", data=b"x")
        assert (call.last.status, call.last.text) == (0, "hook-private")
    assert left == service.received == []


def test_the_connection_is_made_to_the_address_that_was_checked(monkeypatch, service):
    monkeypatch.setattr(guarded_http, "is_public", lambda one: one == "127.0.0.1")
    port = int(service.url.rpartition(":")[2])
    # a second lookup would lead to another address
    left = resolved(monkeypatch, ["127.0.0.1"], ["10.0.0.1"])
    monkeypatch.setattr(guarded_http, "checked_address", lambda *_: None)
    with GuardedCall(()) as call:
        assert call.request("POST", f"http://once.example.org:{port}/once", data=b"x").ok
    assert left == [["10.0.0.1"]]
    assert service.received[-1].headers["Host"] == f"once.example.org:{port}"


def test_no_redirect_is_followed_no_proxy_is_asked_and_little_of_an_answer_is_read(
    monkeypatch, service
):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    service.received.clear()
    service.answers["/away"] = 302
    service.texts["/long"] = b"a\x00\n" * MOST_BYTES
    with GuardedCall((service.url.removeprefix("http://"),)) as call:
        answer = call.request("POST", f"{service.url}/away", data=b"", allow_redirects=True)
        assert answer.status_code == 302
        assert len(call.request("POST", f"{service.url}/long", data=b"").content) == MOST_BYTES
    assert [one.path for one in service.received] == ["/away", "/long"]
    assert call.last.text == ("a  " * 100)


@contextmanager
def listening(answer: Callable[[socket.socket], object], times: int = 1) -> Iterator[int]:
    """A server that answers so many connections, one after the other; gives its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def work() -> None:
            for _ in range(times):
                connection, _ = server.accept()
                with connection:
                    answer(connection)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        thread.join(10)
        assert not thread.is_alive()


def test_an_answer_that_dribbles_in_ends_at_the_limit():
    def dribble(connection: socket.socket) -> None:
        connection.recv(65_536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Le")
        connection.recv(1)  # until the client has had enough

    with (
        listening(dribble) as port,
        GuardedCall((f"127.0.0.1:{port}",), seconds=0.3) as call,
    ):
        # nor does another request of the same delivery begin
        for _ in range(2):
            with pytest.raises(requests.RequestException):
                call.request("POST", f"http://127.0.0.1:{port}/", data=b"")
            assert call.last.text == "hook-late"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return make_certificate(tmp_path_factory.mktemp("tls"), "hooks", "named.example.org")


def test_the_certificate_is_checked_for_the_name_and_the_name_is_said(monkeypatch, certificate):
    """A name that leads to the server, whose certificate has it, and another that leads there, too."""
    monkeypatch.setattr(guarded_http, "is_public", lambda one: one == "127.0.0.1")
    resolved(monkeypatch, ["127.0.0.1"], ["127.0.0.1"], ["127.0.0.1"])
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*certificate)
    said: list[str] = []
    context.sni_callback = lambda _, name, __: said.append(name)

    def answer(connection: socket.socket) -> None:
        try:
            with context.wrap_socket(connection, server_side=True) as secure:
                asked = b""
                while not asked.endswith(b"\r\n\r\nx"):
                    asked += secure.recv(65_536) or b"\r\n\r\nx"
                secure.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
        except OSError:
            return  # the client did not trust it

    trust = str(certificate[0])
    with listening(answer, 3) as port:
        with GuardedCall((), trust=trust) as call:
            found = call.request("POST", f"https://named.example.org:{port}/", data=b"x")
            assert found.status_code == 204
        for host, trusted in (("other", trust), ("named", True)):
            with GuardedCall((), trust=trusted) as call, pytest.raises(requests.RequestException):
                call.request("POST", f"https://{host}.example.org:{port}/", data=b"x", verify=False)
            assert call.last.text == "hook-certificate"
    assert said == ["named.example.org", "other.example.org", "named.example.org"]


CHANNELS = {
    "discord://1234567890/abcdefgh": "discord.com",
    "https://discord.com/api/webhooks/123/abc": "discord.com",
    "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/": "hooks.slack.com",
    "tgram://123456789:abcdefg_hijklmnop-ABCDEFGHIJKLMNOPQRS/12315544": "api.telegram.org",
    "ntfys://ntfy.example.org/topic": "ntfy.example.org",
    "ntfy://topic": "ntfy.sh",
    "matrixs://token@matrix.example.org/!room:example.org": "matrix.example.org",
}
NO_CHANNELS = (
    "mailto://a:b@example.org json://example.org file:///etc/passwd exec://ls discord:// x"
)


def test_each_channel_is_asked_by_the_guard_and_no_other_plug_in_is_used_or_imported(monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("not by the guard")

    monkeypatch.setattr(requests.sessions.Session, "request", fail)
    monkeypatch.setattr(requests.api, "request", fail)
    asked: list[str] = []

    def request(call: GuardedCall, _: str, url: str, **_options: Any) -> requests.Response:
        asked.append(url)
        call.last = HookAnswer(503, "later")
        answer = requests.Response()
        answer.status_code, answer._content = 503, b"{}"
        return answer

    monkeypatch.setattr(GuardedCall, "request", request)
    for address, host in CHANNELS.items():
        asked.clear()
        assert send(HookMessage(address, (), "one\ntwo"), "msg_1", ()).status == 503
        assert {urlsplit(url)[:2] for url in asked} == {("https", host)}
    assert [address for address in NO_CHANNELS.split() if plugin_of(address)] == []
    loaded = {name.split(".")[2] for name in sys.modules if name.startswith("apprise.plugins.")}
    assert loaded <= {"base", "discord", "slack", "telegram", "ntfy", "matrix"}


def test_the_guard_decides_how_a_channel_is_asked_and_never_on_a_private_host(monkeypatch):
    given: dict[str, Any] = {}

    def request(*_: object, **options: Any) -> None:
        given.update(options)
        raise requests.Timeout

    with monkeypatch.context() as patched:
        patched.setattr(requests.Session, "request", request)
        # what these say of redirects, certificates and time is not for them to say
        address = "ntfys://ntfy.example.org/topic?verify=no&redirect=yes&rto=9999"
        assert send(HookMessage(address, (), "text"), "msg_1", ()).text == "hook-late"
    assert (given["verify"], given["allow_redirects"]) == (True, False)
    assert given["timeout"] == (guarded_http.CONNECT_SECONDS, guarded_http.READ_SECONDS)
    resolved(monkeypatch, *[["10.0.0.1"]] * 9)
    for start in ("ntfys://rebound.example.org/topic", "matrixs://token@rebound.example.org/!room"):
        answer = send(HookMessage(start, (), "text"), "msg_1", ())
        assert (answer.status, answer.text) == (0, "hook-private")


# RFC 8291, section 5
TEXT = b"When I grow up, I want to be a watermelon"
BROWSER = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
AUTH = "BTBZMqHH6r4Tts7J_aSIgg"
SENDER = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
SALT = "DGv6ra1nlYgDCS1FRnbzlw"
BODY = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27ml"
    "mlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT"
    "pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)


def test_a_message_is_encrypted_as_the_standard_says_each_with_a_key_and_a_salt_of_its_own():
    sender = ec.derive_private_key(int.from_bytes(decode(SENDER), "big"), ec.SECP256R1())
    assert encode(encrypt(TEXT, decode(BROWSER), decode(AUTH), sender, decode(SALT))) == BODY
    one, two = (encrypt(TEXT, decode(BROWSER), decode(AUTH)) for _ in range(2))
    assert one[:16] != two[:16]
    assert one[21:86] != two[21:86]
    assert len(encrypt(bytes(LONGEST), decode(BROWSER), decode(AUTH))) <= 4_096
    with pytest.raises(ValueError, match="at most"):
        encrypt(bytes(LONGEST + 1), decode(BROWSER), decode(AUTH))


def test_the_key_is_that_of_the_secret_and_its_tokens_are_for_one_service():
    key, again = (VapidKey(bytes(32), "https://play.example.org") for _ in range(2))
    assert key.public == again.public != VapidKey(b"\1" * 32, "https://play.example.org").public
    claims = claims_of(key.authorization("https://push.example.net/abc?x=1", 1_000_000))
    assert claims == {
        "aud": "https://push.example.net",
        "exp": 1_000_000 + 12 * 3_600,
        "sub": "https://play.example.org",
        "k": key.public,
    }


GOOD = """
    https://fcm.googleapis.com/fcm/send/abc:def https://web.push.apple.com/QAbc http://127.0.0.1:8765/own
    https://updates.push.services.mozilla.com/wpush/v2/abc https://db5p.notify.windows.com/w/?token=abc
"""
BAD = """
    http://fcm.googleapis.com/plain https://fcm.googleapis.com:8443/port https://user@fcm.googleapis.com/
    https://fcm.googleapis.com@127.0.0.1/ https://fcm.googleapis.com.example.org/ https://notfcm.googleapis.com.evil/
    https://evilpush.apple.com/ https://fcm.googleapis.com\\@127.0.0.1/ https://127.0.0.1/ https://[::1]/
    https://localhost/ https:// http://169.254.169.254/latest/meta-data/ http://127.0.0.1:8766/another-port
    https://127.0.0.1:8765/another-scheme file:///etc/passwd gopher://fcm.googleapis.com/ https://fcm.googleapis.com/ü
    https://fcm.googleapis.com:x/ https://a..fcm.googleapis.com/ https://.fcm.googleapis.com/
    https://xn--a.fcm.googleapis.com/ https://-a.fcm.googleapis.com/
"""
BAD_TOO = (
    *("", "https://fcm.googleapis.com/\r\nHost: x", "https://fcm.googleapis.com/" + "a" * 1_000),
    f"https://{'a' * 64}.fcm.googleapis.com/",
)
NO_SERVICES = (
    "https://push.example.org/path ftp://x a@b https:// Push.example.org push.example.org:8443 a..b"
)


def test_push_services_are_the_hosts_and_origins_of_the_setting_and_no_other_address_is_used():
    services = read_push_services(f"{KNOWN} http://127.0.0.1:8765")
    assert [endpoint for endpoint in GOOD.split() if not is_allowed(endpoint, services)] == []
    bad = (*BAD.split(), *BAD_TOO)
    assert [endpoint for endpoint in bad if is_allowed(endpoint, services)] == []
    for text in NO_SERVICES.split():
        with pytest.raises(ValueError, match="push services are hosts"):
            read_push_services(text)
