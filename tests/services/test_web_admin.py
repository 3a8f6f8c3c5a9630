"""The admin page: who may open what, what each section does, and a report from its text to its appeal."""

import html
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from litestar.routes import HTTPRoute

from infra.people.accounts import AccountRole
from infra.people.acts import TERMINAL, Act
from infra.people.moderation import REMOVED
from services.app.acts import PAGE, acts_of, record_act
from services.app.messages import send_message, write_chat
from services.app.passwords import MOST_AT_ONCE
from services.app.roles import set_role
from services.doctor.facts import gather
from services.doctor.findings import Level
from services.doctor.recent import KEPT_SECONDS, RecentDiagnosis
from services.http.web.admin.sections import SECTIONS
from services.http.web.session import Visitor
from tests.helpers.api import PASSWORD, Api, Player
from tests.helpers.web import Guest, Read, refusal, visitors


@pytest.fixture(scope="module")
def come(api: Api) -> Iterator[Callable[..., Guest]]:
    with visitors(api) as come:
        yield come


def with_role(api: Api, role: AccountRole) -> Player:
    player = api.player()
    set_role(api.parts, TERMINAL, player.name, role, held=True)
    return player


@pytest.fixture(scope="module")
def ann(api: Api, come: Callable[..., Guest]) -> Guest:
    """An operator."""
    return come(with_role(api, AccountRole.OPERATOR))


def latest(api: Api) -> tuple[str, bytes, str]:
    act = acts_of(api.parts, TERMINAL)[0]
    return act.act, act.account, act.why


FOR_MODERATORS = ("/admin/reports/", "/admin/appeals/")


def addresses(api: Api) -> list[tuple[str, str]]:
    """Every address below `/admin` but that of the first operator, with its method."""
    found = []
    for route in api.routes:
        if isinstance(route, HTTPRoute) and route.path.startswith("/admin"):
            path = re.sub("{[^}]*}", "x" * 16, route.path)
            found += [(method, path) for method in route.methods - {"OPTIONS", "HEAD"}]
    return sorted(one for one in found if one[1] != "/admin/first")


def test_every_address_refuses_those_without_the_role_and_changes_nothing(api, come):
    before = acts_of(api.parts, TERMINAL)
    nobody, guest = come(api.player()), come()
    arbiter = come(with_role(api, AccountRole.ARBITER))
    moderator = come(with_role(api, AccountRole.MODERATOR))
    found = addresses(api)
    assert {path for _, path in found} >= {f"/admin/{section.path}" for section in SECTIONS}
    open_to_moderators = {"/admin", *(f"/admin/{one.path}" for one in SECTIONS if one.moderators)}
    for method, path in found:
        for who in (nobody, arbiter, moderator):
            answer = who.get(path) if method == "GET" else who.send(path)
            wanted = 403
            if who is moderator and path in open_to_moderators:
                wanted = 200
            elif who is moderator and path.startswith(FOR_MODERATORS):
                wanted = 404  # there is no such report
            assert answer.status_code == wanted, (method, path, answer.text)
        if method == "GET":
            asked = guest.get(path)
            assert (asked.status_code, asked.headers["location"]) == (303, f"/login?next={path}")
        # a form without the token of a page
        else:
            assert nobody.http.post(path, data={"userid": "x"}).status_code == 403
    roles = [act for act in acts_of(api.parts, TERMINAL) if act not in before]
    assert {act.act for act in roles} == {Act.ROLE_GIVEN}


def test_the_link_to_it_and_the_sections_are_shown_to_those_who_may_open_them(api, come, ann):
    moderator = come(with_role(api, AccountRole.MODERATOR))
    nobody = come(api.player())
    assert 'href="/admin"' not in nobody.page("/account") + nobody.page("/games")
    for who, seen in (
        (ann, {one.path for one in SECTIONS}),
        (moderator, {one.path for one in SECTIONS if one.moderators}),
    ):
        assert 'href="/admin"' in who.page("/account")
        links = {link for link in Read(who.page("/admin")).links if link.startswith("/admin/")}
        assert links == {f"/admin/{path}" for path in seen}
        for link in links:
            answer = who.get(link)
            assert answer.status_code == 200, link
            assert answer.headers["cache-control"] == "no-store"


def test_a_member_is_suspended_and_reinstated_with_a_reason(api, come, ann):
    ben = api.player()
    there, page = come(ben), f"/admin/members/{ben.name}"
    long = ann.send(f"{page}/suspend", {"why": "x" * 501}, on=page)
    assert "at most 500 characters" in refusal(long.text)[1]
    assert there.get("/account").status_code == 200
    typed = ann.send(f"{page}/suspend", {"why": "x", "days": "many"}, on=page)
    assert "A sanction lasts up to 3650 days" in refusal(typed.text)[1]
    sent = ann.send(f"{page}/suspend", {"why": "spam <b>", "days": "7"}, on=page)
    assert sent.headers["location"] == f"{page}?saved=suspend"
    assert "is suspended and logged out everywhere" in ann.page(sent.headers["location"])
    assert latest(api) == (Act.SUSPENDED, ben.account, "spam <b>")
    assert there.get("/account").status_code == 303
    assert come().log_in(ben.name).status_code == 403
    assert '<q dir="auto">spam &lt;b&gt;</q>' in ann.page("/admin/record")
    assert ann.send(f"{page}/reinstate", {"why": "sorry"}, on=page).status_code == 303
    assert come().log_in(ben.name).status_code == 303
    assert latest(api) == (Act.REINSTATED, ben.account, "sorry")


def test_a_new_password_is_shown_once_and_power_needs_a_password_that_was_given_recently(
    api, come, ann, monkeypatch
):
    ben = api.player()
    page, roles = f"/admin/members/{ben.name}", "/admin/roles"
    sent = ann.send(f"{page}/password", on=page)
    assert sent.headers["cache-control"] == "no-store"
    password = re.findall("Password: ([a-z0-9-]{14})", sent.text)[-1]
    assert come().log_in(ben.name).status_code == 401
    assert come().log_in(ben.name, password).status_code == 303
    assert password not in ann.page(page) + ann.page("/admin/record")
    monkeypatch.setattr(Visitor, "password_given_at", property(lambda _: 0))
    ben = api.player()
    page = f"/admin/members/{ben.name}"
    operator = {"userid": ben.name, "role": "operator", "do": "give"}
    for path, fields, on in ((f"{page}/password", {}, page), (roles, operator, roles)):
        before = latest(api)
        assert 'name="password"' in ann.page(on)
        for tried in ("", "a wrong guess"):
            sent = ann.send(path, {**fields, "password": tried}, on=on)
            assert sent.status_code in (401, 403), sent.text
        assert latest(api) == before
        assert ann.send(path, {**fields, "password": PASSWORD}, on=on).status_code in (200, 303)
        assert latest(api) != before
    assert api.parts.accounts.record_of(ben.account).operator


def test_a_pasted_list_makes_accounts_with_slips_and_names_those_that_are_refused(api, come, ann):
    pasted = "userid;name\nKim1;Kim One\n\nlee1\tLee\nx y1\nkim1"
    sent = ann.send("/admin/members", {"userids": pasted}, on="/admin/members")
    assert sent.headers["cache-control"] == "no-store"
    slips = re.findall(r"Name: (\S+)\nPassword: (\S+)", sent.text)
    assert [name for name, _ in slips] == ["kim1", "lee1", "y1"]
    assert come().log_in(*slips[0]).status_code == 303
    text = html.unescape(sent.text)
    assert "the userid 'kim1' is taken" in text.replace("The userid", "the userid")
    assert re.search("<strong>x</strong>", sent.text)
    assert len([one for one in acts_of(api.parts, TERMINAL) if one.act == Act.ACCOUNT_MADE]) >= 3
    many = "\n".join(f"many-{at}" for at in range(MOST_AT_ONCE + 1))
    too_many = ann.send("/admin/members", {"userids": many}, on="/admin/members")
    assert "at most 100 accounts" in html.unescape(too_many.text).lower()
    assert "many-7" in too_many.text
    assert api.parts.accounts.names_starting("many-", 5) == []


def test_a_sign_up_link_is_made_shown_once_used_and_revoked(api, ann):
    page = "/admin/signup-links"
    for uses, days in (("0", "3"), ("1", "many"), ("²", "1")):
        assert ann.send(page, {"uses": uses, "days": days}, on=page).status_code == 422
    made = ann.send(page, {"uses": "2", "days": "3", "note": "class 7b"}, on=page)
    address = html.unescape(re.findall('readonly value="([^"]+)"', made.text)[0])
    assert address.startswith(f"{api.url}/signup?link=")
    listed = ann.page(page)
    assert "class 7b" in listed
    assert "used 0 of 2" in listed
    assert address.partition("link=")[2] not in listed
    (id_,) = re.findall("/admin/signup-links/([0-9a-f]{16})/revoke", listed)
    assert ann.send(f"{page}/{id_}/revoke", on=page).status_code == 303
    assert "There are no sign-up links" in ann.page(page)
    assert api.parts.admissions.usable_link(address.partition("link=")[2]) is None


def test_the_doctor_looks_once_for_all_who_ask_within_seconds(api):
    looks, now = [], [0.0]

    def look(settings):
        looks.append(settings)
        return gather(settings)

    recent = RecentDiagnosis(api.settings, look, lambda: now[0])
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: recent.read(), range(4)))
    assert len(looks) == 1
    assert all(one is found[0] for one in found)
    assert max(one.level for one in found[0].findings) is Level.BAD
    now[0] = KEPT_SECONDS
    assert recent.read() is not found[0]


def reported(guest: Guest, page: str, reason: str = "insult") -> None:
    """Follow the link of a page to the form, and send it."""
    (link,) = re.findall(r'href="(/report[?][^"]+)"', guest.page(page))
    link = link.replace("&amp;", "&")
    fields = dict(re.findall(r'name="(kind|place|at)" value="([^"]*)"', guest.page(link)))
    answer = guest.send("/report", {**fields, "reason": reason, "words": "look"}, on=link)
    assert "Thank you" in guest.page(answer.headers["location"])


def test_a_message_is_reported_decided_appealed_and_answered(api, come):
    writer, reader = api.players()
    send_message(api.parts, writer.account, [reader.account], "you <fool>", b"m" * 16)
    guest, author = come(reader), come(writer)
    reported(guest, "/messages")
    staff, other = (
        come(with_role(api, AccountRole.MODERATOR)),
        come(with_role(api, AccountRole.MODERATOR)),
    )
    page = staff.page("/admin/reports")
    assert "you &lt;fool&gt;" in page
    assert "insult or threat" in page
    (id_,) = re.findall(r'action="/admin/reports/([0-9a-f]+)"', page)
    wrong = staff.send(
        f"/admin/reports/{id_}", {"sanction": "no-chat", "days": "3"}, on="/admin/reports"
    )
    assert (wrong.status_code, "Give a reason" in wrong.text) == (400, True)
    decision = {"sanction": "no-chat", "days": "3", "removes": "on", "why": "no insults"}
    assert staff.send(f"/admin/reports/{id_}", decision, on="/admin/reports").status_code == 303
    assert "No reports are waiting." in staff.page("/admin/reports")
    assert REMOVED in guest.page("/messages")
    own = author.page("/account/sanctions")
    assert "No messages and chat until" in own
    assert "no insults" in own
    assert "/account/sanctions" in author.page("/account")
    assert "/account/sanctions" not in guest.page("/account")
    refused = author.send("/messages", {"to": reader.name, "text": "hello"}, on="/messages")
    assert (refused.status_code, "Moderators have decided" in refused.text) == (403, True)
    (appeal,) = re.findall(r'action="(/account/sanctions/[0-9a-f]+/appeal)"', own)
    author.send(appeal, {"words": "a joke"}, on="/account/sanctions")
    assert "Your appeal is waiting" in author.page("/account/sanctions")
    assert "/admin/appeals/" not in staff.page("/admin/reports")
    (answer,) = re.findall(r'action="(/admin/appeals/[^"]+)"', other.page("/admin/reports"))
    other.send(answer, {"do": "lift", "why": "it was"}, on="/admin/reports")
    assert "lifted" in author.page("/account/sanctions")
    assert author.send(
        "/messages", {"to": reader.name, "text": "hello"}, on="/messages"
    ).is_redirect


def test_members_are_found_fifty_a_page_with_their_state(api, ann):
    names = [api.player(name=f"zz-{at:02}").name for at in range(51)]
    set_role(api.parts, TERMINAL, names[0], AccountRole.ARBITER, held=True)
    found = ann.page("/admin/members?starts=ZZ-")
    rows = re.findall('<a href="/admin/members/(zz-[0-9]+)">', found)
    assert rows == names[:50]
    assert "There may be more" in found
    assert re.search("zz-00</a> <span[^>]*><strong>arbiter", found)
    total = api.parts.accounts.count()
    last = ann.page(f"/admin/members?page={-(-total // 50)}")
    assert names[-1] in last
    assert f"of {total}" in last
    assert "No account begins like this" in ann.page("/admin/members?starts=qqq")


def test_the_admission_is_changed_and_only_what_changed_is_recorded(api, come, ann):
    page = "/admin/admission"
    rules = {"signups": "link", "visible_to": "members", "trial": "on", "clubs": "operators"}
    try:
        assert ann.send(page, rules, on=page).headers["location"] == f"{page}?saved=rules"
        assert come().get("/players").status_code == 303
        act = acts_of(api.parts, TERMINAL)[0]
        assert (act.act, act.what) == (Act.ADMISSION_CHANGED, "signups link, visible_to members")
        wrong = ann.send(page, {**rules, "signups": "everyone"}, on=page)
        assert refusal(wrong.text)[0] == "bad-option"
        assert '<option value="link" selected>' in ann.page(page)
    finally:
        api.parts.admissions.change({"signups": "open", "visible_to": "everybody"})


def test_the_record_has_pages_and_each_language(api, ann):
    for _ in range(PAGE + 1):
        record_act(api.parts, TERMINAL, Act.BROADCAST, why="for the pages")
    first = ann.page("/admin/record")
    assert first.count("<q dir") == PAGE
    (older,) = re.findall('href="(/admin/record[?]before=[0-9-]+)"', first)
    assert "Newest" in ann.page(older)
    assert ann.get("/admin/record?before=tomorrow").status_code == 400
    german = ann.page("/admin/record", headers={"Accept-Language": "de"})
    assert "Das Terminal hat an alle geschrieben" in german


def test_chat_notes_and_players_have_a_link_for_others_alone(tmp_path):
    # on a server of its own, because nobody decides these reports
    with Api(tmp_path) as api, visitors(api) as come:
        one, two = api.players()
        board = api.begun(one, two)
        write_chat(api.parts, board, one.account, "bah", b"n" * 16)
        writer, reader = come(one), come(two)
        assert "/report?" not in writer.page(f"/m/{board}")
        reported(reader, f"/m/{board}")
        made = one.post("/api/challenges", {"game": "torere", "note": "bah"}).json()["id"]
        assert "/report?" not in writer.page(f"/c/{made}")
        reported(reader, f"/c/{made}", "spam")
        assert "/report?" not in writer.page(f"/players/{one.name}")
        reported(reader, f"/players/{one.name}", "userid")
        page = come(with_role(api, AccountRole.MODERATOR)).page("/admin/reports")
        for said in ("a line of chat", "the note of a challenge", "an offensive userid"):
            assert said in page
