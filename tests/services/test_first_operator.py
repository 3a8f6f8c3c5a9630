"""The first operator: the link that `serve` prints, from its making to the act in the record."""

from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pytest

from domain.errors import Code
from infra.people.accounts import AccountRole
from infra.people.acts import TERMINAL, Act
from infra.people.first_operator import FirstOperatorLink
from infra.redis import keys
from infra.settings.settings import Settings
from services.app.acts import acts_of
from services.app.first_operator import become_first_operator, check_first_link
from services.app.roles import set_role
from services.serve.banner import banner
from tests.helpers.api import PASSWORD, Api
from tests.helpers.examples import refused
from tests.helpers.web import door


@pytest.fixture
def text(api: Api) -> str:
    """The link of a server without an operator."""
    for account in api.parts.accounts.holders(AccountRole.OPERATOR):
        api.parts.accounts.set_role(
            api.parts.accounts.name_of([account])[0], AccountRole.OPERATOR, held=False
        )
    return FirstOperatorLink(api.parts.data).renew()


def test_somebody_opens_the_link_signs_up_confirms_and_is_the_operator(api, text):
    page = f"/admin/first?key={text}"
    with door(api) as come:
        guest, late = come(), come(api.player())
        asked = guest.get(page)
        assert (asked.status_code, asked.headers["location"]) == (303, f"/login?next={quote(page)}")
        login = guest.page(asked.headers["location"])
        assert f"/signup?next={quote(page)}" in login
        entered = guest.send("/signup", {"userid": "ann", "password": PASSWORD, "next": page},
                             on=f"/signup?next={quote(page)}")  # fmt: skip
        assert entered.headers["location"] == page
        guest.name = "ann"
        shown = guest.get(page)
        assert "Make ann the operator" in shown.text
        assert shown.headers["cache-control"] == "no-store"
        assert not api.parts.accounts.holders(AccountRole.OPERATOR)  # to look at it does nothing
        assert late.get(page).status_code == 200
        sent = guest.send("/admin/first", {"key": text}, on=page)
        assert sent.headers["location"] == "/admin"
        assert guest.get("/admin/roles").status_code == 200
        assert late.get(page).status_code == 404
        assert late.send("/admin/first", {"key": text}).status_code == 404
        assert late.get("/admin/roles").status_code == 403
    act, *_ = acts_of(api.parts, TERMINAL)
    assert (act.act, act.by, act.account) == (Act.FIRST_OPERATOR, act.account, act.by)
    assert api.parts.accounts.holders(AccountRole.OPERATOR) == [act.by]


def test_of_two_browsers_at_once_one_becomes_the_operator(api, text):
    players = [api.player() for _ in range(4)]
    with door(api) as come:
        guests = [come(player) for player in players]
        proofs = [guest.proof(f"/admin/first?key={text}") for guest in guests]

        def send(at: int) -> int:
            fields = {"csrf": proofs[at], "key": text}
            return guests[at].http.post("/admin/first", data=fields).status_code

        with ThreadPoolExecutor(4) as pool:
            assert sorted(pool.map(send, range(4))) == [303, 404, 404, 404]
    assert len(api.parts.accounts.holders(AccountRole.OPERATOR)) == 1


def test_a_link_ends_with_the_next_start_and_when_somebody_is_an_operator(api, text):
    app, ann = api.parts, api.player()
    link = FirstOperatorLink(app.data)
    newer = link.renew()
    for wrong in (text, "", "x" * 200, "ü", newer[:-1]):
        refused(Code.NOT_FOUND, become_first_operator, app, ann.account, wrong)
    check_first_link(app, newer)
    set_role(app, TERMINAL, api.player().name, AccountRole.OPERATOR, held=True)
    refused(Code.NOT_FOUND, become_first_operator, app, ann.account, newer)
    assert not app.accounts.record_of(ann.account).operator
    assert link.renew() == ""
    assert not app.data.exists(keys.FIRST_OPERATOR)


def test_no_text_of_a_link_is_stored(api, text):
    assert text.encode() not in api.parts.data.get(keys.FIRST_OPERATOR)
    assert len(text) == 32


def test_the_banner_has_the_link_while_nobody_is_an_operator(tmp_path):
    here = Settings(data=tmp_path)
    url = "http://127.0.0.1:8080"
    assert f"  {url}/admin/first?key=abc" in banner(here, "unix:///x", url, "abc").splitlines()
    site = Settings(data=tmp_path, site="https://play.example.org")
    assert "https://play.example.org/admin/first?key=abc" in banner(site, "unix:///x", url, "abc")
    for said in (banner(here, "unix:///x", url), banner(here, "unix:///x", None, "abc")):
        assert "admin" not in said
