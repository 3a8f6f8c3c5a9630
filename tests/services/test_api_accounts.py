"""Accounts, tokens, messages and chat, and who proves a challenge at `/api/do`."""

import re

from tests.helpers.api import PASSWORD, Api, Player, code_of

TOKEN = {"label": "my bot", "scopes": ["read", "play"]}


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


def test_only_the_owner_sees_the_addresses(api):
    body = {"userid": "owner", "password": PASSWORD, "addresses": ["owner@example.org"]}
    assert api.http.post("/api/accounts", json=body).is_success
    token = token_for(api, "owner").json()["token"]
    own = api.http.get("/api/account", headers={"Authorization": f"Bearer {token}"}).json()
    assert own["addresses"] == [{"address": "owner@example.org", "verified": False}]
    assert own["arbiter"] is False
    assert "example.org" not in api.http.get("/api/players/owner").text


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


def do(api: Api, line: str, player: Player | None = None, key: str = ""):
    headers = {"Content-Type": "text/plain"} | (player.headers if player else {})
    return api.http.post(
        "/api/do", content=line, headers=headers | ({"Idempotency-Key": key} if key else {})
    )


def start(player: Player, other: Player, key: str):
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
    player = api.player_of(one.name)
    assert start(player, third, key="against-third").status_code == 201


def test_a_token_or_a_password_proves_the_challenger_and_is_one_key(api):
    one, other = api.players()
    line = f"pow2 challenge {one.name} {other.name}"
    first = do(api, line, one, key="k")
    assert first.status_code == 200
    assert do(api, f"{line} --password={PASSWORD}", key="k").text == first.text
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
    for until in (page["messages"][1]["at"], 0):
        assert other.post("/api/messages/read", {"until": until}).status_code == 204
        assert other.get("/api/messages").json()["unread"] == 1


def test_the_players_of_a_match_talk_and_nobody_hears_them(api):
    one, other, third = api.players(3)
    board = api.match(one, other)
    path = f"/api/matches/{board}/chat"
    for _ in range(2):
        said = one.post(path, {"text": "Hello"}, headers={"Idempotency-Key": "c"})
        assert said.status_code == 204
    assert other.post(path, {"text": "Good luck!"}).status_code == 204
    for reader in (one, other):
        lines = reader.get(path).json()["lines"]
        assert [(line["userid"], line["text"]) for line in lines] == [
            (one.name, "Hello"), (other.name, "Good luck!"),
        ]  # fmt: skip
    newest = other.get(f"{path}?limit=1").json()["lines"]
    assert [line["text"] for line in newest] == ["Good luck!"]
    assert code_of(other.get(f"{path}?limit=501")) == "bad-request"
    assert code_of(third.get(path)) == "not-a-player"
    for place in ("", "/events", "/board.txt"):
        assert "Good luck" not in third.get(f"/api/matches/{board}{place}").text


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
