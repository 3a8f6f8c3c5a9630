"""Commands of the usual form are answered before the framework, and the same as by it."""

import re
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from prometheus_client.samples import Sample

from infra.people.tokens import Scope
from infra.process.metrics import REGISTRY
from services.http.api import short_path
from tests.helpers.api import Api, Player, code_of

MOVE = {"do": "move", "move": "m13-j7"}


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("api")) as api:
        yield api


@pytest.fixture
def pair(api: Api) -> tuple[Player, Player, int]:
    """Two players and the board of their match."""
    one, other = api.players()
    return one, other, api.match(one, other)


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


def both(api: Api, board: int | str, **sent: Any) -> list[httpx.Response]:
    """The answers to a request as it is, and with a query, which no usual one has."""
    path = f"/api/matches/{board}/commands"
    return [api.http.post(f"{path}{query}", **sent) for query in ("", "?wait=10")]


OWN = ("date", "x-request-id", "ratelimit")
"""Headers that each answer has for itself."""


def same(answers: list[httpx.Response]) -> httpx.Response:
    """The answer, if both are equal."""
    parts = [
        (one.status_code, one.content, {k: v for k, v in one.headers.items() if k not in OWN})
        for one in answers
    ]
    assert parts[0] == parts[1]
    return answers[0]


def test_an_accepted_command_and_its_repetition_are_answered_alike(api, pair, taken):
    one, _, board = pair
    sent = {"json": MOVE, "headers": one.headers | {"Idempotency-Key": uuid4().hex}}
    said = same(both(api, board, **sent))
    assert (said.status_code, said.json()["accepted"]) == (200, True)
    assert re.fullmatch(r'"commands";q=\d+;w=60', said.headers["RateLimit-Policy"])
    assert re.fullmatch(r'"commands";r=\d+;t=\d+', said.headers["RateLimit"])
    assert said.headers["Access-Control-Allow-Origin"] == "*"
    assert taken == [board]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"do": "move", "move": "m13-a1"}, "illegal-move"),
        ({"do": "move", "move": "nonsense"}, "unreadable-move"),
        ({"do": "move", "move": "m13-j7", "ply": 7}, "stale-ply"),
        ({"do": "accept"}, "offer-stands"),
        ({"do": "offer", "kind": "money"}, "unknown-offer"),
        ({"do": "dance"}, "bad-request"),
        ({"do": "move", "move": "m13-j7", "more": 1}, "bad-request"),
        ({"do": "move", "move": 13}, "bad-request"),
    ],
)
def test_a_refusal_is_the_same(api, pair, body, code):
    one, _, board = pair
    sent = {"json": body, "headers": one.headers | {"Idempotency-Key": uuid4().hex}}
    assert code_of(same(both(api, board, **sent))) == code


def test_a_caller_who_may_not_gets_the_same_refusal(api, pair):
    one, _, board = pair
    stranger = api.player()
    reads = api.parts.tokens.issue(one.account, "reads", [Scope.READ]).text
    for headers, code in (
        (stranger.headers, "not-a-player"),
        ({"Authorization": f"Bearer {reads}"}, "missing-scope"),
        ({"Authorization": "Bearer mp_short"}, "unknown-token"),
        ({"Authorization": f"Bearer {reads[:-1]}x"}, "unknown-token"),
        ({"Authorization": "Basic eA=="}, "unauthorized"),
        ({}, "unauthorized"),
    ):
        assert code_of(same(both(api, board, json=MOVE, headers=headers))) == code


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
        said = same(both(api, board_text, headers=headers, **more))
        assert 400 <= said.status_code < 500, (more, said.text)
    assert taken == []


def test_a_match_that_is_not_there_is_refused_the_same(api, pair):
    assert code_of(same(both(api, 10**9, json=MOVE, headers=pair[0].headers))) == "unknown-board"


def test_a_body_in_pieces_is_put_together(api, pair, taken):
    one, _, board = pair
    url = httpx.URL(api.url)
    head = (
        f"POST /api/matches/{board}/commands HTTP/1.1\r\nHost: x\r\n"
        f"Authorization: {one.headers['Authorization']}\r\nContent-Type: application/json\r\n"
        "Content-Length: 30\r\n\r\n"
    )
    with closing(socket.create_connection((url.host, url.port), timeout=20)) as connection:
        connection.sendall(head.encode())
        connection.sendall(b'{"do":"move",')
        connection.settimeout(0.2)
        with pytest.raises(TimeoutError):
            connection.recv(1)
        connection.settimeout(20)
        connection.sendall(b'"move":"m13-j7" }')
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200 ")
    assert taken == []


def test_both_are_counted_as_one_route(api, pair):
    def samples() -> list[Sample]:
        return [one for metric in REGISTRY.collect() for one in metric.samples]

    both(api, pair[2], json=MOVE, headers=pair[0].headers)
    routes = {one.labels.get("route", "") for one in samples()}
    names = {route for route in routes if "commands" in route}
    assert short_path.PATH_TEMPLATE in names
    assert not [name for name in names if name.startswith("/api/matches/{board:")]


def test_a_request_counts_once_within_the_limits(tmp_path: Path):
    with Api(tmp_path, command_rate=4, address_rate=6) as api:
        one, other = api.players()
        board = api.match(one, other)
        path = f"/api/matches/{board}/commands"
        refused = {"do": "move", "move": "nonsense"}
        codes = [code_of(api.http.post(path, json=refused, headers=one.headers)) for _ in range(4)]
        # one request of the four has started the match
        assert codes == ["unreadable-move"] * 3 + ["too-fast"]
        unknown = {"Authorization": "Bearer mp_short"}
        codes = [code_of(api.http.post(path, json=refused, headers=unknown)) for _ in range(7)]
        # one of the six has read the document
        assert codes == ["unknown-token"] * 5 + ["too-fast"] * 2


def test_a_server_that_fails_is_said_by_the_route(api, pair, monkeypatch):
    async def broken(*_: Any) -> Any:
        raise ConnectionError("gone")

    monkeypatch.setattr(short_path, "_carry_out", broken)
    said = api.http.post(f"/api/matches/{pair[2]}/commands", json=MOVE, headers=pair[0].headers)
    assert (said.status_code, code_of(said)) == (500, "internal")


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
    url = httpx.URL(api.url)
    with closing(socket.create_connection((url.host, url.port), timeout=20)) as connection:
        connection.sendall(2 * (head + b"\r\n" + body) + head + b"Connection: close\r\n\r\n" + body)
        said = b"".join(iter(lambda: connection.recv(65_536), b""))
    answers = said.split(b"HTTP/1.1 200 OK\r\n")[1:]
    assert taken == [board] * 3
    assert len({answer.partition(b"\r\n\r\n")[2] for answer in answers}) == 1
    assert [b"connection: close" in answer for answer in answers] == [False, False, True]
    assert all(answer.lower().count(b"date: ") == 1 for answer in answers)
