"""The terms that only one form of tournaments has, as the first event of a tournament records them.

The order of the fields is final, and a new one comes at the end with a default.
"""

import msgspec


class StageTerms(msgspec.Struct, frozen=True, array_like=True):
    """A further stage of a round robin: how many go on to it, and its sections."""

    first: int
    """How many go on from each section of the stage before."""
    total: int
    """How many go on in all; the best next ones fill up."""
    section: int
    """Players of a whole section."""
    cycles: int = 1
    by_rating: bool = False
    """Whether its sections are made equally strong by rating, and not by the places of the stage before."""


class KnockoutTerms(msgspec.Struct, frozen=True, array_like=True):
    """The ties of a knockout."""

    extra: int = 0
    """How many more matches a drawn tie gets, once; if it is still drawn, the earlier seed goes on."""
    third_place: bool = False
    """Whether those who lose the semifinals play for the third place."""


class SwissTerms(msgspec.Struct, frozen=True, array_like=True):
    """The rounds of a Swiss tournament."""

    rounds: int


class LeagueTerms(msgspec.Struct, frozen=True, array_like=True):
    """The divisions of a league, and how many players change them from one season to the next."""

    size: int
    """Players of a division."""
    up: int
    """How many are promoted from each division but the first."""
    down: int
    """How many are relegated from each division but the last."""
    seasons: int
    """How many seasons are played."""


class TeamTerms(msgspec.Struct, frozen=True, array_like=True):
    """The teams of a tournament in which teams meet."""

    size: int
    """How many of each team play: the first meets the first of the other team, and so on."""


class LadderTerms(msgspec.Struct, frozen=True, array_like=True):
    """The rules of a ladder."""

    reach: int = 3
    """How many places above a challenge may go."""
    running: int = 2
    """How many matches of a player may run at a time."""
    rest: int = 14
    """Days that the same two wait after their last match."""
    insertion: bool = True
    """Whether a challenger who wins takes the place and all between move down one; otherwise the two swap."""
    silence: int = 60
    """Days without a challenge or a result after which a player drops; 0 for never."""
    drop: int = 5
    """How many places a silent player drops; 0 for to the bottom."""
