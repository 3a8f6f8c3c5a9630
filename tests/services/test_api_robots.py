"""Robots and rematches over the API."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from infra.people.account_macs import AccountMacs
from infra.people.accounts import create_robot_accounts
from tests.helpers.api import Api, Player, code_of


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("api")) as api:
        create_robot_accounts(api.parts.data, AccountMacs())
        yield api


def started(player: Player, *names: str, **more) -> int:
    answer = player.post("/api/matches", {"game": "pow2", "players": names, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()["board"]


def opened(player: Player, **more) -> str:
    answer = player.post("/api/challenges", {"game": "pow2", "seat": 0, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def shown(api: Api, board: int) -> dict:
    return api.http.get(f"/api/matches/{board}").json()


def ended(api: Api, one: Player, other: Player) -> int:
    board = api.match(one, other)
    one.give(board, {"do": "resign"})
    return board


# robots


@pytest.mark.long
def test_the_robots_are_listed_with_their_games(api):
    answer = api.http.get("/api/robots").json()
    assert answer["robots"] == [
        {"userid": f"robot-{level}", "level": level} for level in ("easy", "medium", "hard")
    ]
    assert "halves" in answer["games"]
    assert "one" not in answer["games"]


def test_a_robot_is_marked_wherever_it_is_named_alone(api):
    player = api.player()
    assert api.http.get("/api/players/robot-hard").json()["robot"] == "hard"
    assert api.http.get(f"/api/players/{player.name}").json()["robot"] is None
    match = shown(api, started(player, player.name, "robot-easy"))
    assert [seat["robot"] for seat in match["players"]] == [None, "easy"]


def test_a_match_with_a_robot_is_unrated(api):
    player = api.player()
    match = shown(api, started(player, "robot-easy", player.name, terms=["--days=3"]))
    assert (match["state"], match["clock"]["rated"]) == ("active", False)
    assert match["clock"]["terms"] == ["--days=3", "--unrated"]


def test_a_robot_takes_a_free_seat_when_the_opener_asks(api):
    player, other = api.players()
    id_ = opened(player, terms=["--days=3"])
    path = f"/api/challenges/{id_}/robot"
    assert code_of(other.post(path, {"level": "easy"})) == "not-a-player"
    taken = player.post(path, {"level": "easy"})
    assert taken.status_code == 200, taken.text
    challenge = taken.json()
    assert (challenge["state"], challenge["players"]) == ("started", [player.name, "robot-easy"])
    assert challenge["terms"] == ["--days=3", "--unrated"]
    assert shown(api, challenge["board"])["clock"]["rated"] is False
    assert player.post(path, {"level": "easy"}).json()["board"] == challenge["board"]


def test_a_robot_that_joins_a_challenge_for_three_waits_for_the_third(api):
    player, other = api.players()
    id_ = opened(player, game="halves", seats=3)
    half = player.post(f"/api/challenges/{id_}/robot", {"level": "hard"}).json()
    assert (half["state"], half["missing"]) == ("open", 1)
    full = other.post(f"/api/challenges/{id_}/accept").json()
    assert full["state"] == "started"
    assert shown(api, full["board"])["clock"]["rated"] is False


def test_an_unknown_level_is_refused(api):
    player = api.player()
    answer = player.post(f"/api/challenges/{opened(player)}/robot", {"level": "harder"})
    assert answer.status_code == 400, answer.text


def test_a_robot_reads_no_messages(api):
    answer = api.player().post("/api/messages", {"to": ["robot-easy"], "text": "hello"})
    assert code_of(answer) == "not-wanted"


def test_nobody_logs_in_as_a_robot(api):
    wanted = {"userid": "robot-easy", "password": "robot-easy", "label": "x", "scopes": ["play"]}
    assert code_of(api.http.post("/api/tokens", json=wanted)) == "wrong-password"


def test_robots_are_in_no_table(api):
    player = api.player()
    board = started(player, player.name, "robot-easy")
    player.give(board, {"do": "resign"})
    api.caught_up()
    table = api.http.get("/api/standings/pow2").json()
    names = {row["userid"] for row in table["players"]}
    assert not names & {"robot-easy", player.name}


# rematches


def test_a_rematch_exchanges_the_sides(api):
    one, other = api.players()
    board = ended(api, one, other)
    answer = other.post(f"/api/matches/{board}/rematch", {})
    assert answer.status_code == 201, answer.text
    again = shown(api, answer.json()["board"])
    assert [seat["userid"] for seat in again["players"]] == [other.name, one.name]
    assert one.post(f"/api/matches/{board}/rematch", {}).json()["board"] == again["board"]


def test_both_who_ask_at_once_get_the_same_match(api):
    for _ in range(5):
        one, other = api.players()
        board = ended(api, one, other)
        with ThreadPoolExecutor(2) as pool:
            asked = [
                pool.submit(player.post, f"/api/matches/{board}/rematch", {})
                for player in (one, other)
            ]
        answers = [future.result() for future in asked]
        assert [answer.status_code for answer in answers] == [201, 201], answers[0].text
        assert len({answer.json()["board"] for answer in answers}) == 1


def test_a_running_match_has_none(api):
    one, other = api.players()
    answer = one.post(f"/api/matches/{api.match(one, other)}/rematch", {})
    assert (answer.status_code, code_of(answer)) == (409, "too-early")
