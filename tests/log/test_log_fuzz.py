"""Whatever is in the place of a note, a tile or a page, it is read or refused: a sample of `trials/fuzz/logs.py`."""

from itertools import islice

import pytest

from infra.store import locators
from trials.fuzz import logs

SAMPLE = 400


@pytest.mark.parametrize("name", logs.readers())
def test_what_is_read_is_written_as_the_same_bytes_and_all_else_is_refused(name: str) -> None:
    reader = logs.readers()[name]
    made = {logs.check(reader, *one)[0] for one in islice(logs.inputs(reader, seed=3), SAMPLE)}
    assert {"valid, read", "changed, read", "changed, refused"} <= made


def test_a_number_of_a_locator_that_never_ends_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="an index of the locator has too many bytes"):
        locators.decode(b"\x80" * 10_000_000)
    assert locators.decode(locators.encode([2**63 - 1])) == [2**63 - 1]
