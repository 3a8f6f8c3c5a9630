"""What programs read by themselves: feeds of players, clubs and tournaments, and calendars, each by a real reader."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import feedparser
import pytest
from icalendar import Calendar

from domain.match.state import deadline
from infra.people.clubs import ClubAudience, ClubRole
from services.app import accounts, vacations
from services.app.clubs import ClubChanges, change_club
from services.app.context import Actor
from services.app.matches import load_state
from tests.helpers.api import PASSWORD, Api, Player
from tests.services.test_api_tournaments import started

SITE = "https://play.example"


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("feeds"), site=SITE, relay="smtp://127.0.0.1:9") as api:
        yield api


def finished(api: Api, *players: Player) -> int:
    board = api.begun(*players)
    assert players[0].give(board, {"do": "move", "move": "m13-m9"}).is_success
    assert players[1].give(board, {"do": "resign"}).is_success
    api.caught_up()
    return board


def feed(api: Api, path: str):
    answer = api.http.get(path)
    assert answer.headers["content-type"].startswith("application/atom+xml")
    found = feedparser.parse(answer.content)
    assert not found.bozo, found.bozo_exception
    again = api.http.get(path, headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    return found


def test_the_feed_of_a_player_has_the_results_of_the_page(api, come):
    one, two = api.players()
    boards = [finished(api, one, two), finished(api, two, one)]
    found = feed(api, f"/players/{one.name}/feed?lang=en")
    assert found.feed.title == f"Results of {one.name}"
    assert found.feed.id == f"{SITE}/players/{one.name}"
    assert [entry.link for entry in found.entries] == [f"{SITE}/m/{one}" for one in boards[::-1]]
    assert found.entries[0].title == (
        f"The Power of Two, {two.name} - {one.name}: {two.name} won by resignation"
    )
    german = feed(api, f"/players/{one.name}/feed?lang=de")
    assert (german.feed.title, german.feed.language) == (f"Ergebnisse von {one.name}", "de")
    assert api.http.get(f"/players/{one.name}/feed?lang=no-such").status_code == 400
    page = come().page(f"/players/{one.name}")
    (link,) = re.findall(r'<link rel="alternate" type="application/atom\+xml" href="(.*?)"', page)
    assert feed(api, link).entries
    accounts.delete_account(api.parts, two.name, PASSWORD)
    assert two.name not in api.http.get(link).text
    assert "a former player" in feed(api, link).entries[0].title
    assert api.http.get(f"/players/{two.name}/feed").status_code == 404


def test_the_feed_of_a_club_is_there_as_long_as_guests_may_see_the_club(api, come):
    owner, member, stranger = api.players(3)
    club = api.parts.clubs.found("Rook & Pawn", owner.account)
    api.parts.clubs.put_member(club, member.account, ClubRole.MEMBER)
    board = finished(api, owner, member)
    finished(api, owner, stranger)
    player = api.player()
    api.parts.clubs.put_member(club, player.account, ClubRole.MEMBER)
    number = started(api, owner, [owner, member, player], club=club.path, name="Autumn <cup>")
    page, path = f"/clubs/{club.path}", f"/clubs/{club.path}/feed"
    found = feed(api, path)
    assert found.feed.title == "Results of Rook & Pawn"
    links = [entry.link.removeprefix(SITE) for entry in found.entries]
    assert links == [f"/tournaments/{number}", f"/m/{board}"]
    assert found.entries[0].title.startswith("Autumn <cup>: ")
    cup = feed(api, f"/tournaments/{number}/feed?lang=de")
    assert (len(cup.entries), cup.feed.language) == (1, "de")
    assert f'href="{path}"' in come().page(page)
    hidden = ClubChanges(visible_to=ClubAudience.CLUB)
    change_club(api.parts, owner.account, club.path, hidden)
    assert api.http.get(path).status_code == 404
    # a feed is for readers without an account, so its members have none either
    assert come(owner).get(path).status_code == 404
    assert path not in come(owner).page(page)


def calendar_of(api: Api, path: str) -> list:
    answer = api.http.get(path)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/calendar; charset=utf-8"
    assert answer.headers["cache-control"] == "private, no-cache"
    assert max(map(len, answer.content.split(b"\r\n"))) <= 75
    again = api.http.get(path, headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    found = Calendar.from_ical(answer.content)
    assert (found["version"], found["method"]) == ("2.0", "PUBLISH")
    assert str(found["prodid"]) == "-//matchpost//calendar//EN"
    events = [one for one in found.subcomponents if one.name == "VEVENT"]
    assert len(events) == len(found.subcomponents) == len({one["uid"] for one in events})
    assert all(one.decoded("dtstart").utcoffset().seconds == 0 for one in events)
    return events


def made(player: Player) -> str:
    answer = player.post("/api/account/calendar")
    assert answer.status_code == 200, answer.text
    return str(answer.json()["path"])


def test_a_calendar_has_the_deadlines_of_the_player_and_an_entry_moves_with_its_date(api):
    one, two = api.players()
    board = api.begun(one, two)
    api.caught_up()
    path = made(one)
    (event,) = calendar_of(api, path)
    due = deadline(load_state(api.parts, board))
    assert event.decoded("dtstart") == datetime.fromtimestamp(due // 1000, UTC)
    assert str(event["summary"]) == f"The Power of Two against {two.name}: your time ends"
    assert str(event["url"]) == f"{SITE}/m/{board}"
    assert one.give(board, {"do": "move", "move": "m13-m9"}).is_success
    api.caught_up()
    assert calendar_of(api, path) == []
    assert two.give(board, {"do": "move", "move": "a13-c11"}).is_success
    api.caught_up()
    (moved,) = calendar_of(api, path)
    assert moved["uid"] == event["uid"]
    assert moved["sequence"] > event["sequence"]
    assert moved.decoded("dtstart") >= event.decoded("dtstart")


def test_a_calendar_has_open_invitations_and_vacations_in_the_language_of_its_player(api):
    one, two, other = api.players(3)
    board = api.match(one, two)
    api.caught_up()
    (event,) = calendar_of(api, made(two))
    lapses = load_state(api.parts, board).invitation.lapses
    assert event.decoded("dtstart") == datetime.fromtimestamp(lapses // 1000, UTC)
    assert other.patch("/api/account", {"language": "de"}).is_success
    vacations.take(api.parts, Actor(other.account, "api", "1"), 3)
    (away,) = calendar_of(api, made(other))
    assert str(away["summary"]) == "Urlaub: deine Uhren stehen still"
    assert (away.decoded("dtend") - away.decoded("dtstart")).days == 3


def test_a_calendar_has_the_dates_of_tournaments_that_its_player_is_in(api):
    host, *players = api.players(4)
    now = api.parts.store.now()
    plan = {"name": "Long " * 12, "game": "goliath", "section": 3, "players": 9}
    plan |= {"starts": (now // 1000 + 86_400) * 1000, "when_full": False}
    drafted = host.post("/api/tournaments", plan)
    assert drafted.is_success, drafted.text
    there = drafted.headers["location"]
    assert host.post(f"{there}/open").is_success
    assert players[0].post(f"{there}/entry", {}).is_success
    running = started(api, host, players, days=9)
    api.caught_up()
    events = {str(one["uid"]).rpartition("@")[0]: one for one in calendar_of(api, made(players[0]))}
    entry = events[f"entry-{there.rpartition('/')[2]}"]
    assert entry.decoded("dtstart") == datetime.fromtimestamp(plan["starts"] // 1000, UTC)
    assert str(entry["summary"]) == f"{plan['name'].strip()}: entry closes and it starts"
    assert (events[f"round-{running}-1"].decoded("dtstart") - datetime.now(UTC)).days == 8


def test_an_address_is_stored_as_a_digest_and_ends_when_it_is_replaced_or_revoked(api):
    one = api.player()
    first = made(one)
    assert one.get("/api/account/calendar").json()["since"] > 0
    second = made(one)
    assert first != second
    stored = api.parts.data.hgetall(f"{{a:{one.account.hex()}}}:calendar")
    secret = second.removeprefix("/calendar/").removesuffix(".ics").encode()
    assert ([*stored], secret in stored[b"digest"]) == ([b"digest"], False)
    assert [api.http.get(path).status_code for path in (first, second)] == [404, 200]
    assert one.delete("/api/account/calendar").status_code == 204
    assert one.get("/api/account/calendar").json() == {"since": None}
    assert api.http.get(second).status_code == 404


def suspended_for_a_moment(api: Api, one: Player) -> None:
    for suspended in (True, False):
        accounts.set_suspended(api.parts, one.name, suspended=suspended)


def new_password(api: Api, one: Player) -> None:
    accounts.change_password(api.parts, one.account, PASSWORD, "sing-along", tokens=True)


def erased(api: Api, one: Player) -> None:
    accounts.delete_account(api.parts, one.name, PASSWORD)
    assert not api.parts.data.exists(f"{{a:{one.account.hex()}}}:calendar")


def test_an_address_ends_with_all_access_to_its_account(api):
    unknown = _said(api.http.get("/calendar/" + "A" * 44 + ".ics").text)
    for end in (
        lambda api, one: accounts.log_out_everywhere(api.parts, one.account),
        suspended_for_a_moment,
        new_password,
        erased,
    ):
        one = api.player()
        path = made(one)
        assert api.http.get(path).status_code == 200
        end(api, one)
        ended = api.http.get(path)
        assert (ended.status_code, _said(ended.text)) == (404, unknown), end


def _said(page: str) -> str:
    """What a page has between its head and its foot."""
    (found,) = re.findall(r"<main.*?</main>", page, re.DOTALL)
    return str(found)


def test_the_account_page_makes_shows_once_replaces_and_revokes_an_address(api, come):
    guest = come(api.player())
    shown = guest.send("/account/calendar", {}, on="/account")
    assert shown.headers["cache-control"] == "no-store"
    (path,) = re.findall(rf'value="{SITE}(/calendar/.*?)"', shown.text)
    assert calendar_of(api, path) == []
    page = guest.page("/account")
    assert "/calendar/" not in page
    assert "Replace the address" in page
    again = guest.send("/account/calendar", {}, on="/account")
    (other,) = re.findall(rf'value="{SITE}(/calendar/.*?)"', again.text)
    assert api.http.get(path).status_code == 404
    assert guest.send("/account/calendar", {"end": "yes"}, on="/account").status_code == 303
    assert api.http.get(other).status_code == 404
    assert "Make an address" in guest.page("/account")
