"""Who may reach whom, over HTTP: proof at `/api/do`, blocks, and whose challenges are taken."""

from collections.abc import Iterator

import pytest

from infra.people.account_lists import BLOCKED
from infra.people.pending_starts import MOST_BETWEEN_TWO
from infra.redis import keys
from tests.helpers.api import PASSWORD, Api, Player, code_of


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("api")) as api:
        yield api


def do(api: Api, line: str, player: Player | None = None, key: str = ""):
    headers = {"Content-Type": "text/plain"} | (player.headers if player else {})
    return api.http.post(
        "/api/do", content=line, headers=headers | ({"Idempotency-Key": key} if key else {})
    )


def start(player: Player, *others: Player, key: str = "", game: str = "pow2"):
    """Have a player start a match of which it takes the first seat."""
    body = {"game": game, "players": [player.name, *(other.name for other in others)]}
    return player.post("/api/matches", body, headers={"Idempotency-Key": key} if key else {})


# proof


def test_anonymous_text_starts_nothing_and_spends_nobodys_keys(api):
    one, other, third = api.players(3)
    refused = do(api, f"pow2 challenge {one.name} {other.name}", key="against-third")
    assert (refused.status_code, refused.headers["Matchpost-Code"]) == (401, "unauthorized")
    assert refused.headers["WWW-Authenticate"].startswith("Bearer")
    assert "--password=PASSWORD" in refused.text
    lines = "\n".join(["multiple", *[f"pow2 challenge {one.name} {other.name}"] * 50])
    assert do(api, lines).status_code == 401
    api.caught_up()
    assert api.parts.lists.counts(one.account).active == 0
    assert start(one, third, key="against-third").status_code == 201


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


def test_a_token_for_reading_proves_no_challenger(api):
    reader, other = api.player(("read", "account")), api.player()
    refused = do(api, f"pow2 challenge {reader.name} {other.name}", reader)
    assert refused.headers["Matchpost-Code"] == "unauthorized"


def test_each_line_of_several_counts_by_address_and_by_account(tmp_path):
    with Api(tmp_path, address_rate=20, command_rate=20) as api:
        one = api.player()
        text = "\n".join(["multiple", *["games"] * 30])
        for player in (None, one):
            said = do(api, text, player)
            assert said.headers["Matchpost-Code"] == "too-fast"
            assert said.text.count("too-fast: more than 20") >= 9
            assert do(api, "games", player).status_code == 429


# limits


def test_the_limit_holds_by_every_way_in_and_spares_repetitions(api):
    one, other = api.players()
    for number in range(MOST_BETWEEN_TWO):
        assert start(one, other, key=str(number)).status_code == 201
    line = f"pow2 challenge {one.name} {other.name}"
    assert code_of(start(one, other)) == "too-many"
    assert do(api, line, one).headers["Matchpost-Code"] == "too-many"
    assert start(one, other, key="0").status_code == 201
    board = start(one, other, key="0").json()["board"]
    assert one.move(board, "m13-j7").is_success
    assert code_of(start(one, other)) == "too-many"
    assert other.move(board, "a13-d7").is_success
    assert start(one, other, key="new").status_code == 201
    assert start(one, other, key="0").json()["board"] == board
    assert code_of(start(one, other)) == "too-many"


def test_open_challenges_that_are_taken_count_in_no_limit(api):
    one, other = api.players()
    for _ in range(MOST_BETWEEN_TWO + 2):
        made = one.post("/api/challenges", {"game": "pow2"}).json()
        taken = other.post(f"/api/challenges/{made['id']}/accept")
        assert taken.json()["state"] == "started"
    assert start(one, other).status_code == 201


# blocks


def blocked(player: Player) -> list[str]:
    found: list[str] = player.get("/api/account/blocks").json()["userids"]
    return found


def test_who_is_blocked_reaches_the_other_by_no_way(api):
    one, other = api.players()
    board = api.match(other, one)
    assert other.move(board, "m13-j7").is_success
    assert one.move(board, "a13-d7").is_success
    opened = one.post("/api/challenges", {"game": "pow2"}).json()["id"]
    assert one.put(f"/api/account/blocks/{other.name.upper()}", None).status_code == 204
    assert blocked(one) == [other.name]
    sentence = f"{one.name} doesn't take challenges from you"
    refused = start(other, one)
    assert (refused.status_code, code_of(refused)) == (403, "not-wanted")
    assert refused.json()["detail"] == sentence
    assert sentence in do(api, f"pow2 challenge {other.name} {one.name}", other).text
    for path, body in (
        (f"/api/challenges/{opened}/accept", None),
        ("/api/messages", {"to": [one.name], "text": "hello"}),
        (f"/api/matches/{board}/chat", {"text": "hello"}),
    ):
        assert code_of(other.post(path, body)) == "not-wanted", path
    assert one.get("/api/messages").json()["messages"] == []
    assert one.get(f"/api/matches/{board}/chat").json()["lines"] == []
    assert other.move(board, "j7-m13").is_success
    assert one.delete(f"/api/account/blocks/{other.name}").status_code == 204
    assert one.delete(f"/api/account/blocks/{other.name}").status_code == 204
    assert blocked(one) == []
    assert other.post(f"/api/challenges/{opened}/accept").json()["state"] == "started"


def test_what_can_t_be_blocked_is_refused(api):
    one = api.player()
    assert code_of(one.put("/api/account/blocks/zoe", None)) == "unknown-user"
    assert code_of(one.put(f"/api/account/blocks/{one.name}", None)) == "bad-option"
    assert code_of(one.delete("/api/account/blocks/zoe")) == "unknown-user"


def test_blocks_and_starts_go_with_the_account(api):
    one, other = api.players()
    assert one.put(f"/api/account/blocks/{other.name}", None).is_success
    assert start(one, other).is_success
    names = [BLOCKED.key(one.account), keys.pending_starts(one.account)]
    assert api.parts.data.exists(*names) == len(names)
    assert one.post("/api/account/deletion", {"password": PASSWORD}).is_success
    assert api.parts.data.exists(*names) == 0


# whose challenges are taken


def test_whose_challenges_are_taken_is_chosen_in_the_account(api):
    one, other = api.players()
    assert one.get("/api/account").json()["challenges"] == "anyone"
    for choice in ("none", "known"):
        assert _choose(one, choice).json()["challenges"] == choice
        assert code_of(start(other, one)) == "not-wanted"
    assert code_of(_choose(one, "friends")) == "bad-option"
    assert one.post("/api/messages", {"to": [other.name], "text": "play?"}).is_success
    assert start(other, one).status_code == 201


def _choose(player: Player, choice: str):
    return player.api.http.patch(
        "/api/account", json={"challenges": choice}, headers=player.headers
    )
