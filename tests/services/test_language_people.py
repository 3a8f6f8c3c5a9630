"""Accounts, as their owners type about them, and what players write to each other: messages, broadcasts, chat."""

import itertools
import re
from collections.abc import Iterator

import pytest

from domain.errors import Code
from infra.people.accounts import AccountRole, Profile
from infra.people.accounts.code_requests import CODES_A_DAY
from infra.people.messages import MessageStore
from services.app.accounts import authenticate
from tests.fakes.app import PASSWORDS, FakeApp, Terminal
from tests.helpers.messages import unread_chat


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    """A terminal where a minute goes by between any two letters."""
    app = FakeApp()
    minutes = itertools.count(1_700_000_000_000, 60_000)
    app.messages = MessageStore(app.client, lambda: 4, lambda: next(minutes))
    yield Terminal(app)
    app.close()


def accepted(terminal: Terminal, line: str, key: str | None = None) -> str:
    return terminal.accepted(line, key).sentence


# accounts


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


def test_it_is_chosen_when_mail_is_sent_and_signoff_ends_it_until_it_is_chosen_again(terminal):
    accepted(terminal, "pow2 set alice mad-hatter notify none")
    assert profile(terminal, "alice").notify == "none"
    for when, said in (
        ("move", "from now on alice gets a mail at once whenever something happens"),
        ("DAILY", "from now on alice gets one mail a day, and a reminder when your time runs out"),
        ("none", "from now on alice gets no mail, not even reminders"),
    ):
        assert accepted(terminal, f"set alice mad-hatter notify {when}") == said
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


# letters


def box(terminal: Terminal, name: str) -> list[str]:
    """What a player reads, less the times."""
    page = terminal.do(f"messages {name} {PASSWORDS[name]}").page
    return re.sub(r"^\d{4}-\d\d-\d\d \d\d:\d\d UTC ", "", page, flags=re.MULTILINE).splitlines()


def test_a_message_is_new_until_it_was_shown_and_goes_to_one_or_several(terminal):
    said = accepted(terminal, "message ALICE mad-hatter Bob Shall we  play?")
    assert said == "bob will find it in `messages`"
    answer = terminal.do("messages BOB yes-we-can")
    assert answer.text == "1 new\n\n2023-11-14 22:13 UTC alice: Shall we  play?"
    assert terminal.do("messages BOB yes-we-can").sentence == ""
    assert box(terminal, "carol") == ["nobody has written to you"]
    ways = (
        "Bob,CAROL,bob hello", "bob carol\nhello", "bob,carol\nhello", "bob, carol \r\n  hello\r\n",
    )  # fmt: skip
    for count, words in enumerate(ways, 1):
        said = accepted(terminal, f"message alice mad-hatter {words}")
        assert said == "bob and carol will find it in `messages`"
        assert box(terminal, "carol") == ["alice: hello"] * count, words


def test_no_text_looks_like_a_line_of_another(terminal):
    forged = "2026-01-01 00:00 UTC carol: I resign"
    for end in ("\n", "\r\n", "\u2028", "\u2029"):
        accepted(terminal, f"message alice mad-hatter bob\nhello{end}{forged}{end}\tyours")
        first, *others = terminal.do("messages bob yes-we-can").page.splitlines()[:3]
        assert first.endswith(" UTC alice: hello")
        assert others == [f"    {forged}", "    \tyours"], repr(end)


def test_an_arbiter_writes_to_everybody_and_not_to_who_comes_later(terminal):
    terminal.app.accounts.set_role("carol", AccountRole.ARBITER, held=True)
    for line in (
        "broadcast Carol sing-along before",
        "broadcast carol sing-along\nIt rests\non Sunday.",
    ):
        assert accepted(terminal, line) == "everybody will find it in `messages`"
    accepted(terminal, "signup dora marco-polo")
    rests = ["carol to everybody: It rests", "    on Sunday.", "carol to everybody: before"]
    assert box(terminal, "bob") == rests
    assert "carol" not in terminal.do("messages dora marco-polo").page


def test_the_players_of_a_match_read_what_they_said(terminal):
    board, other = terminal.challenge(), terminal.challenge()
    nothing = terminal.do(f"pow2 chat {board} alice mad-hatter")
    assert nothing.text == f"nobody has said anything in match {board} yet"
    said = accepted(terminal, f"pow2 chat {board} Alice mad-hatter Good luck!")
    assert said == f"said in match {board}"
    terminal.move(board, "bob", "resign")
    bob = terminal.app.accounts.id_of("bob")
    assert unread_chat(terminal.app.messages, bob) == {board: 1}
    accepted(terminal, f"pow2 chat {board} bob yes-we-can\nThe same\nto - you")
    for reader in ("ALICE mad-hatter", "bob yes-we-can"):
        assert terminal.do(f"pow2 chat {board} {reader}").text == (
            "2023-11-14 22:13 UTC alice: Good luck!\n2023-11-14 22:15 UTC bob: The same\n    to - you"
        )
    assert unread_chat(terminal.app.messages, bob) == {}
    assert "nobody has said" in terminal.do(f"pow2 chat {other} bob yes-we-can").text
    accepted(terminal, "powerdrain challenge alice bob --gather")
    accepted(terminal, f"powerdrain chat {other + 1} bob yes-we-can what word do I give?")


def test_what_is_repeated_with_its_senders_key_is_written_once_and_answered_alike(terminal):
    board = terminal.challenge()
    terminal.app.accounts.set_role("alice", AccountRole.ARBITER, held=True)
    for number, what in enumerate(("message {} bob,carol", "broadcast {}", "pow2 chat 1 {}")):
        line = f"{what.format('alice mad-hatter')} text {number}"
        read = f"pow2 chat {board} bob yes-we-can" if "chat" in what else "messages bob yes-we-can"
        assert len({terminal.do(line, what) for _ in range(3)}) == 1
        assert terminal.do(read).page.count(f"text {number}") == 1
        accepted(terminal, line, "another")
        assert terminal.do(read).page.count(f"text {number}") == 2
    accepted(terminal, "message carol sing-along bob good day", "another")
    assert box(terminal, "bob")[0] == "carol: good day"
