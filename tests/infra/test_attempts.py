"""From where passwords are tried, and how many of them."""

import threading

import pytest
from argon2 import PasswordHasher
from redis import Redis

from domain.errors import Code, Refusal
from infra.people import rate_limits
from infra.people.accounts import HASHES_AT_ONCE, HASHES_WAITING, Accounts
from infra.people.rate_limits import (
    LOCAL,
    WRONG_PASSWORDS,
    AttemptSource,
    attempt_source,
    attempts_from,
)
from infra.redis import keys
from tests.fakes.app import CHEAP

PASSWORD = "mad-hatter"
MANY = 1_000_000


class CountingHasher(PasswordHasher):
    """Counts what it checks; while the gate is shut, checks wait before it."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.checked = 0
        self.gate = threading.Event()
        self.gate.set()
        self._lock = threading.Lock()

    def verify(self, hash: str | bytes, password: str | bytes):  # noqa: A002 - the library's name
        with self._lock:
            self.checked += 1
        assert self.gate.wait(60)
        return super().verify(hash, password)


def refused(call, *args) -> Code:
    with pytest.raises(Refusal) as caught:
        call(*args)
    return caught.value.code


def accounts_of(client: Redis, rate: int = MANY, hasher: PasswordHasher = CHEAP) -> Accounts:
    """Accounts that remember no password of those before them."""
    return Accounts(client, hasher, password_rate=rate)


@pytest.fixture
def alice(redis_client) -> bytes:
    return accounts_of(redis_client).signup("alice", PASSWORD)


def guess(accounts: Accounts, network: str, count: int = 1) -> set[Code]:
    with attempts_from(AttemptSource(network)):
        return {refused(accounts.verify, "alice", f"guess-{n}") for n in range(count)}


def log_in(client: Redis, network: str) -> bytes:
    with attempts_from(AttemptSource(network)):
        return accounts_of(client).verify("alice", PASSWORD)


def test_a_source_holds_for_what_is_inside_and_no_longer():
    assert attempt_source().network == LOCAL
    with attempts_from(AttemptSource("192.0.2.1")):
        assert attempt_source().network == "192.0.2.1"
    assert attempt_source().network == LOCAL


def test_wrong_passwords_from_one_network_lock_the_owner_out_nowhere_else(redis_client, alice):
    accounts = accounts_of(redis_client)
    assert guess(accounts, "192.0.2.1", WRONG_PASSWORDS) == {Code.WRONG_PASSWORD}
    with attempts_from(AttemptSource("192.0.2.1")):
        assert refused(accounts.verify, "alice", PASSWORD) is Code.TOO_MANY_ATTEMPTS
    assert log_in(redis_client, "192.0.2.2") == alice
    assert accounts_of(redis_client).verify("alice", PASSWORD) == alice  # at the terminal


def test_who_guesses_while_the_owner_plays_is_stopped_before_the_right_one(redis_client, alice):
    accounts = accounts_of(redis_client)
    with attempts_from(AttemptSource("192.0.2.2")):
        assert accounts.verify("alice", PASSWORD) == alice
    assert guess(accounts, "192.0.2.1", WRONG_PASSWORDS) == {Code.WRONG_PASSWORD}
    with attempts_from(AttemptSource("192.0.2.1")):
        assert refused(accounts.verify, "alice", PASSWORD) is Code.TOO_MANY_ATTEMPTS
    guess(accounts, "192.0.2.2", WRONG_PASSWORDS)
    with attempts_from(AttemptSource("192.0.2.2")):
        assert accounts.verify("alice", PASSWORD) == alice


def test_who_names_a_player_s_sender_is_stopped_before_the_right_one(redis_client, alice):
    accounts = accounts_of(redis_client)
    with attempts_from(AttemptSource("mail alice@example.org", strangers="mail")):
        assert accounts.verify("alice", PASSWORD) == alice
        for n in range(WRONG_PASSWORDS):
            assert refused(accounts.verify, "alice", f"guess-{n}") is Code.WRONG_PASSWORD
        assert refused(accounts.verify, "alice", PASSWORD) is Code.TOO_MANY_ATTEMPTS


def test_guesses_from_everywhere_stop_and_spare_where_the_owner_has_been(
    redis_client, alice, monkeypatch
):
    monkeypatch.setattr(rate_limits, "FROM_EVERYWHERE", 12)
    log_in(redis_client, "192.0.2.200")
    accounts = accounts_of(redis_client)
    said = [guess(accounts, f"198.51.100.{n}") for n in range(15)]
    assert said == [{Code.WRONG_PASSWORD}] * 12 + [{Code.TOO_MANY_ATTEMPTS}] * 3
    with attempts_from(AttemptSource("198.51.100.200")):
        assert (
            refused(accounts_of(redis_client).verify, "alice", PASSWORD) is Code.TOO_MANY_ATTEMPTS
        )
    assert log_in(redis_client, "192.0.2.200") == alice
    assert accounts_of(redis_client).verify("alice", PASSWORD) == alice


def test_a_network_has_a_budget_whoever_it_asks_for_and_no_hash_beyond_it(redis_client):
    hasher = CountingHasher()
    accounts = accounts_of(redis_client, 5, hasher)
    with attempts_from(AttemptSource("192.0.2.1")):
        codes = [refused(accounts.verify, f"nobody{n}", "12345678") for n in range(8)]
    assert codes == [Code.UNKNOWN_USER] * 5 + [Code.TOO_FAST] * 3
    assert hasher.checked == 5
    with attempts_from(AttemptSource("192.0.2.2")):
        assert refused(accounts.verify, "nobody1", "12345678") is Code.UNKNOWN_USER


def test_new_accounts_spend_the_budget_too(redis_client):
    accounts = accounts_of(redis_client, 5)
    with attempts_from(AttemptSource("192.0.2.1")):
        for n in range(5):
            accounts.signup(f"spray{n}", PASSWORD)
        assert refused(accounts.signup, "spray5", PASSWORD) is Code.TOO_FAST
    assert accounts.names(0, 10) == [f"spray{n}" for n in range(5)]


def test_right_passwords_are_not_counted(redis_client, alice):
    accounts = accounts_of(redis_client, 2)
    with attempts_from(AttemptSource("192.0.2.1")):
        for _ in range(6):
            accounts._recent._seen.clear()  # so that each takes a hash
            assert accounts.verify("alice", PASSWORD) == alice


def test_a_terminal_with_direct_access_has_no_budget(redis_client):
    accounts = accounts_of(redis_client, 1)
    for n in range(4):
        accounts.signup(f"local{n}", PASSWORD)
    assert len(accounts.names(0, 10)) == 4


def test_senders_that_anybody_may_name_count_as_one_until_they_are_known(redis_client, alice):
    accounts = accounts_of(redis_client, 5)

    def codes(senders) -> list[Code]:
        told = []
        for sender in senders:
            with attempts_from(AttemptSource(f"mail {sender}", strangers="mail")):
                told.append(refused(accounts.verify, "alice", "guess-1"))
        return told

    with attempts_from(AttemptSource("mail alice@example.org", strangers="mail")):
        assert accounts_of(redis_client).verify("alice", PASSWORD) == alice
    forged = codes(f"innocent{n}@example.net" for n in range(7))
    assert forged == [Code.WRONG_PASSWORD] * 5 + [Code.TOO_FAST] * 2
    with attempts_from(AttemptSource("mail alice@example.org", strangers="mail")):
        accounts._recent._seen.clear()  # as after ten minutes
        assert accounts.verify("alice", PASSWORD) == alice


def test_no_more_wait_for_a_hash_than_there_is_room_for(redis_client):
    hasher = CountingHasher()
    hasher.gate.clear()
    accounts = accounts_of(redis_client, hasher=hasher)
    most = HASHES_AT_ONCE + HASHES_WAITING
    codes: list[Code] = []

    def ask(name: str) -> None:
        codes.append(refused(accounts.verify, name, "12345678"))

    threads = [threading.Thread(target=ask, args=[f"nobody{n}"]) for n in range(most + 5)]
    for thread in threads:
        thread.start()
    while len(codes) < 5:  # those that are refused are so at once
        threads[-1].join(0.01)
    assert codes == [Code.BUSY] * 5
    assert hasher.checked <= HASHES_AT_ONCE
    hasher.gate.set()
    for thread in threads:
        thread.join()
    assert codes[5:] == [Code.UNKNOWN_USER] * most


def test_a_refusal_for_want_of_room_costs_no_attempt(redis_client, alice):
    hasher = CountingHasher()
    accounts = accounts_of(redis_client, hasher=hasher)
    with attempts_from(AttemptSource("192.0.2.1", is_abandoned=lambda: True)):
        for _ in range(WRONG_PASSWORDS + 5):
            assert refused(accounts.verify, "alice", "guess-1") is Code.BUSY
    assert hasher.checked == 0  # nobody waited for it
    assert log_in(redis_client, "192.0.2.1") == alice


def test_the_networks_of_an_account_are_few_hidden_and_erased_with_it(redis_client, alice):
    for n in range(25):
        log_in(redis_client, f"192.0.2.{n}")
    name = keys.networks(alice)
    assert redis_client.zcard(name) == 20
    assert redis_client.ttl(name) > 24 * 3600
    assert not any(b"192" in member for member in redis_client.zrange(name, 0, -1))
    with attempts_from(AttemptSource("192.0.2.1")):
        accounts_of(redis_client).delete("alice", PASSWORD, lambda _: None)
    left = {key for key in redis_client.scan_iter() if not key.startswith(b"logins:")}
    assert not any(alice.hex().encode() in key for key in left)
