"""What is posted where groups are, and the receiver of docs/webhooks.md."""

import json
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from infra.mail.addresses import ServerAddresses
from infra.people.account_macs import AccountMacs, make_mac_key
from infra.people.accounts import MailAddress
from infra.people.clubs import ClubAudience, ClubRole
from services.app.clubs import ClubChanges, change_club
from services.jobs import mailer_wakeup, make_mailer
from tests.helpers.api import Api, Player, code_of, until
from tests.helpers.games import whole_game
from tests.helpers.mailing import work_out
from tests.helpers.push_service import PushService
from tests.helpers.web import door
from workers.mail import hooks as worker
from workers.mail.mailer import Mailer
from workers.tournament_manager import TournamentManager

MOVES = list(islice(whole_game("torere"), 3))
SITE = "http://localhost:8080"
PAGE = Path(__file__).parents[2] / "docs" / "webhooks.md"
CUP = {
    "name": "Cup <!channel> @everyone",
    "game": "torere",
    "section": 3,
    "players": 3,
    "when_full": True,
}


@pytest.fixture(scope="module")
def service() -> Iterator[PushService]:
    with PushService() as one:
        one.texts["/"], one.answers["/"] = b"{}", 200  # as ntfy answers
        yield one


@pytest.fixture(scope="module")
def receiver() -> int:
    """The port of the program of the page, which runs once its secret is known."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    return int(port)


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory, service: PushService, receiver) -> Iterator[Api]:
    folder = tmp_path_factory.mktemp("api")
    (folder / "keys").mkdir()
    make_mac_key(folder / "keys")
    hosts = f"{service.url.removeprefix('http://')} 127.0.0.1:{receiver}"
    with Api(folder, keys=folder / "keys", site=SITE, hooks="on", hook_hosts=hosts) as api:
        api.parts.accounts.macs = AccountMacs(folder / "keys")
        mailer_wakeup(api.parts).begin()
        yield api


@pytest.fixture
def mailer(api: Api, service: PushService, monkeypatch: pytest.MonkeyPatch) -> Mailer:
    monkeypatch.setattr(worker, "start", lambda work: work())
    made = make_mailer(api.parts, ServerAddresses(bytes(32), "play.example.org"))
    work_out(made)
    service.received.clear()
    return made


def hook(player: Player, address: str, **more: Any) -> dict[str, str]:
    answer = player.post("/api/webhooks", {"address": address, **more})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def topic(service: PushService, name: str) -> str:
    """The address of a topic of ntfy at the service."""
    return f"ntfy://{service.url.removeprefix('http://')}/{name}"


def posted(service: PushService) -> list[str]:
    """What was posted to topics of ntfy, the first first."""
    return [json.loads(one.body)["message"] for one in service.received if one.path == "/"]


def club_of(api: Api, owner: Player, *members: Player) -> str:
    club = api.parts.clubs.found(f"Club of {owner.name}", owner.account)
    for one in members:
        api.parts.clubs.put_member(club, one.account, ClubRole.MEMBER)
    return club.path


def test_a_channel_has_a_sentence_in_the_language_of_its_player_and_shows_no_address(
    api, service, mailer
):
    ann, ben = api.player(name="ann"), api.player(name="ben")
    api.parts.accounts.change_of(ben.account, lambda one: replace(one, language="de"))
    made = hook(ben, topic(service, "secret-topic"), topics=["turn"])
    board = api.match(ben, ann, game="torere")
    assert made["secret"] == ""
    assert code_of(ben.post(f"/api/webhooks/{made['id']}/secret", {})) == "bad-option"
    assert "secret-topic" not in ben.get("/api/webhooks").text
    assert ben.move(board, MOVES[0]).is_success
    assert ann.move(board, MOVES[1]).is_success
    work_out(mailer)
    assert posted(service) == [f"Du bist am Zug in Mū tōrere gegen ann\n{SITE}/m/{board}"]
    # a turn that was taken before a repetition is not said any more
    service.received.clear()
    (one,) = ben.get(f"/api/webhooks/{made['id']}/deliveries").json()["deliveries"]
    assert ben.move(board, MOVES[2]).is_success
    assert ben.post(f"/api/webhooks/{made['id']}/deliveries/{one['id']}/again", {}).is_success
    work_out(mailer)
    assert posted(service) == []


def test_a_club_s_channel_has_the_beginnings_and_results_of_its_members_alone(api, service, mailer):
    owner, cat, dan, stranger = (api.player(name=name) for name in ("owner", "cat", "dan", "eve"))
    path = club_of(api, owner, cat, dan)
    assert code_of(cat.post("/api/webhooks", {"address": topic(service, "x"), "club": path})) == "not-an-organiser"  # fmt: skip
    made = hook(owner, topic(service, "club"), club=path, label="our chat")
    hook(owner, f"{service.url}/club", club=path)
    api.match(cat, stranger, game="torere")
    board = api.begun(cat, dan, game="torere")
    assert cat.give(board, {"do": "resign"}).is_success
    work_out(mailer)
    link = f"\n{SITE}/m/{board}"
    assert posted(service) == [
        f"cat and dan have begun Mū tōrere{link}", f"Mū tōrere, cat and dan: dan won by resignation{link}",
    ]  # fmt: skip
    payloads = [json.loads(one.body) for one in service.received if one.path == "/club"]
    assert [(one["type"], one["data"]["event"]) for one in payloads] == [
        ("club-news", "started"), ("club-news", "over"),
    ]  # fmt: skip
    assert payloads[0]["data"]["players"] == ["cat", "dan"]
    # another owner sees it, and can end it
    club = api.parts.clubs.at(path)
    api.parts.clubs.put_member(club, dan.account, ClubRole.OWNER)
    listed = dan.get(f"/api/webhooks?club={path}").json()["webhooks"]
    assert {(one["userid"], one["label"]) for one in listed} == {
        ("owner", "our chat"),
        ("owner", ""),
    }
    assert dan.delete(f"/api/webhooks/{made['id']}").status_code == 404
    # who owns the club no longer gets nothing
    api.parts.clubs.put_member(club, owner.account, ClubRole.MEMBER)
    service.received.clear()
    api.begun(cat, dan, game="torere")
    work_out(mailer)
    assert service.received == []
    assert dan.delete(f"/api/webhooks/{made['id']}?club={path}").status_code == 204
    assert len(dan.get(f"/api/webhooks?club={path}").json()["webhooks"]) == 1


def turn(api: Api) -> None:
    api.caught_up()
    TournamentManager(api.parts.store, api.parts.lanes, api.parts.data).tick()
    api.caught_up()


def test_a_tournament_s_channel_has_its_public_news_and_calls_nobody(api, service, mailer):
    host, *players = api.players(4)
    there = host.post("/api/tournaments", CUP).headers["location"]
    number = int(there.rpartition("/")[2])
    assert code_of(players[0].post("/api/webhooks", {"address": topic(service, "x"), "tournament": number})) == "unknown-tournament"  # fmt: skip
    hook(host, topic(service, "cup"), tournament=number)
    hook(host, f"{service.url}/cup", tournament=number)
    assert host.post(f"{there}/open").is_success
    for player in players:
        assert player.post(f"{there}/entry", {}).is_success
    turn(api)
    until(lambda: len(api.parts.tournaments.matches(number)) == 3)
    boards = [one.board for one in api.parts.tournaments.matches(number).values()]
    first = api.parts.tournaments.matches(number)[0]
    loser = next(one for one in players if one.account == first.seats[0])
    assert loser.give(first.board, {"do": "resign"}).is_success
    turn(api)
    until(lambda: api.caught_up() or api.parts.tournaments.matches(number)[0].counted)
    work_out(mailer)
    said = posted(service)
    assert (
        said[0] == f"Cup \u2039!channel> @\u200beveryone has started\n{SITE}/tournaments/{number}"
    )
    assert len(said) == 2
    assert said[1].endswith(f"\n{SITE}/m/{first.board}")
    assert first.board in boards
    news = [json.loads(one.body)["data"] for one in service.received if one.path == "/cup"]
    assert [[piece["kind"] for piece in one["news"]] for one in news] == [["started"], ["result"]]
    assert news[1]["name"] == CUP["name"]


def test_what_guests_do_not_see_is_posted_nowhere(api, service, mailer):
    owner, *members = api.players(4)
    path = club_of(api, owner, *members)
    change_club(api.parts, owner.account, path, ClubChanges(visible_to=ClubAudience.CLUB))
    there = owner.post("/api/tournaments", {**CUP, "club": path}).headers["location"]
    hook(owner, topic(service, "cup"), tournament=int(there.rpartition("/")[2]))
    assert owner.post(f"{there}/open").is_success
    for player in members:
        assert player.post(f"{there}/entry", {}).is_success
    turn(api)
    work_out(mailer)
    assert service.received == []
    hook(owner, topic(service, "club"), club=path)
    api.parts.admissions.change({"visible_to": "members"})
    try:
        refused = owner.post("/api/webhooks", {"address": topic(service, "x"), "club": path})
        assert code_of(refused) == "bad-option"
        api.begun(*members[:2], game="torere")
        work_out(mailer)
        assert service.received == []
    finally:
        api.parts.admissions.change({"visible_to": "everybody"})


def test_the_program_of_the_page_checks_what_it_gets(api, mailer, receiver, tmp_path):
    port = receiver
    (program,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    file = tmp_path / "receiver.py"
    file.write_text(program, "utf-8")
    fay, gus = api.player(name="fay"), api.player(name="gus")
    made = hook(gus, f"http://127.0.0.1:{port}/", topics=["turn"])
    forged = hook(gus, f"http://127.0.0.1:{port}/forged", topics=["turn"])
    command = [sys.executable, str(file), str(port), made["secret"]]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as receiving:  # fmt: skip
        try:
            until(lambda: listens(port))
            board = api.match(fay, gus, game="torere")
            assert fay.move(board, MOVES[0]).is_success
            work_out(mailer)
            assert receiving.stdout is not None
            assert receiving.stdout.readline() == "your-turn Your turn in Mū tōrere against fay\n"
            paths = [f"/api/webhooks/{one['id']}/deliveries" for one in (made, forged)]
            (good,), (bad,) = (gus.get(path).json()["deliveries"] for path in paths)
            assert (good["state"], good["status"]) == ("sent", 204)
            # another secret signed it
            assert (bad["state"], bad["status"]) == ("waiting", 400)
        finally:
            receiving.kill()


def listens(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def test_the_pages_add_test_renew_and_remove_one(api, service, mailer):
    hal = api.player(name="hal")
    with door(api) as come:
        guest = come(hal)
        assert 'href="/account/hooks"' in guest.page("/account")
        fields = {"address": "https://10.0.0.1/", "topic": "turn", "label": "<b>mine"}
        refused = guest.send("/account/hooks", fields, on="/account/hooks")
        assert refused.status_code == 422
        assert "This host has no public address." in refused.text
        fields["address"] = f"{service.url}/hal"
        made = guest.send("/account/hooks", fields, on="/account/hooks")
        assert made.headers["cache-control"] == "no-store"
        assert (found := re.search(r'value="(whsec_[^"]+)"', made.text))
        (one,) = hal.get("/api/webhooks").json()["webhooks"]
        page = f"/account/hooks/{one['id']}"
        assert found[1] not in guest.page(page)
        assert "&lt;b&gt;mine" in guest.page("/account/hooks")
        guest.send(page, {"do": "test"}, on=page)
        work_out(mailer)
        assert [received.path for received in service.received] == ["/hal"]
        shown = guest.page(page)
        assert '<span class="won">sent</span> 201' in shown
        (sent,) = hal.get(f"/api/webhooks/{one['id']}/deliveries").json()["deliveries"]
        guest.send(page, {"do": "again", "delivery": sent["id"]}, on=page)
        work_out(mailer)
        assert len(service.received) == 2
        assert "whsec_" in guest.send(page, {"do": "secret"}, on=page).text
        stranger = come(api.player())
        assert stranger.get(page).status_code == 404
        path = club_of(api, hal)
        assert f"/account/hooks?club={path}" in guest.page(f"/clubs/{path}")
        assert guest.page(f"/account/hooks?club={path}").count('name="topic"') == 0
        assert stranger.get(f"/account/hooks?club={path}").status_code == 403
        guest.send(page, {"do": "remove"}, on=page)
        assert guest.get(page).status_code == 404


def test_the_owner_hears_by_mail_of_one_that_is_added(api, service):
    ida = api.player(name="ida")
    box = MailAddress("ida@example.org", verified=True)
    api.parts.accounts.change_of(ida.account, lambda one: replace(one, addresses=(box,)))
    hook(ida, f"{service.url}/ida", topics=["turn"])
    letters = [one for one in api.parts.data.hvals("{mail}:letters") if box.address.encode() in one]
    (mail,) = [one for one in letters if b"A webhook of your account" in one]
    assert service.url.encode() not in mail
