"""The page that verifies, as a server sends it: one file, a policy without exceptions, and links to it."""

import html
import json
import re
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256

import pytest

from services.http.web.log.page import PAGE
from services.http.web.render import HEADERS
from tests.helpers.api import Api
from tests.helpers.web import Guest, Read


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("web")) as api:
        yield api


def source_of(element: str) -> str:
    """What a policy calls the content of an element."""
    (text,) = re.findall(rf"<{element}[^>]*>(.*?)</{element}>", PAGE, re.DOTALL)
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def test_its_policy_allows_its_own_script_and_style_and_nothing_else(api: Api) -> None:
    with Guest(api) as guest:
        answer = guest.get("/verify")
    assert answer.text == PAGE
    policy = answer.headers["Content-Security-Policy"]
    assert policy == (
        f"default-src 'none'; script-src {source_of('script')}; style-src {source_of('style')}; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    for name in HEADERS.keys() - {"Content-Security-Policy"}:
        assert answer.headers[name] == HEADERS[name]
    assert "set-cookie" not in answer.headers


def test_a_saved_page_has_the_same_policy() -> None:
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', PAGE)
    assert source_of("script") in policy
    assert source_of("style") in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


def test_it_asks_for_nothing(api: Api) -> None:
    assert re.findall(r"\b(?:src|srcset|action)=", PAGE) == []
    # the header and the foot of all pages, but for what is of a visitor
    with Guest(api) as guest:
        around = re.sub(r"<main.*</main>", "", guest.page("/help"), flags=re.DOTALL)
    shown = set(Read(PAGE).links)
    assert set(Read(around).links) - shown == {"/login", "/signup"}
    assert all(re.fullmatch("#main|/[a-z]*", one) for one in shown)
    assert not re.search(r"\bfetch\(|XMLHttpRequest|WebSocket|import\(|\beval\(|innerHTML", PAGE)


def test_pages_lead_to_it(api: Api) -> None:
    anna, berta = api.player(name="anna"), api.player(name="berta")
    board = api.begun(anna, berta)
    with Guest(api) as guest:
        for path in ("/", "/help", f"/m/{board}", f"/m/{board}/0"):
            main, _, foot = guest.page(path).partition("</main>")
            assert 'href="/verify"' in foot
            assert ('href="/verify"' in main) == (path != "/")


def test_the_page_is_in_german_for_its_readers(api):
    german = api.http.get("/verify", headers={"Accept-Language": "de"}).text
    assert '<html lang="de">' in german
    assert "Selbst prüfen" in german
    assert 'id="report" lang="en"' in german, "the steps of a check are in English"
    shown = re.findall(r"said\(\"([^\"]+)\"\)|show\(\"\w*\", \"([^\"]+)\"", german)
    headlines = {one or other for one, other in shown}
    assert headlines
    (words,) = re.findall(r'data-words="([^"]*)"', german)
    assert headlines <= set(json.loads(html.unescape(words)))
