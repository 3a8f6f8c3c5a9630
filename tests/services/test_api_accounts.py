"""Accounts, tokens, messages and chat, and what guards accounts and the server from strangers, at the API and the pages."""

import json
import select
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
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
from tests.helpers.web import Guest, visitors

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


def token_for(http: httpx.Client, name: str, password: str = PASSWORD, **more) -> httpx.Response:
    return http.post("/api/tokens", json={**WRONG, "userid": name, "password": password, **more})


def bearer(token: dict) -> dict[str, str]:
    return {"Authorization": f"Bearer {token['token']}"}


def test_only_the_owner_sees_the_addresses(api):
    body = {"userid": "Owner", "password": PASSWORD, "addresses": ["owner@example.org"]}
    made = api.http.post("/api/accounts", json=body)
    assert (made.status_code, made.json()["userid"]) == (201, "owner")
    token = token_for(api.http, "owner", scopes=["read", "account"]).json()
    own = api.http.get("/api/account", headers=bearer(token)).json()
    assert own["addresses"] == [{"address": "owner@example.org", "verified": False}]
    assert own["arbiter"] is False
    assert "example.org" not in api.http.get("/api/players/owner").text


def test_a_sign_up_for_whose_mailbox_no_code_is_sent_has_a_notice(api):
    told = []
    for n in range(6):
        body = {"userid": f"fan{n}", "password": PASSWORD, "addresses": [f"v+{n}@example.net"]}
        told.append(api.http.post("/api/accounts", json=body).json()["notice"])
    assert not any(told[:5])
    assert told[5].startswith("no code was sent to your address, because too many")


def test_tokens_are_listed_and_revoked_and_one_of_any_scope_may_end_itself_alone(api):
    player = api.player()
    first, second = (token_for(api.http, player.name, label=f"bot {n}").json() for n in range(2))
    listed = player.get("/api/tokens")
    assert {one["label"] for one in listed.json()} == {"bot 0", "bot 1", "rig"}
    assert "mp_" not in listed.text
    refused = api.http.delete(f"/api/tokens/{second['id']}", headers=bearer(first))
    assert code_of(refused) == "missing-scope"
    ended = api.http.delete(f"/api/tokens/{first['id']}", headers=bearer(first))
    assert ended.status_code == 204
    gone = api.http.get("/api/account", headers=bearer(first))
    assert (gone.status_code, code_of(gone)) == (401, "unknown-token")
    assert player.delete(f"/api/tokens/{second['id']}").status_code == 204
    assert code_of(player.delete(f"/api/tokens/{second['id']}")) == "not-found"
    assert len(player.get("/api/tokens").json()) == 1


def do(api: Api, line: str, player: Player | None = None, key: str = "") -> httpx.Response:
    headers = {"Content-Type": "text/plain"} | (player.headers if player else {})
    headers |= {"Idempotency-Key": key} if key else {}
    return api.http.post("/api/do", content=line, headers=headers)


def start(player: Player, other: Player, key: str) -> httpx.Response:
    body = {"game": "pow2", "players": [player.name, other.name]}
    return player.post("/api/matches", body, headers={"Idempotency-Key": key})


def test_anonymous_text_starts_nothing_and_spends_nobodys_keys(api):
    one, other, third = api.player(("read", "account")), api.player(), api.player()
    line = f"pow2 challenge {one.name} {other.name}"
    refused = do(api, line, key="against-third")
    assert (refused.status_code, refused.headers["Matchpost-Code"]) == (401, "unauthorized")
    assert refused.headers["WWW-Authenticate"].startswith("Bearer")
    assert "--password=PASSWORD" in refused.text
    assert do(api, "\n".join(["multiple", *[line] * 50])).status_code == 401
    # a token for reading proves no challenger
    assert do(api, line, one).headers["Matchpost-Code"] == "unauthorized"
    api.caught_up()
    assert api.parts.lists.counts(one.account).active == 0
    assert start(api.player_of(one.name), third, key="against-third").status_code == 201


def test_a_token_or_a_password_proves_the_challenger_and_is_one_key(api):
    one, other = api.players()
    line = f"pow2 challenge {one.name} {other.name}"
    first = do(api, line, one, key="k")
    assert first.status_code == 200
    assert do(api, f"{line} --password={PASSWORD}", other, key="k").text == first.text
    board = int(first.text.split()[1].rstrip(","))
    assert start(one, other, key="k").json()["board"] == board
    events = api.http.get(f"/api/matches/{board}/events").json()
    assert events[0]["actor"] == one.account.hex()
    theirs = do(api, f"{line} --password={PASSWORD} --as={other.name}", key="k")
    assert int(theirs.text.split()[1].rstrip(",")) != board


def test_messages_come_in_pages_and_stay_unread_until_they_are_marked(api):
    one, other = api.players()
    for text in ("first", "second", "third"):
        assert one.post("/api/messages", {"to": [other.name], "text": text}).is_success
    page = other.get("/api/messages?limit=2").json()
    assert (page["unread"], [each["text"] for each in page["messages"]]) == (3, ["third", "second"])
    rest = other.get(f"/api/messages?limit=2&cursor={page['next']}").json()
    assert ([each["text"] for each in rest["messages"]], rest["next"]) == (["first"], None)
    for until_ in (page["messages"][1]["at"], 0):
        assert other.post("/api/messages/read", {"until": until_}).status_code == 204
        assert other.get("/api/messages").json()["unread"] == 1


def test_the_players_of_a_match_talk_and_nobody_hears_them(api):
    one, other, third = api.players(3)
    board = api.match(one, other)
    path = f"/api/matches/{board}/chat"
    for _ in range(2):
        said = one.post(path, {"text": "Hello"}, headers={"Idempotency-Key": "c"})
        assert said.status_code == 204
    assert other.post(path, {"text": "Good luck!"}).status_code == 204
    for query, wanted in (("", [(one.name, "Hello"), (other.name, "Good luck!")]),
                          ("?limit=1", [(other.name, "Good luck!")])):  # fmt: skip
        lines = one.get(f"{path}{query}").json()["lines"]
        assert [(line["userid"], line["text"]) for line in lines] == wanted
    assert code_of(other.get(f"{path}?limit=501")) == "bad-request"
    assert code_of(third.get(path)) == "not-a-player"
    for place in ("", "/events", "/board.txt"):
        assert "Good luck" not in third.get(f"/api/matches/{board}{place}").text


# passwords


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
    until(lambda: token_for(api.http, "somebody").status_code == 404)
    assert hasher.checked == before + HASHES_AT_ONCE + 1


@pytest.mark.long
def test_pages_and_health_do_not_wait_behind_three_hundred_passwords(api, hasher):
    before = hasher.checked
    hasher.gate.clear()  # so that no password is through before all else was answered
    with ExitStack() as stack:
        stack.callback(hasher.gate.set)
        attack = [stack.enter_context(closing(asked(api, f"nobody{n}"))) for n in range(300)]
        until(lambda: hasher.checked == before + HASHES_AT_ONCE)
        for _ in range(3):
            for path in ("/healthz", "/login", "/games/pow2"):
                assert api.http.get(path).status_code == 200
        assert hasher.checked == before + HASHES_AT_ONCE
        until(lambda: answered(attack) == 300 - PLACES)
        hasher.gate.set()
        statuses = [status_of(one) for one in attack]
    assert (statuses.count(404), statuses.count(503)) == (PLACES, 300 - PLACES)


def answered(sockets: Sequence[socket.socket]) -> int:
    """Return how many have an answer that can be read."""
    waiting = select.poll()
    for one in sockets:
        waiting.register(one, select.POLLIN)
    return len(waiting.poll(0))


def from_address(api: Api, source: str) -> httpx.Client:
    transport = httpx.HTTPTransport(local_address=source)
    return httpx.Client(base_url=api.url, transport=transport, timeout=30)


def test_who_tries_many_passwords_shuts_only_their_own_network_out(api):
    name = api.player().name
    with from_address(api, "127.0.0.2") as thief, from_address(api, "127.0.0.3") as owner:
        said = [token_for(thief, name, f"wrong-{n}").status_code for n in range(11)]
        assert said == [401] * 10 + [429]
        assert token_for(thief, name).status_code == 429
        assert token_for(owner, name).status_code == 201
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
        with visitors(api) as come:
            form = come().log_in("flood1", "wrong-one")  # the web is no other
            assert form.status_code == 429
            assert int(form.headers["Retry-After"]) > 0
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
        due = [one.email for one in outbox.lease_due(outbox.now() + 1, 100)]
        return [(one.to, one.body) for one in due if one.id.startswith("addresses-")]

    assert told() == []
    assert do(api, f"add {player.name} {PASSWORD} evil@attacker.example").is_success
    ((to, body),) = told()
    assert to == "me@home.example"
    assert player.name in body
    assert "attacker" not in body
    assert player.put("/api/account/addresses", {"addresses": []}).is_success
    assert [to for to, _ in told()] == ["me@home.example"]
    assert player.put("/api/account/addresses", {"addresses": ["x@home.example"]}).is_success
    assert told() == []  # there was no proven one


TOKEN = {"label": "forever", "scope": ["read", "play", "account"], "days": ""}


def test_an_old_session_makes_no_token_and_changes_no_address_without_the_password(api, come):
    player, guest = api.player(), come()
    past = Sessions(api.parts.data, lambda: api.parts.store.now() - FRESH_MS - 1_000)
    guest.http.cookies.set(SESSION_COOKIE, past.open(player.account).text)
    guest.name = player.name
    # also in deletion, own data and codes
    assert guest.page("/account").count('name="password"') == 5
    for path, fields in (
        ("/account/tokens", TOKEN),
        ("/account/addresses", {"addresses": "evil@attacker.example"}),
    ):
        assert guest.send(path, fields).status_code == 403
        assert guest.send(path, {**fields, "password": "wrong-one"}).status_code == 401
    assert len(api.parts.tokens.list_of(player.account)) == 1
    assert api.parts.accounts.record_of(player.account).addresses == ()
    assert guest.send("/account/tokens", {**TOKEN, "password": PASSWORD}).status_code == 200
    assert len(api.parts.tokens.list_of(player.account)) == 2


def by_api(player: Player, _: Guest, *, end: bool) -> int:
    body = {"old": PASSWORD, "new": NEW, "tokens": "end" if end else "keep"}
    guessed = player.post("/api/account/password", {**body, "old": "guessing"})
    assert (guessed.status_code, code_of(guessed)) == (401, "wrong-password")
    return player.post("/api/account/password", body).status_code


def by_line(player: Player, _: Guest, *, end: bool) -> int:
    flag = "--end-tokens" if end else "--keep-tokens"
    line = f"change password {player.name} {PASSWORD} {NEW} {flag}"
    return do(player.api, line).status_code


def by_page(_: Player, guest: Guest, *, end: bool) -> int:
    fields = {"old": PASSWORD, "new": NEW, **({"end-tokens": "yes"} if end else {})}
    return guest.send("/account/password", fields).status_code


Change = Callable[..., int]


@pytest.mark.parametrize(
    ("change", "end", "status"),
    [(by_api, True, 204), (by_api, False, 204), (by_line, True, 200), (by_page, False, 303)],
)
def test_a_new_password_ends_all_other_sessions_and_tokens_unless_they_are_kept(
    api, come, change: Change, end, status
):
    player = api.player()
    thief, owner = come(player), come(player)
    assert change(player, owner, end=end) == status
    assert thief.get("/account").status_code == 303
    assert (owner.get("/account").status_code == 200) is (change is by_page)
    assert player.get("/api/account").status_code == (401 if end else 200)


def revoked(player: Player) -> None:
    (token,) = player.get("/api/tokens").json()
    assert player.delete(f"/api/tokens/{token['id']}").status_code == 204


def erased(player: Player) -> None:
    assert player.post("/api/account/deletion", {"password": PASSWORD}).status_code == 204


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
