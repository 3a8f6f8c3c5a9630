"""Tournaments over HTTP: what a program sends, and what it is answered."""

from typing import Any

import pytest
from msgspec.structs import replace

from infra.people.account_macs import AccountMacs
from infra.people.accounts import create_robot_accounts
from infra.people.clubs import ClubAudience
from services.app.tournaments import leave_all
from tests.helpers.api import Api, Player, code_of, until
from workers.tournament_manager import TournamentManager

CUP = {"name": "Slingshot Cup", "game": "goliath", "section": 3, "terms": ["--days=3"]}


def made(organiser: Player, **more: Any) -> int:
    """The number of a tournament that is open for entry."""
    answer = organiser.post("/api/tournaments", {**CUP, **more})
    assert answer.status_code == 201, answer.text
    number = answer.json()["board"]
    assert organiser.post(f"/api/tournaments/{number}/open").is_success
    return int(number)


def enter(number: int, *players: Player) -> None:
    for player in players:
        assert player.post(f"/api/tournaments/{number}/entry", {}).is_success


def shown(api: Api, number: int, viewer: Player | None = None) -> dict[str, Any]:
    headers = viewer.headers if viewer else {}
    answer = api.http.get(f"/api/tournaments/{number}", headers=headers)
    assert answer.is_success, answer.text
    return dict(answer.json())


def started(api: Api, organiser: Player, players: list[Player]) -> int:
    """The number of a tournament whose matches have begun."""
    number = made(organiser)
    enter(number, *players)
    assert organiser.post(f"/api/tournaments/{number}/start").is_success
    turn(api)
    until(
        lambda: len(api.parts.tournaments.matches(number)) == len(players) * (len(players) - 1) // 2
    )
    return number


def turn(api: Api) -> None:
    """Have the manager act on all that is known."""
    api.caught_up()
    parts = api.parts
    TournamentManager(parts.store, parts.lanes, parts.data).tick()


def test_a_tournament_is_made_once_for_a_key_with_location_and_receipt_of_its_own_number(
    api: Api,
) -> None:
    organiser = api.player()
    headers = {"Idempotency-Key": "cup"}
    first, again = (organiser.post("/api/tournaments", CUP, headers=headers) for _ in range(2))
    assert (first.status_code, first.json()) == (201, again.json())
    number = first.json()["board"]
    assert first.headers["location"] == f"/api/tournaments/{number}"
    assert first.json()["seq"] == 1
    assert code_of(organiser.get(f"/api/matches/{number}")) == "unknown-board"
    outcome = organiser.get(f"/api/matches/{number}/commands/{first.json()['id']}")
    assert outcome.json()["accepted"] is True
    reused = organiser.post("/api/tournaments", {**CUP, "section": 4}, headers=headers)
    assert code_of(reused) == "id-reused"


def test_its_terms_and_entrants_are_shown_before_the_start(api: Api) -> None:
    organiser, player = api.players()
    starts = api.parts.store.now() + 10**9
    more = {"players": 3, "double": True, "starts": starts, "least_rating": 1000, "robots": True}
    number = made(organiser, **more, text="For *all*.")
    enter(number, player)
    found = shown(api, number, player)
    assert (found["name"], found["text"], found["phase"]) == (
        "Slingshot Cup",
        "For *all*.",
        "entry",
    )
    assert found["organiser"] == organiser.name
    assert (found["organises"], found["entered"], found["waits"]) == (False, True, False)
    entrant = {"userid": player.name, "rating": 1500, "waits": False, "substitute_for": None}
    assert found["entrants"] == [entrant]
    terms = found["terms"]
    assert (terms["form"], terms["rules"], terms["section"], terms["cycles"]) == (
        "round-robin",
        "goliath/1",
        3,
        2,
    )
    assert (terms["terms"], terms["text"]) == (["--days=3"], "3 days a move")
    assert (terms["players"], terms["starts"], terms["least_rating"]) == (3, starts, 1000)
    assert (terms["points"], terms["club"], terms["robots"]) == ([1.0, 0.5, 0.0], None, True)
    assert (found["sections"], found["left"]) == ([], 0)


def test_tables_pairings_boards_and_results_are_shown_and_a_match_names_its_tournament(
    api: Api,
) -> None:
    organiser, *players = api.players(4)
    number = started(api, organiser, players)
    (section,) = shown(api, number)["sections"]
    boards = [one["board"] for one in section["pairings"]]
    assert [one["pairing"] for one in section["pairings"]] == [0, 1, 2]
    for pairing, board in enumerate(boards):
        match = api.http.get(f"/api/matches/{board}").json()
        assert match["tournament"] == {"number": number, "pairing": pairing}
        assert (match["state"], match["clock"]["terms"]) == ("active", ["--days=3"])
    loser = players[0]
    for board in boards:
        loser.give(board, {"do": "resign"})
    api.caught_up()
    turn(api)
    until(lambda: shown(api, number)["left"] == 1)
    found = shown(api, number)
    names = [one["userid"] for one in found["entrants"]]
    last = found["sections"][0]["table"][-1]
    assert (names[last["player"]], last["points"], last["place"]) == (loser.name, 0.0, 3)
    assert (last["left"], last["best"], last["worst"], last["withdrawn"]) == (0, 3, 3, False)
    results = sorted(one["result"] for one in found["sections"][0]["pairings"])
    assert results[0] == ""
    assert set(results[1:]) <= {"+-", "-+"}
    assert code_of(organiser.post(f"/api/tournaments/{number}/confirm")) == "too-early"


def test_a_match_of_no_tournament_says_so(api: Api) -> None:
    board = api.begun(*api.players())
    assert api.http.get(f"/api/matches/{board}").json()["tournament"] is None


def test_players_of_a_match_of_a_tournament_can_not_decline_or_call_it_off(api: Api) -> None:
    organiser, *players = api.players(4)
    number = started(api, organiser, players)
    board = api.parts.tournaments.matches(number)[0].board
    match = api.http.get(f"/api/matches/{board}").json()
    first = next(one for one in players if one.name == match["players"][0]["userid"])
    for body in (
        {"do": "decline"},
        {"do": "offer", "kind": "abort"},
        {"do": "offer", "kind": "undo"},
    ):
        answer = first.give(board, body)
        assert code_of(answer) == "against-terms"
        assert answer.json()["detail"] == "this is not possible in a match of a tournament"


def test_a_player_who_leaves_is_taken_out(api: Api) -> None:
    organiser, *players = api.players(4)
    number = started(api, organiser, players)
    gone = {"userid": players[2].name, "kind": "silent", "text": "He has not answered."}
    assert (
        code_of(players[0].post(f"/api/tournaments/{number}/withdrawals", gone))
        == "not-an-organiser"
    )
    wrong = {**gone, "kind": "sudden"}
    assert code_of(organiser.post(f"/api/tournaments/{number}/withdrawals", wrong)) == "bad-request"
    assert organiser.post(f"/api/tournaments/{number}/withdrawals", gone).is_success
    found = shown(api, number)
    left = {line["player"] for line in found["sections"][0]["table"] if line["withdrawn"]}
    assert [found["entrants"][one]["userid"] for one in left] == [players[2].name]
    assert found["left"] == 1


def test_lists_are_by_phase_and_own(api: Api) -> None:
    organiser, *players = api.players(4)
    number = made(organiser)
    enter(number, *players)
    api.caught_up()

    def listed(name: str, viewer: Player | None = None) -> list[int]:
        headers = viewer.headers if viewer else {}
        answer = api.http.get(f"/api/tournaments?list={name}", headers=headers)
        return [one["number"] for one in answer.json()["tournaments"]]

    assert number in listed("open")
    assert listed("own", players[0]) == [number]
    assert listed("own") == []
    (row,) = players[0].get("/api/tournaments?list=own").json()["tournaments"]
    assert (row["name"], row["game"], row["entered"], row["organiser"]) == (
        "Slingshot Cup",
        "goliath",
        3,
        organiser.name,
    )
    assert organiser.post(f"/api/tournaments/{number}/cancel").is_success
    api.caught_up()
    assert number in listed("ended")
    assert number not in listed("open")
    assert code_of(api.http.get("/api/tournaments?list=best")) == "bad-request"


def test_a_list_has_pages(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    organiser = api.player()
    numbers = [made(organiser) for _ in range(3)]
    api.caught_up()
    monkeypatch.setattr("services.app.tournaments.PAGE", 2)
    first = api.http.get("/api/tournaments").json()
    assert [one["number"] for one in first["tournaments"]] == numbers[:0:-1]
    assert first["next"] == 2
    after = api.http.get("/api/tournaments?start=2").json()["tournaments"]
    assert after[0]["number"] == numbers[0]


def test_drafts_and_tournaments_of_closed_clubs_are_shown_to_their_own_alone(api: Api) -> None:
    organiser, member, stranger = api.players(3)
    club = api.parts.clubs.found(f"club of {organiser.name}", organiser.account)
    api.parts.clubs.change(replace(club, visible_to=ClubAudience.CLUB))
    draft = organiser.post("/api/tournaments", {**CUP, "club": club.path}).json()["board"]
    assert code_of(member.get(f"/api/tournaments/{draft}")) == "unknown-tournament"
    assert organiser.post(f"/api/tournaments/{draft}/open").is_success
    assert code_of(stranger.post(f"/api/tournaments/{draft}/entry", {})) == "unknown-tournament"
    assert shown(api, draft, organiser)["terms"]["club"] == club.path


def test_name_and_text_are_changed_by_the_organiser(api: Api) -> None:
    organiser, other = api.players()
    number = made(organiser)
    words = {"name": "Autumn Cup", "text": "Later."}
    path = f"/api/tournaments/{number}/text"
    assert code_of(other.put(path, words)) == "not-an-organiser"
    assert code_of(organiser.put(path, {"name": " "})) == "bad-name"
    assert organiser.put(path, words).status_code == 204
    assert (shown(api, number)["name"], shown(api, number)["text"]) == ("Autumn Cup", "Later.")


def test_entries_of_oneself_of_robots_and_of_others(api: Api) -> None:
    organiser, player = api.players()
    create_robot_accounts(api.parts.data, AccountMacs())
    number = made(organiser, robots=True)
    path = f"/api/tournaments/{number}/entry"
    enter(number, player)
    assert code_of(player.post(path, {})) == "already-entered"
    assert code_of(player.post(path, {"robot": "robot-easy"})) == "not-an-organiser"
    assert organiser.post(path, {"robot": "robot-easy"}).is_success
    assert code_of(organiser.post(path, {"robot": player.name})) == "against-terms"
    assert code_of(player.delete(f"{path}?userid=robot-easy")) == "not-an-organiser"
    assert organiser.delete(f"{path}?userid={player.name}").is_success
    assert code_of(player.delete(path)) == "not-entered"
    assert [one["userid"] for one in shown(api, number)["entrants"]] == ["robot-easy"]


def test_a_command_whose_outcome_is_not_known_is_pending(api: Api) -> None:
    organiser, player = api.players()
    number = made(organiser)
    with api.asleep():
        answer = player.post(
            f"/api/tournaments/{number}/entry?wait=0", {}, headers={"Idempotency-Key": "late"}
        )
        assert answer.status_code == 202
    again = player.post(f"/api/tournaments/{number}/entry", {}, headers={"Idempotency-Key": "late"})
    assert again.json()["accepted"] is True
    assert len(shown(api, number)["entrants"]) == 1


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"section": 2}, "bad-option"),
        ({"game": "chess"}, "unknown-game"),
        ({"game": "one"}, "usage"),
        ({"name": ""}, "bad-name"),
        ({"terms": ["--days=0"]}, "bad-option"),
        ({"terms": ["--section=3"]}, "unknown-option"),
        ({"when_full": True}, "bad-option"),
        ({"starts": 1}, "bad-option"),
        ({"club": "nix"}, "unknown-club"),
        ({"colour": "red"}, "bad-request"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(api: Api, more: dict[str, Any], code: str) -> None:
    assert code_of(api.player().post("/api/tournaments", {**CUP, **more})) == code


def test_a_knockout_has_its_terms_and_one_section_of_all_rounds(api: Api) -> None:
    players = api.players(3)
    number = made(
        players[0], form="knockout", matches=2, extra=1, third_place=True, starts=0, section=9
    )
    enter(number, *players)
    assert players[0].post(f"/api/tournaments/{number}/start").is_success
    found = shown(api, number)
    terms = found["terms"]
    assert [terms[one] for one in ("form", "section", "cycles", "extra", "third_place")] == [
        "knockout",
        0,
        2,
        1,
        True,
    ]
    (section,) = found["sections"]
    assert [one["round"] for one in section["pairings"]] == [1, 1]
    assert [line["best"] for line in section["table"]] == [1, 1, 1]


def test_further_stages_are_asked_for_and_shown(api: Api) -> None:
    stages = [{"first": 2, "total": 4, "section": 4}]
    number = made(api.player(), section=3, stages=stages, by_rating=True)
    terms = shown(api, number)["terms"]
    assert (terms["stages"], terms["by_rating"]) == (stages, True)


def test_a_swiss_tournament_has_its_terms_byes_and_a_report(api: Api) -> None:
    players = api.players(3)
    number = made(players[0], form="swiss", rounds=2, days=9, starts=0, double=True)
    enter(number, *players)
    terms = shown(api, number)["terms"]
    assert [terms[one] for one in ("form", "rounds", "days", "cycles", "tiebreaks")] == [
        "swiss",
        2,
        9,
        1,
        ["buchholz", "sonneborn-berger", "wins"],
    ]
    assert code_of(players[0].get(f"/api/tournaments/{number}/trf")) == "against-terms"
    assert players[0].post(f"/api/tournaments/{number}/start").is_success
    assert shown(api, number)["sections"] == []
    turn(api)
    until(lambda: shown(api, number)["sections"])
    (section,) = shown(api, number)["sections"]
    assert [one["round"] for one in section["pairings"]] == [1]
    assert [one["round"] for one in section["byes"]] == [1]
    report = players[0].get(f"/api/tournaments/{number}/trf")
    assert report.headers["content-type"].startswith("text/plain")
    assert report.text.count("\n001 ") == 3
    refused = api.player().post("/api/tournaments", {**CUP, "form": "swiss", "rounds": 99})
    assert code_of(refused) == "bad-option"


def test_a_ladder_has_its_order_and_says_why_nobody_can_be_challenged(api: Api) -> None:
    players = api.players(3)
    rules = {"reach": 1, "running": 1, "rest": 5, "insertion": False, "silence": 0, "drop": 2}
    number = made(players[0], form="ladder", ladder=rules)
    enter(number, *players)
    assert players[0].post(f"/api/tournaments/{number}/start").is_success
    first, second, third = players  # of equal ratings, in the order of their entry
    found = shown(api, number, third)
    assert found["terms"]["ladder"] == rules
    assert found["ladder"]["closed"] is False
    assert [(one["player"], one["challenge"]) for one in found["ladder"]["order"]] == [
        (0, False),
        (1, True),
        (2, False),
    ]
    whys = [one["why_not"] for one in found["ladder"]["order"]]
    assert whys[0].startswith("only players up to 1 place above")
    assert whys[1:] == [None, None]
    path = f"/api/tournaments/{number}/challenges"
    assert third.post(path, {"userid": second.name}).is_success
    assert code_of(second.post(path, {"userid": first.name})) == "against-terms"
    assert code_of(third.post(path, {"userid": "nobody-here"})) == "unknown-user"
    turn(api)
    until(lambda: len(api.parts.tournaments.matches(number)) == 1)
    found = shown(api, number)
    (section,) = found["sections"]
    (pairing,) = section["pairings"]
    assert (pairing["first"], pairing["second"]) == (1, 2)
    assert pairing["board"]
    assert [one["running"] for one in found["ladder"]["order"]] == [[], [0], [0]]
    assert code_of(second.post(f"/api/tournaments/{number}/end")) == "not-an-organiser"
    assert first.post(f"/api/tournaments/{number}/end").is_success
    assert shown(api, number)["ladder"]["closed"] is True
    assert code_of(third.post(path, {"userid": second.name})) == "too-late"


def test_an_account_that_is_deleted_leaves_its_ladders(api: Api) -> None:
    players = api.players(3)
    number = made(players[0], form="ladder")
    enter(number, *players)
    assert players[0].post(f"/api/tournaments/{number}/start").is_success
    api.caught_up()
    leave_all(api.parts, players[2].account)
    until(lambda: len(shown(api, number)["ladder"]["order"]) == 2)
    assert [one["player"] for one in shown(api, number)["ladder"]["order"]] == [0, 1]


def test_a_league_has_its_rules_its_next_season_and_who_changes_divisions(api: Api) -> None:
    organiser, *others = players = api.players(6)
    rules = {"size": 3, "up": 1, "down": 1, "seasons": 2}
    number = made(organiser, form="league", league=rules, days=30)
    enter(number, *players)
    assert organiser.post(f"/api/tournaments/{number}/start").is_success
    found = shown(api, number, others[0])
    assert (found["terms"]["league"], found["terms"]["days"]) == (rules, 30)
    assert [section["stage"] for section in found["sections"]] == [1, 1]
    season = found["season"]
    assert (season["number"], season["stays"]) == (2, True)
    assert season["begins"] > found["updated"]
    first, second = (section["table"] for section in found["sections"])
    assert [line["change"] for line in first] == [0, 0, -1]
    assert [line["change"] for line in second] == [1, 0, 0]
    assert others[0].delete(f"/api/tournaments/{number}/entry").is_success
    found = shown(api, number, others[0])
    assert (found["season"]["stays"], found["entered"]) == (False, False)
    changes = [line["change"] for section in found["sections"] for line in section["table"]]
    assert changes.count(None) == 1
    newcomer = api.player()
    enter(number, newcomer, others[0])
    assert shown(api, number, newcomer)["season"]["stays"] is True
    assert code_of(newcomer.post(f"/api/tournaments/{number}/entry", {})) == "already-entered"


def test_a_volunteer_takes_over_the_place_of_a_player(api: Api) -> None:
    organiser, new, *players = api.players(5)
    number = started(api, organiser, players)
    path = f"/api/tournaments/{number}"
    assert new.post(f"{path}/volunteers").is_success
    assert code_of(new.post(f"{path}/volunteers")) == "already-entered"
    found = shown(api, number, new)
    assert (found["volunteers"], found["volunteered"]) == ([new.name], True)
    taken = {"userid": players[0].name, "substitute": new.name, "text": "Ill."}
    assert code_of(players[1].post(f"{path}/substitutions", taken)) == "not-an-organiser"
    assert organiser.post(f"{path}/substitutions", taken).is_success
    found = shown(api, number, new)
    mine = next(one for one in found["entrants"] if one["userid"] == new.name)
    assert mine["substitute_for"] == players[0].name
    assert (found["volunteers"], found["volunteered"], found["entered"]) == ([], False, True)


def test_directors_are_appointed_and_decide_a_match(api: Api) -> None:
    organiser, director, *players = api.players(5)
    number = started(api, organiser, players)
    board = api.parts.tournaments.matches(number)[0].board
    given = {"board": board, "result": "1-0", "text": "Far ahead."}
    path = f"/api/tournaments/{number}/adjudications"
    assert code_of(director.post(path, given)) == "not-an-organiser"
    appointed = {"userids": [director.name]}
    assert organiser.put(f"/api/tournaments/{number}/directors", appointed).is_success
    assert shown(api, number)["directors"] == [director.name]
    assert director.post(path, given).is_success
    assert shown(api, number)["sections"][0]["pairings"][0]["result"] == "1-0"
