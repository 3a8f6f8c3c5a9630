"""Clubs by pages and lines: founded, joined by a link, and what their texts may have; the rules are in tests/app/test_clubs.py."""

import re
from collections.abc import Iterator

import pytest

from infra.people.clubs import ClubRole, Joining
from services.app.clubs import ClubChanges, change_club
from services.language import LOCAL, Language
from tests.helpers.api import PASSWORD, Api, Player, code_of
from tests.helpers.web import Guest

RULE = "Organisers of this club may pair its members with each other"


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


def test_a_club_is_founded_joined_left_and_closed_on_its_pages(api, come):
    guest, owner, page = founded(come, api, "Tigers <b>")
    assert page == "/clubs/tigers-b"
    assert "Your clubs</h2>" in guest.page("/clubs")
    assert "Tigers &lt;b&gt;" in guest.page(page)
    again = guest.send("/clubs", {"name": "tigers b"}, on="/clubs")
    assert (again.status_code, "There is a club called" in again.text) == (409, True)
    other = come(api.player())
    assert "Ask to join" in other.page(page)
    other.send(f"{page}/join", on=page)
    assert "You have asked to join" in other.page(page)
    assert f"{page}/requests/{other.name}" not in other.page(page)
    guest.send(f"{page}/requests/{other.name}", {"do": "admit"}, on=page)
    assert "You are in this club as: member." in other.page(page)
    guest.send(f"{page}/members/{other.name}", {"role": "organiser"}, on=page)
    assert "You are in this club as: organiser." in other.page(page)
    alone = guest.send(f"{page}/members/{owner.name}", {"role": "member"}, on=page)
    assert (alone.status_code, "needs an owner" in alone.text) == (409, True)
    assert guest.send(f"{page}/leave", on=page).status_code == 409
    assert other.send(f"{page}/leave", on=page).headers["location"] == "/clubs"
    assert other.name not in guest.page(page)
    assert guest.send(f"{page}/close", {"why": "over"}, on=page).headers["location"] == page
    shown = other.page(page)
    assert "This club has been closed since" in shown
    assert f"{page}/join" not in shown
    assert f"{page}/rules" not in guest.page(page)


def test_the_text_of_a_club_is_markdown_without_html_and_pictures(api, come):
    guest, _, page = founded(come, api, "Writers")
    text = (
        "# Hello\n*we* meet <script>alert(1)</script> ![x](https://x.example/p.png)\n\n"
        "[us](https://x.example) [bad](javascript:alert(1))"
    )
    rules = {"name": "Writers", "text": text, "joining": "open", "visible_to": "everybody"}
    assert guest.send(f"{page}/rules", rules, on=page).status_code == 303
    about = come().page(page).partition('class="prose"')[2].partition("</div>")[0]
    link = '<a href="https://x.example" rel="nofollow noopener ugc">us</a>'
    assert all(part in about for part in ("<h3>Hello</h3>", "<em>we</em>", link))
    assert not re.search('<script|<img|href="javascript', about)
    wrong = guest.send(f"{page}/rules", {**rules, "joining": "nix"}, on=page)
    assert wrong.status_code == 422
    assert re.search("isn(’|&#39;)t one of", wrong.text)


def test_a_link_is_shown_once_and_leads_to_an_account_or_to_the_club(api, come):
    guest, owner, page = founded(come, api, "Linkers")
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
    (id_,) = re.findall(r"/links/([0-9a-f]+)/revoke", guest.page(page))
    guest.send(f"{page}/links/{id_}/revoke", on=page)
    assert member.get(f"/join-club?link={text}").status_code == 404
    # a club that pairs says so before one joins, and to its members
    rules = {"name": "Linkers", "joining": "open", "visible_to": "everybody"}
    stranger = come(api.player())
    assert RULE not in stranger.page(page) + come().page("/signup")
    guest.send(f"{page}/rules", {**rules, "pairs_members": "on"}, on=page)
    link = owner.post("/api/clubs/linkers/links", {"uses": 3}).json()["link"]
    for shown in (page, f"/join-club?link={link}"):
        assert RULE in stranger.page(shown)
    assert RULE in come().page(f"/signup?link={link}")
    language, other = Language(api.parts, origin=LOCAL), api.player()
    for form in ("join", "club"):
        assert RULE in language.do(f"{form} {other.name} {PASSWORD} linkers").page
    guest.send(f"{page}/rules", rules, on=page)
    assert RULE not in guest.page(page)


def test_organisers_announce_and_members_play_each_other(api, come):
    guest, _, page = founded(come, api, "Players")
    player = api.player()
    api.parts.clubs.put_member(api.parts.clubs.at("players"), player.account, ClubRole.MEMBER)
    told = guest.send(f"{page}/news", {"text": "Friday!", "key": "k"}, on=page)
    assert told.status_code == 303
    member, stranger = come(player), come(api.player())
    assert "Friday!" in member.page(page)
    assert "Players: Friday!" in member.page("/messages")
    assert "Friday!" not in stranger.page(page)
    assert stranger.send(f"{page}/news", {"text": "x"}, on=page).status_code == 403
    form = "/new?club=players"
    assert "Only members of the club will see your challenge" in guest.page(form)
    fields = {"game": "torere", "against": "anybody", "club": "players", "time": "3"}
    challenge = guest.send("/new", fields, on=form).headers["location"]
    assert challenge.startswith("/c/")
    assert challenge in member.page(page)
    assert challenge not in stranger.page("/challenges")
    assert stranger.get(challenge).status_code == 404
    assert player.get(f"/api/challenges/{challenge[3:]}").is_success
    assert code_of(api.http.get(f"/api/challenges/{challenge[3:]}")) == "unknown-challenge"
    begun = member.send(f"/challenges/{challenge[3:]}/take", on=page)
    assert begun.headers["location"].startswith("/m/")
    api.caught_up()
    assert begun.headers["location"] in stranger.page(page)


def test_lines_list_join_announce_and_leave(api, come):
    _, owner, _ = founded(come, api, "Liners")
    change_club(api.parts, owner.account, "liners", ClubChanges(joining=Joining.OPEN))
    other, language = api.player(), Language(api.parts, origin=LOCAL)
    link = owner.post("/api/clubs/liners/links", {"uses": 1}).json()["link"]
    for player, line, said in (
        (owner, "clubs", "liners  Liners (owner)"),
        (other, "join liners", "you are a member of Liners now"),
        (owner, "announce liners we meet", "every member will find it in `messages`"),
        (other, "club liners", f"{other.name} (member)"),
        (other, "club liners", f"{owner.name}: we meet"),
        (other, "leave liners", "you are no member of the club"),
        (other, f"join --link={link}", "you are a member of Liners now"),
    ):
        form, _, rest = line.partition(" ")
        answer = language.do(f"{form} {player.name} {PASSWORD} {rest}".strip())
        assert said in f"{answer.sentence}\n{answer.page}", line
