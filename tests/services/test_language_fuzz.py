"""Whatever is typed is answered; `trials/fuzz/commands.py` has the million."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import Code
from services.language import Answer
from tests.fakes.app import FakeApp, Terminal
from tests.helpers.examples import examples
from trials.fuzz.commands import KINDS, check, run
from trials.fuzz.lines import EXAMPLES, NEW, PASSWORDS

SECRET = PASSWORDS["alice"]


@pytest.fixture(scope="module")
def terminal() -> Iterator[Terminal]:
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
def test_any_text_is_answered(terminal, line, key):
    check(line, terminal.do(line, key))


@given(lines=st.lists(st.sampled_from(EXAMPLES) | st.text(max_size=40), max_size=52))
def test_any_texts_are_answered_together(terminal, lines):
    text = "\n".join(["multiple", *lines])
    check(text, terminal.do(text))


# the checks are worth something


@pytest.mark.parametrize(
    "answer",
    [
        Answer(),
        Answer("it happened", code="nonsense"),
        *[Answer("no", code=code) for code in (Code.INTERNAL, Code.UNAVAILABLE, Code.PENDING)],
    ],
)
def test_an_answer_that_there_should_not_be_is_noticed(answer):
    with pytest.raises(AssertionError):
        check("help", answer)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (f"messages alice {SECRET}", SECRET),
        (f"messages alice {SECRET}", SECRET.upper()),
        (f"change password alice {SECRET} {NEW}", NEW),
        (f"alice {SECRET} messages", SECRET),
        (f"pow2 move 1 alice {SECRET} {SECRET}", SECRET),
    ],
)
def test_an_answer_with_the_lines_own_password_is_noticed(line, told):
    answer = Answer(f"there is no {told!r}", code=Code.USAGE)
    check(line, Answer("there is none", code=Code.USAGE))
    with pytest.raises(AssertionError):
        check(line, answer)
    among = f"multiple\nhelp\n \n{line}\ngames"
    check(among, Answer("see below", f"1: {told}\n\n2: none\n\n3: {told}", Code.USAGE))
    with pytest.raises(AssertionError):
        check(among, Answer("see below", f"1: help\n\n2: {told}\n\n3: games", Code.USAGE))


def test_what_is_no_password_in_a_line_may_be_repeated():
    line = f"pow2 history {SECRET}"
    check(line, Answer(f"there is no user {SECRET!r}", code=Code.UNKNOWN_USER))
    check(f"multiple\n{line}", Answer("see below", f"1: there is no user {SECRET!r}", Code.USAGE))
