"""Webhooks and channels, from a move to what a receiver is given, and who gets nothing."""

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest
from msgspec.structs import replace
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from infra.mail.addresses import ServerAddresses
from infra.mail.hooks import GIVEN_UP_MS, RETRY_MS, HookQueue
from infra.people.account_macs import AccountMacs, make_mac_key
from infra.people.hooks import MOST_HOOKS, MOST_KEPT, HookOff
from infra.redis import mail_keys as keys
from services.app.accounts import erase_account, log_out_everywhere
from services.app.own_data import own_files
from services.app.passwords import FRESH_MS
from services.jobs import mailer_wakeup, make_mailer
from tests.helpers.api import PASSWORD, Api, Player, code_of
from tests.helpers.games import whole_game
from tests.helpers.mailing import work_out
from tests.helpers.push_service import PushService, Received
from workers.mail import hooks as worker
from workers.mail.mailer import Mailer

SITE = "http://localhost:8080"
MOVES = list(islice(whole_game("torere"), 2))
ALL = ["turn", "challenge", "offer", "chat", "over", "tournament"]


@pytest.fixture(scope="module")
def service() -> Iterator[PushService]:
    with PushService() as one:
        yield one


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory, service: PushService) -> Iterator[Api]:
    folder = tmp_path_factory.mktemp("api")
    (folder / "keys").mkdir()
    make_mac_key(folder / "keys")
    host = service.url.removeprefix("http://")
    with Api(folder, keys=folder / "keys", site=SITE, hooks="on", hook_hosts=host) as api:
        api.parts.accounts.macs = AccountMacs(folder / "keys")
        mailer_wakeup(api.parts).begin()
        yield api


@pytest.fixture
def mailer(api: Api, service: PushService, monkeypatch: pytest.MonkeyPatch) -> Mailer:
    monkeypatch.setattr(worker, "start", lambda work: work())
    made = make_mailer(api.parts, ServerAddresses(bytes(32), "play.example.org"))
    work_out(made)
    service.received.clear()
    service.answers.clear()
    service.texts.clear()
    return made


def hook(player: Player, service: PushService, path: str, **more: Any) -> dict[str, str]:
    """Have notices of a player sent to a path."""
    body = {"address": service.url + path, "topics": ALL, **more}
    answer = player.post("/api/webhooks", body)
    assert answer.status_code == 201, answer.text
    return dict(answer.json(), path=path)


def came(service: PushService, path: str) -> list[dict[str, Any]]:
    return [json.loads(one.body) for one in service.received if one.path == path]


def verified(secret: str, one: Received) -> Any:
    return Webhook(secret).verify(one.body, dict(one.headers))


def deliveries(player: Player, one: dict[str, str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = player.get(f"/api/webhooks/{one['id']}/deliveries").json()[
        "deliveries"
    ]
    return found


def at(mailer: Mailer, monkeypatch: pytest.MonkeyPatch, now: int) -> None:
    """Have deliveries believe that it is then, and work out what is due."""
    monkeypatch.setattr(mailer._tasks[-1], "_clock", lambda: now)
    work_out(mailer)


def test_a_move_reaches_the_program_of_the_player_to_move_signed(api, service, mailer):
    ann, ben = api.player(name="ann"), api.player(name="ben")
    made = hook(ben, service, "/ben")
    board = api.match(ann, ben, game="torere")
    work_out(mailer)
    service.received.clear()
    assert ann.move(board, MOVES[0]).is_success
    work_out(mailer)
    (sent,) = service.received
    payload = verified(made["secret"], sent)
    assert payload["type"] == "your-turn"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", payload["timestamp"])
    data = payload["data"]
    assert data.pop("seq") > 1
    assert data == {
        "account": "ben", "text": "Your turn in Mū tōrere against ann", "link": f"{SITE}/m/{board}", "current": True,
        "board": board, "game": "torere", "players": ["ann", "ben"], "opponents": ["ann"], "ply": 1, "tournament": None,
    }  # fmt: skip
    with pytest.raises(WebhookVerificationError):
        verified("whsec_" + "A" * 32, sent)


def test_a_receiver_that_fails_gets_it_again_under_the_same_id_for_three_days(
    api, service, mailer, monkeypatch
):
    cat, dan = api.player(name="cat"), api.player(name="dan")
    made = hook(dan, service, "/dan")
    service.answers["/dan"] = 503
    service.texts["/dan"] = b"out of order\x1b[0m"
    api.match(cat, dan, game="torere")
    work_out(mailer)
    tried = len(came(service, "/dan"))
    assert tried >= 1
    first = deliveries(dan, made)[0]
    assert (first["state"], first["status"], first["answer"]) == (
        "waiting",
        503,
        "out of order [0m",
    )
    now = api.parts.store.now()
    assert first["due"] - now <= RETRY_MS[0]
    for wait in RETRY_MS[:-1]:
        now += wait + 1_000
        at(mailer, monkeypatch, now)
    ids = {one.headers["webhook-id"] for one in service.received}
    assert (len(service.received), len(ids)) == (tried * len(RETRY_MS), tried)
    assert all(verified(made["secret"], one)["timestamp"] for one in service.received)
    assert {one["state"] for one in deliveries(dan, made)} == {"waiting"}
    (listed,) = dan.get("/api/webhooks").json()["webhooks"]
    assert (listed["off"], listed["failing"] is not None) == (None, True)
    # the last try, after three days
    at(mailer, monkeypatch, now + RETRY_MS[-1] + 10_000)
    assert {one["state"] for one in deliveries(dan, made)} == {"failed"}
    (listed,) = dan.get("/api/webhooks").json()["webhooks"]
    assert listed["off"] == HookOff.FAILED
    assert GIVEN_UP_MS < 3 * 24 * 3_600_000
    kinds = [one["kind"] for one in dan.get("/api/notices").json()["notices"]]
    assert kinds.count("hook-off") == 1
    service.answers.clear()
    service.received.clear()
    api.match(cat, dan, game="torere")
    work_out(mailer)
    assert service.received == []
    assert dan.post(f"/api/webhooks/{made['id']}/on", {}).status_code == 204
    board = api.match(cat, dan, game="torere")
    work_out(mailer)
    assert {one["data"]["board"] for one in came(service, "/dan")} == {board}


def test_a_receiver_that_is_gone_or_busy_is_believed(api, service, mailer):
    eve, fay = api.player(name="eve"), api.player(name="fay")
    gone, busy = hook(fay, service, "/gone"), hook(fay, service, "/busy")
    service.answers |= {"/gone": 410, "/busy": 429}
    api.match(eve, fay, game="torere")
    work_out(mailer)
    listed = {one["id"]: one["off"] for one in fay.get("/api/webhooks").json()["webhooks"]}
    assert listed == {gone["id"]: "gone", busy["id"]: None}
    assert {one["state"] for one in deliveries(fay, gone)} <= {"failed", "overtaken"}
    refused = fay.post(f"/api/webhooks/{gone['id']}/test", {})
    assert (refused.status_code, code_of(refused)) == (422, "bad-option")


def test_a_secret_is_renewed_while_the_one_before_signs_for_a_day(
    api, service, mailer, monkeypatch
):
    gus = api.player(name="gus")
    made = hook(gus, service, "/gus")
    renewed = gus.post(f"/api/webhooks/{made['id']}/secret", {}).json()["secret"]
    assert gus.post(f"/api/webhooks/{made['id']}/test", {}).json()["kind"] == "test"
    work_out(mailer)
    (sent,) = service.received
    assert verified(made["secret"], sent)["type"] == verified(renewed, sent)["type"] == "test"
    later = api.parts.store.now() + 24 * 3_600_000 + 1
    monkeypatch.setattr(api.parts.store, "now", lambda: later)
    gus.post(f"/api/webhooks/{made['id']}/test", {})
    at(mailer, monkeypatch, later + 1)
    assert verified(renewed, service.received[-1])
    with pytest.raises(WebhookVerificationError):
        verified(made["secret"], service.received[-1])
    # neither is anywhere to be read
    stored = b"".join(api.parts.data.hvals(f"{{a:{gus.account.hex()}}}:hooks"))
    told = gus.get("/api/webhooks").text.encode() + stored
    told += b"".join(one.content for one in own_files(api.parts, gus.account))
    for secret in (made["secret"], renewed):
        assert secret.removeprefix("whsec_").encode() not in told
    assert service.url.encode() not in stored


def test_a_delivery_is_sent_again_by_hand_a_few_times_a_minute(api, service, mailer):
    hal = api.player(name="hal")
    made = hook(hal, service, "/hal")
    hal.post(f"/api/webhooks/{made['id']}/test", {})
    work_out(mailer)
    (one,) = deliveries(hal, made)
    assert (one["state"], one["status"], one["tries"]) == ("sent", 201, 1)
    path = f"/api/webhooks/{made['id']}/deliveries"
    assert hal.post(f"{path}/{one['id']}/again", {}).json()["state"] == "waiting"
    work_out(mailer)
    assert {one.headers["webhook-id"] for one in service.received} == {one["id"]}
    assert len(service.received) == 2
    assert code_of(hal.post(f"{path}/{one['id']}/again", {})) == "too-many"
    assert code_of(hal.post(f"{path}/none/again", {})) == "not-found"
    while (answer := hal.post(f"/api/webhooks/{made['id']}/test", {})).is_success:
        work_out(mailer)
    assert (len(service.received), code_of(answer)) == (6, "too-many")


def test_what_is_read_twice_is_sent_once_and_a_claim_keeps_another_process_away(
    api, service, mailer, monkeypatch
):
    ian, jan = api.player(name="ian"), api.player(name="jan")
    made = hook(jan, service, "/jan", topics=["turn"])
    board = api.match(ian, jan, game="torere")
    assert ian.move(board, MOVES[0]).is_success
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
    (sent,) = service.received
    assert sent.path == "/jan"
    assert [one["state"] for one in deliveries(jan, made)] == ["sent"]
    # a process that died with a claim leaves it to the next
    assert jan.post(f"/api/webhooks/{made['id']}/test", {}).is_success
    work_out(other)
    assert len(held) == 1
    monkeypatch.setattr(worker, "start", lambda work: work())
    at(mailer, monkeypatch, api.parts.store.now() + worker.CLAIM_MS + 1_000)
    assert [one["type"] for one in came(service, "/jan")] == ["your-turn", "test"]


def test_a_slow_host_does_not_hold_up_others(api, service, mailer, monkeypatch):
    slow, others = api.players(3), api.player(name="lee")
    held: list[Any] = []
    monkeypatch.setattr(worker, "start", held.append)
    for player in slow:
        for path in ("/one", "/two"):
            made = hook(player, service, path)
            assert player.post(f"/api/webhooks/{made['id']}/test", {}).is_success
    work_out(mailer)
    assert len(held) == worker.TO_HOST
    made = hook(others, service, "/lee")
    named = api.parts.hooks.get(others.account, made["id"])
    api.parts.hooks.change(named, lambda one: replace(one, host="elsewhere.example.org"))
    assert others.post(f"/api/webhooks/{made['id']}/test", {}).is_success
    work_out(mailer)
    assert len(held) == worker.TO_HOST + 1
    for work in held:
        work()
    held.clear()
    at(mailer, monkeypatch, api.parts.store.now() + worker.BUSY_MS + 1)
    assert len(held) == 2 * len(slow) - worker.TO_HOST


def test_names_of_many_hosts_give_an_account_no_more(api, service, mailer, monkeypatch):
    kim = api.player(name="kim")
    held: list[Any] = []
    monkeypatch.setattr(worker, "start", held.append)
    for number in range(MOST_HOOKS):
        made = hook(kim, service, f"/{number}")
        stored = api.parts.hooks.get(kim.account, made["id"])
        api.parts.hooks.change(
            stored, lambda one, to=f"{number}.example.org": replace(one, host=to)
        )
        assert kim.post(f"/api/webhooks/{made['id']}/test", {}).is_success
    work_out(mailer)
    assert len(held) == worker.TO_HOST
    for work in held:
        work()


def test_a_delivery_that_can_not_be_written_is_tried_as_one_that_failed(
    api, service, mailer, monkeypatch
):
    ken = api.player(name="ken")
    made = hook(ken, service, "/ken")
    macs = api.parts.accounts.macs
    monkeypatch.setattr(api.parts.accounts, "macs", AccountMacs())  # a machine without the key
    api.match(api.player(), ken, game="torere")
    work_out(mailer)
    assert {(one["state"], one["tries"]) for one in deliveries(ken, made)} == {("waiting", 1)}
    monkeypatch.setattr(api.parts.accounts, "macs", macs)
    at(mailer, monkeypatch, api.parts.store.now() + RETRY_MS[0] + 1)
    assert {one["state"] for one in deliveries(ken, made)} == {"sent"}


def test_few_deliveries_wait_for_a_receiver_that_is_away(api, service, mailer, monkeypatch):
    monkeypatch.setattr("infra.people.hooks.MOST_WAITING", 2)
    monkeypatch.setattr("infra.people.hooks.MOST_KEPT", 0)
    kit = api.player(name="kit")
    made = hook(kit, service, "/kit", topics=["challenge"])
    service.answers["/kit"] = 500
    for _ in range(4):
        api.match(api.player(), kit, game="torere")
    work_out(mailer)
    assert len(deliveries(kit, made)) == 2


def test_an_account_has_few_hooks_and_only_to_where_may_be_sent(api, service):
    mia = api.player(name="mia")
    for bad in ("https://127.0.0.1/x", "http://example.org/x", "https://10.0.0.1:8443/", "mailto://a:b@example.org", "json://example.org",
                "ntfys://127.0.0.1/topic", "ntfy://intranet.example.org/topic", "matrix://token@10.0.0.1/!room",
                "ntfys://ntfy.sh/topic?verify=no", "discord://id/token?redirect=yes", "schema", "discord://"):  # fmt: skip
        answer = mia.post("/api/webhooks", {"address": bad, "topics": ["turn"]})
        assert (answer.status_code, code_of(answer)) == (422, "bad-option"), bad
    bad_topic = mia.post("/api/webhooks", {"address": f"{service.url}/x", "topics": ["none"]})
    assert "choose what is to be sent: turn, challenge" in bad_topic.json()["detail"]
    for number in range(MOST_HOOKS):
        hook(mia, service, f"/{number}")
    more = mia.post("/api/webhooks", {"address": f"{service.url}/x", "topics": ["turn"]})
    assert code_of(more) == "too-many"
    (first, *_) = mia.get("/api/webhooks").json()["webhooks"]
    other = api.player()
    assert other.delete(f"/api/webhooks/{first['id']}").status_code == 404
    assert mia.delete(f"/api/webhooks/{first['id']}").status_code == 204
    assert len(mia.get("/api/webhooks").json()["webhooks"]) == MOST_HOOKS - 1


def test_an_old_token_needs_the_password_to_make_one(api, service, monkeypatch):
    ned = api.player(name="ned")
    later = api.parts.store.now() + FRESH_MS + 1
    monkeypatch.setattr(api.parts.store, "now", lambda: later)
    body = {"address": f"{service.url}/ned", "topics": ["turn"]}
    assert code_of(ned.post("/api/webhooks", body)) == "password-needed"
    made = ned.post("/api/webhooks", body | {"password": PASSWORD})
    assert made.status_code == 201
    assert code_of(ned.post(f"/api/webhooks/{made.json()['id']}/on", {})) == "password-needed"


def test_an_end_of_all_access_switches_them_off_and_a_suspension_sends_nothing(
    api, service, mailer
):
    oli, pat = api.player(name="oli"), api.player(name="pat")
    made = hook(pat, service, "/pat")
    api.match(oli, pat, game="torere")
    log_out_everywhere(api.parts, pat.account)  # as a new password does
    work_out(mailer)
    assert service.received == []
    pat = api.player_of("pat")
    assert pat.get("/api/webhooks").json()["webhooks"][0]["off"] == "access"
    pat.post(f"/api/webhooks/{made['id']}/on", {})
    api.match(oli, pat, game="torere")
    record = api.parts.accounts.record_of(pat.account)
    api.parts.accounts.change_of(pat.account, lambda one: replace(one, suspended=True))
    work_out(mailer)
    assert service.received == []
    assert {one.state for one in api.parts.hooks.deliveries(api.parts.hooks.get(pat.account, made["id"]))} == {"overtaken"}  # fmt: skip
    api.parts.accounts.change_of(pat.account, lambda one: replace(one, suspended=record.suspended))


def test_a_deleted_account_leaves_neither_hooks_nor_deliveries(api, service, mailer):
    quin, rob = api.player(name="quin"), api.player(name="rob")
    made = hook(rob, service, "/rob")
    service.answers["/rob"] = 503
    api.match(quin, rob, game="torere")
    work_out(mailer)
    data = api.parts.data
    assert data.exists(keys.hook_log(made["id"]))
    assert any(made["id"].encode() in member for member in data.zrange(keys.HOOKS_DUE, 0, -1))
    (file,) = [one for one in own_files(api.parts, rob.account) if one.name == "hooks.json"]
    (shown,) = json.loads(file.content)
    assert (shown["id"], shown["deliveries"][0]["status"]) == (made["id"], 503)
    assert not {"sealed", "address", "secret"} & shown.keys()
    erase_account(api.parts, rob.account)
    assert not data.exists(keys.hook_log(made["id"]), f"{{a:{rob.account.hex()}}}:hooks")
    assert not any(made["id"].encode() in member for member in data.zrange(keys.HOOKS_DUE, 0, -1))


def test_chat_and_messages_are_told_without_their_text(api, service, mailer):
    sue, tom = api.player(name="sue"), api.player(name="tom")
    hook(tom, service, "/tom", topics=["chat"])
    board = api.match(sue, tom, game="torere")
    sue.post(f"/api/matches/{board}/chat", {"text": "well met, stranger"})
    sue.post("/api/messages", {"to": ["tom"], "text": "a word in private"})
    work_out(mailer)
    found = came(service, "/tom")
    assert [one["type"] for one in found] == ["chat", "message"]
    assert "well met" not in repr(found) and "private" not in repr(found)  # noqa: PT018 - one idea
    assert found[1]["data"]["link"] == f"{SITE}/messages"


def test_only_the_newest_deliveries_are_kept(api, service, mailer, monkeypatch):
    una = api.player(name="una")
    made = hook(una, service, "/una")
    monkeypatch.setattr("services.app.hooks._MOST_ASKED", 1_000)
    first = una.post(f"/api/webhooks/{made['id']}/test", {}).json()["id"]
    work_out(mailer)
    for _ in range(MOST_KEPT):
        una.post(f"/api/webhooks/{made['id']}/test", {})
        work_out(mailer)
    found = [one["id"] for one in deliveries(una, made)]
    assert (len(found), first in found) == (MOST_KEPT, False)
