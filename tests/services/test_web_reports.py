"""Reports and sanctions by the pages: reporting from where a text is seen, the queue, and appeals."""

import re
from collections.abc import Iterator

import pytest

from infra.people.accounts import AccountRole
from infra.people.acts import TERMINAL
from infra.people.moderation import REMOVED
from services.app.messages import send_message, write_chat
from services.app.roles import set_role
from tests.helpers.api import Api
from tests.helpers.web import Guest, door


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("reports")) as api:
        yield api


@pytest.fixture
def come(api: Api) -> Iterator[object]:
    with door(api) as come:
        yield come


def moderator(api: Api, come) -> Guest:
    player = api.player()
    set_role(api.parts, TERMINAL, player.name, AccountRole.MODERATOR, held=True)
    return come(player)


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
    staff, other = moderator(api, come), moderator(api, come)
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


def test_chat_notes_and_players_have_a_link_for_others_alone(api, come):
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
    page = moderator(api, come).page("/admin/reports")
    for said in ("a line of chat", "the note of a challenge", "an offensive userid"):
        assert said in page


def test_the_queue_is_for_moderators(api, come):
    guest = come(api.player())
    assert guest.get("/admin/reports").status_code == 403
    assert guest.send("/admin/reports/x", {}, on="/").status_code == 403
    assert "There are no sanctions against you." in guest.page("/account/sanctions")
    assert come().get("/report").is_redirect
    bad = guest.send("/report", {"kind": "nix"}, on="/report")
    assert bad.status_code == 422
