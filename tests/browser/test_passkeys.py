"""Passkeys, with a virtual authenticator: made on the page of the account, and then enough to log in by themselves."""

import re
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from infra.people.accounts.record import Passkey
from services.app import accounts
from tests.browser.conftest import session_of
from tests.helpers.api import Api
from tests.helpers.browser import Person

pytestmark = pytest.mark.slow


def authenticator(page: Page, **more: bool) -> str:
    """Add a device that keeps passkeys to the browser, and return its id."""
    tools = page.context.new_cdp_session(page)
    tools.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2", "transport": "internal", "hasResidentKey": True,
        "hasUserVerification": True, "isUserVerified": True, "automaticPresenceSimulation": True,
        **more,
    }  # fmt: skip
    made = tools.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return str(made["authenticatorId"])


@pytest.fixture
def site(api: Api) -> str:
    """The server by a name for which browsers have passkeys."""
    return api.url.replace("127.0.0.1", "localhost")


@pytest.fixture
def one(browser: Browser, api: Api, site: str) -> Iterator[Person]:
    """Somebody who has logged in at that name; at the end nothing was wrong with any page."""
    player = api.player()
    state = session_of(api, player)
    state["cookies"][0]["domain"] = "localhost"
    named: Any = SimpleNamespace(url=site)
    found = Person(browser, named, storage_state=state)
    found.name = player.name
    yield found
    found.closes()
    assert found.complaints == []
    assert found.elsewhere == []


def keys_of(api: Api, one: Person) -> Sequence[Passkey]:
    return api.parts.accounts.factors_of(api.parts.accounts.id_of(one.name)).passkeys


def add(page: Page, site: str) -> None:
    page.goto(f"{site}/account")
    page.get_by_role("button", name="Add a passkey").click()


def log_out(page: Page) -> None:
    page.context.clear_cookies(name="session")


def by_passkey(page: Page, site: str) -> None:
    page.goto(f"{site}/login?next=/players")
    page.get_by_role("button", name="Log in with a passkey").click()


def test_a_passkey_is_made_and_logs_in_by_itself(one, api, site):
    page = one.page
    authenticator(page)
    add(page, site)
    expect(page.get_by_role("heading", name="Your recovery codes")).to_be_visible()
    assert len(page.locator("ol code").all_inner_texts()) == 10
    (key,) = keys_of(api, one)
    log_out(page)
    by_passkey(page, site)
    expect(page).to_have_url(re.compile("/players$"))
    expect(page.locator(f"[data-user={one.name}]")).to_be_attached()
    (after,) = keys_of(api, one)
    assert after.count > key.count
    # it is not made twice for the same device
    add(page, site)
    expect(page.get_by_text("No passkey was used.")).to_be_visible()
    # and its password alone no longer suffices
    log_out(page)
    page.goto(f"{site}/login")
    one.logs_in()
    expect(page.get_by_role("heading", name="One more step")).to_be_visible()
    # all access ends: the device still has its key, the server doesn't
    accounts.log_out_everywhere(api.parts, api.parts.accounts.id_of(one.name))
    one.expected.append("403")
    by_passkey(page, site)
    expect(page.get_by_text("This passkey wasn't accepted")).to_be_visible()


def test_a_device_that_does_not_ask_who_holds_it_is_refused(one, api, site):
    authenticator(one.page, isUserVerified=False)
    add(one.page, site)
    expect(one.page.get_by_text("No passkey was used.")).to_be_visible()
    assert keys_of(api, one) == ()


def test_what_a_device_has_signed_counts_once_and_for_what_was_asked(one, site):
    page = one.page
    authenticator(page)
    add(page, site)
    expect(page.get_by_role("heading", name="Your recovery codes")).to_be_visible()
    log_out(page)
    page.goto(f"{site}/login")
    # the form as it would be sent is kept, and then sent twice, and with another step
    page.evaluate("HTMLFormElement.prototype.submit = function () { window.kept = true; }")
    page.get_by_role("button", name="Log in with a passkey").click()
    page.wait_for_function("window.kept")
    send = """async (step) => {
      const fields = new URLSearchParams(new FormData(document.querySelector("#passkey-form")));
      if (step) fields.set("step", step);
      const answer = await fetch("/login/passkey", { method: "POST", body: fields, redirect: "manual" });
      return [answer.status, answer.type];
    }"""
    ask = """async () => {
      const fields = new URLSearchParams(new FormData(document.querySelector("#passkey-form")));
      return (await (await fetch("/login/passkey/ask", { method: "POST", body: fields })).json()).step;
    }"""
    one.expected += ["403", "404"]
    # a signature for one challenge is none for another
    assert page.evaluate(send, page.evaluate(ask))[0] == 403
    assert page.evaluate(send, "")[1] == "opaqueredirect"
    # logged in by now, so the form's token is another's
    page.context.clear_cookies(name="session")
    assert page.evaluate(send, "")[0] == 404
