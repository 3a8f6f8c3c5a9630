import threading

import pytest
from redis import Redis

from domain.errors import Code, Refusal
from infra.people.rate_limits import CommandRateLimit, LoginRateLimit, NetworkRateLimit, RateBudget
from infra.redis import keys
from infra.redis.clients import make_client

ALICE, BOB = b"alice's1", b"bob's id"


def refused(code, call, *args) -> str:
    with pytest.raises(Refusal) as caught:
        call(*args)
    assert caught.value.code is code
    return caught.value.sentence


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def the_key(client: Redis) -> bytes:
    (key,) = client.keys()
    return key


def test_attempts_are_counted_up_to_the_limit(redis_client):
    limit = LoginRateLimit(redis_client, most=2, minutes=3)
    limit.count("alice")
    limit.count("Alice")
    assert "'alice'; try again in 3 minutes" in refused(
        Code.TOO_MANY_ATTEMPTS, limit.count, "alice"
    )
    limit.count("bob")


def test_a_window_ends_and_attempts_are_free_again(redis_client, wait_until):
    limit = LoginRateLimit(redis_client, most=1, minutes=15)
    limit.count("alice")
    refused(Code.TOO_MANY_ATTEMPTS, limit.count, "alice")
    assert 14 * 60 < redis_client.ttl(the_key(redis_client)) <= 15 * 60
    redis_client.pexpire(the_key(redis_client), 1)
    wait_until(lambda: not redis_client.keys())
    limit.count("alice")


def test_more_attempts_do_not_make_the_wait_longer(redis_client):
    limit = LoginRateLimit(redis_client, most=1, minutes=15)
    limit.count("alice")
    redis_client.expire(the_key(redis_client), 50)
    assert "try again in 1 minute" in refused(Code.TOO_MANY_ATTEMPTS, limit.count, "alice")
    assert redis_client.ttl(the_key(redis_client)) <= 50


def test_a_good_attempt_leaves_the_others_counted(redis_client):
    limit = LoginRateLimit(redis_client, most=2)
    limit.count("alice")
    for _ in range(5):
        limit.count("alice")
        limit.give_back("alice")
    limit.count("alice")
    refused(Code.TOO_MANY_ATTEMPTS, limit.count, "alice")


def test_an_attempt_given_back_late_is_no_key_that_stays(redis_client):
    LoginRateLimit(redis_client).give_back("alice")
    assert redis_client.ttl(the_key(redis_client)) > 0


def test_refused_attempts_buy_none_in_the_next_window(redis_client):
    limit = LoginRateLimit(redis_client, most=1)
    limit.count("alice")
    for _ in range(5):
        refused(Code.TOO_MANY_ATTEMPTS, limit.count, "alice")
    assert int(redis_client.get(the_key(redis_client))) == 6


def test_forgotten_attempts_leave_nothing(redis_client):
    limit = LoginRateLimit(redis_client)
    limit.count("Alice")
    limit.forget("alice")
    assert redis_client.keys() == []


def test_a_key_does_not_show_the_userid_and_has_the_prefix_of_the_table(redis_client):
    LoginRateLimit(redis_client).count("alice")
    key = the_key(redis_client).decode()
    assert key.startswith(f"{keys.LOGINS}:tried/")
    assert key.endswith("/10/15/minute")
    assert "alice" not in key


@pytest.mark.parametrize("name", ["", "x" * 10_000, "half\udc80", "{u:alice}\r\n\0"])
def test_any_text_can_be_counted(redis_client, name):
    limit = LoginRateLimit(redis_client, most=1)
    limit.count(name)
    refused(Code.TOO_MANY_ATTEMPTS, limit.count, name)


def test_attempts_are_counted_over_the_clients_own_connections(valkey, redis_client):
    before = len(redis_client.client_list())
    with make_client(valkey.url) as client:
        LoginRateLimit(client).count("alice")
        assert len(redis_client.client_list()) == before + 1
        limit = LoginRateLimit(client)
        for call in (limit.count, limit.give_back, limit.forget):
            call("alice")
        assert len(redis_client.client_list()) == before + 1


def test_commands_are_taken_up_to_the_limit(clock):
    limit = CommandRateLimit(3, clock)
    for _ in range(3):
        limit.check(ALICE)
    sentence = refused(Code.TOO_FAST, limit.check, ALICE)
    assert sentence == "more than 3 commands in a minute; try again in 20 seconds"
    limit.check(BOB)


def test_what_was_spent_comes_back_evenly_and_a_refusal_says_to_the_second_when(clock):
    limit = CommandRateLimit(300, clock)
    assert limit.check(ALICE, 299) == RateBudget(300, 1, 60)
    assert limit.check(ALICE).left == 0
    for _ in range(100):  # what is refused spends nothing
        assert "in 1 second" in refused(Code.TOO_FAST, limit.check, ALICE)
    with pytest.raises(Refusal) as caught:
        limit.check(ALICE, 23)
    assert caught.value.retry_after == 5
    assert caught.value.sentence.endswith("try again in 5 seconds")
    clock.now += 5
    assert limit.check(ALICE, 23) == RateBudget(300, 2, 60)
    clock.now += 30
    assert limit.check(ALICE).left == 151
    clock.now += 3600
    assert limit.check(ALICE, 1000) == RateBudget(
        300, 0, 60
    )  # costs all there is, once there is all


def test_a_minute_after_the_first_command_more_are_taken(clock):
    limit = CommandRateLimit(1, clock)
    limit.check(ALICE)
    clock.now += 59.5
    assert "in 1 second" in refused(Code.TOO_FAST, limit.check, ALICE)
    assert not refused(Code.TOO_FAST, limit.check, ALICE).endswith("seconds")
    clock.now += 0.5
    limit.check(ALICE)
    refused(Code.TOO_FAST, limit.check, ALICE)


def test_many_networks_of_ipv6_have_the_budget_of_ten():
    limit = NetworkRateLimit(3, setting="address_rate")
    for n in range(30):
        limit.check(f"2001:db8:1:{n:x}::/64")
    refused(Code.TOO_FAST, limit.check, "2001:db8:1:ffff::/64")
    limit.give_back("2001:db8:1::/64")
    limit.check("2001:db8:1:ffff::/64")
    for other in ("2001:db8:2::/64", "192.0.2.1", "", "half\udc80"):
        for _ in range(3):
            limit.check(other)
        refused(Code.TOO_FAST, limit.check, other)


def test_one_network_that_goes_on_while_it_is_refused_spends_nothing_of_its_neighbours():
    limit = NetworkRateLimit(3, setting="address_rate")
    limit.check("2001:db8:1::/64", 3)
    for _ in range(100):
        refused(Code.TOO_FAST, limit.check, "2001:db8:1::/64")
    limit.check("2001:db8:1:7::/64")


def test_many_new_accounts_do_not_push_out_one_that_has_given_many_commands(clock):
    limit = CommandRateLimit(5, clock)
    for _ in range(5):
        limit.check(ALICE)
    for n in range(40_000):
        limit.check(n.to_bytes(8))
    refused(Code.TOO_FAST, limit.check, ALICE)
    clock.now += 60
    limit.check(ALICE)


def test_a_process_counts_ten_thousand_accounts_and_forgets_the_one_silent_longest(clock):
    limit = CommandRateLimit(1, clock)
    for n in range(10_000):
        limit.check(n.to_bytes(8))
    refused(Code.TOO_FAST, limit.check, (0).to_bytes(8))
    limit.check(ALICE)
    refused(Code.TOO_FAST, limit.check, (0).to_bytes(8))
    limit.check((1).to_bytes(8))


def test_commands_that_come_at_once_are_all_counted(clock):
    limit = CommandRateLimit(1000, clock)

    def give() -> None:
        for _ in range(250):
            limit.check(ALICE)

    threads = [threading.Thread(target=give) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    refused(Code.TOO_FAST, limit.check, ALICE)


def test_counting_commands_leaves_no_thread_behind():
    before = threading.active_count()
    CommandRateLimit().check(ALICE)
    assert threading.active_count() == before
