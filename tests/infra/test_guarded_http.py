"""The guard of requests to addresses that players have named, and its conversation with real servers."""

import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from infra.mail import guarded_http
from infra.mail.guarded_http import MOST_BYTES, GuardedCall
from infra.settings.hook_hosts import AddressError, checked_address, is_public, read_hook_hosts
from tests.helpers.push_service import PushService
from tests.helpers.tls import make_certificate

PRIVATE = (
    "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "169.254.169.254", "172.16.0.1", "192.0.0.8", "192.0.2.1",
    "192.88.99.1", "192.168.1.1", "198.18.0.1", "203.0.113.5", "224.0.0.1", "239.255.255.250", "240.0.0.1",
    "255.255.255.255", "::", "::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "64:ff9b::7f00:1",
    "64:ff9b::a00:1", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1", "2002:7f00:1::", "fc00::1", "fd12::1",
    "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1",
)  # fmt: skip
PUBLIC = ("1.1.1.1", "8.8.8.8", "100.63.0.1", "2606:4700:4700::1111", "64:ff9b::808:808")


@pytest.fixture(scope="module")
def service() -> Iterator[PushService]:
    with PushService() as one:
        yield one


def test_only_addresses_of_the_internet_are_public():
    assert [one for one in PRIVATE if is_public(one)] == []
    assert [one for one in PUBLIC if not is_public(one)] == []


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("http://example.org/", "hook-https"), ("https://127.0.0.1/", "hook-private"), ("https://[::1]/", "hook-private"),
        ("https://localhost/", "hook-private"), ("https://2130706433/", "hook-private"), ("https://0x7f.1/", "hook-private"),
        ("https://127.1/", "hook-private"), ("https://example.org:25/", "hook-port"), ("https://a:b@example.org/", "hook-address"),
        ("https://example.org\\@127.0.0.1/", "hook-address"), ("https://exa mple.org/", "hook-address"), ("ftp://example.org/", "hook-address"),
        ("https:///path", "hook-address"), ("https://example.org:99999/", "hook-address"), ("https://exämple.org/", "hook-address"),
        ("https://example.org/#part", "hook-address"), ("https://" + "a" * 500 + ".org", "hook-address"), ("", "hook-address"),
    ],
)  # fmt: skip
def test_an_address_that_leads_elsewhere_is_refused_where_it_is_named(address, key):
    with pytest.raises(AddressError) as refused:
        checked_address(address, ())
    assert refused.value.key == key


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


def test_no_redirect_is_followed_and_no_proxy_is_asked(monkeypatch, service):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    service.received.clear()
    service.answers["/away"] = 302
    host = service.url.removeprefix("http://")
    with GuardedCall((host,)) as call:
        assert (
            call.request("POST", f"{service.url}/away", data=b"", allow_redirects=True).status_code
            == 302
        )
    assert [one.path for one in service.received] == ["/away"]


def test_little_of_an_answer_is_read(service):
    service.texts["/long"] = b"a\x00\n" * MOST_BYTES
    with GuardedCall((service.url.removeprefix("http://"),)) as call:
        assert len(call.request("POST", f"{service.url}/long", data=b"").content) == MOST_BYTES
    assert call.last.text == ("a  " * 100)


def serve_once(server: socket.socket, answer: bytes) -> threading.Thread:
    """HookAnswer a single connection, and keep it open until its client closes it."""

    def work() -> None:
        connection, _ = server.accept()
        with connection:
            connection.recv(65_536)
            connection.sendall(answer)
            connection.recv(1)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_an_answer_that_dribbles_in_ends_at_the_limit():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        thread = serve_once(server, b"HTTP/1.1 200 OK\r\nContent-Le")
        with GuardedCall((f"127.0.0.1:{port}",), seconds=0.3) as call:
            with pytest.raises(requests.RequestException):
                call.request("POST", f"http://127.0.0.1:{port}/", data=b"")
            assert call.last.text == "hook-late"
            # nor does another request of the same delivery begin
            with pytest.raises(requests.RequestException):
                call.request("POST", f"http://127.0.0.1:{port}/", data=b"")
        thread.join(10)
        assert not thread.is_alive()


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
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        answer = b"HTTP/1.1 204 No Content\r\n\r\n"

        def work() -> None:
            for _ in range(3):
                connection, _ = server.accept()
                try:
                    with context.wrap_socket(connection, server_side=True) as secure:
                        asked = b""
                        while not asked.endswith(b"\r\n\r\nx"):
                            asked += secure.recv(65_536) or b"\r\n\r\nx"
                        secure.sendall(answer)
                except OSError:
                    continue

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        with GuardedCall((), trust=str(certificate[0])) as call:
            found = call.request("POST", f"https://named.example.org:{port}/", data=b"x")
            assert found.status_code == 204
        for host, trust in (("other", str(certificate[0])), ("named", True)):
            with GuardedCall((), trust=trust) as call, pytest.raises(requests.RequestException):
                call.request("POST", f"https://{host}.example.org:{port}/", data=b"x", verify=False)
            assert call.last.text == "hook-certificate"
        thread.join(10)
    assert said == ["named.example.org", "other.example.org", "named.example.org"]
