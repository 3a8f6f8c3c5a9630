"""Accounts, as their owners type about them: made, changed, listed, left."""

import pytest

from domain.errors import Code
from infra.people.accounts import Profile
from infra.people.accounts.code_requests import CODES_A_DAY
from services.app.accounts import authenticate
from tests.fakes.app import Terminal


def accepted(terminal: Terminal, line: str) -> str:
    answer = terminal.do(line)
    assert answer.code == "", answer
    return answer.sentence


def profile(terminal: Terminal, name: str) -> Profile:
    found = terminal.app.accounts.record_of(terminal.app.accounts.id_of(name))
    assert found is not None
    return found


def addresses(terminal: Terminal, name: str) -> list[str]:
    return [one.address for one in profile(terminal, name).addresses]


CODES = (
    "; if the server sends mail, each new address will get a code: reply to it to get mail there"
)


def test_an_account_is_made_listed_and_its_addresses_added_and_replaced(terminal):
    line = "signup Dora marco-polo dora@example.org Dora@Example.NET"
    assert accepted(terminal, line) == f"welcome, dora; `help` lists what you can do{CODES}"
    assert addresses(terminal, "dora") == ["dora@example.org", "Dora@Example.NET"]
    accepted(terminal, "signup Amber marco-polo")
    assert terminal.do("LIST").page == "alice, amber, bob, carol and dora"
    for line, said, left in (
        ("add alice mad-hatter a@b.org", f"1 e-mail address{CODES}", ["a@b.org"]),
        ("add ALICE mad-hatter a@b.org b@b.org", f"2 e-mail addresses{CODES}", ["a@b.org", "b@b.org"]),
        ("change address Alice mad-hatter c@b.org", f"1 e-mail address{CODES}", ["c@b.org"]),
        ("change address alice mad-hatter", "no e-mail address", []),
        ("add alice mad-hatter 1@b.org 2@b.org 3@b.org", f"3 e-mail addresses{CODES}", ["1@b.org", "2@b.org", "3@b.org"]),
    ):  # fmt: skip
        assert accepted(terminal, line) == f"alice now has {said}"
        assert addresses(terminal, "alice") == left
    assert terminal.do("add alice mad-hatter 4@b.org 5@b.org 6@b.org").code == Code.BAD_ADDRESS
    assert len(addresses(terminal, "alice")) == 3


def test_a_password_with_blanks_stands_in_quotation_marks(terminal):
    accepted(terminal, 'signup dora "correct horse battery"')
    line = "change password dora \u201ccorrect horse battery\u201d \u201ea white rabbit\u201d"
    accepted(terminal, line)
    assert terminal.do('messages dora "a wrong rabbit"').code == Code.WRONG_PASSWORD
    assert terminal.do('message dora "a white rabbit" bob a white rabbit').code == Code.BAD_REQUEST
    accepted(terminal, 'pow2 challenge dora bob --password="a white rabbit"')
    assert authenticate(terminal.app, "dora", "a white rabbit")


@pytest.mark.parametrize("game", ["", "pow2 "])
def test_it_is_chosen_when_mail_is_sent_and_signoff_ends_it_until_it_is_chosen_again(
    terminal, game
):
    for when, said in (
        ("move", "from now on alice gets a mail at once whenever something happens"),
        ("DAILY", "from now on alice gets one mail a day, and a reminder when your time runs out"),
        ("none", "from now on alice gets no mail, not even reminders"),
    ):
        assert accepted(terminal, f"{game}set alice mad-hatter notify {when}") == said
        assert profile(terminal, "alice").notify == when.lower()
    for again in (
        "set alice mad-hatter notify move", "add alice mad-hatter a@b.org", "change address alice mad-hatter",
    ):  # fmt: skip
        assert accepted(terminal, "signoff Alice mad-hatter") == (
            "alice won't get any more mail; `set alice password notify move` starts it again, "
            "`delete alice password` erases the account"
        )
        assert profile(terminal, "alice").signed_off
        accepted(terminal, again)
        assert not profile(terminal, "alice").signed_off


# leaving


def test_nothing_in_the_store_leads_to_who_was_deleted(terminal):
    for line in (
        "signup Eleanor aquitaine-2 eleanor@example.org", "message eleanor aquitaine-2 bob from eleanor",
        "message bob yes-we-can eleanor hello", "pow2 challenge eleanor bob",
        "pow2 submit 1 eleanor aquitaine-2 m13-j7", "delete eleanor aquitaine-2",
    ):  # fmt: skip
        accepted(terminal, line)
    client = terminal.app.client
    kept = [key + (client.dump(key) or b"") for key in client.scan_iter()]
    assert kept
    assert not [data for data in kept if b"eleanor" in data.lower()]
    assert not [data for data in terminal.app.store.events(1) if b"eleanor" in data]


def test_a_sign_up_for_whose_mailbox_no_code_is_sent_says_when_to_ask_again(terminal):
    for n in range(CODES_A_DAY):
        line = f"signup fan{n} tern-5-lamps victim+{n}@example.org"
        assert "each new address will get a code" in accepted(terminal, line)
    assert accepted(terminal, "signup fan9 tern-5-lamps Victim@example.org") == (
        "welcome, fan9; `help` lists what you can do; no code was sent to your address, because too "
        "many were requested today; add the address again in 24 hours"
    )
    assert terminal.app.accounts.id_of("fan9")
    terminal.do("set fan9 tern-5-lamps language de")
    said = terminal.do("add fan9 tern-5-lamps v.ictim@example.org").sentence
    assert said.startswith("fan9 hat jetzt 2 Mailadressen; an die Adresse ging kein Code, weil")
