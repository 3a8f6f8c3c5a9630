"""Several commands in one: multiple."""

import re
from collections.abc import Iterator

import pytest

from domain.errors import Code
from infra.audit.stored_match import check
from tests.fakes.app import PASSWORDS, FakeApp, Terminal
from tests.helpers.lanes import LANE


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    app = FakeApp()
    yield Terminal(app)
    app.close()


def multiple(*lines: str) -> str:
    return "\n".join(["multiple", *lines])


def parts(page: str, count: int) -> list[str]:
    """The answers to so many commands."""
    numbered = "\n\n".join(f"{number}: (.*)" for number in range(1, count + 1))
    return list(re.fullmatch(numbered, page, re.DOTALL).groups())


def test_each_command_has_its_own_answer(terminal):
    lines = [
        "pow2 challenge alice bob",
        "pow2 move 1 alice mad-hatter m13-j7",
        "pow2 show 1#0",
        "message alice mad-hatter bob your turn",
    ]
    answer = terminal.do(multiple(*lines))
    assert answer.code == answer.sentence == ""
    one, two, three, four = parts(answer.page, 4)
    assert one.startswith("match 1, #0: Light (alice) challenges Dark (bob) to The Power of Two;")
    assert "match 1, #1: Light (alice) played m13-j7; it is Dark's turn (bob)\n" in two
    assert "#0: it is Light's turn (alice); it is now at #1" in three
    assert four == "bob will find it in `messages`"
    assert "holds" in check(terminal.app.store, 1)


def test_a_command_is_answered_as_if_it_had_come_alone(terminal):
    lines = ["help", "games", "help move", "list"]
    alone = [terminal.do(line).text for line in lines]
    page = terminal.do(multiple(*lines)).page
    assert page == "\n\n".join(f"{n}: {text}" for n, text in enumerate(alone, 1))


def test_a_refusal_is_shown_with_its_code_and_the_others_are_carried_out(terminal):
    answer = terminal.do(
        multiple(
            "signup dora marco-polo",
            "pow2 challenge alice zoe",
            "pow2 challenge alice dora",
            "pow2 move 1 dora guessing a13-d7",
        )
    )
    assert answer.code == Code.UNKNOWN_USER
    assert answer.refused
    assert answer.sentence == "lines 2, 4 were not accepted; see below"
    _, two, three, four = parts(answer.page, 4)
    assert two.startswith("unknown-user: there is no user 'zoe';")
    assert three.startswith("match 1, #0: ")
    assert four == "wrong-password: this is not the password of dora"


def test_one_refusal_is_told_as_one(terminal):
    answer = terminal.do(multiple("helpp", "help"))
    assert answer.code == Code.UNKNOWN_COMMAND
    assert answer.text.startswith("line 1 was not accepted; see below\n\n1: unknown-command: ")


def test_what_is_not_decided_in_time_is_pending_as_a_whole(terminal):
    board = terminal.challenge()
    terminal.app.awake = False
    text = multiple(f"pow2 move {board} alice mad-hatter m13-j7", "games")
    answer = terminal.do(text, "key", seconds=0.01)
    assert answer.pending
    one, two = parts(answer.page, 2)
    assert one.startswith("pending: match 1: ")
    assert "repeat the command with the key 'key/1' to learn its outcome" in one
    assert "\npow2: " in two


# repetition


def test_a_repetition_with_the_same_key_repeats_nothing_and_is_answered_alike(terminal):
    text = multiple(
        "pow2 challenge alice bob",
        "pow2 move 1 alice mad-hatter m13-j7",
        "pow2 move 1 bob yes-we-can a13-d7",
        "pow2 move 1 bob yes-we-can a1-a2",
        "message alice mad-hatter bob once",
        "pow2 chat 1 alice mad-hatter once",
    )
    assert len({terminal.do(text, "key-1") for _ in range(3)}) == 1
    assert terminal.do("pow2 show 2").code == Code.UNKNOWN_BOARD
    assert "\n#2: " in terminal.do("pow2 show 1").page
    assert terminal.do("messages bob yes-we-can").page.count("once") == 1
    assert terminal.do("pow2 chat 1 bob yes-we-can").page.count("once") == 1


def test_equal_commands_in_one_are_carried_out_each(terminal):
    line = "pow2 challenge alice bob"
    terminal.do(multiple(line, line), "key-1")
    assert terminal.do("pow2 show 1 2").code == ""
    assert terminal.do("pow2 show 3").code == Code.UNKNOWN_BOARD


def test_what_was_left_open_is_carried_out_by_the_repetition(terminal):
    text = multiple("pow2 challenge alice bob", "pow2 move 1 alice mad-hatter m13-j7")
    terminal.app.awake = False
    assert terminal.do(text, "key-1", seconds=0.01).code == Code.PENDING
    terminal.app.awake = True
    terminal.app._drain(LANE)  # as the keeper wakes a lane that lies idle
    assert terminal.do(text, "key-1").code == ""
    assert terminal.do("pow2 show 1").page.count("#1: it is Dark's turn") == 1
    assert terminal.do("pow2 show 2").code == Code.UNKNOWN_BOARD


@pytest.mark.parametrize("length", [1, 400, 401, 512])
def test_keys_that_differ_at_their_end_alone_mean_different_commands(terminal, length):
    text = multiple("pow2 challenge alice bob")
    for end in ("x", "y", "x"):
        assert terminal.do(text, "k" * (length - 1) + end).code == ""
    assert terminal.do("pow2 show 1 2").code == ""
    assert terminal.do("pow2 show 3").code == Code.UNKNOWN_BOARD


# what can stand in it


@pytest.mark.parametrize("first", ["multiple", "MULTIPLE", "  Multiple  "])
@pytest.mark.parametrize("blank", ["\n", "\r\n", "\n\n \t\n", "\n\u3000\n"])
def test_lines_without_words_are_passed_over_and_not_counted(terminal, first, blank):
    answer = terminal.do(blank.join([first, "games", "  list  ", "helpp"]))
    _, two, three = parts(answer.page, 3)
    assert two == "alice, bob and carol"
    assert three.startswith("unknown-command: ")
    assert answer.sentence == "line 3 was not accepted; see below"


@pytest.mark.parametrize("nested", ["multiple", "MULTIPLE", "  multiple games", "\tMultiple"])
def test_it_does_not_stand_inside_itself_and_then_nothing_is_carried_out(terminal, nested):
    answer = terminal.do(multiple("signup dora marco-polo", nested, "list"))
    assert answer.code == Code.USAGE
    assert answer.text == "`multiple` can't be used inside `multiple`"
    assert terminal.do("list").page == "alice, bob and carol"


def test_it_takes_fifty_commands_and_of_more_carries_out_none(terminal):
    answer = terminal.do(multiple(*["list", ""] * 50))
    assert answer.code == ""
    assert parts(answer.page, 50)[-1] == "alice, bob and carol"
    answer = terminal.do(multiple("signup dora marco-polo", *["list"] * 50))
    assert answer.code == Code.TOO_LONG
    assert answer.text == "`multiple` has 51 lines; the limit is 50"
    assert terminal.do("list").page == "alice, bob and carol"


@pytest.mark.parametrize(
    "text", ["multiple", "multiple\n", "multiple \r\n \t\n\n", "multiple list"]
)
def test_it_is_nothing_without_commands_on_lines_after_it(terminal, text):
    answer = terminal.do(text)
    assert answer.code == Code.USAGE
    assert answer.text.startswith("the form is `multiple and a command on each line after`")


def test_each_command_in_it_is_as_long_as_one_alone(terminal):
    text = f"message alice mad-hatter bob {'x' * 2_000}"
    lines = [text, f"{text}x", "pow2 challenge alice bob ".ljust(513, "-"), "x" * 2_601]
    answer = terminal.do(multiple(*lines))
    one, two, three, four = parts(answer.page, 4)
    assert one == "bob will find it in `messages`"
    assert two == "too-long: the text has 2001 characters; the limit is 2000"
    assert three == "too-long: the line has 513 characters; the limit is 512"
    assert four == "too-long: the line has 2601 characters; the limit is 2600"


def test_all_of_it_is_limited_too(terminal):
    line = "x" * 2_000
    answer = terminal.do(multiple(*[line] * 33))
    assert answer.code == Code.TOO_LONG
    assert answer.text == "the text has 66041 characters; the limit is 65536"


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\r"])
def test_only_a_newline_ends_a_command(terminal, sign):
    board = terminal.challenge()
    line = f"message alice mad-hatter bob hello{sign}pow2 resign {board} alice mad-hatter"
    alone = terminal.do(line)
    answer = terminal.do(multiple(line, "list"))
    one, two = parts(answer.page, 2)
    assert one == alone.text_with_code
    assert two == "alice, bob and carol"
    assert "it is Light's turn (alice)" in terminal.do(f"pow2 show {board}").page


def test_a_message_in_it_has_its_text_on_the_lines_below(terminal):
    text = multiple("message alice mad-hatter bob carol", "Shall we?", "Yes", "pow2 gmaes", "games")
    first, second, _ = parts(terminal.do(text).page, 3)
    assert first == "bob and carol will find it in `messages`"
    # what begins with a game is meant as a command, even if it is wrong
    assert second.startswith("unknown-command: ")
    for name in ("bob", "carol"):
        assert terminal.do(f"messages {name} {PASSWORDS[name]}").page.endswith(
            "alice: Shall we?\n    Yes"
        )
