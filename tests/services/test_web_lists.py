"""Lists on pages: what waits is complete and in order, and no list ends without a word."""

import re
from collections.abc import Callable, Iterator
from hashlib import sha256

import pytest

from services.http.web.views.pagination import ListPart
from tests.helpers.api import Api, Player, until
from tests.helpers.web import Guest, door

MANY = 56


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("web")) as api:
        yield api


@pytest.fixture
def come(api: Api) -> Iterator[Callable[..., Guest]]:
    with door(api) as come:
        yield come


@pytest.fixture(scope="module")
def busy(api: Api) -> dict[str, Player]:
    """Erin, for whom 56 matches wait, ida with as many that wait for others, and what is over."""
    erin, ida = api.player(name="erin"), api.player(name="ida")
    for _ in range(MANY):
        api.match(erin, ida, terms=["--days=7"])
    api.match(erin, ida, terms=["--days=1"])  # the newest, and the most urgent
    for _ in range(MANY):
        ida.give(api.match(erin, ida, game="torere"), {"do": "resign"})
    makers = (erin, ida, api.player())
    for number in range(MANY):
        who = makers[number % 3]
        who.post("/api/challenges", {"game": "goliath", "note": f"offer {number}"})
    api.caught_up()
    return {"erin": erin, "ida": ida}


def boards(page: str) -> list[int]:
    return [int(board) for board in re.findall(r'href="/m/(\d+)"', page)]


def section(page: str, title: str) -> str:
    return page.partition(f'aria-labelledby="{title}"')[2].partition("</section>")[0]


def all_pages(guest: Guest, path: str, pattern: str) -> list[str]:
    """What is found on a page and on all those that its links to the next lead to."""
    found = []
    while path:
        page = guest.page(path)
        main = page.partition("<main")[2]
        found += re.findall(pattern, main)
        after = re.search(r'href="([^"]*)" rel="next"', main)
        path = after[1].replace("&amp;", "&") if after else ""
    return found


@pytest.mark.usefixtures("busy")
def test_all_that_waits_is_counted_and_the_most_urgent_comes_first(come):
    erin = come()
    erin.log_in("erin")
    page = erin.page("/")
    assert f"<title>({MANY + 1}) matchpost</title>" in page
    mine = section(page, "to-move")
    assert f"1 to 24 of {MANY + 1}" in mine
    assert "23 hours 59 minutes left" in mine.partition("</li>")[0]
    everything = all_pages(erin, "/matches", r'href="/m/(\d+)"')
    assert len(everything) == len({*everything}) == MANY + 1
    assert boards(mine)[0] == int(everything[0])


@pytest.mark.usefixtures("busy")
def test_what_waits_for_me_is_not_among_the_others(come):
    erin, ida = come(), come()
    erin.log_in("erin")
    ida.log_in("ida")
    assert boards(section(erin.page("/"), "others")) == []
    assert "It is your move in all your matches" in erin.page("/")
    others = section(ida.page("/"), "others")
    assert f"1 to 24 of {MANY + 1}" in others
    assert "erin" in others
    found = all_pages(ida, "/matches?show=others", r'href="/m/(\d+)"')
    assert len({*found}) == MANY + 1
    assert "Nothing waits for you" in ida.page("/")


def test_an_offer_comes_before_all_else_and_is_counted(api, come):
    one, two = api.player(), api.player()
    first, last = api.match(one, two, terms=["--days=1"]), api.match(one, two)
    one.move(last, "m13-j7")
    api.caught_up()
    guest = come()
    guest.log_in(one.name)
    assert boards(section(guest.page("/"), "to-move")) == [first]
    two.give(last, {"do": "offer", "kind": "draw"})
    api.caught_up()
    page = guest.page("/")
    assert "<title>(2) matchpost</title>" in page
    assert boards(section(page, "to-move")) == [last, first]
    assert f"{two.name} proposes a draw" in section(page, "to-move")
    assert boards(section(page, "others")) == []
    one.give(last, {"do": "reject"})
    api.caught_up()
    page = guest.page("/")
    assert boards(section(page, "to-move")) == [first]
    assert boards(section(page, "others")) == [last]


def test_a_match_that_waits_for_my_consent_waits_for_me(api, come):
    one, two = api.player(), api.player()
    board = api.match(one, two, game="powerdrain", terms=["--gather"])
    api.caught_up()
    guest, maker = come(), come()
    guest.log_in(two.name)
    maker.log_in(one.name)
    assert boards(section(guest.page("/"), "to-move")) == [board]
    assert f"waits for {two.name} to accept" in section(maker.page("/"), "others")


@pytest.mark.parametrize(
    ("path", "pattern", "count"),
    [
        ("/players/ida/matches", r'href="/m/(\d+)"', MANY + 1),
        ("/players/ida/matches?show=finished", r'href="/m/(\d+)"', MANY),
        ("/games/pow2/matches", r'href="/m/(\d+)"', None),
        ("/games/torere/matches?show=finished", r'href="/m/(\d+)"', MANY),
        ("/challenges", r"“(offer \d+)”", MANY),
    ],
)
@pytest.mark.usefixtures("busy")
def test_every_list_is_gone_through_page_by_page(come, path, pattern, count):
    guest = come()
    found = all_pages(guest, path, pattern)
    assert len(found) == len({*found})
    total = int(re.search(r"1 to 50 of (\d+)", guest.page(path))[1])
    assert len(found) == total == (count or total)
    later = f"{path}{'&' if '?' in path else '?'}from=50"
    before = re.search(r'href="([^"]*)" rel="prev"', guest.page(later))
    assert before[1].replace("&amp;", "&").startswith(path.split("?")[0])


@pytest.mark.usefixtures("busy")
def test_the_page_of_a_player_and_of_a_game_lead_to_all(come):
    guest = come()
    page = guest.page("/players/ida")
    assert f"1 to 20 of {MANY + 1}" in page
    assert f"1 to 20 of {MANY}" in page
    game = guest.page("/games/torere")
    assert f"All {MANY} finished" in game


@pytest.mark.usefixtures("busy")
def test_home_shows_how_many_challenges_there_are(come):
    guest = come()
    guest.log_in("ida")
    assert f"1 to 24 of {MANY}" in section(guest.page("/"), "open-title")


@pytest.mark.usefixtures("busy")
def test_players_are_counted_and_each_is_on_some_page(api, come):
    while api.parts.accounts.count() < 102:
        api.player()
    guest = come()
    names = all_pages(guest, "/players", r'href="/players/([^"]+)"')
    assert len(names) == len({*names}) == api.parts.accounts.count()
    assert f"1 to 100 of {len(names)}" in guest.page("/players")


@pytest.mark.usefixtures("busy")
def test_notices_are_all_there(come):
    guest = come()
    guest.log_in("erin")
    assert "1 to 50 of" in guest.page("/notices")
    found = all_pages(guest, "/notices", r"match (\d+), ")
    assert len(found) == int(re.search(r"The newest (\d+) notices", guest.page("/notices"))[1])


def test_scores_of_a_puzzle_are_all_there(api, come):
    for _ in range(3):
        solver = api.player()
        board = api.match(solver, game="one")
        for move in ("c3", "done"):
            solver.move(board, move)
    api.caught_up()
    guest = come()
    assert guest.page("/games/one/scores").count("by 1 stone") >= 3
    assert '<ol class="scores" start="3">' in guest.page("/games/one/scores?from=2")


def test_messages_are_read_once_and_counted(api, come):
    one, two = api.player(), api.player()
    guest = come()
    guest.log_in(two.name)
    for number in range(52):
        sent = one.post("/api/messages", {"to": [two.name], "text": f"letter {number} <b>"})
        assert sent.status_code == 204
    until(lambda: "52 new messages" in guest.page("/"))
    assert "✉ 52 matchpost</title>" in guest.page("/")
    page = guest.page("/messages")
    assert "1 to 50 of 52" in page
    assert "letter 51 &lt;b&gt;" in page
    assert page.count('class="badge">new') == 50
    found = all_pages(guest, "/messages", r"letter (\d+) ")
    assert [int(one) for one in found] == list(range(51, -1, -1))
    assert "new message" not in guest.page("/")


def test_chat_that_was_not_read_is_marked_at_home_until_the_match_is_looked_at(api, come):
    one, two = api.player(), api.player()
    board = api.match(one, two)
    guest = come()
    guest.log_in(two.name)
    one.post(f"/api/matches/{board}/chat", {"text": "hello"})
    one.post(f"/api/matches/{board}/chat", {"text": "are you there?"})
    api.caught_up()
    home = guest.page("/")
    assert "✉ 2 matchpost</title>" in home
    assert f'<a href="/m/{board}#chat-title">match {board}</a>' in home
    assert "2 new" in section(home, "others")
    partial = guest.page(f"/m/{board}", headers={"HX-Request": "true"})
    assert "are you there?" not in partial  # what is asked for in the background reads nothing
    match = guest.page(f"/m/{board}")
    assert 'id="unread">2 new</span>' in match
    assert match.count('<li class="new">') == 2
    assert 'id="unread" hidden>0 new</span>' in guest.page(f"/m/{board}")
    assert "✉" not in guest.page("/")


def test_a_part_says_what_it_shows():
    first = ListPart.of("x", start=0, shown=24, total=299, path="/x", size=24, query={"show": "a"})
    assert (first.range_text, first.before) == ("1 to 24 of 299", "")
    assert first.after == "/x?show=a&from=24"
    last = ListPart.of("x", start=288, shown=11, total=299, path="/x", size=24)
    assert (last.range_text, last.before, last.after) == ("289 to 299 of 299", "/x?from=264", "")
    assert ListPart.of("x", start=24, shown=2, total=26, path="/x", size=24).before == "/x"
    assert not ListPart.of("x", start=0, shown=5, total=5, path="/x").needed
    assert (
        ListPart.of("x", start=900, shown=0, total=5, path="/x").range_text
        == "none of 5 from here on"
    )


def test_lists_say_who_is_to_reveal_a_text_and_until_when(api, come):
    one, two = api.player(), api.player()
    texts = [f"{player.name} keeps it".encode() for player in (one, two)]
    own, others = (sha256(text).hexdigest() for text in texts)
    terms = ["--gather", "--days=3"]
    board = api.match(one, two, game="powerdrain", terms=terms, commitment=own)
    two.give(board, {"do": "accept", "commitment": others})
    api.caught_up()
    guest, maker = come(), come()
    guest.log_in(two.name)
    maker.log_in(one.name)
    mine = re.sub(r"\s+", " ", section(maker.page("/"), "to-move"))
    assert "waits for your text for the draw; 2 days 23 hours left" in mine
    assert "Its board is set up once all have revealed their texts." in mine
    api.http.post(f"/api/matches/{board}/reveal", json={"text": texts[0].hex()})
    api.caught_up()
    other = section(maker.page("/"), "others")
    assert f"waits for {two.name} to reveal a text for the draw" in other
    assert boards(section(guest.page("/"), "to-move")) == [board]
    two.give(board, {"do": "decline"})
    assert "Its board was never set up." in guest.page(f"/m/{board}")


def test_news_of_a_chat_begins_like_a_sentence(api, come):
    one, two = api.player(), api.player()
    board = api.match(one, two)
    api.caught_up()
    one.post(f"/api/matches/{board}/chat", {"text": "hello"})
    guest = come()
    guest.log_in(two.name)
    assert f'New in the chat of <a href="/m/{board}#chat-title">' in guest.page("/")
    one.post("/api/messages", {"to": [two.name], "text": "hello"})
    assert f'; new in the chat of <a href="/m/{board}#chat-title">' in guest.page("/")


def test_news_names_players_as_they_are_written(api, come):
    one, two = api.player(name="ludwig"), api.player()
    api.match(one, two, game="powerdrain", terms=["--gather"])
    api.caught_up()
    guest = come()
    guest.log_in(two.name)
    news = guest.page("/notices")
    assert "ludwig challenged you to a match; accept or decline it" in news
    assert "Ludwig" not in news


def test_news_of_a_match_whose_row_has_left_redis_name_the_opponent(api, come):
    one, two = api.player(name="news1"), api.player(name="news2")
    board = api.match(one, two)
    two.give(board, {"do": "resign"})
    api.caught_up()
    (rows,) = api.parts.data.keys("{p:lists:b0}:*:rows")
    assert api.parts.data.hdel(rows, board) == 1
    guest = come()
    guest.log_in(one.name)
    for path in ("/", "/notices"):
        assert "The match with news2 has ended" in guest.page(path)
