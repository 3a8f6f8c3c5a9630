"""What a refused call says."""

from collections.abc import Callable

import pytest

from domain.errors import Code, Refusal


def refused(code: Code, call: Callable[..., object], *args: object) -> str:
    with pytest.raises(Refusal) as caught:
        call(*args)
    assert caught.value.code is code
    return caught.value.sentence
