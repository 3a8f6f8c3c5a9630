"""Webhooks in a browser: added on a phone in German, with the secret once, tested, and listed with what came of it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from infra.mail.addresses import ServerAddresses
from infra.people.account_macs import make_mac_key
from services.jobs import mailer_wakeup, make_mailer
from tests.helpers.api import Api
from tests.helpers.browser import Person
from tests.helpers.mailing import work_out
from tests.helpers.push_service import PushService
from workers.mail import hooks as worker

pytestmark = pytest.mark.slow


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
    with Api(folder, **more) as api:
        mailer_wakeup(api.parts).begin()
        yield api


def test_a_webhook_is_added_and_tested_on_a_phone(person, api, service, monkeypatch):
    monkeypatch.setattr(worker, "start", lambda work: work())
    one: Person = person(
        api.player(name="pia"), viewport={"width": 390, "height": 844}, locale="de-DE"
    )
    page = one.page
    one.goes_to("/account#hooks")
    page.get_by_role("link", name="Webhooks und Kanäle").click()
    page.get_by_label("Adresse").fill(f"{service.url}/pia")
    page.get_by_label("Wofür es ist").fill("mein Bot")
    page.get_by_role("button", name="Hinzufügen").click()
    secret = page.get_by_label("Das Geheimnis deines Webhooks", exact=True)
    assert secret.input_value().startswith("whsec_")
    page.get_by_role("link", name="Weiter").click()
    page.get_by_role("button", name="Test schicken").click()
    expect(page.get_by_role("status")).to_contain_text("Unterwegs.")
    service.texts["/pia"] = b"<b>thank you</b> " * 40
    work_out(make_mailer(api.parts, ServerAddresses(bytes(32), "play.example.org")))
    page.reload()
    expect(page.get_by_text("geschickt", exact=True)).to_be_visible()
    expect(page.get_by_text("<b>thank you</b>")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.get_by_role("button", name="Entfernen").click()
    expect(page.get_by_text("mein Bot")).to_have_count(0)
