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
    chance: Random, end: int, hours: Sequence[int], pace: float, most: int
) -> list[int]:
    """Return the times of as many moves as there are `hours`, the last of them at `end`.

    `hours` says for the person of each move by how many hours its day begins later than that of UTC.
    A move takes about `pace` hours, and at most `most` ms, apart from the night.
    """
    times = [end]
    for late in reversed(hours[:-1]):
        delay = round(chance.lognormvariate(math.log(pace), _SPREAD) * HOUR)
        times.append(_awake(chance, times[-1] - max(_LEAST, min(delay, most)), late))
    return times[::-1]


def _awake(chance: Random, time: int, late: int) -> int:
    """Return a time at which the person is awake: if it is not at this one, the evening before."""
    asleep = (time // HOUR + late) % 24
    if asleep >= _WAKES:
        return time
    return time - asleep * HOUR - round(chance.random() * 2 * HOUR)
