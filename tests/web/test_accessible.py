"""Pages for everybody: by keyboard, for screen readers, on a phone, light and dark."""

import re

import pytest
from fakes.api import PASSWORD, Player
from fakes.browser import PHONE, faults_of
from playwright.sync_api import expect

from services.language.boards import state_of

pytestmark = pytest.mark.slow

SMALLEST = 24
"""Pixels that what is touched has at least, as WCAG 2.2 asks; links within sentences apart."""


@pytest.fixture(scope="module")
def pair(api) -> tuple[Player, Player]:
    """Two who have signed up."""
    return api.player(name="gerd"), api.player(name="hugo")


@pytest.fixture(scope="module")
def board(api, pair) -> int:
    """A match of gerd's and hugo's, in which it is gerd's turn, and others that end up in lists."""
    gerd, hugo = pair
    board = api.match(gerd, hugo)
    gerd.move(board, "m13-m5:l4")
    hugo.move(board, "a13-c11")
    api.match(gerd, hugo, game="halves")
    api.match(hugo, gerd, game="powerdrain")
    line = api.match(gerd, hugo, game="line")
    for at, move in enumerate(("a1", "m7", "c3")):
        (gerd, hugo)[at % 2].move(line, move)
    hugo.give(line, {"do": "resign"})
    hugo.post("/api/challenges", {"game": "goliath", "note": "come and play"})
    hugo.give(board, {"do": "offer", "kind": "draw"})
    api.caught_up()
    return board


def every_page(board: int) -> list[str]:
    return [
        "/", "/new", "/new?game=halves", "/games", "/games/pow2", "/games/one", "/puzzles",
        "/ratings/line", "/players", "/players/hugo", "/players/gerd", "/account", "/help",
        f"/m/{board}", f"/m/{board + 1}", f"/m/{board + 2}", f"/m/{board + 3}", f"/m/{board}/1",
        f"/m/{board}/1/if", f"/m/{board}/compare", f"/m/{board}/check?move=m1-m7",
        "/games/powerdrain/try?seed=00", "/m/999999",
    ]  # fmt: skip


def logged_in(person, **options):
    one = person(**options)
    one.goes_to("/login")
    one.page.get_by_label("Userid").fill("gerd")
    one.page.get_by_label("Password").fill(PASSWORD)
    one.page.locator("main").get_by_role("button", name="Log in").click()
    one.page.wait_for_url("/")
    one.name = "gerd"
    return one


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_on_any_page(person, board, scheme):
    gerd, guest = logged_in(person, color_scheme=scheme), person(color_scheme=scheme)
    faults = {}
    for one, paths in ((gerd, every_page(board)), (guest, ["/", "/login", "/signup"])):
        for path in paths:
            page = one.goes_to(path)
            if page.locator("#builder").count():
                page.locator("#board-area.choosing").wait_for()
            if found := faults_of(page):
                faults[path] = found
    assert not faults


def test_a_match_is_played_with_the_keyboard_alone(api, person, pair):
    gerd, hugo = pair
    board = api.match(gerd, hugo)
    gerd.move(board, "m13-m5:l4")
    hugo.move(board, "a13-c11")
    api.caught_up()
    one = person()
    one.goes_to("/login")
    keys = one.page.keyboard
    keys.type("gerd")  # the first field has the focus
    keys.press("Tab")
    keys.type(PASSWORD)
    keys.press("Enter")
    one.page.wait_for_url("/")
    tab_to(one.page, f'a[href="/m/{board}"]')
    keys.press("Enter")
    one.page.wait_for_url(f"**/m/{board}")
    one.page.locator("#board-area.choosing").wait_for()
    tab_to(one.page, "#board-area .choice")
    walk_to(one.page, "m5")
    keys.press("Enter")
    walk_to(one.page, "m9")
    keys.press("Enter")
    expect(one.page.locator("#says")).to_contain_text("Play m5-m9")
    keys.press("Escape")
    walk_to(one.page, "m9")
    keys.press(" ")
    tab_to(one.page, "#confirm")
    keys.press("Enter")
    one.page.locator(".moves a.now", has_text="m5-m9").wait_for()
    assert state_of(api.parts, board).ply == 3


def tab_to(page, selector: str) -> None:
    """Press Tab until something has the focus."""
    for _ in range(60):
        if page.evaluate("(wanted) => document.activeElement.matches(wanted)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {selector}")


def walk_to(page, place: str) -> None:
    """Press the arrow keys until the focus is on a place, as somebody does who sees the board."""
    focused = "() => document.activeElement.dataset.place"
    page.wait_for_function("() => document.activeElement.matches('.choice')")
    for _ in range(40):
        if page.evaluate(focused) == place:
            return
        key = page.evaluate(
            """(place) => {
              const middle = (one) => {
                const box = one.querySelector(".hit").getBoundingClientRect();
                return [box.x + box.width / 2, box.y + box.height / 2];
              };
              const [x, y] = middle(document.activeElement);
              const [a, b] = middle(document.querySelector(`[data-place="${place}"]`));
              if (Math.abs(a - x) > Math.abs(b - y)) return a > x ? "ArrowRight" : "ArrowLeft";
              return b > y ? "ArrowDown" : "ArrowUp";
            }""",
            place,
        )
        page.keyboard.press(key)
    raise AssertionError(f"the arrow keys do not lead to {place}")


def test_a_screen_reader_hears_whose_turn_it_is_and_what_can_be_chosen(person, board):
    page = logged_in(person).goes_to(f"/m/{board + 1}")
    expect(page.locator("#turn")).to_have_attribute("role", "status")
    expect(page.locator("#says")).to_have_attribute("role", "status")
    expect(page.get_by_role("button", name="keep")).to_be_visible()
    page.goto(f"/m/{board}")
    page.locator("#board-area .choice").first.wait_for()
    tree = page.locator("main").aria_snapshot()
    assert "status: Your turn" in tree
    assert 'button "m5: Light, aged"' in tree
    assert re.search(r"group \"The Power of Two: gerd .Light., hugo .Dark.", tree)
    page.locator("summary", has_text="Choose from a list").click()
    page.get_by_role("button", name="m5", exact=True).click()
    expect(page.locator("#says")).to_contain_text("Chosen: m5")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_nothing_sticks_out_and_all_can_be_touched(person, board, scheme, tmp_path):
    one = logged_in(person, color_scheme=scheme, **PHONE)
    for path in every_page(board):
        page = one.goes_to(path)
        if page.locator("#builder").count():
            page.locator("#board-area.choosing").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        small = page.evaluate(
            """(least) => [...document.querySelectorAll("button, input, select, summary, nav a")]
              .filter((one) => one.offsetParent && one.type !== "hidden" && !one.closest(".sr"))
              .map((one) => [one.outerHTML.slice(0, 80), one.getBoundingClientRect()])
              .filter(([, box]) => box.width && (box.height < least || box.width < least)
                                   && box.width > 1)
              .map(([text, box]) => `${text} ${box.width}x${box.height}`)""",
            SMALLEST,
        )
        small = [one for one in small if 'type="checkbox"' not in one and 'type="radio"' not in one]
        assert not small, (path, small)
        shot = tmp_path / f"{scheme}{re.sub(r'[^a-z0-9]+', '-', path)}.png"
        page.screenshot(path=shot, full_page=True)
        assert shot.stat().st_size > 5_000


def test_on_a_phone_the_board_is_as_wide_as_the_screen_and_its_places_can_be_touched(person, board):
    page = logged_in(person, **PHONE).goes_to(f"/m/{board}")
    box = page.locator("#board-area svg.board").bounding_box()
    assert box["width"] >= 390 - 2 * 16
    sizes = page.evaluate(
        """() => [...document.querySelectorAll("#board-area .hit")]
          .map((one) => one.getBoundingClientRect()).map((box) => Math.min(box.width, box.height))"""
    )
    assert min(sizes) >= SMALLEST


def test_whose_turn_it_is_can_be_read_from_afar(person, board):
    page = logged_in(person).goes_to(f"/m/{board + 1}")
    turn = page.locator("#turn")
    size = turn.evaluate("(one) => parseFloat(getComputedStyle(one).fontSize)")
    assert size >= 24
    expect(turn).to_be_in_viewport()
