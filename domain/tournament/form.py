"""The base of all forms of tournaments: what the decider and pages ask of a form."""

from abc import ABC, abstractmethod
from typing import ClassVar

from domain.clocks.time_control import DAY
from domain.errors import Code, Refusal
from domain.tournament.commands import PairRound
from domain.tournament.events import SectionPaired
from domain.tournament.sentences import SAY
from domain.tournament.standings import SectionTable, places_of, section_table
from domain.tournament.state import Entrant, FinalPlace, PairedSection, TournamentState
from domain.tournament.terms import TournamentTerms

Sections = tuple[SectionPaired, ...]


class FormRules(ABC):
    """A form of tournaments. Its methods are pure; `state` is that of a tournament which runs, with its `terms`."""

    late_entry: ClassVar[bool] = False
    """Whether players enter while it runs; each gets the next number."""

    @abstractmethod
    def check(self, terms: TournamentTerms) -> None:
        """Refuse terms that the form can't have: `bad-option`. Those of other forms are absent."""

    def starters(self, state: TournamentState, terms: TournamentTerms) -> tuple[Entrant, ...]:
        """Return the players with whom it would start now, in the order of their numbers; none if they are too few."""
        entered = state.entrants[: terms.room]
        # a sort keeps the order of entry among equals
        return tuple(sorted(entered, key=_by_rating)) if len(entered) >= terms.least else ()

    @abstractmethod
    def next_sections(self, state: TournamentState, terms: TournamentTerms) -> Sections | None:
        """Return what is paired now that all matches have results, or at the start; None if nothing follows any more.

        Nothing if it waits: for a date, or for the server's `PairRound`.
        """

    def check_recorded(
        self, recorded: Sections, state: TournamentState, terms: TournamentTerms
    ) -> None:
        """Refuse recorded sections that the rules of the form do not allow in place of `next_sections`.

        It is asked only where those of today are others, because a later version may pair otherwise.
        """
        raise Refusal(Code.BAD_REQUEST, SAY("pairing"))

    def paired(
        self, command: PairRound, state: TournamentState, terms: TournamentTerms
    ) -> Sections:
        """Return what the server's command pairs; `not-allowed` in a form that pairs by itself."""
        raise Refusal(Code.NOT_ALLOWED, SAY("pairs-itself"))

    def pairs_at(self, state: TournamentState, terms: TournamentTerms) -> int:
        """Return when the server has to send `PairRound` whether or not all is over, ms; 0 for never."""
        return 0

    def round_ends(self, state: TournamentState, terms: TournamentTerms) -> int:
        """Return when what is not over in the last stage is adjudicated, ms; 0 for never."""
        return state.sections[-1].at + terms.days * DAY if terms.days and state.sections else 0

    def tables(self, state: TournamentState) -> tuple[PairedSection, ...]:
        """Return the sections that have a table of their own; in some forms one of all rounds."""
        return state.sections

    def table(
        self, section: PairedSection, state: TournamentState, terms: TournamentTerms
    ) -> SectionTable:
        """Return one of the `tables`, by place."""
        return section_table(section, state, terms)

    def places(
        self, section: PairedSection, state: TournamentState, terms: TournamentTerms
    ) -> tuple[FinalPlace, ...]:
        """Return the places of one of the `tables`, the best first."""
        return places_of(section, state, terms)


def _by_rating(one: Entrant) -> int:
    return -one.rating


def all_rounds(state: TournamentState) -> PairedSection:
    """Return one section with all players, pairings and byes, for forms whose sections are rounds."""
    pairings = tuple(one for _, one in state.pairings)
    byes = tuple(player for section in state.sections for player in section.byes)
    return PairedSection(tuple(range(len(state.entrants))), 0, pairings, byes=byes)
