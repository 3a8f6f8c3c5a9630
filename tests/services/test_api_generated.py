"""Requests with anything in any place, and a sample of what `tests/fuzz` asks."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import services.http.api
from services.http.api.bodies import FORM_TYPE
from tests.helpers.api import Api, Player, code_of
from tests.helpers.examples import examples
from trials.fuzz import schema

EXAMPLES = json.loads((Path(services.http.api.__file__).parent / "examples.json").read_text())


SETTINGS = settings(examples(100, 400), suppress_health_check=[HealthCheck.function_scoped_fixture])


TELLING = frozenset({"delete_account", "change_password", "log_out_everywhere", "revoke_token"})


class Routes:
    """The operations of the document, asked by a player of a match."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.player: Player = api.player()
        self.board = api.match(self.player, api.player())
        document = api.http.get("/api/openapi.json").json()
        self.operations = {
            operation["operationId"]: (method.upper(), path, operation)
            for path, item in document["paths"].items()
            for method, operation in item.items()
        }

    def ask(
        self, name: str, given: dict[str, str], headers: dict[str, str], content: bytes | None
    ) -> int:
        """Ask an operation, whatever the document says of it; gives the status."""
        method, path, operation = self.operations[name]
        query = {}
        for parameter in operation["parameters"]:
            value = given.get(parameter["name"])
            if parameter["in"] == "path":
                good = EXAMPLES[name].get("parameters", {}).get(parameter["name"], self.board)
                text = str(good if value is None else value)
                path = path.replace(f"{{{parameter['name']}}}", quote(text, safe=""))
            elif value is not None and parameter["in"] == "query":
                query[parameter["name"]] = value
            elif value is not None:
                headers = {**headers, parameter["name"]: value}
        # a stream would have no end
        method = "HEAD" if name == "follow_account" else method
        answer = self.api.http.request(
            method, path, params=query, headers={**self.player.headers, **headers}, content=content
        )  # whether it is as the document says is looked at there
        return answer.status_code


@pytest.fixture(scope="module")
def routes(api: Api) -> Routes:
    return Routes(api)


NAMES = st.sampled_from(sorted(EXAMPLES.keys() - TELLING))


ODD = (
    "", " ", "0", "-1", "1", "01", "1.0", "1e3", "99999999999999999999", "null", "true", "NaN",
    "../..", "%00", "\x00", "'", '"', "\\", "<b>", "{}", "[]", "*", "mp_", "Ünïcödé", "\uff11", "\u202e",
    "a" * 3_000, "alice", "pow2", "POW2", "-fast", "--days=3",
)  # fmt: skip


TEXTS = st.one_of(st.sampled_from(ODD), st.text(max_size=40))


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXTS, inner, max_size=5),
    max_leaves=10,
)


def encoded(value: Any) -> bytes:
    # halves of surrogate pairs as JSON writes them
    return json.dumps(value).encode()


@SETTINGS
@given(name=NAMES, content=JSON_VALUES.map(encoded) | st.binary(max_size=200))
def test_whatever_stands_in_a_body_is_answered(routes, name, content):
    for headers in ({"Content-Type": "application/json"}, {}):
        assert routes.ask(name, {}, headers, content) < 500


FORMS = ("ask_for_device", "get_app_token", "revoke_app_token")


@SETTINGS
@given(name=st.sampled_from(FORMS), data=st.data())
def test_whatever_stands_in_a_form_of_oauth_is_answered(routes, name, data):
    form = dict(EXAMPLES[name]["request"])
    field = data.draw(st.sampled_from([*form, "scope", "code", "refresh_token", "redirect_uri"]))
    form[field] = data.draw(TEXTS)
    content = urlencode(form, errors="surrogatepass").encode()
    assert routes.ask(name, {}, {"Content-Type": FORM_TYPE}, content) < 500


BODIES = st.sampled_from(
    sorted(
        name
        for name, example in EXAMPLES.items()
        if isinstance(example.get("request"), dict)
        and example["request"]
        and name not in {*TELLING, *FORMS}
    )
)


@SETTINGS
@given(name=BODIES, data=st.data())
def test_a_body_with_one_thing_wrong_is_answered_and_one_thing_more_is_refused(routes, name, data):
    body = dict(EXAMPLES[name]["request"])
    field = data.draw(st.sampled_from(sorted(body)), "field")
    wrong = {**body, field: data.draw(JSON_VALUES, "value")}
    assert routes.ask(name, {}, {"Content-Type": "application/json"}, encoded(wrong)) < 500
    method, path, _ = routes.operations[name]
    extra = data.draw(TEXTS.filter(lambda text: text not in allowed(name)), "extra")
    refused = routes.api.http.request(
        method,
        path.replace("{board}", str(routes.board)).replace("{number}", str(routes.board)),
        content=encoded({**body, extra: 1}),
        headers={**routes.player.headers, "Content-Type": "application/json"},
    )
    assert (refused.status_code, code_of(refused)) == (400, "bad-request")


def allowed(name: str) -> set[str]:
    return {*EXAMPLES[name]["request"], "do", "ply", "options", "terms", "note", "seat", "seats",
            "language", "notify", "displays", "days", "addresses"}  # fmt: skip


@pytest.mark.long
@pytest.mark.timeout(900)  # some 6,500 requests one after the other, which a busy machine stretches
def test_what_schemathesis_asks_is_answered_as_the_document_promises(tmp_path):
    with Api(tmp_path) as api:
        report = schema.run(api, examples=2, seed=3)
    assert not report.failed, report.text
    assert report.statuses.total() > 5_000
    assert min(report.statuses[one] for one in ("200", "201", "204")) > 100
    assert not [status for status in report.statuses if status >= "500"], report.text
