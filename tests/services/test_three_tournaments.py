"""Groups of three at each way in: what is typed, sent and pressed reaches the use cases, and how they are shown."""

from domain.errors import Code
from services.app.tournaments import plan_like, visible_state
from tests.fakes.app import PASSWORDS, Terminal
from tests.helpers.api import Api, code_of, until
from tests.helpers.web import door, refusal
from workers.tournament_manager import TournamentManager

PLAN = {"name": "Three", "game": "halves", "form": "threes", "rounds": 4, "place_points": [3, 1, 0]}
FORM = {
    "name": "Three",
    "game": "halves",
    "time": "3",
    "form": "threes",
    "start": "organiser",
    "threes-rounds": "9",
    "first-points": "5",
    "second-points": "2",
    "third-points": "0",
}


def test_a_tournament_is_typed_to_its_table(terminal: Terminal) -> None:
    def said(line: str) -> str:
        answer = terminal.do(line)
        assert answer.code == "", answer
        return answer.text

    new = "tournament new alice mad-hatter {} --threes={} Three"
    for game, numbers in (("goliath", "3"), ("halves", "10"), ("halves", "3,1"), ("halves", "x")):
        assert terminal.do(new.format(game, numbers)).code == Code.BAD_OPTION
    said(new.format("halves", "2,3,1,0"))
    said("tournament open 1 alice mad-hatter")
    for name in ("alice", "bob", "carol"):
        said(f"tournament enter 1 {name} {PASSWORDS[name]}")
    said("tournament start 1 alice mad-hatter")
    shown = said("tournament 1")
    assert "groups of three: 2 rounds, whose matches all begin together" in shown
    assert "points: 3 for first place, 1 for second, 0 for third" in shown
    assert "  1  alice     0 .  .\n" in shown
    answer = terminal.do("tournament decide 1 alice mad-hatter 2 1-0 Late.")
    assert answer.code == Code.UNKNOWN_BOARD


def turn(api: Api) -> bool:
    """Have the manager act, and return whether no tournament waits for it."""
    api.caught_up()
    TournamentManager(api.parts.store, api.parts.lanes, api.parts.data).tick()
    return not api.parts.tournaments.waiting(9)


def test_programs_and_pages_show_a_leaver_whose_one_match_goes_on_without(api: Api) -> None:
    host, *players = (api.player() for _ in range(5))
    path = host.post("/api/tournaments", PLAN).headers["location"]
    number, page = int(path.rpartition("/")[2]), path.removeprefix("/api")
    host.post(f"{path}/open")
    for player in players:
        assert player.post(f"{path}/entry", {}).is_success
    assert host.post(f"{path}/start").is_success
    until(lambda: turn(api) and len(api.parts.tournaments.matches(number)) == 4)
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
    until(lambda: turn(api))
    wrong = {"board": board, "result": "1-0", "text": "Late."}
    assert code_of(host.post(f"{path}/adjudications", wrong)) == "bad-request"
    with door(api) as come:
        guest = come(host)
        given = {"do": "adjudicate", "board": str(board), "result": "1-2-2", "why": "Late."}
        assert "the first and the third share first place" in guest.page(f"{page}/director")
        answer = guest.send(f"{page}/director", given, on=f"{page}/director")
        assert answer.status_code == 303, refusal(answer.text)
        until(lambda: turn(api))
        assert "place 1, shared, against" in guest.page(page)
        assert "the place in the match, with = if it is shared" in guest.page(f"{page}/embed")
        placed = [players[first[seat]].name for seat in ("first", "second", "third")]
        assert "1. {}, 2. {}, 3. {}<".format(*placed) in guest.page(f"{page}/feed")
    (section,) = host.get(path).json()["sections"]
    assert section["pairings"][0]["result"] == "1-2-3"  # the match knows who had resigned
    line = next(one for one in section["table"] if one["player"] == first["third"])
    assert (line["points"], line["withdrawn"], line["left"]) == (1.0, True, 0)


def test_the_form_makes_one_and_another_like_it(api: Api) -> None:
    host = api.player()
    with door(api) as come:
        guest = come(host)
        made = guest.send("/tournaments/new", FORM, on="/tournaments/new")
        assert made.status_code == 303, refusal(made.text)
        like = plan_like(api.parts, host.account, int(made.headers["location"].rpartition("/")[2]))
        assert like.matches == 1
        assert (like.rounds, like.place_points, like.double) == (9, (5, 2, 0), False)
        other = guest.page(f"/tournaments/new?like={made.headers['location'].rpartition('/')[2]}")
        assert 'name="threes-rounds" inputmode="numeric" class="short" value="9"' in other
        bad = guest.send("/tournaments/new", {**FORM, "threes-rounds": "10"}, on="/tournaments/new")
        assert "Enter a number from 1 to 9" in bad.text
