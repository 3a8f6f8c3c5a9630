"""Several commands in one, `multiple`; and whatever is typed is answered: `trials/fuzz/commands.py` has the million."""

import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import Code
from infra.audit.stored_match import check as check_match
from services.language import Answer
from tests.fakes.app import FakeApp, Terminal
from tests.helpers.examples import examples
from tests.helpers.lanes import LANE
from trials.fuzz.commands import KINDS, check, run
from trials.fuzz.lines import EXAMPLES, NEW, PASSWORDS


def multiple(*lines: str) -> str:
    return "\n".join(["multiple", *lines])


def parts(page: str, count: int) -> list[str]:
    """The answers to so many commands."""
    numbered = "\n\n".join(f"{number}: (.*)" for number in range(1, count + 1))
    return list(re.fullmatch(numbered, page, re.DOTALL).groups())


def test_each_command_is_answered_as_if_it_had_come_alone(terminal):
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
    assert "holds" in check_match(terminal.app.store, 1)
    lines = ["help", "games", "help move", "list"]
    alone = [terminal.do(line).text for line in lines]
    page = terminal.do(multiple(*lines)).page
    assert page == "\n\n".join(f"{n}: {text}" for n, text in enumerate(alone, 1))


def test_refusals_are_shown_with_their_codes_and_the_others_are_carried_out(terminal):
    lines = [
        "signup dora marco-polo",
        "pow2 challenge alice zoe",
        "pow2 challenge alice dora",
        "pow2 move 1 dora guessing a13-d7",
    ]
    answer = terminal.do(multiple(*lines))
    assert answer.code == Code.UNKNOWN_USER
    assert answer.refused
    assert answer.sentence == "lines 2, 4 were not accepted; see below"
    _, two, three, four = parts(answer.page, 4)
    assert two.startswith("unknown-user: there is no user 'zoe';")
    assert three.startswith("match 1, #0: ")
    assert four == "wrong-password: this is not the password of dora"
    answer = terminal.do(multiple("helpp", "help"))
    assert answer.code == Code.UNKNOWN_COMMAND
    assert answer.text.startswith("line 1 was not accepted; see below\n\n1: unknown-command: ")


def test_a_repetition_with_the_same_key_repeats_nothing_and_is_answered_alike(terminal):
    text = multiple(
        "pow2 challenge alice bob",
        "pow2 challenge alice bob",
        "pow2 move 1 alice mad-hatter m13-j7",
        "pow2 move 1 bob yes-we-can a13-d7",
        "pow2 move 1 bob yes-we-can a1-a2",
        "message alice mad-hatter bob once",
        "pow2 chat 1 alice mad-hatter once",
    )
    assert len({terminal.do(text, "key-1") for _ in range(3)}) == 1
    assert terminal.do("pow2 show 1 2").code == ""
    assert terminal.do("pow2 show 3").code == Code.UNKNOWN_BOARD
    assert "\n#2: " in terminal.do("pow2 show 1").page
    assert terminal.do("messages bob yes-we-can").page.count("once") == 1
    assert terminal.do("pow2 chat 1 bob yes-we-can").page.count("once") == 1


def test_what_is_not_decided_in_time_is_pending_and_carried_out_by_the_repetition(terminal):
    text = multiple("pow2 challenge alice bob", "pow2 move 1 alice mad-hatter m13-j7", "games")
    terminal.app.awake = False
    answer = terminal.do(text, "key", seconds=0.01)
    assert answer.pending
    one, _, three = parts(answer.page, 3)
    assert one.startswith("pending: match 1: ")
    assert "repeat the command with the key 'key/1' to learn its outcome" in one
    assert "\npow2: " in three
    terminal.app.awake = True
    terminal.app._drain(LANE)  # as the keeper wakes a lane that lies idle
    assert terminal.do(text, "key").code == ""
    assert terminal.do("pow2 show 1").page.count("#1: it is Dark's turn") == 1
    assert terminal.do("pow2 show 2").code == Code.UNKNOWN_BOARD


@pytest.mark.parametrize("length", [1, 400, 401, 512])
def test_keys_of_every_length_are_told_apart(terminal, length):
    text = multiple("pow2 challenge alice bob")
    for end in ("x", "y", "x"):
        assert terminal.do(text, "k" * (length - 1) + end).code == ""
    assert terminal.do("pow2 show 1 2").code == ""
    assert terminal.do("pow2 show 3").code == Code.UNKNOWN_BOARD


@pytest.mark.parametrize("first", ["MULTIPLE", "  Multiple  "])
@pytest.mark.parametrize("blank", ["\n", "\r\n", "\n\n \t\n", "\n\u3000\n"])
def test_lines_without_words_are_passed_over_and_not_counted(terminal, first, blank):
    answer = terminal.do(blank.join([first, "games", "  list  ", "helpp"]))
    _, two, three = parts(answer.page, 3)
    assert two == "alice, bob and carol"
    assert three.startswith("unknown-command: ")
    assert answer.sentence == "line 3 was not accepted; see below"


NESTED = "`multiple` can't be used inside `multiple`"
FORM = "the form is `multiple and a command on each line after`"


def test_what_can_not_be_one_carries_out_nothing_of_it(terminal):
    signup = "signup dora marco-polo"
    for text, code, said in (
        *((multiple(signup, nested, "list"), Code.USAGE, NESTED)
          for nested in ("multiple", "MULTIPLE", "  multiple games", "\tMultiple")),
        (multiple(signup, *["list"] * 50), Code.TOO_LONG, "`multiple` has 51 lines; the limit is 50"),
        (multiple(signup, *["x" * 2_000] * 33), Code.TOO_LONG, "the text has 66064 characters; the limit is 65536"),
        *((text, Code.USAGE, FORM) for text in ("multiple", "multiple\n", "multiple \r\n \t\n\n", "multiple list")),
    ):  # fmt: skip
        answer = terminal.do(text)
        assert (answer.code, answer.text[: len(said)]) == (code, said)
        assert terminal.do("list").page == "alice, bob and carol"
    answer = terminal.do(multiple(*["list", ""] * 50))
    assert answer.code == ""
    assert parts(answer.page, 50)[-1] == "alice, bob and carol"


def test_each_command_in_it_is_as_long_as_one_alone(terminal):
    text = f"message alice mad-hatter bob {'x' * 2_000}"
    lines = [text, f"{text}x", "pow2 challenge alice bob ".ljust(513, "-"), "x" * 2_601]
    answer = terminal.do(multiple(*lines))
    one, two, three, four = parts(answer.page, 4)
    assert one == "bob will find it in `messages`"
    assert two == "too-long: the text has 2001 characters; the limit is 2000"
    assert three == "too-long: the line has 513 characters; the limit is 512"
    assert four == "too-long: the line has 2601 characters; the limit is 2600"


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
    for reader in ("bob yes-we-can", "carol sing-along"):
        assert terminal.do(f"messages {reader}").page.endswith("alice: Shall we?\n    Yes")


# whatever is typed


@pytest.fixture(scope="module")
def shared() -> Iterator[Terminal]:
    app = FakeApp()
    yield Terminal(app)
    app.close()


@pytest.mark.slow
@examples(1, 20)
@given(seed=st.integers(0, 2**32))
def test_lines_of_every_kind_are_each_answered_and_no_password_in_any(seed):
    assert {kind for kind, *_ in run(3_000, seed)} == KINDS


@examples(200, 5_000)
@given(line=st.text(max_size=600), key=st.none() | st.text(max_size=20))
def test_any_text_is_answered(shared, line, key):
    check(line, shared.do(line, key))


@given(lines=st.lists(st.sampled_from(EXAMPLES) | st.text(max_size=40), max_size=52))
def test_any_texts_are_answered_together(shared, lines):
    text = multiple(*lines)
    check(text, shared.do(text))


SECRET = PASSWORDS["alice"]


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("help", Answer()),
        ("help", Answer("it happened", code="nonsense")),
        *[("help", Answer("no", code=code)) for code in (Code.INTERNAL, Code.UNAVAILABLE, Code.PENDING)],
        *[(line, Answer(f"there is no {told!r}", code=Code.USAGE)) for line, told in (
            (f"messages alice {SECRET}", SECRET.upper()),
            (f"change password alice {SECRET} {NEW}", NEW),
            (f"alice {SECRET} messages", SECRET),
            (f"pow2 move 1 alice {SECRET} {SECRET}", SECRET),
        )],
        (f"multiple\nhelp\n \nmessages alice {SECRET}\ngames", Answer("see below", f"1: help\n\n2: {SECRET}\n\n3: games", Code.USAGE)),
    ],
)  # fmt: skip
def test_an_answer_that_there_should_not_be_is_noticed(line, answer):
    with pytest.raises(AssertionError):
        check(line, answer)


def test_what_is_no_password_in_a_line_may_be_repeated():
    line = f"pow2 history {SECRET}"
    check(f"messages alice {SECRET}", Answer("there is none", code=Code.USAGE))
    check(line, Answer(f"there is no user {SECRET!r}", code=Code.UNKNOWN_USER))
    among = f"multiple\nhelp\n \nmessages alice {SECRET}\ngames"
    check(among, Answer("see below", f"1: {SECRET}\n\n2: none\n\n3: {SECRET}", Code.USAGE))
