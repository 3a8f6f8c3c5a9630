"""On the page of a match: the preview, the next match, times, earlier positions, tried moves; replays, puzzles, no scripts."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from infra.redis.reads import read_nothing
from services.app.conditional_moves import conditional_moves_of
from services.app.matches import analyse, load_state
from services.http.web.assets import asset_url
from services.http.web.match import page as page_module
from tests.helpers.analysing import listening
from tests.helpers.browser import PHONE, faults_of

pytestmark = pytest.mark.slow


def opened(api, person, name: str, **options):
    """Open a match of pow2 as its first player; return the person, who has two matches."""
    one = person(name, **options)
    players = api.player_of(name), api.player()
    one.board = api.begun(*players)
    one.other = api.begun(*players, game="torere", terms=["--days=1"])
    api.caught_up()
    one.goes_to(f"/m/{one.board}")
    one.page.locator("#board-area.choosing").wait_for()
    return one


def the_only(held: list[Route], page: Page) -> Route:
    """The one request that is held, once the browser has sent it."""
    while not held:
        page.evaluate("0")  # so that Playwright hands it over
    (sent,) = held
    return sent


def test_a_preview_is_no_move_and_after_play_the_next_match_is_one_key_away(api, person):
    one = opened(api, person, "ada")
    page, play = one.page, one.page.locator("#confirm")
    one.picks("m13-j7")
    label = page.evaluate(
        "getComputedStyle(document.querySelector('#board-area.looking'), '::after').content"
    )
    assert "not played yet" in label
    expect(page.locator("#turn")).to_have_text("Your turn")
    expect(page.locator('.plate.to-move[data-seat="0"]')).to_be_visible()
    assert load_state(api.parts, one.board).ply == 0
    held: list[Route] = []
    page.route("**/act", lambda route: held.append(route))  # noqa: PLW0108 - needs a function
    play.click()
    expect(play).to_have_class(re.compile("pending"))
    play.click(force=True)  # it is on its way, and is not sent again
    sent = the_only(held, page)
    sent.continue_()
    expect(page.locator("#next-match")).to_contain_text("Next: Mū tōrere against")
    assert load_state(api.parts, one.board).ply == 1
    page.locator("h1 .quiet").click()
    page.keyboard.press("n")
    page.wait_for_url(f"**/m/{one.other}")


def test_after_a_move_the_header_counts_no_match_when_the_page_says_that_none_waits(api, person):
    one, other = api.players()
    board = api.begun(one, other)
    api.caught_up()
    mover = person(one)
    page = mover.goes_to(f"/m/{board}")
    expect(page.locator("#waiting .pill-number")).to_have_text("1")
    mover.picks("m13-j7")
    assert page.evaluate(
        """() => new Promise((done) => {
          // the page's own listener comes first, and is the only one that knows before the stream
          document.addEventListener('htmx:afterSettle', () => {
            if (document.querySelector('.next.quiet')) done(document.querySelector('#waiting').hidden);
          });
          document.querySelector('#confirm').click();
        })"""
    )


def test_news_before_the_answer_to_a_move_leave_one_of_each_part(api, person):
    one = opened(api, person, "nia")
    page, held = one.page, []
    one.picks("m13-j7")
    page.route("**/act", lambda route: held.append(route))  # noqa: PLW0108 - needs a function
    page.locator("#confirm").click()
    expect(page.locator("#confirm")).to_have_class(re.compile("pending"))
    sent = the_only(held, page)
    answer = sent.fetch()
    # the form that was sent is gone before its answer comes
    expect(page.locator("#turn")).to_contain_text("s turn")
    expect(page.locator("#play")).to_have_count(0)
    with page.expect_response("**/act"):
        sent.fulfill(response=answer)
    expect(page.locator("#next-match")).to_contain_text("Next: Mū tōrere against")
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))


def test_times_are_those_of_the_browser_and_clocks_run(api, person):
    one = opened(api, person, "zona", timezone_id="Asia/Tokyo", locale="en-GB")
    page = one.goes_to(f"/m/{one.other}")
    due = page.locator("time[data-shown=moment]").first
    expect(due).to_have_attribute("title", re.compile("GMT\\+9|Japan"))
    assert "UTC" not in due.inner_text()
    clock = page.locator(".plate.to-move time[data-deadline]")
    expect(clock).to_have_text(re.compile(r"^23 h 5\d min$"))
    expect(clock).to_have_class("urgent")
    page.evaluate(
        """() => {
          const clock = document.querySelector(".plate.to-move time[data-deadline]");
          const next = clock.cloneNode(true);
          next.dataset.deadline = 65_000;
          clock.replaceWith(next);
          document.dispatchEvent(new Event("htmx:afterSettle", { bubbles: true }));
        }"""
    )
    expect(clock).to_have_text(re.compile(r"^(1:0[0-3]|0:\d\d)$"))


MOVES = ("m13-m5:l4", "a13-c11", "l4-k3:j2", "a1-a7")


@pytest.fixture
def pair(api):
    return api.players()


@pytest.fixture
def board(api, pair) -> int:
    board = api.begun(*pair)
    for at, move in enumerate(MOVES):
        assert pair[at % 2].move(board, move).is_success
    return board


def test_earlier_positions_are_shown_in_place_and_news_are_announced(person, pair, board):
    one = person(pair[0])
    page = one.goes_to(f"/m/{board}")
    page.locator("#board-area.choosing").wait_for()
    page.keyboard.press("ArrowLeft")
    label = page.locator("#study-turn")
    expect(label).to_contain_text("Earlier position")
    expect(label).to_contain_text("After move 3 of 4: l4-k3:j2.")
    expect(page.locator("#board-box")).to_be_hidden()
    expect(page.locator("#builder")).to_be_hidden()
    page.get_by_role("link", name="Back one move").click()
    expect(page.locator(".moves a.now")).to_have_text("a13-c11")
    page.wait_for_url(f"**/m/{board}#at=2")
    page.locator(".moves a", has_text="m13-m5:l4").click()
    expect(label).to_contain_text("After move 1 of 4")
    assert pair[0].move(board, "m5-m9").is_success
    expect(label).to_contain_text("Played in the meantime: m5-m9.")
    expect(label).to_contain_text("After move 1 of 5")
    page.get_by_role("button", name="Back to the match").click()
    expect(label).to_be_hidden()
    expect(page.locator('#board-area [data-place="m9"] .piece')).to_be_visible()
    expect(page.locator(".moves a.now")).to_have_text("m5-m9")
    assert page.url.endswith(f"/m/{board}")


def test_what_shows_earlier_positions_is_loaded_when_somebody_goes_to_one_or_the_match_goes_on(
    api, person
):
    ada, ben = api.player(), api.player()
    board = api.begun(ada, ben)
    ada.move(board, "m13-m5:l4")
    one = person()
    page, address, loaded = one.page, asset_url("walk.js"), list[str]()
    page.on("request", lambda request: loaded.append(request.url.removeprefix(api.url)))
    page.route(f"**{address}", lambda route: route.abort())
    one.goes_to(f"/m/{board}")
    with page.expect_request(f"**{asset_url('worker.js')}"):  # which waits for the board
        expect(page.locator("#steps .slider")).to_be_visible()
    assert address not in loaded
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#message")).to_contain_text("Can’t reach the server.")
    page.unroute(f"**{address}")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#study-turn")).to_contain_text("Earlier position")
    one.goes_to(f"/m/{board}")
    assert loaded.count(address) == 2
    ben.move(board, "a13-c11")
    expect(page.locator("#steps [data-step=back]")).to_have_attribute("href", f"/m/{board}/1")


def test_tried_moves_are_branches_that_come_back_and_can_be_deleted(api, person, board):
    one = person(**PHONE)
    page = one.goes_to(f"/m/{board}#at=1")
    page.get_by_role("link", name="Try moves from here").click()
    expect(page.locator("#study-turn")).to_contain_text("Sandbox: nothing here is played")
    one.tries("a13-d7")
    one.tries("m5-m9")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".branch a.now")).to_have_text("a13-d7")
    one.tries("m1-i3")
    expect(page.locator(".branch .branch a.now")).to_have_text("m1-i3")
    assert faults_of(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    address = page.url
    other = person(**PHONE).goes_to(address)  # by the address alone
    expect(other.locator(".branch a")).to_have_text(["a13-d7", "m5-m9", "m1-i3"])
    expect(other.locator(".branch a.now")).to_have_text("m1-i3")
    page.goto(f"/m/{board}")  # by what the browser keeps
    expect(page.locator(".branch a")).to_have_text(["a13-d7", "m5-m9", "m1-i3"])
    page.get_by_role("button", name="Delete a13-d7 m1-i3").click()
    expect(page.locator(".branch a")).to_have_text(["a13-d7", "m5-m9"])
    page.get_by_role("button", name="Delete a13-d7", exact=True).click()
    expect(page.locator(".branches")).to_have_count(0)
    assert load_state(api.parts, board).moves.split() == list(MOVES)


def test_a_tried_branch_becomes_a_conditional_move_and_is_dropped(api, person, pair, board):
    one = person(pair[1])
    page = one.goes_to(f"/m/{board}")
    for answer in ("c11-d10", "a7-a9"):
        page.get_by_role("link", name="Try moves from here").click()
        one.tries("m5-m9")
        one.tries(answer)
        page.get_by_role("button", name="Save as conditional move").last.click()
        expect(page.locator(".conditional li")).to_have_text(re.compile(f"m5-m9 {answer}"))
        expect(page.locator(".branch .quiet")).to_have_text(["Saved"])
        page.get_by_role("button", name="Back to the match").click()
    page.get_by_role("button", name="Delete m5-m9", exact=True).last.click()
    expect(page.locator(".conditional li")).to_have_count(0)
    expect(page.get_by_role("button", name="Save as conditional move")).to_have_count(2)
    assert conditional_moves_of(api.parts, pair[1].account, board).moves == ()
    expect(page.get_by_role("link", name="Add a conditional move")).to_be_visible()


@pytest.mark.long
def test_who_proposes_hears_that_it_was_declined_and_nothing_if_it_was_not(api, person):
    one = person("proposer")
    other = api.player(name="decliner")
    board = api.begun(api.player_of(one.name), other)
    page = one.goes_to(f"/m/{board}")
    one.plays("m13-j7")
    assert other.move(board, "a13-d7").status_code == 200
    action = page.locator("#action")

    def proposes(label: str) -> None:
        if page.locator("#proposing").get_attribute("open") != "":
            page.locator("#proposing summary").click()
        page.get_by_role("button", name=label).click()
        expect(action.get_by_role("button", name="Withdraw")).to_be_visible()

    proposes("Offer a draw")
    top = page.evaluate("document.querySelector('#board-box').getBoundingClientRect().top")
    other.give(board, {"do": "reject"})
    expect(action.get_by_role("status").first).to_have_text("decliner declined the draw.")
    assert page.evaluate("document.querySelector('#board-box').getBoundingClientRect().top") == top
    # it gives way to the next proposal; one's own taking back and what is accepted are no refusals
    proposes("Suggest a pause")
    action.get_by_role("button", name="Withdraw").click()
    expect(action.locator(".offer")).to_have_count(0)
    proposes("Suggest a pause")
    other.give(board, {"do": "accept"})
    expect(page.get_by_role("region", name="Pause")).to_be_visible()
    expect(action.locator(".offer")).to_have_count(0)
    page.get_by_role("button", name="End the pause").click()
    proposes("Ask for a takeback")
    other.give(board, {"do": "accept"})
    page.locator('#board-area[data-ply="0"]').wait_for()
    expect(action.locator(".offer")).to_have_count(0)
    page.get_by_role("button", name="Resign").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Resign this match?")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    page.get_by_role("button", name="Resign").click()
    other.give(
        board, {"do": "offer", "kind": "draw"}
    )  # another form comes in place of the one that asks
    expect(action).to_contain_text("decliner offers a draw.")
    dialog.get_by_role("button", name="Resign").click()
    expect(page.locator("#turn")).to_contain_text("You resigned")


def test_the_change_of_the_rating_comes_by_itself_after_the_end(api, person, monkeypatch):
    one, two = api.players()
    board = api.begun(one, two)
    assert one.move(board, "m13-j7").status_code == 200
    assert two.move(board, "a13-d7").status_code == 200
    page = person(one).goes_to(f"/m/{board}")
    with monkeypatch.context() as patched:  # the rating is not known yet
        patched.setattr(page_module, "read_rating_change", lambda *_: read_nothing(None))
        two.give(board, {"do": "resign"})
        expect(page.locator("#turn")).to_contain_text("You won by resignation.")
        expect(page.locator("#turn .change")).to_have_text("")
    expect(page.locator("#turn")).to_contain_text("You won by resignation. Rating 1500 →")
    expect(page.locator("#turn .change")).to_have_count(1)
    asked = two.post(f"/api/matches/{board}/rematch", {}).json()["board"]
    expect(page.locator("#action")).to_contain_text(f"{two.name} wants a rematch.")
    page.locator("#action").get_by_role("button", name="Accept").click()
    page.wait_for_url(f"**/m/{asked}")
    expect(page.locator("#turn")).to_contain_text("s turn")


def test_a_replay_is_gone_through_with_keys_links_and_the_slider(person, board):
    page = person().goes_to(f"/m/{board}/0")
    said = page.locator("#at .says")
    for key, ply in (
        ("ArrowRight", 1),
        ("ArrowRight", 2),
        ("ArrowLeft", 1),
        ("End", 4),
        ("Home", 0),
    ):
        page.keyboard.press(key)
        page.wait_for_url(f"**/m/{board}/{ply}")
        expect(said).to_contain_text(f"After move {ply} of 4" if ply else "The start")
    page.locator(".moves a", has_text="l4-k3:j2").click()
    page.wait_for_url(f"**/m/{board}/3")
    expect(page.locator('[data-place="k3"] .piece')).to_have_count(1)
    page.get_by_label("Position", exact=True).fill("2")
    page.wait_for_url(f"**/m/{board}/2")
    expect(page.locator('[data-place="c11"] .piece')).to_have_count(1)
    expect(page.locator(".moves a.now")).to_have_text("a13-c11")


@pytest.mark.long
def test_without_scripts_one_signs_up_plays_and_replays_all_the_same(api, person):
    one, two = person(java_script_enabled=False), person(java_script_enabled=False)
    one.signs_up("nora")
    two.signs_up("nina")
    one.goes_to("/new?opponent=nina")
    one.page.locator('[name="pow2-seat"][value="0"]').check()
    one.starts()
    one.page.wait_for_url("**/m/*")
    field = one.page.get_by_label("Move", exact=True)
    field.fill("m13-k5")
    one.page.get_by_role("button", name="Play", exact=True).click()
    expect(one.page.locator(".message")).to_have_text("m13-k5: no line connects m13 and k5.")
    expect(field).to_have_value("m13-k5")
    expect(field).to_be_focused()
    one.page.get_by_role("button", name="Check").click()
    expect(one.page.locator(".message")).to_contain_text("no line connects m13 and k5")
    assert re.fullmatch(r"/m/\d+/check\?move=m13-k5", one.page.url.removeprefix(api.url))
    field.fill("m13-m5:l4")
    one.page.get_by_role("button", name="Check").click()
    expect(one.page.locator("main")).to_contain_text("m1: Light, fresh becomes Light, aged")
    assert one.page.locator(".board-frame svg").bounding_box()["width"] <= 520
    one.page.get_by_role("button", name="Play it").click()
    one.page.locator(".moves a.now", has_text="m13-m5:l4").wait_for()
    board = int(one.page.url.rpartition("/")[2])
    two.goes_to(f"/m/{board}")
    expect(two.page.locator("#turn")).to_have_text(re.compile("nora challenges you"))
    two.page.get_by_role("button", name="Accept").click()
    expect(two.page.locator("#turn")).to_have_text(re.compile("Your turn"))
    two.page.get_by_label("Say something").fill("Hello!")
    two.page.get_by_role("button", name="Send").click()
    expect(two.page.locator("#chat")).to_contain_text("Hello!")
    two.page.get_by_role("link", name="Replay").click()
    two.page.wait_for_url(f"**/m/{board}/1")
    two.page.get_by_role("link", name="To the start").click()
    two.page.wait_for_url(f"**/m/{board}/0")
    two.page.get_by_role("link", name="Try moves from here").click()
    two.page.get_by_label("Move", exact=True).fill("m1-m7")
    two.page.get_by_role("button", name="Try moves from here").click()
    two.page.wait_for_url(f"**/m/{board}/0/if?line=m1-m7")
    assert load_state(api.parts, board).ply == 1


def sets(page, place: str, moves: int) -> None:
    page.locator("#board-area.choosing").wait_for()
    page.locator(f'#board-area [data-place="{place}"] .hit').click()
    page.locator(f'#board-area.choosing[data-ply="{moves}"]').wait_for()


def test_a_puzzle_is_solved_by_clicks_undone_redone_and_handed_in(api, person):
    page = (one := person("solva")).goes_to("/puzzles")
    page.get_by_role("link", name="One by One").first.click()
    page.wait_for_url("**/puzzles/one")
    expect(page.get_by_role("button", name="Submit")).to_be_disabled()
    sets(page, "a9", 1)
    expect(page.locator("#turn")).to_have_text("3 lines with exactly one stone, by 1 stone.")
    sets(page, "c3", 2)
    sets(page, "a9", 3)  # takes it back
    page.get_by_role("link", name="Undo").click()
    page.locator('#board-area.choosing[data-ply="2"]').wait_for()
    page.keyboard.press("Control+z")
    page.locator('#board-area.choosing[data-ply="1"]').wait_for()
    page.get_by_role("link", name="Redo").click()
    page.locator('#board-area.choosing[data-ply="2"]').wait_for()
    # nothing is lost by closing the page, and nothing was started
    page.reload()
    page.locator('#board-area[data-ply="2"]').wait_for()
    one.goes_to("/puzzles").get_by_role("link", name="Continue").click()
    page.locator('#board-area[data-ply="2"]').wait_for()
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/m/*")
    state = load_state(api.parts, int(page.url.rpartition("/")[2]))
    assert state.over
    assert state.moves.split() == ["a9", "c3", "done"]
    expect(page.locator("main")).to_contain_text("below the proven maximum.")
    expect(page.locator("main")).not_to_contain_text("won.")
    page.get_by_role("link", name="Try again").click()
    page.wait_for_url("**/puzzles/one")
    expect(one.goes_to("/puzzles").locator("[data-goes-on]:visible")).to_have_count(0)


def test_an_analysis_is_asked_for_and_comes_by_itself(api, person):
    anna = person("anna")
    board = api.begun(api.player_of("anna"), api.player(), game="pow2")
    for move in ({"do": "move", "move": "m13-j7"}, {"do": "resign"}):
        assert api.player_of("anna").give(board, move).is_success
    page = anna.goes_to(f"/m/{board}")
    anna.expected.append("htmx:")
    page.get_by_role("link", name="Analysis").click()
    with listening(api.parts):
        page.get_by_role("button", name="Analyse").click()
        page.locator("#progress").wait_for()
    expect(page.get_by_role("status")).to_contain_text("0 of 2 positions done")
    assert faults_of(page) == []
    # too many requests: the page stays, and looks again by itself
    page.route("**/analysis", lambda route: route.fulfill(status=429, body="<p>wait</p>"))
    expect(page.locator("#offline")).to_contain_text("Too many requests. Trying again")
    expect(page.locator("#progress")).to_contain_text("0 of 2 positions done")
    page.unroute("**/analysis")
    expect(page.locator("#offline")).to_be_hidden()
    assert analyse(api.parts, board)
    expect(page.locator("svg.plot polyline")).to_have_count(1)
    expect(page.get_by_role("heading", name="Turning points")).to_be_visible()
