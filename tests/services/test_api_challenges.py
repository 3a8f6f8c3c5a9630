from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.helpers.api import Api, Player, code_of, until

FAST = {"game": "pow2", "options": ["fast"], "terms": ["--unrated", "--days=3"], "seat": 0}


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("api")) as api:
        yield api


def opened(player: Player, **more) -> dict:
    answer = player.post("/api/challenges", {**FAST, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


def accept(player: Player, challenge: dict, **options):
    return player.post(f"/api/challenges/{challenge['id']}/accept", **options)


def listed(api: Api, query: str = "") -> list[str]:
    return [one["id"] for one in api.http.get(f"/api/challenges{query}").json()["challenges"]]


def test_a_challenge_is_listed_until_it_is_taken(api):
    one, other = api.players()
    made = opened(one, note="beginners welcome")
    assert made["id"] in listed(api)
    assert made["id"] in listed(api, "?game=pow2")
    assert made["id"] not in listed(api, "?game=line")
    assert made["options"] == ["-fast"]
    assert made["terms"] == ["--days=3", "--unrated"]
    assert (made["note"], made["players"], made["missing"]) == ("beginners welcome", [one.name], 1)
    assert accept(other, made).is_success
    assert made["id"] not in listed(api)


def test_a_challenge_that_is_not_listed_is_taken_by_its_id(api):
    one, other, blocked = api.players(3)
    made = opened(one, listed=False)
    assert not made["listed"]
    assert made["id"] not in listed(api) + listed(api, "?game=pow2")
    assert [own["id"] for own in one.get("/api/account/challenges").json()["challenges"]] == [
        made["id"]
    ]
    assert one.put(f"/api/account/blocks/{blocked.name}", None).is_success
    assert code_of(accept(blocked, made)) == "not-wanted"
    assert accept(other, made).json()["state"] == "started"


def test_whoever_takes_the_last_seat_starts_the_match(api):
    one, other = api.players()
    made = opened(one)
    taken = accept(other, made).json()
    assert (taken["state"], taken["players"]) == ("started", [one.name, other.name])
    match = api.http.get(f"/api/matches/{taken['board']}").json()
    assert [player["userid"] for player in match["players"]] == [one.name, other.name]
    assert (match["options"], match["clock"]["rated"]) == (["-fast"], False)
    assert api.http.get(f"/api/challenges/{made['id']}").json() == taken


def test_whose_challenge_it_is_hears_of_the_match(api):
    one, other = api.players()
    with api.stream("/api/account/events", one) as told:
        board = accept(other, opened(one, seat=1)).json()["board"]
        assert next(one for one in told if not one.comment).data["board"] == board


def test_a_seat_may_be_left_to_chance_until_all_are_there(api):
    seats = set()
    for _ in range(40):
        one, other = api.players()
        made = opened(one, seat=None)
        assert made["seat"] is None
        taken = accept(other, made).json()
        assert taken["players"][taken["seat"]] == one.name
        seats.add(taken["seat"])
        if seats == {0, 1}:
            return
    raise AssertionError("chance always decides alike")


def test_a_challenge_for_three_waits_for_two(api):
    one, other, third = api.players(3)
    made = opened(one, game="halves", options=[], seats=3, seat=2)
    half = accept(other, made).json()
    assert (half["state"], half["missing"], half["board"]) == ("open", 1, None)
    full = accept(third, made).json()
    assert full["players"] == [other.name, third.name, one.name]
    assert len(api.http.get(f"/api/matches/{full['board']}").json()["players"]) == 3


def test_of_many_who_take_the_last_seat_one_gets_it(api):
    one, *others = api.players(9)
    made = opened(one)
    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(lambda player: accept(player, made), others))
    assert sorted(answer.status_code for answer in said) == [200] + [404] * 7
    (good,) = (answer.json() for answer in said if answer.is_success)
    refused = [answer for answer in said if not answer.is_success]
    assert {code_of(answer) for answer in refused} == {"unknown-challenge"}
    assert api.http.get(f"/api/challenges/{made['id']}").json()["board"] == good["board"]


def test_to_take_it_again_is_safe(api):
    one, other = api.players()
    made = opened(one)
    first = accept(other, made)
    assert accept(other, made).json() == first.json()
    api.caught_up()
    mine = api.http.get("/api/matches", params={"player": one.name}).json()["matches"]
    assert len(mine) == 1


def test_to_open_it_again_with_its_key_is_safe(api):
    one, other = api.players()
    key = {"Idempotency-Key": "again"}
    first = one.post("/api/challenges", FAST, headers=key)
    assert one.post("/api/challenges", FAST, headers=key).json() == first.json()
    changed = one.post("/api/challenges", {**FAST, "seat": 1}, headers=key)
    assert (changed.status_code, code_of(changed)) == (409, "id-reused")
    assert other.post("/api/challenges", FAST, headers=key).json()["id"] != first.json()["id"]


def test_a_start_without_an_outcome_in_time_is_pending_and_can_be_repeated(api):
    one, other = api.players()
    made = opened(one)
    with api.asleep():
        pending = accept(other, made, params={"wait": 0})
        assert (pending.status_code, code_of(pending)) == (202, "pending")
        assert api.http.get(f"/api/challenges/{made['id']}").json()["state"] == "taken"
    until(lambda: other.get(pending.headers["Location"]).json().get("accepted"))
    board = accept(other, made).json()["board"]
    assert one.move(board, "i5-g1").is_success


def test_a_challenge_can_be_withdrawn_and_a_seat_given_back(api):
    one, other, third = api.players(3)
    made = opened(one, game="halves", options=[], seats=3)
    assert accept(other, made).is_success
    assert other.delete(f"/api/challenges/{made['id']}").status_code == 204
    assert api.http.get(f"/api/challenges/{made['id']}").json()["players"] == [one.name]
    assert code_of(third.delete(f"/api/challenges/{made['id']}")) == "not-a-player"
    assert one.delete(f"/api/challenges/{made['id']}").status_code == 204
    assert made["id"] not in listed(api)
    assert code_of(accept(third, made)) == "unknown-challenge"
    assert api.http.get(f"/api/challenges/{made['id']}").json()["state"] == "withdrawn"


def test_one_that_has_started_is_withdrawn_no_more(api):
    one, other = api.players()
    made = opened(one)
    assert accept(other, made).is_success
    late = one.delete(f"/api/challenges/{made['id']}")
    assert (late.status_code, code_of(late)) == (409, "already-started")


def test_nobody_takes_the_own_challenge(api):
    one = api.player()
    refused = accept(one, opened(one))
    assert (refused.status_code, code_of(refused)) == (409, "own-challenge")


def test_a_player_sees_the_own_ones_that_wait(api):
    one, other = api.players()
    mine, joined = opened(one), opened(other, game="halves", options=[], seats=3)
    assert accept(one, joined).is_success
    found = one.get("/api/account/challenges").json()["challenges"]
    assert {each["id"] for each in found} == {mine["id"], joined["id"]}


def test_more_than_twenty_are_too_many(api):
    one = api.player()
    for _ in range(20):
        opened(one)
    refused = one.post("/api/challenges", FAST)
    assert (refused.status_code, code_of(refused)) == (409, "too-many")


def test_challenges_come_in_pages_the_newest_first(api):
    made = [opened(api.player())["id"] for _ in range(3)]
    first = api.http.get("/api/challenges?limit=2").json()
    rest = api.http.get(f"/api/challenges?limit=2&cursor={first['next']}").json()
    found = [one["id"] for page in (first, rest) for one in page["challenges"]]
    assert found[:3] == made[::-1]


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"game": "chess"}, 404, "unknown-game"),
        ({"options": ["-slow"]}, 422, "unknown-option"),
        ({"options": ["fast", "fast"]}, 422, "bad-option"),
        ({"terms": ["--hurry"]}, 422, "unknown-option"),
        ({"terms": ["--days=0"]}, 422, "bad-option"),
        ({"terms": ["--entropy=word"]}, 422, "bad-option"),
        ({"terms": ["--gather"]}, 422, "bad-option"),
        ({"seats": 3}, 422, "bad-players"),
        ({"seats": 9}, 400, "bad-request"),
        ({"seats": 1}, 400, "bad-request"),
        ({"seat": 2}, 422, "bad-players"),
        ({"game": "one", "options": [], "terms": []}, 422, "bad-players"),
        ({"note": "x" * 201}, 413, "too-long"),
        ({"note": "two\nlines"}, 400, "bad-request"),
        ({"players": ["bob"]}, 400, "bad-request"),
    ],
)
def test_what_can_not_be_played_is_not_offered(api, change, status, code):
    refused = api.player().post("/api/challenges", {**FAST, **change})
    assert (refused.status_code, code_of(refused)) == (status, code)


@pytest.mark.parametrize("name", ["aaaaaaaaaa", "a", "AAAA-AAAA", "0123456789", "%00", "ä"])
def test_what_is_no_challenge_is_unknown(api, name):
    for answer in (
        api.http.get(f"/api/challenges/{name}"),
        api.player().post(f"/api/challenges/{name}/accept"),
        api.player().delete(f"/api/challenges/{name}"),
    ):
        assert (answer.status_code, code_of(answer)) == (404, "unknown-challenge")


def test_what_an_erased_account_has_offered_is_gone(api):
    one = api.player()
    made = opened(one, note="mine")
    assert one.post("/api/account/deletion", {"password": "yes-we-can"}).status_code == 204
    assert code_of(api.http.get(f"/api/challenges/{made['id']}")) == "unknown-challenge"
    assert made["id"] not in listed(api)
