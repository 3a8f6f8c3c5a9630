"""Notifications in a browser: the service worker, and the form that gives a subscription to the server."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from infra.people.account_macs import make_mac_key
from tests.helpers.api import Api, until
from tests.helpers.browser import Person
from tests.helpers.push_service import Browser, PushService

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
    more = {"keys": folder / "keys", "site": "http://localhost", "push": "on"}
    with Api(folder, **more, push_services=service.url) as api:
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
    one: Person = person(me)
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
    one: Person = person(api.player(name="quentin"))
    page = one.page
    page.add_init_script(
        'Object.defineProperty(Notification, "permission", { get: () => "denied" });'
        'Notification.requestPermission = async () => "denied";'
    )
    one.goes_to("/account#push")
    expect(page.locator("#push-says")).to_contain_text("This browser is blocking them.")
    page.get_by_role("button", name="Turn on in this browser").click()
    expect(page.locator("#push-says")).to_contain_text("This browser is blocking them.")
