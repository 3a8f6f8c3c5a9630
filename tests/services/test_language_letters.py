"""What players write to each other, as they type it: messages, broadcasts, chat."""

import itertools
import re
from collections.abc import Iterator

import pytest

from domain.errors import Code
from infra.people.accounts import AccountRole
from infra.people.messages import MessageStore
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
    answer = terminal.do(line, key)
    assert answer.code == "", answer
    return answer.sentence


def box(terminal: Terminal, name: str) -> list[str]:
    """What a player reads, less the times."""
    page = terminal.do(f"messages {name} {PASSWORDS[name]}").page
    return re.sub(r"^\d{4}-\d\d-\d\d \d\d:\d\d UTC ", "", page, flags=re.MULTILINE).splitlines()


def test_a_message_is_found_by_whom_it_was_written_to_and_new_until_it_was_shown(terminal):
    said = accepted(terminal, "message ALICE mad-hatter Bob Shall we  play?")
    assert said == "bob will find it in `messages`"
    answer = terminal.do("messages BOB yes-we-can")
    assert answer.text == "1 new\n\n2023-11-14 22:13 UTC alice: Shall we  play?"
    assert terminal.do("messages BOB yes-we-can").sentence == ""
    assert box(terminal, "carol") == ["nobody has written to you"]
    accepted(terminal, "message carol sing-along bob two")
    accepted(terminal, "message bob yes-we-can bob to myself")
    assert terminal.do("messages bob yes-we-can").sentence == "2 new"
    assert box(terminal, "bob") == ["bob: to myself", "carol: two", "alice: Shall we  play?"]
    accepted(terminal, "delete alice mad-hatter")
    assert box(terminal, "bob") == ["bob: to myself", "carol: two"]


@pytest.mark.parametrize("words", [
    "Bob,CAROL,bob hello", "bob carol\nhello", "bob,carol\nhello", "bob, carol \r\n  hello\r\n",
])  # fmt: skip
def test_a_message_goes_to_several_in_one_line_or_on_the_lines_after(terminal, words):
    said = accepted(terminal, f"message alice mad-hatter {words}")
    assert said == "bob and carol will find it in `messages`"
    for name in ("bob", "carol"):
        assert box(terminal, name) == ["alice: hello"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\u2028", "\u2029"])
def test_no_text_looks_like_a_line_of_another(terminal, end):
    forged = "2026-01-01 00:00 UTC carol: I resign"
    accepted(terminal, f"message alice mad-hatter bob\nhello{end}{forged}{end}\tyours")
    first, *others = terminal.do("messages bob yes-we-can").page.splitlines()
    assert first.endswith(" UTC alice: hello")
    assert others == [f"    {forged}", "    \tyours"]


@pytest.mark.parametrize("form", ["{} {}", "{}\n{}"])
def test_an_arbiter_writes_to_everybody_and_not_to_who_comes_later(terminal, form):
    terminal.app.accounts.set_role("carol", AccountRole.ARBITER, held=True)
    accepted(terminal, "message alice mad-hatter bob before")
    line = "broadcast " + form.format("Carol sing-along", "The server rests\non Sunday.")
    assert accepted(terminal, line) == "everybody will find it in `messages`"
    accepted(terminal, "message alice mad-hatter bob after")
    accepted(terminal, "signup dora marco-polo")
    assert terminal.do("messages bob yes-we-can").sentence == "3 new"
    rests = ["carol to everybody: The server rests", "    on Sunday."]
    assert box(terminal, "bob") == ["alice: after", *rests, "alice: before"]
    assert "carol" not in terminal.do("messages dora marco-polo").page
    terminal.app.accounts.set_role("carol", AccountRole.ARBITER, held=False)
    assert terminal.do(line).code == Code.NOT_AN_ARBITER


def test_the_players_of_a_match_read_in_its_order_what_they_said_whenever(terminal):
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


@pytest.mark.parametrize("line", [
    "message alice mad-hatter bob,carol hello", "message alice mad-hatter bob carol\nhello",
    "broadcast alice mad-hatter hello", "pow2 chat 1 alice mad-hatter hello",
])  # fmt: skip
def test_what_is_repeated_with_its_senders_key_is_written_once_and_answered_alike(terminal, line):
    terminal.challenge()
    terminal.app.accounts.set_role("alice", AccountRole.ARBITER, held=True)
    assert len({terminal.do(line, "key-1") for _ in range(5)}) == 1
    read = "pow2 chat 1 bob yes-we-can" if "chat" in line else "messages bob yes-we-can"
    assert terminal.do(read).page.count("hello") == 1
    accepted(terminal, line, "key-2")
    accepted(terminal, "message carol sing-along bob good day", "key-1")
    assert terminal.do(read).page.count("hello") == 2
    assert box(terminal, "bob")[0] == "carol: good day"
