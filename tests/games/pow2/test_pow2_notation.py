"""What is read of a move's text, whatever the text; `trials/fuzz/notations.py` has the millions."""

from itertools import islice

import pytest

from trials.fuzz.notations import check, texts


@pytest.mark.parametrize("seed", range(2))
def test_valid_mutated_odd_and_long_texts_are_read_or_refused(seed):
    seen = {check(text, meant)[0] for _, (text, meant) in islice(texts(seed), 5_000)}
    assert seen == {"read", "refused"}
