"""Commands in a match and lines of text: keys, outcomes, conditional moves, the short path, and the ids of requests.

Commands of the usual form are answered before the framework, and the same as by it.
"""

import logging
import os
import re
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any
from uuid import uuid4

import httpx
import pytest

from infra.people.tokens import Scope
from infra.process.log_context import log_fields
from services.http.api import short_path
from services.http.context import TaskIntervals
from services.http.requests import request_id_of
from tests.helpers.api import PASSWORD, Api, Player, code_of, until

MOVE = {"do": "move", "move": "m13-j7"}
LINE = ["m13-j7", "a13-d7", "m1-i3", "a1-a5"]
Pair = tuple[Player, Player, int]


@pytest.fixture
def pair(api: Api) -> Pair:
    """Two players and the board of their match."""
    one, other = api.players()
    return one, other, api.match(one, other)


def key(text: str = "") -> dict[str, str]:
    return {"Idempotency-Key": text or uuid4().hex}


def match(api: Api, board: int) -> dict[str, Any]:
    return dict(api.http.get(f"/api/matches/{board}").json())


def test_a_key_is_of_one_command_of_one_player_and_answered_alike_though_the_match_moves_on(
    api, pair
):
    one, other, board = pair
    refused = other.move(board, "a13-d7", headers=key("k2"))
    done = [one.move(board, "M13-J7", headers=key("same")) for _ in range(3)]
    assert [(said.status_code, said.text) for said in done] == [(200, done[0].text)] * 3
    told = {"board": board, "accepted": True, "code": "", "message": "", "seq": 2}
    assert {**done[0].json(), **told} == done[0].json()
    found = match(api, board)
    assert (found["seq"], found["moves"], found["waits_for"]) == (2, ["m13-j7"], [1])
    changed = one.move(board, "m13-k8", headers=key("same"))
    assert (changed.status_code, code_of(changed)) == (409, "id-reused")
    again = other.move(board, "a13-d7", headers=key("k2"))
    assert code_of(refused) == code_of(again) == "not-your-turn"
    assert other.move(board, "a13-d7", headers=key("same")).is_success
    assert match(api, board)["seq"] == 3


def test_the_outcome_of_what_nobody_waited_for_can_be_asked_for(api, pair):
    one, other, board = pair
    with api.asleep():
        taken = one.move(board, "m13-j7", params={"wait": 0})
        assert (taken.status_code, code_of(taken)) == (202, "pending")
        assert taken.headers["Retry-After"] == "1"
        place = taken.headers["Location"]
        assert code_of(one.get(place)) == "not-found"
        refused = other.move(board, "m13-a1", params={"wait": 0}).headers["Location"]
    until(lambda: one.get(refused).is_success)
    assert one.get(place).json() == other.get(place).json()
    assert one.get(place).json()["accepted"] is True
    found = one.get(refused).json()
    assert (found["accepted"], found["code"]) == (False, "illegal-move")
    assert "m13" in found["message"]
    assert code_of(api.player().get(place)) == "not-a-player"


@pytest.mark.parametrize("announced", [True, False])
def test_who_waits_hears_as_soon_as_it_is_decided_also_of_what_nobody_announced(
    api, pair, announced
):
    """A drain that is killed between its commit and its word leaves a stored outcome."""
    one, _, board = pair
    with ThreadPoolExecutor(1) as pool:
        with api.asleep():
            waiting = pool.submit(one.move, board, "m13-j7", params={"wait": 20})
            until(lambda: api.parts.store.inbox_size(range(4)))
            assert not waiting.done()
            if not announced:
                api.drain_silently()
                assert waiting.result(timeout=60).status_code == 200
        assert waiting.result(timeout=60).status_code == 200


def test_a_command_passes_the_fault_points_in_order(api, pair, monkeypatch):
    one, _, board = pair
    passed = []
    monkeypatch.setattr("infra.store.async_gateway.failpoint", passed.append)
    submitted = ["submit.ready", "submit.queued", "submit.woken"]
    with ThreadPoolExecutor(1) as pool:
        with api.asleep():  # it can't hear before the drain was requested
            moved = pool.submit(one.move, board, "m13-j7", headers=key("first"))
            until(lambda: passed == submitted)
        assert moved.result(timeout=60).is_success
    assert passed == [*submitted, "submit.heard"]
    passed.clear()
    assert one.move(board, "m13-j7", headers=key("first")).is_success
    assert passed == ["submit.ready"], "it was answered from its outcome"


# the short path


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The boards of the requests that took the short path."""
    boards: list[int] = []
    carry_out = short_path._carry_out

    async def watched(context: Any, usual: Any, *asked: Any) -> Any:
        boards.append(usual.board)
        return await carry_out(context, usual, *asked)

    monkeypatch.setattr(short_path, "_carry_out", watched)
    return boards


OWN = ("date", "x-request-id", "ratelimit")


def same(api: Api, board: int | str, **sent: Any) -> httpx.Response:
    """The answer to a request as it is, and with a query, which no usual one has; both are equal."""
    path = f"/api/matches/{board}/commands"
    said, other = (api.http.post(f"{path}{query}", **sent) for query in ("", "?wait=10"))
    parts = [
        (one.status_code, one.content, {k: v for k, v in one.headers.items() if k not in OWN})
        for one in (said, other)
    ]
    assert parts[0] == parts[1]
    return said


def test_an_accepted_command_and_its_repetition_are_answered_alike(api, pair, taken):
    one, _, board = pair
    said = same(api, board, json=MOVE, headers=one.headers | key())
    assert (said.status_code, said.json()["accepted"]) == (200, True)
    assert re.fullmatch(r'"commands";q=\d+;w=60', said.headers["RateLimit-Policy"])
    assert re.fullmatch(r'"commands";r=\d+;t=\d+', said.headers["RateLimit"])
    assert said.headers["Access-Control-Allow-Origin"] == "*"
    assert taken == [board]


def test_a_refusal_is_the_same(api, pair):
    one, _, board = pair
    reads = api.parts.tokens.issue(one.account, "reads", [Scope.READ]).text
    for headers, body, code in (
        (one.headers, {"do": "move", "move": "m13-a1"}, "illegal-move"),
        (one.headers, {"do": "move", "move": "m13-j7", "ply": 7}, "stale-ply"),
        (one.headers, {"do": "offer", "kind": "money"}, "unknown-offer"),
        (one.headers, {"do": "dance"}, "bad-request"),
        (one.headers, {"do": "move", "move": "m13-j7", "more": 1}, "bad-request"),
        (one.headers, {"do": "move", "move": 13}, "bad-request"),
        (api.player().headers, MOVE, "not-a-player"),
        ({"Authorization": f"Bearer {reads}"}, MOVE, "missing-scope"),
        ({"Authorization": "Bearer mp_short"}, MOVE, "unknown-token"),
        ({"Authorization": f"Bearer {reads[:-1]}x"}, MOVE, "unknown-token"),
        ({"Authorization": "Basic eA=="}, MOVE, "unauthorized"),
        ({}, MOVE, "unauthorized"),
    ):
        assert code_of(same(api, board, json=body, headers=headers | key())) == code, body
    nowhere = same(api, 10**9, json=MOVE, headers=one.headers)
    assert code_of(nowhere) == "unknown-board"


def test_a_request_that_is_not_usual_is_answered_by_the_framework(api, pair, taken):
    one, _, board = pair
    for board_text, more in (
        (board, {"content": b""}),
        (board, {"content": b"{"}),
        (board, {"content": b'{"do":"move","move":"\xff"}'}),
        (board, {"content": b" " * 70_000}),
        (board, {"content": b"{}", "headers": {"Content-Type": "text/plain"}}),
        (board, {"json": MOVE, "headers": {"Idempotency-Key": "k" * 201}}),
        (board, {"json": MOVE, "headers": {"Idempotency-Key": ""}}),
        (board, {"json": MOVE, "headers": {"Host": "a b"}}),
        (f"0{board}", {"json": MOVE}),
        ("1" * 17, {"json": MOVE}),
    ):
        headers = {"Content-Type": "application/json"} | one.headers | more.pop("headers", {})
        said = same(api, board_text, headers=headers, **more)
        assert 400 <= said.status_code < 500, (more, said.text)
    assert taken == []


def connected(api: Api) -> socket.socket:
    url = httpx.URL(api.url)
    return socket.create_connection((url.host, url.port), timeout=20)


def test_a_request_counts_once_within_the_limits(tmp_path):
    with Api(tmp_path, command_rate=4, address_rate=6) as api:
        one, other = api.players()
        path = f"/api/matches/{api.match(one, other)}/commands"
        unknown = {"Authorization": "Bearer mp_short"}
        # one request of the four has started the match
        for headers, count, code in ((one.headers, 3, "unreadable-move"), (unknown, 6, "unknown-token")):  # fmt: skip
            sent = {"json": {"do": "move", "move": "nonsense"}, "headers": headers}
            codes = [code_of(api.http.post(path, **sent)) for _ in range(count + 1)]
            assert codes == [code] * count + ["too-fast"]


def test_requests_sent_together_and_the_last_of_a_connection_are_answered_as_usual(
    api, pair, taken
):
    one, _, board = pair
    body = b'{"do":"move","move":"m13-j7"}'
    head = (
        f"POST /api/matches/{board}/commands HTTP/1.1\r\nHost: x\r\nIdempotency-Key: same\r\n"
        f"Authorization: {one.headers['Authorization']}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n"
    ).encode()
    with closing(connected(api)) as connection:
        connection.sendall(2 * (head + b"\r\n" + body) + head + b"Connection: close\r\n\r\n" + body)
        said = b"".join(iter(lambda: connection.recv(65_536), b""))
    answers = said.split(b"HTTP/1.1 200 OK\r\n")[1:]
    assert taken == [board] * 3
    assert len({answer.partition(b"\r\n\r\n")[2] for answer in answers}) == 1
    assert [b"connection: close" in answer for answer in answers] == [False, False, True]
    assert all(answer.lower().count(b"date: ") == 1 for answer in answers)


def do(api: Api, line: str | bytes, **options: Any) -> httpx.Response:
    headers = {"Content-Type": "text/plain", **options.pop("headers", {})}
    return api.http.post("/api/do", content=line, headers=headers, **options)


def test_a_line_has_its_answer_and_a_refusal_its_code_and_the_status_of_the_code(api, pair):
    one, other, board = pair
    for line, status, code, start in (
        (f"pow2 challenge {one.name} {other.name}", 200, "", "match "),
        (f"pow2 move {board} {other.name} {PASSWORD} a13-d7", 409, "not-your-turn", ""),
        (f"pow2 move {board} {one.name} {PASSWORD} m13-a1", 422, "illegal-move", ""),
        ("pow2 show 99999", 404, "unknown-board", ""),
        ("", 400, "usage", ""),
        ("x" * 3_000, 413, "too-long", ""),
    ):
        said = do(api, line, headers=one.headers)
        assert (said.status_code, said.headers.get("Matchpost-Code", "")) == (status, code), line
        assert said.text.startswith(start or f"{code}: ")
        assert said.headers["content-type"] == "text/plain; charset=utf-8"
    several = do(api, "multiple\nhelp signup\ndance\n")
    assert (several.status_code, several.headers["Matchpost-Code"]) == (404, "unknown-command")
    assert "1: signup userid password" in several.text
    assert "2: unknown-command" in several.text


# conditional moves


@pytest.fixture
def replies(pair: Pair) -> str:
    """Where the conditional moves of the match are."""
    return f"/api/matches/{pair[2]}/replies"


def test_what_is_laid_takes_the_place_of_all_there_is_and_is_dropped_whole_or_by_branch(
    pair, replies
):
    _, other, _ = pair

    def after() -> list[list[str]]:
        return [reply["after"] for reply in other.get(replies).json()["replies"]]

    assert other.put(replies, {"lines": [LINE, ["a13-d7#9"]]}).is_success
    both = {"lines": [LINE[:2], ["m13-k8", "a13-d7"]]}
    assert [other.put(replies, both).status_code for _ in range(2)] == [200] * 2
    assert sorted(after()) == [["m13-j7"], ["m13-k8"]]
    assert other.delete(f"{replies}?line=m13-j7+a13-d7").status_code == 204
    assert after() == [["m13-k8"]]
    assert code_of(other.delete(f"{replies}?line=nonsense")) == "unreadable-move"
    assert [other.delete(replies).status_code for _ in range(2)] == [204] * 2
    assert after() == []


def test_nobody_else_ever_sees_what_is_laid_ready(api, pair, replies):
    one, other, board = pair
    secret = "a13-d7"
    assert other.put(replies, {"lines": [["m13-j7", secret]]}).is_success
    assert one.get(replies).json()["replies"] == []
    stranger = api.player()
    assert code_of(stranger.get(replies)) == "not-a-player"
    for place in (
        f"matches/{board}?legal=false", f"matches/{board}/events", f"matches/{board}/board.txt",
        f"matches/{board}/board.svg", f"players/{other.name}", f"matches?player={other.name}",
    ):  # fmt: skip
        for player in (one, stranger):
            assert secret not in player.get(f"/api/{place}").text, place


# ids of requests


@pytest.fixture
def fields(caplog: pytest.LogCaptureFixture) -> Iterator[list[dict[str, Any]]]:
    """The fields of each line of our modules, with the line's text."""
    found: list[dict[str, Any]] = []

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append({"text": record.getMessage(), **log_fields()})

    collector = Collector()
    loggers = [logging.getLogger(name) for name in ("infra.store", "services.http", "workers")]
    for logger in loggers:
        caplog.set_level(logging.DEBUG, logger.name)
        logger.addHandler(collector)
    yield found
    for logger in loggers:
        logger.removeHandler(collector)


def test_an_id_that_was_sent_is_returned_and_otherwise_one_is_made(api):
    for path in ("/api/games", "/login", "/api/matches/9", "/nowhere", "/static/x"):
        sent = api.http.get(path, headers={"X-Request-Id": "Proxy_1-a"})
        made = [api.http.get(path).headers["x-request-id"] for _ in range(2)]
        assert (sent.headers["x-request-id"], len(set(made))) == ("Proxy_1-a", 2), path
    for bad in ("alice@example.org", "a b", "x" * 65, "", "a;b", "é"):
        answer = api.http.get("/api/games", headers={b"X-Request-Id": bad.encode()})
        assert answer.headers["x-request-id"] not in (bad, "")


def test_the_command_id_joins_request_gateway_and_worker(pair, fields):
    alice, _, board = pair
    # the short path of commands, and the framework
    for id_, query, body in (("r-1", "", MOVE), ("r-2", "?wait=10", {"do": "resign"})):
        fields.clear()
        path = f"/api/matches/{board}/commands{query}"
        answer = alice.post(path, body, headers={"X-Request-Id": id_})
        assert (answer.status_code, answer.headers["x-request-id"]) == (200, id_)
        said = "POST /api/matches/{board}/commands is answered"
        until(
            lambda said=said, id_=id_: any(
                said in one["text"] and one.get("request_id") == id_ for one in fields
            )
        )
        (submitted,) = (one for one in fields if "is submitted" in one["text"])
        (decided,) = (one for one in fields if "is decided" in one["text"])
        assert submitted["request_id"] == id_
        assert submitted["command_id"] == decided["command_id"]
        assert submitted["board"] == decided["board"] == board
        assert submitted["account"] == decided["account"] == alice.account


def test_an_error_that_nobody_expected_is_logged_by_its_route_and_with_the_id(
    api, fields, caplog, monkeypatch
):
    monkeypatch.setattr(type(api.parts.accounts), "id_of", lambda *_: {}["a bug"])
    answer = api.http.get("/api/players/alice", headers={"X-Request-Id": "r-9"})
    assert (answer.status_code, code_of(answer)) == (500, "internal")
    assert "bug" not in answer.text
    assert "a bug" in caplog.text
    (line,) = (one for one in fields if "failed" in one["text"])
    told = line["request_id"], line["text"]
    assert told == ("r-9", "GET /api/players/{userid} failed")


def test_a_stream_ends_after_its_time_and_goes_on_where_it_ended(tmp_path):
    with Api(tmp_path, intervals=TaskIntervals(heartbeat=0.05, stream=0.2)) as api:
        one, other = api.players()
        board = api.match(one, other)
        path = f"/api/matches/{board}/events"
        with api.stream(path) as told:
            assert [event.id for event in told if event.id] == ["1"]
        assert one.move(board, "m13-j7").is_success
        with api.stream(path, Last_Event_ID="1") as told:
            assert [event.id for event in told if event.id] == ["2"]


def test_processes_that_are_forked_from_one_make_ids_of_their_own():
    def begin() -> str:
        return request_id_of({"headers": []}).partition("-")[0]

    first = begin()
    asked, told = os.pipe()
    child = os.fork()
    if not child:
        os.write(told, begin().encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert len(first) == 10
    assert os.read(asked, 10).decode() != first == begin()
