"""Boards in a browser: turned, on every screen; they stay where they are while somebody plays."""

import pytest
from playwright.sync_api import expect

from domain.rules import game_keys, latest_rules
from services.http.web.assets import asset, asset_url
from tests.helpers.browser import SIZES, pick_any

pytestmark = pytest.mark.slow


def middle(page, place):
    """Return the middle of a place, from the corner of its board."""
    return page.evaluate(
        """(place) => {
          const hit = document.querySelector(`#board-area [data-place="${place}"] .hit`);
          const [box, board] = [hit, hit.closest("svg")].map((one) => one.getBoundingClientRect());
          return [box.x + box.width / 2 - board.x, box.y + box.height / 2 - board.y];
        }""",
        place,
    )


def test_a_board_is_turned_and_a_move_can_still_be_chosen_on_it(person, api):
    me = api.player(name="turner")
    board = api.begun(me, api.player(), game="goliath")
    one = person(me)
    page = one.goes_to(f"/m/{board}")
    page.locator("#board-area.choosing").wait_for()
    before, opposite = middle(page, "m13"), middle(page, "a1")
    page.get_by_role("button", name="Flip board").click()
    assert middle(page, "m13") == pytest.approx(opposite, abs=2)
    assert middle(page, "a1") == pytest.approx(before, abs=2)
    above, below, area = (
        page.locator(mark).bounding_box()["y"]
        for mark in ("#plates-above", "#plates-below", "#board-area")
    )
    assert below < area < above
    one.plays("m13-h8:i9")
    expect(page.locator('[data-place="i9"] .piece')).to_have_count(1)


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


BOXES = """() => {
  const box = (selector) => {
    const { left, top, right, bottom } = document.querySelector(selector).getBoundingClientRect();
    return { left, top, right, bottom };
  };
  return {
    board: box("#board-area svg.board"), play: box("#confirm"), bar: box(".bar"),
    fixed: getComputedStyle(document.querySelector(".bar")).position === "fixed",
    wide: document.documentElement.scrollWidth - innerWidth, scrolled: scrollY,
    room: document.querySelector("#board-area").clientWidth,
  };
}"""


@pytest.fixture(scope="package")
def pair(api):
    return api.player(name="sieglinde"), api.player(name="siegfried")


@pytest.mark.parametrize(
    "game",
    # one with many tiles beside its board; the others are long
    [pytest.param(one, marks=[] if one == "halves" else pytest.mark.long) for one in game_keys()],
)
def test_the_whole_board_and_play_are_in_sight_at_every_size(api, person, pair, game):
    alone = latest_rules(game).players == (1,)
    board = api.begun(*pair[: 1 if alone else 2], game=game)
    one = person(pair[0])
    for width, height in SIZES:
        one.page.set_viewport_size({"width": width, "height": height})
        one.goes_to(f"/m/{board}")
        one.page.locator("#board-area.choosing").wait_for()
        pick_any(one)
        expect(one.page.locator("#confirm")).to_be_enabled()
        found = one.page.evaluate(BOXES)
        size = f"{game} at {width}x{height}: {found}"
        assert found["scrolled"] == 0, size
        assert found["wide"] <= 0, size
        for part in ("board", "play"):
            inside = found[part]
            assert inside["left"] >= 0, size
            assert inside["top"] >= 0, size
            assert inside["right"] <= width + 0.5, size
            assert inside["bottom"] <= height + 0.5, size
        if found["fixed"]:
            assert found["board"]["bottom"] <= found["bar"]["top"] + 0.5, size
        else:
            above = found["bar"]["bottom"] <= found["board"]["top"] + 0.5
            assert above or found["board"]["right"] <= found["bar"]["left"] + 0.5, size
        # it is as high as it can be; one whose tiles were dealt in a long row is as wide as its room
        high = found["board"]["bottom"] - found["board"]["top"]
        wide = found["board"]["right"] - found["board"]["left"]
        least = max(found["room"] * 0.9, width * 0.5)
        assert high >= min(width, height) * 0.5 or wide >= least, size


def test_a_module_that_fails_is_named_and_keeps_no_other_from_running(person, api):
    one = person("breaker")
    board = api.begun(api.player_of(one.name), api.player())
    text = asset("scripts.js").data.decode().replace("\nwatchSending();\n", "\ngone();\n")
    answer = {"body": text, "content_type": "text/javascript"}
    one.page.route(f"**{asset_url('scripts.js')}", lambda route: route.fulfill(**answer))
    errors = []
    one.page.on("pageerror", lambda error: errors.append(error.stack))
    one.goes_to(f"/m/{board}")
    # by `page.js` and `board_tools.js`, of which one runs before it, and one after it
    one.page.locator(".moves[data-shown]").wait_for(state="attached")
    one.page.locator(".legend[data-read]").wait_for(state="attached")
    assert len(errors) == 1
    assert "gone is not defined" in errors[0]
    assert "match_js" in errors[0]
    one.complaints.clear()


@pytest.mark.parametrize("width", [900, 1020])
def test_what_is_said_of_a_move_never_lies_over_the_board(api, person, width):
    one = person(api.player())
    board = api.begun(api.player_of(one.name), api.player(), game="amazons")
    page = one.goes_to(f"/m/{board}")
    page.set_viewport_size({"width": width, "height": 900})
    page.locator("#board-area.choosing").wait_for()
    expect(page.locator("#says")).to_have_text(
        "Choose an amazon, where it moves, and where its arrow goes."
    )
    said, area = (page.locator(mark).bounding_box() for mark in ("#says", "#board-area"))
    assert said["y"] + said["height"] <= area["y"]
