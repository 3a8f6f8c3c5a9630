"""Many pages in one browser, lines that break, lists that are looked at, and what is pushed to a browser."""

import re

import pytest
from playwright.sync_api import expect

from infra.people.sessions import Sessions
from services.app.matches import load_state

pytestmark = pytest.mark.slow


NO_WORKER = "delete window.SharedWorker"
HIDDEN = """
  window.away = false;
  Object.defineProperty(document, "hidden", { get: () => window.away });
"""

COVERED = """() => [...document.querySelectorAll("#action :is(button, input)")]
  .filter((one) => one.checkVisibility())
  .filter((one) => {
    const box = one.getBoundingClientRect();
    return !one.contains(document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2));
  })
  .map((one) => one.textContent || one.name)"""
"""The controls in the head of a match that something lies over."""


def look_away(page) -> None:
    page.evaluate("window.away = true")


def look_again(page) -> None:
    page.evaluate("window.away = false; document.dispatchEvent(new Event('visibilitychange'))")


def test_a_browser_without_shared_workers_follows_what_is_looked_at(api, person):
    one, other = person("lonely"), api.player()
    one.page.add_init_script(NO_WORKER)
    board = api.begun(other, api.player_of(one.name))
    one.goes_to(f"/m/{board}")
    other.move(board, "m13-j7")
    one.waits_for_turn()


def test_a_page_heals_after_its_line_was_down(api, person):
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


def test_a_page_that_is_looked_at_again_shows_what_is_so_now(api, person):
    one, other = person("heike"), api.player()
    one.page.add_init_script(NO_WORKER + ";" + HIDDEN)
    board = api.begun(other, api.player_of(one.name))
    one.goes_to(f"/m/{board}")
    look_away(one.page)
    one.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    other.move(board, "m13-j7")
    look_again(one.page)
    one.waits_for_turn()


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
    one, other = person("carla"), api.player()
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


def test_a_move_that_is_sent_after_the_session_is_over_is_there_after_the_login(api, person):
    one, other = person("ulrike"), api.player()
    board = api.begun(api.player_of(one.name), other)
    one.goes_to(f"/m/{board}")
    one.picks("m13-m5:l4")
    Sessions(api.parts.data).forget(api.parts.accounts.id_of(one.name))
    one.page.locator("#confirm").click()
    said = one.page.locator("#message")
    expect(said).to_contain_text("Your move has been kept. Log in again")
    said.get_by_role("link", name="Log in again").click()
    one.page.wait_for_url("**/login?**")
    expect(one.page.locator("main")).to_contain_text("your move is kept")
    one.logs_in()
    one.page.wait_for_url(f"**/m/{board}?move=**")
    expect(one.page.locator("#move")).to_have_value("m13-m5:l4")
    expect(one.page.locator("#says")).to_contain_text("Play m13-m5:l4")
    assert load_state(api.parts, board).ply == 0
    one.page.locator("#confirm").click()
    one.page.locator(".moves a.now", has_text="m13-m5:l4").wait_for()
    assert load_state(api.parts, board).ply == 1
