"""Lists on pages: what waits, what goes on, what is searched for, news, and lists longer than a page."""

import html
import re

import pytest

from services.app.messages import inbox
from services.http.web.lists.match_rows import ListPart
from tests.helpers.api import Api, Player
from tests.helpers.web import Guest, all_pages, boards, section, visitors


def test_an_offer_comes_before_all_else_and_is_counted(api, come):
    one, two = api.player(), api.player()
    first, last = api.begun(one, two, terms=["--days=1"]), api.begun(one, two)
    one.move(last, "m13-j7")
    api.caught_up()
    guest = come(one)
    assert boards(section(guest.page("/"), "to-move")) == [first]
    two.give(last, {"do": "offer", "kind": "draw"})
    api.caught_up()
    page = guest.page("/")
    assert "<title>(2) matchpost</title>" in page
    assert boards(section(page, "to-move")) == [first]
    asked = section(page, "asked-title")
    assert {*boards(asked)} == {last}
    assert f"{two.name} offers a draw." in asked
    assert boards(section(page, "others")) == []
    done = guest.send(f"/m/{last}/act", {"do": "reject", "back": "/"}, on="/")
    assert done.headers["location"] == "/"
    api.caught_up()
    page = guest.page("/")
    maker = come(two)
    assert f"{one.name} declined the draw" in section(maker.page("/"), "news-title")
    assert boards(section(page, "to-move")) == [first]
    assert boards(section(page, "others")) == [last]


def test_a_part_leads_to_those_beside_it():
    first = ListPart.of("x", start=0, shown=50, total=299, path="/x", query={"state": "a"})
    assert (first.before, first.after) == ("", "/x?state=a&page=2")
    last = ListPart.of("x", start=250, shown=49, total=299, path="/x")
    assert (last.before, last.after) == ("/x?page=5", "")
    assert ListPart.of("x", start=50, shown=2, total=52, path="/x").before == "/x"
    assert not ListPart.of("x", start=0, shown=5, total=5, path="/x").needed
    assert ListPart.of("x", start=0, shown=50, total=51, path="/x").after == "/x?page=2"


def give_up(api, winner, loser):
    """Return a rated match in which both have moved before one resigned."""
    board = api.begun(winner, loser)
    winner.move(board, "m13-j7")
    loser.move(board, "a13-d7")
    loser.give(board, {"do": "resign"})
    return board


def test_matches_are_searched_by_game_and_opponent(api, come):
    hero, foe, third = api.player(name="searcher"), api.player(name="searched"), api.player()
    boards_of_foe = [give_up(api, hero, foe), api.begun(hero, foe, game="torere")]
    foe.give(boards_of_foe[1], {"do": "resign"})
    other = give_up(api, third, hero)
    going = api.begun(hero, foe)
    api.caught_up()
    path, guest = "/players/searcher/matches", come()
    assert {*boards(guest.page(path))} == {*boards_of_foe, other}
    found = guest.page(f"{path}?with=searched")
    assert boards(found) == boards_of_foe[::-1]
    assert re.search(r'won">Won</span>\s*<span class="change up" title="Rating 1500', found)
    assert boards(guest.page(f"{path}?with=searched&game=torere")) == [boards_of_foe[1]]
    assert boards(guest.page(f"{path}?state=going&with={third.name}")) == []
    assert boards(guest.page(f"{path}?state=going&with=searched&game=pow2")) == [going]
    unknown = guest.page(f"{path}?with=searche")
    assert "There is no player “searche”" in unknown
    assert "with=searched" in unknown
    lost = guest.page(f"{path}?with={third.name}")
    assert 'class="verdict lost">Lost</span>' in lost
    assert 'class="change down"' in lost
    assert guest.get(f"{path}?state=nothing").status_code == 404
    page = guest.page("/players/searcher?with=searched")
    assert "searcher against searched:" in page
    assert "1 won" in section(page, "against")
    assert ">?</abbr>" in section(page, "strengths")


def test_matches_are_found_by_words_of_ones_own_notes(api, come):
    lena, mia = come().sign_up("lena"), come().sign_up("mia")
    one, other = api.player_of("lena"), api.player_of("mia")
    running, over, plain = (api.begun(one, other) for _ in range(3))
    for board in (running, over):
        sent = lena.send(f"/m/{board}/note", {"note": f"Corner TRICK, no. {board}"}, on="/")
        assert sent.status_code == 303
    assert mia.send(f"/m/{plain}/note", {"note": "corner trick"}, on="/").status_code == 303
    assert one.give(over, {"do": "resign"}).is_success
    api.caught_up()
    assert boards(lena.page("/matches?note=trick+corner").partition("<main")[2]) == [running]
    found = lena.page("/matches?note=trick+corner&state=finished").partition("<main")[2]
    assert boards(found) == [over]
    assert 'value="trick corner"' in found
    assert boards(lena.page("/matches?note=trick+centre").partition("<main")[2]) == []
    assert 'name="note"' not in mia.page("/players/lena/matches")
    ignored = mia.page("/players/lena/matches?note=corner").partition("<main")[2]
    assert boards(ignored.partition("<footer")[0]) == [over]


def pill(page: str) -> str:
    """Return the mark of what waits, as HTML; empty where there is none."""
    found = re.search(r'<a id="waiting".*?</a>', page)
    return found[0] if found else ""


def test_every_page_says_how_many_matches_wait_and_none_says_nothing(api, come):
    one, two = api.players()
    boards = [api.begun(one, two) for _ in range(3)]
    api.caught_up()
    guest, other = come(one), come(two)
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


def test_news_are_new_until_their_page_was_visited(api, come):
    one, two = api.player(), api.player()
    board, other = api.begun(one, two), api.begun(one, two)
    one.give(other, {"do": "resign"})
    one.move(board, "m13-j7")
    api.caught_up()
    guest = come(two)
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
    news = section(guest.page("/"), "news-title")
    assert f"You won The Power of Two against {one.name}</a>" in news
    assert "by resignation" in news
    german = guest.page("/notices", headers={"Accept-Language": "de"})
    assert f"Du hast The Power of Two gegen {one.name} gewonnen" in german


MANY = 51


@pytest.fixture(scope="module")
def busy(api: Api) -> dict[str, Player]:
    """Erin, for whom 56 matches wait, ida with as many that wait for others, and what is over."""
    erin, ida = api.player(name="erin"), api.player(name="ida")
    for _ in range(MANY):
        api.begun(erin, ida, terms=["--days=7"])
    api.begun(erin, ida, terms=["--days=1"])  # the newest, and the most urgent
    for _ in range(MANY):
        ida.give(api.begun(erin, ida, game="torere"), {"do": "resign"})
    makers = (erin, ida, api.player())
    for number in range(MANY):
        who = makers[number % 3]
        who.post("/api/challenges", {"game": "goliath", "note": f"offer {number}"})
    api.caught_up()
    return {"erin": erin, "ida": ida}


@pytest.mark.usefixtures("busy")
def test_all_that_waits_is_counted_and_the_most_urgent_comes_first(come):
    erin = come("erin")
    page = erin.page("/")
    assert f"<title>({MANY + 1}) matchpost</title>" in page
    mine = section(page, "to-move")
    assert f"Show all {MANY + 1}" in mine
    assert mine.count("board.svg") == 12
    assert len(boards(mine)) == 24
    # of a day, less what the tests before this one have taken
    assert re.search(r">23 h \d+ min<", mine.partition("</li>")[0])
    assert "urgent" in mine.partition("</li>")[0]
    everything = all_pages(erin, "/matches", r'href="/m/(\d+)"')
    assert len(everything) == len({*everything}) == MANY + 1
    assert boards(mine)[0] == int(everything[0])


@pytest.mark.usefixtures("busy")
def test_every_list_is_gone_through_page_by_page(api, come):
    while api.parts.accounts.count() <= MANY:
        api.player()
    guest, match = come("erin"), r'href="/m/(\d+)"'
    for path, pattern, count in (
        ("/players/ida/matches?state=going", match, MANY + 1),
        ("/players/ida/matches?state=finished", match, MANY),
        ("/games/pow2/matches", match, None),
        ("/games/torere/matches?state=finished", match, None),
        ("/challenges", r"“(offer \d+)”", MANY),
        ("/players", r'href="/players/([^"]+)"', api.parts.accounts.count()),
        ("/notices", r'<li class="[^"]*"><a href="/m/(\d+)"', None),
    ):
        found = all_pages(guest, path, pattern)
        total = int(re.search(r"1 to 50 of (\d+)", guest.page(path))[1])
        assert len(found) == total == (count or total), path
        assert path == "/notices" or len(found) == len({*found}), path
        later = guest.page(f"{path}{'&' if '?' in path else '?'}page=2")
        before = re.search(r'href="([^"]*)" rel="prev"', later)
        assert before[1].replace("&amp;", "&").startswith(path.split("?")[0])


def test_players_and_ratings_are_searched_by_name(come, api):
    one, two = api.player(name="zora"), api.player(name="zorro")
    give_up(api, one, two)
    api.caught_up()
    guest = come()
    found = guest.page("/players?name=ZOR")
    assert re.findall(r'href="/players/(\w+)"', found) == ["zora", "zorro"]
    assert "The Power of Two" in found
    assert "No player’s name begins with" in guest.page("/players?name=zzz")
    assert '<tr class="me"><td class="number">' in guest.page("/ratings/pow2?name=zorro")
    assert "has no rating in" in guest.page("/ratings/pow2?name=nobody")


def test_a_guest_sees_what_goes_on_the_newest_move_first(tmp_path):
    with Api(tmp_path) as api, Guest(api) as guest:
        one, other, third = api.players(3)
        give_up(api, other, one)
        api.caught_up()
        first, second = api.begun(one, other), api.begun(third, one)
        another = api.begun(third, other, game="torere")
        assert one.move(first, "m13-j7").is_success
        api.caught_up()
        page = guest.page("/playing")
        assert boards(page) == [first, another, second]
        assert f"{first}:" in page.partition('data-boards="')[2].partition('"')[0]
        assert boards(guest.page("/playing?game=torere")) == [another]
        assert boards(guest.page("/playing?rating=1501")) == [first], "only the winner has so much"
        assert boards(guest.page("/playing?rating=1501&game=torere")) == []
        assert "No matches found." in guest.page("/playing?rating=9999")
        assert "none of 3 from here on" in guest.page("/playing?page=2")
        assert guest.get("/playing?game=one").status_code >= 400
        assert 'href="/playing"' in guest.page("/")


def test_news_have_one_row_for_each_match_and_kind_and_what_was_read_elsewhere_is_not_new(
    api, come
):
    one, two = api.player(), api.player()
    board = api.begun(one, two)
    for mover, move in ((one, "m13-j7"), (two, "a13-d7"), (one, "m1-m5")):
        assert mover.move(board, move).status_code == 200
    writer, guest = come(one), come(two)
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
    assert [row for row in rows(**watched) if "turn" in row] == [f"Your turn in {match}"]
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
    writer.send("/messages", {"to": two.name, "text": "d"}, on="/messages")
    api.caught_up()
    assert rows(**watched)[0].endswith(f"{one.name} (new)")


def test_who_signs_up_later_sees_no_announcement_from_before(tmp_path):
    # on a server of its own, because everybody gets the announcement
    with Api(tmp_path) as api, visitors(api) as come:
        arbiter, old, new = api.player(name="marek-a"), api.player(), come()
        api.parts.messages.broadcast(arbiter.account, "We rest on Sunday.", bytes(16))
        guest = come(old)
        assert "Announcement from marek-a (arbiter)" in section(guest.page("/"), "news-title")
        assert "Announcement from marek-a (arbiter)" in guest.page("/messages")
        new.sign_up("later-born")
        home = new.page("/")
        assert "1 new message" not in home
        assert "bell-number" not in home
        assert "Announcement" not in home + new.page("/notices") + new.page("/messages")
        assert inbox(api.parts, api.parts.accounts.id_of("later-born")) == []


@pytest.mark.usefixtures("busy")
def test_the_page_of_a_player_and_of_a_game_lead_to_all(come):
    guest = come()
    page = guest.page("/players/ida")
    assert f"All {MANY + 1}" in section(page, "active")
    assert f"All {MANY}" in section(page, "finished")
    assert len(boards(section(page, "finished"))) == 10
    guest.log_in("ida")
    assert f"1 to 24 of {MANY}" in section(guest.page("/"), "open-title")
    # other tests of this module may have ended some, too
    over = re.search(r"1 to 50 of (\d+)", guest.page("/games/torere/matches?state=finished"))[1]
    assert int(over) >= MANY
    game = guest.page("/games/torere")
    assert f'All finished matches</a> <span class="quiet">{over}<' in game
