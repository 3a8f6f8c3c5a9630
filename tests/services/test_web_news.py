"""News: what happened in one's matches, in words that are true when they are read."""

import re
from collections.abc import Callable, Iterator

import pytest

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


def section(page: str, title: str) -> str:
    return page.partition(f'aria-labelledby="{title}"')[2].partition("</section>")[0]


def test_news_names_players_as_they_are_written(api, come):
    one, two = api.player(name="ludwig"), api.player()
    api.match(one, two, game="powerdrain", terms=["--gather"])
    api.caught_up()
    guest = come()
    guest.log_in(two.name)
    news = guest.page("/notices")
    assert "ludwig challenged you to Powerdrain" in news
    assert "Ludwig" not in news


def test_news_of_a_match_whose_row_has_left_redis_name_the_opponent(api, come):
    one, two = api.player(name="news1"), api.player(name="news2")
    board = api.begun(one, two)
    two.give(board, {"do": "resign"})
    api.caught_up()
    (rows,) = api.parts.data.keys("{p:lists:b0}:*:rows")
    assert api.parts.data.hdel(rows, board) == 1
    guest = come()
    guest.log_in(one.name)
    for path in ("/", "/notices"):
        assert "You won The Power of Two against news2" in guest.page(path)


def test_news_tell_what_is_true_now(api, come):
    one, two = api.player(), api.player()
    board = api.begun(one, two)
    one.move(board, "m13-j7")
    api.caught_up()
    guest = come()
    guest.log_in(two.name)
    turn = f"our turn in The Power of Two against {one.name}"
    assert f"Y{turn}" in section(guest.page("/"), "news-title")
    two.move(board, "a13-d7")
    api.caught_up()
    assert turn not in section(guest.page("/"), "news-title")
    assert f"It was y{turn}" in guest.page("/notices")
    one.give(board, {"do": "resign"})
    api.caught_up()
    news = section(guest.page("/"), "news-title")
    assert f"You won The Power of Two against {one.name}</a>" in news
    assert "by resignation" in news
    german = guest.page("/notices", headers={"Accept-Language": "de"})
    assert f"Du hast The Power of Two gegen {one.name} gewonnen" in german


def test_news_are_new_until_their_page_was_visited(api, come):
    one, two = api.player(), api.player()
    board = api.begun(one, two)
    one.move(board, "m13-j7")
    api.caught_up()
    guest = come()
    guest.log_in(two.name)
    new = re.compile(r'<li class="[^"]*\bnew\b')
    first = section(guest.page("/"), "news-title")
    assert "1 new" in first
    # a page that fetches itself again has not been visited
    for headers in ({"HX-Request": "true"}, {}):
        assert new.search(guest.page("/notices", headers=headers))
    later = guest.page("/notices")
    assert f'href="/m/{board}"' in later
    assert not new.search(later)
    assert not new.search(section(guest.page("/"), "news-title"))
    two.move(board, "a13-d7")
    one.give(board, {"do": "resign"})
    api.caught_up()
    assert len(new.findall(guest.page("/notices"))) == 1
    assert later.count('class="day-of-news"') == 1


def test_only_the_turn_that_stands_is_called_ones_turn(api, come):
    one, two = api.player(), api.player()
    board = api.begun(one, two)
    for mover, move in ((one, "m13-j7"), (two, "a13-d7"), (one, "m1-m5")):
        assert mover.move(board, move).status_code == 200
    api.caught_up()
    guest = come()
    guest.log_in(two.name)
    news = re.findall(
        r'<a href="/m/\d+">([^<]*)</a>', guest.page("/notices").partition('id="notices"')[2]
    )
    assert [text.partition(" in ")[0] for text in news[:2]] == ["Your turn", "It was your turn"]
