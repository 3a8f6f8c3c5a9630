import xml.etree.ElementTree as ET
from collections.abc import Iterator

import pytest

from tests.helpers.api import Api, Player, code_of, until


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("api")) as api:
        yield api


@pytest.fixture
def pair(api: Api) -> tuple[Player, Player, int]:
    one, other = api.players()
    return one, other, api.begun(one, other)


def play(pair: tuple[Player, Player, int], *moves: str) -> None:
    one, other, board = pair
    for number, move in enumerate(moves):
        assert (one, other)[number % 2].move(board, move).is_success


def test_a_match_is_shown_with_all_it_takes_to_play_on(api, pair):
    one, other, board = pair
    play(pair, "m13-j7")
    match = api.http.get(f"/api/matches/{board}").json()
    assert (match["game"], match["rules"], match["state"]) == ("pow2", "pow2/1", "active")
    assert [player["userid"] for player in match["players"]] == [one.name, other.name]
    assert [player["side"] for player in match["players"]] == ["Light", "Dark"]
    assert (match["ply"], match["moves"], match["waits_for"]) == (1, ["m13-j7"], [1])
    assert match["at"]["position"]["board"]["j7"] == "O"
    assert (match["at"]["last_move"], match["at"]["to_move"]) == ("m13-j7", 1)
    assert "a13-d7" in match["at"]["legal"]
    assert match["clock"]["now"] < match["clock"]["reminder"] < match["clock"]["deadline"]
    assert (match["offer"], match["result"], match["seq"]) == (None, None, 3)


def test_legal_moves_may_be_left_out(api, pair):
    match = api.http.get(f"/api/matches/{pair[2]}?legal=false").json()
    assert match["at"]["legal"] is None


def test_an_offer_and_a_result_are_shown(api, pair):
    one, other, board = pair
    assert one.give(board, {"do": "offer", "kind": "draw"}).is_success
    match = api.http.get(f"/api/matches/{board}").json()
    assert (
        match["offer"] == {"kind": "draw", "seat": 0, "accepted": [0]}
        or match["offer"]["kind"] == "draw"
    )
    assert other.give(board, {"do": "accept"}).is_success
    match = api.http.get(f"/api/matches/{board}").json()
    assert (match["state"], match["waits_for"], match["offer"]) == ("over", [], None)
    assert match["result"]["winners"] == [0, 1]
    assert "draw" in match["result"]["text"]
    assert (match["at"]["to_move"], match["at"]["legal"]) == (None, [])


def test_any_ply_can_be_seen(api, pair):
    play(pair, "m13-j7", "a13-d7")
    board = pair[2]
    plies = [api.http.get(f"/api/matches/{board}/plies/{n}").json() for n in range(3)]
    assert [ply["last_move"] for ply in plies] == [None, "m13-j7", "a13-d7"]
    assert [ply["to_move"] for ply in plies] == [0, 1, 0]
    assert plies[2] == api.http.get(f"/api/matches/{board}").json()["at"]
    assert "m13" in plies[0]["position"]["board"]
    for number, code in ((3, "unknown-ply"), (10**6 + 1, "bad-request")):
        assert code_of(api.http.get(f"/api/matches/{board}/plies/{number}")) == code


def test_the_last_ply_of_a_match_that_is_over_is_nobodys_turn(api, pair):
    play(pair, "m13-j7")
    assert pair[1].give(pair[2], {"do": "resign"}).is_success
    last = api.http.get(f"/api/matches/{pair[2]}/plies/1").json()
    assert (last["to_move"], last["legal"]) == (None, [])
    assert api.http.get(f"/api/matches/{pair[2]}/plies/0").json()["to_move"] == 0


def test_a_board_is_drawn_at_any_ply(api, pair):
    play(pair, "m13-j7", "a13-d7")
    path = f"/api/matches/{pair[2]}/board.svg"
    drawings = [api.http.get(f"{path}?ply={n}") for n in range(3)]
    assert {one.headers["content-type"] for one in drawings} == {"image/svg+xml"}
    assert "default-src 'none'" in drawings[0].headers["content-security-policy"]
    for drawing in drawings:
        assert ET.fromstring(drawing.text).tag.endswith("svg")
    assert len({one.text for one in drawings}) == 3
    assert api.http.get(path).text == drawings[2].text
    assert "The last move was m13-j7" in drawings[1].text
    assert code_of(api.http.get(f"{path}?ply=3")) == "unknown-ply"
    assert code_of(api.http.get(f"{path}?ply=-1")) == "bad-request"


def test_a_drawing_says_how_the_match_has_ended(api, pair):
    assert pair[0].give(pair[2], {"do": "resign"}).is_success
    assert "by resignation" in api.http.get(f"/api/matches/{pair[2]}/board.svg").text


def test_a_board_is_written_in_any_display(api, pair):
    play(pair, "m13-j7")
    path = f"/api/matches/{pair[2]}/board.txt"
    large, small = api.http.get(path), api.http.get(f"{path}?display=small&ply=0")
    assert large.headers["content-type"] == "text/plain; charset=utf-8"
    assert large.text.startswith("Remaining Pieces")
    assert len(large.text) > len(small.text)
    refused = api.http.get(f"{path}?display=huge")
    assert (refused.status_code, code_of(refused)) == (422, "bad-option")


def test_a_board_says_where_its_places_are(api, pair):
    play(pair, "m13-j7")
    path = f"/api/matches/{pair[2]}/board.json"
    for display, text in (("large", ""), ("small", "?display=small")):
        board = api.http.get(f"{path}{text}").json()
        drawn = api.http.get(f"/api/matches/{pair[2]}/board.txt{text}").text
        assert (board["text"], board["display"]) == (drawn.rstrip("\n"), display)
        assert (board["ply"], board["move"], board["next"]) == (1, "m13-j7", "")
        assert board["displays"] == ["large", "small"]
        places = {place.pop("name"): place for place in board["places"]}
        lines = board["text"].splitlines()
        letters = {name: lines[at["line"]][at["column"]] for name, at in places.items()}
        assert (letters["j7"], letters["m13"], letters["a13"]) == ("O", "*", "X")
        assert {(at["width"], at["height"]) for at in places.values()} == {(1, 1)}


def test_a_move_is_previewed_and_nothing_is_played(api, pair):
    _, other, board = pair
    path = f"/api/matches/{board}/board.json"
    shown = api.http.get(path, params={"move": " M13-J7 ", "display": "small"}).json()
    assert (shown["ply"], shown["move"]) == (1, "m13-j7")
    assert shown["next"] == f"it will be {other.name}'s turn"
    assert api.http.get(path).json()["ply"] == 0
    play(pair, "m13-j7")
    assert api.http.get(f"{path}?display=small").json()["text"] == shown["text"]
    earlier = api.http.get(path, params={"ply": 0, "move": "m13-k8"}).json()
    assert (earlier["ply"], earlier["move"]) == (1, "m13-k8")
    for move, status, code in (
        ("m13-j7", 422, "illegal-move"),
        ("over there", 422, "unreadable-move"),
    ):
        refused = api.http.get(path, params={"move": move})
        assert (refused.status_code, code_of(refused)) == (status, code)


@pytest.mark.parametrize(
    "place",
    [
        "",
        "?legal=false",
        "/plies/1",
        "/board.svg",
        "/board.svg?ply=1",
        "/board.txt",
        "/board.json",
    ],
)
def test_what_is_known_is_not_sent_again_until_it_changes(api, pair, place):
    play(pair, "m13-j7")
    path = f"/api/matches/{pair[2]}{place}"
    first = api.http.get(path)
    # the tag of a compressed answer is weak
    tag = first.headers["ETag"].removeprefix("W/")
    assert first.headers["Cache-Control"] == "no-cache"
    for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        again = api.http.get(path, headers={"If-None-Match": known})
        assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
    for other in ('"other"', tag.strip('"')):
        assert api.http.get(path, headers={"If-None-Match": other}).status_code == 200
    assert pair[1].give(pair[2], {"do": "resign"}).is_success
    assert api.http.get(path, headers={"If-None-Match": tag}).status_code == 200


def test_a_ply_that_was_taken_back_and_played_otherwise_has_another_tag(api, pair):
    one, other, board = pair
    path = f"/api/matches/{board}/plies/1"
    play(pair, "m13-j7", "a13-d7")
    tag = api.http.get(path).headers["ETag"]
    for _ in range(2):
        mover = other if api.http.get(f"/api/matches/{board}").json()["ply"] == 2 else one
        assert mover.give(board, {"do": "offer", "kind": "undo"}).is_success
        assert (one if mover is other else other).give(board, {"do": "accept"}).is_success
    assert one.move(board, "m13-k8").is_success
    changed = api.http.get(path, headers={"If-None-Match": tag})
    assert (changed.status_code, changed.json()["last_move"]) == (200, "m13-k8")


def test_a_name_that_was_erased_is_told_no_more(api, pair):
    one, other, board = pair
    for place in ("", "/board.svg", "/board.txt"):
        assert one.get(f"/api/matches/{board}{place}").is_success
    tag = api.http.get(f"/api/matches/{board}").headers["ETag"]
    assert other.post("/api/account/deletion", {"password": "yes-we-can"}).is_success
    again = api.http.get(f"/api/matches/{board}", headers={"If-None-Match": tag})
    assert again.status_code == 200
    for place in ("", "/board.svg"):
        assert f'"{other.name}"' not in api.http.get(f"/api/matches/{board}{place}").text


@pytest.mark.parametrize(
    "place", ["", "/plies/0", "/board.svg", "/board.txt", "/board.json", "/events"]
)
def test_what_is_no_match_is_unknown(api, place):
    refused = api.http.get(f"/api/matches/987654{place}")
    assert (refused.status_code, code_of(refused)) == (404, "unknown-board")


def test_what_chance_drew_is_shown(api):
    one, other = api.players()
    board = api.begun(one, other, game="powerdrain")
    match = api.http.get(f"/api/matches/{board}").json()
    assert sorted(match["setup"]) == ["hands", "left", "top"]


def test_three_players_may_play(api):
    players = api.players(3)
    board = api.match(*players, game="halves", options=["-tiles_each=6"])
    match = api.http.get(f"/api/matches/{board}").json()
    assert [one["userid"] for one in match["players"]] == [player.name for player in players]


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"game": "chess"}, 404, "unknown-game"),
        ({"players": ["nobody-there", "ME"]}, 404, "unknown-user"),
        ({"players": ["ME"]}, 422, "bad-players"),
        ({"players": ["ME", "ME"]}, 422, "bad-players"),
        ({"players": ["OTHER", "THIRD"]}, 422, "bad-players"),
        ({"players": []}, 400, "bad-request"),
        ({"options": ["-slow"]}, 422, "unknown-option"),
        ({"options": ["-fast", "-middle"]}, 422, "bad-option"),
        ({"terms": ["--days=many"]}, 422, "bad-option"),
        ({"terms": ["--gather"]}, 422, "bad-option"),
        ({"rated": True}, 400, "bad-request"),
    ],
)
def test_what_can_not_be_played_does_not_start(api, change, status, code):
    me, other, third = api.players(3)
    names = {"ME": me.name, "OTHER": other.name, "THIRD": third.name}
    body = {"game": "pow2", "players": ["ME", "OTHER"], **change}
    body["players"] = [names.get(name, name) for name in body["players"]]
    refused = me.post("/api/matches", body)
    assert (refused.status_code, code_of(refused)) == (status, code)


def test_a_match_started_again_with_its_key_is_one_match(api):
    one, other = api.players()
    body = {"game": "pow2", "players": [one.name, other.name]}
    headers = {"Idempotency-Key": "first"}
    begun = [one.post("/api/matches", body, headers=headers).json() for _ in range(3)]
    assert begun[0] == begun[1] == begun[2]
    changed = {**body, "options": ["-fast"]}
    assert code_of(one.post("/api/matches", changed, headers=headers)) == "id-reused"


def test_who_challenges_need_not_sit_first(api):
    one, other = api.players()
    begun = one.post("/api/matches", {"game": "pow2", "players": [other.name, one.name]})
    assert begun.headers["Location"] == f"/api/matches/{begun.json()['board']}"
    match = api.http.get(f"/api/matches/{begun.json()['board']}").json()
    assert match["players"][0]["userid"] == other.name


def test_a_match_that_begins_during_a_vacation_knows_of_it(api):
    one, other = api.players()
    line = f"vacation {other.name} yes-we-can 7"
    assert api.http.post("/api/do", content=line).is_success
    board = api.match(one, other)
    path = f"/api/matches/{board}/events"
    until(lambda: len(api.http.get(path).json()) == 2)
    assert [event["type"] for event in api.http.get(path).json()] == ["match-proposed", "absent"]
