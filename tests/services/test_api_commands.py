from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest

from infra.durability.durability import Mode
from tests.helpers.api import Api, Player, code_of, until


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("api")) as api:
        yield api


@pytest.fixture
def pair(api: Api) -> tuple[Player, Player, int]:
    """Two players and the board of their match."""
    one, other = api.players()
    return one, other, api.match(one, other)


def key(text: str = "") -> dict[str, str]:
    return {"Idempotency-Key": text or uuid4().hex}


def seq_of(api: Api, board: int) -> int:
    return int(api.http.get(f"/api/matches/{board}").json()["seq"])


def test_a_move_is_answered_with_its_outcome(api, pair):
    one, _, board = pair
    said = one.move(board, "M13-J7")
    assert said.status_code == 200
    body = said.json()
    assert (body["board"], body["accepted"], body["code"], body["message"]) == (board, True, "", "")
    assert body["seq"] == 2
    now = api.http.get(f"/api/matches/{board}").json()
    assert now["moves"] == ["m13-j7"]
    assert now["waits_for"] == [1]


def test_a_move_may_say_at_which_ply_it_is_meant(pair):
    one, other, board = pair
    assert one.give(board, {"do": "move", "move": "m13-j7", "ply": 0}).is_success
    stale = other.give(board, {"do": "move", "move": "a13-d7", "ply": 0})
    assert (stale.status_code, code_of(stale)) == (409, "stale-ply")
    assert other.give(board, {"do": "move", "move": "a13-d7", "ply": 1}).is_success


def test_everything_a_player_can_do_can_be_done(api, pair):
    one, other, board = pair
    for player, body in (
        (other, {"do": "accept"}),
        (one, {"do": "offer", "kind": "draw"}),
        (other, {"do": "reject"}),
        (other, {"do": "offer", "kind": "pause"}),
        (one, {"do": "accept"}),
        (one, {"do": "resume"}),
        (one, {"do": "move", "move": "m13-j7"}),
        (one, {"do": "offer", "kind": "undo"}),
        (other, {"do": "accept"}),
        (other, {"do": "resign"}),
    ):
        said = player.give(board, body)
        assert said.status_code == 200, said.text
    result = api.http.get(f"/api/matches/{board}").json()["result"]
    assert (result["winners"], result["reason"]) == ([0], "resignation")


def test_a_match_that_gathers_entropy_starts_when_all_have_accepted(api):
    one, other = api.players()
    board = api.match(one, other, game="powerdrain", terms=["--gather", "--entropy=mine"])
    waiting = api.http.get(f"/api/matches/{board}").json()
    assert (waiting["state"], waiting["waits_for"]) == ("waiting", [1])
    assert code_of(api.http.get(f"/api/matches/{board}/board.svg")) == "not-started"
    assert code_of(one.move(board, "24-57")) == "not-started"
    assert other.give(board, {"do": "accept", "entropy": "yours"}).is_success
    assert api.http.get(f"/api/matches/{board}").json()["state"] == "active"


def test_a_match_may_be_declined(api, pair):
    one, other, board = pair
    other.accept(board)
    assert one.move(board, "m13-j7").is_success
    assert code_of(one.give(board, {"do": "decline"})) == "too-late"
    assert other.give(board, {"do": "decline"}).is_success
    assert api.http.get(f"/api/matches/{board}").json()["result"]["reason"] == "declined"


def test_each_refusal_has_its_code_and_its_status(api, pair):
    one, other, board = pair
    stranger = api.player()
    other.accept(board)
    refused = [
        (other.move(board, "a13-d7"), 409, "not-your-turn"),
        (one.move(board, "m13-a1"), 422, "illegal-move"),
        (one.move(board, "over there"), 422, "unreadable-move"),
        (one.give(board, {"do": "offer", "kind": "peace"}), 422, "unknown-offer"),
        (one.give(board, {"do": "accept"}), 409, "no-offer"),
        (one.give(board, {"do": "resume"}), 409, "not-paused"),
        (stranger.move(board, "m13-j7"), 403, "not-a-player"),
        (one.move(board + 1_000, "m13-j7"), 404, "unknown-board"),
        (one.give(board, {"do": "dance"}), 400, "bad-request"),
        (one.give(board, {"do": "move", "move": "m" * 600}), 400, "bad-request"),
    ]
    assert [(said.status_code, code_of(said)) for said, _, _ in refused] == [
        (status, code) for _, status, code in refused
    ]
    assert seq_of(api, board) == 2


def test_after_fifty_refusals_at_a_ply_no_more_are_judged(pair):
    one, _, board = pair
    codes = [code_of(one.move(board, "m13-a1")) for _ in range(51)]
    assert codes == ["illegal-move"] * 50 + ["too-many-refusals"]


def test_a_command_repeated_with_its_key_is_carried_out_once_and_answered_alike(api, pair):
    one, _, board = pair
    again = [one.move(board, "m13-j7", headers=key("k1")) for _ in range(3)]
    assert [said.status_code for said in again] == [200] * 3
    assert len({said.text for said in again}) == 1
    assert seq_of(api, board) == 2


def test_a_refusal_repeated_with_its_key_is_answered_alike_though_the_match_has_moved_on(pair):
    one, other, board = pair
    first = other.move(board, "a13-d7", headers=key("k2"))
    assert one.move(board, "m13-j7").is_success
    again = other.move(board, "a13-d7", headers=key("k2"))
    assert code_of(first) == code_of(again) == "not-your-turn"
    assert other.move(board, "a13-d7", headers=key("k3")).is_success


def test_a_key_used_for_another_command_is_refused(api, pair):
    one, _, board = pair
    assert one.move(board, "m13-j7", headers=key("k4")).is_success
    other_move = one.move(board, "m13-k8", headers=key("k4"))
    assert (other_move.status_code, code_of(other_move)) == (409, "id-reused")
    assert seq_of(api, board) == 2


def test_players_do_not_share_their_keys(api, pair):
    one, other, board = pair
    assert one.move(board, "m13-j7", headers=key("same")).is_success
    assert other.move(board, "a13-d7", headers=key("same")).is_success
    assert seq_of(api, board) == 3


def test_a_command_sent_many_times_at_once_is_carried_out_once(api, pair):
    one, _, board = pair
    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(lambda _: one.move(board, "m13-j7", headers=key("k5")), range(32)))
    assert {answer.status_code for answer in said} == {200}
    assert len({answer.text for answer in said}) == 1
    assert seq_of(api, board) == 2


def test_of_many_moves_at_one_ply_one_is_played(api, pair):
    one, _, board = pair
    moves = api.http.get(f"/api/matches/{board}").json()["at"]["legal"][:16]
    with ThreadPoolExecutor(8) as pool:
        said = list(
            pool.map(lambda move: one.give(board, {"do": "move", "move": move, "ply": 0}), moves)
        )
    assert sorted(answer.status_code for answer in said) == [200] + [409] * 15
    assert seq_of(api, board) == 2


def test_the_outcome_of_what_nobody_waited_for_can_be_asked_for(api, pair):
    one, other, board = pair
    with api.asleep():
        taken = one.move(board, "m13-j7", params={"wait": 0})
        assert (taken.status_code, code_of(taken)) == (202, "pending")
        assert taken.headers["Retry-After"] == "1"
        place = taken.headers["Location"]
        assert code_of(one.get(place)) == "not-found"
    until(lambda: one.get(place).is_success)
    assert one.get(place).json() == other.get(place).json()
    assert one.get(place).json()["accepted"] is True
    stranger = api.player()
    assert code_of(stranger.get(place)) == "not-a-player"


def test_the_outcome_of_a_refused_command_can_be_asked_for(api, pair):
    one, _, board = pair
    with api.asleep():
        place = one.move(board, "m13-a1", params={"wait": 0}).headers["Location"]
    until(lambda: one.get(place).is_success)
    found = one.get(place).json()
    assert (found["accepted"], found["code"]) == (False, "illegal-move")
    assert "m13" in found["message"]


def test_who_waits_hears_as_soon_as_it_is_decided(api, pair):
    one, _, board = pair
    with ThreadPoolExecutor(1) as pool:
        with api.asleep():
            waiting = pool.submit(one.move, board, "m13-j7", params={"wait": 20})
            until(lambda: api.parts.store.inbox_size(range(4)))
            assert not waiting.done()
        assert waiting.result(timeout=60).status_code == 200


def test_an_outcome_that_nobody_announced_is_found(api, pair):
    """A drain that is killed between its commit and its word leaves a stored outcome."""
    one, _, board = pair
    with ThreadPoolExecutor(1) as pool, api.asleep():
        waiting = pool.submit(one.move, board, "m13-j7", params={"wait": 20})
        until(lambda: api.parts.store.inbox_size(range(4)))
        api.drain_silently()
        assert waiting.result(timeout=60).status_code == 200


def test_a_full_inbox_is_answered_with_when_to_come_again(tmp_path):
    with Api(tmp_path, queue_cap=1) as api:
        one, other = api.players()
        boards = [api.match(one, other) for _ in range(8)]
        with api.asleep():
            said = [one.move(board, "m13-j7", params={"wait": 0}) for board in boards]
            busy = [answer for answer in said if answer.status_code == 503]
            assert busy
            assert code_of(busy[0]) == "busy"
            assert busy[0].headers["Retry-After"] == "60"


def test_without_durability_nothing_is_more_than_pending(tmp_path):
    with Api(tmp_path, durability=Mode.NONE) as api:
        one, other = api.players()
        begun = one.post("/api/matches", {"game": "pow2", "players": [one.name, other.name]})
        assert (begun.status_code, code_of(begun)) == (202, "pending")
        board = int(begun.headers["Location"].split("/")[3])
        moved = one.move(board, "m13-j7")
        assert (moved.status_code, code_of(moved)) == (202, "pending")
        assert code_of(one.get(moved.headers["Location"])) == "pending"
        assert code_of(one.move(board, "m13-j7")) == "not-your-turn"
        assert api.http.get(f"/api/matches/{board}").json()["ply"] == 1


def test_a_command_passes_the_fault_points_in_order(api, pair, monkeypatch):
    one, _, board = pair
    passed = []
    monkeypatch.setattr("infra.store.async_gateway.failpoint", passed.append)
    key = {"Idempotency-Key": "first"}
    submitted = ["submit.ready", "submit.queued", "submit.woken"]
    with ThreadPoolExecutor(1) as pool:
        with api.asleep():  # it can't hear before the drain was requested
            moved = pool.submit(one.move, board, "m13-j7", headers=key)
            until(lambda: passed == submitted)
        assert moved.result(timeout=60).is_success
    assert passed == [*submitted, "submit.heard"]
    passed.clear()
    assert one.move(board, "m13-j7", headers=key).is_success
    assert passed == ["submit.ready"], "it was answered from its outcome"
