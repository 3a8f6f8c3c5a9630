from collections.abc import Callable

import pytest
from argon2 import PasswordHasher
from msgspec.structs import replace
from redis import Redis

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra.mail import keys as mail_keys
from infra.mail.address_status import AddressStatus
from infra.mail.verification_codes import CODE_MS, CODES_A_DAY, VerificationCodes, format_code
from infra.people.accounts import Account, Accounts, MailAddress

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
HOME = "alice@Example.org"


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000_000

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def accounts(redis_client: Redis) -> Accounts:
    return Accounts(redis_client, CHEAP)


@pytest.fixture
def codes(redis_client: Redis, clock: Clock) -> VerificationCodes:
    return VerificationCodes(redis_client, clock)


@pytest.fixture
def standing(accounts: Accounts, codes: VerificationCodes) -> AddressStatus:
    return AddressStatus(accounts, codes)


@pytest.fixture
def alice(accounts: Accounts) -> AccountId:
    return accounts.signup("alice", "mad-hatter", [HOME])


def issued(codes: VerificationCodes, account: AccountId, address: str = HOME) -> str:
    found = codes.issue(account, address)
    assert found is not None
    return found


def refused(call: Callable[..., object], *args: object) -> Code:
    with pytest.raises(Refusal) as caught:
        call(*args)
    return caught.value.code


def test_who_gives_addresses_is_to_be_sent_codes(
    accounts: Accounts, codes: VerificationCodes, alice
):
    accounts.signup("bob", "yes-we-can")
    assert codes.accounts_to_verify(10) == [alice]
    assert codes.accounts_to_verify(10) == [alice], "until it was seen to"
    codes.mark_verified_for(alice)
    assert codes.accounts_to_verify(10) == []
    accounts.add_addresses_of(alice, [HOME])
    assert codes.accounts_to_verify(10) == [alice]
    accounts.change_addresses_of(alice, ["alice@elsewhere.example"])
    codes.mark_verified_for(alice)
    assert codes.accounts_to_verify(10) == [alice], "for what was given meanwhile"


def test_a_code_that_is_given_back_proves_its_address_and_no_other(
    accounts, codes, standing, alice
):
    accounts.add_addresses_of(alice, ["a@b.example"])
    code = issued(codes, alice)
    assert standing.prove(alice, code) == HOME
    assert accounts.record_of(alice).addresses == (
        MailAddress(HOME, verified=True),
        MailAddress("a@b.example"),
    )


@pytest.mark.parametrize(
    "write", [format_code, str.upper, lambda code: f" {code[:3]} {code[3:]}\n"]
)
def test_a_code_is_read_as_people_write_it(codes, standing, alice, write):
    assert standing.prove(alice, write(issued(codes, alice))) == HOME


def test_a_code_is_good_once_for_one_account_and_for_a_week(
    codes, standing, alice, accounts, clock
):
    bob = accounts.signup("bob", "yes-we-can", [HOME])
    code = issued(codes, alice)
    assert refused(standing.prove, bob, code) is Code.BAD_ADDRESS
    clock.now += CODE_MS
    assert refused(standing.prove, alice, code) is Code.BAD_ADDRESS
    clock.now -= 1
    standing.prove(alice, code)
    assert refused(standing.prove, alice, code) is Code.BAD_ADDRESS


@pytest.mark.parametrize("code", ["", "abc", "aaaaaaaaaa", "\u0430" * 10, "\udc80"])
def test_a_wrong_code_proves_nothing(codes, standing, alice, accounts, code):
    issued(codes, alice)
    assert refused(standing.prove, alice, code) is Code.BAD_ADDRESS
    assert not accounts.record_of(alice).addresses[0].verified


def test_the_code_of_an_address_that_was_taken_away_proves_nothing(
    codes, standing, alice, accounts
):
    code = issued(codes, alice)
    accounts.change_addresses_of(alice, [])
    assert refused(standing.prove, alice, code) is Code.BAD_ADDRESS
    accounts.change_addresses_of(alice, [HOME])
    assert refused(standing.prove, alice, code) is Code.BAD_ADDRESS


def test_a_code_that_is_asked_for_again_is_the_same(codes, alice, clock):
    first = issued(codes, alice)
    clock.now += CODE_MS - 1
    assert issued(codes, alice) == first
    clock.now += CODE_MS
    assert issued(codes, alice) != first


def test_an_address_is_sent_three_codes_a_day_whoever_asks(codes, alice, accounts, redis_client):
    others = [accounts.signup(f"user{n}", "mad-hatter") for n in range(5)]
    sent = [codes.issue(one, "alice@EXAMPLE.org") for one in (alice, *others)]
    assert [code is not None for code in sent] == [True] * CODES_A_DAY + [False] * 3
    assert CODES_A_DAY == 3
    assert codes.issue(alice, "a@b.example") is not None
    (name,) = redis_client.keys(mail_keys.sent_codes("alice@example.org"))
    assert 0 < redis_client.ttl(name) <= 24 * 3600


def test_no_address_can_be_read_in_the_names_of_keys(codes, alice, redis_client):
    issued(codes, alice)
    assert not [name for name in redis_client.scan_iter() if b"xample" in name]


def test_an_address_mail_came_back_from_is_used_again_once_it_is_proven_anew(
    codes, standing, alice, accounts
):
    standing.prove(alice, issued(codes, alice))
    assert standing.mark_bounced(alice, "alice@example.ORG", "550 5.1.1\r\nno such\x07 user")
    (address,) = accounts.record_of(alice).addresses
    assert address == MailAddress(HOME, verified=True, bounced="550 5.1.1 no such user")
    assert not address.usable
    standing.prove(alice, issued(codes, alice))
    assert accounts.record_of(alice).addresses[0].usable


def test_what_comes_back_late_from_an_address_that_is_gone_changes_nothing(
    standing, alice, accounts
):
    assert not standing.mark_bounced(alice, "a@b.example", "550")
    accounts.delete("alice", "mad-hatter", lambda _: None)
    assert not standing.mark_bounced(alice, HOME, "550")
    assert accounts.record_of(alice) is None


def test_a_record_that_is_changed_at_the_same_moment_is_changed_after_that(
    redis_client, codes, alice
):
    class Contended(Accounts):
        """Accounts of which others change one at the same moment, twice."""

        rivals = 2

        def change_of(self, account: AccountId, change: Callable[[Account], Account]) -> None:
            def late(record: Account) -> Account:
                if self.rivals:
                    self.rivals -= 1
                    language = "de" if self.rivals else "fr"
                    Accounts(redis_client, CHEAP).change_of(
                        account, lambda one: replace(one, language=language)
                    )
                return change(record)

            super().change_of(account, late)

    accounts = Contended(redis_client, CHEAP)
    assert AddressStatus(accounts, codes).mark_bounced(alice, HOME, "550")
    record = accounts.record_of(alice)
    assert record is not None
    assert (record.language, record.addresses[0].bounced) == ("fr", "550")


def test_nothing_is_left_of_an_account_that_is_deleted(codes, alice, accounts, redis_client):
    issued(codes, alice)
    accounts.delete("alice", "mad-hatter", codes.forget)
    left = [name for name in redis_client.scan_iter() if not name.startswith(b"{mail}:codes:")]
    assert left == []
