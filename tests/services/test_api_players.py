from collections.abc import Iterator

import pytest

from tests.helpers.api import Api, Player, code_of


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("api")) as api:
        yield api


def won(api: Api, winner: Player, loser: Player, **more) -> int:
    """Have a match won at its second move."""
    board = api.match(winner, loser, **more)
    assert winner.move(board, "m13-j7").is_success
    assert loser.move(board, "a13-d7").is_success
    assert loser.give(board, {"do": "resign"}).is_success
    return board


@pytest.fixture(scope="module")
def played(api: Api) -> tuple[Player, Player, list[int]]:
    """Two players, and the boards of what they have finished: 2 to 1."""
    one, other = api.players()
    boards = [won(api, *pair) for pair in ((one, other), (other, one), (one, other))]
    api.caught_up()
    return one, other, boards


def test_a_player_has_a_public_record(api, played):
    one, other, _ = played
    shown = api.http.get(f"/api/players/{one.name.upper()}").json()
    assert (shown["userid"], shown["active"], shown["finished"]) == (one.name, 0, 3)
    assert shown["ratings"]["pow2"] > api.http.get(f"/api/players/{other.name}").json()[
        "ratings"]["pow2"]  # fmt: skip
    assert code_of(api.http.get("/api/players/nobody-there")) == "unknown-user"


def test_matches_are_listed_by_player_and_state(api, played):
    one, other, boards = played
    third = api.player()
    waiting = api.begun(one, third)
    proposed = [api.match(one, third), api.match(one, third, game="powerdrain")]
    api.caught_up()

    def found(query: str) -> list[int]:
        answer = api.http.get(f"/api/matches?{query}")
        return sorted(match["board"] for match in answer.json()["matches"])

    assert found(f"player={one.name}") == [waiting]
    assert found(f"player={one.name}&state=next") == [waiting]
    assert found(f"player={third.name}&state=next") == []
    for player in (one, third):
        page = player.get("/api/account/invitations?limit=1").json()
        rest = player.get(f"/api/account/invitations?cursor={page['next']}").json()
        rows = page["matches"] + rest["matches"]
        assert [(row["board"], row["invited"]) for row in rows] == [
            (b, [1]) for b in proposed[::-1]
        ]
        assert rest["next"] is None
    assert other.get("/api/account/invitations").json()["matches"] == []
    assert found(f"player={one.name}&state=inactive") == sorted(boards)
    assert found(f"player={one.name}&state=all&game=pow2") == sorted([*boards, waiting])
    assert found(f"player={other.name}") == []
    assert waiting in found("game=pow2")
    assert not {*proposed} & {*found("game=pow2"), *found("game=powerdrain")}


def test_a_listed_match_says_how_it_stands(api, played):
    one, other, boards = played
    answer = api.http.get(f"/api/matches?player={one.name}&state=inactive")
    shown = {match["board"]: match for match in answer.json()["matches"]}[boards[0]]
    assert (shown["game"], shown["state"], shown["ply"]) == ("pow2", "over", 2)
    assert shown["players"] == [one.name, other.name]
    assert (shown["winners"], shown["reason"], shown["waits_for"]) == ([0], "resignation", [])


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("", 400, "bad-request"),
        ("state=all", 400, "bad-request"),
        ("game=pow2&state=all", 400, "bad-request"),
        ("game=chess", 404, "unknown-game"),
        ("player=nobody-there", 404, "unknown-user"),
        ("player=x&state=sleeping", 400, "bad-request"),
        ("game=pow2&limit=0", 400, "bad-request"),
        ("game=pow2&limit=101", 400, "bad-request"),
        ("game=pow2&cursor=-1", 400, "bad-request"),
        ("game=pow2&cursor=x", 400, "bad-request"),
        ("game=pow2&page=2", 400, "bad-request"),
    ],
)
def test_what_can_not_be_listed_is_refused(api, query, status, code):
    refused = api.http.get(f"/api/matches?{query}")
    assert (refused.status_code, code_of(refused)) == (status, code)


def test_lists_come_in_pages_that_have_each_row_once(api, played):
    one, _, boards = played
    rows, cursor = [], 0
    while cursor is not None:
        query = {"player": one.name, "state": "inactive", "limit": 2, "cursor": cursor}
        page = api.http.get("/api/matches", params=query).json()
        assert len(page["matches"]) <= 2
        rows += [match["board"] for match in page["matches"]]
        cursor = page["next"]
    assert sorted(rows) == sorted(boards)
    beyond = api.http.get(f"/api/matches?player={one.name}&cursor=1000000000").json()
    assert beyond == {"matches": [], "next": None}


def test_ratings_are_listed_and_each_can_be_followed(api, played):
    one, other, boards = played
    table = api.http.get("/api/ratings/pow2").json()["players"]
    assert [row["userid"] for row in table][:2] == [one.name, other.name]
    series = api.http.get(f"/api/ratings/pow2/{one.name}").json()
    assert [point["board"] for point in series["points"]] == boards
    assert series["rating"] == series["points"][-1]["rating"] == table[0]["rating"]
    assert series["place"] == 1
    fresh = api.http.get(f"/api/ratings/pow2/{api.player().name}").json()
    assert (fresh["place"], fresh["points"]) == (None, [])


def test_standings_history_and_head_to_head_agree(api, played):
    one, other, boards = played
    table = {row["userid"]: row for row in api.http.get("/api/standings/POW2").json()["players"]}
    assert (table[one.name]["won"], table[one.name]["lost"]) == (2, 1)
    history = api.http.get(f"/api/history/pow2?player={one.name}&opponent={other.name}").json()
    assert [match["board"] for match in history["matches"]] == boards[::-1]
    assert history["matches"][0]["winners"] == [0]
    pair = api.http.get(f"/api/head-to-head/pow2/{one.name}/{other.name}").json()
    assert (pair["played"], pair["won"], pair["shared"], pair["lost"]) == (3, 2, 0, 1)
    turned = api.http.get(f"/api/head-to-head/pow2/{other.name}/{one.name}").json()
    assert (turned["userid"], turned["won"], turned["lost"]) == (other.name, 1, 2)


def test_who_has_left_is_named_no_more(api):
    one, other = api.players()
    board = won(api, one, other)
    api.caught_up()
    assert one.post("/api/account/deletion", {"password": "yes-we-can"}).is_success
    history = api.http.get(f"/api/history/pow2?player={other.name}").json()["matches"]
    assert [(match["board"], match["players"]) for match in history] == [
        (board, [None, other.name])
    ]
    for path in ("/api/ratings/pow2", "/api/standings/pow2", "/api/history/pow2"):
        assert f'"{one.name}"' not in api.http.get(path).text


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/api/ratings/chess", 404, "unknown-game"),
        ("/api/ratings/one", 400, "usage"),
        ("/api/ratings/one/ME", 400, "usage"),
        ("/api/ratings/pow2/nobody-there", 404, "unknown-user"),
        ("/api/standings/two", 400, "usage"),
        ("/api/history/chess", 404, "unknown-game"),
        ("/api/history/pow2?player=nobody-there", 404, "unknown-user"),
        ("/api/head-to-head/pow2/ME/nobody-there", 404, "unknown-user"),
        ("/api/head-to-head/pow2/ME/ME", 422, "bad-players"),
        ("/api/head-to-head/duo/ME/ME", 400, "usage"),
        ("/api/puzzles/pow2/scores", 400, "usage"),
        ("/api/puzzles/chess/scores", 404, "unknown-game"),
        ("/api/puzzles/jump/scores?options=-slow", 422, "unknown-option"),
        ("/api/games/chess", 404, "unknown-game"),
    ],
)
def test_what_there_is_no_list_of_is_refused(api, played, path, status, code):
    refused = api.http.get(path.replace("ME", played[0].name))
    assert (refused.status_code, code_of(refused)) == (status, code)


def test_the_best_scores_of_a_puzzle_are_listed(api):
    one, other = api.players()
    for player, moves in ((one, ("a5", "done")), (other, ("a5", "c3", "done"))):
        board = api.match(player, game="one")
        for move in moves:
            assert player.move(board, move).is_success
    api.caught_up()
    rows = api.http.get("/api/puzzles/one/scores").json()
    # the best position of a match counts, and of equal ones the earlier
    assert [row["userid"] for row in rows] == [one.name, other.name]
    assert rows[0]["rank"] == rows[1]["rank"]


def test_the_games_are_listed(api):
    found = api.http.get("/api/games").json()
    keys = [game["key"] for game in found]
    assert keys == sorted(keys)
    assert {"pow2", "halves", "one"} <= set(keys)
    assert api.http.get("/api/games/HALVES").json() == found[keys.index("halves")]
    assert found[keys.index("halves")]["players"] == [2, 3]
