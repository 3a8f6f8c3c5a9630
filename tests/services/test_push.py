"""Notifications in browsers, from a move to what a push service is given, and who gets none."""

from collections.abc import Iterator
from itertools import islice

import pytest
from msgspec.structs import replace

from infra.durability.durability import Mode
from infra.mail.addresses import ServerAddresses
from infra.mail.push import LIFE_MS, PushMessage, PushQueue, VapidKey
from infra.mail.push_client import PushClient, PushStatus
from infra.people.account_macs import make_mac_key
from infra.people.push_subscriptions import MOST_SUBSCRIPTIONS, PushSubscription
from infra.people.tokens import Tokens
from infra.redis import mail_keys as keys
from infra.store.leases import LaneLeases
from infra.store.redis_store import RedisStore
from services.app.accounts import erase_account
from services.app.passwords import FRESH_MS
from services.app.preferences import vapid_key
from services.jobs import mailer_wakeup, make_mailer
from tests.helpers.api import PASSWORD, Api, Player, code_of, until
from tests.helpers.games import whole_game
from tests.helpers.mailing import work_out
from tests.helpers.push_service import Browser, PushService, claims_of, decode
from tests.helpers.web import visitors
from workers.mail import push as push_worker
from workers.mail.mailer import Mailer
from workers.tournament_manager import TournamentManager

SITE = "http://localhost:8080"
MOVES = list(islice(whole_game("torere"), 4))


@pytest.fixture(scope="module")
def service() -> Iterator[PushService]:
    with PushService() as one:
        yield one


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory, service: PushService) -> Iterator[Api]:
    folder = tmp_path_factory.mktemp("api")
    keys_folder = folder / "keys"
    keys_folder.mkdir()
    make_mac_key(keys_folder)
    with Api(folder, keys=keys_folder, site=SITE, push="on", push_services=service.url) as api:
        mailer_wakeup(api.parts).begin()
        yield api


@pytest.fixture
def mailer(api: Api, service: PushService) -> Mailer:
    work_out(made := make_mailer(api.parts, ServerAddresses(bytes(32), "play.example.org")))
    service.received.clear()
    service.answers.clear()
    return made


def allow(player: Player, service: PushService, name: str) -> Browser:
    """Let a browser of the player show notifications."""
    browser = Browser(service, name)
    answer = player.post("/api/account/push", {**browser.json, "label": name})
    assert answer.status_code == 201, answer.text
    return browser


def test_a_browser_is_told_in_its_language_whose_turn_it_is(api, service, mailer):
    ann, ben = api.player(name="ann"), api.player(name="ben")
    allow(ann, service, "of-ann")
    browser = allow(ben, service, "of-ben")
    board = api.match(ann, ben, game="torere")
    work_out(mailer)
    service.received.clear()
    api.parts.accounts.change_of(ben.account, lambda one: replace(one, language="de"))
    assert ann.move(board, MOVES[0]).is_success
    work_out(mailer)
    (message,) = browser.messages()
    assert message == {
        "title": "Du bist am Zug in Mū tōrere gegen ann", "body": "", "path": f"/m/{board}", "tag": f"m{board}",
        "lang": "de",
    }  # fmt: skip
    (sent,) = service.received
    assert sent.path == "/of-ben"
    assert sent.headers["Content-Encoding"] == "aes128gcm"
    assert (sent.headers["TTL"], sent.headers["Topic"]) == (str(LIFE_MS // 1000), f"m{board}")
    claims = claims_of(sent.headers["Authorization"])
    assert (claims["aud"], claims["sub"]) == (service.url, SITE)
    assert claims["k"] == vapid_key(api.parts).public
    # what passed meanwhile is not told; chat and other news are
    assert ben.move(board, MOVES[1]).is_success
    assert ann.move(board, MOVES[2]).is_success
    assert ben.move(board, MOVES[3]).is_success
    ann.post(f"/api/matches/{board}/chat", {"text": "hello"})
    ann.give(board, {"do": "resign"})
    work_out(mailer)
    assert sorted(one["title"] for one in browser.messages()[1:]) == [
        "Du hast Mū tōrere gegen ann gewonnen",
        "ann hat im Chat von Mū tōrere geschrieben",
    ]


def test_a_service_that_is_away_gets_it_later_and_a_browser_that_is_gone_is_forgotten(
    api, service, mailer, monkeypatch
):
    gil, hal = api.player(name="gil"), api.player(name="hal")
    there, away, gone, led = (
        allow(hal, service, name) for name in ("there", "away", "gone", "led-away")
    )
    service.answers |= {"/away": 503, "/gone": 410, "/led-away": 302}
    board = api.match(gil, hal, game="torere")
    monkeypatch.setattr(push_worker, "REST_SECONDS", 0.0)
    work_out(mailer)
    assert len(service.received) == 4, "a redirect is not followed"
    assert all(len(one.messages()) == 1 for one in (there, away, gone, led))
    listed = hal.get("/api/account/push").json()["browsers"]
    assert sorted(one["label"] for one in listed) == ["away", "led-away", "there"]
    queue = PushQueue(api.parts.data)
    assert queue.due(api.parts.store.now(), 10) == []
    service.answers.clear()
    later = api.parts.store.now() + 61_000
    monkeypatch.setattr(mailer._tasks[1], "_clock", lambda: later)
    work_out(mailer)
    assert (len(there.messages()), len(away.messages())) == (1, 2)
    assert away.messages()[1]["path"] == f"/m/{board}"


def test_whoever_logs_out_is_not_told_in_that_browser(api, service, mailer):
    kim = api.player(name="kim")
    with visitors(api) as come:
        guest = come()
        guest.log_in("kim")
        browser = Browser(service, "of-kim")
        fields = {"endpoint": browser.endpoint, **browser.json["keys"]}
        assert 'id="push-form"' in guest.page("/account")
        assert guest.send("/account/push", fields, on="/account").status_code == 303
        page = guest.page("/account?saved=push")
        assert "Notifications are on in this browser." in page
        api.match(api.player(name="lea"), kim, game="torere")
        work_out(mailer)
        assert len(browser.messages()) == 1
        guest.send("/logout", on="/account")
    api.match(api.player(name="mia"), kim, game="torere")
    work_out(mailer)
    assert len(browser.messages()) == 1
    assert api.parts.push_subscriptions.of(kim.account) == []


def test_a_token_adds_a_browser_with_the_password_if_it_is_old_and_the_browser_ends_with_it(
    api, service, mailer
):
    rae = api.player()
    past = Tokens(api.parts.data, lambda: api.parts.store.now() - FRESH_MS - 1_000)
    token = past.issue(rae.account, "old", ["account"])
    old = Player(api, rae.name, rae.account, token.text)
    browser = Browser(service, "of-rae")
    refused = old.post("/api/account/push", browser.json)
    assert (refused.status_code, code_of(refused)) == (403, "password-needed")
    assert rae.get("/api/account/push").json()["browsers"] == []
    assert old.post("/api/account/push", {**browser.json, "password": PASSWORD}).status_code == 201
    (login,) = [one.login for one in api.parts.push_subscriptions.of(rae.account)]
    assert rae.delete(f"/api/tokens/{login}").status_code == 204
    api.match(api.player(), rae, game="torere")
    work_out(mailer)
    assert browser.messages() == []
    assert rae.get("/api/account/push").json()["browsers"] == []


def test_what_can_not_be_subscribed_is_refused_and_an_account_has_so_many_browsers(api, service):
    ray, fine = api.player(), Browser(service, "of-ray").json
    for endpoint, wrong in (
        ("https://169.254.169.254/latest", {}),
        ("http://127.0.0.1:1/x", {}),
        ("", {}),
        (fine["endpoint"], {"p256dh": "AAAA"}),
        (fine["endpoint"], {"p256dh": "B" * 87}),
        (fine["endpoint"], {"auth": "AAAA"}),
        (fine["endpoint"], {"auth": "é"}),
    ):
        wanted = {**fine, "endpoint": endpoint, "keys": fine["keys"] | wrong}
        answer = ray.post("/api/account/push", wanted)
        assert (answer.status_code, code_of(answer)) == (422, "bad-option"), (endpoint, wrong)
    assert ray.get("/api/account/push").json()["browsers"] == []
    for number in range(MOST_SUBSCRIPTIONS):
        allow(ray, service, f"ray-{number}")
    allow(ray, service, "ray-0")
    assert code_of(ray.post("/api/account/push", fine)) == "too-many"
    found = ray.get("/api/account/push").json()["browsers"]
    assert len(found) == MOST_SUBSCRIPTIONS
    for one in found:
        assert ray.delete(f"/api/account/push/{one['id']}").status_code == 204
    assert ray.get("/api/account/push").json()["browsers"] == []


def test_a_deleted_account_leaves_nothing(api, service, mailer):
    ned = api.player(name="ned")
    allow(ned, service, "of-ned")
    board = api.match(api.player(name="oli"), ned, game="torere")
    assert board
    for task in mailer._tasks[:1]:
        while task.round():
            pass
    erase_account(api.parts, ned.account)
    assert api.parts.push_subscriptions.of(ned.account) == []
    assert PushQueue(api.parts.data).due(api.parts.store.now(), 10) == []


def test_a_kill_between_queue_and_cursor_queues_it_once_and_one_after_sending_sends_it_again(
    api, service, mailer, monkeypatch
):
    pat, quin = api.player(name="pat"), api.player(name="quin")
    browser = allow(quin, service, "of-quin")
    board = api.match(pat, quin, game="torere")
    follower, delivery = mailer._tasks

    class KilledError(Exception):
        pass

    def killed(*_: object, **__: object) -> None:
        raise KilledError

    with monkeypatch.context() as patched:
        patched.setattr(PushQueue, "advance", killed)
        with pytest.raises(KilledError):
            follower.round()
    while follower.round():
        pass
    with monkeypatch.context() as patched:
        patched.setattr(PushQueue, "done", killed)
        with pytest.raises(KilledError):
            delivery.round()
    work_out(mailer)
    topics = [one.headers["Topic"] for one in service.received if one.path == "/of-quin"]
    assert topics == [f"m{board}"] * 2
    assert len({one["title"] for one in browser.messages()}) == 1


def test_a_server_without_push_says_so_and_queues_nothing(tmp_path):
    with Api(tmp_path) as api, PushService() as service:
        tom = api.player(name="tom")
        answer = tom.post("/api/account/push", Browser(service, "x").json)
        assert "doesn't send notifications" in answer.json()["detail"]
        assert tom.get("/api/account/push").json() == {"key": "", "browsers": []}
        api.match(tom, api.player(name="uma"))
        assert not api.parts.data.exists(keys.PUSH_CURSOR, keys.PUSH_DUE)
        with visitors(api) as come:
            guest = come()
            guest.log_in("tom")
            assert "This server doesn’t send notifications" in guest.page("/account")


def test_a_start_of_a_tournament_is_one_notification_and_none_of_its_matches(api, service, mailer):
    host, *players = api.players(4)
    browser = allow(players[0], service, "of-a-player")
    made = host.post(
        "/api/tournaments", {"name": "Cup", "game": "goliath", "section": 3, "players": 3}
    )
    number = made.json()["board"]
    assert host.post(f"/api/tournaments/{number}/open").is_success
    for player in players:
        assert player.post(f"/api/tournaments/{number}/entry", {}).is_success
    work_out(mailer)
    assert browser.messages() == []
    assert host.post(f"/api/tournaments/{number}/start").is_success
    work_out(mailer)
    with api.server.client() as client:
        store = RedisStore(client, Mode.FSYNC)
        manager = TournamentManager(store, LaneLeases(client, [].append), client)
        api.caught_up()
        manager.tick()
        until(lambda: api.caught_up() or len(api.parts.tournaments.matches(number)) == 3)
    work_out(mailer)
    assert browser.messages() == [
        {
            "title": "Cup has started: you play 2 matches", "body": "", "path": f"/tournaments/{number}",
            "tag": f"t{number}", "lang": "en",
        }
    ]  # fmt: skip


def test_an_entry_that_fails_holds_up_nobody(api, service, mailer, monkeypatch):
    nina, omar = api.player(name="nina"), api.player(name="omar")
    bystander = allow(omar, service, "of-omar")
    allow(nina, service, "of-nina")
    bad = api.parts.push_subscriptions.of(nina.account)[0]
    # such an address is refused when it is given; one may have been stored before that
    for endpoint in ("https://a..fcm.googleapis.com/x", f"https://{'a' * 64}.fcm.googleapis.com/"):
        api.parts.push_subscriptions.add(nina.account, replace(bad, endpoint=endpoint))
    send = mailer._tasks[1]._client.send

    def fail(to, message):
        if to.endpoint == bad.endpoint:
            raise LookupError("a fault of this program")
        return send(to, message)

    monkeypatch.setattr(mailer._tasks[1]._client, "send", fail)
    api.match(nina, omar, game="torere")
    api.match(omar, nina, game="torere")
    work_out(mailer)
    assert len(bystander.messages()) >= 1
    assert PushQueue(api.parts.data).due(api.parts.store.now(), 10) == []


def test_an_address_that_no_program_can_ask_is_refused_by_the_client(service):
    key = VapidKey(bytes(32), SITE)
    client = PushClient(key, ("fcm.googleapis.com", service.url))
    browser = Browser(service, "x").json["keys"]
    bad = PushSubscription(
        "https://a..fcm.googleapis.com/x", decode(browser["p256dh"]), bytes(16), "", 0
    )
    assert client.send(bad, PushMessage(b"{}", "m1", 60)) is PushStatus.GONE
    off_curve = replace(bad, endpoint=f"{service.url}/x", key=b"\4" * 65)
    assert client.send(off_curve, PushMessage(b"{}", "m1", 60)) is PushStatus.REFUSED
    away = replace(bad, endpoint=f"{service.url}/x")
    nobody = PushClient(key, (service.url, "http://127.0.0.1:1"))
    assert client.send(away, PushMessage(b"{}", "m1", 60)) is PushStatus.SENT
    gone = replace(bad, endpoint="http://127.0.0.1:1/x")
    assert nobody.send(gone, PushMessage(b"{}", "m1", 60)) is PushStatus.AWAY
    client.close()
    nobody.close()
