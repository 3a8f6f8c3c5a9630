"""Openings on pages and for programs: in tournaments, challenges by name and open ones, and in matches that begin so."""

import html
import re

from infra.store.analyses import StoredAnalysis
from services.app.matches import analyse, analysis_of, load_state
from tests.helpers.api import Api, code_of
from tests.helpers.web import Guest
from tests.services.test_web_tournaments import Come, begun, number_of

OPENING = "m13-j7 a13-d7 m1-i3"


def shows_its_opening(guest: Guest, board: int, said: str) -> None:
    page = guest.page(f"/m/{board}")
    assert f"{said} {OPENING}." in page
    assert len(re.findall(r'<li class="[^"]* given" title="A move of the opening">', page)) == 3


def test_a_thematic_tournament_is_made_by_its_form_and_shown(api: Api, come: Come) -> None:
    host, page, _ = begun(api, come, game="pow2", opening=f" {OPENING.upper()} ")
    number = number_of(page)
    assert f"Each match begins with {OPENING}" in host.page(page)
    assert f'value="{OPENING}"' in host.page(f"/tournaments/new?like={number}")
    assert api.http.get(f"/api/tournaments/{number}").json()["terms"]["opening"] == OPENING
    board = api.parts.tournaments.matches(number)[0].board
    shows_its_opening(host, board, "This match began with")
    match = api.http.get(f"/api/matches/{board}").json()
    assert (match["opening"], match["ply"], match["at"]["to_move"]) == (3, 3, 1)


def test_forms_say_what_is_wrong_with_an_opening(come: Come, api: Api) -> None:
    guest = come(api.player())
    fields = {"game": "pow2", "time": "3", "start": "organiser", "opening": "m13-j7 m13-j7"}
    cup = {"name": "Cup", "form": "round-robin", "section": "3"}
    for path, more in (("/tournaments/new", cup), ("/new", {"against": "link"})):
        answer = guest.send(path, fields | more, on=path)
        assert answer.status_code in (409, 422)
        said = "ove 2 of the opening is not possible: m13-j7: there is no piece at m13"
        assert said in html.unescape(answer.text)


def test_a_challenge_by_form_begins_with_its_opening(api: Api, come: Come) -> None:
    one, other = come(api.player()), come(api.player())
    fields = {"game": "pow2", "opponent": other.name, "seat": "first", "opening": OPENING}
    assert f"The match begins with {OPENING}." in one.page("/new/offer", params=fields)
    answer = one.send("/new", fields, on="/new")
    board = int(answer.headers["location"].removeprefix("/m/"))
    shows_its_opening(other, board, "The match begins with")
    assert other.move(board, "a1-a5").status_code == 303


def test_programs_name_an_opening(api: Api, come: Come) -> None:
    one, other = api.players()
    body = {"game": "pow2", "players": [one.name, other.name], "opening": OPENING}
    board = one.post("/api/matches", body).json()["board"]
    assert one.get(f"/api/matches/{board}").json()["moves"] == OPENING.split()
    wrong = one.post("/api/matches", body | {"opening": "m13-j7 zz"})
    assert (wrong.status_code, code_of(wrong)) == (422, "unreadable-move")
    made = one.post("/api/challenges", {"game": "pow2", "opening": OPENING.upper()}).json()
    assert f"Opening: {OPENING}" in come(other).page("/challenges")
    taken = other.post(f"/api/challenges/{made['id']}/accept", {}).json()
    assert one.get(f"/api/matches/{taken['board']}").json()["opening"] == 3


def test_no_move_of_an_opening_is_judged(api: Api) -> None:
    one, other = api.players()
    blunder, judged = "1-0 8-1 0-8 1-0", []
    for opening, rest in ((blunder, []), ("", blunder.split())):
        body = {"game": "torere", "players": [one.name, other.name], "opening": opening}
        board = one.post("/api/matches", body).json()["board"]
        assert other.give(board, {"do": "accept"}).is_success
        for at, move in enumerate([*rest, "2-1"]):
            assert (one, other)[at % 2].move(board, move).is_success
        assert one.give(board, {"do": "resign"}).is_success
        assert analyse(api.parts, board)
        found = analysis_of(api.parts, board, load_state(api.parts, board))
        assert isinstance(found, StoredAnalysis)
        judged.append(any(position.better for position in found.positions[:4]))
    assert judged == [False, True]
