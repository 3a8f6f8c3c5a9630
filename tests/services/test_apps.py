"""Apps: a client that was not written here gets tokens, renews them and gives them back, and what ends them otherwise."""

import html
import re
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from itertools import chain, product
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
from authlib.common.security import generate_token
from authlib.integrations.base_client.errors import OAuthError
from authlib.integrations.httpx_client import OAuth2Client
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata
from msgspec.structs import replace

from infra.people import grants as grants_module
from infra.people.accounts.record import Passkey
from infra.people.device_codes import DeviceCodes
from infra.people.sessions import Sessions
from infra.people.tokens import MOST_TOKENS, Scope
from services.app import accounts
from services.app.own_data import own_files
from services.app.passwords import FRESH_MS
from services.http.context import TaskIntervals
from services.http.requests import SESSION_COOKIE
from tests.helpers.api import PASSWORD, Api, Player
from tests.helpers.web import Guest, refusal

LOOPBACK = "http://127.0.0.1:4711/callback"
SITE = "https://app.example.org/back?x=1"
VERIFIER = generate_token(64)
CHALLENGE = create_s256_code_challenge(VERIFIER)
ASKED = {
    "response_type": "code", "redirect_uri": LOOPBACK, "scope": "read play", "state": "a&b ü",
    "code_challenge": CHALLENGE, "code_challenge_method": "S256",
}  # fmt: skip
GIVEN = {"redirect_uri": LOOPBACK, "code_verifier": VERIFIER}
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
Token = dict[str, Any]


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    often = TaskIntervals(heartbeat=0.2)
    with Api(tmp_path_factory.mktemp("apps"), intervals=often) as api:
        yield api


@pytest.fixture(scope="module")
def maker(api: Api) -> Player:
    return api.player()


@pytest.fixture(scope="module")
def app(maker: Player) -> str:
    """The client id of an app."""
    return registered(maker)


def registered(maker: Player, name: str = "Board Watch") -> str:
    body = {"name": name, "redirect_uris": ["http://127.0.0.1/callback", SITE]}
    made = maker.post("/api/apps", body)
    assert made.status_code == 201, made.text
    return str(made.json()["client_id"])


def asks(app: str, **changed: str) -> str:
    """The address to which an app sends a browser."""
    fields = {"client_id": app, **ASKED, **changed}
    return f"/oauth/authorize?{urlencode({k: v for k, v in fields.items() if v})}"


def sent_to(page: httpx.Response) -> str:
    """Where a page goes on to."""
    assert page.status_code == 200, page.text
    found = re.search(r'http-equiv="refresh" content="0; url=([^"]*)"', page.text)
    assert found, page.text
    return html.unescape(found[1])


def answered(guest: Guest, address: str, answer: str = "yes") -> str:
    """Where the browser goes after the player has answered."""
    asked = re.search(r'name="asked" value="([^"]*)"', guest.page(address))
    assert asked
    fields = {"asked": html.unescape(asked[1]), "answer": answer}
    return sent_to(guest.send("/oauth/authorize", fields, on=address))


def back(location: str) -> dict[str, str]:
    return {name: value for name, (value,) in parse_qs(urlsplit(location).query).items()}


def ask(api: Api, path: str, **fields: str) -> httpx.Response:
    """Send a form to an endpoint; the answer has to be one that the document promises."""
    return api.http.post(f"/api/oauth/{path}", data=fields)


def let(player: Player, app: str) -> str:
    """Have a player let an app, as the page does; gives the code."""
    sent = {"redirect": LOOPBACK, "challenge": CHALLENGE}
    grants = player.api.parts.grants
    return grants.begin(player.account, app, (Scope.READ, Scope.PLAY), **sent)[1]


def get_token(player: Player, app: str) -> Token:
    """Have a player let an app, and return its first token."""
    code = let(player, app)
    answer = used(player.api, app, code)
    assert answer.status_code == 200, answer.text
    return {"code": code, "app": app, **answer.json()}


def used(api: Api, app: str, code: str, /, **changed: str) -> httpx.Response:
    given = {"client_id": app, "code": code, **GIVEN} | changed
    return ask(api, "token", grant_type="authorization_code", **given)


def renewed(api: Api, token: Token, **more: str) -> httpx.Response:
    given = {"client_id": token["app"], "refresh_token": token["refresh_token"], **more}
    return ask(api, "token", grant_type="refresh_token", **given)


def error_of(answer: httpx.Response) -> str:
    assert answer.status_code == 400, answer.text
    return str(answer.json()["error"])


def works(api: Api, token: Token) -> bool:
    headers = {"Authorization": f"Bearer {token['access_token']}"}
    return api.http.get("/api/account", headers=headers).status_code == 200


def test_a_client_of_others_plays_a_move_renews_its_token_and_plays_another(api, come, app):
    alice, bob = api.players()
    board, guest = api.begun(alice, bob, game="halves"), come(alice)
    endpoint = f"{api.url}/api/oauth/token"
    known = {"redirect_uri": LOOPBACK, "scope": "read play", "code_challenge_method": "S256"}
    with OAuth2Client(app, token_endpoint_auth_method="none", trust_env=False, **known) as client:
        address, state = client.create_authorization_url(
            f"{api.url}/oauth/authorize", code_verifier=VERIFIER
        )
        came = answered(guest, address.removeprefix(api.url))
        assert came.startswith(f"{LOOPBACK}?")
        assert (back(came)["state"], back(came)["iss"]) == (state, api.url)
        first = client.fetch_token(endpoint, authorization_response=came, code_verifier=VERIFIER)
        assert (first["scope"], first["expires_in"]) == ("read play", 3600)
        path = f"/api/matches/{board}"

        def play() -> None:
            move = alice.get(path).json()["at"]["legal"][0]
            answer = client.post(f"{api.url}{path}/commands", json={"do": "move", "move": move})
            assert answer.is_success, answer.text

        play()
        second = client.refresh_token(endpoint)
        assert not works(api, first)
        bob.move(board, bob.get(path).json()["at"]["legal"][0])
        play()
        assert alice.get(path).json()["at"]["ply"] == 3
        ended = client.revoke_token(f"{api.url}/api/oauth/revoke", second["refresh_token"])
        assert ended.is_success
        assert client.get(f"{api.url}/api/account").status_code == 401
        with pytest.raises(OAuthError, match="invalid_grant"):
            client.refresh_token(endpoint, refresh_token=second["refresh_token"])


def test_the_metadata_say_where_and_are_sound(api):
    elsewhere = {"Origin": "https://x.example"}
    found = api.http.get("/.well-known/oauth-authorization-server", headers=elsewhere)
    assert found.headers["access-control-allow-origin"] == "*"
    data = found.json()
    # authlib has addresses of the machine itself without TLS in
    AuthorizationServerMetadata(data).validate()
    assert data["issuer"] == api.url
    assert data["code_challenge_methods_supported"] == ["S256"]
    assert data["scopes_supported"] == ["read", "play", "organise"]


def test_what_an_app_may_not_ask_goes_back_to_it_with_state_and_issuer(api, come, app):
    guest, found = come(api.player()), []
    rows = (
        ({"scope": "read account"}, "invalid_scope"),
        ({"scope": "admin"}, "invalid_scope"),
        ({"scope": "everything"}, "invalid_scope"),
        ({"code_challenge": ""}, "invalid_request"),
        ({"code_challenge_method": ""}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
    )
    for changed, _ in rows:
        location = sent_to(guest.get(asks(app, **changed)))
        assert location.startswith(f"{LOOPBACK}?")
        found.append(back(location))
    said = [{name: one.get(name) for name in ("error", "state", "iss", "code")} for one in found]
    told = {"state": ASKED["state"], "iss": api.url, "code": None}
    assert said == [{"error": error, **told} for _, error in rows]


def test_a_browser_is_sent_nowhere_that_the_app_has_not_registered(api, come, app):
    guest, followed = come(api.player()), []
    for changed in (
        {"redirect_uri": "https://thief.example/"},
        {"redirect_uri": "http://127.0.0.1:4711/other"},
        {"redirect_uri": "http://127.0.0.1:4711@thief.example/callback"},
        {"redirect_uri": SITE + "&y=2"},
        {"redirect_uri": '"><script>'},
        {"redirect_uri": "", "response_type": 'a"b'},
        {"client_id": "0" * 32},
        {"client_id": 'no"app'},
        {"client_id": ""},
    ):
        answer = guest.get(asks(app, **changed))
        is_refused = (answer.status_code, refusal(answer.text)[0]) == (400, "bad-request")
        if not is_refused or "http-equiv" in answer.text:
            followed.append(changed)
    assert followed == []


def test_a_parameter_that_is_sent_twice_is_refused_on_the_page_and_at_the_endpoints(api, come, app):
    assert come(api.player()).get(f"{asks(app)}&scope=read").status_code == 400
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    twice = api.http.post("/api/oauth/token", content="client_id=a&client_id=b", headers=form)
    assert error_of(twice) == "invalid_request"


ODD = ("\\", "\x00", "ü\u202e", "%", "a" * 1_500, "[", "http://[", "http://127.0.0.1:99999999/callback")  # fmt: skip


def test_whatever_an_app_asks_is_answered(api, come, app):
    guest = come(api.player())
    guest.page("/device")
    for field, odd in chain(product((*ASKED, "client_id"), '"'), product(["redirect_uri"], ODD)):
        asked = urlencode({"client_id": app, **ASKED, field: odd})
        fields = {"asked": asked, "answer": "yes"}
        for answer in (
            guest.get(f"/oauth/authorize?{asked}"),
            guest.send("/oauth/authorize", fields, on="/device"),
        ):
            assert answer.status_code in (200, 400), (field, odd, answer.text)


def test_the_page_needs_a_session_a_form_of_its_own_and_no_frame_and_no_is_an_answer(
    api, come, app
):
    to_login = come().get(asks(app))
    assert to_login.status_code == 303
    assert to_login.headers["location"].startswith("/login?next=/oauth/authorize")
    guest = come(api.player())
    page = guest.get(asks(app))
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert page.headers["cache-control"] == "no-store"
    forged = guest.http.post("/oauth/authorize", data={"asked": asks(app)[17:], "answer": "yes"})
    assert forged.status_code == 403
    found = back(answered(guest, asks(app), "no"))
    assert [found[name] for name in ("error", "state", "iss")] == [
        "access_denied", ASKED["state"], api.url,
    ]  # fmt: skip
    assert api.parts.grants.of(api.parts.accounts.id_of(guest.name)) == []
    again = guest.page(asks(app))
    assert "Board Watch" in again
    assert "see what only you can see" in again


def test_a_code_is_good_once_with_its_secret_its_address_and_its_app_alone_and_not_for_long(
    api, app, maker, monkeypatch
):
    player = api.player()
    code = let(player, app)
    for changed in (
        {"code_verifier": generate_token(64)}, {"code_verifier": ""}, {"redirect_uri": SITE}, {"redirect_uri": ""},
        {"code": "mc_" + "A" * 86}, {"code": "x"}, {"client_id": registered(maker, "Other")}, {"client_id": "0" * 32}, {"client_id": ""},
    ):  # fmt: skip
        error = error_of(used(api, app, code, **changed))
        assert error in {"invalid_grant", "invalid_request", "invalid_client"}, changed
    # a wrong attempt has not used it up
    token = {"app": app, **used(api, app, code).json()}
    assert works(api, token)
    # and a second use ends what was got by it
    assert error_of(used(api, app, code)) == "invalid_grant"
    assert not works(api, token)
    assert error_of(renewed(api, token)) == "invalid_grant"
    late, now = let(player, app), grants_module.time_ms(api.parts.people)
    monkeypatch.setattr(grants_module, "time_ms", lambda _: now + 61_000)
    assert error_of(used(api, app, late)) == "invalid_grant"


def test_an_old_session_lets_no_app_act_without_the_password(api, come, app):
    player, guest = api.player(), come()
    past = Sessions(api.parts.people, lambda: api.parts.store.now() - FRESH_MS - 1_000)
    guest.http.cookies.set(SESSION_COOKIE, past.open(player.account).text)
    guest.name = player.name
    code = ask(api, "device", client_id=app).json()["user_code"]
    for path, fields, on in (
        ("/oauth/authorize", {"asked": urlsplit(asks(app)).query}, asks(app)),
        ("/device/answer", {"code": code}, "/device"),
    ):
        seen = [
            guest.send(path, {**fields, "answer": "yes", **password}, on=on)
            for password in ({}, {"password": "wrong-one"}, {"password": PASSWORD})
        ]
        assert [one.status_code for one in seen] == [403, 401, 200], path
        assert all('name="password"' in one.text for one in seen[:2]), path
        refused = guest.send(path, {**fields, "answer": "no"}, on=on)
        assert refused.status_code == (404 if path == "/device/answer" else 200)
    assert len(api.parts.grants.of(player.account)) == 2


def test_no_log_has_the_text_of_a_token(api, come, app, caplog):
    with caplog.at_level("DEBUG"):
        code = back(answered(come(api.player()), asks(app)))["code"]
        renewed(api, {"app": app, **used(api, app, code).json()})
    said = [one.getMessage() for one in caplog.records]
    assert "app-allowed" in said
    assert not [text for text in said if re.search("m[cpr]_[A-Za-z0-9_-]{30}", text)]


def test_a_refresh_token_that_is_used_twice_ends_all_of_its_family_and_nothing_else(api, app):
    player = api.player()
    kept, first = get_token(player, app), get_token(player, app)
    second = {"app": app, **renewed(api, first).json()}
    assert works(api, second)
    # a text that nobody has made ends nothing
    made_up = {"app": app, "refresh_token": kept["refresh_token"][:30] + "A" * 59}
    assert error_of(renewed(api, made_up)) == "invalid_grant"
    assert works(api, kept)
    forged = {"app": app, "refresh_token": first["refresh_token"][:-3] + "AAA"}
    assert error_of(renewed(api, forged)) == "invalid_grant"
    assert not works(api, second)
    assert error_of(renewed(api, second)) == "invalid_grant"
    assert works(api, kept)


def test_a_token_may_have_fewer_scopes_and_never_more(api, app):
    token = get_token(api.player(), app)
    for wrong in ("read play organise", "account"):
        assert error_of(renewed(api, token, scope=wrong)) == "invalid_scope"
    less = {"app": app, **renewed(api, token, scope="read").json()}
    assert less["scope"] == "read"
    headers = {"Authorization": f"Bearer {less['access_token']}"}
    refused = api.http.post("/api/challenges", json={"game": "pow2"}, headers=headers)
    assert refused.json()["code"] == "missing-scope"
    assert renewed(api, less).json()["scope"] == "read play"


def test_consent_is_remembered_for_a_site_and_its_scopes_and_asked_for_by_a_program(api, come, app):
    guest = come(api.player())
    code = back(answered(guest, asks(app, redirect_uri=SITE)))["code"]
    assert used(api, app, code, redirect_uri=SITE).is_success
    at_once = sent_to(guest.get(asks(app, redirect_uri=SITE, scope="read")))
    assert at_once.startswith(f"{SITE}&code=")
    assert "Allow" in guest.page(asks(app, redirect_uri=SITE, scope="organise"))
    assert "Allow" in guest.page(asks(app))
    guest.send(f"/account/apps/{app}/disconnect")
    assert "Allow" in guest.page(asks(app, redirect_uri=SITE, scope="read"))


def test_an_account_with_all_its_tokens_renews_those_of_apps_and_gets_no_further_one(api, app):
    player = api.player()
    token = get_token(player, app)
    while len(api.parts.tokens.list_of(player.account)) < MOST_TOKENS:
        api.parts.tokens.issue(player.account, "x", ["read"])
    assert works(api, renewed(api, token).json())
    full = used(api, app, let(player, app))
    assert (full.status_code, full.json()["code"]) == (409, "too-many")
    assert len(api.parts.grants.of(player.account)) == 1


def connected(player: Player) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = player.get("/api/account/apps").json()
    return found


def test_a_player_sees_what_acts_for_them_and_disconnects_it_with_its_streams(
    api, come, app, maker
):
    player = api.player()
    token = get_token(player, app)
    (one,) = connected(player)
    known = "Board Watch", maker.name, ["read", "play"]
    assert (one["name"], one["owner"], one["scopes"]) == known
    listed = {found["label"]: found["app"] for found in player.get("/api/tokens").json()}
    assert listed == {"rig": "", "Board Watch": app}
    page = come(player).page("/account")
    assert f"by {maker.name}" in page
    assert f"/account/tokens/{token['token_id']}/revoke" not in page
    held = Player(api, player.name, player.account, token["access_token"])
    with api.stream("/api/account/events", held) as events:
        assert next(events).event == "hello"
        assert player.delete(f"/api/account/apps/{app}").status_code == 204
        assert [one for one in events if one.event] == []
    assert not works(api, token)
    assert connected(player) == []
    assert player.delete(f"/api/account/apps/{app}").json()["code"] == "not-found"


def end(player: Player, token: Token, what: str) -> None:
    """Do what ends something of an app's, or might be thought to."""
    parts, password = player.api.parts, {"old": PASSWORD, "new": "another-one-1"}
    match what:
        case "a new password":
            player.post("/api/account/password", password)
        case "log out everywhere":
            player.post("/api/account/logout")
        case "suspension":
            accounts.set_suspended(parts, player.name, suspended=True)
        case "erasure":
            player.post("/api/account/deletion", {"password": PASSWORD})
        case "its token revoked":
            player.delete(f"/api/tokens/{token['token_id']}")
        case "its token given back":
            ask(player.api, "revoke", client_id=token["app"], token=token["access_token"])
        case "a new password that keeps tokens":
            player.post("/api/account/password", password | {"tokens": "keep"})
        case "a second factor":
            key = Passkey(b"id", b"data", "Firefox", 1)
            change = parts.accounts.change_of
            change(player.account, lambda one: replace(one, passkeys=(key,)))


ENDINGS = {
    "all": ("a new password", "log out everywhere", "suspension", "erasure"),
    "its grant": ("its token revoked", "its token given back"),
    "nothing": ("a new password that keeps tokens", "a second factor"),
}
"""What of an app ends by which act of a player."""


@pytest.mark.parametrize(
    ("ended", "what"), [(ended, what) for ended, acts in ENDINGS.items() for what in acts]
)
def test_what_ends_tokens_ends_grants_and_what_keeps_them_does_not(api, app, ended, what):
    player = api.player()
    token, waiting = get_token(player, app), let(player, app)
    end(player, token, what)
    is_kept = ended == "nothing"
    assert works(api, token) is is_kept
    assert (renewed(api, token).status_code == 200) is is_kept
    assert bool([one for one in api.parts.grants.of(player.account) if one.grant.used]) is is_kept
    assert (used(api, app, waiting).status_code == 200) is (ended != "all")
    assert (player.account in set(api.parts.apps.users(app))) is (ended != "all")


@pytest.mark.parametrize("ending", ["removal", "erasure"])
def test_an_app_that_is_gone_has_nothing_left_of_anybody(api, come, ending):
    maker, player = api.players()
    app = registered(maker)
    token, waiting = get_token(player, app), let(player, app)
    if ending == "removal":
        assert maker.delete(f"/api/apps/{app}").status_code == 204
        assert maker.delete(f"/api/apps/{app}").json()["code"] == "not-found"
    else:
        maker.post("/api/account/deletion", {"password": PASSWORD})
    assert not works(api, token)
    assert error_of(renewed(api, token)) == "invalid_client"
    assert error_of(used(api, app, waiting)) == "invalid_client"
    assert connected(player) == []
    assert come(player).get(asks(app)).status_code == 400
    keys = {key for key in api.parts.data.scan_iter() if maker.account.hex().encode() in key}
    assert not {key for key in keys if b":app" in key}


def test_nobody_removes_or_disconnects_what_is_not_theirs(api, come, app):
    player = api.player()
    guest, done = come(player), []
    for client in (app, "nonsense", "matchpost-terminal", "0" * 32, "é"):
        codes = [
            player.delete(f"{place}/{client}").json()["code"]
            for place in ("/api/account/apps", "/api/apps")
        ]
        pages = [
            guest.send(f"/account/apps/{client}/{what}", on="/account/apps").status_code
            for what in ("disconnect", "remove")
        ]
        if (codes, pages) != (["not-found"] * 2, [404] * 2):
            done.append((client, codes, pages))
    assert done == []


def test_apps_are_registered_with_a_name_and_addresses_that_are_safe_and_ten_at_most(api):
    maker = api.player()
    sites = ("http://example.org", "javascript:alert(1)")
    addresses = (
        "http://example.org/cb", "https://user@example.org/", "https://example.org/#x", "javascript:alert(1)",
        "myapp://cb", "https:///cb", "http://127.0.0.1.example.org/", "https://example.org/ b", "data:text/html,x",
    )  # fmt: skip
    refused = [
        {"name": " "},
        {"name": "a\nb\u202e"},
        *({"name": "A", "site": one} for one in sites),
    ]
    refused += [{"name": "A", "redirect_uris": [one]} for one in addresses]
    found = [(body, maker.post("/api/apps", body).json().get("code")) for body in refused]
    assert [one for one in found if one[1] != "bad-option"] == []
    one = maker.post("/api/apps", {"name": "A", "redirect_uris": ["org.example.app:/back"]}).json()
    assert one["redirect_uris"] == ["org.example.app:/back"]
    made = [maker.post("/api/apps", {"name": "A"}).status_code for _ in range(10)]
    assert made == [201] * 9 + [409]
    assert len(maker.get("/api/apps").json()) == 10


def test_apps_are_registered_and_removed_on_a_page(api, come):
    maker = api.player()
    guest = come(maker)
    wrong = guest.send("/account/apps", {"name": "Bot", "redirects": "ftp://x"}, on="/account/apps")
    assert "can’t be a redirect" in html.unescape(wrong.text).replace("'", "’")
    assert 'value="Bot"' in wrong.text
    fields = {"name": "Bot", "redirects": f"http://[::1]/cb\n{SITE}"}
    assert guest.send("/account/apps", fields, on="/account/apps").status_code == 303
    (made,) = maker.get("/api/apps").json()
    assert made["client_id"] in guest.page("/account/apps")
    assert made["redirect_uris"] == ["http://[::1]/cb", SITE]
    guest.send(f"/account/apps/{made['client_id']}/remove", on="/account/apps")
    assert maker.get("/api/apps").json() == []


def test_own_data_have_apps_and_grants_without_their_secrets(api):
    maker = api.player()
    app = registered(maker)
    token = get_token(maker, app)
    files = {one.name: one.content.decode() for one in own_files(api.parts, maker.account)}
    assert "Board Watch" in files["apps.json"]
    assert SITE in files["apps.json"]
    assert app in files["tokens.json"]
    assert sha256(token["refresh_token"].encode()).hexdigest() not in "".join(files.values())
    assert "refresh" not in files["apps.json"]


# devices


def test_a_device_gets_its_token_once_its_user_has_typed_the_code(api, come, app):
    player = api.player()
    guest = come(player)
    asked = ask(api, "device", client_id=app, scope="read play").json()
    assert asked["verification_uri"] == f"{api.url}/device"
    poll = {"grant_type": DEVICE, "client_id": app, "device_code": asked["device_code"]}
    assert error_of(ask(api, "token", **poll)) == "authorization_pending"
    assert error_of(ask(api, "token", **poll)) == "slow_down"
    complete = asked["verification_uri_complete"].removeprefix(api.url)
    assert f'value="{asked["user_code"]}"' in guest.page(complete)
    typed = asked["user_code"].lower().replace("-", " ")
    assert "Board Watch" in guest.send("/device", {"code": typed}, on="/device").text
    assert connected(player) == []
    done = guest.send("/device/answer", {"code": typed, "answer": "yes"}, on="/device")
    assert "Go on at your device" in done.text
    token = {"app": app, **ask(api, "token", **poll).json()}
    assert works(api, token)
    assert works(api, renewed(api, token).json())
    assert error_of(ask(api, "token", **poll)) == "expired_token"
    assert connected(player) == []  # a second use of the code ends it


def test_a_device_is_refused_or_too_late_or_asks_what_apps_may_not(
    api, come, app, maker, monkeypatch
):
    guest = come(api.player())
    refused, late = (ask(api, "device", client_id=app).json() for _ in range(2))
    guest.send("/device/answer", {"code": refused["user_code"], "answer": "no"}, on="/device")
    poll = {"grant_type": DEVICE, "client_id": app}
    no = ask(api, "token", **poll, device_code=refused["device_code"])
    assert error_of(no) == "access_denied"
    other = {**poll, "client_id": registered(maker, "Other")}
    assert (
        error_of(ask(api, "token", **other, device_code=late["device_code"]))
        == "unauthorized_client"
    )
    now = api.parts.store.now()
    monkeypatch.setattr(type(api.parts.store), "now", lambda _: now + 901_000)
    assert error_of(ask(api, "token", **poll, device_code=late["device_code"])) == "expired_token"
    for wrong in ("", "BCDFGHJK.x", late["device_code"] + "x"):
        error = error_of(ask(api, "token", **poll, device_code=wrong))
        assert error in {"invalid_grant", "invalid_request"}
    assert error_of(ask(api, "device", client_id=app, scope="account")) == "invalid_scope"
    assert error_of(ask(api, "device", client_id="x")) == "invalid_client"


def test_guesses_of_a_code_end_after_ten(api, come, app):
    guest, asked = come(api.player()), ask(api, "device", client_id=app).json()
    seen = [guest.send("/device", {"code": "DDDD-DDDD"}, on="/device") for _ in range(11)]
    assert [one.status_code for one in seen] == [404] * 10 + [429]
    assert int(seen[-1].headers["Retry-After"]) > 600
    fields = {"code": asked["user_code"], "answer": "yes"}
    assert guest.send("/device/answer", fields, on="/device").status_code == 429
    other = come(api.player())
    assert "Board Watch" in other.send("/device", {"code": asked["user_code"]}, on="/device").text


def test_the_code_of_another_device_is_never_given_twice(api, app, monkeypatch):
    drawn = iter("BBBBBBBB" * 2 + "CCCCCCCC")
    monkeypatch.setattr("infra.people.device_codes.secrets.choice", lambda _: next(drawn))
    codes = DeviceCodes(api.parts.people)
    assert [codes.ask(app, ())[1] for _ in range(2)] == ["BBBB-BBBB", "CCCC-CCCC"]


# between pages of other sites and a server that is full


@pytest.mark.parametrize("path", ["token", "revoke", "device"])
def test_pages_of_other_sites_may_use_the_endpoints_and_a_wrong_form_is_named(api, path):
    foreign = {"Origin": "https://app.example", "Sec-Fetch-Site": "cross-site"}
    answer = api.http.post(f"/api/oauth/{path}", data={"client_id": "x"}, headers=foreign)
    assert answer.status_code == 400
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in answer.headers
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-type"] == "application/json"
    json = api.http.post(f"/api/oauth/{path}", json={"client_id": "x"})
    assert (json.status_code, json.json()["error"]) == (415, "invalid_request")


def test_a_server_that_is_full_refuses_with_a_code_that_clients_know_and_uses_nothing_up(api, app):
    player = api.player()
    token, over = get_token(player, app), get_token(player, app)
    code = let(player, app)
    api.parts.data.config_set("maxmemory", "1mb")
    try:
        seen = [renewed(api, token), used(api, app, code), ask(api, "device", client_id=app)]
        # what is given back takes no room
        assert ask(api, "revoke", client_id=app, token=over["refresh_token"]).status_code == 200
    finally:
        api.parts.data.config_set("maxmemory", "0")
    assert [one.status_code for one in seen] == [503] * 3
    assert {one.json()["error"] for one in seen} == {"temporarily_unavailable"}
    assert all(int(one.headers["Retry-After"]) > 0 for one in seen)
    assert not works(api, over)
    assert renewed(api, token).status_code == 200
    assert used(api, app, code).status_code == 200


def test_a_server_at_rest_has_not_imported_what_apps_or_other_languages_alone_need():
    said = "import sys, services.http.app; print({'authlib', 'babel.messages'}.intersection(sys.modules))"
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
