"""The way of somebody who comes for the first time: a move to try, an account, a match with a robot."""

import pytest
from playwright.sync_api import Locator, Page, expect

from domain.match.state import position_of
from domain.rules import rules_by_id
from infra.people.account_macs import AccountMacs
from infra.people.accounts import create_robot_accounts
from services.app.matches import load_state
from tests.helpers.api import PASSWORD
from tests.helpers.browser import PHONE

pytestmark = pytest.mark.slow


class Steps:
    """Counts the clicks and the fields that are filled on a page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0
        self.fields = 0

    def click(self, target: Locator) -> None:
        """Click on something."""
        target.click()
        self.clicks += 1

    def fill(self, name: str, text: str) -> None:
        """Fill a field of a form."""
        self.page.locator(f'main [name="{name}"]').fill(text)
        self.fields += 1

    def move(self) -> None:
        """Choose the first move place by place, and play it."""
        area = self.page.locator("#board-area.choosing")
        area.wait_for()
        ply, confirm = area.get_attribute("data-ply"), self.page.locator("#confirm")
        for _ in range(4):
            if confirm.is_enabled():
                break
            self.click(area.locator(".choice .hit").first)
        self.click(confirm)
        self.page.locator(f'#board-area:not([data-ply="{ply}"])').wait_for()


@pytest.mark.parametrize(
    "options", [{}, pytest.param(PHONE, marks=pytest.mark.long)], ids=["desktop", "phone"]
)
def test_from_the_first_page_to_a_move_against_a_robot(api, person, options, request):
    create_robot_accounts(api.parts.data, AccountMacs())
    page = person(**options).goes_to("/")
    steps = Steps(page)
    steps.move()
    expect(page.locator("#turn")).to_contain_text("The robot played")
    steps.click(page.locator("header").get_by_role("link", name="Sign up"))
    steps.fill("userid", f"newcomer-{request.node.callspec.id[:5]}")
    steps.fill("password", PASSWORD)
    steps.click(page.locator('main form[action="/signup"] button').last)
    page.wait_for_url("/")
    steps.click(page.locator('form[action="/robots"] button').first)
    page.wait_for_url("**/m/*")
    board = int(page.url.rpartition("/")[2])
    state = load_state(api.parts, board)
    if page.locator("#builder").count() == 0:  # chance let the robot begin, and no robot runs here
        rules = rules_by_id(state.rules)
        api.player_of("robot-easy").move(board, next(rules.legal_moves(position_of(state))))
    steps.move()
    assert steps.fields == 2
    assert steps.clicks <= 9
