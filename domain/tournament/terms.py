"""The terms of a tournament, which its first event fixes for good."""

from enum import StrEnum
from typing import Final

import msgspec

from domain.clocks.time_control import TimeControl
from domain.errors import Code, Refusal
from domain.rules import rules_by_id
from domain.tournament.sections import FEWEST_IN_SECTION, MOST_IN_SECTION
from domain.tournament.sentences import SAY
from domain.tournament.tie_breaks import FROM_RESULTS

SECTION_SIZES: Final = range(FEWEST_IN_SECTION, MOST_IN_SECTION + 1)
"""Players of a section."""

MOST_CYCLES: Final = 2

MOST_ENTRANTS: Final = 1_500
"""Players of a tournament: its start is one event of less than 64 KiB."""

MOST_POINTS: Final = 10_000

USUAL_TIEBREAKS: Final = ("direct", "sonneborn-berger", "wins")

ONE_POINT: Final = 100
"""Points are counted in hundredths, so that halves and thirds of places add up exactly."""


class TournamentForm(StrEnum):
    """The forms of tournaments."""

    ROUND_ROBIN = "round-robin"
    """In sections: everybody against everybody, all matches at once."""


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
    """The number of players of a whole section."""
    cycles: int = 1
    """How many matches each pair plays; in the second the sides are exchanged."""
    points: tuple[int, int, int] = (ONE_POINT, ONE_POINT // 2, 0)
    """For a win, a draw and a loss, in hundredths."""
    tiebreaks: tuple[str, ...] = USUAL_TIEBREAKS
    """Names of `FROM_RESULTS`, in their order."""
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

    @property
    def room(self) -> int:
        """The most players."""
        return self.capacity or MOST_ENTRANTS

    @property
    def least(self) -> int:
        """The least players with which it starts."""
        return min(SECTION_SIZES)


def check_terms(terms: TournamentTerms) -> None:
    """Refuse terms that no tournament can have: `bad-option`, or as the game refuses its options."""
    rules = rules_by_id(terms.rules)
    if rules.write_options(rules.read_options(terms.options)) != terms.options:
        raise Refusal(Code.BAD_OPTION, SAY("options"))
    if terms.form not in set(TournamentForm):
        raise Refusal(Code.BAD_OPTION, SAY("form", form=terms.form[:24]))
    if 2 not in rules.players:  # noqa: PLR2004 - a pair
        raise Refusal(Code.BAD_OPTION, SAY("not-for-two", game=rules.title))
    _check_sections(terms)
    _check_entry(terms)


def _check_sections(terms: TournamentTerms) -> None:
    """Refuse sections and tables that can't be."""
    if terms.section not in SECTION_SIZES:
        least, most = min(SECTION_SIZES), max(SECTION_SIZES)
        raise Refusal(Code.BAD_OPTION, SAY("section", least=least, most=most))
    if terms.cycles not in range(1, MOST_CYCLES + 1):
        raise Refusal(Code.BAD_OPTION, SAY("cycles", most=MOST_CYCLES))
    win, draw, loss = terms.points
    if not MOST_POINTS >= win >= draw >= loss >= 0:
        raise Refusal(Code.BAD_OPTION, SAY("points", most=MOST_POINTS // ONE_POINT))
    named = set(terms.tiebreaks)
    if len(named) < len(terms.tiebreaks) or not named <= FROM_RESULTS.keys():
        raise Refusal(Code.BAD_OPTION, SAY("tiebreaks", names=" ".join(FROM_RESULTS)))


def _check_entry(terms: TournamentTerms) -> None:
    """Refuse a room, a start and ratings that can't be."""
    least = min(SECTION_SIZES)
    if terms.capacity and terms.capacity not in range(least, MOST_ENTRANTS + 1):
        raise Refusal(Code.BAD_OPTION, SAY("capacity", least=least, most=MOST_ENTRANTS))
    if terms.when_full and not terms.capacity:
        raise Refusal(Code.BAD_OPTION, SAY("when-full"))
    low, high = terms.least_rating, terms.most_rating
    if low < 0 or high < 0 or 0 < high < low:
        raise Refusal(Code.BAD_OPTION, SAY("ratings"))
