"""Promotion and relegation between the divisions of a league, by numbers."""

from collections.abc import Collection, Sequence

import msgspec

from domain.tournament.sections import FEWEST_IN_SECTION


class LeagueNumbers(msgspec.Struct, frozen=True):
    """The numbers of a league. Raises `ValueError` if more move than a division has."""

    size: int
    """Players of a division; the last one may have fewer, and up to two more."""
    up: int
    """How many are promoted from each division but the first."""
    down: int
    """How many are relegated from each division but the last."""

    def __post_init__(self) -> None:
        if (
            self.size < FEWEST_IN_SECTION
            or min(self.up, self.down) < 0
            or self.up + self.down > self.size
        ):
            raise ValueError(f"no league has these numbers: {self}")


def next_season(
    divisions: Sequence[Sequence[int]],
    numbers: LeagueNumbers,
    leavers: Collection[int] = (),
    newcomers: Sequence[int] = (),
) -> list[list[int]]:
    """Return the divisions of the next season, from those of the last one, each in the order of its places.

    The last `down` of a division are relegated, leavers among them included; the first `up` of those who stay are
    promoted. Those who leave a gap are replaced by the next best of the division below. Newcomers are at the bottom, in
    new divisions if need be. Fewer than three who would be alone at the bottom join the division above.
    """
    gone = frozenset(leavers)
    last = len(divisions) - 1
    order: list[int] = []
    relegated: list[int] = []
    promoted = [_promoted(division, numbers, gone) for division in divisions[1:]]
    for number, division in enumerate(divisions):
        falling = division[max(0, len(division) - numbers.down) :] if number < last else []
        # in a short division somebody may be among the first and among the last
        rising = promoted[number - 1] if number else []
        moving = gone.union(rising, falling)
        order += [player for player in division if player not in moving]
        order += relegated
        order += promoted[number] if number < last else []
        relegated = [player for player in falling if player not in gone.union(rising)]
    order += newcomers
    cut = [order[start : start + numbers.size] for start in range(0, len(order), numbers.size)]
    if len(cut) > 1 and len(cut[-1]) < FEWEST_IN_SECTION:
        alone = cut.pop()
        cut[-1] += alone
    return cut


def _promoted(division: Sequence[int], numbers: LeagueNumbers, gone: Collection[int]) -> list[int]:
    return [player for player in division if player not in gone][: numbers.up]
