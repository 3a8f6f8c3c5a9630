"""Webhooks and channels, from a move to what a receiver is given, and who gets nothing."""

import json
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from infra.durability.durability import Mode
from infra.mail.addresses import ServerAddresses
from infra.mail.hooks import GIVEN_UP_MS, RETRY_MS, HookQueue
from infra.people.account_macs import make_mac_key
from infra.people.clubs import ClubRole
from infra.people.hooks import MOST_HOOKS, MOST_KEPT, HookOff
from infra.redis import mail_keys as keys
from services.app.accounts import erase_account, log_out_everywhere, set_suspended
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
