"""Tournaments, pairings, open challenges and draws over HTTP: what a program sends and reads, and the script of docs/api.md."""

import os
import re
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from domain.clocks.time_control import DAY
from infra.audit.stored_match import check
from infra.people.clubs import ClubAudience, ClubRole
from services.app.clubs import ClubChanges, change_club
from tests.helpers.api import PASSWORD, Api, Player, code_of, until
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


def started(api: Api, organiser: Player, players: list[Player], **more: Any) -> int:
    """The number of a tournament whose matches have begun."""
    number = made(organiser, **more)
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


def test_a_tournament_is_made_once_for_a_key_with_location_and_receipt_of_its_own_number(api):
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


def test_tables_pairings_boards_and_results_are_shown_and_a_match_names_its_tournament(api):
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


def club_of(api: Api, organiser: Player, members: list[Player]) -> str:
    """The path of a club whose organiser may pair its members."""
    clubs = api.parts.clubs
    club = clubs.found(f"Club {organiser.name}", organiser.account)
    clubs.change(replace(club, pairs_members=True))
    for one in members:
        clubs.put_member(club, one.account, ClubRole.MEMBER)
    return club.path


def batch(path: str, *pairs: tuple[Player, Player], **more: Any) -> dict[str, Any]:
    pairings = [
        {"players": [first.name, second.name], "label": f"board {n}"}
        for n, (first, second) in enumerate(pairs, 1)
    ]
    return {"club": path, "game": "goliath", "terms": ["--days=3"], "pairings": pairings} | more


def keyed(key: str) -> dict[str, str]:
    return {"Idempotency-Key": key}


def test_a_batch_is_charged_by_its_matches_and_a_repetition_is_not(tmp_path_factory):
    with Api(tmp_path_factory.mktemp("rate"), command_rate=8) as api:
        organiser, a, b = api.players(3)
        path = club_of(api, organiser, [a, b])
        body = batch(path, *[(a, b)] * 6)
        first, again = (organiser.post("/api/pairings", body, headers=keyed("one")) for _ in "12")
        assert first.is_success
        assert again.json() == first.json()
        answer = organiser.post("/api/pairings", body, headers=keyed("two"))
        assert code_of(answer) == "too-fast"
        assert code_of(organiser.get("/api/pairings/two")) == "not-found"


def test_the_script_of_the_page_pairs_a_table_and_prints_results(api, tmp_path):
    page = Path(__file__).parents[2] / "docs" / "api.md"
    (script,) = re.findall(r"```python\n(import csv.*?)```", page.read_text(), re.DOTALL)
    assert len(script.splitlines()) <= 30
    organiser, a, b, c = api.players(4)
    path = club_of(api, organiser, [a, b, c])
    table = tmp_path / "round3.csv"

    def run(key: str) -> subprocess.CompletedProcess[str]:
        words = (f"{api.url}/api", organiser.token, path, key, str(table))
        environ = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
        command = [sys.executable, "-c", script, *words]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=60, env=environ, check=False
        )

    pairs = f'"Round 3, board 1",{a.name},{b.name}\nB2,{c.name},{a.name}'
    table.write_text(f"label,first,second\n{pairs}\n")
    ran = run("round 3")
    assert ran.returncode == 0, ran.stderr
    lines = [line.split("\t") for line in ran.stdout.splitlines()]
    found = [(line[0], line[2]) for line in lines]
    assert found == [("Round 3, board 1", "active"), ("B2", "active")]
    a.give(int(lines[0][1]), {"do": "resign"})
    ran = run("round 3")
    assert ran.stdout.splitlines()[0] == f"Round 3, board 1\t{lines[0][1]}\tover\t{b.name}"
    table.write_text(f"label,first,second\nB1,{a.name},nobody-here\n")
    ran = run("round 4")
    said = "B1: there is no user 'nobody-here'; check the spelling\n"
    assert (ran.returncode, ran.stderr) == (1, said)
    assert code_of(a.get("/api/pairings/round 3")) == "not-found"


def test_a_swiss_tournament_has_its_terms_byes_and_a_report(api: Api) -> None:
    players = api.players(3)
    number = made(players[0], form="swiss", rounds=2, days=9, starts=0, double=True)
    enter(number, *players)
    terms = shown(api, number)["terms"]
    told = {"form": "swiss", "rounds": 2, "days": 9, "cycles": 1}
    assert {**terms, **told} == terms
    assert terms["tiebreaks"] == ["buchholz", "sonneborn-berger", "wins"]
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


def test_the_events_of_a_tournament_are_read_and_streamed_like_those_of_a_match(api: Api) -> None:
    alice, bob = api.player(), api.player()
    number = made(alice)
    path = f"/api/tournaments/{number}/events"
    with api.stream(path) as told:
        assert [next(told).event for _ in range(2)] == ["tournament-drafted", "entry-opened"]
        enter(number, bob)
        assert alice.post(f"/api/tournaments/{number}/cancel").is_success
        rest = [one for one in told if not one.comment]  # it ends by itself
    assert [one.event for one in rest] == ["entered", "tournament-cancelled"]
    whole = api.http.get(path).json()
    assert [one.data for one in rest] == whole[2:]
    assert whole[0]["body"]["terms"]["section"] == 3
    first = api.http.get(f"{path}?limit=3")
    assert first.links["next"]["url"].startswith(path)
    assert [*first.json(), *api.http.get(first.links["next"]["url"]).json()] == whole
    over = api.http.get(path, headers={"Accept": "text/event-stream", "Last-Event-ID": "4"})
    assert over.status_code == 204
    late = api.http.get(path, headers={"Accept": "text/event-stream", "Last-Event-ID": "5"})
    assert (code_of(late), "tournament" in late.json()["detail"]) == ("beyond-end", True)
    assert code_of(api.http.get(f"/api/matches/{number}/events")) == "unknown-board"


def test_the_events_of_a_draft_and_of_a_closed_club_are_for_those_who_see_it(api: Api) -> None:
    owner, member, other = api.player(), api.player(), api.player()
    draft = owner.post("/api/tournaments", CUP).json()["board"]
    club = api.parts.clubs.found("Closed", owner.account)
    change_club(api.parts, owner.account, club.path, ClubChanges(visible_to=ClubAudience.CLUB))
    api.parts.clubs.put_member(club, member.account, ClubRole.MEMBER)
    number = made(owner, club=club.path)

    def seen(of: int, player: Player) -> int:
        there = f"/api/tournaments/{of}/events"
        return int(api.http.get(there, headers=player.headers).status_code)

    assert [seen(draft, one) for one in (owner, other)] == [200, 404]
    assert [seen(number, one) for one in (owner, member, other)] == [200, 200, 404]
    path = f"/api/tournaments/{number}/events"
    with api.stream(path, member) as told:
        assert [next(told).event for _ in range(2)] == ["tournament-drafted", "entry-opened"]
        api.parts.clubs.remove_member(club, member.account)
        enter(number, owner)
        assert [one for one in told if not one.comment] == []  # what comes later is not for them


def test_a_ladder_has_no_substitutes(api: Api) -> None:
    organiser, *players = api.players(3)
    number = made(organiser, form="ladder")
    enter(number, *players)
    assert organiser.post(f"/api/tournaments/{number}/start").is_success
    refused = organiser.post(f"/api/tournaments/{number}/volunteers")
    assert (refused.status_code, code_of(refused)) == (405, "not-allowed")


# open challenges, and draws: players commit, then reveal


FAST = {"game": "pow2", "options": ["fast"], "terms": ["--unrated", "--days=3"], "seat": 0}
TEXTS = (b"a text of 32 bytes, of the first.", b"a text of 32 bytes, of the other.")
DIGESTS = tuple(sha256(text).hexdigest() for text in TEXTS)
SEALED = {"terms": ["--gather"], "commitment": DIGESTS[0]}


def opened(player: Player, **more) -> dict:
    answer = player.post("/api/challenges", {**FAST, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


def accept(player: Player, challenge: dict, **options):
    return player.post(f"/api/challenges/{challenge['id']}/accept", **options)


def listed(api: Api, query: str = "") -> list[str]:
    return [one["id"] for one in api.http.get(f"/api/challenges{query}").json()["challenges"]]


def test_a_challenge_is_listed_until_it_is_taken_and_starts_the_match_then(api):
    one, other = api.players()
    made = opened(one, note="beginners welcome")
    assert made["id"] in listed(api)
    assert made["id"] in listed(api, "?game=pow2")
    assert made["id"] not in listed(api, "?game=line")
    assert (made["options"], made["terms"]) == (["-fast"], ["--days=3", "--unrated"])
    assert (made["note"], made["players"], made["missing"]) == ("beginners welcome", [one.name], 1)
    with api.stream("/api/account/events", one) as told:
        taken = accept(other, made).json()
        assert next(one for one in told if not one.comment).data["board"] == taken["board"]
    assert (taken["state"], taken["players"]) == ("started", [one.name, other.name])
    match = api.http.get(f"/api/matches/{taken['board']}").json()
    assert [player["userid"] for player in match["players"]] == [one.name, other.name]
    assert (match["options"], match["clock"]["rated"]) == (["-fast"], False)
    assert made["id"] not in listed(api)
    for again in (api.http.get(f"/api/challenges/{made['id']}"), accept(other, made)):
        assert again.json() == taken
    late = one.delete(f"/api/challenges/{made['id']}")
    assert (late.status_code, code_of(late)) == (409, "already-started")


def test_to_open_it_again_with_its_key_is_safe(api):
    one, other = api.players()
    body = {**FAST, **SEALED, "game": "powerdrain", "options": []}
    key = {"Idempotency-Key": "again"}
    first = one.post("/api/challenges", body, headers=key)
    assert one.post("/api/challenges", body, headers=key).json() == first.json()
    for change in ({"seat": 1}, {"commitment": DIGESTS[1]}):
        changed = one.post("/api/challenges", {**body, **change}, headers=key)
        assert (changed.status_code, code_of(changed)) == (409, "id-reused")
    assert other.post("/api/challenges", body, headers=key).json()["id"] != first.json()["id"]


def called(one: Player, other: Player, **more) -> int:
    body = {"game": "powerdrain", "players": [one.name, other.name], "terms": ["--gather"]}
    made = one.post("/api/matches", {**body, **more})
    assert made.status_code == 201, made.text
    return int(made.json()["board"])


def sealed(one: Player, other: Player) -> int:
    board = called(one, other, commitment=DIGESTS[0])
    assert other.give(board, {"do": "accept", "commitment": DIGESTS[1]}).is_success
    return board


def match_of(api: Api, board: int) -> dict[str, Any]:
    return dict(api.http.get(f"/api/matches/{board}").json())


def types(api: Api, board: int) -> list[str]:
    return [event["type"] for event in api.http.get(f"/api/matches/{board}/events").json()]


def reveal(api: Api, board: int, text: bytes):
    return api.http.post(f"/api/matches/{board}/reveal", json={"text": text.hex()})


def test_a_match_and_its_stream_tell_the_phases_who_has_come_how_far_and_until_when(api):
    one, other = api.players()
    board = called(one, other, commitment=DIGESTS[0])
    found = match_of(api, board)
    assert (found["state"], found["waits_for"]) == ("waiting", [1])
    assert found["draw"]["phase"] == "commit"
    assert found["draw"]["commitments"] == [DIGESTS[0], ""]
    assert found["draw"]["deadline"] - found["updated"] == 14 * DAY
    with api.stream(f"/api/matches/{board}/events") as told:
        assert code_of(reveal(api, board, TEXTS[0])) == "too-early"
        other.give(board, {"do": "accept", "commitment": DIGESTS[1]})
        found = match_of(api, board)
        assert (found["state"], found["waits_for"]) == ("waiting", [0, 1])
        assert (found["draw"]["phase"], found["draw"]["revealed"]) == ("reveal", [])
        for body in ({"lines": [["24-57"]]}, {"move": "24-57"}):
            place = "replies" if "lines" in body else "draft"
            assert code_of(one.put(f"/api/matches/{board}/{place}", body)) == "not-started"
        before = api.parts.store.watermark().ends
        assert code_of(reveal(api, board, bytes(64))) == "wrong-text"
        assert api.parts.store.watermark().ends == before  # it left no trace
        for text in ("0", "xx", "00" * 65, ""):
            answer = api.http.post(f"/api/matches/{board}/reveal", json={"text": text})
            assert code_of(answer) == "bad-request"
        assert reveal(api, board, TEXTS[1]).is_success
        assert match_of(api, board)["draw"]["revealed"] == [1]
        assert one.give(board, {"do": "reveal", "text": TEXTS[0].hex()}).is_success
        events = ["deal-proposed", "committed", "sealed", "revealed", "revealed", "match-started"]
        assert [next(told).event for _ in events] == types(api, board) == events
    found = match_of(api, board)
    assert (found["state"], found["draw"]) == ("active", None)
    assert code_of(reveal(api, board, TEXTS[1])) == "too-late"
    assert "all players had committed" in check(api.parts.store, board)


def test_who_gives_the_seat_back_takes_the_commitment_away(api):
    one, two, three = api.players(3)
    body = {"game": "halves", "seats": 3, "seat": 0, **SEALED}
    made = one.post("/api/challenges", body).json()["id"]
    two.post(f"/api/challenges/{made}/accept?commitment={DIGESTS[1]}")
    two.delete(f"/api/challenges/{made}")
    record = api.parts.challenges.get(made)
    assert record.commitments == ((one.account, bytes.fromhex(DIGESTS[0])),)
    three.post(f"/api/challenges/{made}/accept?commitment={DIGESTS[1]}")
    assert dict(api.parts.challenges.get(made).commitments).keys() == {one.account, three.account}


def test_an_account_that_is_deleted_while_players_commit_or_reveal_leaves_a_match_that_holds(api):
    one, other = api.players()
    boards = [called(one, other, commitment=DIGESTS[0]), sealed(one, other)]
    assert other.post("/api/account/deletion", {"password": PASSWORD}).is_success
    for board in boards:
        assert match_of(api, board)["players"][1]["userid"] is None
    # a text that another program of theirs still has starts a match like one left in the middle
    reveal(api, boards[1], TEXTS[0])
    assert one.give(boards[0], {"do": "decline"}).is_success
    for board in boards:
        assert "holds" in check(api.parts.store, board)


def test_what_can_not_be_played_is_not_offered(api):
    one = api.player()
    for change, status, code in (
        ({"game": "chess"}, 404, "unknown-game"),
        ({"options": ["-slow"]}, 422, "unknown-option"),
        ({"options": ["fast", "fast"]}, 422, "bad-option"),
        ({"terms": ["--hurry"]}, 422, "unknown-option"),
        ({"terms": ["--entropy=word"]}, 422, "bad-option"),
        ({"commitment": DIGESTS[0]}, 422, "bad-option"),
        ({"seats": 3}, 422, "bad-players"),
        ({"seats": 9}, 400, "bad-request"),
        ({"seat": 2}, 422, "bad-players"),
        ({"game": "one", "options": [], "terms": []}, 422, "bad-players"),
        ({"note": "x" * 201}, 413, "too-long"),
        ({"note": "two\nlines"}, 400, "bad-request"),
        ({"players": ["bob"]}, 400, "bad-request"),
    ):
        refused = one.post("/api/challenges", {**FAST, **change})
        assert (refused.status_code, code_of(refused)) == (status, code), change
    for name in ("aaaaaaaaaa", "0123456789", "%00", "ä"):
        path = f"/api/challenges/{name}"
        for refused in (api.http.get(path), one.post(f"{path}/accept"), one.delete(path)):
            assert (refused.status_code, code_of(refused)) == (404, "unknown-challenge")
