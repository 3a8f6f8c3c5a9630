"""Teams at each way in: what is typed, sent and pressed reaches the use cases, and how teams are shown."""

from domain.errors import Code
from services.app.tournaments import leave_all, visible_state
from tests.fakes.app import PASSWORDS, Terminal
from tests.helpers.api import Api, Player, code_of, until
from tests.helpers.web import door, refusal
from workers.tournament_manager import TournamentManager

ALICE = "alice mad-hatter"
NEW = f"tournament new {ALICE} goliath --teams=2 --days=3 Town against Gown"
TEAMS = {"name": "Town against Gown", "game": "goliath", "form": "teams", "team_size": 2}


def said(terminal: Terminal, line: str) -> str:
    answer = terminal.do(line)
    assert answer.code == "", answer
    return answer.text


def refused(terminal: Terminal, line: str) -> str:
    return terminal.do(line).code


def test_teams_are_typed_from_their_captains_to_their_matches(terminal: Terminal) -> None:
    said(terminal, NEW)
    said(terminal, f"tournament open 1 {ALICE}")
    named = said(terminal, "tournament team 1 bob yes-we-can Bob,carol")
    assert named == "your team in tournament 1: bob, carol; each of them has to enter"
    said(terminal, "signup dave walls-of-jericho")
    passwords = {**PASSWORDS, "dave": "walls-of-jericho"}
    assert refused(terminal, "tournament enter 1 dave walls-of-jericho") == Code.AGAINST_TERMS
    said(terminal, f"tournament team 1 {ALICE} alice,dave")
    for name, captain in (("alice", ""), ("dave", "alice"), ("bob", ""), ("carol", "bob")):
        said(terminal, f"tournament enter 1 {name} {passwords[name]} {captain}")
    assert "bob’s team: bob (has entered), carol (has entered)" in said(terminal, "tournament 1")
    said(terminal, f"tournament start 1 {ALICE}")
    shown = said(terminal, "tournament 1")
    assert "  1  bob’s team 0 (0): bob, carol" in shown
    assert "bob’s team 0 - 0 alice’s team, 2 matches go on" in shown
    assert refused(terminal, "tournament team 1 bob yes-we-can") == Code.NOT_ALLOWED


def test_whom_two_teams_name_says_in_whose_and_a_team_is_dissolved(terminal: Terminal) -> None:
    said(terminal, NEW)
    said(terminal, f"tournament open 1 {ALICE}")
    for name in ("alice", "bob"):
        said(terminal, f"tournament team 1 {name} {PASSWORDS[name]} carol")
    answer = terminal.do(f"tournament enter 1 carol {PASSWORDS['carol']}")
    assert (answer.code, "several teams name you" in answer.text) == (Code.AGAINST_TERMS, True)
    said(terminal, f"tournament enter 1 carol {PASSWORDS['carol']} bob")
    dissolved = said(terminal, "tournament team 1 bob yes-we-can")
    assert dissolved == "your team in tournament 1 is dissolved"
    assert said(terminal, "tournament 1").splitlines()[-1] == "alice’s team: carol"


def test_the_team_of_a_deleted_account_is_dissolved_before_the_start(terminal: Terminal) -> None:
    said(terminal, NEW)
    said(terminal, f"tournament open 1 {ALICE}")
    said(terminal, "tournament team 1 bob yes-we-can bob,carol")
    said(terminal, f"tournament enter 1 carol {PASSWORDS['carol']}")
    app = terminal.app
    leave_all(app, app.accounts.id_of("bob"))
    _ = app.tournaments  # which is up to now
    state = visible_state(app, None, 1)
    assert (state.teams, state.entrants) == ((), ())


def made(organiser: Player) -> str:
    answer = organiser.post("/api/tournaments", TEAMS)
    assert answer.is_success, answer.text
    path = answer.headers["location"]
    assert organiser.post(f"{path}/open").is_success
    return str(path)


def test_programs_name_teams_enter_in_them_and_read_their_table(api: Api) -> None:
    one, two, three, four = (api.player() for _ in range(4))
    path = made(one)
    assert code_of(one.put(f"{path}/team", {"userids": [one.name] * 2})) == "too-many"
    for captain, other in ((one, two), (three, four)):
        assert captain.put(f"{path}/team", {"userids": [captain.name, other.name]}).is_success
        assert captain.post(f"{path}/entry", {}).is_success
        assert other.post(f"{path}/entry", {"captain": captain.name}).is_success
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


def test_a_page_has_the_form_of_captains_the_buttons_of_teams_and_their_table(api: Api) -> None:
    one, two, three, four = (api.player() for _ in range(4))
    path = made(one).removeprefix("/api")
    with door(api) as come:
        guests = {player.name: come(player) for player in (one, two, three, four)}

        def act(player: Player, do: str, **fields: str) -> str:
            answer = guests[player.name].send(f"{path}/act", {"do": do, **fields}, on=path)
            return refusal(answer.text)[1] if answer.status_code != 303 else ""

        assert "Ask a captain to name you" in guests[two.name].page(path)
        assert "no user" in act(one, "team", players="nobody-here")
        for captain, other in ((one, two), (three, four)):
            assert act(captain, "team", players=f"{captain.name}, {other.name}") == ""
            for player in (captain, other):
                assert f'name="userid" value="{captain.name}"' in guests[player.name].page(path)
                assert act(player, "enter", userid=captain.name) == ""
        assert act(one, "start") == ""
        turn(api, int(path.rpartition("/")[2]))
        shown = guests[two.name].page(path)
    assert f"{one.name}’s team" in shown
    assert "Match points" in shown
    assert "Change your team" not in shown


def turn(api: Api, number: int) -> None:
    """Have the manager start the matches."""
    parts = api.parts
    api.caught_up()
    TournamentManager(parts.store, parts.lanes, parts.data).tick()
    until(lambda: len(parts.tournaments.matches(number)) == 2)


def test_a_tournament_for_players_with_finished_matches_refuses_newcomers(api: Api) -> None:
    old, new = api.player(), api.player()
    board = api.begun(old, new)
    assert old.move(board, "m13-j7").is_success
    assert new.move(board, "a13-c11").is_success
    assert new.give(board, {"do": "resign"}).is_success
    api.caught_up()
    plan = {"name": "For regulars", "game": "pow2", "section": 3, "least_finished": 1}
    path = old.post("/api/tournaments", plan).headers["location"]
    assert old.post(f"{path}/open").is_success
    newcomer = api.player().post(f"{path}/entry", {})
    assert code_of(newcomer) == "against-terms"
    assert "at least 1 matches; so far 0 count" in newcomer.json()["detail"]
    assert old.post(f"{path}/entry", {}).is_success
    assert code_of(old.post("/api/tournaments", {**plan, "least_finished": 1001})) == "bad-option"
