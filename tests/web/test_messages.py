"""Messages in the browser: a new one appears by itself, and what is being typed stays."""

from collections.abc import Callable

from playwright.sync_api import expect

from tests.helpers.api import Api
from tests.helpers.browser import Person, faults_of


def test_a_new_message_appears_while_another_is_typed(
    api: Api, person: Callable[..., Person]
) -> None:
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
