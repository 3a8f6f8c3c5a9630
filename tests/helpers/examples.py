"""How many examples are tried: a sample in each run, and far more by hand.

.venv/bin/pytest tests --hypothesis-profile=full

What a refused call says; and the next millisecond.
"""

import time
from collections.abc import Callable

import pytest
from hypothesis import settings

from domain.errors import Code, Refusal

FULL = settings.get_current_profile_name() == "full"
"""Whether the run is one by hand, with the full counts."""


def examples(sample: int, full: int) -> settings:
    """So many examples, or with the profile `full` as many as that."""
    return settings(max_examples=full if FULL else sample)


def next_millisecond() -> None:
    """Wait until what is made now has a later time than what was made before: lists are ordered by it."""
    time.sleep(0.002)


def refused(code: Code, call: Callable[..., object], *args: object, **named: object) -> str:
    with pytest.raises(Refusal) as caught:
        call(*args, **named)
    assert caught.value.code is code
    return caught.value.sentence
