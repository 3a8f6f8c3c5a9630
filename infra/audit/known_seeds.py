"""Seeds of draws that were checked: each leads back to the anchor of its chain."""

from bisect import bisect_right

from domain.fairness import SetupDraw, earlier_seed


class KnownSeeds:
    """Seeds that lead back to the anchors of their chains, so that a later one leads to the nearest of them."""

    def __init__(self) -> None:
        self._seeds: dict[tuple[int, int], dict[int, bytes]] = {}
        self._numbers: dict[tuple[int, int], list[int]] = {}

    def leads_back(self, shard: int, draw: SetupDraw, anchor: bytes) -> bool:
        """Return whether the seed of a draw leads back to its chain's anchor."""
        chain = shard, draw.chain
        seeds = self._seeds.setdefault(chain, {0: anchor})
        numbers = self._numbers.setdefault(chain, [0])
        at = bisect_right(numbers, draw.k)
        nearest = numbers[at - 1]
        if earlier_seed(draw.seed, draw.k - nearest) != seeds[nearest]:
            return False
        if nearest != draw.k:
            numbers.insert(at, draw.k)
            seeds[draw.k] = draw.seed
        return True
