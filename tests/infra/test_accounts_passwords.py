import threading
import traceback

import pytest
from argon2 import PasswordHasher
from redis.exceptions import RedisError

from domain.errors import Code, Refusal
from infra.people.accounts import Accounts, RecentPasswords
from infra.people.rate_limits import LOCAL, WRONG_PASSWORDS, LoginRateLimit
from infra.redis import keys
from infra.redis.clients import make_client

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


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


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


def refused(code, call, *args) -> str:
    with pytest.raises(Refusal) as caught:
        call(*args)
    assert caught.value.code is code
    return caught.value.sentence


def guess_in_vain(accounts, name, times) -> None:
    for n in range(times):
        with pytest.raises(Refusal) as caught:
            accounts.verify(name, f"guess-{n}")
        assert caught.value.code in (Code.WRONG_PASSWORD, Code.UNKNOWN_USER)


def test_a_password_just_found_right_is_not_hashed_again(accounts, elsewhere, hasher):
    alice = accounts.signup("alice", "mad-hatter")
    for _ in range(3):
        assert accounts.verify("alice", "mad-hatter") == alice
    assert hasher.checked == 1
    assert elsewhere.verify("alice", "mad-hatter") == alice
    assert hasher.checked == 2


def test_after_ten_minutes_a_password_is_hashed_again(redis_client, hasher):
    clock = Clock()
    accounts = Accounts(redis_client, hasher, recent=RecentPasswords(clock))
    accounts.signup("alice", "mad-hatter")
    accounts.verify("alice", "mad-hatter")
    clock.now += 599
    accounts.verify("alice", "mad-hatter")
    assert hasher.checked == 1
    clock.now += 2
    accounts.verify("alice", "mad-hatter")
    assert hasher.checked == 2


def test_a_password_changed_elsewhere_is_wrong_at_once(accounts, elsewhere):
    alice = accounts.signup("alice", "mad-hatter")
    accounts.verify("alice", "mad-hatter")
    elsewhere.change_password("alice", "mad-hatter", "looking-glass")
    refused(Code.WRONG_PASSWORD, accounts.verify, "alice", "mad-hatter")
    assert accounts.verify("alice", "looking-glass") == alice


def test_a_password_found_right_is_not_right_for_who_takes_the_userid_next(accounts, elsewhere):
    accounts.signup("alice", "mad-hatter")
    accounts.verify("alice", "mad-hatter")
    elsewhere.delete("alice", "mad-hatter", lambda _: None)
    refused(Code.UNKNOWN_USER, accounts.verify, "alice", "mad-hatter")
    elsewhere.signup("alice", "looking-glass")
    refused(Code.WRONG_PASSWORD, accounts.verify, "alice", "mad-hatter")


def test_a_renewed_hash_is_known_to_be_right(redis_client, accounts):
    accounts.signup("alice", "mad-hatter")
    dearer = Counting(memory_cost=16)
    later = Accounts(redis_client, dearer)
    for _ in range(2):
        later.verify("alice", "mad-hatter")
    assert dearer.checked == 1


def test_only_the_very_password_for_the_very_hash_is_remembered():
    recent = RecentPasswords()
    recent.add("a hash", "mad-hatter", LOCAL)
    assert recent.has("a hash", "mad-hatter", LOCAL)
    assert not recent.has("a hash", "mad-hatter", "192.0.2.1")
    for stored, password in (
        ("a hash", "wonderlan"),
        ("a hash", "mad-hatter "),
        ("a has", "hmad-hatter"),
        ("another hash", "mad-hatter"),
        ("a hash", "wonderlan\udc80"),
    ):
        assert not recent.has(stored, password, LOCAL)
    assert not RecentPasswords().has("a hash", "mad-hatter", LOCAL)


def test_what_can_not_be_written_matches_no_password(accounts):
    accounts.signup("alice", "mad-hatter?")
    accounts.verify("alice", "mad-hatter?")
    refused(Code.WRONG_PASSWORD, accounts.verify, "alice", "mad-hatter\udc80")


def test_passwords_are_remembered_of_ten_thousand_at_most():
    recent = RecentPasswords()
    for n in range(10_001):
        recent.add("a hash", f"password{n}", LOCAL)
    assert not recent.has("a hash", "password0", LOCAL)
    assert recent.has("a hash", "password1", LOCAL)
    assert recent.has("a hash", "password10000", LOCAL)


@pytest.mark.parametrize("name", ["alice", "nobody"])
def test_after_ten_wrong_passwords_no_more_are_tried(accounts, elsewhere, hasher, name):
    accounts.signup("alice", "mad-hatter")
    guess_in_vain(accounts, name, 10)
    assert hasher.checked == 10
    for door in (accounts, elsewhere):
        for spelling in (name, name.upper()):
            sentence = refused(Code.TOO_MANY_ATTEMPTS, door.verify, spelling, "mad-hatter")
            assert sentence.endswith("try again in 15 minutes")
    assert hasher.checked == 10


def test_a_userid_does_not_pay_for_the_guesses_at_another(accounts):
    accounts.signup("alice", "mad-hatter")
    bob = accounts.signup("bob", "yes-we-can")
    guess_in_vain(accounts, "alice", 10)
    assert accounts.verify("bob", "yes-we-can") == bob


def test_a_process_that_knows_the_password_is_not_locked_out(accounts, elsewhere):
    alice = accounts.signup("alice", "mad-hatter")
    accounts.verify("alice", "mad-hatter")
    guess_in_vain(elsewhere, "alice", 10)
    refused(Code.TOO_MANY_ATTEMPTS, elsewhere.verify, "alice", "mad-hatter")
    assert accounts.verify("alice", "mad-hatter") == alice
    refused(Code.TOO_MANY_ATTEMPTS, accounts.verify, "alice", "looking-glass")


def test_right_passwords_are_not_counted(redis_client, accounts):
    alice = accounts.signup("alice", "mad-hatter")
    guess_in_vain(accounts, "alice", 9)
    for _ in range(20):
        assert Accounts(redis_client, Counting()).verify("alice", "mad-hatter") == alice
    refused(Code.WRONG_PASSWORD, accounts.verify, "alice", "looking-glass")


def test_a_login_does_not_give_a_guesser_his_guesses_back(redis_client, accounts):
    accounts.signup("alice", "mad-hatter")
    guess_in_vain(accounts, "alice", 9)
    Accounts(redis_client, Counting()).verify("alice", "mad-hatter")
    guess_in_vain(accounts, "alice", 1)
    refused(Code.TOO_MANY_ATTEMPTS, accounts.verify, "alice", "looking-glass")


def test_guesses_that_come_at_once_are_stopped_like_others(redis_client, hasher, wait_until):
    Accounts(redis_client, hasher).signup("alice", "mad-hatter")
    accounts = [Accounts(redis_client, hasher) for _ in range(30)]
    codes = []
    hasher.gate.clear()

    def guess(mine: Accounts) -> None:
        with pytest.raises(Refusal) as caught:
            mine.verify("alice", "looking-glass")
        codes.append(caught.value.code)

    threads = [threading.Thread(target=guess, args=(mine,)) for mine in accounts]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(codes) == 20)
    assert set(codes) == {Code.TOO_MANY_ATTEMPTS}
    assert hasher.checked == WRONG_PASSWORDS
    hasher.gate.set()
    for thread in threads:
        thread.join()
    assert codes.count(Code.WRONG_PASSWORD) == WRONG_PASSWORDS
    assert hasher.checked == WRONG_PASSWORDS


def test_two_passwords_are_hashed_at_once_and_no_more(redis_client, hasher, wait_until):
    accounts = Accounts(redis_client, hasher, limit=LoginRateLimit(redis_client, most=100))
    alice = accounts.signup("alice", "mad-hatter")
    hasher.gate.clear()
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(accounts.verify("alice", "mad-hatter")))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    counted = lambda: int(redis_client.get(redis_client.keys("logins:*")[0]))  # noqa: E731
    wait_until(lambda: redis_client.keys("logins:*") and counted() == 8)
    assert hasher.checked == 2
    hasher.gate.set()
    for thread in threads:
        thread.join()
    assert found == [alice] * 8
    assert counted() == 0


def test_every_way_to_give_a_password_is_limited(accounts):
    accounts.signup("alice", "mad-hatter")
    guess_in_vain(accounts, "alice", 10)
    for call, *args in (
        (accounts.verify,),
        (accounts.change, lambda a: a),
        (accounts.change_password, "looking-glass"),
        (accounts.delete, lambda _: None),
    ):
        refused(Code.TOO_MANY_ATTEMPTS, call, "alice", "mad-hatter", *args)


def told(error: BaseException) -> str:
    """All that a log could come to hold of an exception, and of those it came from."""
    parts = [traceback.format_exception(error)]
    chain: BaseException | None = error
    while chain is not None:
        parts.append([repr(chain), str(chain), repr(chain.args), repr(vars(chain))])
        chain = chain.__cause__ or chain.__context__
    return "\n".join(text for part in parts for text in part)


def repeats_a_secret(text: str) -> bool:
    """Whether a password is in the text, as it is or as an escape shows it."""
    return any(secret in text or repr(secret)[1:-1] in text for secret in SECRETS)


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


def test_no_refusal_repeats_a_password(redis_client, hasher):
    accounts = Accounts(redis_client, hasher, limit=LoginRateLimit(redis_client, most=10))
    accounts.signup("alice", "mad-hatters")
    codes = set()
    for call, args in calls(accounts):
        try:
            call(*args)
        except Refusal as refusal:
            codes.add(refusal.code)
            text = told(refusal)
            assert not repeats_a_secret(text)
            assert "argon2id" not in text
    assert codes >= {
        Code.BAD_NAME,
        Code.BAD_PASSWORD,
        Code.BAD_ADDRESS,
        Code.NAME_TAKEN,
        Code.UNKNOWN_USER,
        Code.WRONG_PASSWORD,
        Code.TOO_MANY_ATTEMPTS,
    }


def test_no_failure_of_the_server_repeats_a_password_or_a_hash(redis_client, hasher):
    accounts = Accounts(redis_client, hasher)
    alice = accounts.signup("alice", "wonder-land")
    hashed = redis_client.get(keys.account(alice))
    redis_client.config_set("maxmemory", 1)  # every write fails, every read is answered
    failures = 0
    try:
        for call, args in [
            *calls(accounts),
            (accounts.change_password, ("alice", "wonder-land", "looking-glass")),
        ]:
            try:
                call(*args)
            except RedisError as error:
                failures += 1
                text = told(error)
                assert not repeats_a_secret(text)
                assert "argon2id" not in text
            except Refusal:
                continue
    finally:
        redis_client.config_set("maxmemory", 0)
    assert failures > 8
    assert redis_client.get(keys.account(alice)) == hashed


def test_a_server_that_is_not_there_is_told_without_the_password(tmp_path, hasher):
    with make_client(str(tmp_path / "none.sock")) as client:
        accounts = Accounts(client, hasher)
        for call in (accounts.verify, accounts.signup):
            with pytest.raises(RedisError) as caught:
                call("alice", SECRETS[0])
            assert not repeats_a_secret(told(caught.value))
