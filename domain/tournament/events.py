"""The events of a tournament, which are named in the past tense; see `docs/formats.md`.

Every form here is final, as those of a match are: new fields come at the end with a default.
"""

from domain.records import AccountId, EventBody
from domain.tournament.state import Entrant, FinalPlace, MatchReport, Pairing
from domain.tournament.terms import TournamentTerms


class TournamentEventBody(EventBody, frozen=True):
    """The base of the events of tournaments."""


class TournamentDrafted(TournamentEventBody, frozen=True, tag="tournament-drafted"):
    """A tournament was made; the actor is its organiser."""

    terms: TournamentTerms


class EntryOpened(TournamentEventBody, frozen=True, tag="entry-opened"):
    """The tournament was opened for entry."""


class Entered(TournamentEventBody, frozen=True, tag="entered"):
    """A player entered; beyond the capacity they wait until there is room."""

    account: AccountId
    rating: int
    """At that time."""


class EntryTakenBack(TournamentEventBody, frozen=True, tag="entry-taken-back"):
    """A player is no longer entered."""

    account: AccountId


class TournamentStarted(TournamentEventBody, frozen=True, tag="tournament-started"):
    """The entry was closed. From now on players are numbers in this order, from 0."""

    players: tuple[Entrant, ...]
    """By their ratings, the highest first, and by their entry."""


class SectionPaired(TournamentEventBody, frozen=True, tag="section-paired"):
    """A section was made, with all pairings of its players."""

    players: tuple[int, ...]
    pairings: tuple[Pairing, ...]
    """Numbered through the tournament in the order of these events, from 0."""


class ResultsCounted(TournamentEventBody, frozen=True, tag="results-counted"):
    """The results of matches were counted, also in place of earlier ones that a ruling has changed."""

    reports: tuple[MatchReport, ...]


class PlayerWithdrawn(TournamentEventBody, frozen=True, tag="player-withdrawn"):
    """A player was taken out; the actor is the director who did it."""

    account: AccountId
    player: int
    kind: str
    """A `WithdrawalKind`, on which it depends how the player's matches count."""
    unfinished: tuple[int, ...]
    """The pairings of the player that had no result: their matches end, and their results do not count."""
    text: bytes
    """SHA-256 of a salt and the reasons, which are stored apart."""


class SubstituteVolunteered(TournamentEventBody, frozen=True, tag="substitute-volunteered"):
    """Somebody agreed to take over the place of a player who leaves."""

    account: AccountId
    rating: int
    """At that time."""


class PlayerSubstituted(TournamentEventBody, frozen=True, tag="player-substituted"):
    """A volunteer took over a player's place; the actor is the director who let them."""

    player: int
    account: AccountId
    """The substitute's, which has the number from now on."""
    left: AccountId
    """The account that had it before."""
    rating: int
    """The substitute's."""
    first: tuple[int, ...]
    """The pairings in which the number has the first seat, without those that ended because somebody left."""
    second: tuple[int, ...]
    """Those in which it has the second."""
    text: bytes
    """SHA-256 of a salt and the reasons, which are stored apart."""


class TournamentFinished(TournamentEventBody, frozen=True, tag="tournament-finished"):
    """All matches are over."""


class PlacesConfirmed(TournamentEventBody, frozen=True, tag="places-confirmed"):
    """The organiser confirmed the places, which are final."""

    sections: tuple[tuple[FinalPlace, ...], ...]
    """Of each section, the best first."""


class TournamentCancelled(TournamentEventBody, frozen=True, tag="tournament-cancelled"):
    """The tournament will not take place."""


TournamentEvent = (
    TournamentDrafted
    | EntryOpened
    | Entered
    | EntryTakenBack
    | TournamentStarted
    | SectionPaired
    | ResultsCounted
    | PlayerWithdrawn
    | SubstituteVolunteered
    | PlayerSubstituted
    | TournamentFinished
    | PlacesConfirmed
    | TournamentCancelled
)
