"""The edges of the pages in a browser: switches, sound, paper, notifications, messages, other sites."""

import re
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from playwright.sync_api import expect

from tests.helpers.browser import faults_of

pytestmark = pytest.mark.slow


def test_the_theme_changes_at_once_and_stays(person):
    page = person("edgetheme").goes_to("/games")
    foot = page.locator("#display-form")
    with page.expect_response("**/display"):
        foot.get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(foot.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")
    paper = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(paper)
    page.goto("/puzzles")
    assert page.evaluate(paper) == dark
    with page.expect_response("**/display"):
        page.locator("#display-form").get_by_role("button", name="Light").click()
    page.wait_for_function(f"{paper} !== '{dark}'")
    page.locator("#display-form").get_by_role("button", name="Deutsch").click()
    expect(page.locator("html")).to_have_attribute("lang", "de")
    assert page.url.endswith("/puzzles")


LINKS_IN_SIGHT = """() => {
  const bottom = document.querySelector("header.top").getBoundingClientRect().bottom;
  const seen = [...document.querySelectorAll("header.top a")].map((link) => link.getBoundingClientRect());
  return seen.filter((box) => box.width && box.bottom <= bottom && box.right <= innerWidth).length;
}"""

ONE_LINE = 54  # pixels


@pytest.mark.parametrize(("who", "language"), [("edge-of-a-long-name", "de"), ("", "en")])
def test_the_header_is_one_line_and_the_foot_has_what_finds_no_room_there(person, who, language):
    page = person(f"{who}{language[0]}" if who else "", locale=language).goes_to("/challenges")
    for width in (844, 768, 600, 521, 390, 360, 320):
        page.set_viewport_size({"width": width, "height": 700})
        assert page.locator("header.top").bounding_box()["height"] <= ONE_LINE, width
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, width
        # at least the first page, games, puzzles; and both links of a guest or a player
        assert page.evaluate(LINKS_IN_SIGHT) >= 5, width
    everywhere = ["/ratings", "/playing", "/challenges", "/players"]
    for path in everywhere + (["/messages", "/notices"] if who else []):
        expect(page.locator(f'.foot a[href="{path}"]')).to_be_visible()
    if who:
        expect(page.locator('header a[href="/notices"]')).to_be_visible()
    page.set_viewport_size({"width": 1280, "height": 900})
    assert page.evaluate(LINKS_IN_SIGHT) >= 7
    for path in everywhere:
        expect(page.locator(f'.foot a[href="{path}"]')).to_be_hidden()
        expect(page.locator(f'header a[href="{path}"]')).to_be_visible()


@pytest.fixture
def elsewhere(api) -> Iterator[Callable[[str], str]]:
    """Another site, with a page that frames an address of the server."""
    framed: list[str] = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            frame = f'<iframe src="{api.url}{framed[-1]}" width="400" height="500"></iframe>'
            self.wfile.write(f"<!doctype html><title>x</title>{frame}".encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        Thread(target=server.serve_forever, daemon=True).start()

        def frame(path: str) -> str:
            framed.append(path)
            return f"http://127.0.0.1:{server.server_port}/"

        yield frame
        server.shutdown()


def test_a_frame_of_another_site_follows_the_match(api, person, elsewhere):
    one, two = api.player(name="edgeframe"), api.player(name="edgewall")
    board = api.begun(one, two)
    somebody = person(one)
    page = somebody.page
    page.goto(elsewhere(f"/m/{board}/embed"))
    frame = page.frame_locator("iframe")
    expect(frame.locator("svg.board")).to_be_visible()
    one.move(board, "m13-j7")
    expect(frame.locator("code")).to_have_text("m13-j7")
    link = frame.locator("p").get_by_role("link")
    expect(link).to_have_attribute("href", f"{api.url}/m/{board}")
    expect(link).to_have_attribute("target", "_blank")
    assert page.frames[1].evaluate("document.documentElement.scrollHeight <= innerHeight")
    # the page of the match itself is not shown there
    somebody.expected.append("frame-ancestors")
    page.goto(elsewhere(f"/m/{board}"))
    assert page.frames[1].url.startswith("chrome-error:")
    somebody.elsewhere.clear()


def test_a_page_of_another_site_plays_by_the_api_with_a_token(browser, api, elsewhere):
    one, other = api.players()
    board = api.begun(one, other)
    page = browser.new_page()
    page.goto(elsewhere("/healthz").replace("127.0.0.1", "localhost"))
    found = page.evaluate(
        """async ([api, board, token]) => {
          const stream = new EventSource(`${api}/api/matches/${board}/events`);
          const moved = new Promise((done) => stream.addEventListener("moved", (event) => done(JSON.parse(event.data))));
          const answer = await fetch(`${api}/api/matches/${board}/commands`, {
            method: "POST", body: JSON.stringify({do: "move", move: "m13-j7"}),
            headers: {Authorization: `Bearer ${token}`, "Content-Type": "application/json", "Idempotency-Key": "there"},
          });
          const event = await moved;
          stream.close();
          const refused = await fetch(`${api}/api/accounts`, {
            method: "POST", body: "{}", headers: {"Content-Type": "application/json"},
          });
          return {move: event.body.move, status: answer.status, rate: answer.headers.get("RateLimit"),
                  code: (await refused.json()).code};
        }""",
        [api.url, board, one.token],
    )
    page.close()
    assert (found["move"], found["status"], found["code"]) == ("m13-j7", 200, "cross-site")
    assert found["rate"].startswith('"commands";r=')


def test_a_new_message_appears_while_another_is_typed(api, person):
    one, other = api.players()
    page = person(one).goes_to("/messages")
    page.get_by_text("Write a message").click()
    page.get_by_label("To", exact=True).fill(other.name)
    page.get_by_label("Text").fill("half a sentence")
    assert other.post("/api/messages", {"to": [one.name], "text": "are you there?"}).is_success
    letter = page.locator(".letter")
    expect(letter).to_contain_text("are you there?")
    expect(page.get_by_label("Text")).to_have_value("half a sentence")
    assert faults_of(page) == []
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("status").filter(has_text=other.name)).to_be_visible()
    page.get_by_role("link", name="Answer").click()
    expect(page.get_by_label("To", exact=True)).to_have_value(other.name)
    expect(page.get_by_label("Text")).to_be_focused()
    page.get_by_role("button", name="Mark as unread").click()
    expect(page.get_by_role("link", name="1 new message")).to_be_visible()


def test_the_star_keeps_a_match_and_home_shows_how_it_goes_on(api, person):
    one, other = api.players()
    board = api.begun(one, other)
    fan = person("fan")
    star = fan.goes_to(f"/m/{board}").get_by_role("button", name="Watch")
    expect(star).to_have_attribute("aria-pressed", "false")
    star.press("Enter")
    expect(star).to_have_attribute("aria-pressed", "true")
    expect(star).to_be_focused()
    api.caught_up()
    row = fan.goes_to("/").locator("#watching .row-item")
    expect(row).to_contain_text(f"{one.name} to move")
    assert faults_of(fan.page) == []
    assert one.move(board, "m13-j7").is_success
    expect(row).to_contain_text(f"{other.name} to move")
    assert other.give(board, {"do": "resign"}).is_success
    expect(row).to_contain_text(f"{one.name} won")
    page = fan.goes_to("/watching")
    assert faults_of(page) == []
    page.get_by_role("button", name=re.compile("Remove")).click()
    empty = page.get_by_text("You aren’t watching any matches. To watch one, use the")
    expect(empty).to_be_visible()
