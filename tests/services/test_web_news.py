"""News: what happened in one's matches, in words that are true when they are read."""

import html
import re
from collections.abc import Callable, Iterator

import pytest

from services.app.messages import inbox
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
    (rows,) = api.parts.data.keys("{p:history:b0}:*:rows")
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
    board, other = api.begun(one, two), api.begun(one, two)
    one.give(other, {"do": "resign"})
    one.move(board, "m13-j7")
    api.caught_up()
    guest = come()
    guest.log_in(two.name)
    new = re.compile(r'<li class="[^"]*\bnew\b')
    home = guest.page("/")
    assert "1 new" in section(home, "news-title"), "a turn is in the count of waiting matches"
    assert '<span class="bell-number" aria-hidden="true">1</span>' in home
    # a page that fetches itself again has not been visited
    for headers in ({"HX-Request": "true"}, {}):
        assert len(new.findall(guest.page("/notices", headers=headers))) == 1
    later = guest.page("/notices")
    assert f'href="/m/{board}"' in later
    assert not new.search(later)
    home = guest.page("/")
    assert not new.search(section(home, "news-title"))
    assert "bell-number" not in home
    two.move(board, "a13-d7")
    one.give(board, {"do": "resign"})
    api.caught_up()
    assert len(new.findall(guest.page("/notices"))) == 1
    assert later.count('class="day-of-news"') == 1


def test_news_have_one_row_for_each_match_and_kind_and_what_was_read_elsewhere_is_not_new(
    api, come
):
    one, two = api.player(), api.player()
    board = api.begun(one, two)
    for mover, move in ((one, "m13-j7"), (two, "a13-d7"), (one, "m1-m5")):
        assert mover.move(board, move).status_code == 200
    writer, guest = come(), come()
    writer.log_in(one.name)
    guest.log_in(two.name)
    for text in ("a", "b", "c"):
        writer.send(f"/m/{board}/chat", {"text": text}, on=f"/m/{board}")
        writer.send("/messages", {"to": two.name, "text": text}, on="/messages")
    api.caught_up()

    def rows(**options) -> list[str]:
        page = guest.page("/notices", **options).partition('id="notices"')[2]
        return [
            f"{html.unescape(text)}{' (new)' if ' new' in kind else ''}"
            for kind, text in re.findall(r'<li class="([^"]*)"><a href="[^"]+">([^<]*)</a>', page)
        ]

    watched = {"headers": {"HX-Request": "true"}}  # it marks nothing as read
    match = f"The Power of Two against {one.name}"
    assert rows(**watched)[:3] == [
        f"3 messages from {one.name} (new)",
        f"3 new chat messages in {match} (new)",
        f"Your turn in {match}",
    ]
    assert ">2</span>" in re.search(r'class="bell".*?</a>', guest.page("/games"), re.DOTALL)[0]
    guest.page(f"/m/{board}")
    guest.page("/messages")
    two.move(board, "a1-e3")
    api.caught_up()
    assert rows(**watched)[:3] == [
        f"3 messages from {one.name}",
        f"{one.name} sent a message in The Power of Two",
        f"It was your turn in {match}",
    ]
    assert "bell-number" not in guest.page("/games")


def test_who_signs_up_later_sees_no_announcement_from_before(api, come):
    arbiter, old, new = api.player(name="marek-a"), api.player(), come()
    api.parts.messages.broadcast(arbiter.account, "We rest on Sunday.", bytes(16))
    guest = come()
    guest.log_in(old.name)
    assert "Announcement from marek-a (arbiter)" in section(guest.page("/"), "news-title")
    assert "Announcement from marek-a (arbiter)" in guest.page("/messages")
    new.sign_up("later-born")
    home = new.page("/")
    assert "1 new message" not in home
    assert "bell-number" not in home
    assert "Announcement" not in home + new.page("/notices") + new.page("/messages")
    assert inbox(api.parts, api.parts.accounts.id_of("later-born")) == []


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
    assert [text.partition(" in ")[0] for text in news if "turn" in text] == ["Your turn"]
