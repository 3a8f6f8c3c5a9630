"""Clubs by the pages: founded, joined by a link, and what their texts may have."""

import re
from collections.abc import Iterator

import pytest

from tests.helpers.api import Api, Player
from tests.helpers.web import Guest


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("clubs")) as api:
        api.parts.admissions.change({"clubs": "members"})
        yield api


def founded(come, api: Api, name: str) -> tuple[Guest, Player, str]:
    owner = api.player()
    guest = come(owner)
    answer = guest.send("/clubs", {"name": name}, on="/clubs")
    assert answer.status_code == 303
    return guest, owner, answer.headers["location"]


def test_a_club_is_founded_joined_and_left_on_its_pages(api, come):
    guest, owner, page = founded(come, api, "Tigers <b>")
    assert page == "/clubs/tigers-b"
    assert "Tigers &lt;b&gt;" in guest.page(page)
    again = guest.send("/clubs", {"name": "tigers b"}, on="/clubs")
    assert again.status_code == 409
    assert "There is a club called" in again.text
    other = come(api.player())
    assert "Ask to join" in other.page(page)
    other.send(f"{page}/join", on=page)
    assert "You have asked to join" in other.page(page)
    assert f"{page}/requests/{other.name}" not in other.page(page)
    guest.send(f"{page}/requests/{other.name}", {"do": "admit"}, on=page)
    assert "You are in this club as: member." in other.page(page)
    guest.send(f"{page}/members/{other.name}", {"role": "organiser"}, on=page)
    assert "You are in this club as: organiser." in other.page(page)
    assert "Du bist" not in other.page(page)
    alone = guest.send(f"{page}/members/{owner.name}", {"role": "member"}, on=page)
    assert (alone.status_code, "needs an owner" in alone.text) == (409, True)
    assert guest.send(f"{page}/leave", on=page).status_code == 409
    assert other.send(f"{page}/leave", on=page).headers["location"] == "/clubs"
    assert other.name not in guest.page(page)


def test_the_text_of_a_club_is_markdown_without_html_and_pictures(api, come):
    guest, _, page = founded(come, api, "Writers")
    text = (
        "# Hello\n*we* meet <script>alert(1)</script> ![x](https://x.example/p.png)\n\n"
        "[us](https://x.example) [bad](javascript:alert(1))"
    )
    rules = {"name": "Writers", "text": text, "joining": "open", "visible_to": "everybody"}
    assert guest.send(f"{page}/rules", rules, on=page).status_code == 303
    shown = come().page(page)
    assert "<h3>Hello</h3>" in shown
    assert "<em>we</em>" in shown
    assert '<a href="https://x.example" rel="nofollow noopener ugc">us</a>' in shown
    about = shown.partition('class="prose"')[2].partition("</div>")[0]
    assert "<script" not in about
    assert "<img" not in about
    assert 'href="javascript' not in about
    wrong = guest.send(f"{page}/rules", {**rules, "joining": "nix"}, on=page)
    assert (
        wrong.status_code,
        "isn’t one of" in wrong.text or "isn&#39;t one of" in wrong.text,
    ) == (422, True)


def test_a_link_is_shown_once_and_leads_to_an_account_or_to_the_club(api, come):
    guest, _, page = founded(come, api, "Linkers")
    made = guest.send(f"{page}/links", {"uses": "2", "days": "7", "role": "captain"}, on=page)
    (link,) = re.findall(r'value="http[^"]*(/signup\?link=[^"]+)"', made.text)
    assert link not in guest.page(page)
    assert "used 0 of 2" in guest.page(page)
    bad = guest.send(f"{page}/links", {"uses": "many", "days": "7"}, on=page)
    assert bad.status_code == 422
    member = come(api.player())
    asked = member.get(link)
    assert asked.headers["location"].startswith("/join-club?link=")
    assert "Join Linkers?" in member.page(asked.headers["location"])
    text = link.partition("=")[2]
    joined = member.send("/join-club", {"link": text}, on=asked.headers["location"])
    assert joined.headers["location"] == page
    assert "You are in this club as: captain." in member.page(page)
    guest.send(
        f"{page}/links/{re.findall(r'/links/([0-9a-f]+)/revoke', guest.page(page))[0]}/revoke",
        on=page,
    )
    assert member.get(f"/join-club?link={text}").status_code == 404
