from collections.abc import Iterator

import pytest

from tests.helpers.api import Api, Player, code_of

LINE = ["m13-j7", "a13-d7", "m1-i3", "a1-a5"]


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("api")) as api:
        yield api


@pytest.fixture
def pair(api: Api) -> tuple[Player, Player, str]:
    """Two players, and where the replies of their match are."""
    one, other = api.players()
    return one, other, f"/api/matches/{api.match(one, other)}/replies"


def board_of(path: str) -> int:
    return int(path.split("/")[3])


def test_a_reply_laid_ready_is_played_at_once(api, pair):
    one, other, path = pair
    laid = other.put(path, {"lines": [LINE]})
    assert laid.json()["replies"] == [
        {"ply": 1, "after": ["m13-j7"], "move": "a13-d7", "next_turn": False},
        {"ply": 3, "after": ["m13-j7", "a13-d7", "m1-i3"], "move": "a1-a5", "next_turn": False},
    ]
    assert other.get(path).json() == laid.json()
    assert one.move(board_of(path), "m13-j7").is_success
    match = api.http.get(f"/api/matches/{board_of(path)}").json()
    assert match["moves"] == ["m13-j7", "a13-d7"]
    assert [reply["ply"] for reply in other.get(path).json()["replies"]] == [3]


def test_a_move_may_be_laid_ready_for_a_later_ply_whatever_comes(pair):
    _, other, path = pair
    laid = other.put(path, {"lines": [["a13-d7#3", "A1-A5#5"]]})
    assert laid.json()["replies"] == [
        {"ply": 3, "after": None, "move": "a13-d7", "next_turn": False},
        {"ply": 5, "after": None, "move": "a1-a5", "next_turn": False},
    ]


def test_what_is_laid_takes_the_place_of_all_there_is(pair):
    _, other, path = pair
    assert other.put(path, {"lines": [LINE, ["a13-d7#9"]]}).is_success
    again = other.put(path, {"lines": [["m13-k8", "a13-d7"]]})
    assert [reply["after"] for reply in again.json()["replies"]] == [["m13-k8"]]
    assert other.put(path, {"lines": [["m13-k8", "a13-d7"]]}).json() == again.json()


def test_replies_can_be_dropped(pair):
    _, other, path = pair
    assert other.put(path, {"lines": [LINE]}).is_success
    assert other.delete(path).status_code == 204
    assert other.delete(path).status_code == 204
    assert other.get(path).json()["replies"] == []


def test_one_branch_can_be_dropped(pair):
    _, other, path = pair
    assert other.put(path, {"lines": [LINE, ["m13-k8", "a13-d7"]]}).is_success
    assert other.delete(f"{path}?line=m13-j7+a13-d7").status_code == 204
    assert [reply["after"] for reply in other.get(path).json()["replies"]] == [["m13-k8"]]
    assert code_of(other.delete(f"{path}?line=nonsense")) == "unreadable-move"
    assert len(other.get(path).json()["replies"]) == 1


def test_a_reply_that_could_not_be_played_is_told_to_who_laid_it_ready(pair):
    one, other, path = pair
    assert other.put(path, {"lines": [["m1-a1#1"]]}).is_success
    assert one.move(board_of(path), "m13-j7").is_success
    told = other.get(path).json()
    assert told["replies"] == []
    assert "m1-a1" in told["notes"][0]


@pytest.mark.parametrize(
    ("lines", "status", "code"),
    [
        ([], 400, "bad-request"),
        ([[]], 400, "bad-request"),
        ([["m13-j7#0"]], 400, "usage"),
        ([["m13-a1", "a13-d7"]], 422, "illegal-move"),
        ([["m13-j7", "nonsense"]], 422, "unreadable-move"),
        ([["m13-j7#7x", "a13-d7"]], 400, "usage"),
        ([["m13-j7", "a13-d7#4"]], 409, "stale-ply"),
        ([["a13-d7#3", "a1-a5"]], 400, "usage"),
        ([LINE] * 51, 413, "too-long"),
        ([["a13-d7#3"]] * 101, 400, "bad-request"),
        ([[f"a13-d7#{n}" for n in range(1, 101)], ["a13-d7#101"]], 413, "too-long"),
    ],
)
def test_what_can_not_be_laid_ready_is_refused_and_changes_nothing(pair, lines, status, code):
    _, other, path = pair
    before = other.put(path, {"lines": [LINE]}).json()
    refused = other.put(path, {"lines": lines})
    assert (refused.status_code, code_of(refused)) == (status, code)
    assert other.get(path).json() == before


def test_whose_turn_it_is_plays_instead(pair):
    one, _, path = pair
    assert code_of(one.put(path, {"lines": [LINE]})) == "not-your-turn"


def test_nothing_is_laid_ready_where_nothing_more_is_played(api, pair):
    one, other, path = pair
    assert one.give(board_of(path), {"do": "resign"}).is_success
    assert code_of(other.put(path, {"lines": [LINE]})) == "match-over"
    waiting = api.match(one, other, game="powerdrain", terms=["--gather"])
    assert code_of(other.put(f"/api/matches/{waiting}/replies", {"lines": [["24-57"]]})) == (
        "not-started"
    )


def test_nobody_else_ever_sees_what_is_laid_ready(api, pair):
    one, other, path = pair
    secret = "a13-d7"
    assert other.put(path, {"lines": [["m13-j7", secret]]}).is_success
    assert one.get(path).json()["replies"] == []
    assert code_of(api.player().get(path)) == "not-a-player"
    match = f"/api/matches/{board_of(path)}"
    for place in (
        f"{match}?legal=false", f"{match}/events", f"{match}/board.txt", f"{match}/board.svg",
        f"/api/players/{other.name}", f"/api/matches?player={other.name}",
    ):  # fmt: skip
        for player in (one, api.player()):
            assert secret not in player.get(place).text, place
