"""Clubs by the pages: founded, joined by a link, and what their texts may have."""

import re
from collections.abc import Iterator

import pytest

from infra.people.clubs import ClubRole, Joining
from services.app.clubs import ClubChanges, change_club
from services.language import LOCAL, Language
from tests.helpers.api import PASSWORD, Api, Player, code_of
from tests.helpers.web import Guest, door

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


@pytest.fixture
def come(api: Api) -> Iterator[object]:
    with door(api) as come:
        yield come


def test_organisers_announce_and_members_play_each_other(api, come):
    guest, _, page = founded(come, api, "Players")
    player = api.player()
    club = api.parts.clubs.at("players")
    api.parts.clubs.put_member(club, player.account, ClubRole.MEMBER)
    told = guest.send(f"{page}/news", {"text": "Friday!", "key": "k"}, on=page)
    assert told.status_code == 303
    member, stranger = come(player), come(api.player())
    assert "Friday!" in member.page(page)
    assert "Players: Friday!" in member.page("/messages")
    assert "Friday!" not in stranger.page(page)
    assert stranger.send(f"{page}/news", {"text": "x"}, on=page).status_code == 403
    form = guest.page("/new?club=players")
    assert "Only members of the club will see your challenge" in form
    offered = guest.send(
        "/new",
        {"game": "torere", "against": "anybody", "club": "players", "time": "3"},
        on="/new?club=players",
    )
    challenge = offered.headers["location"]
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


def test_a_closed_club_is_read_and_not_joined(api, come):
    guest, _, page = founded(come, api, "Closers")
    assert guest.send(f"{page}/close", {"why": "over"}, on=page).headers["location"] == page
    shown = come(api.player()).page(page)
    assert "This club has been closed since" in shown
    assert f"{page}/join" not in shown
    assert f"{page}/rules" not in guest.page(page)


def test_a_club_that_pairs_says_so_before_one_joins_and_to_its_members(api, come):
    guest, owner, page = founded(come, api, "Pairers")
    rules = {"name": "Pairers", "joining": "open", "visible_to": "everybody"}
    assert RULE not in come(api.player()).page(page)
    guest.send(f"{page}/rules", {**rules, "pairs_members": "on"}, on=page)
    assert RULE in come(api.player()).page(page)
    made = owner.post("/api/clubs/pairers/links", {"uses": 3}).json()
    assert RULE in come(api.player()).page(f"/join-club?link={made['link']}")
    assert RULE in come().page(f"/signup?link={made['link']}")
    assert RULE not in come().page("/signup")
    language, other = Language(api.parts, origin=LOCAL), api.player()
    joined = language.do(f"join {other.name} {PASSWORD} pairers")
    assert RULE in joined.page
    assert RULE in language.do(f"club {other.name} {PASSWORD} pairers").page
    guest.send(f"{page}/rules", rules, on=page)
    assert RULE not in guest.page(page)


def test_lines_list_join_announce_and_leave(api, come):
    _, owner, _ = founded(come, api, "Liners")
    change_club(api.parts, owner.account, "liners", ClubChanges(joining=Joining.OPEN))
    other = api.player()
    language = Language(api.parts, origin=LOCAL)

    def say(player: Player, form: str, rest: str = "") -> str:
        answer = language.do(f"{form} {player.name} {PASSWORD} {rest}".strip())
        return f"{answer.sentence}\n{answer.page}".strip()

    assert "liners  Liners (owner)" in say(owner, "clubs")
    assert say(other, "join", "liners") == "you are a member of Liners now"
    assert say(owner, "announce", "liners we meet") == "every member will find it in `messages`"
    assert f"{other.name} (member)" in say(other, "club", "liners")
    assert f"{owner.name}: we meet" in say(other, "club", "liners")
    assert say(other, "leave", "liners") == "you are no member of the club"
    made = owner.post("/api/clubs/liners/links", {"uses": 1}).json()
    assert say(other, "join", f"--link={made['link']}") == "you are a member of Liners now"
