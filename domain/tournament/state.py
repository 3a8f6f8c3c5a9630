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
    """From 1, as on a crosstable; in a section all rounds are played at once. Elsewhere the stage."""
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


class AdjudicatedPairing(msgspec.Struct, frozen=True, array_like=True):
    """The result of a pairing's match that was not over, as its director or the end of its round made it."""

    pairing: int
    result: str
    """As `domain.tournament.results` writes it."""


class Adjudication(msgspec.Struct, frozen=True, array_like=True):
    """An adjudicated pairing, with its cause."""

    result: str
    by: AccountId
    """The director; the server's at the end of a round."""
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


def seats_of(
    pairings: Sequence[Pairing], thirds: Sequence[int] = ()
) -> tuple[tuple[int, ...], ...]:
    """Return the players of each pairing in the order of their seats; `thirds` are those of the third, if there is one."""
    pairs = [(one.first, one.second) for one in pairings]
    return (
        tuple((*pair, third) for pair, third in zip(pairs, thirds, strict=True))
        if thirds
        else tuple(pairs)
    )


class PairedSection(msgspec.Struct, frozen=True, array_like=True):
    """A section, with the numbers of its pairings."""

    players: tuple[int, ...]
    first: int
    """The number of its first pairing."""
    pairings: tuple[Pairing, ...]
    stage: int = 1
    """The stage of a round robin, the round of a knockout or a Swiss tournament, or the season of a league, from 1."""
    byes: tuple[int, ...] = ()
    """Its players who get a point without a match."""
    at: int = 0
    """When it was paired, ms."""
    thirds: tuple[int, ...] = ()
    """In groups of three the player with the third seat of each pairing; empty elsewhere."""

    @property
    def seats(self) -> tuple[tuple[int, ...], ...]:
        """The players of each pairing in the order of their seats."""
        return seats_of(self.pairings, self.thirds)

    @property
    def numbers(self) -> Sequence[int]:
        """The numbers of its pairings."""
        return range(self.first, self.first + len(self.pairings))


class LadderPlayer(msgspec.Struct, frozen=True, array_like=True):
    """A player of a ladder, also one who has left it."""

    seen: int
    """When the player entered, challenged, or ended a match last, ms; after a drop the time of that."""
    won: int = 0
    drawn: int = 0
    lost: int = 0
    change: int = 0
    """How many places the last change was up; below 0, down."""
    changed: int = 0
    """When that was, ms; 0 for never."""


class LadderStandings(msgspec.Struct, frozen=True, array_like=True):
    """A ladder that runs, or is over."""

    order: tuple[int, ...]
    """The numbers of its players, from the top; those who have left are missing."""
    players: tuple[LadderPlayer, ...]
    """By number."""
    ended: dict[int, int] = {}
    """When each pairing that is over got its first result, or lost a player, ms."""
    closed: bool = False
    """Whether the organiser has ended it."""


class Team(msgspec.Struct, frozen=True, array_like=True):
    """A team, which is known by its captain."""

    captain: AccountId
    """The account need not play."""
    named: tuple[AccountId, ...]
    """Whom the captain has named, in the order in which they play; those beyond the size of a team are reserves."""
    joined: tuple[AccountId, ...] = ()
    """Those of them who have entered, in the order of their entry."""

    @property
    def ready(self) -> tuple[AccountId, ...]:
        """Those who have entered, in the order in which they play."""
        return tuple(one for one in self.named if one in self.joined)


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
    """Of each table, once they are confirmed."""
    adjudicated: dict[int, Adjudication] = {}
    """The pairings that were adjudicated. Whatever is reported of their matches comes before that."""
    directors: tuple[AccountId, ...] = ()
    """Those who rule beside the organiser."""
    ladder: LadderStandings | None = None
    """Of a ladder that has started. Its `sections` and `reports` lack old matches, see `ladder_order`."""
    leaving: tuple[int, ...] = ()
    """The players of a league who are in no further season, unless they enter again."""
    volunteers: tuple[Entrant, ...] = ()
    """From the start on, those who agree to take over the place of a player who leaves."""
    substituted: tuple[SubstitutedPlayer, ...] = ()
    """In the order in which they left; a substitute may leave, too."""
    teams: tuple[Team, ...] = ()
    """In the order in which they were named; from the start on those that play, in the order of their players' numbers."""

    invited: tuple[AccountId, ...] = ()
    """Those whom the organiser has invited, also if they have entered."""

    lots: tuple[int, ...] = ()
    """Of a tournament with lots: before its start the order of its entrants, afterwards the lot of each number; 0 is the best."""

    opening: str = ""
    """The moves with which each match begins, as a match records them; empty for none."""

    numbered: tuple[Entrant, ...] = ()
    """While it starts, the players who have their numbers already."""

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
    def seated(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """The numbers of the pairings, each with its players in the order of their seats."""
        for section in self.sections:
            yield from enumerate(section.seats, section.first)

    @property
    def count(self) -> int:
        """The number of pairings so far."""
        return self.sections[-1].first + len(self.sections[-1].pairings) if self.sections else 0

    def result_of(self, pairing: int) -> str:
        """Return the result of a pairing, played or adjudicated; empty while there is none, and for good without one."""
        if pairing in self.unfinished:
            return ""
        if pairing in self.reports:
            return self.reports[pairing].result
        adjudicated = self.adjudicated.get(pairing)
        return adjudicated.result if adjudicated else ""

    @property
    def left(self) -> int:
        """How many pairings are still to be played."""
        played = {number for number, one in self.reports.items() if one.result}
        played |= self.adjudicated.keys() - self.reports.keys()
        held = sum(len(section.pairings) for section in self.sections)
        return held - len(self.unfinished) - len(played.difference(self.unfinished))

    @property
    def stage(self) -> int:
        """The stage, round or season that was paired last; 0 before the start."""
        return self.sections[-1].stage if self.sections else 0

    @property
    def open_in_stage(self) -> list[int]:
        """The pairings of the last stage that are still to be played."""
        return [
            number
            for section in self.sections
            if section.stage == self.stage
            for number in section.numbers
            if self.is_open(number)
        ]

    def is_open(self, pairing: int) -> bool:
        """Return whether a pairing is still to be played."""
        return pairing not in self.unfinished and not self.result_of(pairing)

    def has_withdrawn(self, player: int) -> bool:
        """Return whether a player was taken out."""
        return any(one.player == player for one in self.withdrawn)

    def directs(self, account: AccountId) -> bool:
        """Return whether an account is the organiser or one of the directors."""
        return account == self.organiser or account in self.directors

    def number_of(self, account: AccountId) -> int | None:
        """Return the place of an account among the entrants, from 0; None if it has not entered."""
        return number_in(self.entrants, account)


def number_in(entrants: Sequence[Entrant], account: AccountId) -> int | None:
    """Return the place of an account among some entrants."""
    accounts = [one.account for one in entrants]
    return accounts.index(account) if account in accounts else None
