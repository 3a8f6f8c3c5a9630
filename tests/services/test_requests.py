"""Requests over HTTP: their ids, senders over a limit, and streams that end after a time."""

import logging
import os
from functools import partial

import pytest

from infra.process.log_context import log_fields
from services.http.context import TaskIntervals
from services.http.requests import request_id_of
from tests.helpers.api import Api


@pytest.fixture
def fields(caplog: pytest.LogCaptureFixture):
    """The fields of each line of our modules, with the line's text."""
    found: list[dict] = []

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


@pytest.mark.parametrize(
    "path", ["/api/games", "/login", "/api/matches/9", "/nowhere", "/static/x"]
)
def test_an_id_that_was_sent_is_returned_and_otherwise_one_is_made(api, path):
    sent = api.http.get(path, headers={"X-Request-Id": "Proxy_1-a"})
    assert sent.headers["x-request-id"] == "Proxy_1-a"
    made = {api.http.get(path).headers["x-request-id"] for _ in range(2)}
    assert len(made) == 2


@pytest.mark.parametrize("bad", ["alice@example.org", "a b", "x" * 65, "", "a;b", "é"])
def test_an_id_that_is_not_of_the_form_is_replaced(api, bad):
    answer = api.http.get("/api/games", headers={b"X-Request-Id": bad.encode()})
    assert answer.headers["x-request-id"] not in (bad, "")


def test_the_command_id_joins_request_gateway_and_worker(api, fields, wait_until):
    alice, bob = api.players()
    board = api.match(alice, bob)
    # the short path of commands, and the framework
    for id_, query, body in (
        ("r-1", "", {"do": "move", "move": "m13-j7"}),
        ("r-2", "?wait=10", {"do": "resign"}),
    ):
        fields.clear()
        path = f"/api/matches/{board}/commands{query}"
        answer = alice.post(path, body, headers={"X-Request-Id": id_})
        assert answer.status_code == 200
        assert answer.headers["x-request-id"] == id_
        wait_until(partial(found_in, fields, "POST /api/matches/{board}/commands is answered", id_))
        (submitted,) = (one for one in fields if "is submitted" in one["text"])
        (decided,) = (one for one in fields if "is decided" in one["text"])
        assert submitted["request_id"] == id_
        assert submitted["command_id"] == decided["command_id"]
        assert submitted["board"] == decided["board"] == board
        assert submitted["account"] == decided["account"] == alice.account


def found_in(fields: list[dict], text: str, request_id: str) -> bool:
    return any(text in one["text"] and one.get("request_id") == request_id for one in fields)


def test_an_error_that_nobody_expected_is_logged_by_its_route_and_with_the_id(
    api, fields, monkeypatch
):
    monkeypatch.setattr(type(api.parts.accounts), "id_of", lambda *_: {}["alice"])
    answer = api.http.get("/api/players/alice", headers={"X-Request-Id": "r-9"})
    assert answer.status_code == 500
    (line,) = (one for one in fields if "failed" in one["text"])
    assert line["request_id"] == "r-9"
    assert line["text"] == "GET /api/players/{userid} failed"


def test_a_stream_ends_after_its_time_and_goes_on_where_it_ended(tmp_path):
    with Api(tmp_path, intervals=TaskIntervals(heartbeat=0.05, stream=0.2)) as api:
        one, other = api.players()
        board = api.match(one, other)
        path = f"/api/matches/{board}/events"
        with api.stream(path) as told:
            first = [event for event in told if event.id]
        assert [event.id for event in first] == ["1"]
        assert one.move(board, "m13-j7").is_success
        with api.stream(path, Last_Event_ID="1") as told:
            assert [event.id for event in told if event.id] == ["2"]


def test_processes_that_are_forked_from_one_make_ids_of_their_own():
    def begin(_: object) -> str:
        return request_id_of({"headers": []}).partition("-")[0]

    first = begin(None)
    asked, told = os.pipe()
    child = os.fork()
    if not child:
        os.write(told, begin(None).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert len(first) == 10
    assert os.read(asked, 10).decode() != first == begin(None)
