"""Robots and rematches on the pages."""

import html
import re
from collections.abc import Iterator

import pytest

from infra.people.account_macs import AccountMacs
from infra.people.accounts import create_robot_accounts
from tests.helpers.api import MANY, Api
from tests.helpers.web import Guest


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("api")) as api:
        create_robot_accounts(api.parts.data, AccountMacs())
        yield api


@pytest.fixture
def guest(api: Api) -> Iterator[Guest]:
    """Somebody who has logged in."""
    with Guest(api) as guest:
        guest.log_in(api.player().name)
        yield guest


def board_of(answer) -> int:
    assert answer.status_code == 303, answer.text
    found = re.fullmatch(r"/m/(\d+)", answer.headers["location"])
    assert found, answer.headers["location"]
    return int(found[1])


def shown(api: Api, board: int) -> dict:
    return api.http.get(f"/api/matches/{board}").json()


def test_one_click_on_the_home_page_starts_a_match_with_a_robot(api, guest):
    home = guest.page("/")
    assert 'name="play" value="pow2 easy"' in home
    assert 'name="play" value="halves hard"' in home
    assert 'value="one ' not in home
    board = board_of(guest.send("/robots", {"play": "pow2 medium"}, on="/"))
    match = shown(api, board)
    assert {seat["robot"] for seat in match["players"]} == {None, "medium"}
    assert match["clock"]["rated"] is False
    assert '<span class="tag">robot</span>' in guest.page(f"/m/{board}")


def test_a_form_that_is_sent_twice_starts_one_match(guest):
    fields = {"play": "line hard", "key": "a" * 32}
    one, other = (guest.send("/robots", fields) for _ in range(2))
    assert board_of(one) == board_of(other)
    assert board_of(guest.send("/robots", {**fields, "play": "line easy"})) != board_of(one)


def test_each_seat_is_a_robots_now_and_then(api, guest):
    seats = set()
    for _ in range(15):
        board = board_of(guest.send("/robots", {"play": "pow2 easy"}))
        seats |= {one["seat"] for one in shown(api, board)["players"] if one["robot"]}
    assert seats == {0, 1}


def test_a_form_without_a_robot_is_refused(guest):
    assert guest.send("/robots", {"play": "pow2"}).status_code == 400
    assert guest.send("/robots", {"play": "chess easy"}).status_code == 404


def test_a_match_with_a_robot_counts_for_the_rate_of_the_account(api, guest, monkeypatch):
    monkeypatch.setattr(api.parts.pace, "_timer", lambda: 0.0)  # nothing comes back
    api.parts.pace.check(api.parts.accounts.id_of(guest.name), weight=MANY)
    assert guest.send("/robots", {"play": "pow2 easy"}).status_code == 429


def test_a_guest_signs_up_first_and_finds_the_match_chosen(api):
    with Guest(api) as guest:
        answer = guest.send("/robots", {"play": "torere hard"}, on="/")
        assert answer.status_code == 303
        signup = answer.headers["location"]
        assert signup.startswith("/signup?next=")
        page = guest.page(signup)
        wanted = re.search(r'name="next" value="([^"]+)"', page)[1].replace("&amp;", "&")
        answer = guest.send(
            "/signup", {"userid": "newcomer", "password": "yes-we-can", "next": wanted}, on=signup
        )
        assert answer.headers["location"] == "/new?game=torere&opponent=robot-hard"
        form = guest.page(answer.headers["location"])
        assert 'name="robot" value="robot-hard" checked' in form
        fields = {"game": "torere", "opponent": ["", "robot-hard"]}
        board = board_of(guest.send("/new", fields, on=answer.headers["location"]))
        assert shown(api, board)["clock"]["rated"] is False


def test_a_tried_game_leads_a_guest_to_a_match_with_a_robot_and_the_same_options(api):
    with Guest(api) as guest:
        tried = "/games/halves/try?against=robot&options=-tiles_each%3D5&seed=feed"
        signup = re.search(r"href=\"(/signup[^\"]+)\">Sign up to play a robot<", guest.page(tried))
        assert signup
        page = guest.page(html.unescape(signup[1]))
        wanted = html.unescape(re.search(r'name="next" value="([^"]+)"', page)[1])
        fields = {"userid": "tryer", "password": "yes-we-can", "next": wanted}
        where = guest.send("/signup", fields, on=html.unescape(signup[1])).headers["location"]
        form = guest.page(where)
        assert re.search(r'<input[^>]*name="game"[^>]*value="halves"[^>]*checked', form)
        assert 'name="robot" value="robot-easy" checked' in form
        assert re.search(r'name="halves-number-0"[^>]*value="5"', form)


def test_two_robots_of_one_strength_are_a_mistake_beside_the_second_and_nothing_is_promised(guest):
    fields = {
        "game": "halves",
        "against": "robot",
        "robot": "robot-easy",
        "halves-robot": "robot-easy",
    }
    answer = guest.send("/new", fields | {"halves-seat": "2"}, on="/new")
    assert answer.status_code == 422
    said = "The same robot can’t play twice in one match; choose another strength."
    field = re.search(r'<select name="halves-robot"[^>]*>', answer.text)[0]
    assert field.endswith('aria-invalid="true" aria-describedby="wrong-halves-robot" autofocus>')
    assert f'<p class="mistake" id="wrong-halves-robot">{said}</p>' in answer.text
    offer = re.search(r'<div id="offer".*?</div>', answer.text, re.DOTALL)[0]
    assert said in offer
    assert "against" not in offer
    # a field that only another way to find opponents shows has no mistake
    assert guest.send("/new", fields | {"halves-robot": "", "note": "x" * 201}).status_code == 303


def test_sides_of_halves_are_named_by_their_colour(guest):
    form = guest.page("/new?game=halves")
    sides = re.findall(r'name="halves-seat" value="\d"><span>(.*?)</span>', form)
    assert sides == ["Light", "Dark", "Teal"]
    found = guest.get("/new/offer", params={"game": "halves", "halves-seat": "1"}).text
    assert "You’re playing Dark." in html.unescape(found)
    found = guest.get("/new/offer", params={"game": "halves", "halves-seat": "2"}).text
    assert "Teal" not in found


def test_options_in_an_address_that_no_game_has_are_refused(guest):
    assert guest.get("/new?game=pow2&options=-colour").status_code in (400, 422)


def test_a_sign_up_leads_nowhere_else(api):
    with Guest(api) as guest:
        fields = {"userid": "careful", "password": "yes-we-can", "next": "https://evil.example/"}
        assert guest.send("/signup", fields, on="/signup").headers["location"] == "/"


def test_an_open_challenge_is_filled_by_a_robot_with_one_click(api, guest):
    guest.send("/new", {"game": "pow2", "opponent": ""}, on="/new")
    found = re.search(r'action="(/challenges/[a-z2-7]{10}/robot)"', guest.page("/"))
    board = board_of(guest.send(found[1], {"level": "easy"}))
    assert shown(api, board)["clock"]["rated"] is False


def test_nobody_fills_the_challenge_of_another(api, guest):
    with Guest(api) as other:
        other.log_in(api.player().name)
        other.send("/new", {"game": "pow2", "opponent": ""}, on="/new")
        path = re.search(r'action="(/challenges/[a-z2-7]{10}/robot)"', other.page("/"))[1]
        assert path not in guest.page("/challenges")
        assert guest.send(path, {"level": "easy"}).status_code == 403
        other.send(path.replace("robot", "withdraw"))


def test_robots_are_marked_in_lists_and_on_their_pages(guest):
    marked = 'href="/players/robot-easy">robot-easy</a> <span class="tag">robot</span>'
    assert marked in guest.page("/players")
    page = guest.page("/players/robot-hard")
    assert '<h1>robot-hard <span class="tag">robot</span></h1>' in page
    assert "A robot of this server, here since" in page
    assert "Matches against robots aren’t rated." in page


def test_there_is_no_chat_with_robots(guest):
    board = board_of(guest.send("/robots", {"play": "pow2 easy"}))
    assert 'id="chat-form"' not in guest.page(f"/m/{board}")


def test_where_no_robots_run_none_are_offered(guest, monkeypatch):
    monkeypatch.setattr("services.app.opponents.robots_play", lambda _: False)
    monkeypatch.setattr("services.http.web.challenges.match_draft.robots_play", lambda _: False)
    for path in ("/", "/challenges", "/games/pow2", "/new"):
        assert "Play a robot" not in guest.page(path), path
        assert "A robot" not in guest.page(path), path
    assert guest.send("/robots", {"play": "pow2 easy"}).status_code == 403


def test_a_rematch_is_one_click_for_each_player(api):
    one, other = api.players()
    board = api.begun(one, other)
    with Guest(api) as first, Guest(api) as second, Guest(api) as stranger:
        first.log_in(one.name)
        second.log_in(other.name)
        path = f"/m/{board}/rematch"
        assert path not in first.page(f"/m/{board}")
        one.give(board, {"do": "resign"})
        assert path in first.page(f"/m/{board}")
        assert path not in stranger.page(f"/m/{board}")
        again = board_of(second.send(path, on=f"/m/{board}"))
        assert board_of(first.send(path, on=f"/m/{board}")) == again
    assert [seat["userid"] for seat in shown(api, again)["players"]] == [other.name, one.name]
