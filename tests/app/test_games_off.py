"""Games that an operator has switched off: every way to a new match is closed, and what was agreed to goes on."""

from collections.abc import Callable, Iterator

import pytest

from domain.errors import Code, Refusal
from infra.people.accounts import AccountRole, create_robot_accounts
from infra.people.acts import Act
from infra.people.clubs import ClubRole
from infra.redis import keys
from services.app.acts import TERMINAL, acts_of
from services.app.clubs import ClubChanges, change_club, found_club
from services.app.context import App
from services.app.games_off import SwitchedGame, keys_on, switch_games, switched_games
from services.cli import games
from services.language import Language
from tests.helpers.api import PASSWORD, Api, Player, code_of, until
from tests.helpers.subcommands import exit_code
from tests.helpers.web import Guest
from tests.services.test_api_tournaments import CUP, enter, made, turn

OFF = ("goliath", "one")
"""A game and a puzzle."""

GOES_ON = "is switched off on this server; matches and tournaments that have begun go on"
SAID = f"David and Goliath {GOES_ON}"


SETTINGS = {"robots": 1}


def prepare(api: Api) -> None:
    api.parts.admissions.change({"clubs": "members"})
    create_robot_accounts(api.parts.people, api.parts.accounts.macs)


@pytest.fixture
def switch(api: Api) -> Iterator[Callable[[], None]]:
    """What switches the games off; they are on again at the end."""
    yield lambda: switch_games(api.parts, OFF, ())
    switch_games(api.parts, (), api.parts.games_off.now())


def offered(player: Player, **more: object) -> str:
    """The id of an open challenge of a player."""
    answer = player.post("/api/challenges", {"game": "goliath", **more})
    assert answer.is_success, answer.text
    return str(answer.json()["id"])


def test_no_way_in_begins_a_match_of_a_game_that_is_off(api, everywhere, switch):
    one, other = everywhere.player(), everywhere.player()
    robot = one.get("/api/robots").json()["robots"][0]["userid"]
    club = found_club(api.parts, one.account, "Slingers")
    api.parts.clubs.put_member(club, other.account, ClubRole.MEMBER)
    change_club(api.parts, one.account, club.path, ClubChanges(pairs_members=True))
    switch()
    start = {"game": "GOLIATH", "players": [one.name, other.name]}
    line = f"goliath challenge {one.name} {other.name} --password={PASSWORD}"
    batch = {
        "club": club.path,
        "game": "goliath",
        "pairings": [{"players": [one.name, other.name]}],
    }
    answers = [
        everywhere.http(one.post("/api/matches", start)),
        everywhere.http(one.post("/api/matches", {**start, "players": [one.name, robot]})),
        everywhere.http(one.post("/api/challenges", {"game": "goliath"})),
        everywhere.http(one.post("/api/tournaments", CUP)),
        everywhere.page(one, "/robots", {"play": "goliath easy"}),
        everywhere.page(one, "/new", {"game": "goliath", "against": "anybody"}),
        everywhere.page(one, "/tournaments/new", {"game": "goliath", "name": "Cup"}),
        everywhere.page(one, "/puzzles/one", {"line": "a9", "options": ""}),
        everywhere.say(line),
        everywhere.mail(one, line),
    ]
    assert [answer.code for answer in answers] == ["game-off"] * len(answers)
    assert {answer.sentence.rstrip(".") for answer in answers} == {SAID, f"One by One {GOES_ON}"}
    paired = one.post("/api/pairings", batch)
    assert (paired.status_code, paired.text.count(SAID)) == (200, 1), paired.text
    german = everywhere.player("de")
    assert (
        "ist auf diesem Server ausgeschaltet"
        in everywhere.guest(german).get("/new?game=goliath").text
    )
    assert one.post(
        "/api/matches", {"game": "torere", "players": [one.name, other.name]}
    ).is_success


def test_what_was_agreed_to_goes_on(api, everywhere, switch):
    one, other = everywhere.player(), everywhere.player()
    body = {"game": "goliath", "players": [one.name, other.name]}
    key = {"headers": {"Idempotency-Key": "before"}}
    first = api.http.post("/api/matches", json=body, headers=one.headers | key["headers"])
    board = first.json()["board"]
    over, again = api.begun(one, other, game="goliath"), api.begun(one, other, game="goliath")
    for ended in (over, again):
        assert other.give(ended, {"do": "resign"}).is_success
    begun = one.post(f"/api/matches/{again}/rematch", {})
    button = f'action="/m/{over}/rematch"'
    assert button in everywhere.guest(one).get(f"/m/{over}").text
    switch()
    assert button not in everywhere.guest(one).get(f"/m/{over}").text
    repeated = api.http.post("/api/matches", json=body, headers=one.headers | key["headers"])
    assert repeated.json()["board"] == board
    assert other.give(board, {"do": "accept"}).is_success
    assert one.give(board, {"do": "resign"}).is_success
    refused = one.post(f"/api/matches/{over}/rematch", {})
    assert (code_of(refused), refused.json()["detail"]) == ("game-off", SAID)
    assert other.post(f"/api/matches/{again}/rematch", {}).json()["board"] == begun.json()["board"]


def test_an_open_challenge_waits_until_its_game_is_on_again(api, everywhere, switch):
    one, other, third = everywhere.player(), everywhere.player(), everywhere.player()
    challenge, level = offered(one), {"level": "easy"}
    switch()
    path = f"/api/challenges/{challenge}"
    assert code_of(other.post(f"{path}/accept", {})) == "game-off"
    assert code_of(one.post(f"{path}/robot", level)) == "game-off"
    with Guest(api) as stranger:
        assert challenge not in stranger.page("/")
    page = everywhere.guest(third).page(f"/c/{challenge}")
    assert "switched off on this server" in page
    assert f"/challenges/{challenge}/take" not in page + everywhere.guest(third).page("/challenges")
    switch_games(api.parts, (), OFF)
    assert other.post(f"{path}/accept", {}).json()["board"]


def test_a_tournament_that_is_open_goes_on_and_a_draft_is_not_opened(api, switch):
    organiser, *players = api.players(4)
    number = made(organiser)
    draft = organiser.post("/api/tournaments", CUP).json()["board"]
    enter(number, players[0])
    switch()
    assert code_of(organiser.post(f"/api/tournaments/{draft}/open")) == "game-off"
    enter(number, *players[1:])
    assert organiser.post(f"/api/tournaments/{number}/start").is_success
    turn(api)
    until(lambda: len(api.parts.tournaments.matches(number)) == 3)
    switch_games(api.parts, (), OFF)
    assert organiser.post(f"/api/tournaments/{draft}/open").is_success


def test_lists_leave_it_out_and_its_own_page_stays(api, everywhere, switch):
    player = everywhere.player()
    guest = everywhere.guest(player)
    links = {"/": "/new?game=goliath", "/games": "/games/goliath", "/puzzles": "/puzzles/one",
             "/new": "David and Goliath", "/tournaments/new": "David and Goliath",
             "/challenges": "?game=goliath"}  # fmt: skip
    assert [path for path, link in links.items() if link not in guest.page(path)] == []
    assert "goliath:" in Language(api.parts).do("games").page
    switch()
    assert [path for path, link in links.items() if link in guest.page(path)] == []
    assert "goliath:" not in Language(api.parts).do("games").page
    assert "goliath" not in api.http.get("/api/robots").json()["games"]
    listed = {game["key"]: game["off"] for game in api.http.get("/api/games").json()}
    assert sorted(key for key, off in listed.items() if off) == sorted(OFF)
    assert api.http.get("/api/games/goliath").json()["off"]
    page = guest.page("/games/goliath")
    assert "switched off on this server" in page
    assert "/new?game=goliath" not in page
    assert "goliath easy" not in page
    assert guest.get("/ratings/goliath").is_success


def test_with_all_games_off_pages_answer_and_offer_nothing(api, everywhere, switch):
    switch()
    guest = everywhere.guest(everywhere.player())
    switch_games(api.parts, keys_on(api.parts), ())
    for path in ("/", "/games", "/puzzles", "/challenges"):
        assert guest.get(path).is_success
    assert guest.get("/new").status_code == 403
    with Guest(api) as stranger:
        assert stranger.get("/").is_success
    assert api.http.get("/api/robots").json()["games"] == []
    assert "no robots" in Language(api.parts).do("robots").page


def test_another_process_sees_it_when_the_change_is_made(api, switch):
    with App(api.settings) as second:
        assert "goliath" in keys_on(second)
        switch()
        assert set(keys_on(second)).isdisjoint(OFF)


def test_a_game_that_is_not_installed_any_more_can_be_switched_on(api, switch):
    switch()
    api.parts.data.sadd(keys.GAMES_OFF, "gone")
    gone = SwitchedGame("gone", "gone", off=True, installed=False)
    assert gone in switched_games(api.parts)
    assert api.http.get("/api/games").is_success
    assert code_of(api.player().post("/api/challenges", {"game": "gone"})) == "unknown-game"
    switch_games(api.parts, (), ["gone"])
    assert gone not in switched_games(api.parts)
    with pytest.raises(Refusal) as refused:
        switch_games(api.parts, (), ["gone"])
    assert refused.value.code is Code.UNKNOWN_GAME


@pytest.mark.usefixtures("switch")
def test_only_an_operator_switches_and_each_change_is_recorded(api, everywhere, capsys):
    player = everywhere.player()
    assert everywhere.page(player, "/admin/games", {"off": "goliath"}).code == "not-an-operator"
    moderator = everywhere.player()
    api.parts.accounts.set_role(moderator.name, AccountRole.MODERATOR, held=True)
    path = "/api/admin/games"
    assert code_of(moderator.patch(path, {"off": ["goliath"]})) == "not-an-operator"
    api.parts.accounts.set_role(player.name, AccountRole.OPERATOR, held=True)
    before = acts_of(api.parts, TERMINAL)
    for body in ({"off": ["goliath", "nothing"]}, {"off": ["goliath"], "on": ["goliath"]}):
        assert code_of(player.patch(path, body)) in ("unknown-game", "bad-option")
    assert player.patch(path, {"on": ["goliath"]}).is_success
    assert acts_of(api.parts, TERMINAL) == before
    assert everywhere.page(player, "/admin/games", {"off": "goliath"}).code == ""
    assert "Switch David and Goliath on" in everywhere.guest(player).page("/admin/games")
    changed = player.patch(path, {"off": ["one"], "on": ["goliath"]}).json()
    assert [game["key"] for game in changed if game["off"]] == ["one"]
    assert exit_code(games.run, ["GOLIATH"], ["one"], api.settings) == 0
    assert ["goliath", "off", "David", "and", "Goliath"] in map(
        str.split, capsys.readouterr().out.splitlines()
    )
    assert exit_code(games.run, ["nothing"], None, api.settings) == 1
    acts = acts_of(api.parts, TERMINAL)[:3]
    assert {act.act for act in acts} == {Act.GAMES_SWITCHED}
    assert [act.what for act in acts] == [
        "goliath off, one on",
        "one off, goliath on",
        "goliath off",
    ]
    assert [act.by for act in acts] == [TERMINAL, player.account, player.account]
