from collections.abc import Callable

import pytest
from argon2 import PasswordHasher
from msgspec.structs import replace
from redis import Redis

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra.languages.wording import wording
from infra.mail.addresses import AddressStatus
from infra.mail.verification_codes import CODE_MS, VerificationCodes, format_code
from infra.people.accounts import Account, Accounts, MailAddress
from infra.people.accounts.code_requests import CODES_A_DAY
from infra.people.rate_limits import AttemptSource, attempts_from
from infra.redis import mail_keys

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


def test_a_mailbox_is_sent_five_codes_a_day_whoever_asks_in_whatever_spelling(
    accounts, codes, redis_client
):
    spellings = ["victim@b.example", "victim+1@b.example", "Victim+22@B.example"]
    spellings += ["vic.tim@b.example", "victim-x@b.example", "victim+6@b.example"]
    made = [accounts.signup(f"user{n}", "tern-5-lamps", [one]) for n, one in enumerate(spellings)]
    asked = codes.accounts_to_verify(10)
    assert [account in asked for account in made] == [True] * CODES_A_DAY + [False]
    assert CODES_A_DAY == 5
    assert accounts.codes.withheld(made[0]) is None
    sentence = accounts.codes.withheld(made[-1])
    assert str(sentence).endswith("add the address again in 24 hours")
    assert sentence.in_language(wording("de")).endswith("bitte in 24 Stunden noch einmal eintragen")
    (name,) = redis_client.keys(mail_keys.sent_codes("victim@b.example"))
    assert 0 < redis_client.ttl(name) <= 24 * 3600
    # another address is sent a code at once, the same one when the day is over
    accounts.change_addresses_of(made[-1], ["a@b.example"])
    assert accounts.codes.withheld(made[-1]) is None
    assert made[-1] in codes.accounts_to_verify(10)
    accounts.change_addresses_of(made[0], ["victim@b.example"])
    assert accounts.codes.withheld(made[0]) is not None
    redis_client.delete(name)
    accounts.change_addresses_of(made[0], ["victim@b.example"])
    assert accounts.codes.withheld(made[0]) is None


def test_a_network_is_sent_twenty_codes_a_day_and_goes_on_signing_up(accounts, codes):
    with attempts_from(AttemptSource("192.0.2.7")):
        made = [
            accounts.signup(f"user{n}", "tern-5-lamps", [f"a@{n}-{k}.example" for k in range(5)])
            for n in range(5)
        ]
    assert [accounts.codes.withheld(one) is None for one in made] == [True] * 4 + [False]
    assert sorted(codes.accounts_to_verify(10)) == sorted(made[:4])
    with attempts_from(AttemptSource("192.0.2.8")):
        accounts.add_addresses_of(made[4], [])
    assert accounts.codes.withheld(made[4]) is None
    for network, strangers in (("mail a@b.example", "mail"), ("mail c@d.example", "mail")):
        with attempts_from(AttemptSource(network, strangers)):
            last = [
                accounts.signup(f"{network[5]}{n}", "tern-5-lamps", [f"{network[5]}@{n}.example"])
                for n in range(11)
            ]
    assert accounts.codes.withheld(last[-1]) is not None, "forged senders count as one"


def test_the_mark_of_withheld_codes_goes_with_the_account(accounts, redis_client):
    for n in range(CODES_A_DAY + 1):
        account = accounts.signup(f"user{n}", "tern-5-lamps", [HOME])
    assert redis_client.exists(mail_keys.codes_withheld(account))
    accounts.delete(f"user{n}", "tern-5-lamps", lambda _: None)
    assert not redis_client.exists(mail_keys.codes_withheld(account))


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
