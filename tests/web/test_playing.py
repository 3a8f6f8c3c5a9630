"""Whole games in browsers, by clicks."""

import random
import re

import pytest
from playwright.sync_api import expect

from domain.fairness import DrawStream
from domain.match.state import position_of
from domain.rules import latest_rules
from services.app.games import game_keys
from services.app.matches import load_state
from tests.helpers.browser import choices, notation_of

pytestmark = pytest.mark.slow

WHOLE_GAME = [
    "m1-e1:d2",
    "a1-d4:e3",
    "m13-e13:d12",
    "a13-c8",
    "e13-e5:c5,f3",
    "e3-e5:c6,e3,g4",
    "c5-a7:c5,c9",
    "g4-g5:f6",
    "f3-e5:d4,d7,e7,f3,g4",
    "c8-i11",
    "e7-e9:c8,d10",
    "i11-g10:f11",
    "d10-g13:e11,h11",
]
"""A whole game of pow2: Light brings all 16 pieces in."""

MOVED_DIFFERENTLY = ("halves", "pow2", "powerdrain", "torere")
"""Games whose moves are written in different ways."""


def board_of(one) -> int:
    return int(one.page.url.rpartition("/")[2])


def challenge(one, *others, game="pow2", **numbers: str) -> int:
    "Start a match by the form, as who moves first."
    one.goes_to(f"/new?game={game}")
    one.names(*(other.name for other in others), seat=0)
    for label, value in numbers.items():
        one.page.locator("summary:visible", has_text="Variants").click()
        one.page.get_by_label(label).fill(value)
    one.starts()
    one.page.wait_for_url("**/m/*")
    for other in others:
        other.accepts(board_of(one))
    return board_of(one)


def table(api, person, name: str):
    """Begin a match of pow2 against somebody who has no window; return who is to move."""
    light = person(name)
    board = api.begun(api.player_of(name), api.player())
    light.goes_to(f"/m/{board}")
    light.page.locator("#board-area.choosing").wait_for()
    return light


@pytest.mark.parametrize("elsewhere", [9, pytest.param(0, marks=pytest.mark.long)])
def test_two_sign_up_and_play_a_whole_game_of_pow2(api, person, elsewhere):
    light, dark = (person().signs_up(f"{name}-plays-{elsewhere}") for name in ("lena", "dora"))
    board = challenge(light, dark)
    seats = [api.player_of(one.name) for one in (light, dark)]
    for at, move in enumerate(WHOLE_GAME[:elsewhere]):
        assert seats[at % 2].move(board, move).is_success
    for at, move in enumerate(WHOLE_GAME[elsewhere:], elsewhere):
        mover = (light, dark)[at % 2]
        mover.waits_for_turn()
        mover.plays(move)
    for one in (light, dark):
        expect(one.page.locator("#turn")).to_contain_text("Light has all 16 pieces on the board")
    assert load_state(api.parts, board).moves.split() == WHOLE_GAME


def test_before_it_is_played_a_move_shows_what_will_age(api, person):
    light = table(api, person, "lisa")
    for place in ("m13", "m5"):
        light.chooses(place)
    changes = light.page.locator("#changes")
    expect(changes).to_have_text("m1: Light, fresh becomes Light, aged")
    expect(light.page.locator('[data-place="m1"]')).to_have_class("place changes")
    expect(light.page.locator("#says")).to_contain_text("Play m13-m5:l4")


def test_what_can_t_be_chosen_says_why(api, person):
    light = table(api, person, "lola")
    says = light.page.locator("#says")
    light.chooses("a1")
    expect(says).to_have_text(re.compile("^The piece at a1 is Dark's"))
    light.chooses("m13")
    light.chooses("k5")
    expect(says).to_contain_text("No line connects m13 and k5")
    assert state_has_not_changed(light)


def state_has_not_changed(one) -> bool:
    return load_state(one.api.parts, board_of(one)).ply == 0


def test_a_step_is_taken_back_and_another_piece_is_chosen_instead(api, person):
    light = table(api, person, "lara")
    assert sorted(choices(light.page)) == ["m1", "m13"]
    light.chooses("m13")
    expect(light.page.locator("#says")).to_contain_text("m13 selected.")
    light.chooses("m1")
    expect(light.page.locator("#says")).to_contain_text("m1 selected.")
    light.page.get_by_role("button", name="Back").click()
    expect(light.page.locator("#says")).to_contain_text("Choose a piece to move")
    assert sorted(choices(light.page)) == ["m1", "m13"]


@pytest.mark.long
def test_what_others_do_is_seen_without_loading_the_page(person):
    light, dark = person("lily"), person("dott")
    challenge(light, dark)
    watcher = person()
    watcher.goes_to(f"/m/{board_of(light)}")
    dark.page.locator("summary", has_text="Offer a draw").click()  # and it stays open
    light.plays("m13-j7")
    for one in (dark, watcher):
        one.page.locator(".moves a.now", has_text="m13-j7").wait_for()
    expect(dark.page).to_have_title(re.compile(f"^● Your turn .*, match {board_of(light)}$"))
    dark.page.get_by_role("button", name="Offer a draw").click()
    light.page.get_by_role("button", name="Accept").click()
    for one in (light, dark, watcher):
        expect(one.page.locator("#turn")).to_contain_text("Draw by agreement")
    expect(watcher.page.locator("#builder, .chat-form")).to_have_count(0)


def drawn_anew(one) -> None:
    """Have the board of a page made anew, as news of the match does."""
    one.page.evaluate(
        """() => {
          document.querySelector("#board-area").dataset.before = "yes";
          document.querySelector("#turn").dataset.seq = 0;  // or it would be no news
          htmx.trigger("#news", "news");
        }"""
    )
    one.page.locator("#board-area:not([data-before])").wait_for()


def test_what_was_chosen_stays_and_no_click_is_lost_when_the_board_is_drawn_anew(api, person):
    light = table(api, person, "lucy")
    light.page.locator('#board-area [data-place="m13"] .hit').hover()
    light.page.mouse.down()
    drawn_anew(light)
    light.page.mouse.up()
    expect(light.page.locator("#says")).to_contain_text("m13 selected.")
    drawn_anew(light)
    light.chooses("j7")
    expect(light.page.locator("#says")).to_contain_text("Play m13-j7")


def test_moves_that_come_late_are_those_of_the_board_drawn_anew(api, person):
    light = table(api, person, "liza")
    board, held = board_of(light), []

    def hold(route) -> None:
        held.append(route)

    light.page.route("**/moves", hold)
    with light.page.expect_request("**/moves"):
        light.goes_to(f"/m/{board}")
    drawn_anew(light)
    light.chooses("m13")  # too early, and not forgotten
    (asked,) = held
    asked.continue_()
    expect(light.page.locator("#says")).to_contain_text("m13 selected.")
    light.chooses("j7")
    expect(light.page.locator("#says")).to_contain_text("Play m13-j7")


@pytest.mark.long
def test_what_is_said_is_read_by_the_other_and_typing_is_not_disturbed(person):
    light, dark = person("lois"), person("duda")
    challenge(light, dark)
    words = light.page.get_by_label("Say something")
    words.fill("Good luck!")
    light.page.get_by_role("button", name="Send").click()
    light.page.locator("#chat", has_text="Good luck!").wait_for()
    expect(words).to_have_value("")
    words.fill("Good luck!")  # the same words again are another line
    light.page.get_by_role("button", name="Send").click()
    expect(light.page.locator("#chat .line")).to_have_count(2)
    dark.goes_to(f"/m/{board_of(light)}")
    expect(dark.page.locator("#chat .line").first).to_contain_text("lois")
    dark.page.get_by_label("Say something").fill("half a sent")
    light.plays("m13-j7")
    dark.waits_for_turn()
    expect(dark.page.get_by_label("Say something")).to_have_value("half a sent")


@pytest.mark.long
def test_a_whole_game_of_powerdrain(api, person):
    plus, minus = person("pia"), person("mia")
    board = challenge(plus, minus, game="powerdrain")
    chance = random.Random(1)
    for at in range(16):
        mover = (plus, minus)[at % 2]
        mover.waits_for_turn()
        position = position_of(load_state(api.parts, board))
        mover.plays(chance.choice(list(latest_rules("powerdrain").legal_moves(position))))
    for one in (plus, minus):
        expect(one.page.locator("#turn.ended")).to_contain_text("active plug")
    assert load_state(api.parts, board).over


@pytest.mark.long
def test_three_play_halves(api, person):
    people = [person(name) for name in ("una", "due", "tre")]
    board = challenge(*people, game="halves", **{"Tiles each": "4"})
    chance = random.Random(2)
    while not (state := load_state(api.parts, board)).over:
        mover = people[state.next]
        mover.waits_for_turn()
        moves = list(latest_rules("halves").legal_moves(position_of(state)))
        mover.plays(chance.choice(moves))
    for one in people:
        one.page.locator("#turn.ended").wait_for()


@pytest.mark.long
@pytest.mark.parametrize("game", ["goliath", "line", "torere"])
def test_some_moves_of_every_other_game(api, person, game):
    one, two = person(f"{game}-1"), person(f"{game}-2")
    board = challenge(one, two, game=game)
    chance = random.Random(game)
    for _ in range(6):
        state = load_state(api.parts, board)
        mover = (one, two)[state.next]
        mover.waits_for_turn()
        mover.plays(chance.choice(list(latest_rules(game).legal_moves(position_of(state)))))


@pytest.mark.parametrize(
    "game",
    [
        pytest.param(one, marks=[] if one in MOVED_DIFFERENTLY else pytest.mark.long)
        for one in game_keys()
    ],
)
def test_place_by_place_all_legal_moves_can_be_chosen_and_no_others(person, game):
    page, rules, chance = person().goes_to("/help"), latest_rules(game), random.Random(game)
    options = rules.read_options(["-keep_chosen"] if game == "halves" else [])
    players = rules.players[-1]
    stream = DrawStream(b"0" * 32, f"{game}/{rules.version}")
    position = rules.start(options, players, rules.draw(options, players, stream))
    for _ in range(40):
        moves = list(rules.legal_moves(position)) if rules.outcome(position) is None else []
        assert sorted(notation_of(page, moves)) == sorted(moves)
        if not moves:
            break
        more = [move for move in moves if move != "done"] or moves
        position = rules.play(position, rules.check(position, rules.read(chance.choice(more))))
