"""Boards on every screen: the whole of it is seen, and Play with it."""

import pytest
from playwright.sync_api import expect

from domain.rules import latest_rules
from services.app.games import game_keys
from services.http.web.assets import ASSETS, asset_url
from tests.helpers.browser import pick_any

pytestmark = pytest.mark.slow

SIZES = [(844, 390), (768, 1024), (375, 553), (390, 844), (1280, 900)]

BOXES = """() => {
  const box = (selector) => {
    const { left, top, right, bottom } = document.querySelector(selector).getBoundingClientRect();
    return { left, top, right, bottom };
  };
  return {
    board: box("#board-area svg.board"), play: box("#confirm"), bar: box(".bar"),
    fixed: getComputedStyle(document.querySelector(".bar")).position === "fixed",
    wide: document.documentElement.scrollWidth - innerWidth, scrolled: scrollY,
  };
}"""


@pytest.fixture(scope="package")
def pair(api):
    return api.player(name="sieglinde"), api.player(name="siegfried")


QUICK = ("halves",)
"""The game with the most tiles beside its board."""


@pytest.mark.parametrize(
    "game",
    [pytest.param(one, marks=[] if one in QUICK else pytest.mark.long) for one in game_keys()],
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
        # it is as high as it can be; one whose tiles were dealt in a long row is as wide
        high = found["board"]["bottom"] - found["board"]["top"]
        wide = found["board"]["right"] - found["board"]["left"]
        assert high >= min(width, height) * 0.55 or wide >= width * 0.9, size


@pytest.mark.parametrize(
    "path", [pytest.param("/games/pow2/try", marks=pytest.mark.long), "/games/halves/try?seed=00"]
)
def test_a_board_to_try_fits_as_well(person, path):
    one = person()
    for width, height in SIZES:
        one.page.set_viewport_size({"width": width, "height": height})
        one.goes_to(path)
        one.page.locator("#board-area.choosing").wait_for()
        pick_any(one)
        found = one.page.evaluate(BOXES)
        assert found["wide"] <= 0
        assert max(found["board"]["bottom"], found["play"]["bottom"]) <= height + 0.5


def test_a_match_that_waits_is_no_narrow_column_on_a_phone_that_lies(api, person, pair):
    board = api.match(*pair, game="powerdrain", terms=["--gather"])
    page = person(pair[1]).goes_to("/")
    page.set_viewport_size({"width": 844, "height": 390})
    page.goto(f"/m/{board}")
    wide = page.evaluate("document.querySelector('.side').getBoundingClientRect().width")
    assert wide >= 844 * 0.4


def test_the_page_of_a_match_takes_at_most_ten_requests_and_60_kb(person, api):
    one = person("loader")
    board = api.begun(api.player_of(one.name), api.player())
    tools = one.context.new_cdp_session(one.page)
    tools.send("Network.enable")
    asked, sizes = [], []
    one.context.on("request", lambda request: asked.append(request.url))
    tools.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    one.goes_to(f"/m/{board}")
    one.page.locator("#board-area.choosing").wait_for()
    assert one.page.locator("script[data-module]").count() == 0  # all have run
    assert 5 < len(asked) <= 10, asked
    assert sum(sizes) < 60_000


def test_a_module_that_fails_is_named_and_keeps_no_other_from_running(person, api):
    one = person("breaker")
    board = api.begun(api.player_of(one.name), api.player())
    text = ASSETS["scripts.js"].data.decode().replace("\nwatchSending();\n", "\ngone();\n")
    answer = {"body": text, "content_type": "text/javascript"}
    one.page.route(f"**{asset_url('scripts.js')}", lambda route: route.fulfill(**answer))
    errors = []
    one.page.on("pageerror", lambda error: errors.append(error.stack))
    one.goes_to(f"/m/{board}")
    # by `page.js` and `steps.js`, of which one runs before it, and one after it
    one.page.locator(".moves[data-shown]").wait_for(state="attached")
    one.page.locator(".trial").wait_for(state="attached")
    assert len(errors) == 1
    assert "gone is not defined" in errors[0]
    assert "match_js" in errors[0]
    one.complaints.clear()
