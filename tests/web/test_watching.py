"""Watched matches in the browser: the star, the list on home that keeps itself up to date, and the muted chat."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.helpers.api import Api
from tests.helpers.browser import Person, faults_of


@pytest.mark.parametrize("scripts", [True, pytest.param(False, marks=pytest.mark.long)])
def test_the_star_keeps_a_match_and_home_shows_how_it_goes_on(
    api: Api, person: Callable[..., Person], *, scripts: bool
) -> None:
    one, other = api.players()
    board = api.begun(one, other)
    fan = person("fan" if scripts else "plainfan", java_script_enabled=scripts)
    page = fan.goes_to(f"/m/{board}")
    star = page.get_by_role("button", name="Watch")
    expect(star).to_have_attribute("aria-pressed", "false")
    star.press("Enter")
    expect(star).to_have_attribute("aria-pressed", "true")
    if scripts:
        expect(star).to_be_focused()
    api.caught_up()
    page = fan.goes_to("/")
    row = page.locator("#watching .row-item")
    expect(row).to_contain_text(f"{one.name} to move")
    assert not scripts or faults_of(page) == []
    assert one.move(board, "m13-j7").is_success
    if not scripts:
        api.caught_up()
        page.reload()
    expect(row).to_contain_text(f"{other.name} to move")
    assert other.give(board, {"do": "resign"}).is_success
    if not scripts:
        api.caught_up()
        page.reload()
    expect(row).to_contain_text(f"{one.name} won")
    page = fan.goes_to("/watching")
    assert not scripts or faults_of(page) == []
    page.get_by_role("button", name=re.compile("Remove")).click()
    expect(
        page.get_by_text("You aren’t watching any matches. To watch one, use the")
    ).to_be_visible()


def test_a_muted_chat_makes_no_mark_on_the_page(api: Api, person: Callable[..., Person]) -> None:
    one, other = api.players()
    board = api.begun(one, other)
    page = person(one).goes_to(f"/m/{board}")
    mute = page.get_by_role("button", name="Mute this chat")
    mute.click()
    expect(mute).to_have_attribute("aria-pressed", "true")
    assert other.post(f"/api/matches/{board}/chat", {"text": "psst"}).is_success
    expect(page.locator("#chat")).to_contain_text("psst")
    page.goto("/")
    expect(page.locator("#matches")).to_be_visible()
    assert "new chat" not in page.locator("#matches").inner_text()
