"""Tournaments that are not for all, of teams, of groups of three and with openings, at each way in.

What is typed, sent and pressed reaches the use cases; the rules are those of tests/domain/tournament.
"""

import html
import re
from typing import Any

from domain.errors import Code
from infra.projections.notices import NoticeKind
from infra.projections.standings import tally_field, tally_key
from infra.redis.keys import TOURNAMENT_CODES
from infra.store.analyses import StoredAnalysis
from services.app.matches import analyse, analysis_of, load_state
from services.app.tournaments import leave_all, visible_state
from tests.fakes.app import PASSWORDS, Terminal
from tests.helpers.api import Api, Player, code_of, until
from tests.helpers.web import Guest, refusal
from tests.services.test_tournaments_seen import turn

ALICE = "alice mad-hatter"
CUP: dict[str, Any] = {"name": "Cup", "game": "pow2", "section": 3}
TEAMS = {"name": "Town against Gown", "game": "goliath", "form": "teams", "team_size": 2}
THREES = {
    "name": "Three", "game": "halves", "form": "threes", "rounds": 4, "place_points": [3, 1, 0],
}  # fmt: skip


def said(terminal: Terminal, line: str) -> str:
    answer = terminal.do(line)
    assert answer.code == "", answer
    return answer.text


def opened(organiser: Player, plan: dict[str, Any]) -> str:
    """Make a tournament and open it; gives its address at the API."""
    made = organiser.post("/api/tournaments", plan)
    assert made.is_success, made.text
    path: str = made.headers["location"]
    assert organiser.post(f"{path}/open").is_success
    return path


def press(guest: Guest, page: str, do: str, **fields: str) -> str:
    """Press a button of a tournament's page; gives the sentence of a refusal."""
    answer = guest.send(f"{page}/act", {"do": do, **fields}, on=page)
    return "" if answer.status_code == 303 else refusal(answer.text)[1]


# conditions


def test_conditions_are_typed_and_a_code_is_not_stored(terminal: Terminal) -> None:
    do = terminal.do
    new = f"tournament new {ALICE} goliath --invited --flags=20 --code --days=3 Closed Cup"
    assert do(new).code == do(f"tournament open 1 {ALICE}").code == ""
    shown = do("tournament 1").text
    for part in ("whom the organiser invites", "at most 20 % of their", "who know its code"):
        assert part in shown
    bob = f"tournament enter 1 bob {PASSWORDS['bob']}"
    made = do(f"tournament code 1 {ALICE}").sentence
    code = made.split(" is ")[1].split()[0]
    assert do(f"tournament invite 1 {ALICE} Bob").sentence == "invited to tournament 1: bob"
    assert do(f"{bob} --cod={code}").code == Code.BAD_OPTION
    assert do(bob).code == do(f"{bob} --code=0{code[1:]}x").code == Code.AGAINST_TERMS
    assert do(f"{bob} --code={code.upper()}").code == ""
    carol = do(f"tournament enter 1 carol {PASSWORDS['carol']} --code={code}")
    assert "only players whom the organiser has invited" in carol.sentence
    assert do(f"tournament new {ALICE} goliath --flags=101 Cup").code == Code.BAD_OPTION
    stored = terminal.app.client.hget(TOURNAMENT_CODES, "1")
    assert isinstance(stored, bytes)
    assert bytes.fromhex(code) not in stored
    assert code.encode() not in stored


def test_an_invited_player_gets_a_notice_and_enters_and_no_other(api: Api) -> None:
    host, guest, other, shy = api.players(4)
    path = opened(host, {**CUP, "entry": {"invited": True}})
    assert code_of(other.post(f"{path}/entry", {})) == "against-terms"
    assert other.get(path).json()["may_enter"] is False
    assert shy.put(f"/api/account/blocks/{host.name}", None).is_success
    blocked = host.post(f"{path}/invitations", {"userids": [shy.name]})
    assert code_of(blocked) == "not-wanted"
    named = {"userids": [guest.name, guest.name]}
    assert code_of(other.post(f"{path}/invitations", named)) == "not-an-organiser"
    assert host.post(f"{path}/invitations", named).is_success
    assert host.get(path).json()["invited"] == [guest.name]
    shown = guest.get(path).json()
    assert (shown["invited"], shown["may_enter"]) == ([], True)
    api.caught_up()
    told = [one["kind"] for one in guest.get("/api/notices").json()["notices"]]
    assert told == [NoticeKind.INVITED_TO_TOURNAMENT]
    for one in (guest, host):
        assert one.post(f"{path}/entry", {}).is_success
    shown = host.get(path).json()
    assert (shown["terms"]["entry"]["invited"], shown["invited"]) == (True, [])


def test_a_page_invites_shows_a_code_once_and_takes_it(api: Api, come) -> None:
    host, guest, other = api.players(3)
    terms = ["--days=3", "--vacation=9", "--rated-from=5"]
    plan = {**CUP, "entry": {"invited": True}, "by_code": True, "terms": terms}
    page = opened(host, plan).removeprefix("/api")
    desk, invited, stranger = come(host), come(guest), come(other)
    assert "Only players whom the organiser invites can enter" in stranger.page(page)
    assert "no user" in press(desk, page, "invite", players=f"{guest.name}, nobody-here")
    assert press(desk, page, "invite", players=guest.name) == ""
    assert f'href="/players/{guest.name}"' in desk.page(page)
    made = desk.send(f"{page}/code", {}, on=page).text
    code = made.partition('readonly value="')[2].partition('"')[0]
    assert len(code) == 16
    assert code not in desk.page(page)
    assert "isn't the code" in press(invited, page, "enter", code="0" * 16)
    assert press(invited, page, "enter", code=code) == ""
    assert stranger.send(f"{page}/code", {}, on=page).status_code == 403
    again = desk.page(f"/tournaments/new?like={page.rpartition('/')[2]}")
    assert 'value="--days=3 --vacation=9"' in again
    assert 'name="rated-from" inputmode="numeric" class="short" value="5"' in again
    for name in ("invited", "code"):
        assert f'name="{name}" value="on" checked' in again


def test_matches_lost_on_time_and_too_few_finished_ones_keep_a_player_out(api: Api) -> None:
    host, careless = api.players()
    api.caught_up()
    tally = api.parts.standings._generation().of("pow2").key(tally_key("pow2"))
    for what, count in (("played", 10), ("timed", 3)):
        api.parts.data.hset(tally, tally_field(careless.account, what), count)
    for terms, detail in (
        ({"entry": {"most_flags": 29}}, "at most 29 % of their finished matches on time; it was 3 of 10"),
        ({"entry": {"most_flags": 30}}, ""),
        ({"least_finished": 11}, "at least 11 matches; so far 10 count"),
        ({}, ""),
    ):  # fmt: skip
        answer = careless.post(f"{opened(host, {**CUP, **terms})}/entry", {})
        assert answer.is_success is not bool(detail)
        assert not detail or (code_of(answer), detail in answer.json()["detail"]) == ("against-terms", True)  # fmt: skip
    for wrong, code in (
        ({"entry": {"most_flags": 101}}, "bad-request"),
        ({"least_finished": 1001}, "bad-option"),
    ):
        assert code_of(host.post("/api/tournaments", {**CUP, **wrong})) == code


# teams


def test_teams_are_typed_from_their_captains_to_their_matches(terminal: Terminal) -> None:
    said(terminal, f"tournament new {ALICE} goliath --teams=2 --days=3 Town against Gown")
    said(terminal, f"tournament open 1 {ALICE}")
    named = said(terminal, "tournament team 1 bob yes-we-can Bob,carol")
    assert named == "your team in tournament 1: bob, carol; each of them has to enter"
    said(terminal, "signup dave walls-of-jericho")
    passwords = {**PASSWORDS, "dave": "walls-of-jericho"}
    assert terminal.do("tournament enter 1 dave walls-of-jericho").code == Code.AGAINST_TERMS
    # whom two teams name says in whose
    said(terminal, f"tournament team 1 {ALICE} carol")
    answer = terminal.do(f"tournament enter 1 carol {PASSWORDS['carol']}")
    assert (answer.code, "several teams name you" in answer.text) == (Code.AGAINST_TERMS, True)
    dissolved = said(terminal, f"tournament team 1 {ALICE}")
    assert dissolved == "your team in tournament 1 is dissolved"
    said(terminal, f"tournament team 1 {ALICE} alice,dave")
    for name, captain in (("alice", ""), ("dave", "alice"), ("bob", ""), ("carol", "bob")):
        said(terminal, f"tournament enter 1 {name} {passwords[name]} {captain}")
    assert "bob’s team: bob (has entered), carol (has entered)" in said(terminal, "tournament 1")
    said(terminal, f"tournament start 1 {ALICE}")
    shown = said(terminal, "tournament 1")
    assert "  1  bob’s team 0 (0): bob, carol" in shown
    assert "bob’s team 0 - 0 alice’s team, 2 matches go on" in shown
    assert terminal.do("tournament team 1 bob yes-we-can").code == Code.NOT_ALLOWED


def test_the_team_of_a_deleted_account_is_dissolved_before_the_start(terminal: Terminal) -> None:
    for line in (
        f"tournament new {ALICE} goliath --teams=2 --days=3 Town against Gown",
        f"tournament open 1 {ALICE}",
        "tournament team 1 bob yes-we-can bob,carol",
        f"tournament enter 1 carol {PASSWORDS['carol']}",
    ):
        said(terminal, line)
    app = terminal.app
    leave_all(app, app.accounts.id_of("bob"))
    _ = app.tournaments  # which is up to now
    state = visible_state(app, None, 1)
    assert (state.teams, state.entrants) == ((), ())


def test_programs_name_teams_and_a_page_has_their_form_their_buttons_and_their_table(
    api: Api, come
) -> None:
    one, two, three, four = api.players(4)
    path = opened(one, TEAMS)
    page, number = path.removeprefix("/api"), int(path.rpartition("/")[2])
    assert code_of(one.put(f"{path}/team", {"userids": [one.name] * 2})) == "too-many"
    # a team by the API, and one by the page
    assert one.put(f"{path}/team", {"userids": [one.name, two.name]}).is_success
    assert one.post(f"{path}/entry", {}).is_success
    assert two.post(f"{path}/entry", {"captain": one.name}).is_success
    captain, other = come(three), come(four)
    assert "Ask a captain to name you" in other.page(page)
    assert "no user" in press(captain, page, "team", players="nobody-here")
    assert press(captain, page, "team", players=f"{three.name}, {four.name}") == ""
    for guest in (captain, other):
        assert f'name="userid" value="{three.name}"' in guest.page(page)
        assert press(guest, page, "enter", userid=three.name) == ""
    before = one.get(path).json()
    assert before["terms"]["team_size"] == 2
    assert before["teams"][1] == {
        "captain": three.name,
        "players": [three.name, four.name],
        "reserves": [],
        "entered": [three.name, four.name],
        **dict.fromkeys(("place", "match_points", "points", "left")),
    }
    assert one.post(f"{path}/start").is_success
    line = one.get(path).json()["teams"][0]
    assert (line["place"], line["match_points"], line["points"], line["left"]) == (1, 0, 0.0, 2)
    turn(api)
    until(lambda: len(api.parts.tournaments.matches(number)) == 2)
    shown = other.page(page)
    assert f"{one.name}’s team" in shown
    assert "Match points" in shown
    assert "Change your team" not in shown


# groups of three


def test_groups_of_three_are_typed_to_their_table(terminal: Terminal) -> None:
    new = f"tournament new {ALICE} {{}} --threes={{}} Three"
    for game, numbers in (("goliath", "3"), ("halves", "10"), ("halves", "3,1"), ("halves", "x")):
        assert terminal.do(new.format(game, numbers)).code == Code.BAD_OPTION
    said(terminal, new.format("halves", "2,3,1,0"))
    said(terminal, f"tournament open 1 {ALICE}")
    for name in ("alice", "bob", "carol"):
        said(terminal, f"tournament enter 1 {name} {PASSWORDS[name]}")
    said(terminal, f"tournament start 1 {ALICE}")
    shown = said(terminal, "tournament 1")
    assert "groups of three: 2 rounds, whose matches all begin together" in shown
    assert "points: 3 for first place, 1 for second, 0 for third" in shown
    assert "  1  alice     0 .  .\n" in shown
    answer = terminal.do(f"tournament decide 1 {ALICE} 2 1-0 Late.")
    assert answer.code == Code.UNKNOWN_BOARD


def test_programs_and_pages_show_a_leaver_whose_one_match_goes_on_without(api: Api, come) -> None:
    host, *players = api.players(5)
    path = opened(host, THREES)
    number, page = int(path.rpartition("/")[2]), path.removeprefix("/api")

    def turned() -> bool:
        turn(api)
        return not api.parts.tournaments.waiting(9)

    for player in players:
        assert player.post(f"{path}/entry", {}).is_success
    assert host.post(f"{path}/start").is_success
    until(lambda: turned() and len(api.parts.tournaments.matches(number)) == 4)
    (section,) = host.get(path).json()["sections"]
    first = section["pairings"][0]
    assert [one["round"] for one in section["byes"]] == [1, 2, 3, 4]
    leaver, board = players[first["third"]], first["board"]
    assert leaver.give(board, {"do": "resign"}).is_success
    gone = {"userid": leaver.name, "kind": "silent", "text": "Not heard of."}
    assert host.post(f"{path}/withdrawals", gone).is_success
    state = visible_state(api.parts, None, number)
    mine = {n for n, seats in state.seated if first["third"] in seats}
    assert set(state.unfinished) == mine - {0}
    until(turned)
    wrong = {"board": board, "result": "1-0", "text": "Late."}
    assert code_of(host.post(f"{path}/adjudications", wrong)) == "bad-request"
    guest, director = come(host), f"{page}/director"
    given = {"do": "adjudicate", "board": str(board), "result": "1-2-2", "why": "Late."}
    assert "the first and the third share first place" in guest.page(director)
    answer = guest.send(director, given, on=director)
    assert answer.status_code == 303, refusal(answer.text)
    until(turned)
    assert "place 1, shared, against" in guest.page(page)
    assert "the place in the match, with = if it is shared" in guest.page(f"{page}/embed")
    placed = [players[first[seat]].name for seat in ("first", "second", "third")]
    assert "1. {}, 2. {}, 3. {}<".format(*placed) in guest.page(f"{page}/feed")
    (section,) = host.get(path).json()["sections"]
    assert section["pairings"][0]["result"] == "1-2-3"  # the match knows who had resigned
    line = next(one for one in section["table"] if one["player"] == first["third"])
    assert (line["points"], line["withdrawn"], line["left"]) == (1.0, True, 0)


# openings

OPENING = "m13-j7 a13-d7 m1-i3"


def shows_its_opening(guest: Guest, board: int, said: str) -> None:
    page = guest.page(f"/m/{board}")
    assert f"{said} {OPENING}." in page
    assert len(re.findall(r'<li class="[^"]* given" title="A move of the opening">', page)) == 3


def test_a_thematic_tournament_is_made_by_its_form_and_shown(api: Api, come) -> None:
    host, players = come(api.player()), api.players(3)
    form = {"name": "Cup", "game": "pow2", "time": "3", "section": "3", "players": "3", "start": "full"}  # fmt: skip
    made = host.send("/tournaments/new", {**form, "opening": f" {OPENING.upper()} "}, on="/tournaments/new")  # fmt: skip
    page = made.headers["location"]
    number = int(page.rpartition("/")[2])
    assert press(host, page, "open") == ""
    for player in players:
        assert player.post(f"/api{page}/entry", {}).is_success
    turn(api)
    until(lambda: len(api.parts.tournaments.matches(number)) == 3)
    assert f"Each match begins with {OPENING}" in host.page(page)
    assert f'value="{OPENING}"' in host.page(f"/tournaments/new?like={number}")
    assert api.http.get(f"/api{page}").json()["terms"]["opening"] == OPENING
    board = api.parts.tournaments.matches(number)[0].board
    shows_its_opening(host, board, "This match began with")
    match = api.http.get(f"/api/matches/{board}").json()
    assert (match["opening"], match["ply"], match["at"]["to_move"]) == (3, 3, 1)


def test_openings_are_given_by_forms_and_programs_and_what_is_wrong_is_said(api: Api, come) -> None:
    mine, theirs = api.players()
    one, other = come(mine), come(theirs)
    wrong = {"game": "pow2", "time": "3", "start": "organiser", "opening": "m13-j7 m13-j7"}
    cup = {"name": "Cup", "form": "round-robin", "section": "3"}
    for path, more in (("/tournaments/new", cup), ("/new", {"against": "link"})):
        answer = one.send(path, wrong | more, on=path)
        assert answer.status_code in (409, 422)
        text = "ove 2 of the opening is not possible: m13-j7: there is no piece at m13"
        assert text in html.unescape(answer.text)
    fields = {"game": "pow2", "opponent": other.name, "seat": "first", "opening": OPENING}
    assert f"The match begins with {OPENING}." in one.page("/new/offer", params=fields)
    answer = one.send("/new", fields, on="/new")
    board = int(answer.headers["location"].removeprefix("/m/"))
    shows_its_opening(other, board, "The match begins with")
    assert other.move(board, "a1-a5").status_code == 303
    body = {"game": "pow2", "players": [mine.name, theirs.name], "opening": OPENING}
    board = mine.post("/api/matches", body).json()["board"]
    assert mine.get(f"/api/matches/{board}").json()["moves"] == OPENING.split()
    unreadable = mine.post("/api/matches", body | {"opening": "m13-j7 zz"})
    assert (unreadable.status_code, code_of(unreadable)) == (422, "unreadable-move")
    made = mine.post("/api/challenges", {"game": "pow2", "opening": OPENING.upper()}).json()
    assert f"Opening: {OPENING}" in other.page("/challenges")
    taken = theirs.post(f"/api/challenges/{made['id']}/accept", {}).json()
    assert mine.get(f"/api/matches/{taken['board']}").json()["opening"] == 3


def test_no_move_of_an_opening_is_judged(api: Api) -> None:
    one, other = api.players()
    blunder, judged = "1-0 8-1 0-8 1-0", []
    for opening, rest in ((blunder, []), ("", blunder.split())):
        board = api.begun(one, other, game="torere", opening=opening)
        for at, move in enumerate([*rest, "2-1"]):
            assert (one, other)[at % 2].move(board, move).is_success
        assert one.give(board, {"do": "resign"}).is_success
        assert analyse(api.parts, board)
        found = analysis_of(api.parts, board, load_state(api.parts, board))
        assert isinstance(found, StoredAnalysis)
        judged.append(any(position.better for position in found.positions[:4]))
    assert judged == [False, True]
