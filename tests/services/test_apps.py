"""Apps: a client that was not written here gets tokens, renews them and gives them back, and what ends them otherwise."""

import html
import re
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
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
from infra.people.grants import MOST_OF_APP
from infra.people.sessions import Sessions
from infra.people.tokens import MOST_TOKENS
from services.app import accounts
from services.app.apps import answer_device
from services.app.own_data import own_files
from services.app.passwords import FRESH_MS
from services.http.context import TaskIntervals
from services.http.requests import SESSION_COOKIE
from tests.helpers.api import PASSWORD, Api, Player
from tests.helpers.web import Guest, refusal

LOOPBACK = "http://127.0.0.1:4711/callback"
SITE = "https://app.example.org/back?x=1"
VERIFIER = generate_token(64)
ASKED = {
    "response_type": "code",
    "redirect_uri": LOOPBACK,
    "scope": "read play",
    "state": "a&b ü",
    "code_challenge": create_s256_code_challenge(VERIFIER),
    "code_challenge_method": "S256",
}
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"


@pytest.fixture(scope="module")
def maker(api: Api) -> Player:
    return api.player()


@pytest.fixture(scope="module")
def app(maker: Player) -> str:
    """The client id of an app."""
    return registered(maker)


def registered(maker: Player, name: str = "Board Watch", **more: Any) -> str:
    body = {"name": name, "redirect_uris": ["http://127.0.0.1/callback", SITE], **more}
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


@pytest.fixture
def ask(api: Api) -> Callable[..., httpx.Response]:
    """Send a form to an endpoint; the answer has to be one that the document promises."""

    def send(path: str, **fields: str) -> httpx.Response:
        return api.http.post(f"/api/oauth/{path}", data=fields)

    return send


@pytest.fixture
def get_token(ask: Callable[..., httpx.Response]) -> Callable[..., dict[str, Any]]:
    """Have a player let an app, and return its first token."""

    def got(guest: Guest, app: str, **changed: str) -> dict[str, Any]:
        code = back(answered(guest, asks(app, **changed)))["code"]
        where = changed.get("redirect_uri", LOOPBACK)
        given = {"client_id": app, "code": code, "redirect_uri": where, "code_verifier": VERIFIER}
        answer = ask("token", grant_type="authorization_code", **given)
        assert answer.status_code == 200, answer.text
        return {"code": code, **answer.json()}

    return got


def works(api: Api, token: dict[str, Any]) -> bool:
    return api.http.get("/api/account", headers=bearer(token)).status_code == 200


def bearer(token: dict[str, Any]) -> dict[str, str]:
    return {"Authorization": f"Bearer {token['access_token']}"}


def test_a_client_of_others_plays_a_move_renews_its_token_and_plays_another(api, come, app):
    alice, bob = api.players()
    board, guest = api.begun(alice, bob, game="halves"), come(alice)
    endpoint = f"{api.url}/api/oauth/token"
    with OAuth2Client(
        app,
        token_endpoint_auth_method="none",
        code_challenge_method="S256",
        redirect_uri=LOOPBACK,
        scope="read play",
        trust_env=False,
    ) as client:
        address, state = client.create_authorization_url(
            f"{api.url}/oauth/authorize", code_verifier=VERIFIER
        )
        came = answered(guest, address.removeprefix(api.url))
        assert came.startswith(f"{LOOPBACK}?")
        assert back(came)["state"] == state
        assert back(came)["iss"] == api.url
        first = client.fetch_token(endpoint, authorization_response=came, code_verifier=VERIFIER)
        assert (first["scope"], first["expires_in"]) == ("read play", 3600)
        path = f"/api/matches/{board}"

        def play(who: Any, place: str) -> None:
            move = alice.get(path).json()["at"]["legal"][0]
            answer = who.post(f"{place}{path}/commands", json={"do": "move", "move": move})
            assert answer.is_success, answer.text

        play(client, api.url)
        second = client.refresh_token(endpoint)
        assert not works(api, first)
        bob.move(board, bob.get(path).json()["at"]["legal"][0])
        play(client, api.url)
        assert alice.get(path).json()["at"]["ply"] == 3
        assert client.revoke_token(
            f"{api.url}/api/oauth/revoke", second["refresh_token"]
        ).is_success
        assert client.get(f"{api.url}/api/account").status_code == 401
        with pytest.raises(OAuthError, match="invalid_grant"):
            client.refresh_token(endpoint, refresh_token=second["refresh_token"])


def test_the_metadata_say_where_and_are_sound(api):
    found = api.http.get(
        "/.well-known/oauth-authorization-server", headers={"Origin": "https://x.example"}
    )
    assert found.headers["access-control-allow-origin"] == "*"
    data = found.json()
    # authlib has addresses of the machine itself without TLS in
    AuthorizationServerMetadata(data).validate()
    assert data["issuer"] == api.url
    assert data["code_challenge_methods_supported"] == ["S256"]
    assert data["scopes_supported"] == ["read", "play", "organise"]


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"scope": "read account"}, "invalid_scope"),
        ({"scope": "admin"}, "invalid_scope"),
        ({"scope": "everything"}, "invalid_scope"),
        ({"code_challenge": ""}, "invalid_request"),
        ({"code_challenge_method": ""}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
    ],
)
def test_what_an_app_may_not_ask_goes_back_to_it_with_state_and_issuer(
    api, come, app, changed, error
):
    location = sent_to(come(api.player()).get(asks(app, **changed)))
    assert location.startswith(f"{LOOPBACK}?")
    found = back(location)
    assert (found["error"], found["state"], found["iss"]) == (error, ASKED["state"], api.url)
    assert "code" not in found


@pytest.mark.parametrize(
    "changed",
    [
        {"redirect_uri": "https://thief.example/"},
        {"redirect_uri": "http://127.0.0.1:4711/other"},
        {"redirect_uri": "http://127.0.0.1:4711@thief.example/callback"},
        {"redirect_uri": SITE + "&y=2"},
        {"redirect_uri": '"><script>'},
        {"redirect_uri": "", "response_type": 'a"b'},
        {"client_id": "0" * 32},
        {"client_id": 'no"app'},
        {"client_id": ""},
    ],
)
def test_a_browser_is_sent_nowhere_that_the_app_has_not_registered(api, come, app, changed):
    answer = come(api.player()).get(asks(**{"app": app, **changed} | {"app": app}))
    assert answer.status_code == 400
    assert refusal(answer.text)[0] == "bad-request"
    assert "http-equiv" not in answer.text


def test_a_parameter_that_is_sent_twice_is_refused_on_the_page_and_at_the_endpoints(api, come, app):
    guest = come(api.player())
    assert guest.get(f"{asks(app)}&scope=read").status_code == 400
    twice = api.http.post(
        "/api/oauth/token",
        content="client_id=a&client_id=b",
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )
    assert (twice.status_code, twice.json()["error"]) == (400, "invalid_request")


@pytest.mark.parametrize("field", [*ASKED, "client_id"])
def test_whatever_an_app_asks_is_answered(api, come, app, field):
    guest = come(api.player())
    for odd in (
        '"',
        "\\",
        "\x00",
        "ü\u202e",
        "%",
        "a" * 1_500,
        "[",
        "http://[",
        "http://127.0.0.1:99999999/callback",
    ):
        asked = {"client_id": app, **ASKED, field: odd}
        for answer in (
            guest.get(f"/oauth/authorize?{urlencode(asked)}"),
            guest.send(
                "/oauth/authorize", {"asked": urlencode(asked), "answer": "yes"}, on="/device"
            ),
        ):
            assert answer.status_code in (200, 400), (odd, answer.text)


def test_a_player_who_says_no_is_asked_again_and_the_app_is_told(api, come, app):
    guest = come(api.player())
    found = back(answered(guest, asks(app), "no"))
    assert (found["error"], found["state"], found["iss"]) == (
        "access_denied",
        ASKED["state"],
        api.url,
    )
    page = guest.page(asks(app))
    assert "Board Watch" in page
    assert "see what only you can see" in page


def test_the_page_needs_a_session_a_form_of_its_own_and_no_frame(api, come, app):
    nobody = come()
    to_login = nobody.get(asks(app))
    assert to_login.status_code == 303
    assert to_login.headers["location"].startswith("/login?next=/oauth/authorize")
    guest = come(api.player())
    page = guest.get(asks(app))
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert page.headers["cache-control"] == "no-store"
    forged = guest.http.post("/oauth/authorize", data={"asked": asks(app)[17:], "answer": "yes"})
    assert forged.status_code == 403
    assert api.parts.grants.of(api.parts.accounts.id_of(guest.name)) == []


@pytest.mark.parametrize(
    "changed",
    [
        {"code_verifier": generate_token(64)},
        {"code_verifier": ""},
        {"redirect_uri": SITE},
        {"redirect_uri": ""},
        {"code": "mc_" + "A" * 86},
        {"code": "x"},
    ],
)
def test_a_code_is_good_with_its_secret_and_its_address_alone(api, come, app, ask, changed):
    code = back(answered(come(api.player()), asks(app)))["code"]
    given = {"client_id": app, "code": code, "redirect_uri": LOOPBACK, "code_verifier": VERIFIER}
    refused = ask("token", grant_type="authorization_code", **given | changed)
    assert refused.status_code == 400
    assert refused.json()["error"] in {"invalid_grant", "invalid_request"}
    # a wrong attempt has not used it up
    assert ask("token", grant_type="authorization_code", **given).status_code == 200


def test_a_code_is_good_for_its_app_alone_and_not_for_long(api, come, app, maker, ask, monkeypatch):
    other = registered(maker, "Other")
    guest = come(api.player())
    code = back(answered(guest, asks(app)))["code"]
    given = {"code": code, "redirect_uri": LOOPBACK, "code_verifier": VERIFIER}
    for wrong in (other, "0" * 32, ""):
        refused = ask("token", grant_type="authorization_code", client_id=wrong, **given)
        assert refused.json()["error"] in {"invalid_grant", "invalid_client"}
    now = grants_module.time_ms(api.parts.people)
    monkeypatch.setattr(grants_module, "time_ms", lambda _: now + 61_000)
    late = ask("token", grant_type="authorization_code", client_id=app, **given)
    assert late.json()["error"] == "invalid_grant"


def test_an_old_session_lets_no_app_act_without_the_password(api, come, app, ask):
    player = api.player()
    guest = come()
    past = Sessions(api.parts.people, lambda: api.parts.store.now() - FRESH_MS - 1_000)
    guest.http.cookies.set(SESSION_COOKIE, past.open(player.account).text)
    guest.name = player.name
    code = ask("device", client_id=app).json()["user_code"]
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


def test_a_code_that_is_used_twice_ends_what_was_got_by_it(api, come, app, ask, get_token):
    token = get_token(come(api.player()), app)
    assert works(api, token)
    again = ask(
        "token", grant_type="authorization_code", client_id=app, code=token["code"],
        redirect_uri=LOOPBACK, code_verifier=VERIFIER,
    )  # fmt: skip
    assert again.json()["error"] == "invalid_grant"
    assert not works(api, token)
    assert renewed(ask, app, token).json()["error"] == "invalid_grant"


def renewed(ask: Any, app: str, token: dict[str, Any], **more: str) -> httpx.Response:
    text = token["refresh_token"]
    return ask("token", grant_type="refresh_token", client_id=app, refresh_token=text, **more)


def test_no_log_has_the_text_of_a_token(api, come, app, ask, get_token, caplog):
    with caplog.at_level("DEBUG"):
        player = api.player()
        token = get_token(come(player), app)
        renewed(ask, app, token)
    said = [one.getMessage() for one in caplog.records]
    assert "app-allowed" in said
    assert not [text for text in said if re.search("m[cpr]_[A-Za-z0-9_-]{30}", text)]


def test_a_refresh_token_that_is_used_twice_ends_all_of_its_family_and_nothing_else(
    api, come, app, ask, get_token
):
    guest = come(api.player())
    kept, first = get_token(guest, app), get_token(guest, app)
    second = renewed(ask, app, first).json()
    assert works(api, second)
    # a text that nobody has made ends nothing
    forged = first["refresh_token"][:-3] + "AAA"
    own, made_up = kept["refresh_token"][:30], "A" * 59
    assert renewed(ask, app, {"refresh_token": own + made_up}).json()["error"] == "invalid_grant"
    assert works(api, kept)
    assert renewed(ask, app, {"refresh_token": forged}).json()["error"] == "invalid_grant"
    assert not works(api, second)
    assert renewed(ask, app, second).json()["error"] == "invalid_grant"
    assert works(api, kept)


def test_a_token_may_have_fewer_scopes_and_never_more(api, come, app, ask, get_token):
    token = get_token(come(api.player()), app)
    for wrong in ("read play organise", "account"):
        assert renewed(ask, app, token, scope=wrong).json()["error"] == "invalid_scope"
    less = renewed(ask, app, token, scope="read").json()
    assert less["scope"] == "read"
    refused = api.http.post("/api/challenges", json={"game": "pow2"}, headers=bearer(less))
    assert refused.json()["code"] == "missing-scope"
    assert renewed(ask, app, less).json()["scope"] == "read play"


def test_consent_is_remembered_for_a_site_and_its_scopes_and_asked_for_by_a_program(
    api, come, app, get_token
):
    guest = come(api.player())
    get_token(guest, app, redirect_uri=SITE)
    at_once = sent_to(guest.get(asks(app, redirect_uri=SITE, scope="read")))
    assert at_once.startswith(f"{SITE}&code=")
    assert "Allow" in guest.page(asks(app, redirect_uri=SITE, scope="organise"))
    assert "Allow" in guest.page(asks(app))
    guest.send(f"/account/apps/{app}/disconnect")
    assert "Allow" in guest.page(asks(app, redirect_uri=SITE, scope="read"))


def test_the_oldest_of_many_grants_to_one_app_ends(api, come, app, get_token):
    guest = come(api.player())
    tokens = [get_token(guest, app) for _ in range(MOST_OF_APP + 1)]
    assert [works(api, one) for one in tokens] == [False] + [True] * MOST_OF_APP


def test_an_account_with_all_its_tokens_renews_those_of_apps_and_gets_no_further_one(
    api, come, app, ask, get_token
):
    player = api.player()
    guest = come(player)
    token = get_token(guest, app)
    while len(api.parts.tokens.list_of(player.account)) < MOST_TOKENS:
        api.parts.tokens.issue(player.account, "x", ["read"])
    assert works(api, renewed(ask, app, token).json())
    given = {"code": back(answered(guest, asks(app)))["code"], "redirect_uri": LOOPBACK}
    full = ask(
        "token", grant_type="authorization_code", client_id=app, code_verifier=VERIFIER, **given
    )
    assert (full.status_code, full.json()["code"]) == (409, "too-many")
    assert len(api.parts.grants.of(player.account)) == 1


def connected(player: Player) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = player.get("/api/account/apps").json()
    return found


def test_a_player_sees_what_acts_for_them_and_disconnects_it(api, come, app, maker, get_token):
    player = api.player()
    guest = come(player)
    token = get_token(guest, app)
    (one,) = connected(player)
    assert (one["name"], one["owner"], one["scopes"]) == (
        "Board Watch",
        maker.name,
        ["read", "play"],
    )
    listed = {found["label"]: found["app"] for found in player.get("/api/tokens").json()}
    assert listed == {"rig": "", "Board Watch": app}
    page = guest.page("/account")
    assert f"by {maker.name}" in page
    assert f"/account/tokens/{token['token_id']}/revoke" not in page
    assert player.delete(f"/api/account/apps/{app}").status_code == 204
    assert not works(api, token)
    assert connected(player) == []
    assert player.delete(f"/api/account/apps/{app}").json()["code"] == "not-found"


ENDINGS: dict[str, Callable[[Api, Player, Guest, dict[str, Any]], object]] = {
    "a new password": lambda _, player, __, ___: player.post(
        "/api/account/password", {"old": PASSWORD, "new": "another-one-1"}
    ),
    "log out everywhere": lambda _, player, __, ___: player.post("/api/account/logout"),
    "suspension": lambda api, player, _, __: accounts.set_suspended(
        api.parts, player.name, suspended=True
    ),
    "its token revoked": lambda _, player, __, token: player.delete(
        f"/api/tokens/{token['token_id']}"
    ),
    "its token given back": lambda api, _, __, token: api.http.post(
        "/api/oauth/revoke", data={"client_id": token["app"], "token": token["access_token"]}
    ),
    "erasure": lambda _, player, __, ___: player.post(
        "/api/account/deletion", {"password": PASSWORD}
    ),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_ends_tokens_ends_grants(api, come, app, ask, get_token, ending):
    player = api.player()
    guest = come(player)
    token = get_token(guest, app) | {"app": app}
    waiting = back(answered(guest, asks(app)))["code"]
    assert works(api, token)
    ENDINGS[ending](api, player, guest, token)
    assert not works(api, token)
    assert renewed(ask, app, token).json()["error"] == "invalid_grant"
    assert [one for one in api.parts.grants.of(player.account) if one.grant.used] == []
    if not ending.startswith("its token"):
        late = ask(
            "token", grant_type="authorization_code", client_id=app, code=waiting,
            redirect_uri=LOOPBACK, code_verifier=VERIFIER,
        )  # fmt: skip
        assert late.json()["error"] == "invalid_grant"
        assert player.account not in set(api.parts.apps.users(app))


def test_a_password_that_keeps_tokens_keeps_grants_and_so_does_a_second_factor(
    api, come, app, ask, get_token
):
    player = api.player()
    token = get_token(come(player), app)
    body = {"old": PASSWORD, "new": "another-one-1", "tokens": "keep"}
    assert player.post("/api/account/password", body).status_code == 204
    key = Passkey(b"id", b"data", "Firefox", 1)
    api.parts.accounts.change_of(player.account, lambda one: replace(one, passkeys=(key,)))
    assert works(api, token)
    assert renewed(ask, app, token).status_code == 200


@pytest.mark.parametrize("ending", ["removal", "erasure"])
def test_an_app_that_is_gone_has_nothing_left_of_anybody(api, come, ask, get_token, ending):
    maker, player = api.players()
    app = registered(maker)
    guest = come(player)
    token = get_token(guest, app)
    waiting = back(answered(guest, asks(app)))["code"]
    if ending == "removal":
        assert maker.delete(f"/api/apps/{app}").status_code == 204
        assert maker.delete(f"/api/apps/{app}").json()["code"] == "not-found"
    else:
        maker.post("/api/account/deletion", {"password": PASSWORD})
    assert not works(api, token)
    assert renewed(ask, app, token).json()["error"] == "invalid_client"
    late = ask("token", grant_type="authorization_code", client_id=app, code=waiting)
    assert late.json()["error"] == "invalid_client"
    assert connected(player) == []
    assert guest.get(asks(app)).status_code == 400
    keys = {key for key in api.parts.data.scan_iter() if maker.account.hex().encode() in key}
    assert not {key for key in keys if b":app" in key}


def test_nobody_removes_the_app_of_another(api, app):
    assert api.player().delete(f"/api/apps/{app}").json()["code"] == "not-found"
    assert api.player().delete("/api/apps/matchpost-terminal").json()["code"] == "not-found"


@pytest.mark.parametrize("client", ["nonsense", "matchpost-terminal", "0" * 32, "é"])
def test_what_is_not_connected_can_not_be_disconnected(api, come, client):
    player = api.player()
    assert player.delete(f"/api/account/apps/{client}").json()["code"] == "not-found"
    assert player.delete(f"/api/apps/{client}").json()["code"] == "not-found"
    for what in ("disconnect", "remove"):
        answer = come(player).send(f"/account/apps/{client}/{what}", on="/account/apps")
        assert answer.status_code == 404, what


@pytest.mark.parametrize(
    "body",
    [
        {"name": " "},
        {"name": "a\nb\u202e"},
        {"name": "A", "site": "http://example.org"},
        {"name": "A", "site": "javascript:alert(1)"},
        *(
            {"name": "A", "redirect_uris": [wrong]}
            for wrong in (
                "http://example.org/cb", "https://user@example.org/", "https://example.org/#x", "javascript:alert(1)",
                "myapp://cb", "https:///cb", "http://127.0.0.1.example.org/", "https://example.org/ b", "data:text/html,x",
            )
        ),
    ],
)  # fmt: skip
def test_an_app_with_a_wrong_name_or_address_is_not_registered(maker, body):
    assert maker.post("/api/apps", body).json()["code"] == "bad-option"


def test_an_app_of_a_device_itself_and_ten_apps_can_be_registered(api):
    maker = api.player()
    one = maker.post("/api/apps", {"name": "A", "redirect_uris": ["org.example.app:/back"]}).json()
    assert one["redirect_uris"] == ["org.example.app:/back"]
    made = [maker.post("/api/apps", {"name": "A"}).status_code for _ in range(10)]
    assert made == [201] * 9 + [409]
    assert len(maker.get("/api/apps").json()) == 10


def test_apps_are_registered_and_removed_on_a_page(api, come):
    maker = api.player()
    guest = come(maker)
    wrong = guest.send("/account/apps", {"name": "Bot", "redirects": "ftp://x"}, on="/account/apps")
    assert "can’t be a redirect" in wrong.text or "can&#39;t be a redirect" in wrong.text
    assert 'value="Bot"' in wrong.text
    fields = {"name": "Bot", "redirects": f"http://[::1]/cb\n{SITE}"}
    assert guest.send("/account/apps", fields, on="/account/apps").status_code == 303
    (made,) = maker.get("/api/apps").json()
    assert made["client_id"] in guest.page("/account/apps")
    assert made["redirect_uris"] == ["http://[::1]/cb", SITE]
    guest.send(f"/account/apps/{made['client_id']}/remove", on="/account/apps")
    assert maker.get("/api/apps").json() == []


def test_own_data_have_apps_and_grants_without_their_secrets(api, come, get_token):
    maker = api.player()
    app = registered(maker)
    token = get_token(come(maker), app)
    files = {one.name: one.content.decode() for one in own_files(api.parts, maker.account)}
    assert "Board Watch" in files["apps.json"]
    assert LOOPBACK in files["apps.json"]
    assert app in files["tokens.json"]
    assert sha256(token["refresh_token"].encode()).hexdigest() not in "".join(files.values())
    assert "refresh" not in files["apps.json"]


# devices


def test_a_device_gets_its_token_once_its_user_has_typed_the_code(api, come, app, ask):
    player = api.player()
    guest = come(player)
    asked = ask("device", client_id=app, scope="read play").json()
    assert asked["verification_uri"] == f"{api.url}/device"
    poll = {"grant_type": DEVICE, "client_id": app, "device_code": asked["device_code"]}
    assert ask("token", **poll).json()["error"] == "authorization_pending"
    assert ask("token", **poll).json()["error"] == "slow_down"
    complete = asked["verification_uri_complete"].removeprefix(api.url)
    assert f'value="{asked["user_code"]}"' in guest.page(complete)
    typed = asked["user_code"].lower().replace("-", " ")
    shown = guest.send("/device", {"code": typed}, on="/device")
    assert "Board Watch" in shown.text
    assert connected(player) == []
    done = guest.send("/device/answer", {"code": typed, "answer": "yes"}, on="/device")
    assert "Go on at your device" in done.text
    token = ask("token", **poll).json()
    assert works(api, token)
    assert works(api, renewed(ask, app, token).json())
    assert ask("token", **poll).json()["error"] == "expired_token"
    assert connected(player) == []  # a second use of the code ends it


def test_a_device_is_refused_or_too_late(api, come, app, ask, monkeypatch):
    guest = come(api.player())
    refused, late = (ask("device", client_id=app).json() for _ in range(2))
    guest.send("/device/answer", {"code": refused["user_code"], "answer": "no"}, on="/device")
    poll = {"grant_type": DEVICE, "client_id": app}
    no = ask("token", **poll, device_code=refused["device_code"])
    assert no.json()["error"] == "access_denied"
    api.parts.device_codes.of_device(late["device_code"])
    now = api.parts.store.now()
    monkeypatch.setattr(type(api.parts.store), "now", lambda _: now + 901_000)
    over = ask("token", **poll, device_code=late["device_code"])
    assert over.json()["error"] == "expired_token"
    for wrong in ("", "BCDFGHJK.x", late["device_code"] + "x"):
        assert ask("token", **poll, device_code=wrong).json()["error"] in {
            "invalid_grant", "invalid_request",
        }  # fmt: skip


def test_a_device_code_is_good_for_its_app_and_scopes_that_apps_have(maker, app, ask):
    asked = ask("device", client_id=app).json()
    other = registered(maker, "Other")
    poll = {"grant_type": DEVICE, "device_code": asked["device_code"], "client_id": other}
    assert ask("token", **poll).json()["error"] == "unauthorized_client"
    assert ask("device", client_id=app, scope="account").json()["error"] == "invalid_scope"
    assert ask("device", client_id="x").json()["error"] == "invalid_client"


def test_guesses_of_a_code_end_after_ten(api, come, app, ask):
    guest, asked = come(api.player()), ask("device", client_id=app).json()
    seen = [guest.send("/device", {"code": "BBBB-BBBB"}, on="/device") for _ in range(11)]
    assert [one.status_code for one in seen] == [404] * 10 + [429]
    assert int(seen[-1].headers["Retry-After"]) > 600
    right = guest.send(
        "/device/answer", {"code": asked["user_code"], "answer": "yes"}, on="/device"
    )
    assert right.status_code == 429
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


def test_a_server_that_is_full_refuses_with_a_code_that_clients_know_and_uses_nothing_up(
    api, come, app, ask, get_token
):
    guest = come(api.player())
    token, over = get_token(guest, app), get_token(guest, app)
    code = back(answered(guest, asks(app)))["code"]
    given = {"code": code, "redirect_uri": LOOPBACK, "code_verifier": VERIFIER, "client_id": app}
    api.parts.data.config_set("maxmemory", "1mb")
    try:
        seen = [
            renewed(ask, app, token),
            ask("token", grant_type="authorization_code", **given),
            ask("device", client_id=app),
        ]
        # what is given back takes no room
        assert ask("revoke", client_id=app, token=over["refresh_token"]).status_code == 200
    finally:
        api.parts.data.config_set("maxmemory", "0")
    assert [one.status_code for one in seen] == [503] * 3
    assert {one.json()["error"] for one in seen} == {"temporarily_unavailable"}
    assert all(int(one.headers["Retry-After"]) > 0 for one in seen)
    assert not works(api, over)
    assert renewed(ask, app, token).status_code == 200
    assert ask("token", grant_type="authorization_code", **given).status_code == 200


def test_a_client_over_its_rate_is_told_when_to_come_back(tmp_path):
    with Api(tmp_path, address_rate=8) as api:
        answers = [api.http.post("/api/oauth/device", data={"client_id": "x"}) for _ in range(2)]
    assert [one.status_code for one in answers] == [400, 429]
    assert answers[1].json()["error"] == "temporarily_unavailable"
    assert int(answers[1].headers["Retry-After"]) > 0


def test_a_stream_ends_with_what_the_app_was_let(tmp_path):
    with Api(tmp_path, intervals=TaskIntervals(heartbeat=0.1)) as api:
        maker, player = api.players()
        app = registered(maker)
        asked = api.http.post("/api/oauth/device", data={"client_id": app}).json()
        answer_device(api.parts, player.account, asked["user_code"], allowed=True)
        poll = {"grant_type": DEVICE, "client_id": app, "device_code": asked["device_code"]}
        token = api.http.post("/api/oauth/token", data=poll).json()
        held = Player(api, player.name, player.account, token["access_token"])
        with api.stream("/api/account/events", held) as events:
            assert next(events).event == "hello"
            assert player.delete(f"/api/account/apps/{app}").status_code == 204
            assert [one for one in events if one.event] == []


def test_a_server_at_rest_has_not_imported_what_apps_alone_need():
    said = "import sys, services.http.app; print([one for one in sys.modules if 'authlib' in one])"
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
