"""Matches, their boards and analyses, and the list of games."""

import xml.etree.ElementTree as ET

import pytest

from infra.people.account_macs import AccountMacs
from infra.people.accounts import create_robot_accounts
from infra.redis.rq_jobs import ANALYSIS
from services.app.matches import analyse
from tests.helpers.analysing import do_jobs, listening
from tests.helpers.api import Api, Player, code_of


@pytest.fixture
def pair(api: Api) -> tuple[Player, Player, int]:
    one, other = api.players()
    return one, other, api.begun(one, other)


def play(pair: tuple[Player, Player, int], *moves: str) -> None:
    one, other, board = pair
    for number, move in enumerate(moves):
        assert (one, other)[number % 2].move(board, move).is_success


def shown(api: Api, board: int) -> dict:
    return api.http.get(f"/api/matches/{board}").json()


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


def test_any_ply_can_be_seen(api, pair):
    play(pair, "m13-j7", "a13-d7")
    path = f"/api/matches/{pair[2]}"
    plies = [api.http.get(f"{path}/plies/{n}").json() for n in range(3)]
    assert [ply["last_move"] for ply in plies] == [None, "m13-j7", "a13-d7"]
    assert [ply["to_move"] for ply in plies] == [0, 1, 0]
    assert plies[2] == shown(api, pair[2])["at"]
    assert "m13" in plies[0]["position"]["board"]
    assert api.http.get(f"{path}?legal=false").json()["at"]["legal"] is None
    for number, code in ((3, "unknown-ply"), (10**6 + 1, "bad-request")):
        assert code_of(api.http.get(f"{path}/plies/{number}")) == code
    assert pair[1].give(pair[2], {"do": "resign"}).is_success
    last = api.http.get(f"{path}/plies/2").json()
    assert (last["to_move"], last["legal"]) == (None, [])
    assert api.http.get(f"{path}/plies/0").json()["to_move"] == 0


def test_a_board_is_drawn_at_any_ply(api, pair):
    play(pair, "m13-j7", "a13-d7")
    path = f"/api/matches/{pair[2]}/board.svg"
    drawings = [api.http.get(f"{path}?ply={n}") for n in range(3)]
    assert {one.headers["content-type"] for one in drawings} == {"image/svg+xml"}
    assert "default-src 'none'" in drawings[0].headers["content-security-policy"]
    assert all(ET.fromstring(drawing.text).tag.endswith("svg") for drawing in drawings)
    assert len({one.text for one in drawings}) == 3
    assert api.http.get(path).text == drawings[2].text
    assert "The last move was m13-j7" in drawings[1].text
    for ply, code in ((3, "unknown-ply"), (-1, "bad-request")):
        assert code_of(api.http.get(f"{path}?ply={ply}")) == code
    assert pair[0].give(pair[2], {"do": "resign"}).is_success
    assert "by resignation" in api.http.get(path).text


def test_a_board_is_a_picture_for_programs_without_svg_too(api, pair):
    play(pair, "m13-j7")
    path = f"/api/matches/{pair[2]}/board.png"
    first, last = (api.http.get(f"{path}?ply={ply}") for ply in (0, 1))
    assert last.headers["content-type"] == "image/png"
    assert last.content.startswith(b"\x89PNG\r\n")
    assert first.content != last.content == api.http.get(path).content
    assert code_of(api.http.get(f"{path}?ply=2")) == "unknown-ply"


def test_a_board_is_written_in_any_display_and_says_where_its_places_are(api, pair):
    play(pair, "m13-j7")
    path = f"/api/matches/{pair[2]}/board"
    for display, query in (("large", ""), ("small", "?display=small")):
        board = api.http.get(f"{path}.json{query}").json()
        drawn = api.http.get(f"{path}.txt{query}")
        assert drawn.headers["content-type"] == "text/plain; charset=utf-8"
        assert (board["text"], board["display"]) == (drawn.text.rstrip("\n"), display)
        assert (board["ply"], board["move"], board["next"]) == (1, "m13-j7", "")
        assert board["displays"] == ["large", "small"]
        places = {place.pop("name"): place for place in board["places"]}
        lines = board["text"].splitlines()
        letters = {name: lines[at["line"]][at["column"]] for name, at in places.items()}
        assert (letters["j7"], letters["m13"], letters["a13"]) == ("O", "*", "X")
        assert {(at["width"], at["height"]) for at in places.values()} == {(1, 1)}
    assert api.http.get(f"{path}.txt?ply=0").text != api.http.get(f"{path}.txt").text
    refused = api.http.get(f"{path}.txt?display=huge")
    assert (refused.status_code, code_of(refused)) == (422, "bad-option")


def test_a_move_is_previewed_and_nothing_is_played(api, pair):
    _, other, board = pair
    path = f"/api/matches/{board}/board.json"
    preview = api.http.get(path, params={"move": " M13-J7 ", "display": "small"}).json()
    assert (preview["ply"], preview["move"]) == (1, "m13-j7")
    assert preview["next"] == f"it will be {other.name}'s turn"
    assert api.http.get(path).json()["ply"] == 0
    play(pair, "m13-j7")
    assert api.http.get(f"{path}?display=small").json()["text"] == preview["text"]
    earlier = api.http.get(path, params={"ply": 0, "move": "m13-k8"}).json()
    assert (earlier["ply"], earlier["move"]) == (1, "m13-k8")
    for move, code in (("m13-j7", "illegal-move"), ("over there", "unreadable-move")):
        assert code_of(api.http.get(path, params={"move": move})) == code


@pytest.mark.parametrize(
    "place",
    ["", "?legal=false", "/plies/1", "/board.svg", "/board.svg?ply=1", "/board.txt", "/board.json"],
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


# lists of players


def test_the_games_are_listed(api):
    found = api.http.get("/api/games").json()
    keys = [game["key"] for game in found]
    assert keys == sorted(keys)
    assert {"pow2", "halves", "one"} <= set(keys)
    assert api.http.get("/api/games/HALVES").json() == found[keys.index("halves")]
    assert found[keys.index("halves")]["players"] == [2, 3]


@pytest.fixture
def robots(api: Api) -> None:
    create_robot_accounts(api.parts.data, AccountMacs())


@pytest.fixture
def parts(api):
    api.parts.queue.delete(f"rq:queue:{ANALYSIS}")
    with listening(api.parts):
        yield api.parts


@pytest.fixture
def over(api):
    """A player and the board of a match of theirs that is over."""
    two = api.players()
    board = api.match(*two)
    for at, move in enumerate(MOVES):
        assert two[at % 2].move(board, move).is_success
    assert two[0].give(board, {"do": "resign"}).is_success
    return two[0], board


def test_an_analysis_is_asked_for_with_a_token_and_read_by_anybody(api, parts, over):
    player, board = over
    path = f"/api/matches/{board}/analysis"
    assert code_of(api.http.get(path)) == "not-found"
    assert code_of(api.http.post(path)) == "unauthorized"
    asked = player.post(path)
    none = {"interrupted": False, "seconds_left": None}
    assert (asked.status_code, asked.json()) == (
        202,
        {"board": board, "done": 0, "total": 4, **none},
    )
    waiting = api.http.get(path)
    assert (waiting.status_code, waiting.json()) == (202, asked.json())
    assert waiting.headers["Retry-After"] == "1"
    do_jobs(parts)
    answer = api.http.get(path)
    assert answer.status_code == 200
    found = answer.json()
    assert [one["move"] for one in found["plies"]] == [*MOVES, None]
    assert [one["ply"] for one in found["plies"]] == [0, 1, 2, 3]
    assert all(sum(one["values"]) == pytest.approx(1, abs=0.002) for one in found["plies"])
    assert found["bound"] is None
    assert {one["reached"] for one in found["plies"]} == {None}
    tagged = {"If-None-Match": answer.headers["ETag"]}
    assert api.http.get(path, headers=tagged).status_code == 304
    again = player.post(path)
    assert (again.status_code, again.json()["done"], again.json()["total"]) == (202, 4, 4)


def do(api, line, player=None):
    """Carry a line out; return the code and the text."""
    headers = {"Content-Type": "text/plain", **(player.headers if player else {})}
    answer = api.http.post("/api/do", content=line, headers=headers)
    return answer.headers.get("Matchpost-Code", ""), answer.text


MOVES = ("m13-j7", "a13-d7", "m1-i3")


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


def test_what_can_not_be_listed_is_refused(api, played):
    for query in (
        "", "state=all", "game=pow2&state=all", "player=x&state=sleeping", "game=pow2&limit=0",
        "game=pow2&limit=101", "game=pow2&cursor=-1", "game=pow2&cursor=x", "game=pow2&page=2",
    ):  # fmt: skip
        refused = api.http.get(f"/api/matches?{query}")
        assert (refused.status_code, code_of(refused)) == (400, "bad-request"), query
    for path, status, code in (
        ("matches?game=chess", 404, "unknown-game"),
        ("matches?player=nobody-there", 404, "unknown-user"),
        ("ratings/chess", 404, "unknown-game"),
        ("ratings/one", 400, "usage"),
        ("standings/two", 400, "usage"),
        ("history/chess", 404, "unknown-game"),
        ("history/pow2?player=nobody-there", 404, "unknown-user"),
        ("head-to-head/pow2/ME/ME", 422, "bad-players"),
        ("puzzles/pow2/scores", 400, "usage"),
        ("puzzles/chess/scores", 404, "unknown-game"),
        ("puzzles/jump/scores?options=-slow", 422, "unknown-option"),
        ("games/chess", 404, "unknown-game"),
    ):
        refused = api.http.get(f"/api/{path.replace('ME', played[0].name)}")
        assert (refused.status_code, code_of(refused)) == (status, code), path


def test_the_command_in_a_puzzle_shows_the_score(api, parts):
    one = api.player()
    board = api.match(one, game="one")
    assert one.move(board, "c3").is_success
    assert analyse(parts, board)
    text = do(api, f"one analyse {board}")[1]
    assert "100 is the proven maximum" in text
    assert "lines with exactly one stone" in text.splitlines()[-1]
