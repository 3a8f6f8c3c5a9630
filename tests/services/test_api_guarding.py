"""What guards accounts and the server from strangers, at the API and the pages."""

import json
import select
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from threading import Event, Lock

import httpx
import pytest
from argon2 import PasswordHasher
from msgspec.structs import replace

from infra.mail.outbox import Outbox
from infra.people.accounts import HASHES_AT_ONCE, HASHES_WAITING, Account
from infra.people.sessions import Sessions
from infra.people.tokens import Tokens
from services.app.passwords import FRESH_MS
from services.http.context import TaskIntervals
from services.http.requests import SESSION_COOKIE
from tests.helpers.api import PASSWORD, Api, Player, code_of, until
from tests.helpers.web import Guest, door

NEW = "looking-glass"
PLACES = HASHES_AT_ONCE + HASHES_WAITING
WRONG = {"password": "wrong-one", "label": "x", "scopes": ["read"]}


class GatedHasher(PasswordHasher):
    """Counts what it checks; while the gate is shut, checks wait before it."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.checked = 0
        self.gate = Event()
        self.gate.set()
        self._lock = Lock()

    def verify(self, hash: str | bytes, password: str | bytes):  # noqa: A002 - the library's name
        with self._lock:
            self.checked += 1
        assert self.gate.wait(60)
        return super().verify(hash, password)


@pytest.fixture(scope="module")
def hasher() -> GatedHasher:
    return GatedHasher()


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory, hasher: GatedHasher) -> Iterator[Api]:
    often = TaskIntervals(heartbeat=0.2)
    with Api(tmp_path_factory.mktemp("api"), intervals=often, hasher=hasher) as api:
        yield api


def asked(api: Api, name: str) -> socket.socket:
    """A connection on which a wrong password was sent; nobody has read the answer."""
    url = httpx.URL(api.url)
    connection = socket.create_connection((url.host, url.port), timeout=60)
    body = json.dumps({"userid": name, **WRONG}).encode()
    head = (
        "POST /api/tokens HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    connection.sendall(head.encode() + body)
    return connection


def status_of(connection: socket.socket) -> int:
    return int(connection.recv(65_536).split()[1])


def filled(api: Api, stack: ExitStack) -> tuple[bytes, list[socket.socket]]:
    """Send one password more than there are places: its answer, and who has a place."""
    sent = [stack.enter_context(closing(asked(api, f"nobody{n}"))) for n in range(PLACES + 1)]
    (refused,), _, _ = select.select(sent, [], [], 60)
    return refused.recv(65_536), [one for one in sent if one is not refused]


def test_one_password_too_many_is_told_when_to_come_again(api, hasher):
    hasher.gate.clear()
    with ExitStack() as stack:
        stack.callback(hasher.gate.set)
        said, waiting = filled(api, stack)
        assert said.startswith(b"HTTP/1.1 503 ")
        assert b"retry-after: 60" in said.lower()
        assert b'"code":"busy"' in said
        hasher.gate.set()
        assert {status_of(one) for one in waiting} == {404}


def test_passwords_that_nobody_waits_for_are_not_checked(api, hasher):
    hasher.gate.clear()
    before = hasher.checked
    try:
        with ExitStack() as stack:
            filled(api, stack)
            until(lambda: hasher.checked == before + HASHES_AT_ONCE)
        for _ in range(3):  # the loop has seen that they are gone
            assert api.http.get("/healthz").is_success
    finally:
        hasher.gate.set()
    until(lambda: token_status(api.http, "somebody", "wrong-one") == 404)
    assert hasher.checked == before + HASHES_AT_ONCE + 1


def from_address(api: Api, source: str) -> httpx.Client:
    transport = httpx.HTTPTransport(local_address=source)
    return httpx.Client(base_url=api.url, transport=transport, timeout=30)


def token_status(http: httpx.Client, name: str, password: str) -> int:
    return http.post(
        "/api/tokens", json={**WRONG, "userid": name, "password": password}
    ).status_code


def test_who_tries_many_passwords_shuts_only_their_own_network_out(api):
    name = api.player().name
    with from_address(api, "127.0.0.2") as thief, from_address(api, "127.0.0.3") as owner:
        said = [token_status(thief, name, f"wrong-{n}") for n in range(11)]
        assert said == [401] * 10 + [429]
        assert token_status(thief, name, PASSWORD) == 429
        assert token_status(owner, name, PASSWORD) == 201
        assert owner.post("/api/do", content=f"messages {name} {PASSWORD}").status_code == 200


def test_several_lines_of_one_request_spend_the_budget_each(tmp_path):
    with Api(tmp_path, password_rate=5) as api:
        lines = "\n".join(f"messages spray{n} 12345678" for n in range(9))
        said = api.http.post("/api/do", content=f"multiple\n{lines}").text
        assert (said.count(": unknown-user:"), said.count(": too-fast:")) == (5, 4)
        with from_address(api, "127.0.0.2") as other:
            lines = "\n".join(f"signup flood{n} mad-hatter" for n in range(9))
            other.post("/api/do", content=f"multiple\n{lines}")
        assert api.parts.accounts.names(0, 50) == [f"flood{n}" for n in range(5)]
        with door(api) as come:
            guest = come()
            assert guest.log_in("flood1", "wrong-one").status_code == 429  # the web is no other
        assert api.http.get("/api/games").is_success


def aged(api: Api, player: Player) -> Player:
    """The player with a token that is older than a moment."""
    past = Tokens(api.parts.data, lambda: api.parts.store.now() - FRESH_MS - 1_000)
    text = past.issue(player.account, "old", ["read", "play", "account"]).text
    return Player(api, player.name, player.account, text)


@pytest.mark.parametrize(
    ("method", "path", "wanted"),
    [
        ("PUT", "/api/account/addresses", {"addresses": ["evil@attacker.example"]}),
        ("PATCH", "/api/account", {"challenges": "none", "language": "de"}),
    ],
)
def test_a_token_alone_changes_neither_addresses_nor_mail_nor_challengers_once_it_is_old(
    api, method, path, wanted
):
    player = api.player()
    old, before = aged(api, player), player.get("/api/account").json()
    for more, status, code in (
        ({}, 403, "password-needed"),
        ({"password": "wrong-one"}, 401, "wrong-password"),
    ):
        refused = old._request(method, path, json={**wanted, **more})
        assert (refused.status_code, code_of(refused)) == (status, code)
    assert player.get("/api/account").json() == before
    assert old.patch("/api/account", {"language": "de"}).is_success
    assert old._request(method, path, json={**wanted, "password": PASSWORD}).is_success
    assert player._request(method, path, json=wanted).is_success
    assert player.get("/api/account").json() != {**before, "language": "de"}


def prove(api: Api, player: Player, address: str) -> None:
    """Have an address of the player's proven."""

    def proven(record: Account) -> Account:
        addresses = (replace(one, verified=one.address == address) for one in record.addresses)
        return replace(record, addresses=tuple(addresses))

    api.parts.accounts.change_of(player.account, proven)


def test_the_old_address_is_told_without_the_new_one(api):
    player = api.player()
    player.put("/api/account/addresses", {"addresses": ["me@home.example", "no@home.example"]})
    prove(api, player, "me@home.example")
    outbox = Outbox(api.parts.data)

    def told() -> list[tuple[str, str]]:
        return [
            (one.email.to, one.email.body)
            for one in outbox.lease_due(outbox.now() + 1, 100)
            if one.email.id.startswith("addresses-")
        ]

    assert told() == []
    line = f"add {player.name} {PASSWORD} evil@attacker.example"
    assert api.http.post("/api/do", content=line).is_success
    ((to, body),) = told()
    assert to == "me@home.example"
    assert player.name in body
    assert "attacker" not in body
    assert player.put("/api/account/addresses", {"addresses": []}).is_success
    assert [to for to, _ in told()] == ["me@home.example"]
    assert player.put("/api/account/addresses", {"addresses": ["x@home.example"]}).is_success
    assert told() == []  # there was no proven one


def old_session(api: Api, guest: Guest, name: str) -> None:
    """Log a guest in, as if that had been a while ago."""
    past = Sessions(api.parts.data, lambda: api.parts.store.now() - FRESH_MS - 1_000)
    guest.http.cookies.set(SESSION_COOKIE, past.open(api.parts.accounts.id_of(name)).text)
    guest.name = name


TOKEN = {"label": "forever", "scope": ["read", "play", "account"], "days": ""}


def test_an_old_session_makes_no_token_and_changes_no_address_without_the_password(api, come):
    name, guest = api.player().name, come()
    old_session(api, guest, name)
    assert (
        guest.page("/account").count('name="password"') == 5
    )  # also in deletion, own data and codes
    for path, fields in (
        ("/account/tokens", TOKEN),
        ("/account/addresses", {"addresses": "evil@attacker.example"}),
    ):
        assert guest.send(path, fields).status_code == 403
        assert guest.send(path, {**fields, "password": "wrong-one"}).status_code == 401
    account = api.parts.accounts.id_of(name)
    assert len(api.parts.tokens.list_of(account)) == 1
    assert api.parts.accounts.record_of(account).addresses == ()
    assert guest.send("/account/tokens", {**TOKEN, "password": PASSWORD}).status_code == 200
    assert len(api.parts.tokens.list_of(account)) == 2


def logged_in(come: Callable[..., Guest], player: Player) -> Guest:
    guest = come()
    assert guest.log_in(player.name).status_code == 303
    return guest


def is_in(guest: Guest) -> bool:
    return guest.get("/account").status_code == 200


def by_api(player: Player, _: Guest, *, end: bool) -> None:
    more = {"tokens": "end" if end else "keep"}
    body = {"old": PASSWORD, "new": NEW, **more}
    assert player.post("/api/account/password", body).status_code == 204


def by_line(player: Player, _: Guest, *, end: bool) -> None:
    flag = "--end-tokens" if end else "--keep-tokens"
    line = f"change password {player.name} {PASSWORD} {NEW} {flag}"
    assert player.api.http.post("/api/do", content=line).status_code == 200


def by_page(_: Player, guest: Guest, *, end: bool) -> None:
    fields = {"old": PASSWORD, "new": NEW, **({"end-tokens": "yes"} if end else {})}
    assert guest.send("/account/password", fields).status_code == 303


@pytest.mark.parametrize("end", [False, True], ids=["tokens stay", "tokens end"])
@pytest.mark.parametrize("change", [by_api, by_line, by_page])
def test_a_new_password_ends_all_other_sessions_and_tokens_unless_they_are_kept(
    api, come, change, end
):
    player = api.player()
    thief, owner = logged_in(come, player), logged_in(come, player)
    change(player, owner, end=end)
    assert not is_in(thief)
    assert is_in(owner) is (change is by_page)
    assert player.get("/api/account").status_code == (401 if end else 200)


def revoked(player: Player) -> None:
    (token,) = player.get("/api/tokens").json()
    assert player.delete(f"/api/tokens/{token['id']}").status_code == 204


def erased(player: Player) -> None:
    body = {"password": PASSWORD}
    assert player.post("/api/account/deletion", body).status_code == 204


@pytest.mark.parametrize("end", [revoked, erased])
def test_the_streams_of_a_token_end_with_it_and_tell_nothing_more(api, end):
    player, other = api.players()
    board = api.match(player, other)
    path = f"/api/matches/{board}/events"
    with (
        api.stream("/api/account/events", player) as own,
        api.stream(path, player) as seen,
        api.stream(path) as anybodys,
    ):
        assert next(own).comment
        assert next(seen).event == "match-proposed"
        assert next(anybodys).event == "match-proposed"
        end(player)
        if end is revoked:
            assert other.give(board, {"do": "resign"}).is_success
        assert not [told for told in own if told.event]  # it ends, and has said its hello
        assert not [told for told in seen if told.event]
        if end is revoked:
            assert {told.event for told in anybodys if told.event} >= {"declined", "ended"}


def test_without_a_trusted_proxy_no_header_of_one_is_believed(api):
    page = api.http.get("/login", headers={"X-Forwarded-Proto": "https"})
    assert page.headers["set-cookie"].startswith("guest=")
    assert "secure" not in page.headers["set-cookie"].lower()


def test_without_a_relay_the_page_for_a_forgotten_password_says_so(come):
    assert "This server doesn’t send mail," in come().page("/password")
    assert 'href="/password"' in come().page("/login")
    assert come().send("/password", {"who": "x"}, on="/login").status_code == 503


def test_metrics_are_not_behind_the_public_address(api):
    assert code_of(api.http.get("/metrics")) == "not-found"


@pytest.fixture
def gated(tmp_path: Path) -> Iterator[tuple[Api, GatedHasher]]:
    hasher = GatedHasher()
    with Api(tmp_path, hasher=hasher) as api, ExitStack() as stack:
        stack.callback(hasher.gate.set)
        yield api, hasher


@pytest.mark.long
def test_pages_and_health_do_not_wait_behind_three_hundred_passwords(gated):
    api, hasher = gated
    hasher.gate.clear()  # so that no password is through before all else was answered
    with ExitStack() as stack:
        attack = [stack.enter_context(closing(asked(api, f"nobody{n}"))) for n in range(300)]
        until(lambda: hasher.checked == HASHES_AT_ONCE)
        for _ in range(3):
            assert api.http.get("/healthz").status_code == 200
            assert api.http.get("/login").status_code == 200
            assert api.http.get("/games/pow2").status_code == 200
        assert hasher.checked == HASHES_AT_ONCE
        assert not hasher.gate.is_set()  # the attack is in flight still
        hasher.gate.set()
        statuses = [status_of(one) for one in attack]
    assert statuses.count(404) == PLACES
    assert statuses.count(503) == 300 - PLACES
