"""A forgotten password on the pages, with a real mailer and a real mail server."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from infra.people.accounts import Accounts, MailAddress
from infra.people.password_resets import PasswordResets
from tests.fakes.sink import Sink
from tests.helpers.api import PASSWORD, Api
from tests.helpers.served import Served, until
from tests.helpers.web import Guest, door
from tests.services.test_mailer_served import DOMAIN

SITE = "https://play.example.org"
NEW = "looking-glass"


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    folder = tmp_path_factory.mktemp("web")
    with Api(folder, relay="smtp://127.0.0.1:9", site=SITE) as api:
        yield api


@pytest.fixture
def come(api: Api) -> Iterator[Callable[..., Guest]]:
    with door(api) as come:
        yield come


def test_the_answer_is_the_same_for_everybody(api, come):
    api.player(name="known")
    asked = []
    for who in ("known", "unknown", "nobody@example.org", "<b>x"):
        answer = come().send("/password", {"who": who}, on="/password")
        assert answer.status_code == 200
        text = re.sub("[0-9a-f]{128}", "", answer.text)
        asked.append(text)
    assert len(set(asked)) == 1
    assert "a link." in asked[0]
    waiting = [one.text for one in PasswordResets(api.parts.data).oldest(10)]
    assert waiting == ["known", "unknown", "nobody@example.org", "<b>x"]
    assert come().send("/password", {"who": ""}, on="/password").status_code == 400


def test_a_link_opens_a_form_and_the_form_logs_in_with_the_new_password(api, come):
    player = api.player(name="forgetful")
    other = come()
    other.log_in("forgetful")
    link = PasswordResets(api.parts.data).issue(player.account)
    guest = come()
    for _ in range(2):  # a look at it, as some mail programs take, does not use it up
        assert "New password" in guest.page(f"/password/{link}")
    path = f"/password/{link}"
    short = guest.send(path, {"new": "short"}, on=path)
    assert short.status_code == 422
    assert "10 to 128 characters" in short.text
    done = guest.send(path, {"new": NEW}, on=path)
    assert done.status_code == 303
    assert "forgetful" in guest.page("/account")
    assert other.get("/account").status_code == 303
    assert api.http.get("/api/account", headers=player.headers).status_code == 401
    assert come().log_in("forgetful", PASSWORD).status_code == 401
    assert come().log_in("forgetful", NEW).status_code == 303
    again = come().get(path)
    assert again.status_code == 404
    assert "Send another link" in again.text
    assert come().send(path, {"new": NEW}, on="/password").status_code == 404


def test_without_a_relay_the_page_says_so(tmp_path):
    with Api(tmp_path, site=SITE) as api, door(api) as come:
        assert "This server doesn’t send mail," in come().page("/password")
        assert 'href="/password"' in come().page("/login")
        assert come().send("/password", {"who": "x"}, on="/login").status_code == 503


@pytest.mark.long
@pytest.mark.slow
def test_the_link_is_mailed_to_the_proven_address_in_the_language_of_the_account(tmp_path: Path):
    with Sink(auth_require_tls=False) as sink:
        env = {
            "MATCHPOST_RELAY": f"smtp://me:s3cret@127.0.0.1:{sink.port}",
            "MATCHPOST_MAIL_DOMAIN": DOMAIN,
            "MATCHPOST_SITE": SITE,
            "MATCHPOST_HTTP": "127.0.0.1:0",
        }
        with Served(tmp_path / "data", env) as served, door(served) as come:
            with served.client() as client:
                accounts = Accounts(client)
                account = accounts.signup("dora", "mad-hatter")
                own = (
                    MailAddress("dora@example.org", verified=True),
                    MailAddress("not-proven@example.org"),
                )
                accounts.change_of(
                    account,
                    lambda old: replace(old, addresses=own, language="de", notify="none"),
                )
                closed = accounts.signup("dorothea", "mad-hatter")
                accounts.change_of(closed, lambda old: replace(old, addresses=own, suspended=True))
            come().send("/password", {"who": "Dora@example.org"}, on="/password")
            until(lambda: sink.to("dora@example.org"))
            (mail,) = sink.to("dora@example.org")
            assert mail["Subject"] == "matchpost: ein neues Passwort für dora"
            (link,) = re.findall(rf"{SITE}(/password/\S+)", mail.get_content())
            guest = come()
            assert guest.send(link, {"new": NEW}, on=link).status_code == 303
            assert come().log_in("dora", NEW).status_code == 303
            assert not [
                mail for mail in sink.to("not-proven@example.org") if "Passw" in mail["Subject"]
            ]
            log = (tmp_path / "serve.log").read_text()
            assert "password-reset" in log
            assert link.rpartition("/")[2] not in log
