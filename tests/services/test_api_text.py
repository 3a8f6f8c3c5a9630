from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.helpers.api import PASSWORD, Api, code_of, until


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("api")) as api:
        yield api


def do(api: Api, line: str | bytes, **options):
    headers = {"Content-Type": "text/plain", **options.pop("headers", {})}
    return api.http.post("/api/do", content=line, headers=headers, **options)


def test_a_match_is_played_by_command_lines(api):
    one, other = api.players()
    said = do(api, f"pow2 challenge {one.name} {other.name} -fast", headers=one.headers)
    assert (said.status_code, said.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    assert f"challenges Dark ({other.name}) to The Power of Two -fast" in said.text
    board = int(said.text.split()[1].rstrip(","))
    moved = do(api, f"pow2 move {board} {one.name} {PASSWORD} i5-g1")
    assert "played i5-g1" in moved.text
    assert api.http.get(f"/api/matches/{board}").json()["moves"] == ["i5-g1"]


def test_a_refusal_has_its_code_in_a_header_and_the_status_of_the_code(api):
    one, other = api.players()
    board = api.match(one, other)
    for line, status, code in (
        (f"pow2 move {board} {one.name} guessing m13-j7", 401, "wrong-password"),
        (f"pow2 move {board} {other.name} {PASSWORD} a13-d7", 409, "not-your-turn"),
        (f"pow2 move {board} {one.name} {PASSWORD} m13-a1", 422, "illegal-move"),
        ("pow2 show 99999", 404, "unknown-board"),
        ("chess show 1", 404, "unknown-game"),
        ("dance", 404, "unknown-command"),
        ("", 400, "usage"),
        ("x" * 3_000, 413, "too-long"),
    ):
        said = do(api, line)
        assert (said.status_code, said.headers["Matchpost-Code"]) == (status, code), line
        assert said.text.startswith(f"{code}: ")
        assert said.headers["content-type"] == "text/plain; charset=utf-8"


def test_a_line_repeated_with_its_key_is_carried_out_once(api):
    one, other = api.players()
    board = api.match(one, other)
    line = f"pow2 move {board} {one.name} {PASSWORD} m13-j7"
    said = [do(api, line, headers={"Idempotency-Key": "k"}).text for _ in range(3)]
    assert len(set(said)) == 1
    assert api.http.get(f"/api/matches/{board}").json()["ply"] == 1


def test_a_line_and_a_command_are_of_one_door_and_share_their_keys(api):
    one, other = api.players()
    board = api.match(one, other)
    headers = {"Idempotency-Key": "shared"}
    assert one.move(board, "m13-j7", headers=headers).is_success
    again = do(api, f"pow2 move {board} {one.name} {PASSWORD} m13-j7", headers=headers)
    assert again.status_code == 200
    assert api.http.get(f"/api/matches/{board}").json()["ply"] == 1


def test_several_lines_are_answered_one_by_one(api):
    said = do(api, "multiple\nhelp signup\ndance\n")
    assert (said.status_code, said.headers["Matchpost-Code"]) == (404, "unknown-command")
    assert "1: signup userid password" in said.text
    assert "2: unknown-command" in said.text


def test_a_line_whose_outcome_is_not_awaited_is_pending(api):
    one, other = api.players()
    board = api.match(one, other)
    line = f"pow2 move {board} {one.name} {PASSWORD} m13-j7"
    with api.asleep():
        said = do(api, line, params={"wait": 0}, headers={"Idempotency-Key": "later"})
        assert (said.status_code, said.headers["Matchpost-Code"]) == (202, "pending")
        assert said.headers["Retry-After"] == "1"
    again = do(api, line, headers={"Idempotency-Key": "later"})
    assert (again.status_code, "played m13-j7" in again.text) == (200, True)


def test_lines_that_wait_keep_nobody_else_waiting(api):
    one, other = api.players()
    boards = [api.match(one, other) for _ in range(40)]
    with ThreadPoolExecutor(40) as pool:
        with api.asleep():
            waiting = [
                pool.submit(do, api, f"pow2 move {board} {one.name} {PASSWORD} m13-j7")
                for board in boards
            ]
            until(lambda: api.parts.store.inbox_size(range(4)) >= 20)
            assert api.http.get("/api/help").is_success  # answered in a thread, too
            assert not any(each.done() for each in waiting)
        assert {each.result(30).status_code for each in waiting} == {200}


def test_what_is_no_text_is_refused(api):
    for content in (b"\xff\xfe", b"pow2 show \xe4"):
        refused = do(api, content)
        assert (refused.status_code, code_of(refused)) == (400, "bad-request")
    refused = api.http.post("/api/do", json="help")
    assert (refused.status_code, code_of(refused)) == (415, "bad-request")


def test_help_is_given_in_both_languages(api):
    english, german = api.http.get("/api/help"), api.http.get("/api/help?lang=de")
    assert english.text != german.text
    assert "m13" in api.http.get("/api/help?topic=pow2").text
    assert api.http.get("/api/help?topic=change%20password").text.startswith("change password")
    for query, code in (("topic=chess", "unknown-game"), ("lang=tlh", "bad-option")):
        assert api.http.get(f"/api/help?{query}").headers["Matchpost-Code"] == code


def test_help_carries_out_no_other_line(api):
    before = api.http.get("/api/players/eve")
    for topic in ("\nsignup eve mad-hatter", "x\r\nmultiple\nsignup eve mad-hatter"):
        shown = api.http.get("/api/help", params={"topic": topic}).text
        assert "no game and no command 'eve'" in shown
        assert "welcome" not in shown
    assert code_of(before) == code_of(api.http.get("/api/players/eve")) == "unknown-user"
