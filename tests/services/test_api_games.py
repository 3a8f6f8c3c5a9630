"""Games over the API: their schemas, and the referee, who says the same as at the terminal."""

import json
from collections.abc import Iterator
from threading import BoundedSemaphore

import pytest

from services.cli.referee import judge
from services.http.api.routes import games
from tests.golden.make_games import read_games
from tests.helpers.api import Api, code_of


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("api")) as api:
        yield api


def ask(api: Api, game: str, picture: str = "", /, **asked):
    path = f"/api/games/{game}/judge{picture and f'?picture={picture}'}"
    return api.http.post(path, json=asked)


def test_the_schema_of_a_game_is_in_the_readers_language_and_is_not_sent_twice(api):
    first = api.http.get("/api/games/POW2/schema")
    assert first.json()["options"][0]["title"] == "The start"
    assert first.json()["schemas"]["move"]["pattern"] == first.json()["moves"]["pattern"]
    german = api.http.get("/api/games/pow2/schema", headers={"Accept-Language": "de"})
    assert german.headers["content-language"] == "de"
    assert german.json()["options"][0]["title"] == "Der Beginn"
    assert german.headers["etag"] != first.headers["etag"]
    again = {"If-None-Match": first.headers["etag"]}
    assert api.http.get("/api/games/pow2/schema", headers=again).status_code == 304
    assert code_of(api.http.get("/api/games/chess/schema")) == "unknown-game"


@pytest.mark.parametrize("game", ["pow2", "powerdrain", "halves", "torere"])
def test_the_referee_answers_over_http_as_at_the_terminal(api, game):
    record = read_games(game)[0]
    moves = record["moves"].split()
    asked = {
        "players": record["players"],
        "options": record["options"],
        "setup": record["setup"],
        "moves": moves,
    }
    at_terminal = judge(json.dumps({"game": game, **asked}).encode())
    assert ask(api, game, **asked).json() == json.loads(json.dumps(at_terminal))
    assert ask(api, game, **{"game": game, **asked}).json()["ok"]
    traced = {**asked, "moves": moves[:2], "trace": True}
    at_terminal = judge(json.dumps({"game": game, **traced}).encode())
    assert ask(api, game, **traced).json() == json.loads(json.dumps(at_terminal))


def test_a_refused_move_is_an_answer_and_a_request_that_nobody_can_judge_a_problem(api):
    refused = ask(api, "pow2", moves=["m13-j7", "j7-m13"])
    assert refused.status_code == 200
    assert refused.json() == judge(b'{"game": "pow2", "moves": ["m13-j7", "j7-m13"]}')
    for code, asked in {
        "bad-request": {"game": "torere"},
        "unknown-option": {"options": ["-nonsense"]},
        "unknown-rules": {"rules": 9},
        "bad-players": {"players": 3},
        "bad-setup": {"seed": "00"},
    }.items():
        answer = ask(api, "pow2", **asked)
        assert (code_of(answer), answer.status_code >= 400) == (code, True)


def test_a_picture_shows_the_last_move_and_says_where_the_places_are(api):
    drawn = ask(api, "pow2", "true", moves=["m13-j7"]).json()
    assert drawn["picture"].startswith("<svg")
    assert drawn["picture"].count('class="place last"') == 2
    places = {one["name"]: one for one in drawn["board"]["places"]}
    j7 = places["j7"]
    assert f'data-place="j7" transform="translate({j7["x"]:g} {j7["y"]:g})"' in drawn["picture"]
    halves = ask(api, "halves", "true", seed="00" * 32).json()
    numbers = {str(number) for *_, number in halves["position"]["tiles"]}
    assert {one["name"] for one in halves["board"]["places"]} == numbers
    assert "picture" not in ask(api, "pow2", "false").json()


def test_moves_that_take_the_referee_too_long_are_refused(api, monkeypatch):
    monkeypatch.setattr(games, "_MOST_WORDS", 60)
    few = ask(api, "pow2", moves=["m13-j7"])
    assert few.is_success
    long = ask(api, "pow2", moves=["m13-j7", "a13-d7"], trace=True)
    assert (code_of(long), long.status_code) == ("too-long", 413)
    assert "leave out `trace`" in long.json()["detail"]
    monkeypatch.setattr(games, "_SECONDS", -1.0)
    assert code_of(ask(api, "pow2", moves=[])) == "too-long"


def test_only_so_many_are_judged_at_once(api, monkeypatch):
    none_left = BoundedSemaphore(1)
    assert none_left.acquire()
    monkeypatch.setattr(games, "_AT_ONCE", none_left)
    busy = ask(api, "pow2")
    assert (code_of(busy), busy.status_code) == ("busy", 503)
    assert busy.headers["retry-after"] == "1"
    none_left.release()
    assert ask(api, "pow2").is_success
    assert code_of(ask(api, "pow2", players=9)) == "bad-players"
    assert ask(api, "pow2").is_success  # a refusal takes no place


def test_a_question_to_the_referee_costs_more_than_another_request(tmp_path):
    with Api(tmp_path, address_rate=25) as api:
        assert [ask(api, "torere").status_code for _ in range(3)] == [200, 200, 429]
