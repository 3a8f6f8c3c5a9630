"""Passwords: how many are tried, by whom and from where; what is remembered of them; and other limits."""

import re
import threading
import traceback
from collections.abc import Callable
from contextlib import nullcontext

import pytest
from argon2 import PasswordHasher
from redis import Redis
from redis.exceptions import RedisError

from domain.errors import Code, Refusal
from infra.people import rate_limits
from infra.people import rate_limits as password_attempts
from infra.people.accounts import HASHES_AT_ONCE, HASHES_WAITING, Accounts, RecentPasswords
from infra.people.rate_limits import LOCAL, WRONG_PASSWORDS, AttemptSource, attempts_from
from infra.redis import keys
from infra.redis.clients import make_client
from tests.fakes.app import CHEAP
from tests.helpers.examples import refused
from tests.helpers.proposals import ALICE, BOB, Clock

PASSWORD = "mad-hatter"
MANY = 1_000_000
SECRETS = ("wonder-land", "looking-glass", "six!5", "half\udc80pair", "tabbed\tword")


class Counting(PasswordHasher):
    """A cheap hasher that counts what it checks; `gate` holds the checks up until it is set."""

    def __init__(self, **costs) -> None:
        super().__init__(**{"time_cost": 1, "memory_cost": 8, "parallelism": 1} | costs)
        self.checked = 0
        self.gate = threading.Event()
        self.gate.set()
        self._lock = threading.Lock()

    def verify(self, hash, password):  # noqa: A002 - the name is argon2's
        with self._lock:
            self.checked += 1
        assert self.gate.wait(60)
        return super().verify(hash, password)


@pytest.fixture
def hasher() -> Counting:
    return Counting()


@pytest.fixture
def accounts(redis_client, hasher) -> Accounts:
    return Accounts(redis_client, hasher)


@pytest.fixture
def elsewhere(redis_client, hasher) -> Accounts:
    """The accounts as another process sees them."""
    return Accounts(redis_client, hasher)


@pytest.fixture
def alice(accounts) -> bytes:
    return accounts.signup("alice", PASSWORD)


@pytest.fixture
def clock() -> Clock:
    made = Clock()
    made.now = 1000
    return made


def accounts_of(client: Redis, rate: int = MANY, hasher: PasswordHasher = CHEAP) -> Accounts:
    """Accounts that remember no password of those before them."""
    return Accounts(client, hasher, password_rate=rate)


def code_of(call, *args) -> Code:
    with pytest.raises(Refusal) as caught:
        call(*args)
    return caught.value.code


def guess(accounts: Accounts, times: int = 1, name: str = "alice", network: str = "") -> set[Code]:
    """Try wrong passwords at the terminal or from a network, and return what was said."""
    with attempts_from(AttemptSource(network)) if network else nullcontext():
        return {code_of(accounts.verify, name, f"guess-{n}") for n in range(times)}


def log_in(client: Redis, network: str) -> bytes:
    with attempts_from(AttemptSource(network)):
        return accounts_of(client).verify("alice", PASSWORD)


def together(count: int, ask: Callable[[int], object]) -> list[threading.Thread]:
    """Threads that ask at the same moment."""
    threads = [threading.Thread(target=ask, args=[number]) for number in range(count)]
    for thread in threads:
        thread.start()
    return threads


def test_a_password_just_found_right_is_not_hashed_again_for_ten_minutes(
    redis_client, hasher, alice, elsewhere
):
    now = [1000.0]
    accounts = Accounts(redis_client, hasher, recent=RecentPasswords(lambda: now[0]))
    checked = []
    for after, process in zip((0, 0, 599, 0, 2), "aaaea", strict=True):
        now[0] += after
        door = accounts if process == "a" else elsewhere
        assert door.verify("alice", PASSWORD) == alice
        checked.append(hasher.checked)
    assert checked == [1, 1, 1, 2, 3]


def test_only_the_very_password_for_the_very_hash_is_remembered(accounts, elsewhere, alice):
    recent = RecentPasswords()
    recent.add("a hash", PASSWORD, LOCAL)
    assert recent.has("a hash", PASSWORD, LOCAL)
    assert not recent.has("a hash", PASSWORD, "192.0.2.1")
    for stored, password in (
        *(("a hash", "wonderlan"), ("a hash", "mad-hatter "), ("a has", "hmad-hatter")),
        *(("another hash", PASSWORD), ("a hash", "wonderlan\udc80")),
    ):
        assert not recent.has(stored, password, LOCAL)
    assert not RecentPasswords().has("a hash", PASSWORD, LOCAL)
    # one found right is wrong at once when it was changed elsewhere
    accounts.verify("alice", PASSWORD)
    elsewhere.change_password("alice", PASSWORD, "mad-hatter?")
    refused(Code.WRONG_PASSWORD, accounts.verify, "alice", PASSWORD)
    assert accounts.verify("alice", "mad-hatter?") == alice
    # what can't be written matches no password
    refused(Code.WRONG_PASSWORD, accounts.verify, "alice", "mad-hatter\udc80")
    elsewhere.delete("alice", "mad-hatter?", lambda _: None)
    refused(Code.UNKNOWN_USER, accounts.verify, "alice", "mad-hatter?")
    elsewhere.signup("alice", "another-one")
    refused(Code.WRONG_PASSWORD, accounts.verify, "alice", "mad-hatter?")


@pytest.mark.parametrize("name", ["alice", "nobody"])
def test_after_ten_wrong_passwords_no_more_are_tried_in_any_way(accounts, elsewhere, hasher, name):
    accounts.signup("alice", "mad-hatter")
    assert guess(accounts, 10, name) <= {Code.WRONG_PASSWORD, Code.UNKNOWN_USER}
    for door in (accounts, elsewhere):
        for spelling in (name, name.upper()):
            sentence = refused(Code.TOO_MANY_ATTEMPTS, door.verify, spelling, "mad-hatter")
            assert sentence.endswith("try again in 15 minutes")
    for call, *args in (
        (accounts.change, lambda a: a),
        (accounts.change_password, "looking-glass"),
        (accounts.delete, lambda _: None),
    ):
        refused(Code.TOO_MANY_ATTEMPTS, call, name, "mad-hatter", *args)
    assert hasher.checked == 10


def test_who_knows_a_password_or_has_another_userid_does_not_pay_for_guesses(
    redis_client, accounts, elsewhere, alice
):
    bob = accounts.signup("bob", "yes-we-can")
    assert accounts.verify("alice", PASSWORD) == alice
    assert guess(elsewhere, 9) == {Code.WRONG_PASSWORD}
    # right passwords are not counted, and give no guesses back
    for _ in range(20):
        assert Accounts(redis_client, Counting()).verify("alice", PASSWORD) == alice
    assert guess(elsewhere) == {Code.WRONG_PASSWORD}
    refused(Code.TOO_MANY_ATTEMPTS, elsewhere.verify, "alice", PASSWORD)
    assert elsewhere.verify("bob", "yes-we-can") == bob
    assert accounts.verify("alice", PASSWORD) == alice
    refused(Code.TOO_MANY_ATTEMPTS, accounts.verify, "alice", "looking-glass")


def test_guesses_that_come_at_once_are_stopped_like_others(redis_client, hasher, wait_until):
    Accounts(redis_client, hasher).signup("alice", "mad-hatter")
    accounts = [Accounts(redis_client, hasher) for _ in range(30)]
    codes: list[Code] = []
    hasher.gate.clear()
    threads = together(
        30, lambda n: codes.append(code_of(accounts[n].verify, "alice", "looking-glass"))
    )
    wait_until(lambda: len(codes) == 20)
    assert set(codes) == {Code.TOO_MANY_ATTEMPTS}
    assert hasher.checked == WRONG_PASSWORDS
    hasher.gate.set()
    for thread in threads:
        thread.join()
    assert codes.count(Code.WRONG_PASSWORD) == hasher.checked == WRONG_PASSWORDS


def test_no_more_wait_for_a_hash_than_there_is_room_for(redis_client, hasher, wait_until):
    hasher.gate.clear()
    accounts = accounts_of(redis_client, hasher=hasher)
    most = HASHES_AT_ONCE + HASHES_WAITING
    codes: list[Code] = []
    threads = together(
        most + 5, lambda n: codes.append(code_of(accounts.verify, f"nobody{n}", "12345678"))
    )
    wait_until(lambda: len(codes) == 5)
    assert codes == [Code.BUSY] * 5
    assert hasher.checked <= HASHES_AT_ONCE
    hasher.gate.set()
    for thread in threads:
        thread.join()
    assert codes[5:] == [Code.UNKNOWN_USER] * most


def told(error: BaseException) -> str:
    """All that a log could come to hold of an exception, and of those it came from."""
    parts = [traceback.format_exception(error)]
    chain: BaseException | None = error
    while chain is not None:
        parts.append([repr(chain), str(chain), repr(chain.args), repr(vars(chain))])
        chain = chain.__cause__ or chain.__context__
    return "\n".join(text for part in parts for text in part)


def calls(accounts: Accounts):
    """Everything that takes a password, each with the passwords given."""
    for secret in SECRETS:
        for name in ("alice", "nobody", "Ålice", "all"):
            yield accounts.signup, (name, secret)
            yield accounts.signup, (name, secret, ["no address"])
            yield accounts.verify, (name, secret)
            yield accounts.change, (name, secret, lambda a: a)
            yield accounts.change_password, (name, secret, "new!-new!5")
            yield accounts.change_password, (name, "mad-hatter", secret)
            yield accounts.delete, (name, secret, lambda _: None)


def test_no_refusal_or_failure_of_the_server_repeats_a_password_or_a_hash(
    redis_client, hasher, tmp_path
):
    accounts = Accounts(
        redis_client, hasher, limit=rate_limits.LoginRateLimit(redis_client, most=10)
    )
    accounts.signup("alice", "mad-hatters")
    with make_client(str(tmp_path / "none.sock")) as nowhere:
        away = Accounts(nowhere, hasher)
        lost = [(call, ("alice", SECRETS[0])) for call in (away.verify, away.signup)]
        codes, failures = errors_of([*calls(accounts), *lost])
    assert codes >= {
        *(Code.BAD_NAME, Code.BAD_PASSWORD, Code.BAD_ADDRESS, Code.NAME_TAKEN),
        *(Code.UNKNOWN_USER, Code.WRONG_PASSWORD, Code.TOO_MANY_ATTEMPTS),
    }
    assert failures == 2
    redis_client.flushall()
    accounts = Accounts(redis_client, hasher)
    hashed = redis_client.get(keys.account(accounts.signup("alice", "wonder-land")))
    known = [(accounts.change_password, ("alice", "wonder-land", "looking-glass"))]
    redis_client.config_set("maxmemory", 1)  # every write fails, every read is answered
    try:
        _, failures = errors_of([*calls(accounts), *known])
    finally:
        redis_client.config_set("maxmemory", 0)
    assert failures > 8
    assert redis_client.get(keys.account(accounts.id_of("alice"))) == hashed


def errors_of(given) -> tuple[set[Code], int]:
    """Call all; return the codes of what was refused, and how often the server failed."""
    codes, failures = set(), 0
    for call, args in given:
        try:
            call(*args)
        except (RedisError, Refusal) as error:
            text = told(error)
            assert not any(one in text or repr(one)[1:-1] in text for one in SECRETS)
            assert "argon2id" not in text
            if isinstance(error, Refusal):
                codes.add(error.code)
            else:
                failures += 1
    return codes, failures


def test_wrong_passwords_from_one_network_lock_the_owner_out_nowhere_else(redis_client, alice):
    accounts = accounts_of(redis_client)
    with attempts_from(AttemptSource("192.0.2.2")):
        assert accounts.verify("alice", PASSWORD) == alice
    assert guess(accounts, WRONG_PASSWORDS, network="192.0.2.1") == {Code.WRONG_PASSWORD}
    with attempts_from(AttemptSource("192.0.2.1")):
        assert code_of(accounts.verify, "alice", PASSWORD) is Code.TOO_MANY_ATTEMPTS
    assert log_in(redis_client, "192.0.2.3") == alice
    assert accounts_of(redis_client).verify("alice", PASSWORD) == alice  # at the terminal
    # where the owner plays, guesses stop nobody who knows the password
    guess(accounts, WRONG_PASSWORDS, network="192.0.2.2")
    with attempts_from(AttemptSource("192.0.2.2")):
        assert accounts.verify("alice", PASSWORD) == alice


def test_guesses_from_everywhere_stop_and_spare_where_the_owner_has_been(
    redis_client, alice, monkeypatch
):
    monkeypatch.setattr(password_attempts, "FROM_EVERYWHERE", 12)
    log_in(redis_client, "192.0.2.200")
    accounts = accounts_of(redis_client)
    said = [guess(accounts, network=f"198.51.100.{n}") for n in range(15)]
    assert said == [{Code.WRONG_PASSWORD}] * 12 + [{Code.TOO_MANY_ATTEMPTS}] * 3
    with attempts_from(AttemptSource("198.51.100.200")):
        assert (
            code_of(accounts_of(redis_client).verify, "alice", PASSWORD) is Code.TOO_MANY_ATTEMPTS
        )
    assert log_in(redis_client, "192.0.2.200") == alice
    assert accounts_of(redis_client).verify("alice", PASSWORD) == alice


def test_a_network_has_a_budget_whoever_it_asks_for_and_no_hash_beyond_it(redis_client):
    hasher = Counting()
    accounts = accounts_of(redis_client, 5, hasher)
    with attempts_from(AttemptSource("192.0.2.1")):
        codes = [code_of(accounts.verify, f"nobody{n}", "12345678") for n in range(8)]
    assert codes == [Code.UNKNOWN_USER] * 5 + [Code.TOO_FAST] * 3
    assert hasher.checked == 5
    with attempts_from(AttemptSource("192.0.2.2")):
        assert code_of(accounts.verify, "nobody1", "12345678") is Code.UNKNOWN_USER


def test_new_accounts_spend_the_budget_too_and_right_passwords_and_terminals_do_not(redis_client):
    accounts = accounts_of(redis_client, 5)
    with attempts_from(AttemptSource("192.0.2.1")):
        for n in range(5):
            accounts.signup(f"spray{n}", PASSWORD)
        assert code_of(accounts.signup, "spray5", PASSWORD) is Code.TOO_FAST
    assert accounts.names(0, 10) == [f"spray{n}" for n in range(5)]
    with attempts_from(AttemptSource("192.0.2.2")):
        for _ in range(8):
            accounts._recent._seen.clear()  # so that each takes a hash
            assert accounts.verify("spray0", PASSWORD)
    for n in range(8):
        accounts.signup(f"local{n}", PASSWORD)
    assert len(accounts.names(0, 20)) == 13


def test_senders_that_anybody_may_name_count_as_one_until_they_are_known(redis_client, alice):
    accounts = accounts_of(redis_client, 5)

    def codes(senders) -> list[Code]:
        told = []
        for sender in senders:
            with attempts_from(AttemptSource(f"mail {sender}", strangers="mail")):
                told.append(code_of(accounts.verify, "alice", "guess-1"))
        return told

    with attempts_from(AttemptSource("mail alice@example.org", strangers="mail")):
        assert accounts_of(redis_client).verify("alice", PASSWORD) == alice
    forged = codes(f"innocent{n}@example.net" for n in range(7))
    assert forged == [Code.WRONG_PASSWORD] * 5 + [Code.TOO_FAST] * 2
    with attempts_from(AttemptSource("mail alice@example.org", strangers="mail")):
        accounts._recent._seen.clear()  # as after ten minutes
        assert accounts.verify("alice", PASSWORD) == alice


def test_a_refusal_for_want_of_room_costs_no_attempt(redis_client, alice):
    hasher = Counting()
    accounts = accounts_of(redis_client, hasher=hasher)
    with attempts_from(AttemptSource("192.0.2.1", is_abandoned=lambda: True)):
        for _ in range(WRONG_PASSWORDS + 5):
            assert code_of(accounts.verify, "alice", "guess-1") is Code.BUSY
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


def the_key(client: Redis) -> bytes:
    (key,) = client.keys()
    return key


def test_attempts_are_counted_up_to_the_limit_until_the_window_ends(redis_client, wait_until):
    limit = rate_limits.LoginRateLimit(redis_client, most=2, minutes=15)
    limit.count("alice")
    for _ in range(5):
        limit.count("Alice")
        limit.give_back("alice")
    limit.count("alice")
    name = the_key(redis_client)
    assert re.fullmatch(rf"{keys.LOGINS}:tried/[0-9a-f]+/2/15/minute", name.decode())
    assert 14 * 60 < redis_client.ttl(name) <= 15 * 60
    redis_client.expire(name, 50)
    for _ in range(5):
        sentence = refused(Code.TOO_MANY_ATTEMPTS, limit.count, "alice")
        assert "'alice'; try again in 1 minute" in sentence
    assert redis_client.ttl(name) <= 50, "more attempts do not make the wait longer"
    assert int(redis_client.get(name)) == 7, "and buy none in the next window"
    limit.count("bob")
    limit.forget("bob")
    assert redis_client.keys() == [name]
    redis_client.pexpire(name, 1)
    wait_until(lambda: not redis_client.keys())
    limit.count("alice")
    limit.forget("Alice")
    limit.give_back("alice")
    assert redis_client.ttl(the_key(redis_client)) > 0, "what is given back late does not stay"


def test_commands_are_taken_up_to_the_limit_and_what_was_spent_comes_back_evenly(clock):
    limit = rate_limits.CommandRateLimit(300, clock)
    assert limit.check(ALICE, 299) == rate_limits.RateBudget(300, 1, 60)
    assert limit.check(ALICE).left == 0
    assert limit.check(BOB).left == 299
    for _ in range(100):  # what is refused spends nothing
        sentence = refused(Code.TOO_FAST, limit.check, ALICE)
        assert sentence == "more than 300 commands in a minute; try again in 1 second"
    with pytest.raises(Refusal) as caught:
        limit.check(ALICE, 23)
    assert caught.value.retry_after == 5
    assert caught.value.sentence.endswith("try again in 5 seconds")
    for seconds, cost, left, full in ((5, 23, 2, 60), (30, 1, 151, 30), (3600, 1000, 0, 60)):
        clock.now += seconds
        assert limit.check(ALICE, cost) == rate_limits.RateBudget(300, left, full)
    three = rate_limits.CommandRateLimit(3, clock)
    three.check(BOB, 3)
    assert refused(Code.TOO_FAST, three.check, BOB).endswith("try again in 20 seconds")
    one = rate_limits.CommandRateLimit(1, clock)
    one.check(ALICE)
    clock.now += 59.5
    assert refused(Code.TOO_FAST, one.check, ALICE).endswith("in 1 second")
    clock.now += 0.5
    one.check(ALICE)
    refused(Code.TOO_FAST, one.check, ALICE)


def test_many_networks_of_ipv6_have_the_budget_of_ten():
    limit = rate_limits.NetworkRateLimit(3, setting="address_rate")
    for n in range(30):
        limit.check(f"2001:db8:1:{n:x}::/64")
    refused(Code.TOO_FAST, limit.check, "2001:db8:1:ffff::/64")
    limit.give_back("2001:db8:1::/64")
    limit.check("2001:db8:1:ffff::/64")
    for other in ("2001:db8:2::/64", "192.0.2.1", "", "half\udc80"):
        for _ in range(3):
            limit.check(other)
        refused(Code.TOO_FAST, limit.check, other)


def test_a_process_counts_ten_thousand_accounts_and_forgets_the_one_silent_longest(clock):
    limit = rate_limits.CommandRateLimit(1, clock)
    for n in range(10_000):
        limit.check(n.to_bytes(8))
    refused(Code.TOO_FAST, limit.check, (0).to_bytes(8))
    limit.check(ALICE)
    refused(Code.TOO_FAST, limit.check, (0).to_bytes(8))
    limit.check((1).to_bytes(8))
