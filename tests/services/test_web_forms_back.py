"""What stands below a form that was answered with a page: switches that lead to a page which exists."""

import html
import re
from collections.abc import Iterator

import pytest

from tests.helpers.api import Api
from tests.helpers.web import Guest, door

_BACK = re.compile(r'id="display-form".*?name="back" value="([^"]*)"', re.DOTALL)


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("web")) as api:
        yield api


@pytest.fixture
def guest(api: Api) -> Iterator[Guest]:
    with door(api) as come:
        guest = come()
        guest.log_in(api.player().name)
        yield guest


@pytest.mark.parametrize(
    ("path", "fields", "page"),
    [
        ("/new", {"game": "pow2", "against": "name", "opponent": "nobody-here"}, "/new"),
        ("/account/password", {"old": "wrong", "new": "x"}, "/account"),
        ("/account/tokens", {"label": "one", "scope": "read", "days": "30"}, "/account"),
        ("/account/tokens/none/revoke", {}, "/account"),
        ("/players/nobody-here/block", {}, "/players/nobody-here"),
        ("/puzzles/one", {"line": "z99"}, "/puzzles/one"),
        ("/challenges/none/take", {}, "/challenges"),
    ],
)
def test_the_switches_below_an_answered_form_lead_to_a_page(guest, path, fields, page):
    answer = guest.send(path, fields)
    assert answer.status_code != 303, answer.headers
    found = _BACK.search(answer.text)
    assert found, answer.text
    assert found[1] == page
    sent = guest.send("/display", {"theme": "dark", "back": found[1]})
    assert sent.headers["location"] == page
    assert guest.get(page).status_code != 405


def test_the_switches_of_a_page_keep_its_query(guest):
    found = _BACK.search(guest.page("/new?game=pow2"))
    assert found
    assert found[1] == "/new?game=pow2"


@pytest.mark.parametrize("page", ["/login", "/signup"])
def test_the_switches_below_a_refused_login_keep_the_wanted_page(api, page):
    with door(api) as come:
        guest = come()
        fields = {"userid": "nobody-here", "password": "wrong", "next": "/m/7?move=a b"}
        answer = guest.send(page, fields, on=page)
        found = _BACK.search(answer.text)
        assert found
        sent = guest.send("/display", {"theme": "dark", "back": html.unescape(found[1])})
        shown = guest.page(sent.headers["location"])
        assert 'name="next" value="/m/7?move=a b"' in shown
