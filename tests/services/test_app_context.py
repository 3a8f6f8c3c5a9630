"""The parts of a program: made when they are needed, durable, and closed."""

import pytest
from redis import ConnectionError as LostConnectionError

from infra.durability.durability import DurabilityError, Mode
from infra.health.heartbeats import Heartbeat, Role
from infra.people.accounts import Accounts
from infra.redis import keys
from infra.settings.settings import Settings
from infra.store.layout import Layout
from infra.store.redis_store import RedisStore
from infra.store.server_clock import ServerClockRecord
from infra.valkey.server import EmbeddedServer, NotRunningError
from services.app.context import App
from services.cli.scheduler import make_ticks
from services.language import LOCAL, Language
from tests.fakes.app import CHEAP
from tests.helpers.lanes import LANE
from workers.clock_check import ClockCheck


@pytest.fixture
def settings(tmp_path) -> Settings:
    return Settings(data=tmp_path / "data")


def test_a_server_is_looked_for_when_it_is_needed_and_not_before(settings):
    with App(settings) as parts:
        assert Language(parts, origin=LOCAL).do("help").code == ""
        with pytest.raises(NotRunningError):
            Language(parts, origin=LOCAL).do("pow2 show 1")


def test_a_queue_of_its_own_is_used_for_wake_ups_only(valkey, redis_client, settings):
    del redis_client
    url = f"{valkey.url}?db=1"
    settings = Settings(data=settings.data, redis_url=valkey.url, queue_url=url)
    with App(settings) as parts:
        parts.lanes.request(LANE)
        assert parts.data.keys() == []
        assert parts.queue.exists("{lease:0/1}")


@pytest.mark.parametrize("line", [
    "signup bob yes-we-can", "change password alice mad-hatter w2w2w2w2w2", "pow2 challenge a b",
])  # fmt: skip
def test_nothing_is_written_to_a_server_that_can_not_keep_our_promise(settings, line):
    with EmbeddedServer(settings.data, durable=False) as server, server.client() as client:
        RedisStore(client, Mode.NONE).create(Layout(shards=4, lanes=1))
        accounts = Accounts(client, CHEAP)
        for name in ("alice", "a1", "b1"):
            accounts.signup(name, "mad-hatter")
        before = {name: client.dump(name) for name in client.scan_iter()}
        with App(settings, accounts=accounts) as parts, pytest.raises(DurabilityError):
            Language(parts, origin=LOCAL).do(line.replace("a b", "a1 b1"))
        assert {name: client.dump(name) for name in client.scan_iter()} == before


def test_a_server_of_the_queue_that_is_away_is_an_error_and_no_wait(valkey, settings):
    away = Settings(
        data=settings.data,
        redis_url=valkey.url,
        queue_url="redis://127.0.0.1:1",
        durability=Mode.NONE,
    )
    with App(away) as parts, pytest.raises(LostConnectionError):
        _ = parts.gateway


def test_what_the_scheduler_asks_for_does_not_grow_with_the_boards_ever(
    valkey, redis_client, settings
):
    settings = Settings(data=settings.data, redis_url=valkey.url)
    with App(settings) as parts:
        parts.store.create(Layout(shards=4, lanes=1))
        redis_client.set(keys.BOARDS, 30_000_000)
        ticks = make_ticks(
            parts, Heartbeat(Role.SCHEDULER, "1"), ClockCheck(ServerClockRecord(parts.data))
        )
        before = redis_client.info("stats")["total_commands_processed"]
        for tick in ticks * 2:
            tick()
        assert redis_client.info("stats")["total_commands_processed"] - before < 200
