"""The state of a tournament."""

from collections.abc import Iterator, Sequence
from enum import StrEnum

import msgspec

from domain.records import AccountId
from domain.tournament.terms import TournamentTerms


class Phase(StrEnum):
    """The phases of a tournament, in their order."""

    DRAFT = "draft"
    ENTRY = "entry"
    RUNNING = "running"
    FINISHED = "finished"
    """All matches are over, and the places are not confirmed."""
    CONFIRMED = "confirmed"
    CANCELLED = "cancelled"


class Entrant(msgspec.Struct, frozen=True, array_like=True):
    """A player who has entered."""

    account: AccountId
    rating: int
    """At entry: it seeds, and never changes here."""


class Pairing(msgspec.Struct, frozen=True, array_like=True):
    """A match that the tournament plans."""

    round: int
    """From 1, as on a crosstable; in a section all rounds are played at once."""
    first: int
    """The player with the first move."""
    second: int


class MatchReport(msgspec.Struct, frozen=True, array_like=True):
    """The result of a pairing's match, as the log has it."""

    pairing: int
    board: int
    seq: int
    """The number of the match's event that made the result."""
    result: str
    """As `domain.tournament.results` writes it; empty if a ruling took the result away and the match goes on."""


class FinalPlace(msgspec.Struct, frozen=True, array_like=True):
    """A player's place in a section."""

    player: int
    place: int
    """Shared by players who are equal to the end."""
    points: int
    """In hundredths."""


class WithdrawnPlayer(msgspec.Struct, frozen=True, array_like=True):
    """A player who was taken out of a tournament that runs."""

    player: int
    kind: str
    """A `WithdrawalKind`."""
    by: AccountId
    """The director who did it."""
    text: bytes
    """The digest of the reasons."""


class SubstitutedPlayer(msgspec.Struct, frozen=True, array_like=True):
    """A player whose place a substitute has taken over."""

    player: int
    account: AccountId
    """The account that left."""
    substitute: AccountId
    by: AccountId
    """The director who let them."""
    text: bytes
    """The digest of the reasons."""


class PairedSection(msgspec.Struct, frozen=True, array_like=True):
    """A section, with the numbers of its pairings."""

    players: tuple[int, ...]
    first: int
    """The number of its first pairing."""
    pairings: tuple[Pairing, ...]

    @property
    def numbers(self) -> range:
        """The numbers of its pairings."""
        return range(self.first, self.first + len(self.pairings))


class TournamentState(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tournament after its last event. A snapshot stores it as a map, which no state of a match is.

    `terms` is None before the first event.
    """

    terms: TournamentTerms | None = None
    organiser: AccountId = b""
    seq: int = 0
    """The number of the last event."""
    at: int = 0
    """The time of the last event, ms."""
    phase: Phase = Phase.DRAFT
    entrants: tuple[Entrant, ...] = ()
    """In the order of their entry; those beyond the room wait. From the start on, the players by their numbers."""
    sections: tuple[PairedSection, ...] = ()
    reports: dict[int, MatchReport] = {}
    """The last report of each pairing that has one."""
    withdrawn: tuple[WithdrawnPlayer, ...] = ()
    unfinished: tuple[int, ...] = ()
    """The pairings that had no result when a player of theirs was taken out."""
    places: tuple[tuple[FinalPlace, ...], ...] = ()
    """Of each section, once they are confirmed."""
    volunteers: tuple[Entrant, ...] = ()
    """From the start on, those who agree to take over the place of a player who leaves."""
    substituted: tuple[SubstitutedPlayer, ...] = ()
    """In the order in which they left; a substitute may leave, too."""

    @property
    def exists(self) -> bool:
        """Whether there is a tournament."""
        return self.terms is not None

    @property
    def over(self) -> bool:
        """Whether nothing can change any more."""
        return self.phase in (Phase.CONFIRMED, Phase.CANCELLED)

    @property
    def ply(self) -> int:
        """Zero: refusals of a tournament's commands are counted together."""
        return 0

    @property
    def pairings(self) -> Iterator[tuple[int, Pairing]]:
        """The pairings with their numbers."""
        for section in self.sections:
            yield from enumerate(section.pairings, section.first)

    @property
    def count(self) -> int:
        """The number of pairings."""
        return self.sections[-1].first + len(self.sections[-1].pairings) if self.sections else 0

    def result_of(self, pairing: int) -> str:
        """Return the result of a pairing as it was played; empty while there is none, and for good without one."""
        report = self.reports.get(pairing)
        return report.result if report and pairing not in self.unfinished else ""

    @property
    def left(self) -> int:
        """How many pairings are still to be played."""
        played = sum(bool(self.result_of(number)) for number in self.reports)
        return self.count - len(self.unfinished) - played

    def number_of(self, account: AccountId) -> int | None:
        """Return the place of an account among the entrants, from 0; None if it has not entered."""
        return number_in(self.entrants, account)


def number_in(entrants: Sequence[Entrant], account: AccountId) -> int | None:
    """Return the place of an account among some entrants."""
    return next((n for n, one in enumerate(entrants) if one.account == account), None)
