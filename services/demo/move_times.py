"""The times of moves: people answer within hours or days, and sleep at night."""

import math
from collections.abc import Sequence
from random import Random
from typing import Final

from services.demo.match_plan import HOUR, MINUTE

_WAKES: Final = 7
"""The hour at which a person's day begins."""

_LEAST: Final = 3 * MINUTE
_SPREAD: Final = 1.0


def times_before(
    chance: Random, end: int, hours: Sequence[int | None], pace: float, most: int
) -> list[int]:
    """Return the times of as many moves as there are `hours`, the last of them at `end`.

    `hours` says for the person of each move by how many hours its day begins later than that of UTC,
    and is None for a robot, which answers within seconds. A person's move takes about `pace` hours, and
    at most `most` ms, apart from the night.
    """
    times = [end]
    for number in range(len(hours) - 1, 0, -1):
        if hours[number] is None:
            times.append(times[-1] - answer_time(chance))
            continue
        delay = round(chance.lognormvariate(math.log(pace), _SPREAD) * HOUR)
        # what a robot answers is the move of a person before it
        awake = next((late for late in reversed(hours[:number]) if late is not None), 0)
        times.append(_awake(chance, times[-1] - max(_LEAST, min(delay, most)), awake))
    return times[::-1]


def answer_time(chance: Random) -> int:
    """Return the ms that a robot takes for a move."""
    return round(chance.uniform(3, 9) * MINUTE / 60)


def _awake(chance: Random, time: int, late: int) -> int:
    """Return a time at which the person is awake: if it is not at this one, the evening before."""
    asleep = (time // HOUR + late) % 24
    if asleep >= _WAKES:
        return time
    return time - asleep * HOUR - round(chance.random() * 2 * HOUR)
