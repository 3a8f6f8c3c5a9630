"""Webhooks and channels, of players and of groups: from a move to what a receiver is given, and who gets nothing."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from bench.free_ports import free_port, listens
from infra.mail.addresses import ServerAddresses
from infra.mail.hooks import GIVEN_UP_MS, RETRY_MS, HookQueue
from infra.people.account_macs import AccountMacs, make_mac_key
from infra.people.accounts import MailAddress
from infra.people.clubs import ClubAudience, ClubRole
from infra.people.hooks import MOST_HOOKS, HookOff
from infra.redis import mail_keys as keys
from services.app.accounts import erase_account, log_out_everywhere
from services.app.clubs import ClubChanges, change_club
from services.app.own_data import own_files
from services.app.passwords import FRESH_MS
from services.jobs import mailer_wakeup, make_mailer
from tests.helpers.api import PASSWORD, Api, Player, code_of, until
from tests.helpers.examples import next_millisecond
from tests.helpers.games import whole_game
from tests.helpers.mailing import work_out
from tests.helpers.push_service import PushService, Received
from tests.helpers.web import visitors
from tests.services.test_api_tournaments import turn
from workers.mail import hooks as worker
from workers.mail.mailer import Mailer

SITE = "http://localhost:8080"
MOVES = list(islice(whole_game("torere"), 3))
ALL = ["turn", "challenge", "offer", "chat", "over", "tournament"]
DAY = 24 * 3_600_000


@pytest.fixture(scope="module")
def service() -> Iterator[PushService]:
    with PushService() as one:
        yield one


@pytest.fixture(scope="module")
def receiver() -> int:
    """The port of the program of the page, which runs once its secret is known."""
    return free_port()


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
    # those of earlier tests would be tried again when a test moves the clock on
    for key in api.parts.people.scan_iter("{a:*}:hooks"):
        api.parts.hooks.forget(bytes.fromhex(key.decode().partition("}")[0].removeprefix("{a:")))
    made = make_mailer(api.parts, ServerAddresses(bytes(32), "play.example.org"))
    work_out(made)
    service.received.clear()
    service.texts, service.answers = {"/": b"{}"}, {"/": 200}  # as ntfy answers
    return made


@pytest.fixture
def two(api: Api) -> list[Player]:
    return api.players()


def hook(player: Player, address: str, **more: Any) -> dict[str, str]:
    answer = player.post("/api/webhooks", {"address": address, **more})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def own_hook(
    player: Player, service: PushService, path: str = "/own", **more: Any
) -> dict[str, str]:
    """Have notices of a player sent to a path."""
    return hook(player, service.url + path, **{"topics": ALL, **more})


def topic(service: PushService, name: str) -> str:
    """The address of a topic of ntfy at the service."""
    return f"ntfy://{service.url.removeprefix('http://')}/{name}"


def came(service: PushService, path: str = "/own") -> list[dict[str, Any]]:
    return [json.loads(one.body) for one in service.received if one.path == path]


def posted(service: PushService) -> list[str]:
    """What was posted to topics of ntfy, the first first."""
    return [one["message"] for one in came(service, "/")]


def verified(secret: str, one: Received) -> Any:
    return Webhook(secret).verify(one.body, dict(one.headers))


def do(player: Player, made: dict[str, str], what: str, **more: Any) -> Any:
    return player.post(f"/api/webhooks/{made['id']}/{what}", more)


def deliveries(player: Player, made: dict[str, str]) -> list[dict[str, Any]]:
    found = player.get(f"/api/webhooks/{made['id']}/deliveries").json()["deliveries"]
    return list(found)


def states(player: Player, made: dict[str, str]) -> set[str]:
    return {one["state"] for one in deliveries(player, made)}


def hooks_of(player: Player, query: str = "") -> list[dict[str, Any]]:
    return list(player.get(f"/api/webhooks{query}").json()["webhooks"])


def at(mailer: Mailer, monkeypatch: pytest.MonkeyPatch, now: int) -> None:
    """Have deliveries believe that it is then, and work out what is due."""
    monkeypatch.setattr(mailer._tasks[-1], "_clock", lambda: now)
    work_out(mailer)


def test_a_move_reaches_the_program_of_the_player_to_move_signed(api, service, mailer, two):
    one, other = two
    made = own_hook(other, service)
    board = api.match(one, other, game="torere")
    work_out(mailer)
    service.received.clear()
    assert one.move(board, MOVES[0]).is_success
    work_out(mailer)
    (sent,) = service.received
    payload = verified(made["secret"], sent)
    assert payload["type"] == "your-turn"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", payload["timestamp"])
    data = payload["data"]
    assert data.pop("seq") > 1
    assert data == {
        "account": other.name, "text": f"Your turn in Mū tōrere against {one.name}", "link": f"{SITE}/m/{board}",
        "current": True, "board": board, "game": "torere", "players": [one.name, other.name], "opponents": [one.name],
        "ply": 1, "tournament": None,
    }  # fmt: skip
    with pytest.raises(WebhookVerificationError):
        verified("whsec_" + "A" * 32, sent)


def test_a_receiver_that_fails_gets_it_again_under_the_same_id_for_three_days(
    api, service, mailer, two, monkeypatch
):
    one, other = two
    made = own_hook(other, service)
    service.answers["/own"] = 503
    service.texts["/own"] = b"out of order\x1b[0m"
    api.match(one, other, game="torere")
    work_out(mailer)
    tried = len(came(service))
    assert tried >= 1
    first = deliveries(other, made)[0]
    told = first["state"], first["status"], first["answer"]
    assert told == ("waiting", 503, "out of order [0m")
    now = api.parts.store.now()
    assert first["due"] - now <= RETRY_MS[0]
    for wait in RETRY_MS[:-1]:
        now += wait + 1_000
        at(mailer, monkeypatch, now)
    ids = {one.headers["webhook-id"] for one in service.received}
    assert (len(service.received), len(ids)) == (tried * len(RETRY_MS), tried)
    assert all(verified(made["secret"], one)["timestamp"] for one in service.received)
    assert states(other, made) == {"waiting"}
    (listed,) = hooks_of(other)
    assert (listed["off"], listed["failing"] is not None) == (None, True)
    # the last try, after three days
    at(mailer, monkeypatch, now + RETRY_MS[-1] + 10_000)
    assert GIVEN_UP_MS < 3 * DAY
    assert states(other, made) == {"failed"}
    assert [one["off"] for one in hooks_of(other)] == [HookOff.FAILED]
    kinds = [one["kind"] for one in other.get("/api/notices").json()["notices"]]
    assert kinds.count("hook-off") == 1
    service.answers.clear()
    service.received.clear()
    api.match(one, other, game="torere")
    work_out(mailer)
    assert service.received == []
    assert do(other, made, "on").status_code == 204
    board = api.match(one, other, game="torere")
    work_out(mailer)
    assert {one["data"]["board"] for one in came(service)} == {board}


def test_a_secret_is_renewed_while_the_one_before_signs_for_a_day(
    api, service, mailer, monkeypatch
):
    player = api.player()
    made = own_hook(player, service)
    renewed = do(player, made, "secret").json()["secret"]
    assert do(player, made, "test").json()["kind"] == "test"
    work_out(mailer)
    (sent,) = service.received
    assert verified(made["secret"], sent)["type"] == verified(renewed, sent)["type"] == "test"
    later = api.parts.store.now() + DAY + 1
    monkeypatch.setattr(api.parts.store, "now", lambda: later)
    do(player, made, "test")
    at(mailer, monkeypatch, later + 1)
    assert verified(renewed, service.received[-1])
    with pytest.raises(WebhookVerificationError):
        verified(made["secret"], service.received[-1])
    # neither is anywhere to be read
    stored = b"".join(api.parts.data.hvals(f"{{a:{player.account.hex()}}}:hooks"))
    told = player.get("/api/webhooks").text.encode() + stored
    told += b"".join(one.content for one in own_files(api.parts, player.account))
    for secret in (made["secret"], renewed):
        assert secret.removeprefix("whsec_").encode() not in told
    assert service.url.encode() not in stored


def test_a_delivery_is_sent_again_by_hand_a_few_times_a_minute(api, service, mailer):
    player = api.player()
    made = own_hook(player, service)
    do(player, made, "test")
    work_out(mailer)
    (one,) = deliveries(player, made)
    assert (one["state"], one["status"], one["tries"]) == ("sent", 201, 1)
    again = f"deliveries/{one['id']}/again"
    assert do(player, made, again).json()["state"] == "waiting"
    work_out(mailer)
    assert [one.headers["webhook-id"] for one in service.received] == [one["id"]] * 2
    assert code_of(do(player, made, again)) == "too-many"
    assert code_of(do(player, made, "deliveries/none/again")) == "not-found"
    while (answer := do(player, made, "test")).is_success:
        work_out(mailer)
    assert (len(service.received), code_of(answer)) == (6, "too-many")


def test_what_is_read_twice_is_sent_once_and_a_claim_keeps_another_process_away(
    api, service, mailer, two, monkeypatch
):
    one, owner = two
    made = own_hook(owner, service, topics=["turn"])
    board = api.match(one, owner, game="torere")
    assert one.move(board, MOVES[0]).is_success
    queue = HookQueue(api.parts.data)
    read = queue.cursor()
    held: list[Any] = []
    monkeypatch.setattr(worker, "start", held.append)
    mailer._tasks[0].round()
    api.parts.data.delete(keys.HOOK_CURSOR)
    queue.begin(read)
    work_out(mailer)  # the same leaves again, and the delivery is claimed
    other = make_mailer(api.parts, ServerAddresses(bytes(32), "play.example.org"))
    work_out(other)
    assert len(held) == 1
    held.pop()()
    assert [sent.path for sent in service.received] == ["/own"]
    assert [sent["state"] for sent in deliveries(owner, made)] == ["sent"]
    # a process that died with a claim leaves it to the next
    assert do(owner, made, "test").is_success
    work_out(other)
    assert len(held) == 1
    monkeypatch.setattr(worker, "start", lambda work: work())
    at(mailer, monkeypatch, api.parts.store.now() + worker.CLAIM_MS + 1_000)
    assert [sent["type"] for sent in came(service)] == ["your-turn", "test"]


def test_few_are_sent_to_a_host_and_to_an_account_at_once_and_none_holds_up_others(
    api, service, mailer, monkeypatch
):
    held: list[Any] = []
    monkeypatch.setattr(worker, "start", held.append)

    def ask(player: Player, path: str, host: str = "") -> None:
        made = own_hook(player, service, path)
        stored = api.parts.hooks.get(player.account, made["id"])
        api.parts.hooks.change(stored, lambda one: replace(one, host=host or one.host))
        assert do(player, made, "test").is_success

    slow, other, many = api.players(3), api.player(), api.player()
    for player in slow:
        ask(player, "/one")
        ask(player, "/two")
    work_out(mailer)
    assert len(held) == worker.TO_HOST
    ask(other, "/other", "elsewhere.example.org")
    work_out(mailer)
    assert len(held) == worker.TO_HOST + 1
    for work in held:
        work()
    held.clear()
    at(mailer, monkeypatch, api.parts.store.now() + worker.BUSY_MS + 1)
    assert len(held) == 2 * len(slow) - worker.TO_HOST
    for work in held:
        work()
    held.clear()
    # names of many hosts are no way to have more
    for number in range(MOST_HOOKS):
        ask(many, f"/{number}", f"{number}.example.org")
    at(mailer, monkeypatch, api.parts.store.now() + 1)
    assert len(held) == worker.TO_HOST
    for work in held:
        work()


def test_a_receiver_that_is_gone_or_busy_is_believed_and_what_can_not_be_written_is_tried_again(
    api, service, mailer, two, monkeypatch
):
    one, other = two
    gone, busy = own_hook(other, service, "/gone"), own_hook(other, service, "/busy")
    service.answers |= {"/gone": 410, "/busy": 429}
    api.match(one, other, game="torere")
    work_out(mailer)
    assert {each["id"]: each["off"] for each in hooks_of(other)} == {gone["id"]: "gone", busy["id"]: None}  # fmt: skip
    assert states(other, gone) <= {"failed", "overtaken"}
    assert code_of(do(other, gone, "test")) == "bad-option"
    made, macs = own_hook(one, service), api.parts.accounts.macs
    monkeypatch.setattr(api.parts.accounts, "macs", AccountMacs())  # a machine without the key
    api.match(other, one, game="torere")
    work_out(mailer)
    assert {(each["state"], each["tries"]) for each in deliveries(one, made)} == {("waiting", 1)}
    monkeypatch.setattr(api.parts.accounts, "macs", macs)
    at(mailer, monkeypatch, api.parts.store.now() + RETRY_MS[0] + 1)
    assert states(one, made) == {"sent"}


def test_the_newest_deliveries_are_kept_and_few_of_those_that_wait(
    api, service, mailer, two, monkeypatch
):
    one, other = two
    monkeypatch.setattr("services.app.hooks._MOST_ASKED", 1_000)
    monkeypatch.setattr("infra.people.hooks.MOST_KEPT", 3)
    made = own_hook(one, service)
    sent = []
    for _ in range(4):
        sent.append(do(one, made, "test").json()["id"])
        work_out(mailer)
    assert [each["id"] for each in deliveries(one, made)] == sent[:0:-1]
    monkeypatch.setattr("infra.people.hooks.MOST_WAITING", 2)
    monkeypatch.setattr("infra.people.hooks.MOST_KEPT", 0)
    made = own_hook(other, service, "/away", topics=["challenge"])
    service.answers["/away"] = 500
    for _ in range(4):
        api.match(one, other, game="torere")
    work_out(mailer)
    assert len(deliveries(other, made)) == 2


def test_an_account_has_few_hooks_and_only_to_where_may_be_sent(api, service):
    """`tests/infra/test_hook_client.py` has each kind of address, and `test_guarded_http.py` each kind of host."""
    player, path = api.player(), f"{service.url}/x"
    bad = "https://10.0.0.1/", "mailto://a:b@example.org", "ntfys://127.0.0.1/topic", "discord://"
    found = [player.post("/api/webhooks", {"address": one, "topics": ["turn"]}) for one in bad]
    assert [code_of(one) for one in found] == ["bad-option"] * len(bad)
    bad_topic = player.post("/api/webhooks", {"address": path, "topics": ["none"]})
    assert "choose what is to be sent: turn, challenge" in bad_topic.json()["detail"]
    for number in range(MOST_HOOKS):
        own_hook(player, service, f"/{number}")
    more = player.post("/api/webhooks", {"address": path, "topics": ["turn"]})
    assert code_of(more) == "too-many"
    (first, *_) = hooks_of(player)
    assert api.player().delete(f"/api/webhooks/{first['id']}").status_code == 404
    assert player.delete(f"/api/webhooks/{first['id']}").status_code == 204
    assert len(hooks_of(player)) == MOST_HOOKS - 1


def test_an_old_token_needs_the_password_to_make_one_and_its_owner_hears_by_mail(
    api, service, monkeypatch
):
    player = api.player()
    box = MailAddress("ida@example.org", verified=True)
    api.parts.accounts.change_of(player.account, lambda one: replace(one, addresses=(box,)))
    later = api.parts.store.now() + FRESH_MS + 1
    monkeypatch.setattr(api.parts.store, "now", lambda: later)
    body = {"address": f"{service.url}/own", "topics": ["turn"]}
    assert code_of(player.post("/api/webhooks", body)) == "password-needed"
    made = hook(player, **body, password=PASSWORD)
    assert code_of(do(player, made, "on")) == "password-needed"
    letters = [one for one in api.parts.data.hvals("{mail}:letters") if box.address.encode() in one]
    (mail,) = [one for one in letters if b"A webhook of your account" in one]
    assert service.url.encode() not in mail


def test_an_end_of_all_access_switches_them_off_and_a_suspension_sends_nothing(
    api, service, mailer, two
):
    """`test_left_to_a_thief.py` has each way to end all access."""
    one, other = two
    made = own_hook(other, service)
    log_out_everywhere(api.parts, other.account)
    other = api.player_of(other.name)
    assert [each["off"] for each in hooks_of(other)] == ["access"]
    do(other, made, "on")
    api.match(one, other, game="torere")
    api.parts.accounts.change_of(other.account, lambda one: replace(one, suspended=True))
    work_out(mailer)
    assert service.received == []
    stored = api.parts.hooks.get(other.account, made["id"])
    assert {each.state for each in api.parts.hooks.deliveries(stored)} == {"overtaken"}


def test_a_deleted_account_leaves_neither_hooks_nor_deliveries(api, service, mailer, two):
    one, other = two
    made = own_hook(other, service)
    service.answers["/own"] = 503
    api.match(one, other, game="torere")
    work_out(mailer)
    data, log = api.parts.data, keys.hook_log(made["id"])

    def is_due() -> bool:
        return any(made["id"].encode() in member for member in data.zrange(keys.HOOKS_DUE, 0, -1))

    assert data.exists(log)
    assert is_due()
    (file,) = [one for one in own_files(api.parts, other.account) if one.name == "hooks.json"]
    (shown,) = json.loads(file.content)
    assert (shown["id"], shown["deliveries"][0]["status"]) == (made["id"], 503)
    assert not {"sealed", "address", "secret"} & shown.keys()
    erase_account(api.parts, other.account)
    assert not data.exists(log, f"{{a:{other.account.hex()}}}:hooks")
    assert not is_due()


def test_chat_and_messages_are_told_without_their_text(api, service, mailer, two):
    one, other = two
    own_hook(other, service, topics=["chat"])
    board = api.match(one, other, game="torere")
    one.post(f"/api/matches/{board}/chat", {"text": "well met, stranger"})
    next_millisecond()
    one.post("/api/messages", {"to": [other.name], "text": "a word in private"})
    work_out(mailer)
    found = came(service)
    assert [one["type"] for one in found] == ["chat", "message"]
    assert not re.search("well met|private", repr(found))
    assert found[1]["data"]["link"] == f"{SITE}/messages"


# where groups are


def club_of(api: Api, owner: Player, *members: Player) -> str:
    club = api.parts.clubs.found(f"Club of {owner.name}", owner.account)
    for one in members:
        api.parts.clubs.put_member(club, one.account, ClubRole.MEMBER)
    return club.path


def cup_of(host: Player, **more: Any) -> tuple[str, int]:
    """The place and the number of a tournament that has a name to call everybody."""
    cup = {"name": "Cup <!channel> @everyone", "game": "torere", "section": 3, "players": 3}
    there = host.post("/api/tournaments", {**cup, "when_full": True, **more}).headers["location"]
    return there, int(there.rpartition("/")[2])


def entered(api: Api, host: Player, there: str, players: list[Player]) -> None:
    """Open a tournament, and have it filled, which starts it."""
    assert host.post(f"{there}/open").is_success
    for player in players:
        assert player.post(f"{there}/entry", {}).is_success
    turn(api)


def test_a_channel_has_a_sentence_in_the_language_of_its_player_and_shows_no_address(
    api, service, mailer, two
):
    one, other = two
    api.parts.accounts.change_of(other.account, lambda record: replace(record, language="de"))
    made = hook(other, topic(service, "secret-topic"), topics=["turn"])
    board = api.match(other, one, game="torere")
    assert made["secret"] == ""
    assert code_of(do(other, made, "secret")) == "bad-option"
    assert "secret-topic" not in other.get("/api/webhooks").text
    assert other.move(board, MOVES[0]).is_success
    assert one.move(board, MOVES[1]).is_success
    work_out(mailer)
    assert posted(service) == [f"Du bist am Zug in Mū tōrere gegen {one.name}\n{SITE}/m/{board}"]
    # a turn that was taken before a repetition is not said any more
    service.received.clear()
    (sent,) = deliveries(other, made)
    assert other.move(board, MOVES[2]).is_success
    assert do(other, made, f"deliveries/{sent['id']}/again").is_success
    work_out(mailer)
    assert posted(service) == []


def test_a_club_s_channel_has_the_beginnings_and_results_of_its_members_alone(api, service, mailer):
    owner, one, other, stranger = api.players(4)
    path = club_of(api, owner, one, other)
    foreign = one.post("/api/webhooks", {"address": topic(service, "x"), "club": path})
    assert code_of(foreign) == "not-an-organiser"
    made = hook(owner, topic(service, "club"), club=path, label="our chat")
    hook(owner, f"{service.url}/club", club=path)
    api.match(one, stranger, game="torere")
    board = api.begun(one, other, game="torere")
    assert one.give(board, {"do": "resign"}).is_success
    work_out(mailer)
    names, link = f"{one.name} and {other.name}", f"\n{SITE}/m/{board}"
    assert posted(service) == [
        f"{names} have begun Mū tōrere{link}", f"Mū tōrere, {names}: {other.name} won by resignation{link}",
    ]  # fmt: skip
    payloads = came(service, "/club")
    told = [(each["type"], each["data"]["event"]) for each in payloads]
    assert told == [("club-news", "started"), ("club-news", "over")]
    assert payloads[0]["data"]["players"] == [one.name, other.name]
    # another owner sees it, and can end it
    club = api.parts.clubs.at(path)
    api.parts.clubs.put_member(club, other.account, ClubRole.OWNER)
    listed = hooks_of(other, f"?club={path}")
    assert {(each["userid"], each["label"]) for each in listed} == {(owner.name, "our chat"), (owner.name, "")}  # fmt: skip
    assert other.delete(f"/api/webhooks/{made['id']}").status_code == 404
    # who owns the club no longer gets nothing
    api.parts.clubs.put_member(club, owner.account, ClubRole.MEMBER)
    service.received.clear()
    api.begun(one, other, game="torere")
    work_out(mailer)
    assert service.received == []
    assert other.delete(f"/api/webhooks/{made['id']}?club={path}").status_code == 204
    assert len(hooks_of(other, f"?club={path}")) == 1


def test_a_tournament_s_channel_has_its_public_news_and_calls_nobody(api, service, mailer):
    host, *players = api.players(4)
    there, number = cup_of(host)
    foreign = players[0].post("/api/webhooks", {"address": topic(service, "x"), "tournament": number})  # fmt: skip
    assert code_of(foreign) == "unknown-tournament"
    hook(host, topic(service, "cup"), tournament=number)
    hook(host, f"{service.url}/cup", tournament=number)
    entered(api, host, there, players)
    until(lambda: len(api.parts.tournaments.matches(number)) == 3)
    first = api.parts.tournaments.matches(number)[0]
    loser = next(one for one in players if one.account == first.seats[0])
    assert loser.give(first.board, {"do": "resign"}).is_success
    turn(api)
    until(lambda: api.caught_up() or api.parts.tournaments.matches(number)[0].counted)
    work_out(mailer)
    begun, ended = posted(service)
    assert begun == f"Cup \u2039!channel> @\u200beveryone has started\n{SITE}/tournaments/{number}"
    assert ended.endswith(f"\n{SITE}/m/{first.board}")
    news = [one["data"] for one in came(service, "/cup")]
    assert [[piece["kind"] for piece in one["news"]] for one in news] == [["started"], ["result"]]
    assert news[1]["name"] == "Cup <!channel> @everyone"


def test_what_guests_do_not_see_is_posted_nowhere(api, service, mailer):
    def posted() -> list[Received]:
        """What comes, but for what is sent again to a receiver of another test that was away."""
        return [one for one in service.received if one.path != "/away"]

    owner, *members = api.players(4)
    path = club_of(api, owner, *members)
    change_club(api.parts, owner.account, path, ClubChanges(visible_to=ClubAudience.CLUB))
    there, number = cup_of(owner, club=path)
    hook(owner, topic(service, "cup"), tournament=number)
    entered(api, owner, there, members)
    api.caught_up()
    work_out(mailer)
    assert posted() == []
    hook(owner, topic(service, "club"), club=path)
    api.parts.admissions.change({"visible_to": "members"})
    try:
        refused = owner.post("/api/webhooks", {"address": topic(service, "x"), "club": path})
        assert code_of(refused) == "bad-option"
        api.begun(*members[:2], game="torere")
        work_out(mailer)
        assert posted() == []
    finally:
        api.parts.admissions.change({"visible_to": "everybody"})


def test_the_program_of_the_page_checks_what_it_gets(api, mailer, receiver, two, tmp_path):
    one, other = two
    page = Path(__file__).parents[2] / "docs" / "webhooks.md"
    (program,) = re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    (tmp_path / "receiver.py").write_text(program, "utf-8")
    made, forged = (
        hook(other, f"http://127.0.0.1:{receiver}/{path}", topics=["turn"])
        for path in ("", "forged")
    )
    command = [sys.executable, str(tmp_path / "receiver.py"), str(receiver), made["secret"]]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as receiving:  # fmt: skip
        try:
            until(lambda: listens(receiver))
            assert one.move(api.match(one, other, game="torere"), MOVES[0]).is_success
            work_out(mailer)
            assert receiving.stdout is not None
            said = receiving.stdout.readline()
            assert said == f"your-turn Your turn in Mū tōrere against {one.name}\n"
            (good,), (bad,) = deliveries(other, made), deliveries(other, forged)
            assert (good["state"], good["status"]) == ("sent", 204)
            # another secret signed it
            assert (bad["state"], bad["status"]) == ("waiting", 400)
        finally:
            receiving.kill()


def test_the_pages_add_test_renew_and_remove_one(api, service, mailer):
    player, form = api.player(), "/account/hooks"
    with visitors(api) as come:
        guest, stranger = come(player), come(api.player())
        assert f'href="{form}"' in guest.page("/account")
        fields = {"address": "https://10.0.0.1/", "topic": "turn", "label": "<b>mine"}
        refused = guest.send(form, fields, on=form)
        assert refused.status_code == 422
        assert "This host has no public address." in refused.text
        made = guest.send(form, fields | {"address": f"{service.url}/own"}, on=form)
        assert made.headers["cache-control"] == "no-store"
        assert (found := re.search(r'value="(whsec_[^"]+)"', made.text))
        assert "&lt;b&gt;mine" in guest.page(form)
        (one,) = hooks_of(player)
        page = f"{form}/{one['id']}"
        guest.send(page, {"do": "test"}, on=page)
        work_out(mailer)
        shown = guest.page(page)
        assert ('<span class="won">sent</span> 201' in shown, found[1] in shown) == (True, False)
        guest.send(page, {"do": "again", "delivery": deliveries(player, one)[0]["id"]}, on=page)
        work_out(mailer)
        assert len(came(service)) == 2
        assert "whsec_" in guest.send(page, {"do": "secret"}, on=page).text
        path = club_of(api, player)
        assert f"{form}?club={path}" in guest.page(f"/clubs/{path}")
        assert guest.page(f"{form}?club={path}").count('name="topic"') == 0
        for there, status in ((page, 404), (f"{form}?club={path}", 403)):
            assert stranger.get(there).status_code == status
        guest.send(page, {"do": "remove"}, on=page)
        assert guest.get(page).status_code == 404
