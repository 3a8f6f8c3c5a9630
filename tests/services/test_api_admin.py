"""The administration over the API: for tokens of the scope `admin`, of an account that is an operator; and how the first becomes one."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest

from domain.errors import Code, Refusal
from infra.backup.notes import BackupPlace
from infra.objects.port import ObjectStoreError
from infra.people.accounts import AccountRole
from infra.people.acts import TERMINAL, Act
from infra.people.first_operator import FirstOperatorLink
from infra.people.tokens import Scope
from infra.redis import keys
from infra.settings.settings import Settings
from services.app.acts import acts_of
from services.app.first_operator import become_first_operator, check_first_link
from services.app.roles import set_role
from services.http.app import ROUTES
from services.serve.banner import banner
from tests.helpers.api import PASSWORD, Api, Player, code_of
from tests.helpers.examples import refused


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    folder = tmp_path_factory.mktemp("admin-api")
    with Api(folder, backup=str(folder / "backups")) as api:
        yield api


def admin(api: Api, *roles: AccountRole, scopes: tuple[Scope, ...] = (Scope.ADMIN,)) -> Player:
    """A player with roles, and a token of these scopes."""
    player = api.player()
    for role in roles:
        set_role(api.parts, TERMINAL, player.name, role, held=True)
    token = api.parts.tokens.issue(player.account, "office", scopes)
    return Player(api, player.name, player.account, token.text)


@pytest.fixture
def operator(api: Api) -> Player:
    return admin(api, AccountRole.OPERATOR)


def test_each_route_needs_the_scope_and_what_is_read_the_role(api):
    """`test_api_authorisation.py` asks each of them as a player, and `tests/app/test_roles.py` has the use cases."""
    everything = tuple(scope for scope in Scope if scope is not Scope.ADMIN)
    scopeless = admin(api, AccountRole.OPERATOR, scopes=everything)
    moderator = admin(api, AccountRole.MODERATOR)
    asked = [(str(method), path) for one in ROUTES for path in one.paths for method in one.http_methods]  # fmt: skip
    found = [(method, path) for method, path in asked if path.startswith("/api/admin")]
    assert len(found) == 23
    for method, path in found:
        here = re.sub(r"\{\w+:str\}", "0" * 16, path)
        assert code_of(scopeless._request(method, here)) == "missing-scope", here
        if method == "GET" and not path.endswith(("/acts", "/reports")):
            assert code_of(moderator.get(here)) == "not-an-operator", here
    assert moderator.get("/api/admin/acts").is_success


def test_a_token_does_no_more_than_its_account_may_now(api):
    gone = admin(api, AccountRole.OPERATOR)
    set_role(api.parts, TERMINAL, gone.name, AccountRole.OPERATOR, held=False)
    assert code_of(gone.get("/api/admin/accounts")) == "not-an-operator"


def test_with_an_old_token_power_needs_the_password(api, operator, monkeypatch):
    now = api.parts.store.now() + 11 * 60_000
    monkeypatch.setattr("services.app.passwords.is_fresh", lambda _, proven: proven > now)
    ben = api.player()
    for what, body in (("reset", {}), ("role", {"role": "operator"})):
        where = f"/api/admin/accounts/{ben.name}/{what}"
        assert code_of(operator.post(where, body)) == "password-needed"
        guessed = operator.post(where, {**body, "password": "a wrong guess"})
        assert code_of(guessed) == "wrong-password"
        assert operator.post(where, {**body, "password": PASSWORD}).is_success
    assert api.parts.accounts.record_of(ben.account).operator


def test_links_admission_and_record(api, operator):
    made = operator.post("/api/admin/signup-links", {"uses": 2, "note": "class 7b"}).json()
    assert api.parts.admissions.usable_link(made["text"]) is not None
    (listed,) = operator.get("/api/admin/signup-links").json()
    assert (listed["id"], listed["uses"], listed["used"], listed["text"]) == (made["id"], 2, 0, "")
    assert code_of(operator.post("/api/admin/signup-links", {"uses": 0})) == "bad-option"
    gone = api.http.delete(f"/api/admin/signup-links/{made['id']}", headers=operator.headers)
    assert gone.status_code == 204
    assert api.parts.admissions.usable_link(made["text"]) is None
    body = {"trial": "off", "signups": None}
    changed = api.http.patch("/api/admin/admission", json=body, headers=operator.headers).json()
    told = {"signups": "open", "visible_to": "everybody", "clubs": "operators", "trial": "off"}
    assert changed == told
    assert operator.get("/api/admin/admission").json() == changed
    assert operator.patch("/api/admin/admission", {}).json() == changed
    acts = operator.get("/api/admin/acts").json()
    assert acts[0]["said"].endswith("changed the admission: trial off")
    older = operator.get(f"/api/admin/acts?before={acts[0]['id']}").json()
    assert older[0]["id"] == acts[1]["id"]
    assert operator.get("/api/admin/acts?before=-").status_code == 400


def test_the_report_is_the_doctor_s(api, operator):
    report = operator.get("/api/admin/health").json()
    assert report["level"] == "bad"
    assert "no command worker runs" in str(report["findings"])
    assert str(api.settings.data / "keys") not in str(report)


def test_backups_are_listed_and_one_is_asked_for(api, operator, monkeypatch):
    place = BackupPlace(api.settings.data)
    told = {"scheduled": True, "busy": False, "tried": 0, "late": True, "backups": []}
    first = operator.get("/api/admin/backups").json()
    assert {**first, **told} == first
    now = api.parts.store.now()
    place.path.mkdir(exist_ok=True)
    place.note(made=now, tried=now - 1, size=7, found="all 3 matches hold", fault="no room")
    folder = Path(api.settings.backup or "") / "backups"
    folder.mkdir(parents=True)
    for id_ in ("20260101T000000Z", "20260102T000000Z", "something"):
        (folder / id_).write_bytes(b"")
    backups = [
        {"id": "20260102T000000Z", "begun": 1_767_312_000_000},
        {"id": "20260101T000000Z", "begun": 1_767_225_600_000},
    ]
    known = {"size": 7, "found": "all 3 matches hold", "fault": "no room", "backups": backups}
    for _ in range(2):
        asked = operator.post("/api/admin/backups")
        told = {"scheduled": True, "busy": True, "made": now, "tried": now - 1, "late": False}
        assert (asked.status_code, asked.json()) == (200, told | known)
    assert place.is_asked
    assert [act.act for act in acts_of(api.parts, TERMINAL)].count(Act.BACKUP_ASKED) == 1

    def away(*_: object) -> None:
        raise ObjectStoreError("the bucket does not answer")

    monkeypatch.setattr("services.app.backups.open_objects", away)
    assert code_of(operator.get("/api/admin/backups")) == "unavailable"


@pytest.fixture
def text(api: Api) -> str:
    """The link of a server without an operator."""
    accounts = api.parts.accounts
    for name in accounts.name_of(accounts.holders(AccountRole.OPERATOR)):
        accounts.set_role(name, AccountRole.OPERATOR, held=False)
    return FirstOperatorLink(api.parts.data).renew()


def test_somebody_opens_the_link_signs_up_confirms_and_is_the_operator(api, text, come):
    page = f"/admin/first?key={text}"
    guest, late = come(), come(api.player())
    asked = guest.get(page)
    assert (asked.status_code, asked.headers["location"]) == (303, f"/login?next={quote(page)}")
    signup = f"/signup?next={quote(page)}"
    assert signup in guest.page(asked.headers["location"])
    entered = guest.send(
        "/signup", {"userid": "ann", "password": PASSWORD, "next": page}, on=signup
    )
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


def test_of_several_at_once_one_becomes_the_operator(api, text):
    def become(player: Player) -> bool:
        try:
            become_first_operator(api.parts, player.account, text)
        except Refusal:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(become, api.players(4))) == 1
    assert len(api.parts.accounts.holders(AccountRole.OPERATOR)) == 1


def test_a_link_ends_with_the_next_start_and_when_somebody_is_an_operator(api, text):
    app, ann = api.parts, api.player()
    link = FirstOperatorLink(app.data)
    newer = link.renew()
    # its text is not stored
    assert (len(newer), newer.encode() in app.data.get(keys.FIRST_OPERATOR)) == (32, False)
    for wrong in (text, "", "x" * 200, "ü", newer[:-1]):
        refused(Code.NOT_FOUND, become_first_operator, app, ann.account, wrong)
    check_first_link(app, newer)
    set_role(app, TERMINAL, api.player().name, AccountRole.OPERATOR, held=True)
    refused(Code.NOT_FOUND, become_first_operator, app, ann.account, newer)
    assert not app.accounts.record_of(ann.account).operator
    assert link.renew() == ""
    assert not app.data.exists(keys.FIRST_OPERATOR)


def test_the_banner_has_the_link_while_nobody_is_an_operator(tmp_path):
    here = Settings(data=tmp_path)
    url = "http://127.0.0.1:8080"
    assert f"  {url}/admin/first?key=abc" in banner(here, "unix:///x", url, "abc").splitlines()
    site = Settings(data=tmp_path, site="https://play.example.org")
    assert "https://play.example.org/admin/first?key=abc" in banner(site, "unix:///x", url, "abc")
    for said in (banner(here, "unix:///x", url), banner(here, "unix:///x", None, "abc")):
        assert "admin" not in said
