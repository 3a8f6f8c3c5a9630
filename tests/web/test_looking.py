"""Replays, lines that nobody plays, puzzles, and pages without scripts."""

import re

import pytest
from playwright.sync_api import expect

from services.app.matches import load_state
from tests.fakes.tokens import check_one
from tests.helpers.api import until
from tests.helpers.browser import choices, faults_of
from tests.helpers.publishing import publish

pytestmark = pytest.mark.slow

MOVES = ("m13-m5:l4", "a13-c11", "l4-k3:j2", "a1-a7")


@pytest.fixture(scope="module")
def board(api) -> int:
    """A match with some moves."""
    players = api.players()
    board = api.begun(*players)
    for at, move in enumerate(MOVES):
        assert players[at % 2].move(board, move).status_code == 200
    return board


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
def test_receipt_and_proof_are_files_behind_the_mark(api, person):
    two = api.players()
    board = api.begun(*two)
    for at, move in enumerate(MOVES):
        assert two[at % 2].move(board, move).is_success
    one = person(two[0])
    page = one.goes_to(f"/m/{board}")
    expect(page.locator("#recorded")).to_have_text("Saved · being added to the public log")
    publish(api)

    def published() -> bool:
        page.reload()
        return "proof" in page.locator("#recorded").inner_text()

    until(published)
    expect(page.locator(".moves .kept")).to_have_count(4)
    page.get_by_text("Share and export").click()
    for name in ("Receipt", "proof"):
        with page.expect_download() as download:
            page.get_by_role("link", name=name, exact=True).click()
        assert download.value.suggested_filename == f"{name.lower()}-{board}-6.txt"
    one.goes_to(f"/m/{board}/2")
    page.keyboard.press("ArrowRight")
    page.wait_for_url(f"**/m/{board}/3")
    page.get_by_text("Share and export").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Proof", exact=True).click()
    assert download.value.suggested_filename == f"proof-{board}-5.txt"
    assert faults_of(page) == []


def test_a_replay_runs_by_itself_and_stops_at_the_end(person, board):
    page = person().page
    page.clock.install()
    page.goto(f"/m/{board}/2")
    page.clock.pause_at(page.evaluate("Date.now()") + 1_000)
    run = page.locator("#run")
    run.click()
    expect(run).to_have_text("Stop")
    for ply in (3, 4):
        page.clock.run_for(1_200)
        page.wait_for_url(f"**/m/{board}/{ply}")
    expect(run).to_have_text("Stop")
    page.clock.run_for(1_200)
    expect(run).to_have_text("Play ▶")


def test_each_ply_has_an_address_that_shows_it(person, board):
    one, other = person(), person()
    one.goes_to(f"/m/{board}/0")
    one.page.keyboard.press("End")
    one.page.wait_for_url(f"**/m/{board}/4")
    other.goes_to(one.page.url)
    expect(other.page.locator("#at .says")).to_contain_text("After move 4 of 4: a1-a7")


def test_what_if_is_played_for_everybody_and_touches_nothing(api, person, board):
    one = person()
    one.goes_to(f"/m/{board}/1/if")
    one.picks("a13-d7")
    one.page.locator("#confirm").click()
    one.page.locator(".moves a.now", has_text="a13-d7").wait_for()
    one.picks("m5-m9")
    one.page.locator("#confirm").click()
    one.page.wait_for_url(f"**/m/{board}/1/if?line=a13-d7+m5-m9")
    one.page.get_by_role("link", name="Take back").click()
    one.page.wait_for_url(f"**/m/{board}/1/if?line=a13-d7")
    one.page.locator("#board-area.choosing").wait_for()
    assert "m5" in choices(one.page)
    one.page.go_back()
    expect(one.page.locator(".moves a.now")).to_have_text("m5-m9")
    assert load_state(api.parts, board).moves.split() == list(MOVES)


@pytest.mark.long
def test_replies_are_laid_ready_on_the_board(api, person):
    light, dark = person("rita"), person("rosa")
    light.goes_to("/new?opponent=rosa")
    light.page.locator('[name="pow2-seat"][value="0"]').check()
    light.starts()
    light.page.wait_for_url("**/m/*")
    board = int(light.page.url.rpartition("/")[2])
    dark.accepts(board)
    dark.page.get_by_role("link", name="Add a conditional move").click()
    for move in ("m13-j7", "a13-d7"):
        dark.picks(move)
        dark.page.locator("#confirm").click()
        dark.page.locator(".moves a.now", has_text=move).wait_for()
    dark.page.get_by_role("button", name="Save as conditional move").click()
    dark.page.wait_for_url(f"**/m/{board}")
    expect(dark.page.locator(".conditional li")).to_have_text(re.compile(r"m13-j7 a13-d7"))
    light.picks("m13-j7")
    light.page.locator("#confirm").click()
    light.page.locator(".moves a.now", has_text="a13-d7").wait_for()
    light.waits_for_turn()
    assert load_state(api.parts, board).ply == 2


@pytest.mark.long
def test_a_puzzle_that_a_program_started_is_solved_step_by_step(api, person):
    solver = api.player(name="solveig")
    one = person(solver)
    one.goes_to(f"/m/{api.begun(solver, game='one')}")
    one.plays("c3")
    score = one.page.locator(".score")
    expect(score).to_contain_text("lines with exactly one stone, by 1 stone")
    one.plays("m13")
    expect(score).to_contain_text("by 2 stones")
    one.plays("-m13")
    one.plays("done")
    expect(one.page.locator("#turn")).to_have_class(re.compile("ended"))
    expect(one.page.locator("#turn")).to_contain_text("Finished: ")
    expect(one.page.locator("body")).to_contain_text("Proven maximum: 40")


def test_a_jump_may_go_on_where_it_could_end(person):
    one = person()
    one.goes_to("/games/jump/try?line=a1+c3:d4")
    one.page.locator("#board-area.choosing").wait_for()
    found = one.page.evaluate(
        """async () => (await (await fetch(
             document.querySelector("#board-area").dataset.moves)).json()).moves"""
    )
    longer = next(move for move in found if move.count("-") == 1 and move.split("-")[0] in found)
    one.picks(longer.split("-")[0])
    expect(one.page.locator("#says")).to_contain_text("or continue?")
    one.chooses(longer.split("-")[1])
    expect(one.page.locator("#move")).to_have_value(longer)


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


@pytest.mark.long
def test_the_account_is_looked_after_in_the_browser(api, person):
    one = person("olga")
    page = one.goes_to("/account")
    for language, goal in (("de", "Wer als Erster am Ende"), ("en", "The first to end a turn")):
        form = page.locator("form", has=page.locator('select[name="language"]'))
        form.locator('select[name="language"]').select_option(language)
        with page.expect_navigation():
            form.get_by_role("button").click()
        page.goto("/games/pow2")
        expect(page.locator("html")).to_have_attribute("lang", language)
        expect(page.locator("main")).to_contain_text(goal)
        page.goto("/account")
    page.get_by_text("Tokens for programs").click()
    page.get_by_label("What it is for").fill("my bot")
    page.get_by_role("button", name="Create token").click()
    token = page.get_by_label("The token", exact=True).input_value()
    assert check_one(api.parts.tokens, token).label == "my bot"
    page.get_by_role("button", name="Log out", exact=True).click()
    page.wait_for_url("/")
    expect(page.locator("header")).to_contain_text("Log in")
    page.goto("/account")
    page.wait_for_url("**/login?next=/account")


def test_the_board_of_the_first_page_is_live(api, person):
    players = api.players()
    board = api.begun(*players)
    api.caught_up()
    page = person().goes_to("/")
    expect(page.locator("h1")).to_contain_text("games at your own pace")
    expect(page.locator("[data-follow]")).to_have_attribute("data-follow", str(board))
    expect(page.locator('#live-board [data-place="j7"] .piece')).to_have_count(0)
    players[0].move(board, "m13-j7")
    expect(page.locator('#live-board [data-place="j7"] .piece')).to_have_count(1)


def test_the_list_of_matches_is_made_anew_when_somebody_looks_at_it_again(api, person):
    one = person("hanna")
    one.goes_to("/")
    expect(one.page.locator("#matches")).to_contain_text("You have no games in progress")
    account = api.parts.accounts.id_of("hanna")
    other = api.player()
    board = api.match(other, api.player_of("hanna"))
    api.caught_up()
    assert [row.board for row in api.parts.lists.proposed(account)] == [board]
    one.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(one.page.locator(f'#matches a[href="/m/{board}"]').last).to_be_visible()
    expect(one.page).to_have_title("(1) matchpost")
