"""A second factor at every way in: pages, API, terminal and lines; and what changes or loses it."""

import re
from base64 import b32decode
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from msgspec.structs import replace

from domain.errors import Code, Refusal
from infra.people.account_macs import AccountMacs, make_mac_key
from infra.people.accounts.record import Passkey
from infra.people.accounts.second_factors import STEP_MS, app_code, unseal
from infra.people.password_resets import PasswordResets
from infra.redis import keys
from services.app import accounts, passwords
from services.cli import login
from services.client.login_file import read_login
from tests.helpers.api import PASSWORD, Api, Player
from tests.helpers.web import Guest, refusal

NEW = "looking-glass"
CODES = re.compile(r"<code>([a-z2-9]{5}-[a-z2-9]{5}-[a-z2-9]{5})</code>")
STEP = re.compile(r'name="step" value="([\w-]{43})"')
KEY = Passkey(b"id", b"data", "Firefox", 1)


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    folder = tmp_path_factory.mktemp("factors")
    (folder / "keys").mkdir()
    make_mac_key(folder / "keys")
    given = {"keys": folder / "keys", "site": "https://play.example.org"}
    with Api(folder, relay="smtp://127.0.0.1:9", **given) as api:
        api.parts.accounts.macs = AccountMacs(Path(folder / "keys"))
        yield api


class Owner:
    """Somebody whose account has an app for codes."""

    def __init__(self, api: Api, guest: Guest, player: Player) -> None:
        self.api, self.guest, self.name, self.account = api, guest, player.name, player.account
        self.player = player
        page = guest.send("/account/app", on="/account")
        assert page.status_code == 200, page.text
        assert page.headers["cache-control"] == "no-store"
        step, typed = STEP.search(page.text), re.search(r"<code>([A-Z2-7 ]+)</code>", page.text)
        assert step
        assert typed
        assert "<svg" in page.text
        self.secret = b32decode(typed[1].replace(" ", ""))
        wrong = guest.send("/account/app/confirm", {"step": step[1], "code": "000000"})
        assert wrong.status_code == 403
        assert not self.factors.app
        fields = {"step": step[1], "code": self.code(-1)}
        shown = guest.send("/account/app/confirm", fields)
        self.recovery = CODES.findall(shown.text)
        assert len(self.recovery) == 10, shown.text

    @property
    def factors(self):
        return self.api.parts.accounts.factors_of(self.account)

    def code(self, later: int = 0) -> str:
        return app_code(self.secret, self.api.parts.store.now() // STEP_MS + later)

    def step(self, guest: Guest, password: str = PASSWORD) -> str:
        answer = guest.log_in(self.name, password)
        assert answer.status_code == 200, answer.text
        assert "set-cookie" not in answer.headers
        found = STEP.search(answer.text)
        assert found, answer.text
        return found[1]

    def enter(self, guest: Guest, code: str, password: str = PASSWORD):
        step = self.step(guest, password)
        return guest.send(
            "/login/code", {"step": step, "code": code, "next": "/players"}, on="/login"
        )


@pytest.fixture
def owner(api, come) -> Owner:
    player = api.player()
    return Owner(api, come(player), player)


def test_a_password_is_followed_by_a_code_on_the_pages(owner, come, api):
    guest = come()
    assert owner.enter(guest, "000000").status_code == 403
    assert guest.get("/account").status_code == 303
    code = owner.code()
    entered = owner.enter(guest, code)
    assert (entered.status_code, entered.headers["location"]) == (303, "/players")
    assert guest.get("/account").status_code == 200
    # neither the code nor the secret opens it twice
    assert owner.enter(come(), code).status_code == 403
    assert owner.enter(come(), owner.recovery[0]).status_code == 303
    assert owner.enter(come(), owner.recovery[0]).status_code == 403
    assert "9 recovery codes left" in guest.page("/account")
    # the secret is sealed in the store
    assert owner.secret not in api.parts.data.get(keys.account(owner.account))
    totp = api.parts.accounts.passwordless_record(owner.account).totp
    assert unseal(api.parts.accounts.macs, owner.account, totp) == owner.secret


def test_a_step_is_of_one_browser_and_ends_with_all_access(owner, come, api):
    guest, other = come(), come()
    step = owner.step(guest)
    fields = {"step": step, "code": owner.code()}
    assert other.send("/login/code", fields, on="/login").status_code == 404
    accounts.log_out_everywhere(api.parts, owner.account)
    late = guest.send("/login/code", fields, on="/login")
    assert late.status_code == 404
    assert "start again" in refusal(late.text)[1]
    api.parts.accounts.change_of(owner.account, lambda old: replace(old, suspended=True))
    with pytest.raises(Refusal) as refused:
        accounts.authenticate(api.parts, owner.name, PASSWORD, owner.code())
    assert refused.value.code == Code.SUSPENDED


def test_codes_can_not_be_guessed(owner, come):
    guest = come()
    step = owner.step(guest)
    said = [
        guest.send("/login/code", {"step": step, "code": f"00000{n}"}, on="/login").status_code
        for n in range(10)
    ]
    assert said == [403] * 10
    right = guest.send("/login/code", {"step": step, "code": owner.code()}, on="/login")
    assert right.status_code == 429
    assert guest.get("/account").status_code == 303


def test_a_program_makes_its_token_with_a_code_and_needs_none_later(owner, api):
    body = {
        "userid": owner.name,
        "password": PASSWORD,
        "label": "bot",
        "scopes": ["account", "read"],
    }
    for more, code in (({}, "code-needed"), ({"code": "111111"}, "wrong-code")):
        answer = api.http.post("/api/tokens", json={**body, **more})
        assert (answer.status_code, answer.json()["code"]) == (403, code)
    made = api.http.post("/api/tokens", json={**body, "code": owner.code()})
    assert made.status_code == 201
    player = Player(api, owner.name, owner.account, made.json()["token"])
    assert player.get("/api/account").is_success
    # the token was proven with a code, so the password alone confirms what it does
    fields = {"addresses": [], "password": PASSWORD}
    assert player.put("/api/account/addresses", fields).is_success


def test_a_terminal_asks_for_the_code_after_the_password(owner, api, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("MATCHPOST_URL", raising=False)
    monkeypatch.setattr("sys.stdin", StringIO(f"{owner.name}\n{PASSWORD}\n{owner.recovery[4]}\n"))
    assert login.run(api.url, None, None) == 0
    made = read_login()
    assert made is not None
    assert made.userid == owner.name
    assert owner.factors.recovery == 9


def test_a_line_with_a_password_is_refused_and_says_how_to_go_on(owner, api):
    for line in (
        "cases {name} {password}",
        "torere challenge --password={password} {name} {other}",
        "change password {name} {password} looking-glass",
        "set {name} {password} notify none",
        "delete {name} {password}",
    ):
        text = line.format(name=owner.name, password=PASSWORD, other=api.player().name)
        answer = api.http.post("/api/do", content=text).text
        assert answer.startswith("code-needed: "), answer
        assert "matchpost login" in answer
        assert "mail" in answer
    assert api.parts.accounts.record_of(owner.account).notify == "move"


def test_a_link_for_a_new_password_needs_a_code_too(owner, api, come):
    api.parts.accounts.change_of(
        owner.account, lambda old: replace(old, passkeys=(KEY,), factors_changed=1)
    )
    link = PasswordResets(api.parts.people).issue(owner.account)
    guest, path = come(), f"/password/{link}"
    assert 'name="code"' in guest.page(path)
    for code, status in (("", 403), ("000000", 403)):
        sent = guest.send(path, {"new": NEW, "code": code}, on=path)
        assert sent.status_code == status
    assert guest.send(path, {"new": NEW, "code": owner.recovery[1]}, on=path).status_code == 303
    # the passkey may be the thief's; the app stays
    assert (owner.factors.passkeys, owner.factors.app) == ((), True)
    assert owner.enter(come(), owner.code(), NEW).status_code == 303


def test_a_link_alone_undoes_what_a_thief_has_just_set_up(owner, api, come):
    link = PasswordResets(api.parts.people).issue(owner.account)
    guest, path = come(), f"/password/{link}"
    assert 'name="code"' not in guest.page(path)
    assert guest.send(path, {"new": NEW}, on=path).status_code == 303
    assert not owner.factors.any
    assert come().log_in(owner.name, NEW).status_code == 303


def test_a_factor_is_removed_by_its_owner_only_and_the_last_takes_the_codes(owner, api, come):
    api.parts.accounts.change_of(owner.account, lambda old: replace(old, passkeys=(KEY,)))
    thief, page = owner.guest, "/account"
    api.parts.sessions.list_of(owner.account)
    later = api.parts.store.now() + 11 * 60_000
    api.parts.store.now, kept = (lambda: later), api.parts.store.now
    try:
        for path in ("/account/app/remove", "/account/recovery-codes", "/account/app"):
            assert thief.send(path, on=page).status_code == 403
    finally:
        api.parts.store.now = kept
    assert owner.factors.app
    renewed = CODES.findall(thief.send("/account/recovery-codes", on=page).text)
    assert len(renewed) == 10
    assert not set(renewed) & set(owner.recovery)
    assert thief.send("/account/app/remove", on=page).status_code == 303
    assert owner.factors.recovery == 10
    assert thief.send("/account/passkeys/remove", {"passkey": "00"}, on=page).status_code == 404
    fields = {"passkey": KEY.id.hex()}
    assert thief.send("/account/passkeys/remove", fields, on=page).status_code == 303
    assert not owner.factors.any
    assert come().log_in(owner.name).status_code == 303


def test_an_operator_lets_somebody_in_who_has_lost_all(owner, api, come):
    password = passwords.replace_lost_password(api.parts, owner.name)
    assert not owner.factors.any
    assert come().log_in(owner.name, password).status_code == 303
