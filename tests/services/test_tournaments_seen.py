"""A tournament seen from elsewhere: in lists of matches, in a feed and in a frame, and by nobody who may not see it."""

import re
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

from services.app.accounts import delete_account
from tests.helpers.api import PASSWORD, Api, Player, until
from tests.helpers.web import Guest, Read
from workers.tournament_manager import TournamentManager

CUP = {"name": "Cup & <saucer>", "game": "goliath", "section": 3, "players": 3, "when_full": True}
SHOWN = "Cup &amp; &lt;saucer&gt;"


def turn(api: Api) -> None:
    """Have the manager act on all that is known."""
    api.caught_up()
    TournamentManager(api.parts.store, api.parts.lanes, api.parts.data).tick()
    api.caught_up()


def begun(api: Api, host: Player, players: list[Player], **plan: Any) -> int:
    """The number of a tournament of three that has started with its matches."""
    there = host.post("/api/tournaments", {**CUP, **plan}).headers["location"]
    number = int(there.rpartition("/")[2])
    assert host.post(f"{there}/open").is_success
    for player in players:
        assert player.post(f"{there}/entry", {}).is_success, number
    turn(api)
    until(lambda: len(api.parts.tournaments.matches(number)) == len(players))
    api.caught_up()
    return number


def resign(api: Api, number: int, loser: Player) -> None:
    """Have a player lose all matches that go on, and wait until they are counted."""
    found = api.parts.tournaments.matches
    own = [n for n, one in found(number).items() if loser.account in one.seats and not one.result]
    assert all(loser.give(found(number)[one].board, {"do": "resign"}).is_success for one in own)
    turn(api)
    until(lambda: all(found(number)[one].counted for one in own))
    api.caught_up()


def test_lists_of_matches_name_the_tournament_while_they_go_on_and_afterwards(
    api: Api, come
) -> None:
    host, *players = api.players(4)
    number = begun(api, host, players)
    link = f'<a href="/tournaments/{number}" dir="auto">{SHOWN}</a>'
    rows = api.http.get(f"/api/matches?player={players[0].name}").json()["matches"]
    assert [one["tournament"] for one in rows] == [number] * 2
    own, guest = come(players[0]), come()
    for path in ("/matches?state=waiting", "/matches?state=others", "/"):
        assert SHOWN in own.page(path), path
    for path in (f"/players/{players[0].name}", "/playing", "/games/goliath"):
        assert link in guest.page(path), path
    resign(api, number, players[0])
    assert guest.page(f"/players/{players[0].name}/matches?state=finished").count(link) == 2
    board = api.begun(host, players[0], game="torere")
    api.caught_up()
    rows = api.http.get(f"/api/matches?player={players[0].name}").json()["matches"]
    assert [(one["board"], one["tournament"]) for one in rows] == [(board, None)]


ATOM = "{http://www.w3.org/2005/Atom}"


def news(guest: Guest, number: int, language: str = "en") -> list[tuple[str, str]]:
    """The entries of a tournament's feed, the newest first: titles, and paths of their links."""
    answer = guest.get(f"/tournaments/{number}/feed", headers={"accept-language": language})
    assert answer.headers["content-type"].startswith("application/atom+xml")
    feed = ET.fromstring(answer.text)
    assert feed.findtext(f"{ATOM}title") == CUP["name"]
    ids = [one.text for one in feed.iterfind(f".//{ATOM}id")]
    assert len(set(ids)) == len(ids)
    entries = feed.findall(f"{ATOM}entry")
    links = [one.find(f"{ATOM}link") for one in entries]
    paths = [urlsplit(one.attrib["href"]).path for one in links if one is not None]
    return [*zip((one.findtext(f"{ATOM}title", "") for one in entries), paths, strict=True)]


def test_the_feed_has_the_start_the_results_and_the_places_without_who_is_erased(
    api: Api, come
) -> None:
    host, *players = api.players(4)
    number = begun(api, host, players)
    there = f"/tournaments/{number}"
    assert news(come(), number) == [("Cup & <saucer> has started", there)]
    resign(api, number, players[0])
    resign(api, number, players[1])
    assert host.post(f"/api/tournaments/{number}/confirm").is_success
    found = news(come(), number)
    won = f"Cup & <saucer> is over; in first place: {players[2].name}"
    assert found[:2] == [(won, there), ("All matches of Cup & <saucer> are over", there)]
    boards = api.parts.tournaments.matches(number).values()
    assert {path for _, path in found[2:5]} == {f"/m/{one.board}" for one in boards}
    assert sum(players[0].name in title and "\N{MINUS SIGN}" in title for title, _ in found) == 2
    delete_account(api.parts, players[2].name, PASSWORD)
    titles = [title for title, _ in news(come(), number, "de")]
    assert titles[0].startswith("Cup & <saucer> ist beendet; auf dem ersten Platz: ")
    assert players[2].name not in " ".join(titles)


def test_any_site_may_frame_a_table_which_shows_the_same_to_everybody(api: Api, come) -> None:
    host, *players = api.players(4)
    number = begun(api, host, players)
    there = f"/tournaments/{number}"
    for guest in (come(), come(players[0]), come(host)):
        answer = guest.get(f"{there}/embed")
        assert "frame-ancestors *" in answer.headers["content-security-policy"]
        assert "set-cookie" not in answer.headers
        read = Read(answer.text)
        assert read.forms == read.inline == []
        assert 'class="me"' not in answer.text
        assert re.search(r'data-boards="\d+:\d+,\d+:\d+,\d+:\d+"', answer.text)
        assert answer.text.count('<th scope="row"') == 3
        shown = guest.page(there)
        assert f"{there}/embed&quot; width=" in shown
        assert f'type="application/atom+xml" href="{there}/feed"' in shown
    draft = host.post("/api/tournaments", CUP).headers["location"].removeprefix("/api")
    own = come(host)
    assert "/embed" not in own.page(draft)
    for path in (f"{draft}/embed", f"{draft}/feed"):
        assert own.get(path).status_code == 404
