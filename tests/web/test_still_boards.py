"""Boards and buttons stay where they are while somebody chooses, plays and steps."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

LONG = "bartholomew-the-tall"

TOP = "document.querySelector('#board-box').getBoundingClientRect().top + scrollY"

FIRST_MOVE = """async () => {
  const answer = await fetch(document.querySelector("#board-area").dataset.moves);
  return (await answer.json()).moves[0];
}"""


def test_the_board_stays_where_it_is_whatever_is_said_above_it(api, person):
    one = person("still")
    players = api.player_of("still"), api.player(name=LONG)
    board = api.begun(*players, game="powerdrain")
    api.begun(*players, game="halves")
    api.caught_up()
    page = one.goes_to(f"/m/{board}")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.locator("#board-area.choosing").wait_for()
    top = page.evaluate(TOP)
    plug, place = page.evaluate(FIRST_MOVE).split("-")
    one.chooses(plug, plug=True)
    expect(page.locator("#says")).to_contain_text(f"{plug} selected.")
    assert page.evaluate(TOP) == top
    one.chooses(place)
    expect(page.locator("#says")).to_contain_text(f"It will be {LONG}'s turn.")
    assert page.evaluate(TOP) == top
    page.locator("#confirm").click()
    expect(page.locator("#next-match")).to_be_visible()
    expect(page.locator("#turn")).to_contain_text(LONG)
    assert page.evaluate(TOP) == top


def test_a_written_move_keeps_its_field(api, person):
    one = person("writer-of-moves")
    page = one.goes_to(f"/m/{api.begun(api.player_of(one.name), api.player())}")
    field = page.locator("#move")
    page.locator("#board-area.choosing").wait_for()
    field.press_sequentially("m13-j7")
    expect(page.locator("#says")).to_contain_text("Play m13-j7?")
    expect(field).to_be_focused()
    page.get_by_role("button", name="Back").click()
    one.picks("m13-j7")
    expect(field).to_be_hidden()


@pytest.mark.parametrize(
    ("width", "height"),
    [
        (1280, 900),
        (390, 844),
        pytest.param(768, 1024, marks=pytest.mark.long),
        pytest.param(844, 390, marks=pytest.mark.long),
    ],
)
def test_a_step_back_can_be_pressed_twice_at_the_same_point(api, person, width, height):
    one, two = api.players()
    board = api.begun(one, two)
    for player, move in ((one, "m13-j7"), (two, "a13-d7"), (one, "m1-j4"), (two, "a1-d4")):
        assert player.move(board, move).status_code == 200
    page = person(one, viewport={"width": width, "height": height}).goes_to(f"/m/{board}")
    page.locator("#board-area.choosing").wait_for()
    back = page.locator('[data-step="back"]')
    back.evaluate("button => button.scrollIntoView({ block: 'center' })")
    box = back.bounding_box()
    at = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.click(*at)
    expect(page.locator("#study-turn")).to_have_attribute("data-ply", "3")
    page.mouse.click(*at)
    expect(page.locator("#study-turn")).to_have_attribute("data-ply", "2")


def test_the_next_match_has_the_whole_width_of_a_tablet(api, person):
    one, two = api.players()
    board, _ = api.begun(one, two), api.begun(one, two, game="halves")
    api.caught_up()
    one.move(board, "m13-j7")
    page = person(one, viewport={"width": 768, "height": 1024}).goes_to(f"/m/{board}")
    assert page.locator(".next").bounding_box()["width"] == 768


def test_three_names_can_be_read_on_the_smallest_phones(api, person):
    one = api.player(name="emmeline")
    others = api.player(name="ottilie"), api.player(name="wilhelmine")
    board = api.begun(one, *others, game="halves")
    page = person(one, viewport={"width": 320, "height": 568}).goes_to(f"/m/{board}")
    page.locator("#board-area.choosing").wait_for()
    cut = page.evaluate(
        """() => [...document.querySelectorAll(".plate .name a")]
          .filter((name) => name.scrollWidth > name.clientWidth).map((name) => name.textContent)"""
    )
    assert cut == []


def test_the_own_clock_is_in_sight_on_the_smallest_phones(api, person):
    one = api.player()
    board = api.begun(one, api.player())
    page = person(one, viewport={"width": 320, "height": 568}).goes_to(f"/m/{board}")
    page.locator("#board-area.choosing").wait_for()
    plate = page.locator("#plates-below .clock").bounding_box()
    assert plate["y"] + plate["height"] <= page.locator(".bar").bounding_box()["y"]
