"""Results of matches for three, written as the places of the seats: `1-2-2` is a win of the first seat.

The losers share the second place there. In `1-1-3` two share the first.
"""

from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from typing import Final

from domain.ratings import ranking
from domain.rules import Seat
from domain.tournament.results import Encounter, Half, PointScheme, Tally
from domain.tournament.threes import Three

SEATS: Final = 3

NO_PLACES: Final = "0-0-0"
"""Of a match that was annulled, for which nobody gets points."""


def places_text(places: Sequence[int]) -> str:
    """Return the result that gives each seat its place."""
    return "-".join(map(str, places))


def places_in(result: str) -> tuple[int, ...]:
    """Return the place of each seat; zeros for `NO_PLACES`."""
    return tuple(map(int, result.split("-")))


def won_by(winners: Collection[Seat]) -> str:
    """Return the result in which these seats share the first place, and the others the next."""
    return places_text(ranking(SEATS, winners, ()))


ALL_SHARE: Final = won_by((0, 1, 2))

RULED_RESULTS: Final = tuple(
    won_by(winners) for winners in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2))
)
"""Those that a ruling can give: it names the winners alone."""


def place_points(places: Sequence[int], points: Sequence[Fraction]) -> list[Fraction]:
    """Return the points of each seat; `points` are those of the places. Seats that share places share their points."""
    found = []
    for place in places:
        shared = points[place - 1 : place - 1 + places.count(place)]
        found.append(sum(shared, Fraction(0)) / len(shared) if place else Fraction(0))
    return found


class ThreeTally(Tally):
    """The matches for three that count, by player, and the points made in them.

    For tie-breaks each match is an encounter with each of the two others, won against whom a player is placed ahead of.
    """

    parts = 12  # a half or a third of the points is even

    def __init__(
        self,
        players: int,
        points: tuple[float, float, float],
        matches: Iterable[tuple[Three, str]],
        byes: Iterable[int],
    ) -> None:
        """Count matches, whose result is empty while they go on, and for each of the `byes` the points of second place."""
        first, second, third = points
        super().__init__(players, PointScheme(win=first, draw=second, loss=third), ())
        worth = [Fraction(one) for one in reversed(self.worth)]
        for seats, result in matches:
            if not result:
                for player in seats:
                    self.open[player] += 1
                continue
            places = places_in(result)
            for player, made in zip(seats, place_points(places, worth), strict=True):
                self.points[player] += int(made)
            if result != NO_PLACES:
                self._meet(seats, places)
        for player in byes:
            self.points[player] += int(worth[1])

    def _meet(self, seats: Three, places: Sequence[int]) -> None:
        for seat, player in enumerate(seats):
            for other in range(SEATS):
                if other != seat:
                    half = Half(1 + (places[seat] < places[other]) - (places[seat] > places[other]))
                    made = half * self.unit // Half.WON
                    met = Encounter(seats[other], half, made, seat, played=True)
                    self.encounters[player].append(met)
