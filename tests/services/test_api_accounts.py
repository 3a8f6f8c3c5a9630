import re
from collections.abc import Iterator

import pytest

from tests.helpers.api import PASSWORD, Api, code_of

TOKEN = {"label": "my bot", "scopes": ["read", "play"]}


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("api")) as api:
        yield api


def token_for(api: Api, name: str, password: str = PASSWORD, **more):
    body = {"userid": name, "password": password, **TOKEN, **more}
    return api.http.post("/api/tokens", json=body)


def test_who_signs_up_gets_a_token_and_plays(api):
    for name in ("Ada", "grace"):
        made = api.http.post("/api/accounts", json={"userid": name, "password": PASSWORD})
        assert (made.status_code, made.json()["userid"]) == (201, name.lower())
    issued = token_for(api, "ada").json()
    assert re.fullmatch(r"mp_[A-Za-z0-9_-]{49}", issued["token"])
    headers = {"Authorization": f"Bearer {issued['token']}"}
    new = {"game": "pow2", "players": ["ada", "GRACE"]}
    assert api.http.post("/api/matches", json=new, headers=headers).status_code == 201


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"userid": "x"}, 422, "bad-name"),
        ({"userid": "no blanks"}, 422, "bad-name"),
        ({"userid": "x" * 25}, 400, "bad-request"),
        ({"password": "tiny"}, 422, "bad-password"),
        ({"password": "basketball"}, 422, "bad-password"),
        ({"addresses": ["not an address"]}, 422, "bad-address"),
        ({"addresses": ["a@example.org"] * 2}, 422, "bad-address"),
        ({"addresses": [f"a{n}@example.org" for n in range(6)]}, 400, "bad-request"),
        ({"arbiter": True}, 400, "bad-request"),
    ],
)
def test_what_can_be_no_account_is_none(api, change, status, code):
    body = {"userid": "newcomer", "password": PASSWORD, **change}
    refused = api.http.post("/api/accounts", json=body)
    assert (refused.status_code, code_of(refused)) == (status, code)
    assert code_of(api.http.get("/api/players/newcomer")) == "unknown-user"
    if "password" in change:
        assert change["password"] not in refused.text


def test_a_userid_belongs_to_one(api):
    taken = api.player()
    for name in (taken.name, taken.name.upper()):
        refused = api.http.post("/api/accounts", json={"userid": name, "password": "another-one"})
        assert (refused.status_code, code_of(refused)) == (409, "name-taken")


def test_only_the_owner_sees_the_addresses(api):
    body = {"userid": "owner", "password": PASSWORD, "addresses": ["owner@example.org"]}
    assert api.http.post("/api/accounts", json=body).is_success
    token = token_for(api, "owner").json()["token"]
    own = api.http.get("/api/account", headers={"Authorization": f"Bearer {token}"}).json()
    assert own["addresses"] == [{"address": "owner@example.org", "verified": False}]
    assert own["arbiter"] is False
    assert "example.org" not in api.http.get("/api/players/owner").text


def test_preferences_are_changed_one_by_one(api):
    player = api.player()
    changed = player._request("PATCH", "/api/account", json={"language": "DE"}).json()
    assert (changed["language"], changed["notify"]) == ("de", "move")
    changed = player._request("PATCH", "/api/account", json={"notify": "none"}).json()
    assert (changed["language"], changed["notify"]) == ("de", "none")
    for wanted in (True, False):
        assert player.patch("/api/account", {"receipts": wanted}).json()["receipts"] is wanted
    body = {"displays": {"pow2": "small"}, "language": "en"}
    changed = player._request("PATCH", "/api/account", json=body).json()
    assert (changed["language"], changed["displays"]) == ("en", {"pow2": "small"})
    assert player.get("/api/account").json() == changed


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"language": "tlh"}, 422, "bad-option"),
        ({"notify": "always"}, 422, "bad-option"),
        ({"displays": {"pow2": "huge"}}, 422, "bad-option"),
        ({"displays": {"chess": "small"}}, 404, "unknown-game"),
        ({"displays": ["small"]}, 400, "bad-request"),
        ({"arbiter": True}, 400, "bad-request"),
        ({"userid": "other"}, 400, "bad-request"),
    ],
)
def test_what_can_not_be_preferred_changes_nothing(api, change, status, code):
    player = api.player()
    before = player.get("/api/account").json()
    refused = player._request("PATCH", "/api/account", json={"notify": "daily", **change})
    assert (refused.status_code, code_of(refused)) == (status, code)
    assert player.get("/api/account").json() == before


def test_addresses_are_replaced(api):
    player = api.player()
    for addresses in (["a@example.org", "b@example.org"], ["b@example.org"], []):
        changed = player.put("/api/account/addresses", {"addresses": addresses}).json()
        assert [one["address"] for one in changed["addresses"]] == addresses
    refused = player.put("/api/account/addresses", {"addresses": ["nowhere"]})
    assert code_of(refused) == "bad-address"


def test_a_sign_up_for_whose_mailbox_no_code_is_sent_has_a_notice(api):
    for n in range(6):
        body = {
            "userid": f"fan{n}",
            "password": "tern-5-lamps",
            "addresses": [f"v+{n}@example.net"],
        }
        made = api.http.post("/api/accounts", json=body)
        assert made.status_code == 201
        assert bool(made.json()["notice"]) is (n == 5)
    assert made.json()["notice"].startswith("no code was sent to your address, because too many")


def test_a_password_is_changed_by_who_knows_it(api):
    player = api.player()
    wrong = player.post("/api/account/password", {"old": "guessing", "new": "newer-one-2"})
    assert (wrong.status_code, code_of(wrong)) == (401, "wrong-password")
    assert code_of(player.post("/api/account/password", {"old": PASSWORD, "new": "x"})) == (
        "bad-password"
    )
    changed = player.post("/api/account/password", {"old": PASSWORD, "new": "newer-one-2"})
    assert changed.status_code == 204
    assert code_of(token_for(api, player.name)) == "wrong-password"
    assert token_for(api, player.name, "newer-one-2").status_code == 201
    assert code_of(player.get("/api/account")) == "unknown-token"


def test_an_account_is_erased_by_who_knows_its_password(api):
    player, other = api.players()
    board = api.match(player, other)
    wrong = player.post("/api/account/deletion", {"password": "guessing"})
    assert code_of(wrong) == "wrong-password"
    assert player.post("/api/account/deletion", {"password": PASSWORD}).status_code == 204
    gone = player.get("/api/account")
    assert (gone.status_code, code_of(gone)) == (401, "unknown-token")
    assert code_of(api.http.get(f"/api/players/{player.name}")) == "unknown-user"
    players = api.http.get(f"/api/matches/{board}").json()["players"]
    assert [one["userid"] for one in players] == [None, other.name]
    again = {"userid": player.name, "password": PASSWORD}
    assert code_of(api.http.post("/api/accounts", json=again)) == "name-taken"


def test_a_token_has_the_scopes_it_was_made_with_and_no_others(api):
    player = api.player()
    reader = token_for(api, player.name, scopes=["read"]).json()["token"]
    headers = {"Authorization": f"Bearer {reader}"}
    assert api.http.get("/api/account", headers=headers).is_success
    new = {"game": "pow2", "players": [player.name, api.player().name]}
    refused = api.http.post("/api/matches", json=new, headers=headers)
    assert (refused.status_code, code_of(refused)) == (403, "missing-scope")
    assert "play" in refused.json()["detail"]


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"userid": "nobody"}, 404, "unknown-user"),
        ({"password": "guessing"}, 401, "wrong-password"),
        ({"label": ""}, 400, "bad-request"),
        ({"label": "x" * 61}, 400, "bad-request"),
        ({"label": "two\nlines"}, 400, "bad-request"),
        ({"scopes": []}, 400, "bad-request"),
        ({"scopes": ["everything"]}, 400, "bad-request"),
        ({"days": 0}, 400, "bad-request"),
        ({"days": 3651}, 400, "bad-request"),
        ({"days": "7"}, 400, "bad-request"),
    ],
)
def test_what_can_be_no_token_is_none(api, change, status, code):
    body = {"userid": api.player().name, "password": PASSWORD, **TOKEN, **change}
    refused = api.http.post("/api/tokens", json=body)
    assert (refused.status_code, code_of(refused)) == (status, code)


def test_a_wrong_password_is_told_how_to_ask(api):
    refused = token_for(api, api.player().name, "guessing")
    assert refused.headers["WWW-Authenticate"].startswith("Bearer")


def test_ten_wrong_passwords_are_enough(api):
    player = api.player()
    codes = [code_of(token_for(api, player.name, f"guess-{n:02}")) for n in range(11)]
    assert codes == ["wrong-password"] * 10 + ["too-many-attempts"]
    refused = token_for(api, player.name, "guess-99")
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "900")


def test_tokens_are_listed_and_revoked_one_by_one(api):
    player = api.player()
    issued = [token_for(api, player.name, label=f"bot {n}").json() for n in range(2)]
    listed = player.get("/api/tokens").json()
    assert {"bot 0", "bot 1", "rig"} == {one["label"] for one in listed}
    assert not any("mp_" in str(one) for one in listed)
    headers = {"Authorization": f"Bearer {issued[0]['token']}"}
    assert api.http.get("/api/account", headers=headers).is_success
    assert player.delete(f"/api/tokens/{issued[0]['id']}").status_code == 204
    refused = api.http.get("/api/account", headers=headers)
    assert (refused.status_code, code_of(refused)) == (401, "unknown-token")
    assert code_of(player.delete(f"/api/tokens/{issued[0]['id']}")) == "not-found"
    assert len(player.get("/api/tokens").json()) == 2


def test_a_token_of_any_scope_may_end_itself_but_no_other(api):
    player = api.player()
    one, other = (token_for(api, player.name, scopes=["read"]).json() for _ in range(2))
    headers = {"Authorization": f"Bearer {one['token']}"}
    refused = api.http.delete(f"/api/tokens/{other['id']}", headers=headers)
    assert code_of(refused) == "missing-scope"
    assert api.http.delete(f"/api/tokens/{one['id']}", headers=headers).status_code == 204


def test_nobody_revokes_tokens_of_others(api):
    one, other = api.players()
    (token,) = one.get("/api/tokens").json()
    assert code_of(other.delete(f"/api/tokens/{token['id']}")) == "not-found"
    assert one.get("/api/account").is_success
