"""The page of a player's own bots."""

import re

import pytest
from playwright.sync_api import expect

from tests.helpers.api import Player, code_of

pytestmark = pytest.mark.slow


def test_a_bot_is_made_set_given_a_token_and_deleted_on_its_page(api, person):
    owner, guest = api.player(name="otto"), api.player()
    page = person(owner).page
    page.goto(f"{api.url}/account/bots")
    page.get_by_label("Name", exact=True).fill("bot-deep")
    page.get_by_role("button", name="Make a bot").click()
    page.get_by_label("The Power of Two").check()
    page.get_by_label("Most days per move").fill("3")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_have_text("Saved.")
    expect(page.get_by_label("The Power of Two")).to_be_checked()

    page.get_by_text("Tokens").click()
    page.get_by_label("Where it runs").fill("at home")
    page.get_by_role("button", name="Create token").click()
    token = page.get_by_label("The token").input_value()
    bot = Player(api, "bot-deep", api.parts.accounts.id_of("bot-deep"), token)
    assert bot.get("/api/account").json()["userid"] == "bot-deep"
    body = {"game": "line", "players": [guest.name, "bot-deep"]}
    assert code_of(guest.post("/api/matches", body)) == "not-wanted"

    # a mistake is shown at the form in which it was made
    page.get_by_label("Name", exact=True).fill("bot-deep")
    page.get_by_role("button", name="Make a bot").click()
    expect(page.locator("#new").get_by_role("alert")).to_contain_text("bot-deep")

    page.goto(f"{api.url}/players/bot-deep")
    expect(page.get_by_text("A program of")).to_contain_text("otto")
    page.goto(f"{api.url}/account/bots")
    page.get_by_text("Delete bot-deep").click()
    page.get_by_role("button", name="Delete for good").click()
    expect(page.get_by_role("heading", name=re.compile("bot-deep"))).to_have_count(0)
    assert code_of(bot.get("/api/account")) == "unknown-token"
