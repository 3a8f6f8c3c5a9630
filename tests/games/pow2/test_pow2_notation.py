"""What is read of a move's text, whatever the text; `trials/fuzz/notations.py` has the millions."""

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.boards.pow2_board import NAMES
from domain.games.pow2.rules import HAND, Pow2Move
from tests.helpers.examples import examples
from trials.fuzz.notations import RULES, check, texts

PLACES = st.integers(0, len(NAMES) - 1)
MOVES = st.builds(Pow2Move, PLACES, PLACES, st.integers(0, (1 << len(NAMES)) - 1)) | st.builds(
    Pow2Move, st.just(HAND), PLACES
)


@examples(300, 20_000)
@given(move=MOVES)
def test_a_move_that_was_written_is_read_as_itself(move):
    assert RULES.read(RULES.write(move)) == move


@examples(300, 20_000)
@given(text=st.text(max_size=600) | st.text("abgijlm0159-:, \u212a", max_size=40))
def test_any_text_is_read_or_refused_as_unreadable(text):
    check(text, None)


@pytest.mark.parametrize("seed", range(2))
def test_valid_mutated_odd_and_long_texts_are_read_or_refused(seed):
    seen = {check(text, meant)[0] for _, (text, meant) in islice(texts(seed), 5_000)}
    assert seen == {"read", "refused"}
