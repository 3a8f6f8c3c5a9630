"""Several commands in one, `multiple`; and whatever is typed is answered: `trials/fuzz/commands.py` has the million."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import Code
from infra.audit.stored_match import check as check_match
from tests.helpers.examples import examples
from trials.fuzz.commands import KINDS, run


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


@pytest.mark.slow
@examples(1, 20)
@given(seed=st.integers(0, 2**32))
def test_lines_of_every_kind_are_each_answered_and_no_password_in_any(seed):
    assert {kind for kind, *_ in run(1_000, seed)} == KINDS
