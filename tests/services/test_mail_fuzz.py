"""Whatever stands in a mail, it is read or refused, at once: a sample of `trials/fuzz/mails.py`."""

from itertools import islice

import pytest

from trials.fuzz import mails

SAMPLE = 1_000


@pytest.mark.slow
def test_mails_of_every_kind_are_read_or_refused_and_nothing_is_told_of_them():
    made = {}
    for kind, data in islice(mails.mails(seed=7), SAMPLE):
        result, _ = mails.check(data)
        made.setdefault(kind, set()).add(result.partition(",")[0])
    assert set(made) == {make.__name__ for make in mails.KINDS}
    assert all(results == {"read", "refused"} for results in made.values())


@pytest.mark.parametrize(("begin", "again"), mails.SLOW)
def test_what_is_made_to_be_slow_takes_time_in_line_with_its_size(begin, again):
    small, large = (
        min(mails.check(mails.repeated(begin, again, size))[1] for _ in range(3))
        for size in (8_000, 64_000)
    )
    assert large < 0.002 + 30 * small
