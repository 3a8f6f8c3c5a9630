"""Links for forgotten passwords: how long they are valid, how often, and whose."""

import pytest
from msgspec.structs import replace

from domain.errors import Code, Refusal
from infra.people.accounts import Accounts, MailAddress
from infra.people.accounts.address_owners import AddressOwners
from infra.people.password_resets import (
    LINK_SECONDS,
    LINKS_AN_HOUR,
    MOST_REQUESTS,
    REQUESTS_AN_HOUR,
    PasswordResets,
)
from infra.people.rate_limits import AttemptSource, attempts_from
from infra.people.sessions import Sessions
from infra.people.tokens import Tokens
from infra.redis import keys
from tests.fakes.app import CHEAP
from tests.fakes.memory_store import memory_client

PASSWORD = "mad-hatter"


@pytest.fixture
def client():
    return memory_client()


@pytest.fixture
def accounts(client):
    return Accounts(client, CHEAP, password_rate=1000)


@pytest.fixture
def resets(client):
    return PasswordResets(client)


def proven(accounts, account, *addresses):
    found = tuple(MailAddress(one, verified=True) for one in addresses)
    accounts.change_of(account, lambda record: replace(record, addresses=found))


def test_a_link_opens_once_and_its_text_is_not_stored(client, accounts, resets):
    account = accounts.signup("alice", PASSWORD)
    text = resets.issue(account)
    stored = client.get(keys.password_reset(account))
    assert text.encode() not in stored
    assert len(stored) == 32
    assert 0 < client.ttl(keys.password_reset(account)) <= LINK_SECONDS
    assert resets.account_of(text) == resets.account_of(text) == account
    assert resets.use(text) == account
    assert resets.use(text) is None
    assert resets.account_of(text) is None


def test_a_newer_link_ends_the_older_and_a_changed_one_is_none(accounts, resets):
    account, other = accounts.signup("alice", PASSWORD), accounts.signup("bob", PASSWORD)
    older, newer = resets.issue(account), resets.issue(account)
    assert resets.account_of(older) is None
    assert resets.issue(other)
    for bad in ("", "x", newer[:-1], newer[:20] + "A" * 34, newer + "A", f"../{newer}", "é" * 54):
        assert resets.use(bad) is None
    assert resets.use(newer) == account


def test_three_links_an_hour_are_made_for_an_account(accounts, resets):
    account = accounts.signup("alice", PASSWORD)
    made = [resets.issue(account) for _ in range(LINKS_AN_HOUR + 2)]
    assert [text is not None for text in made] == [True] * LINKS_AN_HOUR + [False] * 2
    # the last one stays valid
    assert resets.account_of(made[LINKS_AN_HOUR - 1]) == account


def test_a_network_may_ask_ten_times_an_hour_and_few_requests_wait(resets):
    with attempts_from(AttemptSource("203.0.113.7")):
        for number in range(REQUESTS_AN_HOUR):
            resets.request(f"name{number}")
        with pytest.raises(Refusal, match="try again in an hour") as refusal:
            resets.request("one more")
        assert refusal.value.code is Code.TOO_FAST
    with attempts_from(AttemptSource("203.0.113.8")):
        resets.request("elsewhere")
    assert len(resets.oldest(MOST_REQUESTS)) == REQUESTS_AN_HOUR + 1
    for number in range(MOST_REQUESTS):
        resets.request(f"x{number}")
    waiting = resets.oldest(2 * MOST_REQUESTS)
    assert len(waiting) == MOST_REQUESTS
    resets.done(waiting[0])
    assert resets.oldest(1) == waiting[1:2]


def test_a_new_password_ends_all_that_the_old_one_opened(client, accounts):
    account = accounts.signup("alice", PASSWORD)
    session = Sessions(client).open(account, "a browser")
    token = Tokens(client).issue(account, "a label", ["play"])
    with pytest.raises(Refusal) as short:
        accounts.hash_new(account, "short")
    assert short.value.code is Code.BAD_PASSWORD
    accounts.reset_password(account, accounts.hash_new(account, "looking-glass"))
    assert Sessions(client).check(session.text) is None
    assert Tokens(client).list_of(account) == []
    assert token.text
    assert accounts.verify("alice", "looking-glass") == account
    with pytest.raises(Refusal):
        accounts.verify("alice", PASSWORD)


def test_a_proven_address_leads_to_the_accounts_that_have_it_now(client, accounts):
    owners = AddressOwners(client)
    one, two = (accounts.signup(name, PASSWORD, ["A@Example.org"]) for name in ("ann", "amy"))
    assert owners.of("a@example.org") == []
    proven(accounts, one, "A@Example.org")
    proven(accounts, two, "a@example.org", "b@example.org")
    assert owners.of("a@EXAMPLE.org") == sorted([one, two])
    accounts.change_addresses_of(one, ["b@example.org"])
    assert owners.of("a@example.org") == [two]
    assert owners.of("b@example.org") == [two]
    accounts.delete("amy", PASSWORD, lambda _: None)
    assert owners.of("a@example.org") == []
    assert not [key for key in client.keys("*") if b"owners" in key]


def test_an_account_from_before_the_index_is_in_it_after_its_next_login(client, accounts):
    account = accounts.signup("ann", PASSWORD)
    proven(accounts, account, "ann@example.org")
    (key,) = [key for key in client.keys("*") if b"owners" in key]
    client.delete(key)
    Accounts(client, CHEAP).verify("ann", PASSWORD)
    assert AddressOwners(client).of("ann@example.org") == [account]
