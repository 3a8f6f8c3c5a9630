"""The analysis of a match over HTTP: the API, and the command."""

import pytest

from infra.redis.rq_jobs import ANALYSIS
from services.app.matches import analyse
from tests.helpers.analysing import do_jobs, listening
from tests.helpers.api import code_of

MOVES = ("m13-j7", "a13-d7", "m1-i3")


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


def do(api, line, player=None):
    """Carry a line out; return the code and the text."""
    headers = {"Content-Type": "text/plain", **(player.headers if player else {})}
    answer = api.http.post("/api/do", content=line, headers=headers)
    return answer.headers.get("Matchpost-Code", ""), answer.text


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


def test_a_puzzle_has_its_score_and_its_bound(api, parts):
    one = api.player()
    board = api.match(one, game="one")
    for move in ("a1", "done"):
        assert one.move(board, move).is_success
    assert analyse(parts, board)
    found = api.http.get(f"/api/matches/{board}/analysis").json()
    assert "44" in found["bound"]
    assert [len(ply["values"]) for ply in found["plies"]] == [1, 1, 1]
    assert "by 1 stone" in found["plies"][-1]["score"]
    assert found["plies"][-1]["to_move"] is None
    so_far = [ply["reached"] for ply in found["plies"]]
    assert so_far[0] == 0 < so_far[1] == so_far[2] <= found["plies"][0]["values"][0] <= 1


def test_refusals_have_codes_and_sentences(api):
    two = api.players()
    board = api.match(*two)
    path = f"/api/matches/{board}/analysis"
    answer = api.http.get(path)
    assert code_of(answer) == "too-early"
    assert "once it is over" in answer.json()["detail"]
    assert code_of(two[0].post(path)) == "too-early"
    assert code_of(api.http.get("/api/matches/999999/analysis")) == "unknown-board"
    reader = api.player(["read"])
    assert code_of(reader.post(path)) == "missing-scope"


def test_the_command_asks_with_a_password_or_a_token_and_shows_without(api, parts, over):
    player, board = over
    code, text = do(api, f"pow2 analyse {board}")
    assert code == "not-found"
    assert f"`pow2 analyse {board} userid password` asks for it" in text
    code, text = do(api, f"pow2 analyse {board} {player.name} yes-we-can")
    assert code == ""
    assert "0 of 4 positions are done" in text
    assert "0 of 4 positions are done" in do(api, f"pow2 ANALYZE {board}", player)[1]
    assert do(api, f"pow2 analyse {board} {player.name} wrong-one")[0] == "wrong-password"
    assert do(api, f"torere analyse {board}")[0] == "wrong-game"
    do_jobs(parts)
    code, text = do(api, f"pow2 analyse {board}")
    assert code == ""
    rows = [line.split() for line in text.splitlines() if line.strip()]
    assert rows[1] == ["Light", "Dark"]
    assert rows[2][:3] == ["0", "the", "start"]
    assert [row[1] for row in rows[3:]] == ["Light", "Dark", "Light"]
    assert [row[2].rstrip("?") for row in rows[3:]] == list(MOVES)


def test_the_command_in_a_puzzle_shows_the_score(api, parts):
    one = api.player()
    board = api.match(one, game="one")
    assert one.move(board, "c3").is_success
    assert analyse(parts, board)
    text = do(api, f"one analyse {board}")[1]
    assert "100 is the proven maximum" in text
    assert "lines with exactly one stone" in text.splitlines()[-1]
