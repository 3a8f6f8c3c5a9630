"""The terms of a tournament, which its first event fixes for good."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import msgspec

from domain.clocks.time_control import TimeControl
from domain.tournament.entry_terms import EntryTerms
from domain.tournament.form_terms import (
    KnockoutTerms,
    LadderTerms,
    LeagueTerms,
    StageTerms,
    SwissTerms,
    TeamTerms,
)
from domain.tournament.sections import FEWEST_IN_SECTION, MOST_IN_SECTION

SECTION_SIZES: Final = range(FEWEST_IN_SECTION, MOST_IN_SECTION + 1)
"""Players of a section."""

MOST_CYCLES: Final = 2

MOST_ENTRANTS: Final = 10_000
"""Players of a tournament: its state is read and written with each command, see `docs/design/072-ten-thousand-entrants.md`."""

MOST_PAIRINGS: Final = 75_000
"""Matches of a round robin of more than `MOST_IN_ONE_TABLE` players: a decision about more takes too long."""

MOST_IN_ONE_TABLE: Final = 1_500
"""Players of a knockout, whose round is one event of less than 64 KiB, and of a ladder."""

MOST_IN_SWISS: Final = 200
"""Players of a Swiss tournament: pairing more takes too long."""

SWISS_ROUNDS: Final = range(2, 16)
MOST_IN_THREES: Final = 99
"""Players of groups of three: the search for more groups takes too long."""

THREES_ROUNDS: Final = range(1, 10)
MOST_IN_LEAGUE: Final = 300
"""Players of a league, those included who have left."""

TEAM_SIZES: Final = range(2, 21)
"""How many of a team play."""

MOST_TEAMS: Final = 16
MOST_RESERVES: Final = 10
"""Players whom a captain names beyond those who play."""

MOST_POINTS: Final = 10_000

MOST_FINISHED: Final = 1_000
"""The most finished matches that an entry may ask for."""

MOST_DAYS: Final = 1_000
"""Of a round, a stage or a season."""

LOT: Final = "lot"
"""The tie-break that comes last, if it does: a lot that is drawn at the start."""

USUAL_TIEBREAKS: Final = ("direct", "sonneborn-berger", "wins")

THREES_TIEBREAKS: Final = ("direct", "sonneborn-berger")

SWISS_TIEBREAKS: Final = ("buchholz", "sonneborn-berger", "wins")

ONE_POINT: Final = 100
"""Points are counted in hundredths, so that halves and thirds of places add up exactly."""

USUAL_PLACE_POINTS: Final = (2 * ONE_POINT, ONE_POINT, 0)
"""For the first, second and third place in groups of three."""


class TournamentForm(StrEnum):
    """The forms of tournaments."""

    ROUND_ROBIN = "round-robin"
    """In sections: everybody against everybody, all matches at once; the best may go on to further stages."""
    KNOCKOUT = "knockout"
    """Ties, of which the winners go on."""
    SWISS = "swiss"
    """A fixed number of rounds, in each of which players of about the same points meet."""
    LADDER = "ladder"
    """Players challenge those above them, and take their places; it has no end of its own."""
    LEAGUE = "league"
    """Divisions, with promotion and relegation from season to season."""
    TEAMS = "teams"
    """Teams, whose players meet those of every other team, each the one at the same place."""
    THREES = "threes"
    """Groups of three at a game for three, in a number of rounds, with points by place."""


class TournamentTerms(msgspec.Struct, frozen=True, array_like=True):
    """The terms of a tournament.

    Its first event records them, so the order of the fields is final and a new one comes at the end with a default.
    """

    form: str
    """A `TournamentForm`."""
    rules: str
    """The rules and their version, such as `pow2/1`."""
    options: tuple[str, ...]
    """The game's options, as a match records them."""
    clock: TimeControl
    section: int
    """The number of players of a whole section; 0 in forms without sections."""
    cycles: int = 1
    """How many matches each pair plays, with sides exchanged from one to the next; in groups of three the rounds."""
    points: tuple[int, int, int] = (ONE_POINT, ONE_POINT // 2, 0)
    """For a win, a draw and a loss, in groups of three for the first, second and third place; in hundredths."""
    tiebreaks: tuple[str, ...] = USUAL_TIEBREAKS
    """Names of `FROM_RESULTS`, in their order, and maybe `LOT` at the end."""
    capacity: int = 0
    """The most players, those who come later wait; 0 for `MOST_ENTRANTS`."""
    when_full: bool = False
    """Whether it starts when its capacity is reached."""
    starts: int = 0
    """When it starts, ms since 1970; 0 for no date."""
    least_rating: int = 0
    """The least rating of an entrant; 0 for any."""
    most_rating: int = 0
    """The highest rating of an entrant; 0 for any."""
    club: str = ""
    """The id of the club whose members alone may enter; empty for all."""
    robots: bool = False
    """Whether the organiser may enter robots."""
    days: int = 0
    """The days of a round, a stage or a season, after which it ends; 0 for no end but that of its matches."""
    stages: tuple[StageTerms, ...] = ()
    """The further stages of a round robin."""
    knockout: KnockoutTerms | None = None
    swiss: SwissTerms | None = None
    league: LeagueTerms | None = None
    ladder: LadderTerms | None = None
    teams: TeamTerms | None = None
    least_finished: int = 0
    """How many matches an entrant has to have finished before, at any game."""
    entry: EntryTerms = EntryTerms()
    by_code: bool = False
    """Whether an entry needs the tournament's code, which is in no event."""
    seed_by_lot: bool = False
    """Whether players are seeded by lot, and not by rating."""

    @property
    def seats(self) -> int:
        """The players of each match."""
        return 3 if self.form == TournamentForm.THREES else 2

    @property
    def rounds(self) -> int:
        """The rounds of a Swiss tournament, or of groups of three; 0 in other forms."""
        if self.form == TournamentForm.THREES:
            return self.cycles
        return self.swiss.rounds if self.swiss else 0

    @property
    def room(self) -> int:
        """The most players."""
        return self.capacity or self.most

    @property
    def most(self) -> int:
        """The most players that a tournament of its form can have."""
        if self.form == TournamentForm.ROUND_ROBIN:
            return max(MOST_IN_ONE_TABLE, min(MOST_ENTRANTS, self._most_in_sections))
        return _MOST.get(self.form, MOST_ENTRANTS)

    @property
    def _most_in_sections(self) -> int:
        """How many players `MOST_PAIRINGS` are enough for, with those of all further stages."""
        later = sum(one.total * (one.section - 1) * one.cycles for one in self.stages)
        return (2 * MOST_PAIRINGS - later) // max(1, (self.section - 1) * self.cycles)

    @property
    def least(self) -> int:
        """The least players with which it starts."""
        if self.teams is not None:
            return 2 * self.teams.size
        return fewest_to_start(self.form, self.swiss.rounds if self.swiss else 0)


_MOST: Final[Mapping[str, int]] = {
    TournamentForm.KNOCKOUT: MOST_IN_ONE_TABLE,
    TournamentForm.LADDER: MOST_IN_ONE_TABLE,
    TournamentForm.SWISS: MOST_IN_SWISS,
    TournamentForm.LEAGUE: MOST_IN_LEAGUE,
    TournamentForm.TEAMS: MOST_TEAMS * (max(TEAM_SIZES) + MOST_RESERVES),
    TournamentForm.THREES: MOST_IN_THREES,
}
"""The most players of the forms that have fewer than `MOST_ENTRANTS`."""

FEWEST_TO_START: Final[Mapping[str, int]] = {
    TournamentForm.ROUND_ROBIN: FEWEST_IN_SECTION,
    TournamentForm.KNOCKOUT: 2,
    TournamentForm.SWISS: FEWEST_IN_SECTION,
    TournamentForm.LADDER: 2,
    TournamentForm.LEAGUE: FEWEST_IN_SECTION,
    TournamentForm.TEAMS: 2 * min(TEAM_SIZES),
    TournamentForm.THREES: 3,
}
"""The least players with which a tournament of a form starts."""


def fewest_to_start(form: str, rounds: int) -> int:
    """Return the least players with which a tournament starts: in a Swiss one more than its `rounds`."""
    return max(FEWEST_TO_START[form], rounds + 1)
