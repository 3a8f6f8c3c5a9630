"""The edges of the pages in a browser: what is loaded, the header, other sites, lines that break, lists that are looked at, many tabs."""

import re
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from playwright.sync_api import expect

from domain.drawing import PAGE_STYLE
from services.app.matches import load_state
from services.http.web import assets
from services.http.web.assets import asset, asset_url

pytestmark = pytest.mark.slow


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


NO_WORKER = "delete window.SharedWorker"
HIDDEN = """
  window.away = false;
  Object.defineProperty(document, "hidden", { get: () => window.away });
"""


def look_away(page) -> None:
    page.evaluate("window.away = true")


def look_again(page) -> None:
    page.evaluate("window.away = false; document.dispatchEvent(new Event('visibilitychange'))")


def test_a_browser_without_shared_workers_follows_what_is_looked_at(api, person):
    one, other = person("lonely", locale="en-GB"), api.player()
    one.page.add_init_script(NO_WORKER)
    board = api.begun(other, api.player_of(one.name))
    one.goes_to(f"/m/{board}")
    other.move(board, "m13-j7")
    one.waits_for_turn()


def test_a_page_without_a_service_worker_heals_after_its_line_was_down(api, person):
    one, other = person("hilda"), api.player()
    board = api.begun(other, api.player_of(one.name))
    one.goes_to(f"/m/{board}")
    one.expected.append("htmx:")
    bar = one.page.locator("#offline")
    expect(bar).to_be_hidden()
    one.context.set_offline(True)
    other.move(board, "m13-j7")
    expect(bar).to_have_text(re.compile(r"Offline\. Reconnecting (in \d+ s|now)"))
    expect(one.page.locator("#turn")).to_contain_text(
        f"{other.name}\N{RIGHT SINGLE QUOTATION MARK}s turn"
    )
    one.context.set_offline(False)
    one.waits_for_turn()
    expect(bar).to_be_hidden()
    expect(one.page.locator("#message")).to_be_empty()
    one.page.locator("#board-area.choosing").wait_for()
    one.context.set_offline(True)
    one.page.locator("#move").fill("a13-d7")
    one.page.locator("#confirm").click()
    expect(one.page.locator("#message")).to_contain_text("Please try again.")
    expect(one.page.locator("#move")).to_have_value("a13-d7")
    one.context.set_offline(False)
    expect(one.page.locator("#message")).to_be_empty()
    one.page.locator("#confirm").click()
    one.page.locator(".moves a.now", has_text="a13-d7").wait_for()
    assert load_state(api.parts, board).moves == "m13-j7 a13-d7"


def test_the_list_of_matches_brings_itself_up_to_date_while_it_is_looked_at(api, person):
    one, other = person("helga"), api.player()
    mine = api.player_of(one.name)
    board = api.begun(other, mine)
    api.caught_up()
    page = one.goes_to("/")
    expect(page.locator("#matches")).to_contain_text("All done")
    other.move(board, "m13-j7")
    card = page.locator(f'.match-tile a[href="/m/{board}"]')
    expect(card).to_be_visible()
    expect(page).to_have_title("(1) matchpost")
    other.post("/api/challenges", {"game": "torere", "note": "who comes?"})
    expect(page.locator("#open")).to_contain_text("who comes?")
    mine.post("/api/challenges", {"game": "goliath", "note": "for anybody"})
    expect(page.locator("#open")).to_contain_text("for anybody")
    (mine_open,) = [c for c in mine.get("/api/challenges").json()["challenges"]
                    if c["note"] == "for anybody"]  # fmt: skip
    other.post(f"/api/challenges/{mine_open['id']}/accept")
    expect(page.locator("#open")).not_to_contain_text("for anybody")
    mine.move(board, "a13-d7")
    expect(card).to_have_count(0)
    other.give(board, {"do": "offer", "kind": "draw"})
    ask = page.locator(".ask")
    expect(ask).to_contain_text(f"{other.name} offers a draw")
    expect(page.locator("#news-box")).to_contain_text("offers a draw")
    ask.get_by_role("button", name="Decline").click()
    expect(ask).to_have_count(0)
    expect(page.locator("#news-box")).not_to_contain_text("offers a draw")


def test_what_is_said_comes_at_once_and_is_marked_until_it_is_looked_at(api, person):
    one, other = person("carla", locale="en-GB"), api.player()
    one.page.add_init_script(HIDDEN)
    mine = api.player_of(one.name)
    board = api.begun(other, mine)
    api.caught_up()
    home, page = one.context.new_page(), one.page
    home.goto("/")
    page.goto(f"/m/{board}")
    other.post(f"/api/matches/{board}/chat", {"text": "good morning"})
    expect(page.locator("#chat")).to_contain_text("good morning")
    expect(page.locator("#unread")).to_have_text("1 new")
    expect(home).not_to_have_title(re.compile("✉"))
    look_away(page)
    other.post(f"/api/matches/{board}/chat", {"text": "are you there?"})
    expect(page).to_have_title(re.compile("^✉ "))
    expect(page.locator("#unread")).to_be_visible()
    expect(page.locator("#chat")).not_to_contain_text("are you there?")
    expect(home).to_have_title("✉ 1 matchpost")
    expect(home.locator("#matches")).to_contain_text("1 new")
    look_again(page)
    expect(page.locator("#chat li.new")).to_contain_text("are you there?")
    expect(page).not_to_have_title(re.compile("✉"))
    expect(home).to_have_title("matchpost")


RULES = """(text) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return [...sheet.cssRules].map((rule) => rule.cssText.replace(/,\\s+/g, ","));
}"""
"""The rules that a browser reads in a style sheet; it keeps the spaces of values that have variables."""


@pytest.mark.parametrize(("locale", "scripts"), [("en-GB", "scripts.js"), ("de-DE", "scripts.de.js")])  # fmt: skip
def test_a_match_loads_one_script_and_one_style_and_its_moves_once(person, api, locale, scripts):
    one = person(f"loads-{locale[:2]}", locale=locale)
    board = api.begun(api.player_of(one.name), api.player())
    paths: list[str] = []
    one.page.on("request", lambda request: paths.append(request.url.removeprefix(api.url)))
    with one.page.expect_request(f"**{asset_url('worker.js')}"):  # which waits for the board
        one.goes_to(f"/m/{board}").locator("#board-area.choosing").wait_for()
    files = map(asset_url, ("style.css", scripts, "worker.js"))
    # the icon is another one once the lists know that the match waits
    assert sorted(path for path in paths if not path.endswith(".svg")) == sorted(
        [f"/m/{board}", *files, f"/m/{board}/moves"]
    )
    # tips of times come although they wait for the board
    one.page.locator("time[title]").first.wait_for(state="attached")


def test_a_style_sheet_has_the_rules_of_its_sources_and_no_others(browser):
    folder = assets.files("services.http.web").joinpath("static", "styles")
    page = browser.new_page()
    for name, parts in assets._STYLES.items():
        source = PAGE_STYLE * (name == "style")
        source += "".join(folder.joinpath(f"{part}.css").read_text() for part in parts)
        rules = page.evaluate(RULES, source)
        assert rules == page.evaluate(RULES, asset(f"{name}.css").data.decode()), name
        assert len(rules) > 20
    page.close()


COVERED = """() => [...document.querySelectorAll("#action :is(button, input)")]
  .filter((one) => one.checkVisibility())
  .filter((one) => {
    const box = one.getBoundingClientRect();
    return !one.contains(document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2));
  })
  .map((one) => one.textContent || one.name)"""
"""The controls in the head of a match that something lies over."""


@pytest.mark.long
def test_many_tabs_of_one_browser_load_and_are_brought_news(api, person):
    count = 20
    one, other = person("tabs"), api.player()
    mine = api.player_of(one.name)
    boards = [api.begun(other, mine) for _ in range(count)]
    api.caught_up()
    pages = [one.page, *(one.context.new_page() for _ in boards)]
    home, *tabs = pages
    for page, path in zip(pages, ["/", *(f"/m/{board}" for board in boards)], strict=True):
        page.goto(path)
    for tab in tabs:
        expect(tab.locator("#turn")).to_contain_text(
            f"{other.name}\N{RIGHT SINGLE QUOTATION MARK}s turn"
        )
    for board in boards:
        other.move(board, "m13-j7")
    for tab in tabs:
        expect(tab.locator("#turn")).to_have_text(re.compile("Your turn"))
    expect(home).to_have_title(f"({count}) matchpost")
    extra = one.context.new_page()
    extra.goto("/games")
    expect(extra.locator("h1")).to_have_text("Games")
    expect(extra.locator("#waiting .pill-number")).to_have_text(str(count))
    mine.move(boards[0], "a13-d7")
    expect(extra.locator("#waiting .pill-number")).to_have_text(str(count - 1))
    expect(extra).to_have_title(re.compile(rf"^\({count - 1}\) Games"))


def test_a_message_stays_until_the_next_click(api, person):
    one, other = person("moritz"), api.player()
    board = api.begun(api.player_of(one.name), other)
    one.goes_to(f"/m/{board}")
    one.page.locator("#board-area.choosing").wait_for()
    one.page.locator("#move").fill("m13-k5")
    one.page.locator("#confirm").click()
    said = one.page.locator("#message .message")
    expect(said).to_contain_text("no line connects m13 and k5")
    other.post(f"/api/matches/{board}/chat", {"text": "take your time"})
    expect(one.page.locator("#chat")).to_contain_text("take your time")
    other.give(board, {"do": "offer", "kind": "draw"})
    expect(one.page.locator("#action")).to_contain_text("offers a draw")
    expect(said).to_contain_text("no line connects m13 and k5")
    covered = one.page.evaluate(COVERED)
    assert covered == []
    one.page.locator("#chat-title").click()
    expect(said).to_have_count(0)
    one.page.locator("#confirm").click()
    expect(said).to_contain_text("no line connects m13 and k5")
    said.get_by_role("button", name="Close").click()
    expect(said).to_have_count(0)
