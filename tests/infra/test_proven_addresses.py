"""Addresses of accounts: what is one, the codes that prove it, and the links that it is sent for a forgotten password."""

from collections.abc import Callable
from email.headerregistry import Address as HeaderAddress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from redis import Redis

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.languages.wording import wording
from infra.mail.addresses import AddressStatus
from infra.mail.verification_codes import CODE_MS, VerificationCodes, format_code
from infra.people import password_resets as of_resets
from infra.people.accounts import Account, Accounts, MailAddress, read_address
from infra.people.accounts.address_owners import AddressOwners
from infra.people.accounts.code_requests import CODES_A_DAY
from infra.people.password_resets import PasswordResets
from infra.people.rate_limits import AttemptSource, attempts_from
from infra.people.sessions import Sessions
from infra.people.tokens import Tokens
from infra.redis import keys, mail_keys
from tests.fakes.app import CHEAP
from tests.helpers.examples import refused
from tests.helpers.proposals import Clock

PASSWORD = "mad-hatter"
HOME = "alice@Example.org"


@pytest.fixture
def codes(redis_client: Redis, clock: Clock) -> VerificationCodes:
    return VerificationCodes(redis_client, clock)


@pytest.fixture
def standing(accounts: Accounts, codes: VerificationCodes) -> AddressStatus:
    return AddressStatus(accounts, codes)


@pytest.fixture
def alice(accounts: Accounts) -> AccountId:
    return accounts.signup("alice", PASSWORD, [HOME])


@pytest.fixture
def resets(redis_client: Redis) -> PasswordResets:
    return PasswordResets(redis_client)


# what RFC 5322 calls an atom, and host names, made apart from the code that reads them
ATOMS = st.text("abcXYZ019!#$%&'*+/=?^_`{|}~-", min_size=1, max_size=12)
LABELS = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,10}[a-zA-Z0-9])?", fullmatch=True)
PLAIN = st.builds(
    lambda local, labels, top: f"{'.'.join(local)}@{'.'.join([*labels, top])}",
    st.lists(ATOMS, min_size=1, max_size=4),
    st.lists(LABELS, min_size=1, max_size=6),
    st.sampled_from(["org", "COM", "xn--p1ai", "x1"]),
)


@given(PLAIN | st.emails())
def test_plain_addresses_are_read_as_they_are_written(text):
    assert read_address(text) == text
    assert HeaderAddress(addr_spec=text).addr_spec == text


NO_HOST = "localhost example.org. .example.org example..org -example.org example-.org exam_ple.org 127.0.0.1 [127.0.0.1]"
NO_NAME = '.alice alice. al..ice "alice"'
NO_ADDRESSES = [
    *("", "alice", "@example.org", "alice@", f"alice@{'x' * 64}.org", f"{'x' * 65}@example.org"),
    *(f"alice@{host}" for host in NO_HOST.split()),
    *(f"{name}@example.org" for name in NO_NAME.split()),
    *("Alice <alice@example.org>", "alice@example.org,bob@example.org", "alice@example.org\n"),
    "alice@example.org\r\nBcc: bob@example.org",
]


def test_what_is_no_plain_address_is_refused_with_the_form_asked_for():
    for text in NO_ADDRESSES:
        assert "name@example.org" in refused(Code.BAD_ADDRESS, read_address, text)
    for text in ("älice@example.org", "alice@exämple.org"):
        assert "xn--" in refused(Code.BAD_ADDRESS, read_address, text)
    assert read_address("alice@xn--exmple-cua.org") == "alice@xn--exmple-cua.org"
    domain = ".".join(["x" * 61] * 4)[:-8] + ".example"
    longest = f"{'a' * (253 - len(domain))}@{domain}"
    assert len(read_address(longest)) == 254
    assert "not 255" in refused(Code.BAD_ADDRESS, read_address, f"a{longest}")


def issued(codes: VerificationCodes, account: AccountId, address: str = HOME) -> str:
    found = codes.issue(account, address)
    assert found is not None
    return found


def test_a_code_that_is_given_back_proves_its_address_and_no_other(
    accounts, codes, standing, alice
):
    accounts.add_addresses_of(alice, ["a@b.example"])
    for write in (str, format_code, str.upper, lambda code: f" {code[:3]} {code[3:]}\n"):
        assert standing.prove(alice, write(issued(codes, alice))) == HOME
    assert accounts.record_of(alice).addresses == (
        MailAddress(HOME, verified=True),
        MailAddress("a@b.example"),
    )


def test_a_code_is_good_once_for_one_account_and_for_a_week(
    codes, standing, alice, accounts, clock
):
    bob = accounts.signup("bob", "yes-we-can", [HOME])
    code = issued(codes, alice)
    refused(Code.BAD_ADDRESS, standing.prove, bob, code)
    for wrong in ("", "abc", "aaaaaaaaaa", "\u0430" * 10, "\udc80"):
        refused(Code.BAD_ADDRESS, standing.prove, alice, wrong)
    clock.now += CODE_MS
    refused(Code.BAD_ADDRESS, standing.prove, alice, code)
    assert not accounts.record_of(alice).addresses[0].verified
    clock.now -= 1
    standing.prove(alice, code)
    refused(Code.BAD_ADDRESS, standing.prove, alice, code)
    # the code of an address that was taken away proves nothing
    code = issued(codes, alice)
    for addresses in ([], [HOME]):
        accounts.change_addresses_of(alice, addresses)
        refused(Code.BAD_ADDRESS, standing.prove, alice, code)


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
    # what comes back late from an address that is gone changes nothing
    assert not standing.mark_bounced(alice, "a@b.example", "550")
    accounts.delete("alice", "mad-hatter", lambda _: None)
    assert not standing.mark_bounced(alice, HOME, "550")
    assert accounts.record_of(alice) is None


def test_a_record_that_is_changed_at_the_same_moment_is_changed_after_that(
    redis_client, codes, alice
):
    rivals = ["de", "fr"]

    class Contended(Accounts):
        """Accounts of which others change one at the same moment, twice."""

        def change_of(self, account: AccountId, change: Callable[[Account], Account]) -> None:
            def late(record: Account) -> Account:
                if rivals:
                    language = rivals.pop(0)
                    Accounts(redis_client, CHEAP).change_of(
                        account, lambda one: replace(one, language=language)
                    )
                return change(record)

            super().change_of(account, late)

    accounts = Contended(redis_client, CHEAP)
    assert AddressStatus(accounts, codes).mark_bounced(alice, HOME, "550")
    record = accounts.record_of(alice)
    assert (record.language, record.addresses[0].bounced) == ("fr", "550")


def test_nothing_is_left_of_an_account_that_is_deleted(codes, alice, accounts, redis_client):
    issued(codes, alice)
    accounts.delete("alice", "mad-hatter", codes.forget)
    left = [name for name in redis_client.scan_iter() if not name.startswith(b"{mail}:codes:")]
    assert left == []


def test_the_newest_link_opens_once_and_its_text_is_not_stored(
    redis_client, accounts, alice, resets
):
    text = resets.issue(alice)
    stored = redis_client.get(keys.password_reset(alice))
    assert text.encode() not in stored
    assert len(stored) == 32
    assert 0 < redis_client.ttl(keys.password_reset(alice)) <= of_resets.LINK_SECONDS
    assert resets.account_of(text) == resets.account_of(text) == alice
    assert resets.use(text) == alice
    assert resets.use(text) is None
    assert resets.account_of(text) is None
    # a newer link ends the older, and a changed one is none
    older, newer = resets.issue(alice), resets.issue(alice)
    assert resets.account_of(older) is None
    assert resets.issue(accounts.signup("bob", PASSWORD))
    for bad in ("", "x", newer[:-1], newer[:20] + "A" * 34, newer + "A", f"../{newer}", "é" * 54):
        assert resets.use(bad) is None
    assert [resets.issue(alice) for _ in range(3)] == [None] * 3
    assert of_resets.LINKS_AN_HOUR == 3
    assert resets.use(newer) == alice, "the last one stays valid"


def test_a_network_may_ask_ten_times_an_hour_and_few_requests_wait(resets):
    with attempts_from(AttemptSource("203.0.113.7")):
        for number in range(of_resets.REQUESTS_AN_HOUR):
            resets.request(f"name{number}")
        with pytest.raises(Refusal, match="try again in an hour") as refusal:
            resets.request("one more")
        assert refusal.value.code is Code.TOO_FAST
    with attempts_from(AttemptSource("203.0.113.8")):
        resets.request("elsewhere")
    assert len(resets.oldest(of_resets.MOST_REQUESTS)) == of_resets.REQUESTS_AN_HOUR + 1
    for number in range(of_resets.MOST_REQUESTS):
        resets.request(f"x{number}")
    waiting = resets.oldest(2 * of_resets.MOST_REQUESTS)
    assert len(waiting) == of_resets.MOST_REQUESTS
    resets.done(waiting[0])
    assert resets.oldest(1) == waiting[1:2]


def test_a_new_password_ends_all_that_the_old_one_opened(redis_client, accounts, alice):
    session = Sessions(redis_client).open(alice, "a browser")
    assert Tokens(redis_client).issue(alice, "a label", ["play"]).text
    refused(Code.BAD_PASSWORD, accounts.hash_new, alice, "short")
    accounts.reset_password(alice, accounts.hash_new(alice, "looking-glass"))
    assert Sessions(redis_client).check(session.text) is None
    assert Tokens(redis_client).list_of(alice) == []
    assert accounts.verify("alice", "looking-glass") == alice
    refused(Code.WRONG_PASSWORD, accounts.verify, "alice", PASSWORD)


def test_a_proven_address_leads_to_the_accounts_that_have_it_now(redis_client, accounts):
    def proven(account, *addresses):
        found = tuple(MailAddress(one, verified=True) for one in addresses)
        accounts.change_of(account, lambda record: replace(record, addresses=found))

    owners = AddressOwners(redis_client)
    one, two = (accounts.signup(name, PASSWORD, ["A@Example.org"]) for name in ("ann", "amy"))
    assert owners.of("a@example.org") == []
    proven(one, "A@Example.org")
    proven(two, "a@example.org", "b@example.org")
    assert owners.of("a@EXAMPLE.org") == sorted([one, two])
    accounts.change_addresses_of(one, ["b@example.org"])
    assert owners.of("a@example.org") == owners.of("b@example.org") == [two]
    # an account from before the index is in it after its next login
    redis_client.delete(*redis_client.keys("*owners*"))
    assert owners.of("a@example.org") == []
    Accounts(redis_client, CHEAP).verify("amy", PASSWORD)
    assert owners.of("a@example.org") == [two]
    accounts.delete("amy", PASSWORD, lambda _: None)
    assert owners.of("a@example.org") == []
    assert not redis_client.keys("*owners*")
