"""Tournaments over HTTP: what a program sends, and what it is answered."""

from typing import Any

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
