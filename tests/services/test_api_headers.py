"""Headers that all answers of a kind have: when to ask again, what is left of a rate, and what other sites may do."""

import re

import pytest

from domain.errors import Code, Refusal
from services.app.error_codes import CODE_INFO
from services.http.api.problem_details import problem_response
from services.http.web.render import render
from services.http.web.session import Visitor
from tests.helpers.api import Api
from tests.helpers.conformance import LATER
from tests.helpers.web import door

CODES = [code for code, known in CODE_INFO.items() if known.status in LATER]


@pytest.fixture(scope="module")
def operations(api: Api) -> dict[str, tuple[str, str, dict]]:
    """Each operation of the document: its method, path and answers."""
    paths = api.http.get("/api/openapi.json").json()["paths"]
    return {
        operation["operationId"]: (method.upper(), path, operation["responses"])
        for path, item in paths.items()
        for method, operation in item.items()
    }


def test_each_answer_that_means_later_says_when_in_the_document(operations):
    """That real answers do is asserted of each that any test gets: `tests.helpers.conformance`."""
    named = [
        (name, status, "Retry-After" in answer.get("headers", {}))
        for name, (_, _, answers) in operations.items()
        for status, answer in answers.items()
        if int(status) in LATER
    ]
    assert [one[:2] for one in named if not one[2]] == []
    assert {int(status) for _, status, _ in named} == {*LATER}


@pytest.mark.parametrize("code", CODES)
def test_each_code_that_means_later_says_when_on_a_page_too(code):
    api = problem_response(code, "x", retry_after=7)
    page = render("login.html", Visitor("", secure=False, path="/", partial=False),
                  reason=Refusal(code, "x", 7), wanted="", name="", games=(), returns_to="", passkeys=False,
                  provider="")  # fmt: skip
    assert (api.headers["Retry-After"], page.headers["Retry-After"]) == ("7", "7")
    assert int(problem_response(code, "x").headers["Retry-After"]) > 0


def test_a_refusal_that_nothing_helps_says_no_time():
    assert "Retry-After" not in problem_response(Code.NOT_FOUND, "x").headers


def test_a_form_over_a_rate_says_when(tmp_path):
    with Api(tmp_path, password_rate=1) as api, door(api) as come:
        guest, fields = come(), {"userid": "nobody", "password": "not-this-one"}
        seen = [guest.send("/login", fields, on="/login") for _ in range(2)]
    assert [one.status_code for one in seen] == [401, 429]
    assert int(seen[1].headers["Retry-After"]) > 0


POLICY = re.compile(r'"(commands|reads|address)";q=[1-9][0-9]*;w=60')
LEFT = re.compile(r'"(commands|reads|address)";r=[0-9]+;t=[0-9]+')


def test_each_answer_to_a_caller_says_what_is_left_also_a_stream_and_one_without_a_body(api):
    """As draft-ietf-httpapi-ratelimit-headers-10 has it."""
    alice, bob = api.players()
    board = api.begun(alice, bob)
    match = f"/api/matches/{board}"
    tag = alice.get(match).headers["ETag"]
    streams = {"Accept": "text/event-stream"}
    with api.client() as client, client.stream("GET", f"{match}/events", headers=streams) as stream:
        seen = {
            "address": [
                api.http.get(match),
                stream,
                api.http.get("/api/account"),
                api.http.post("/api/oauth/token", data={"client_id": "x"}),
            ],
            "reads": [
                alice.get(match),
                alice.get(match, headers={"If-None-Match": tag}),
                alice.get("/api/matches/999999999"),
            ],
            "commands": [alice.move(board, "m13-j7"), alice.move(board, "m1-i3")],
        }
        statuses = {name: [one.status_code for one in answers] for name, answers in seen.items()}
        assert statuses == {
            "address": [200, 200, 401, 400],
            "reads": [200, 304, 404],
            "commands": [200, 409],
        }
        for name, answers in seen.items():
            for answer in answers:
                policy = POLICY.fullmatch(answer.headers["RateLimit-Policy"])
                left = LEFT.fullmatch(answer.headers["RateLimit"])
                assert [one and one[1] for one in (policy, left)] == [name, name], answer.headers


def test_a_browser_that_asks_first_is_answered_for_each_path_without_credentials(api, operations):
    asked = {"Origin": "https://app.example", "Access-Control-Request-Headers": "authorization"}
    methods: dict[str, set[str]] = {}
    for method, path, _ in operations.values():
        methods.setdefault(path, set()).add(method)
    assert len(methods) > 100
    for template, allowed in methods.items():
        path = re.sub(r"\{\w+\}", "1", template)
        answer = api.http.options(path, headers=asked)
        said = answer.headers["Access-Control-Allow-Methods"].split(", ")
        assert answer.status_code == 204, path
        assert {*said} - {"OPTIONS"} == allowed | ({"HEAD"} if "GET" in allowed else set()), path
        assert answer.headers["Access-Control-Allow-Origin"] == "*", path
        named = answer.headers["Access-Control-Allow-Headers"].lower().split(", ")
        assert {"authorization", "content-type", "idempotency-key", "if-none-match"} <= {*named}
        assert "Access-Control-Allow-Credentials" not in answer.headers, path
