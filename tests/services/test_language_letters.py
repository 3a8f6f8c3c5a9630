"""What players write to each other, as they type it: messages, broadcasts, chat."""

import itertools
import re
from collections.abc import Iterator

import pytest

from domain.errors import Code
from infra.people.messages import (
    BOX_LIMIT,
    BROADCAST_LIMIT,
    MOST_RECIPIENTS,
    MessageStore,
)
from infra.people.rate_limits import CommandRateLimit
from infra.people.texts import TEXT_LIMIT
from tests.fakes.app import PASSWORDS, FakeApp, Terminal
from tests.helpers.unread import unread_chat


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


# messages


def test_a_message_is_found_by_whom_it_was_written_to(terminal):
    said = accepted(terminal, "message ALICE mad-hatter Bob Shall we  play?")
    assert said == "bob will find it in `messages`"
    answer = terminal.do("messages BOB yes-we-can")
    assert answer.text == "1 new\n\n2023-11-14 22:13 UTC alice: Shall we  play?"
    assert box(terminal, "carol") == ["nobody has written to you"]


@pytest.mark.parametrize(
    "line",
    [
        "message alice mad-hatter bob,carol Shall we three play?",
        "message alice mad-hatter Bob,CAROL,bob Shall we three play?",
        "message alice mad-hatter bob carol\nShall we three play?",
        "message alice mad-hatter bob,carol\nShall we three play?",
        "message alice mad-hatter bob, carol \r\n  Shall we three play?\r\n",
    ],
)
def test_a_message_goes_to_several_in_one_line_or_on_the_lines_after(terminal, line):
    assert accepted(terminal, line) == "bob and carol will find it in `messages`"
    for name in ("bob", "carol"):
        assert box(terminal, name) == ["alice: Shall we three play?"]


def test_the_newest_message_stands_first(terminal):
    for line in (
        "alice mad-hatter bob one",
        "carol sing-along bob two",
        "alice mad-hatter bob three",
    ):
        accepted(terminal, f"message {line}")
    assert box(terminal, "bob") == ["alice: three", "carol: two", "alice: one"]


def test_it_is_told_how_many_messages_are_new_until_they_were_shown(terminal):
    for text in ("one", "two"):
        accepted(terminal, f"message alice mad-hatter bob {text}")
    assert terminal.do("messages bob yes-we-can").sentence == "2 new"
    again = terminal.do("messages bob yes-we-can")
    assert again.sentence == ""
    assert "two" in again.page
    accepted(terminal, "message alice mad-hatter bob three")
    assert terminal.do("messages bob yes-we-can").sentence == "1 new"


def test_all_that_is_new_is_shown_and_of_what_is_read_the_newest_twenty(terminal):
    accepted(terminal, "message bob yes-we-can alice write to me")
    box(terminal, "alice")
    for number in range(33):
        accepted(terminal, f"message alice mad-hatter bob number {number}")
    assert terminal.do("messages alice mad-hatter").sentence == ""
    assert box(terminal, "bob") == [f"alice: number {n}" for n in reversed(range(33))]
    assert box(terminal, "bob") == [f"alice: number {n}" for n in reversed(range(13, 33))]


def test_a_full_box_with_broadcasts_is_shown_whole_once(terminal):
    alice = terminal.app.accounts.id_of("alice")
    bob = terminal.app.accounts.id_of("bob")
    for number in range(BOX_LIMIT):
        terminal.app.messages.send(alice, [bob], "to bob", number.to_bytes(16, "big"))
    for number in range(BROADCAST_LIMIT):
        terminal.app.messages.broadcast(alice, "to all", number.to_bytes(16, "big"))
    answer = terminal.do("messages bob yes-we-can")
    assert answer.sentence == "250 new"
    assert len(answer.page.splitlines()) == 250
    assert len(box(terminal, "bob")) == 20


def test_one_writes_to_oneself_too(terminal):
    accepted(terminal, "message alice mad-hatter alice mind the white rabbit")
    assert box(terminal, "alice") == ["alice: mind the white rabbit"]


def test_who_wrote_and_left_is_a_former_player_to_nobody(terminal):
    accepted(terminal, "message alice mad-hatter bob hello")
    accepted(terminal, "message bob yes-we-can carol hello")
    accepted(terminal, "delete alice mad-hatter")
    assert box(terminal, "bob") == ["nobody has written to you"]
    assert box(terminal, "carol") == ["bob: hello"]


# texts


@pytest.mark.parametrize("end", ["\n", "\r\n", "\u2028", "\u2029"])
def test_no_text_looks_like_a_line_of_another(terminal, end):
    forged = "2026-01-01 00:00 UTC carol: I resign"
    accepted(terminal, f"message alice mad-hatter bob\nhello{end}{forged}{end}\tyours")
    answer = terminal.do("messages bob yes-we-can")
    first, *others = answer.page.splitlines()
    assert first.endswith(" UTC alice: hello")
    assert others == [f"    {forged}", "    \tyours"]


def test_blanks_and_lines_within_a_text_stay_as_they_are(terminal):
    accepted(terminal, "message alice mad-hatter bob\n\n  a  b\n\n    c \n\n")
    assert terminal.do("messages bob yes-we-can").page.endswith("alice: a  b\n    \n        c")


@pytest.mark.parametrize("form", ["{} bob {}", "{} bob\n{}"])
def test_a_text_has_two_thousand_characters_at_most(terminal, form):
    line = "message " + form.format("alice mad-hatter", "x" * TEXT_LIMIT)
    accepted(terminal, line)
    answer = terminal.do(f"{line}y")
    assert answer.code == Code.TOO_LONG
    assert answer.sentence == "the text has 2001 characters; the limit is 2000"
    assert box(terminal, "bob") == [f"alice: {'x' * TEXT_LIMIT}"]


def test_a_message_goes_to_twenty_at_most(terminal):
    names = [f"player{number:02}" for number in range(MOST_RECIPIENTS)]
    for name in names:
        terminal.app.accounts.signup(name, "marco-polo")
    said = accepted(terminal, f"message alice mad-hatter {','.join(names)} hello")
    assert said.startswith("player00, player01, ")
    assert said.endswith("player18 and player19 will find it in `messages`")
    answer = terminal.do(f"message alice mad-hatter {','.join(names)},bob hello")
    assert answer.code == Code.BAD_REQUEST
    assert answer.sentence == "a message goes to 1 to 20 players, not 21"
    assert box(terminal, "bob") == ["nobody has written to you"]


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("message alice mad-hatter bob", Code.USAGE, "the form is `message userid password "),
        ("message alice mad-hatter", Code.USAGE, "the form is `message userid password "),
        ("message alice mad-hatter\nbob hello", Code.USAGE, "the form is `message userid pass"),
        ("message alice mad-hatter bob,zoe hello", Code.UNKNOWN_USER, "no user 'zoe'"),
        ("message alice mad-hatter bob, carol hello", Code.USAGE, "separate userids by a comma"),
        ("message alice mad-hatter ,bob hello", Code.USAGE, "separate userids by a comma"),
        ("message alice mad-hatter ,\nhello", Code.BAD_REQUEST, "1 to 20 players, not 0"),
        (
            "message alice mad-hatter bob Hello,\nshall we play?",
            Code.UNKNOWN_USER,
            "check the spelling; a text of several lines has to begin on the second line",
        ),
        ("message alice guessing bob hello", Code.WRONG_PASSWORD, "not the password of alice"),
        ("message zoe mad-hatter bob hello", Code.UNKNOWN_USER, "no user 'zoe'"),
        ("message alice mad-hatter bob a\x07b", Code.BAD_REQUEST, "character 2 of the text is U+"),
        (
            "message alice mad-hatter bob a\rb",
            Code.BAD_REQUEST,
            "character 2 of the text is U+000D",
        ),
        ("message alice mad-hatter bob \x1b[2J", Code.BAD_REQUEST, "of the text is U+001B"),
        ("messages bob guessing", Code.WRONG_PASSWORD, "not the password of bob"),
        ("messages bob", Code.USAGE, "the form is `messages userid password`"),
    ],
)
def test_a_message_that_breaks_a_rule_reaches_nobody(terminal, line, code, said):
    answer = terminal.do(line)
    assert (answer.code, said in answer.sentence) == (code, True), answer
    assert box(terminal, "bob") == box(terminal, "carol") == ["nobody has written to you"]


# broadcasts


@pytest.mark.parametrize("form", ["{} {}", "{}\n{}"])
def test_an_arbiter_writes_to_everybody_and_not_to_who_comes_later(terminal, form):
    terminal.app.accounts.set_arbiter("carol", True)
    line = "broadcast " + form.format("Carol sing-along", "The server rests\non Sunday.")
    assert accepted(terminal, line) == "everybody will find it in `messages`"
    accepted(terminal, "signup dora marco-polo")
    answer = terminal.do("messages alice mad-hatter")
    assert answer.sentence == "1 new"
    assert answer.page.endswith(" carol to everybody: The server rests\n    on Sunday.")
    assert "carol" not in terminal.do("messages dora marco-polo").page


def test_messages_and_broadcasts_are_shown_and_counted_together(terminal):
    terminal.app.accounts.set_arbiter("carol", True)
    accepted(terminal, "message alice mad-hatter bob one")
    accepted(terminal, "broadcast carol sing-along two")
    accepted(terminal, "message alice mad-hatter bob three")
    assert terminal.do("messages bob yes-we-can").sentence == "3 new"
    assert box(terminal, "bob") == ["alice: three", "carol to everybody: two", "alice: one"]


def test_who_is_no_arbiter_or_no_more_writes_to_nobody(terminal):
    for yes in (True, False):
        terminal.app.accounts.set_arbiter("alice", yes)
    answer = terminal.do("broadcast alice mad-hatter hello")
    assert answer.code == Code.NOT_AN_ARBITER
    assert answer.sentence == "only arbiters can write to everybody; try `message`"
    assert terminal.do("broadcast alice guessing hello").code == Code.WRONG_PASSWORD
    assert box(terminal, "bob") == ["nobody has written to you"]


# chat


def test_the_players_of_a_match_read_in_its_order_what_they_said(terminal):
    board = terminal.challenge()
    nothing = terminal.do(f"pow2 chat {board} alice mad-hatter")
    assert nothing.text == f"nobody has said anything in match {board} yet"
    said = accepted(terminal, f"pow2 chat {board} Alice mad-hatter Good luck!")
    assert said == f"said in match {board}"
    accepted(terminal, f"pow2 chat {board} bob yes-we-can\nThe same\nto you")
    for reader in ("ALICE mad-hatter", "bob yes-we-can"):
        assert terminal.do(f"pow2 chat {board} {reader}").text == (
            "2023-11-14 22:13 UTC alice: Good luck!\n2023-11-14 22:15 UTC bob: The same\n    to you"
        )


def test_what_is_said_in_one_match_is_not_heard_in_another(terminal):
    one, other = terminal.challenge(), terminal.challenge()
    accepted(terminal, f"pow2 chat {one} alice mad-hatter hello")
    answer = terminal.do(f"pow2 chat {other} bob yes-we-can")
    assert answer.text == f"nobody has said anything in match {other} yet"


def test_the_players_talk_on_when_the_match_is_over_or_has_not_started(terminal):
    over = terminal.challenge()
    terminal.move(over, "bob", "resign")
    accepted(terminal, f"pow2 chat {over} alice mad-hatter thank you")
    accepted(terminal, "powerdrain challenge alice bob --gather")
    accepted(terminal, f"powerdrain chat {over + 1} bob yes-we-can what word do I give?")


@pytest.mark.parametrize("text", ["", " hello"])
@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("pow2 chat 1 carol sing-along", Code.NOT_A_PLAYER),
        ("pow2 chat 1 alice guessing", Code.WRONG_PASSWORD),
        ("pow2 chat 1 zoe mad-hatter", Code.UNKNOWN_USER),
        ("pow2 chat 7 alice mad-hatter", Code.UNKNOWN_BOARD),
        ("pow2 chat one alice mad-hatter", Code.UNKNOWN_BOARD),
        ("line chat 1 alice mad-hatter", Code.WRONG_GAME),
        ("chess chat 1 alice mad-hatter", Code.UNKNOWN_GAME),
    ],
)
def test_nobody_else_reads_or_writes_in_a_match(terminal, line, code, text):
    terminal.challenge()
    accepted(terminal, "pow2 chat 1 bob yes-we-can between us")
    answer = terminal.do(line + text)
    assert answer.code == code
    assert "between us" not in answer.text
    page = terminal.do("pow2 chat 1 alice mad-hatter").page
    assert page.endswith(" bob: between us")


def test_a_line_of_chat_has_two_thousand_characters_at_most(terminal):
    board = terminal.challenge()
    line = f"pow2 chat {board} alice mad-hatter {'x' * TEXT_LIMIT}"
    accepted(terminal, line)
    assert terminal.do(f"{line}y").code == Code.TOO_LONG


@pytest.mark.parametrize(
    "line",
    [
        "message alice mad-hatter bob mad-hatter hello",
        "message alice mad-hatter bob\nhello\nmad-hatter",
        "broadcast alice mad-hatter mad-hatter hello",
        "pow2 chat 1 alice mad-hatter hello mad-hatter",
    ],
)
def test_a_password_that_slipped_into_a_text_is_not_written_to_others(terminal, line):
    terminal.challenge()
    terminal.app.accounts.set_arbiter("alice", True)
    answer = terminal.do(line)
    assert answer.code == Code.BAD_REQUEST
    assert answer.sentence == "your password is in the text, too, so nothing was sent"
    assert box(terminal, "bob") == ["nobody has written to you"]
    assert (
        terminal.do("pow2 chat 1 bob yes-we-can").page == "nobody has said anything in match 1 yet"
    )


# repetitions, and too many


REPEATED = [
    "message alice mad-hatter bob,carol hello",
    "message alice mad-hatter bob carol\nhello",
    "broadcast alice mad-hatter hello",
    "pow2 chat 1 alice mad-hatter hello",
]


@pytest.mark.parametrize("line", REPEATED)
def test_what_is_repeated_with_its_key_is_written_once_and_answered_alike(terminal, line):
    terminal.challenge()
    terminal.app.accounts.set_arbiter("alice", True)
    assert len({terminal.do(line, "key-1") for _ in range(5)}) == 1
    read = "pow2 chat 1 bob yes-we-can" if "chat" in line else "messages bob yes-we-can"
    assert terminal.do(read).page.count("hello") == 1
    accepted(terminal, line, "key-2")
    assert terminal.do(read).page.count("hello") == 2


def test_a_key_is_its_senders_own(terminal):
    accepted(terminal, "message alice mad-hatter carol hello", "key-1")
    accepted(terminal, "message bob yes-we-can carol hello", "key-1")
    assert box(terminal, "carol") == ["bob: hello", "alice: hello"]


@pytest.mark.parametrize("line", [*REPEATED, "messages alice mad-hatter"])
def test_who_writes_too_much_in_a_minute_is_asked_to_wait(terminal, line):
    terminal.challenge()
    terminal.app.accounts.set_arbiter("alice", True)
    terminal.app.pace = CommandRateLimit(2)
    assert [terminal.do(line).code for _ in range(3)] == ["", "", Code.TOO_FAST]


def test_mail_that_came_back_is_told_to_who_reads_their_messages(terminal):
    accounts = terminal.app.accounts
    account = accounts.id_of("alice")
    accounts.add_addresses_of(account, ["a@b.org"])
    terminal.app.standing.mark_bounced(account, "a@b.org", "550 no such user")
    page = terminal.do("messages alice mad-hatter").page
    assert page.startswith("mail to a@b.org bounced: 550 no such user; `add alice password a@b")
    assert "came back" not in terminal.do("messages bob yes-we-can").page
    terminal.challenge()
    assert "a@b.org bounced" in terminal.do("pow2 showas alice mad-hatter").sentence
    assert "came back" not in terminal.do("pow2 show alice").text


def test_chat_that_is_shown_is_read(terminal):
    board = terminal.challenge()
    letters, bob = terminal.app.messages, terminal.app.accounts.id_of("bob")
    accepted(terminal, f"pow2 chat {board} alice mad-hatter hello - you")
    assert unread_chat(letters, bob) == {board: 1}
    assert "hello - you" in terminal.do(f"pow2 chat {board} bob yes-we-can").text
    assert unread_chat(letters, bob) == {}
