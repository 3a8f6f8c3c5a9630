"""Boards in a browser: turned, in other looks, with pieces that glide, and with a legend."""

from base64 import b64encode

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

TRY = "/games/goliath/try"

WATCH = """
  window.glides = [];
  const animate = Element.prototype.animate;
  Element.prototype.animate = function (frames, options) {
    window.glides.push(Object.keys(frames).join());
    return animate.call(this, frames, options);
  };
"""


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


def test_pieces_glide_except_for_people_who_want_none_of_it(person):
    one = person()
    page = one.page
    page.add_init_script(WATCH)
    for motion, glides in (("no-preference", ["translate"]), ("reduce", [])):
        page.emulate_media(reduced_motion=motion)
        one.goes_to("/games/torere/try")
        page.locator("#board-area.choosing").wait_for()
        one.chooses("1")
        page.locator("#board-area.looking").wait_for()
        expect(page.locator('[data-place="0"] .piece')).to_have_count(1)
        assert page.evaluate("new Promise((done) => setTimeout(() => done(glides)))") == glides


def test_a_board_on_which_nearly_all_can_be_chosen_is_marked_under_the_pointer_only(person):
    one = person()
    page = one.goes_to("/games/line/try")
    page.locator("#board-area.many").wait_for()
    halo = page.locator('[data-place="e5"] .halo')
    expect(halo).to_be_hidden()
    page.locator('[data-place="e5"] .hit').hover()
    expect(halo).to_be_visible()


def test_a_piece_is_seen_where_it_would_go_before_it_is_moved(person):
    one = person()
    page = one.goes_to(TRY)
    page.locator("#board-area.choosing").wait_for()
    one.chooses("m13")
    page.locator('[data-place="h8"] .hit').hover()
    expect(page.locator('[data-place="h8"] .would .letter')).to_have_text("D")
    one.chooses("h8")
    expect(page.locator('[data-place="h8"].chosen .would')).to_have_count(1)
    expect(page.locator('[data-place="m13"]')).to_have_class("place chosen left-behind")


def test_a_legend_is_open_in_the_first_matches_of_a_game_and_folded_later(person):
    one = person()
    page = one.goes_to(TRY)
    legend = page.locator("[data-legend]")
    expect(legend).to_have_attribute("open", "")
    page.evaluate("""localStorage.setItem("legend goliath", '["/m/1", "/m/2", "/m/3"]')""")
    page.reload()
    expect(legend).not_to_have_attribute("open", "")


def test_a_look_takes_effect_at_once_and_stays(person):
    one = person()
    page = one.goes_to(TRY)
    page.locator(".looks summary").click()
    held = []
    page.route("**/display", lambda route: held.append(route))  # noqa: PLW0108 - needs a function
    page.get_by_role("button", name="Wood").click()
    expect(page.locator("html")).to_have_attribute("data-board", "wood")
    expect(page.get_by_role("button", name="Wood")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Coordinates").click()
    expect(page.locator("#board-area .label").first).to_be_hidden()
    assert len(held) == 1  # the second waits for the answer to the first, which has the cookie
    with page.expect_response(lambda one: "coordinates" in (one.request.post_data or "")):
        held[0].continue_()
        while len(held) == 1:
            page.wait_for_timeout(20)
        held[1].continue_()
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-board", "wood")
    expect(page.locator("#board-area .label").first).to_be_hidden()


@pytest.mark.long
def test_boards_in_pictures_follow_the_theme_of_the_page_and_of_boards(person, api):
    one = person(api.player(name="painter"))
    page = one.page
    page.emulate_media(color_scheme="light")
    one.goes_to("/")
    blank = page.context.new_page()  # whose policy lets it read pictures

    def colour(path):
        one.goes_to(path)
        picture = page.locator("main img[src*='.svg']").first
        picture.scroll_into_view_if_needed()
        page.wait_for_function("[...document.images].every((one) => one.complete)")
        return mean(picture.screenshot())

    def mean(png):
        drawn = blank.evaluate(
            """async (png) => {
              const image = await createImageBitmap(await (await fetch(png)).blob());
              const canvas = new OffscreenCanvas(1, 1).getContext("2d");
              canvas.imageSmoothingQuality = "high";
              canvas.drawImage(image, 0, 0, 1, 1);
              return [...canvas.getImageData(0, 0, 1, 1).data];
            }""",
            "data:image/png;base64," + b64encode(png).decode(),
        )
        return tuple(drawn[:3])

    found = {}
    for theme in ("light", "dark"):
        for board in ("paper", "wood"):
            page.context.add_cookies([
                {"name": "display", "value": f"theme-{theme}.board-{board}", "url": page.url}
            ])  # fmt: skip
            found[theme, board] = colour("/games")
    assert len(set(found.values())) == 4, found
    assert sum(found["light", "paper"]) > sum(found["dark", "paper"])
