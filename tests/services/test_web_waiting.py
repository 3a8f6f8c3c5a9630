"""How many matches wait: in the header of every page, and the way from one to the next."""

import re
from collections.abc import Callable, Iterator

import pytest

from services.http.streams.page_marks import WaitingTopic, page_marks
from tests.helpers.api import Api
from tests.helpers.web import Guest, door


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("web")) as api:
        yield api


@pytest.fixture
def come(api: Api) -> Iterator[Callable[..., Guest]]:
    with door(api) as come:
        yield come


def pill(page: str) -> str:
    """Return the mark of what waits, as HTML; empty where there is none."""
    found = re.search(r'<a id="waiting".*?</a>', page)
    return found[0] if found else ""


def test_every_page_says_how_many_matches_wait_and_none_says_nothing(api, come):
    one, two = api.players()
    boards = [api.begun(one, two) for _ in range(3)]
    api.caught_up()
    guest, other = come(), come()
    guest.log_in(one.name)
    other.log_in(two.name)
    for path in ("/", "/games", "/ratings/pow2", f"/players/{two.name}", f"/m/{boards[0]}"):
        page = guest.page(path)
        assert ">3</span>" in pill(page), path
        assert "3 matches are waiting for you" in pill(page)
        assert 'icon-waiting.svg" data-calm' in page
    assert "<title>(3) Games" in guest.page("/games")
    assert "hidden" in pill(other.page("/games"))
    assert "<title>Games" in other.page("/games")
    assert pill(come().page("/games")) == ""
    german = guest.page("/games", headers={"Accept-Language": "de"})
    assert "3 Partien warten auf dich" in pill(german)


def test_the_way_leads_from_one_match_to_the_next_and_home_at_last(api, come):
    one, two = api.players()
    slow = api.begun(one, two, terms=["--days=7"])
    fast = api.begun(one, two, terms=["--days=1"])
    api.caught_up()
    guest, other = come(), come()
    guest.log_in(one.name)
    other.log_in(two.name)
    assert guest.get("/next").headers["location"] == f"/m/{fast}"
    link = re.search(r'href="([^"]+)"', pill(guest.page(f"/m/{fast}")))
    assert link is not None
    assert guest.get(link[1]).headers["location"] == f"/m/{slow}"
    assert other.get("/next").headers["location"] == "/"
    assert come().get("/next").headers["location"].startswith("/login")


def test_a_stream_tells_an_account_how_many_wait(api):
    one, two = api.players()
    topics = [WaitingTopic(one.account), WaitingTopic(two.account)]
    board = api.begun(one, two)
    api.caught_up()
    assert list(page_marks(api.parts, topics).values()) == ["1", "0"]
    one.move(board, "m13-j7")
    api.caught_up()
    assert list(page_marks(api.parts, topics).values()) == ["0", "1"]
