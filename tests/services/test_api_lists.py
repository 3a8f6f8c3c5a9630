"""Lists over the API: all that a start page shows in one request, tags, addresses of what was made, values of strings."""

from collections.abc import Iterator
from typing import Any

import pytest

from domain.errors import Code
from infra.projections.notices import NoticeKind
from services.http.api.values import EXTENSIBLE
from tests.helpers.api import Api, code_of


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("api")) as api:
        yield api


@pytest.fixture(scope="module")
def document(api: Api) -> dict[str, Any]:
    return api.http.get("/api/openapi.json").json()


# --- matches in lists


def test_a_match_in_a_list_has_its_deadline_its_last_move_and_the_open_offer(api):
    alice, bob = api.players()
    board = api.begun(alice, bob, terms=["--days=3"])
    assert alice.move(board, "m13-j7").is_success
    assert bob.give(board, {"do": "offer", "kind": "draw"}).is_success
    api.caught_up()
    match = api.http.get(f"/api/matches/{board}").json()
    (listed,) = api.http.get(f"/api/matches?player={alice.name}").json()["matches"]
    assert listed["last_move"] == "m13-j7"
    assert listed["deadline"] == match["clock"]["deadline"] is not None
    assert listed["offer"] == match["offer"] == {"kind": "draw", "seat": 1, "accepted": []}
    assert alice.give(board, {"do": "resign"}).is_success
    api.caught_up()
    (over,) = api.http.get(f"/api/matches?board={board}").json()["matches"]
    assert (over["state"], over["last_move"], over["deadline"], over["offer"]) == (
        "over",
        None,
        None,
        None,
    )


def test_matches_are_read_by_their_numbers_in_one_request(api):
    alice, bob = api.players()
    boards = [api.begun(alice, bob) for _ in range(3)]
    cup = {"name": "Cup", "game": "pow2", "terms": ["--days=3"], "section": 3}
    tournament = alice.post("/api/tournaments", cup).json()["board"]
    api.caught_up()
    asked = f"{boards[2]},999999,{tournament},{boards[0]},{boards[2]}"
    found = api.http.get(f"/api/matches?board={asked}").json()
    assert [one["board"] for one in found["matches"]] == [boards[2], boards[0]]
    assert found["next"] is None
    for wrong in ("0", "1,", "a", "01", ",".join(map(str, range(1, 102)))):
        assert code_of(api.http.get(f"/api/matches?board={wrong}")) == "bad-request"
    invited = api.match(alice, bob)
    api.caught_up()
    path = f"/api/matches?board={invited}"
    assert api.http.get(path).json()["matches"] == api.player().get(path).json()["matches"] == []
    assert bob.get(path).json()["matches"][0]["invited"] == [1]
    both = api.http.get(f"/api/matches?board=1&player={alice.name}")
    assert "not both" in both.json()["detail"]


def test_the_terms_of_a_clock_are_there_in_numbers_too(api):
    terms = [
        "--bank=10+1:20",
        "--weekends=off",
        "--nagtime=2,4",
        "--vacation=5",
        "--pause=off",
        "--rated-from=3",
    ]
    board = api.match(*api.players(), terms=terms)
    clock = api.http.get(f"/api/matches/{board}").json()["clock"]
    assert clock["limits"] == {
        "turn": 0, "total": 0, "bank": 10, "increment": 1, "cap": 20, "reminders": [2, 4], "weekends": False,
        "vacation": 5, "pause": False, "rated_from": 3,
    }  # fmt: skip
    board = api.match(*api.players(), terms=["--days=3", "--unrated"])
    limits = api.http.get(f"/api/matches/{board}").json()["clock"]["limits"]
    assert (limits["turn"], limits["rated_from"], limits["vacation"]) == (3, 0, None)


# --- tags


PUBLIC = (
    "/api/games", "/api/games/pow2", "/api/games/pow2/schema", "/api/ratings/pow2", "/api/standings/pow2",
    "/api/history/pow2", "/api/robots", "/api/errors/stale-ply", "/api/challenges", "/api/players/{name}",
    "/api/ratings/pow2/{name}", "/api/matches?player={name}", "/api/puzzles/one/scores",
    "/api/head-to-head/pow2/{name}/{other}",
)  # fmt: skip


@pytest.mark.parametrize("path", PUBLIC)
def test_a_public_list_that_has_not_changed_is_not_sent_again(api, path):
    player, other = api.players()
    path = path.format(name=player.name, other=other.name)
    first = api.http.get(path)
    assert first.headers["cache-control"] == "no-cache"
    again = api.http.get(path, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_a_list_that_has_changed_has_another_tag(api):
    alice, bob = api.players()
    path = f"/api/matches?player={alice.name}"
    tag = {"If-None-Match": api.http.get(path).headers["etag"]}
    api.begun(alice, bob)
    api.caught_up()
    assert api.http.get(path, headers=tag).status_code == 200


# --- addresses of what was made


def test_what_a_page_exists_of_says_where_it_was_made(api, document):
    alice, bob = api.players()
    signup = {"userid": "Zoe", "password": "sing-along"}
    for answer in (
        api.http.post("/api/accounts", json=signup),
        alice.post("/api/challenges", {"game": "pow2"}),
        alice.post("/api/matches", {"game": "pow2", "players": [alice.name, bob.name]}),
        alice.post(
            "/api/tournaments", {"name": "Cup", "game": "pow2", "terms": ["--days=3"], "section": 3}
        ),
    ):
        assert answer.status_code == 201
        found = api.http.get(answer.headers["location"], headers=alice.headers)
        assert found.is_success
    made = {
        operation["operationId"]
        for item in document["paths"].values()
        for operation in item.values()
        if "201" in operation["responses"]
    }
    located = {
        operation["operationId"]
        for item in document["paths"].values()
        for operation in item.values()
        if "Location" in operation["responses"].get("201", {}).get("headers", {})
    }
    no_page_of_its_own = {
        "make_token",
        "make_report",
        "add_push",
        "impose_sanction",
        "make_club_link",
        "admin_make_link",
        "make_bot",
        "make_bot_token",
        "make_webhook",
        "register_app",
    }
    assert made - located == no_page_of_its_own


# --- values


def field(document: dict[str, Any], schema: str, name: str) -> dict[str, Any]:
    return document["components"]["schemas"][schema]["properties"][name]


@pytest.mark.parametrize(("schema", "name", "values"), [
    ("Match", "state", ["waiting", "active", "over"]),
    ("Listed", "state", ["waiting", "active", "over"]),
    ("BeforeDraw", "phase", ["commit", "reveal"]),
    ("OpenChallenge", "state", ["open", "taken", "started", "withdrawn"]),
    ("OwnAccount", "notify", ["move", "daily", "none"]),
    ("OwnAccount", "challenges", ["anyone", "known", "none"]),
    ("OwnAccount", "language", ["de", "en"]),
    ("Message", "kind", ["message", "broadcast"]),
    ("CaseEvent", "kind", ["claim", "ruling", "appeal"]),
])  # fmt: skip
def test_a_string_with_few_values_has_them_in_the_document(document, schema, name, values):
    assert sorted(field(document, schema, name)["enum"]) == sorted(values)


@pytest.mark.parametrize(("schema", "name", "some"), [
    ("Problem", "code", {*Code}),
    ("CodeMeaning", "code", {*Code}),
    ("Notice", "kind", {*NoticeKind}),
    ("Event", "type", {"moved", "ended", "entered"}),
    ("Result", "reason", {"resignation", "agreement"}),
    ("OpenOffer", "kind", {"draw", "undo", "deal"}),
])  # fmt: skip
def test_a_string_that_may_get_new_values_has_those_of_today(document, schema, name, some):
    found = field(document, schema, name)
    assert set(map(str, some)) <= set(found[EXTENSIBLE])
    assert (found["type"], "enum" in found) == ("string", False)
