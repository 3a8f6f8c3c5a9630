"""Accounts: names, passwords, and what changes them at once; and the parts of a program, which are made when they are needed, durable, and closed."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from argon2 import PasswordHasher
from msgspec.structs import replace
from redis import ConnectionError as LostConnectionError
from redis import Redis

from domain.errors import Code, Refusal
from infra.durability.durability import DurabilityError, Mode
from infra.health.heartbeats import Heartbeat, Role
from infra.people.accounts import Accounts, check_password
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
from tests.fakes.memory_store import memory_client
from tests.helpers.examples import refused
from tests.helpers.lanes import LANE
from workers.clock_check import ClockCheck

DEARER = PasswordHasher(time_cost=2, memory_cost=16, parallelism=1)


@pytest.fixture(params=["fake", "valkey"])
def client(request) -> Iterator[Redis]:
    if request.param == "valkey":
        yield request.getfixturevalue("redis_client")
    else:
        with memory_client() as fake:
            yield fake


@pytest.fixture
def accounts(client) -> Accounts:
    return Accounts(client, CHEAP)


def test_an_account_is_found_by_name_and_by_id(accounts):
    alice = accounts.signup("alice", "mad-hatter")
    assert len(alice) == 8
    assert accounts.id_of("alice") == alice
    assert accounts.verify("alice", "mad-hatter") == alice
    assert accounts.name_of([alice, bytes(8), alice]) == ["alice", None, "alice"]


NO_NAMES = (
    "", "a", "1alice", "-al", "al ice", "a" * 21, "al!ce", "ålice", "\N{KELVIN SIGN}evin", "al\n",
)  # fmt: skip
NO_PASSWORDS = (
    "", "nine-long", "x" * 129, " at its end ", "a\ttab in it", "nul\0byte-here", "half\udc80pair-here", "alice",
    "alice-alice", "12alice345", "Password123", "wonderland", "qwertyuiop", "correct horse\xa0", "Matchpost1",
    "matchpost-2026", "Powerdrain12", "pow2-pow2-alice", "my-password",
)  # fmt: skip
PASSWORDS = (
    "correct horse battery", "x" * 128, "påßwörd-10", "alice-i-am", "a powerdrain a day",
)  # fmt: skip


def test_what_can_be_neither_a_name_nor_a_password_is_refused(accounts):
    for name in NO_NAMES:
        said = refused(Code.BAD_NAME, accounts.signup, name, "mad-hatter")
        assert "isn't a userid" in said, name
        refused(Code.UNKNOWN_USER, accounts.id_of, name)
        refused(Code.UNKNOWN_USER, accounts.verify, name, "mad-hatter")
    for password in NO_PASSWORDS:
        said = refused(Code.BAD_PASSWORD, accounts.signup, "alice", password)
        assert not password or password not in said
    refused(Code.UNKNOWN_USER, accounts.id_of, "alice")
    for password in PASSWORDS:
        check_password(password, "alicia")


def test_an_unknown_user_costs_a_hash_too(client):
    checked = []

    class Counting(PasswordHasher):
        def verify(self, hash, password):  # noqa: A002 - the name is argon2's
            checked.append(hash.split("$")[3])
            return super().verify(hash, password)

    accounts = Accounts(client, Counting(time_cost=1, memory_cost=8, parallelism=1))
    accounts.signup("alice", "mad-hatter")
    refused(Code.WRONG_PASSWORD, accounts.verify, "alice", "looking-glass")
    refused(Code.UNKNOWN_USER, accounts.verify, "nobody", "looking-glass")
    assert checked == ["m=8,t=1,p=1", "m=8,t=1,p=1"]


def test_a_changed_password_replaces_the_old(accounts):
    alice = accounts.signup("alice", "mad-hatter")
    refused(Code.WRONG_PASSWORD, accounts.change_password, "alice", "guessed", "looking-glass")
    refused(Code.BAD_PASSWORD, accounts.change_password, "alice", "mad-hatter", "short")
    refused(Code.UNKNOWN_USER, accounts.change_password, "nobody", "mad-hatter", "looking-glass")
    assert accounts.change_password("alice", "mad-hatter", "looking-glass") == alice
    assert accounts.verify("alice", "looking-glass") == alice
    refused(Code.WRONG_PASSWORD, accounts.verify, "alice", "mad-hatter")


def test_a_hash_of_old_parameters_is_renewed_when_seen_and_undoes_no_change(accounts, client):
    alice = accounts.signup("alice", "mad-hatter")
    assert Accounts(client, DEARER).verify("alice", "mad-hatter") == alice
    assert b"m=16,t=2" in client.get(keys.account(alice))

    class Interrupted(PasswordHasher):
        def check_needs_rehash(self, hash):  # noqa: A002 - the name is argon2's
            accounts.change_password("alice", "mad-hatter", "looking-glass")
            return super().check_needs_rehash(hash)

    later = Accounts(client, Interrupted(time_cost=3, memory_cost=16, parallelism=1))
    assert later.verify("alice", "mad-hatter") == alice
    assert accounts.verify("alice", "looking-glass") == alice


def test_of_many_signups_at_once_one_gets_the_name(redis_client):
    accounts = Accounts(redis_client, CHEAP)
    ready = threading.Barrier(8)

    def signup(_: int) -> bytes | Code:
        ready.wait()
        try:
            return accounts.signup("alice", "mad-hatter")
        except Refusal as refusal:
            return refusal.code

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(signup, range(8)))
    won = [one for one in found if one != Code.NAME_TAKEN]
    assert won == [accounts.id_of("alice")]
    assert sorted(redis_client.keys()) == sorted(
        [keys.user("alice").encode(), keys.account(won[0]).encode(), keys.USERS.encode()]
    )


def test_an_older_account_keeps_its_short_password_until_it_is_changed(client):
    accounts = Accounts(client, CHEAP)
    alice = accounts.signup("alice", "mad-hatter")
    accounts.change_of(alice, lambda one: replace(one, password=CHEAP.hash("sixsix")))
    assert accounts.verify("alice", "sixsix") == alice
    refused(Code.BAD_PASSWORD, accounts.change_password, "alice", "sixsix", "sevens7")
    accounts.change_password("alice", "sixsix", "mad-hatter")


# the parts of a program


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
