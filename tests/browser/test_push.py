"""Notifications and webhooks in a browser: subscribed to, added, tested, and listed with what came of them."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from infra.mail.addresses import ServerAddresses
from infra.people.account_macs import make_mac_key
from services.jobs import mailer_wakeup, make_mailer
from tests.helpers.api import Api, until
from tests.helpers.browser import OFFLINE, Person
from tests.helpers.mailing import work_out
from tests.helpers.push_service import Browser, PushService
from workers.mail import hooks as worker

pytestmark = pytest.mark.slow

SUBSCRIBED = """
  (subscription) => {
    PushManager.prototype.subscribe = async (options) => {
      window.subscribedTo = options.applicationServerKey.length;
      return { toJSON: () => subscription };
    };
  }
"""


@pytest.fixture(scope="module")
def service() -> Iterator[PushService]:
    with PushService() as one:
        yield one


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory, service: PushService) -> Iterator[Api]:
    folder = tmp_path_factory.mktemp("api")
    (folder / "keys").mkdir()
    make_mac_key(folder / "keys")
    host = service.url.removeprefix("http://")
    more = {"keys": folder / "keys", "site": "http://localhost", "hooks": "on", "hook_hosts": host}
    with Api(folder, **more, push="on", push_services=service.url) as api:
        mailer_wakeup(api.parts).begin()
        yield api


def notified(page) -> list[tuple[str, str]]:
    """Return the title and the tag of each notification that is shown."""
    return page.evaluate(
        """async () => {
          const registration = await navigator.serviceWorker.ready;
          return (await registration.getNotifications()).map((one) => [one.title, one.tag]);
        }"""
    )


def test_a_browser_is_subscribed_and_shows_what_is_pushed(person, api, service):
    me = api.player(name="pia")
    one: Person = person(me, **OFFLINE)
    page = one.page
    page.context.grant_permissions(["notifications"], origin=api.url)
    one.goes_to("/account#push")
    page.evaluate(SUBSCRIBED, Browser(service, "of-pia").json)
    page.get_by_role("button", name="Turn on in this browser").click()
    expect(page.get_by_text("Notifications are on in this browser.")).to_be_visible()
    assert len(api.parts.push_subscriptions.of(me.account)) == 1

    page.wait_for_function("navigator.serviceWorker.controller !== null")
    session = page.context.new_cdp_session(page)
    registrations = []
    session.on(
        "ServiceWorker.workerRegistrationUpdated",
        lambda event: registrations.extend(event["registrations"]),
    )
    session.send("ServiceWorker.enable")
    until(lambda: page.evaluate("1") and registrations)
    registration = registrations[-1]

    def push(path: str, title: str) -> None:
        text = {"title": title, "body": "", "path": path, "tag": path, "lang": "en"}
        session.send(
            "ServiceWorker.deliverPushMessage",
            {
                "origin": api.url,
                "registrationId": registration["registrationId"],
                "data": json.dumps(text),
            },
        )

    # a browser that is busy starting the worker may lose what it is given; the same tag shows once
    until(lambda: push("/m/7", "Your turn") or notified(page) == [["Your turn", "/m/7"]])
    # the page of this one is open and seen
    push("/account", "Seen already")
    shown = [["Another", "/m/8"], ["Your turn", "/m/7"]]
    until(lambda: push("/m/8", "Another") or sorted(notified(page)) == shown)

    page.get_by_role("button", name="Turn off").click()
    expect(page.get_by_role("button", name="Turn off")).to_have_count(0)
    assert api.parts.push_subscriptions.of(me.account) == []


def test_a_browser_that_blocks_them_says_so(person, api):
    one: Person = person(api.player(name="quentin"), **OFFLINE)
    page = one.page
    page.add_init_script(
        'Object.defineProperty(Notification, "permission", { get: () => "denied" });'
        'Notification.requestPermission = async () => "denied";'
    )
    one.goes_to("/account#push")
    expect(page.locator("#push-says")).to_contain_text("This browser is blocking them.")
    page.get_by_role("button", name="Turn on in this browser").click()
    expect(page.locator("#push-says")).to_contain_text("This browser is blocking them.")


def test_a_webhook_is_added_and_tested_on_a_phone(person, api, service, monkeypatch):
    monkeypatch.setattr(worker, "start", lambda work: work())
    one: Person = person(
        api.player(name="paula"), viewport={"width": 390, "height": 844}, locale="de-DE"
    )
    page = one.page
    one.goes_to("/account#hooks")
    page.get_by_role("link", name="Webhooks und Kanäle").click()
    page.get_by_label("Adresse").fill(f"{service.url}/paula")
    page.get_by_label("Wofür es ist").fill("mein Bot")
    page.get_by_role("button", name="Hinzufügen").click()
    secret = page.get_by_label("Das Geheimnis deines Webhooks", exact=True)
    assert secret.input_value().startswith("whsec_")
    page.get_by_role("link", name="Weiter").click()
    page.get_by_role("button", name="Test schicken").click()
    expect(page.get_by_role("status")).to_contain_text("Unterwegs.")
    service.texts["/paula"] = b"<b>thank you</b> " * 40
    work_out(make_mailer(api.parts, ServerAddresses(bytes(32), "play.example.org")))
    page.reload()
    expect(page.get_by_text("geschickt", exact=True)).to_be_visible()
    expect(page.get_by_text("<b>thank you</b>")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.get_by_role("button", name="Entfernen").click()
    expect(page.get_by_text("mein Bot")).to_have_count(0)
