"""Work at intervals."""

import pytest

from infra.process.intervals import every


class Clock:
    """A timer that is set by hand, and the times at which work was done."""

    def __init__(self) -> None:
        self.now = 0.0
        self.done: list[float] = []

    def __call__(self) -> float:
        return self.now

    def work(self) -> None:
        """Note that it was done."""
        self.done.append(self.now)

    def turn(self, tick, until: int) -> list[float]:
        """Call once a second; return when the work was done."""
        for second in range(until):
            self.now = float(second)
            tick()
        return self.done


@pytest.mark.parametrize(
    ("first", "done"), [(0.0, [0.0, 3.0, 6.0, 9.0]), (5.0, [5.0, 8.0])], ids=["at once", "later"]
)
def test_work_is_done_at_intervals_after_the_first_time(first: float, done: list[float]) -> None:
    clock = Clock()
    assert clock.turn(every(3.0, clock.work, clock, first=first), 10) == done


def test_work_chooses_its_next_interval_by_a_float_and_by_nothing_else() -> None:
    clock = Clock()
    answers = iter([2.0, True, None, 1.0])

    def work() -> object:
        clock.work()
        return next(answers)

    assert clock.turn(every(4.0, work, clock), 11) == [0.0, 2.0, 6.0, 10.0]


def test_work_that_fails_is_tried_again_after_the_interval() -> None:
    clock = Clock()

    def work() -> None:
        clock.work()
        raise OSError("away")

    tick = every(3.0, work, clock)
    for second in range(5):
        clock.now = float(second)
        if second in (0, 3):
            with pytest.raises(OSError, match="away"):
                tick()
        else:
            tick()
    assert clock.done == [0.0, 3.0]
