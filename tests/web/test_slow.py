"""The pages on a slow line and a slow processor: each state is right, and nothing is sent twice."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from domain.match.state import position_of
from domain.rules import rules_by_id
from infra.people.account_macs import AccountMacs
from infra.people.accounts import create_robot_accounts
from services.app.matches import load_state
from tests.helpers.api import PASSWORD

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

PATIENCE_MS = 90_000
LATENCY_MS = 400
BYTES_A_SECOND = 50 * 1_024
SLOWER = 6


def slow_down(page: Page) -> Callable[[int], None]:
    """Give a page a slow line and a slow processor; return a function that cuts the line, or mends it."""
    page.set_default_timeout(PATIENCE_MS)
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})

    def cut(offline: int) -> None:
        speed = {"downloadThroughput": BYTES_A_SECOND, "uploadThroughput": BYTES_A_SECOND}
        line = {"offline": bool(offline), "latency": LATENCY_MS, **speed}
        session.send("Network.emulateNetworkConditions", line)

    cut(0)
    return cut


def play_first(page: Page) -> None:
    """Choose the first move place by place, and play it."""
    area = page.locator("#board-area.choosing")
    area.wait_for()
    ply, confirm = area.get_attribute("data-ply"), page.locator("#confirm")
    for _ in range(4):
        if confirm.is_enabled():
            break
        area.locator(".choice .hit").first.click()
    confirm.click()
    page.locator(f'#board-area:not([data-ply="{ply}"])').wait_for()


@pytest.mark.long
def test_a_newcomer_gets_to_a_move_against_a_robot(api, person):
    create_robot_accounts(api.parts.data, AccountMacs())
    one = person()
    page = one.page
    slow_down(page)
    page.goto("/", wait_until="commit")
    # the board is there before the scripts, which make it one to click on
    page.locator("#board-area svg .piece").first.wait_for()
    play_first(page)
    expect(page.locator("#turn").last).to_contain_text("The robot has played", timeout=PATIENCE_MS)
    page.locator("header").get_by_role("link", name="Sign up").click()
    page.locator('main [name="userid"]').fill("patient")
    page.locator('main [name="password"]').fill(PASSWORD)
    page.locator('main form[action="/signup"] button').last.click()
    page.wait_for_url("/")
    page.locator('form[action="/robots"] button').first.click()
    page.wait_for_url("**/m/*")
    board = int(page.url.rpartition("/")[2])
    state = load_state(api.parts, board)
    if page.locator("#builder").count() == 0:  # chance let the robot begin, and no robot runs here
        rules = rules_by_id(state.rules)
        api.player_of("robot-easy").move(board, next(rules.legal_moves(position_of(state))))
    play_first(page)
    ours = state.seats.index(api.parts.accounts.id_of("patient"))
    assert load_state(api.parts, board).next == 1 - ours


def test_a_move_that_is_on_its_way_is_seen_to_be_and_is_sent_once(api, person):
    one, other = person("snail"), api.player()
    board = api.begun(api.player_of(one.name), other)
    page = one.goes_to(f"/m/{board}")
    one.picks("m13-j7")
    slow_down(page)
    sent = []
    page.on(
        "request", lambda request: sent.append(request.method) if request.method == "POST" else None
    )
    confirm = page.locator("#confirm")
    confirm.click()
    expect(confirm).to_have_class(re.compile(r"\bpending\b"))
    confirm.dispatch_event("click")
    expect(page.locator("#turn").last).to_contain_text(other.name, timeout=PATIENCE_MS)
    assert sent == ["POST"]
    assert load_state(api.parts, board).ply == 1


def test_a_line_that_breaks_in_the_middle_of_a_move_loses_nothing(api, person):
    one, other = person("tortoise"), api.player()
    board = api.begun(api.player_of(one.name), other)
    page = one.goes_to(f"/m/{board}")
    one.expected.append("htmx:")
    cut = slow_down(page)
    one.picks("m13-j7")
    cut(1)
    page.locator("#confirm").click()
    expect(page.locator("main")).to_contain_text(
        re.compile("can.t reach the server", re.IGNORECASE), timeout=PATIENCE_MS
    )
    expect(page.locator("#move")).to_have_value("m13-j7")
    assert load_state(api.parts, board).ply == 0
    cut(0)
    expect(page.locator("#offline")).to_be_hidden(timeout=PATIENCE_MS)
    page.locator("#confirm").click()
    expect(page.locator("#turn").last).to_contain_text(other.name, timeout=PATIENCE_MS)
    assert load_state(api.parts, board).ply == 1
