"""Reports and sanctions by the pages: reporting from where a text is seen, the queue, and appeals."""

import re
from collections.abc import Iterator

import pytest

from infra.people.accounts import AccountRole
from infra.people.acts import TERMINAL
from services.app.messages import write_chat
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
