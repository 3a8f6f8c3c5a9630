"""The document of the API and its pages, and the declaration of routes that they are made of."""

import ast
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from domain.errors import Code
from infra.log.key_files import generate_keys
from infra.people.logos import MOST_BYTES
from infra.people.tokens import Scope
from infra.projections.notices import NoticeKind
from services.app.error_codes import CODE_INFO
from services.http.api.auth import Own
from services.http.api.bodies import FORM_TYPE, MAX_BODY_BYTES, Sender
from services.http.api.declared import ANY_TOKEN, ANYBODY, ApiRoutes, refuses
from services.http.api.openapi import schemas
from services.http.api.routes.analyses import AnalysedPly, AnalysisUnderWay, MatchAnalysis
from services.http.api.values import EXTENSIBLE
from tests.golden import make_api
from tests.helpers.api import Api, code_of


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("api"), **make_api.SETTINGS) as api:
        yield api


@pytest.fixture(scope="module")
def document(api: Api) -> dict[str, Any]:
    return api.http.get("/api/openapi.json").json()


@pytest.fixture(scope="module")
def operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        operation["operationId"]: operation
        for item in document["paths"].values()
        for operation in item.values()
    }


@pytest.fixture(scope="module")
def made(api: Api) -> dict[str, Any]:
    """The exchange, which is the first thing that takes place here."""
    return make_api.exchange(api)


def shape(value: Any) -> Any:
    """What a value is made of, whatever its words and numbers are."""
    if isinstance(value, dict):
        return {name: shape(one) for name, one in value.items()}
    if isinstance(value, list):
        return [shape(one) for one in value[:1]]
    return type(value).__name__


def test_the_methods_of_a_path_come_in_the_same_order_in_every_process(document):
    order = ["get", "post", "put", "patch", "delete"]
    for item in document["paths"].values():
        assert list(item) == sorted(item, key=order.index)


def test_the_examples_are_of_the_exchange_that_still_takes_place(made, operations):
    stored = json.loads(make_api.FILE.read_text())
    assert made.keys() == stored.keys() == operations.keys()
    for name, example in made.items():
        assert shape(example) == shape(stored[name]), name


def test_every_example_fits_its_schema(document, operations):
    for name, operation in operations.items():
        contents = [operation.get("requestBody", {}), *operation["responses"].values()]
        for told in contents:
            for content in told.get("content", {}).values():
                if "example" in content:
                    schema = {**content["schema"], "components": document["components"]}
                    validator = jsonschema_rs.Draft202012Validator(schema)
                    assert [*validator.iter_errors(content["example"])] == [], name


def test_every_operation_says_what_it_does_and_who_may_and_has_examples(document, operations):
    tags = {tag["name"] for tag in document["tags"]}
    scopes = [[], [{"token": []}], *([{"token": [scope]}] for scope in Scope)]
    for name, operation in operations.items():
        assert operation["summary"], name
        assert operation["description"], name
        assert "anyio" not in operation["description"], name
        assert set(operation["tags"]) <= tags, name
        assert operation["security"] in scopes, name
        good = next(told for status, told in operation["responses"].items() if status[0] == "2")
        for told in (operation.get("requestBody", {}), good):
            contents = list(told.get("content", {}).values())
            assert not contents or any("example" in content for content in contents), name
    assert set(document["components"]["securitySchemes"]) == {"token"}


def test_every_refusal_is_a_problem_document_with_the_status_of_its_codes(operations):
    for name, operation in operations.items():
        for status, told in operation["responses"].items():
            if status.startswith("2") or status == "304":
                continue
            codes = [code for code in Code if f"`{code}`" in told["description"]]
            assert codes, f"{name} {status}"
            if status not in ("415", "431"):
                assert {str(CODE_INFO[code].status) for code in codes} == {status}, name
            assert any(
                content["schema"] in ({"$ref": "#/components/schemas/Problem"}, {"type": "string"})
                for content in told["content"].values()
            ), name


def test_unknown_fields_are_refused_in_every_body(document, operations):
    schemas = document["components"]["schemas"]
    bodies = [
        one["$ref"].rpartition("/")[2]
        for operation in operations.values()
        for kind, content in operation.get("requestBody", {"content": {}})["content"].items()
        if kind != FORM_TYPE  # of a form RFC 6749 wants them ignored
        for one in content["schema"].get("anyOf", [content["schema"]])
        if "$ref" in one
    ]
    assert len(bodies) > 15
    assert all(schemas[name]["additionalProperties"] is False for name in bodies)


def test_a_logo_that_the_document_allows_fits_into_a_request(document):
    fields = document["components"]["schemas"]["SiteChange"]["properties"]
    (most,) = (one["maxLength"] for one in fields["logo"]["anyOf"] if "maxLength" in one)
    assert MOST_BYTES * 4 / 3 <= most < MAX_BODY_BYTES - 10_000


class Links(HTMLParser):
    """What a page links to and loads, and the names of its places."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.places: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.targets.append(value)
            if name == "id" and value:
                self.places.append(value)


def test_the_page_shows_every_operation_and_loads_nothing(api, operations):
    answer = api.http.get("/api")
    assert "server" not in answer.headers
    assert answer.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    links = Links()
    links.feed(answer.text)
    assert not links.tags & {"script", "link", "img", "iframe"}
    assert set(operations) <= set(links.places)
    assert len(set(links.places)) == len(links.places)
    for target in links.targets:
        place = target.removeprefix("#")
        assert target == "/api/openapi.json" or place in links.places, target


def test_every_code_is_explained_where_problem_documents_say(api):
    for code, known in CODE_INFO.items():
        said = api.http.get(f"/api/errors/{code}").json()
        assert said == {"code": code, "status": known.status, "meaning": known.meaning}
    assert code_of(api.http.get("/api/errors/no-such-code")) == "not-found"


PAGE = Path(__file__).parents[2] / "docs" / "api.md"
USUAL = "http://127.0.0.1:8080"


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_exchange_on_the_page_is_what_one_sees(tmp_path):
    block = re.search(r"```console\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert block is not None
    commands = [line[2:] for line in block[1].splitlines() if line.startswith("$ ")]
    # one shell for all, as for who types them: what is set in one line is used in the next
    script = "\n".join(f"printf '%s\\n' {quoted(line)}\n{line}" for line in commands)
    with Api(tmp_path) as new:
        generate_keys(new.settings.data / "keys", "localhost")
        done = subprocess.run(
            ["bash", "-c", script.replace(USUAL, new.url)],
            env={"PATH": os.environ["PATH"], "no_proxy": "*"},
            capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        assert settled(done.stdout.replace(new.url, USUAL)) == settled(block[1])


def quoted(line: str) -> str:
    return "'$ " + line.replace("'", "'\\''") + "'"


def settled(text: str) -> str:
    """Leave out what another run has otherwise: hashes, time and signature of a receipt, too."""
    text = re.sub(r'(/receipt\\n\d+\\n\d+\\n)[^"]*"', r'\1..."', text)
    return re.sub(r'"[0-9a-f]{32}"', '"ID"', re.sub(r"\b\d{13}\b", "TIME", text))


def test_every_body_on_the_page_is_one(document):
    blocks = re.findall(r"```json\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    lines = [json.loads(line) for block in blocks for line in block.splitlines()]
    kinds = {line["do"] for line in lines if "verdict" not in line}  # that are bodies of rulings
    sent = document["paths"]["/api/matches/{board}/commands"]["post"]["requestBody"]["content"]
    assert kinds == sent["application/json"]["schema"]["discriminator"]["mapping"].keys()


@pytest.mark.parametrize("needs", [ANYBODY, ANY_TOKEN, Scope.READ, Scope.ACCOUNT])
def test_a_route_that_lacks_the_scope_it_acts_by_is_refused_at_its_declaration(needs):
    api = ApiRoutes("things")

    def show(own: Own) -> None:
        pass

    def play(sender: Sender) -> None:
        pass

    with pytest.raises(TypeError, match="play sends commands, and needs no scope for it"):
        api.get("/api/things", "Things", needs)(play)
    assert api.all == []
    if needs is ANYBODY:
        with pytest.raises(TypeError, match="show acts for an account, and needs no token"):
            api.get("/api/things", "Things", needs)(show)


def test_error_codes_that_would_be_lost_are_refused_at_their_declaration():
    def show() -> None:
        pass

    ApiRoutes("things").get("/api/things", "Things", ANYBODY)(show)
    with pytest.raises(TypeError, match="too late"):
        refuses(Code.BUSY)(show)


def test_no_source_is_parsed_more_than_once_for_the_document(monkeypatch):
    kinds = [MatchAnalysis, AnalysisUnderWay, AnalysedPly]  # of one module
    schemas._field_descriptions.cache_clear()
    parsed = []
    monkeypatch.setattr(
        ast,
        "parse",
        lambda text: parsed.append(text) or compile(text, "", "exec", ast.PyCF_ONLY_AST),
    )
    described = schemas.schemas(kinds)[1]
    assert "positions" in described["AnalysisUnderWay"]["properties"]["done"]["description"]
    assert len(parsed) <= 1


# addresses of what was made, and values


@pytest.mark.usefixtures("made")
def test_what_a_page_exists_of_says_where_it_was_made(api, operations):
    alice, bob = api.players()
    cup = {"name": "Cup", "game": "pow2", "terms": ["--days=3"], "section": 3}
    signup = {"userid": "Zoe", "password": "sing-along"}
    for answer in (
        api.http.post("/api/accounts", json=signup),
        alice.post("/api/challenges", {"game": "pow2"}),
        alice.post("/api/matches", {"game": "pow2", "players": [alice.name, bob.name]}),
        alice.post("/api/tournaments", cup),
    ):
        assert answer.status_code == 201
        found = api.http.get(answer.headers["location"], headers=alice.headers)
        assert found.is_success
    made = {
        name: one["responses"]["201"]
        for name, one in operations.items()
        if "201" in one["responses"]
    }
    without = {name for name, told in made.items() if "Location" not in told.get("headers", {})}
    no_page_of_its_own = (
        "make_token make_report add_push impose_sanction make_club_link admin_make_link make_bot make_bot_token"
        " make_webhook register_app"
    )
    assert without == set(no_page_of_its_own.split())


ENUMS = {
    "Match.state": "active over waiting", "Listed.state": "active over waiting", "BeforeDraw.phase": "commit reveal",
    "OpenChallenge.state": "open started taken withdrawn", "OwnAccount.notify": "daily move none",
    "OwnAccount.challenges": "anyone known none", "OwnAccount.language": "de en", "Message.kind": "broadcast message",
    "CaseEvent.kind": "appeal claim ruling",
}  # fmt: skip
"""Strings that have few values, for good."""

OPEN_ENDED = {
    "Problem.code": {*Code}, "CodeMeaning.code": {*Code}, "Notice.kind": {*NoticeKind}, "Event.type": {"moved", "ended", "entered"},
    "Result.reason": {"resignation", "agreement"}, "OpenOffer.kind": {"draw", "undo", "deal"},
}  # fmt: skip
"""Strings that may get new values."""


def test_the_values_of_strings_are_in_the_document(document):
    def field(name: str) -> dict[str, Any]:
        schema, _, own = name.partition(".")
        return dict(document["components"]["schemas"][schema]["properties"][own])

    assert {name: " ".join(sorted(field(name)["enum"])) for name in ENUMS} == ENUMS
    for name, some in OPEN_ENDED.items():
        found = field(name)
        assert set(map(str, some)) <= set(found[EXTENSIBLE]), name
        assert (found["type"], "enum" in found) == ("string", False), name
