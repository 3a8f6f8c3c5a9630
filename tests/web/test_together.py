"""Many pages in one browser, lines that break, lists that are looked at, and what is pushed to a browser."""

import re

import pytest
from playwright.sync_api import expect

from infra.people.sessions import Sessions
from services.app.matches import load_state

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
