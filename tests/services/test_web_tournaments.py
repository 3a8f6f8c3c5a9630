"""Tournaments on their pages: made, entered, played and confirmed, and what nobody else may do or see."""

import csv
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from domain.match.commands import CommandEnvelope
from domain.records import SERVER_ACCOUNT, command_id
from domain.tournament.commands import PairRound
from domain.tournament.results import PairResult, PointScheme, ScheduledMatch, Tally
from domain.tournament.table import table_of
from domain.tournament.terms import USUAL_TIEBREAKS
from infra.people.clubs import ClubAudience, ClubRole
from infra.projections.tournaments import PairedMatch
from infra.store.gateway import submission_of
from services.app.admission import change_admission
from services.app.clubs import ClubChanges, change_club, found_club
from services.app.matches import load_state
from services.app.tournaments import view_of
from tests.helpers.api import Api, Player, until
from tests.helpers.web import Guest, refusal
from workers.tournament_manager import TournamentManager

Come = Callable[..., Guest]

PLAN = {
    "name": "Autumn cup", "game": "goliath", "time": "3", "section": "3", "players": "3", "start": "full",
}  # fmt: skip
BY_HAND = {"players": "", "start": "organiser"}
KNOCKOUT = {"form": "knockout", "tie-matches": "1", "extra": "0", "third": "on"}
SWISS = {"form": "swiss", "rounds": "2", "days": "30", "players": "5"}
LADDER = BY_HAND | {
    "form": "ladder", "reach": "1", "running": "2", "rest": "14", "silence": "60", "drop": "5",
}  # fmt: skip
LEAGUE = BY_HAND | {
    "form": "league", "size": "3", "up": "1", "down": "1", "seasons": "2", "season-days": "30",
}  # fmt: skip
THREES = BY_HAND | {
    "form": "threes", "game": "halves", "threes-rounds": "9", "first-points": "5", "second-points": "2",
    "third-points": "0",
}  # fmt: skip
STAGES = {
    "section": "5", "players": "20", "stage2-first": "2", "stage2-total": "6", "stage2-section": "4",
    "by-rating": "on",
}  # fmt: skip


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("tournaments")) as api:
        api.parts.admissions.change({"clubs": "members"})
        yield api


def made(guest: Guest, **changes: str) -> str:
    """Make a tournament by its form, and return its page."""
    answer = guest.send("/tournaments/new", {**PLAN, **changes}, on="/tournaments/new")
    assert answer.status_code == 303, refusal(answer.text)
    return answer.headers["location"]


def act(guest: Guest, page: str, do: str, userid: str = "") -> str:
    """Press a button of a tournament's page, and return the page that follows."""
    answer = guest.send(f"{page}/act", {"do": do, "userid": userid}, on=page)
    assert answer.status_code == 303, refusal(answer.text)
    return guest.page(page)


def refused(guest: Guest, page: str, **fields: str) -> tuple[int, str]:
    """Send a form of a tournament's page that is refused; return the status and the text of the answer."""
    answer = guest.send(f"{page}/act", fields, on=page)
    assert answer.status_code >= 400
    return answer.status_code, answer.text


def opened(guest: Guest, *players: Player, **changes: str) -> str:
    """Make a tournament, open it for entry, and have players enter."""
    page = made(guest, **changes)
    act(guest, page, "open")
    for player in players:
        assert player.post(f"/api{page}/entry", {}).is_success
    return page


def number_of(page: str) -> int:
    return int(page.rpartition("/")[2])


def managed(api: Api, page: str, seen: Callable[[dict[int, PairedMatch]], object]) -> None:
    """Have the manager work until the matches of a tournament are as they should be."""
    manager = TournamentManager(api.parts.store, api.parts.lanes, api.parts.data)

    def turned() -> object:
        api.caught_up()
        manager.tick()
        return seen(api.parts.tournaments.matches(number_of(page)))

    until(turned)
    api.caught_up()


def begun(api: Api, come: Come, **changes: str) -> tuple[Guest, str, list[Player]]:
    """Fill a tournament of three, so that it starts and its matches begin."""
    host, players = come(api.player()), api.players(3)
    page = opened(host, *players, **changes)
    managed(api, page, lambda matches: len(matches) == 3)
    return host, page, players


def resign_all(api: Api, page: str, player: Player) -> None:
    """Have a player resign all matches that go on."""
    view = view_of(api.parts, None, number_of(page))
    for pairing, one in view.state.pairings:
        seats = [view.players[one.first], view.players[one.second]]
        if player.account in seats and not view.matches[pairing].result:
            assert player.give(view.matches[pairing].board, {"do": "resign"}).is_success


def table(guest: Guest, page: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(guest.page(f"{page}/table.csv"))))


def test_a_tournament_is_made_entered_played_and_confirmed_on_its_pages(api, come):
    host, players = come(api.player()), api.players(3)
    page = opened(host, *players[:2])
    act(come(players[2]), page, "enter")
    managed(api, page, lambda matches: len(matches) == 3)
    shown = come(players[0]).page(page)
    assert "Being played." in shown
    assert "3 matches have no result yet." in shown
    for player in players:
        assert f'<a href="/players/{player.name}">' in shown
    assert f'<a href="{page}" dir="auto">Autumn cup</a>' in come(players[0]).page("/")
    boards = set(re.findall(r'<a class="(?:going|due)" href="/m/(\d+)"', shown))
    assert len(boards) == 3
    assert shown.count('class="due"') == 3  # of each match, one player is to move
    resign_all(api, page, players[0])
    managed(api, page, lambda some: sum(bool(one.counted) for one in some.values()) == 2)
    status, text = refused(host, page, do="confirm")
    assert (status, "1 match" in text) == (409, True)
    resign_all(api, page, players[1])
    managed(api, page, lambda some: all(one.counted for one in some.values()))
    assert "Confirm the places" in host.page(page)
    assert "Confirm the places" not in come(players[0]).page(page)
    done = act(host, page, "confirm")
    assert "Over, the places are confirmed." in done
    order = re.findall(r'<span class="place">(\d)</span> .*?/players/(\w+)"', done)
    assert order == [(str(n), players[3 - n].name) for n in (1, 2, 3)]
    assert [(row["player"], row["place"], row["points"]) for row in table(host, page)] == [
        (players[2].name, "1", "2.0"),
        (players[1].name, "2", "1.0"),
        (players[0].name, "3", "0.0"),
    ]
    api.caught_up()
    assert page in host.page("/tournaments?state=ended")


def test_the_lists_show_what_is_open_and_what_is_ones_own(api, come):
    host, other = come(api.player()), come(api.player())
    hidden, page = made(host, name="Not yet"), opened(host, name="Open <b>")
    api.caught_up()
    shown = other.page("/tournaments")
    assert "Open &lt;b&gt;" in shown
    assert "0 of 3 players" in shown
    assert "It starts when 3 players have entered." in shown
    assert "Not yet" not in shown
    assert "Not yet" in host.page("/tournaments")
    assert other.get(hidden).status_code == 404
    assert host.page("/tournaments?state=running").count("Open &lt;b&gt;") == 0
    act(other, page, "enter")
    api.caught_up()
    assert 'id="own-title"' in other.page("/tournaments")
    assert other.get("/tournaments?state=best").status_code == 400
    assert 'href="/tournaments"' in other.page("/")


def test_a_form_with_mistakes_comes_back_with_all_that_was_typed(api, come):
    host, dated = come(api.player()), {"start": "date"}
    for wrong, *said in (
        ({"name": "Cup", "text": "**bold**", "section": "99", "players": "", "least": "few", "double": "on"},
         "Please fix the 3 fields marked in red.", "Enter a number from 3 to 15.",
         "Enter how many players make it full.", 'value="few"', "**bold**", 'name="double" value="on" checked'),
        (dated | {"starts": "2020-01-01T10:00"}, "2020-01-01T10:00"),
        (dated | {"starts": ""}, 'id="wrong-starts"'),
        (dated | {"starts": "soon"}, 'id="wrong-starts"'),
        ({"name": ""}, 'id="wrong-name"'),
        ({"stage2-first": "2", "form": "lottery"}, "Choose a form.", 'id="wrong-stage2-total"'),
        (LEAGUE | {"season-days": ""},),
        (THREES | {"threes-rounds": "10"}, "Enter a number from 1 to 9"),
    ):  # fmt: skip
        answer = host.send("/tournaments/new", {**PLAN, **wrong}, on="/tournaments/new")
        assert answer.status_code == 422, wrong
        assert [text for text in said if text not in answer.text] == [], wrong


@pytest.mark.parametrize(("form", "said"), [
    ({"text": "*hello*", "time": "own", "own-days": "5", "double": "on", "unrated": "yes", "least": "1400",
      "most": "1600", "section": "5", "players": "10"}, ("5 days a move", "unrated", "<em>hello</em>")),
    (STAGES, ("Stage 2: the best 2 of each section and the next best, 6 in all",)),
    (SWISS, ("Swiss: 2 rounds, in each of which players of about the same points meet.",
             "A round lasts 30 days at most; matches that are not over then are drawn.")),
    (LEAGUE | {"double-season": "on"},
     ("League in divisions of 3: each plays each twice", "2 seasons of 30 days each")),
    (THREES, ("Groups of three: 9 rounds", "5 for first place, 2 for second, 0 for third")),
])  # fmt: skip
def test_what_a_form_makes_is_said_and_another_is_made_like_it(api, come, form, said):
    host = come(api.player())
    page = made(host, **form)
    shown, like = host.page(page), f"/tournaments/new?like={number_of(page)}"
    assert [text for text in said if text not in shown] == []
    again = host.page(like)
    for name, value in form.items():
        if name in ("text", "time", "own-days"):  # kept in another field
            continue
        ticked = re.search(rf'name="{name}"[^>]*value="{value}"[^>]* checked', again)
        typed = re.search(rf'name="{name}"[^>]*value="{value}"', again)
        assert ticked if value in ("on", "yes") or name in ("form", "game", "start") else typed, (
            name
        )
    kept = re.search('name="kept" value="([^"]*)"', again)
    if "own-days" in form:
        assert "*hello*" in again
        fields = {**PLAN, "time": "kept", "kept": kept[1], "unrated": "yes"}
        copy = host.send("/tournaments/new", fields, on=like)
        assert "5 days a move" in host.page(copy.headers["location"])
    assert come(api.player()).get(like).status_code == 404


def test_a_form_that_is_sent_twice_makes_one_tournament(api, come):
    host = come(api.player())
    form = host.page("/tournaments/new")
    fields = PLAN | dict(re.findall(r'name="(csrf|key)" value="([^"]+)"', form))
    first, second = (host.http.post("/tournaments/new", data=fields) for _ in range(2))
    assert first.headers["location"] == second.headers["location"]


def test_a_tournament_of_a_club_is_for_those_whom_the_club_lets_while_they_are_in_it(api, come):
    owner, *members, stranger = api.players(5)
    club = found_club(api.parts, owner.account, "Knights")
    change_club(api.parts, owner.account, club.path, ClubChanges(visible_to=ClubAudience.CLUB))
    for member in members:
        api.parts.clubs.put_member(club, member.account, ClubRole.MEMBER)
    host, guest = come(owner), come(members[0])
    assert "members of Knights" in host.page("/tournaments/new")
    assert "members of Knights" not in guest.page("/tournaments/new")
    page = opened(host, members[1], club=club.path, name="Knights only")
    api.caught_up()
    assert "For members of Knights." in act(guest, page, "enter")
    assert members[2].post(f"/api{page}/entry", {}).is_success
    managed(api, page, lambda matches: len(matches) == 3)
    lists, strangers = ("/playing", f"/players/{members[0].name}"), (come(stranger), come())
    assert all("Knights only" in come(members[1]).page(one) for one in lists)
    for other in strangers:
        for path in (page, f"{page}/table.csv", f"/m/{number_of(page)}"):
            assert other.get(path).status_code == 404
        assert "Knights only" not in other.page("/tournaments")
        for one in lists:
            shown = other.page(one)
            assert members[0].name in shown
            assert ("Knights only" in shown, f'href="{page}"' in shown) == (False, False)
    # nobody has a frame or a feed of it
    for part in ("embed", "feed"):
        assert f"/{part}" not in guest.page(page)
        for who in (guest, host, *strangers):
            answer = who.get(f"{page}/{part}")
            assert (answer.status_code, "Knights" in answer.text) == (404, False)
            assert members[1].name not in answer.text
    assert "Knights only has started" in guest.page("/")
    assert "Knights only has started" in guest.page("/notices")
    api.parts.clubs.remove_member(club, members[0].account)
    assert "Knights only has started" not in guest.page("/")
    assert "Knights only" not in guest.page("/notices")
    change_club(api.parts, owner.account, club.path, ClubChanges(visible_to=ClubAudience.EVERYBODY))
    assert "Knights only" in come().page(f"{page}/embed")
    assert come().get(f"{page}/feed").status_code == 200


def test_guests_see_no_tournament_where_matches_are_for_members(api, come):
    host = come(api.player())
    page = opened(host)
    change_admission(api.parts, {"visible_to": "members"})
    try:
        guest = come()
        for path in ("/tournaments", page, f"{page}?section=1", f"{page}/table.csv"):
            answer = guest.get(path)
            assert answer.status_code == 303, path
            assert urlsplit(answer.headers["location"]).path == "/login"
        assert host.get(page).status_code == 200
    finally:
        change_admission(api.parts, {"visible_to": "everybody"})


def test_name_and_text_are_changed_by_the_organiser_alone(api, come):
    host, other = come(api.player()), come(api.player())
    page = opened(host)
    fields = {"name": "Winter cup", "text": "# Hello <script>"}
    assert other.send(f"{page}/text", fields, on=page).status_code == 403
    assert host.send(f"{page}/text", fields, on=page).status_code == 303
    shown = come().page(page)
    assert "Winter cup</h1>" in shown
    assert "<h3>Hello &lt;script&gt;</h3>" in shown
    bad = host.send(f"{page}/text", {"name": "", "text": "kept"}, on=page)
    assert (bad.status_code, "kept</textarea>" in bad.text) == (422, True)


def test_the_example_of_the_docs_is_what_the_rules_say():
    text = (Path(__file__).parents[2] / "docs" / "tournaments.md").read_text("utf-8")
    shown = csv.reader(text.partition("```csv\n")[2].partition("```")[0].splitlines())
    head, *rows = shown
    names = head[5:8]
    anna, ben, carl = range(3)
    results = [
        ScheduledMatch(anna, ben, PairResult.FIRST_WON),
        ScheduledMatch(anna, carl, PairResult.DRAWN),
        ScheduledMatch(carl, ben, PairResult.FIRST_WON),
    ]
    table = table_of(Tally(3, PointScheme(win=1, draw=0.5, loss=0), results), names)
    assert tuple(names) == USUAL_TIEBREAKS
    assert [row[1:3] + row[4:8] for row in rows] == [
        [str(row.place), ("anna", "ben", "carl")[row.player]]
        + [str(float(one)) for one in (row.points, *row.tiebreaks)]
        for row in table
    ]


def test_a_swiss_tournament_has_a_column_for_each_round_and_a_report(api, come):
    host, players = come(api.player()), api.players(5)
    page = opened(host, **SWISS)
    assert host.get(f"{page}/trf").status_code == 403
    for player in players:
        assert player.post(f"/api{page}/entry", {}).is_success
    assert "The next round is paired in a moment." in host.page(page)
    managed(api, page, lambda matches: len(matches) == 2)
    shown = host.page(page)
    assert re.findall(r"<th[^>]*>(\d)<span class=\"sr\"> Round", shown) == ["1"]
    cells = re.findall(r'<span aria-hidden="true">([^<]+)</span>', shown.partition("<table")[2])
    assert sorted(cells) == ["○2 #0", "○3 #0", "●1 #0", "●4 #0"]
    assert shown.count('<span class="won">bye</span>') == 1
    resign_all(api, page, players[0])
    resign_all(api, page, players[1])
    managed(api, page, lambda matches: len(matches) == 4)
    shown = host.page(page)
    assert re.findall(r"<th[^>]*>(\d)<span class=\"sr\"> Round", shown) == ["1", "2"]
    assert "All results stand, and the opponent of a match that goes on" in shown
    report = host.get(f"{page}/trf")
    assert report.headers["content-disposition"].endswith('.trf"')
    assert [line for line in report.text.splitlines() if line.startswith("XXR")] == ["XXR 2"]


def reasons(shown: str) -> list[str]:
    """What each row says of a challenge: the words of its button, or why not."""
    cells = re.findall(r'<td class="dare">(.*?)</td>', shown)
    return [re.sub(r"<span.*?</span>|<[^>]+>", "", one) for one in cells]


def test_a_ladder_has_a_button_at_who_can_be_challenged_and_is_entered_and_left_while_it_runs(
    api, come
):
    players, newcomer = api.players(3), come(api.player())
    first, last = come(players[0]), come(players[2])
    page = opened(first, *players, **LADDER)
    act(first, page, "start")
    api.caught_up()
    shown = last.page(page)
    order = re.findall(r'<span class="place">(\d)</span> .*?/players/(\w+)"', shown)
    assert order == [(str(n), player.name) for n, player in enumerate(players, 1)]
    assert reasons(shown) == [
        "Only players up to 1 place above can be challenged, and this is 2 places above.",
        "Challenge",
        "",
    ]
    assert reasons(come(players[1]).page(page))[2] == "Only players above can be challenged."
    assert reasons(newcomer.page(page)) == []
    shown = act(last, page, "challenge", players[1].name)
    assert reasons(shown)[1] == "A match of these two is running on the ladder already."
    managed(api, page, lambda matches: len(matches) == 1)
    shown = last.page(page)
    assert re.search(r'data-boards="\d+:\d+"', shown)
    assert shown.count(">#0</span>") == 2  # the match stands at both
    resign_all(api, page, players[1])
    managed(api, page, lambda some: all(one.counted for one in some.values()))
    shown = last.page(page)
    assert "▲ 1" in shown
    assert "1 place up on" in shown
    assert '<td class="number">1-0-0</td>' in shown
    act(last, page, "challenge", players[0].name)
    status, text = refused(last, page, do="challenge", userid=players[1].name)
    assert (status, "Only players above can be challenged." in text) == (403, True)
    # who comes later
    assert "Log in to enter" in come().page(page)
    assert "You begin at the bottom." in newcomer.page(page)
    assert "Leave the ladder" in act(newcomer, page, "enter")
    shown = act(newcomer, page, "leave")
    assert "You begin at the bottom." in shown
    assert "End the ladder" not in shown
    managed(api, page, lambda matches: len(matches) == 2)
    assert "Confirm the places" not in act(first, page, "end")
    assert "You begin at the bottom." not in newcomer.page(page)
    status, text = refused(newcomer, page, do="enter")
    assert (status, "The ladder has been ended." in text) == (409, True)
    resign_all(api, page, players[0])
    managed(api, page, lambda some: all(one.counted for one in some.values()))
    assert "Over, the places are confirmed." in act(first, page, "confirm")
    assert [(row["place"], row["player"]) for row in table(come(), page)] == [
        (str(n), players[at].name) for n, at in enumerate((2, 0, 1), 1)
    ]


def test_a_director_sees_the_matches_and_decides_one(api, come):
    host, page, players = begun(api, come)
    there = f"{page}/director"
    assert come(players[0]).get(there).status_code == 403
    assert f'<a href="{there}?section=1">Director</a>' in host.page(page)
    shown = host.page(there)
    assert shown.count("2 matches left") == 3
    board = api.parts.tournaments.matches(number_of(page))[0].board
    given = {"do": "adjudicate", "board": str(board), "result": "1-0", "why": "Far ahead."}
    assert host.send(there, {**given, "result": "2-0"}, on=there).status_code == 400
    assert host.send(there, given, on=there).status_code == 303
    other = api.player()
    appointed = host.send(there, {"do": "appoint", "directors": other.name}, on=there)
    assert appointed.status_code == 303
    assert f'value="{other.name}"' in host.page(there)
    assert "Decide a match" in come(other).page(there)
    assert f"Directors: {other.name}" in come(players[0]).page(page)
    assert "Take a player out" in come(other).page(page)
    assert host.send(there, {"do": "appoint", "directors": players[0].name}, on=there).is_redirect
    own = come(players[0])
    shown = own.page(there)
    assert ("2 matches left" in shown, "Decide a match" in shown) == (True, False)
    assert "Take a player out" not in own.page(page)
    second = {**given, "board": str(api.parts.tournaments.matches(number_of(page))[1].board)}
    assert own.send(there, second, on=page).status_code == 403
    strange = host.send(there, {**given, "board": "\N{SUPERSCRIPT TWO}"}, on=there)
    assert (strange.status_code, "Far ahead." in strange.text) == (404, True)


def test_who_leaves_is_taken_out_by_the_organiser_or_followed_by_a_volunteer(api, come):
    host, page, players = begun(api, come)
    new, other = come(player := api.player()), come(players[1])
    assert "You can be a substitute" in new.page(page)
    assert "You can be a substitute" not in other.page(page)
    assert "Be a substitute" not in come().page(page)
    assert "a substitute takes over the matches" not in host.page(page)
    assert "You are a substitute" in act(new, page, "volunteer")
    assert "You can be a substitute" in act(new, page, "leave")
    act(new, page, "volunteer")
    status, text = refused(new, page, do="volunteer")
    assert (status, "already volunteered" in text) == (409, True)
    assert f"<option>{player.name}</option>" in host.page(page)
    fields = {"do": "withdraw", "kind": "substituted", "userid": players[0].name, "why": "ill"}
    assert refused(other, page, **fields)[0] == 403
    for wrong in ({"why": "", "section": "1"}, {"substitute": players[1].name}):
        assert '<section id="withdraw"><details open>' in refused(host, page, **fields | wrong)[1]
    taken = host.send(f"{page}/act", {**fields, "substitute": player.name}, on=page)
    assert taken.status_code == 303
    shown = new.page(page)
    assert f"for {players[0].name}" in shown
    assert "You are a substitute" not in shown
    wanted = player.account
    managed(api, page, lambda some: sum(wanted in one.seats for one in some.values()) == 2)
    boards = [one.board for one in api.parts.tournaments.matches(number_of(page)).values()]
    mine = [one for one in boards if player.account in load_state(api.parts, one).seats]
    facts = new.page(f"/m/{mine[0]}")
    assert f"({players[0].name}) played until #0, then a substitute took over." in facts
    assert "You’re playing" in facts
    assert "You’re playing" not in come(players[0]).page(f"/m/{mine[0]}")
    silent = {"do": "withdraw", "userid": players[1].name, "kind": "silent", "why": "no word"}
    assert host.send(f"{page}/act", silent, on=page).status_code == 303
    managed(api, page, lambda some: sum(bool(one.result) for one in some.values()) == 2)
    shown = host.page(page)
    assert "1 match has no result yet." in shown
    assert '<span class="tag">withdrawn</span>' in shown
    assert "Take a player out" not in other.page(page)


def test_several_sections_are_shown_one_at_a_time_ones_own_first(api, come):
    host, players = come(api.player()), api.players(6)
    page = opened(host, *players, players="6")
    managed(api, page, lambda matches: len(matches) == 6)
    view = view_of(api.parts, None, number_of(page))
    in_second = view.players[view.state.sections[1].players[0]]
    (player,) = [one for one in players if one.account == in_second]
    assert "Section 2 of 2" in come(player).page(page)
    guest = come()
    assert "Section 1 of 2" in guest.page(page)
    assert "Section 2 of 2" in guest.page(f"{page}?section=99")
    second = guest.page(f"{page}?section=2")
    assert second.count('<th scope="row"') == 3
    assert f"/players/{player.name}" in second
    assert [row["section"] for row in table(guest, page)] == ["1"] * 3 + ["2"] * 3


def test_a_knockout_has_its_rounds_on_its_page_and_the_places_so_far(api, come):
    host, players = come(api.player()), api.players(3)
    page = opened(host, *players, **KNOCKOUT)
    managed(api, page, lambda matches: len(matches) == 1)
    shown = host.page(page)
    assert "<h3>Semifinals</h3>" in shown
    assert shown.count('<li class="tie">') == 2
    assert shown.count("bye") == 1
    resign_all(api, page, players[1])
    managed(api, page, lambda matches: len(matches) == 2)
    shown = host.page(page)
    assert "<h3>Final</h3>" in shown
    cells = re.findall(r'<span aria-hidden="true">([^<]+)</span>', shown.partition("<table")[2])
    assert sorted(cells) == ["#0", "#0", "+", "\N{MINUS SIGN}"]
    rows = list(csv.reader(io.StringIO(host.get(f"{page}/table.csv").text)))
    assert [row[1] for row in rows] == ["place", "1", "1", "3"]
    assert len({len(row) for row in rows}) == 1


def pair_season(api: Api, number: int) -> None:
    """Have the server begin the second season of a league, as on its day."""
    id_ = command_id("season", SERVER_ACCOUNT, str(number))
    order = CommandEnvelope(number, id_, SERVER_ACCOUNT, PairRound(stage=2))
    store = api.parts.store
    store.submit([submission_of(order, 0, "season")])
    api.parts.lanes.request(store.layout().lane_of(number))
    until(lambda: view_of(api.parts, None, number).state.stage == 2)
    api.caught_up()


def test_a_league_has_its_divisions_and_a_way_into_and_out_of_its_next_season(api, come):
    host, players, newcomer = come(api.player()), api.players(6), come(api.player())
    page = opened(host, *players, **LEAGUE)
    act(host, page, "start")
    managed(api, page, lambda matches: len(matches) == 6)
    shown = host.page(f"{page}?section=2")
    assert "Season 1, division 2" in shown
    assert '<strong aria-current="true">Division 2</strong>' in shown
    assert f'<a href="{page}?section=1">Division 1</a>' in shown
    assert "\N{UPWARDS ARROW}</span>" in shown
    assert "\N{DOWNWARDS ARROW}</span>" in host.page(f"{page}?section=1")
    guest = come(players[0])
    assert "and you are in it" in guest.page(page)
    shown = act(guest, page, "leave")
    assert "Enter for the next season" in shown
    assert "not in the next season" in shown
    assert "and you are in it" in act(guest, page, "enter")
    assert "Leave after this season" in act(newcomer, page, "enter")
    pair_season(api, number_of(page))
    shown = guest.page(page)
    assert "Season 2, division" in shown
    assert "Season 1</a>" in shown
    assert "Leave after this season" not in shown
    assert {row["section"] for row in table(host, page)} == {"1", "2", "3", "4"}
