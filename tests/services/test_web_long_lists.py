"""Lists that are longer than a page: complete, in order, the most urgent first."""

import re

import pytest

from tests.helpers.api import Api, Player
from tests.helpers.web import all_pages, boards, section

MANY = 56


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
    assert "23 h 59 min" in mine.partition("</li>")[0]
    assert "urgent" in mine.partition("</li>")[0]
    everything = all_pages(erin, "/matches", r'href="/m/(\d+)"')
    assert len(everything) == len({*everything}) == MANY + 1
    assert boards(mine)[0] == int(everything[0])


@pytest.mark.parametrize(
    ("path", "pattern", "count"),
    [
        ("/players/ida/matches?state=going", r'href="/m/(\d+)"', MANY + 1),
        ("/players/ida/matches?state=finished", r'href="/m/(\d+)"', MANY),
        ("/games/pow2/matches", r'href="/m/(\d+)"', None),
        ("/games/torere/matches?state=finished", r'href="/m/(\d+)"', MANY),
        ("/challenges", r"“(offer \d+)”", MANY),
        ("/players", r'href="/players/([^"]+)"', None),
        ("/notices", r'<li class="[^"]*"><a href="/m/(\d+)"', None),
    ],
)
@pytest.mark.usefixtures("busy")
def test_every_list_is_gone_through_page_by_page(api, come, path, pattern, count):
    while path == "/players" and api.parts.accounts.count() < 102:
        api.player()
    guest = come("erin")
    found = all_pages(guest, path, pattern)
    total = int(re.search(r"1 to 50 of (\d+)", guest.page(path))[1])
    assert len(found) == total == (count or total)
    assert path == "/notices" or len(found) == len({*found})
    assert path != "/players" or total == api.parts.accounts.count()
    later = f"{path}{'&' if '?' in path else '?'}page=2"
    before = re.search(r'href="([^"]*)" rel="prev"', guest.page(later))
    assert before[1].replace("&amp;", "&").startswith(path.split("?")[0])
