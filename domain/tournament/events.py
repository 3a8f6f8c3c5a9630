"""The events of a tournament, which are named in the past tense; see `docs/formats.md`.

Every form here is final, as those of a match are: new fields come at the end with a default.
"""

from domain.fairness import SetupDraw
from domain.records import AccountId, EventBody
from domain.tournament.state import (
    AdjudicatedPairing,
    Entrant,
    FinalPlace,
    MatchReport,
    Pairing,
    seats_of,
)
from domain.tournament.terms import TournamentTerms


class TournamentEventBody(EventBody, frozen=True):
    """The base of the events of tournaments."""


class TournamentDrafted(TournamentEventBody, frozen=True, tag="tournament-drafted"):
    """A tournament was made; the actor is its organiser."""

    terms: TournamentTerms


class ThematicDrafted(TournamentDrafted, frozen=True, tag="thematic-drafted"):
    """A tournament was made whose matches all begin with the same moves."""

    opening: str
    """The moves, as `OpeningGiven` has them."""


class EntryOpened(TournamentEventBody, frozen=True, tag="entry-opened"):
    """The tournament was opened for entry."""


class Entered(TournamentEventBody, frozen=True, tag="entered"):
    """A player entered; beyond the capacity they wait until there is room.

    One who had left a league is in again, with the same number and the rating of the first entry.
    """

    account: AccountId
    rating: int
    """At that time."""


class PlayersInvited(TournamentEventBody, frozen=True, tag="players-invited"):
    """The organiser invited players. Whose entry the organiser takes back is no longer invited."""

    accounts: tuple[AccountId, ...]


class InvitationTakenBack(TournamentEventBody, frozen=True, tag="invitation-taken-back"):
    """An invited player who has not entered is no longer invited."""

    account: AccountId


class TeamNamed(TournamentEventBody, frozen=True, tag="team-named"):
    """The actor named the players of a team as its captain, in place of those before; none dissolved it."""

    players: tuple[AccountId, ...]
    """In the order in which they play."""


class TeamJoined(TournamentEventBody, frozen=True, tag="team-joined"):
    """The actor entered in a team."""

    captain: AccountId
    rating: int
    """At that time."""


class EntryTakenBack(TournamentEventBody, frozen=True, tag="entry-taken-back"):
    """A player is no longer entered."""

    account: AccountId


class LeftAfterSeason(TournamentEventBody, frozen=True, tag="left-after-season"):
    """A player of a league is in no further season, and plays those that have begun to their end."""

    account: AccountId
    player: int


class LotsDrawn(TournamentEventBody, frozen=True, tag="lots-drawn"):
    """The lots of those who play were drawn; the start follows."""

    draw: SetupDraw
    """Its one text is the id of the command that started the tournament."""
    order: tuple[int, ...]
    """Their places in the order of entry, from 0; the first has the best lot."""


class PlayersNumbered(TournamentEventBody, frozen=True, tag="players-numbered"):
    """The first players of many got their numbers; further ones and the start follow."""

    players: tuple[Entrant, ...]


class TournamentStarted(TournamentEventBody, frozen=True, tag="tournament-started"):
    """The entry was closed. From now on players are numbers in this order, from 0."""

    players: tuple[Entrant, ...]
    """By their ratings, the highest first, and by their entry; or by lot. Those that the events before it have numbered come first."""


class SectionPaired(TournamentEventBody, frozen=True, tag="section-paired"):
    """A section was made, with all pairings of its players.

    In a knockout and a Swiss tournament it is a round, in a league a division of a season, and on a ladder a challenge.
    """

    players: tuple[int, ...]
    """In a knockout in order of the bracket."""
    pairings: tuple[Pairing, ...]
    """Numbered through the tournament in the order of these events, from 0."""
    stage: int = 1
    """The stage, round or season, from 1."""
    byes: tuple[int, ...] = ()
    """Players with a bye."""

    @property
    def seats(self) -> tuple[tuple[int, ...], ...]:
        """The players of each pairing in the order of their seats."""
        return seats_of(self.pairings)


class GroupsPaired(SectionPaired, frozen=True, tag="groups-paired"):
    """All rounds of groups of three were paired. Its byes are those of the first round, of the second, and so on."""

    thirds: tuple[int, ...] = ()
    """The player with the third seat of each pairing."""

    @property
    def seats(self) -> tuple[tuple[int, ...], ...]:
        """The players of each pairing in the order of their seats."""
        return seats_of(self.pairings, self.thirds)


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


class DirectorsAppointed(TournamentEventBody, frozen=True, tag="directors-appointed"):
    """The organiser named those who rule beside them, in place of those named before."""

    accounts: tuple[AccountId, ...]


class MatchesAdjudicated(TournamentEventBody, frozen=True, tag="matches-adjudicated"):
    """Matches that were not over got results; the actor is the director who did it, or the server at a round's end."""

    results: tuple[AdjudicatedPairing, ...]
    text: bytes
    """SHA-256 of a salt and the reasons; empty at the end of a round."""
    stage: int = 0
    """The round, stage or season that ended; 0 for a director's."""


class SilentDropped(TournamentEventBody, frozen=True, tag="silent-dropped"):
    """Players of a ladder dropped, because they had been silent too long."""

    players: tuple[int, ...]
    """From the top."""


class LadderEnded(TournamentEventBody, frozen=True, tag="ladder-ended"):
    """The organiser ended a ladder: nobody can challenge any more."""


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


class SubstitutedInThrees(PlayerSubstituted, frozen=True, tag="substituted-in-threes"):
    """The same in groups of three."""

    third: tuple[int, ...] = ()
    """The pairings in which the number has the third seat."""


class TournamentFinished(TournamentEventBody, frozen=True, tag="tournament-finished"):
    """All matches are over."""


class PlacesListed(TournamentEventBody, frozen=True, tag="places-listed"):
    """The first of many tables that the organiser confirmed; further ones and their confirmation follow."""

    sections: tuple[tuple[FinalPlace, ...], ...]
    """Of each table, the best first."""


class PlacesConfirmed(TournamentEventBody, frozen=True, tag="places-confirmed"):
    """The organiser confirmed the places, which are final."""

    sections: tuple[tuple[FinalPlace, ...], ...]
    """Of each table, the best first; those that the events before it have listed come before these."""


class TournamentCancelled(TournamentEventBody, frozen=True, tag="tournament-cancelled"):
    """The tournament will not take place."""


TournamentEvent = (
    TournamentDrafted
    | ThematicDrafted
    | EntryOpened
    | Entered
    | PlayersInvited
    | InvitationTakenBack
    | TeamNamed
    | TeamJoined
    | EntryTakenBack
    | LeftAfterSeason
    | LotsDrawn
    | PlayersNumbered
    | TournamentStarted
    | SectionPaired
    | GroupsPaired
    | ResultsCounted
    | PlayerWithdrawn
    | DirectorsAppointed
    | MatchesAdjudicated
    | SilentDropped
    | LadderEnded
    | SubstituteVolunteered
    | PlayerSubstituted
    | SubstitutedInThrees
    | TournamentFinished
    | PlacesListed
    | PlacesConfirmed
    | TournamentCancelled
)
