"""The commands of a tournament, in the form in which they wait in the inbox; see `domain.match.commands`."""

from msgspec import UNSET, UnsetType

from domain.records import AccountId, CommandBase
from domain.tournament.state import AdjudicatedPairing, MatchReport, Pairing
from domain.tournament.terms import TournamentTerms


class TournamentCommandBase(CommandBase, frozen=True):
    """The base of the commands of tournaments."""


class DraftTournament(TournamentCommandBase, frozen=True, tag="tournament-draft"):
    """Make a tournament. The sender is its organiser."""

    terms: TournamentTerms
    # not encoded if unset, because the digests of older commands must stay the same
    opening: str | UnsetType = UNSET
    """The moves with which each match begins."""


class OpenEntry(TournamentCommandBase, frozen=True, tag="tournament-open"):
    """Open a tournament for entry."""


class EnterTournament(TournamentCommandBase, frozen=True, tag="tournament-enter"):
    """Enter, which is the consent to be paired. The front end has checked the club, and read the rating."""

    rating: int
    account: AccountId = b""
    """The robot that the organiser enters; empty for the sender."""


class InvitePlayers(TournamentCommandBase, frozen=True, tag="tournament-invite"):
    """Invite players to a tournament that is for invited players alone, as its organiser."""

    accounts: tuple[AccountId, ...]


class NameTeam(TournamentCommandBase, frozen=True, tag="tournament-team"):
    """Choose the players of the sender's team, in the order in which they play, in place of those before; none dissolve it.

    Once it has started this changes the reserves alone.
    """

    players: tuple[AccountId, ...]


class JoinTeam(TournamentCommandBase, frozen=True, tag="tournament-join"):
    """Enter in a team that names the sender. The front end has checked the club, and read the rating."""

    captain: AccountId
    rating: int


class LeaveTournament(TournamentCommandBase, frozen=True, tag="tournament-leave"):
    """Take an entry back before the start; the organiser may take back that of another account, or its invitation."""

    account: AccountId = b""
    """Empty for the sender."""


class StartTournament(TournamentCommandBase, frozen=True, tag="tournament-start"):
    """Close the entry, and pair the players. The scheduler sends it at the date of the start."""


class ReportResults(TournamentCommandBase, frozen=True, tag="tournament-report"):
    """Report the results of matches. Only the server sends it, from the events of the matches."""

    reports: tuple[MatchReport, ...]


class WithdrawPlayer(TournamentCommandBase, frozen=True, tag="tournament-withdraw"):
    """Take a player out of a tournament that runs.

    Whether the sender directs the tournament is checked before it is submitted.
    """

    account: AccountId
    kind: str
    """A `WithdrawalKind`."""
    text: bytes
    """SHA-256 of a salt and the reasons."""
    ends: tuple[int, ...] | None = None
    """The player's open pairings whose matches end; None for all. In groups of three others may go on without the player."""


class AppointDirectors(TournamentCommandBase, frozen=True, tag="tournament-directors"):
    """Appoint those who rule beside the organiser, in place of those before."""

    accounts: tuple[AccountId, ...]


class AdjudicateMatches(TournamentCommandBase, frozen=True, tag="tournament-adjudicate"):
    """Decide matches that are not over. As a withdrawal it comes from somebody who directs the tournament."""

    results: tuple[AdjudicatedPairing, ...]
    text: bytes
    """SHA-256 of a salt and the reasons."""


class EndRound(TournamentCommandBase, frozen=True, tag="tournament-end-round"):
    """End a round, stage or season: what is not over is drawn. Only the scheduler sends it, at the date of the end."""

    stage: int


class PairRound(TournamentCommandBase, frozen=True, tag="tournament-pair"):
    """Pair the next round, stage or season. Only the server sends it."""

    stage: int
    """The one to pair, from 1."""
    pairings: tuple[Pairing, ...] = ()
    """Those of a Swiss round, which are checked; other forms pair by themselves."""
    byes: tuple[int, ...] = ()


class ChallengeOnLadder(TournamentCommandBase, frozen=True, tag="tournament-challenge"):
    """Challenge a player of a ladder, as another of its players. The match begins without asking."""

    player: int
    """The number of the challenged."""


class DropSilent(TournamentCommandBase, frozen=True, tag="tournament-drop"):
    """Drop the players of a ladder who have been silent too long. Only the scheduler sends it."""


class EndLadder(TournamentCommandBase, frozen=True, tag="tournament-end"):
    """End a ladder: nobody can challenge any more, and it is over with its last match."""


class VolunteerAsSubstitute(TournamentCommandBase, frozen=True, tag="tournament-volunteer"):
    """Agree to take over the place of a player who leaves. The front end has checked the club, and read the rating.

    Who waited for room at the start has agreed by that. Either takes it back by `LeaveTournament`.
    """

    rating: int


class SubstituteInTournament(TournamentCommandBase, frozen=True, tag="tournament-substitute"):
    """Let a volunteer take over the place of a player who leaves, with all results and all matches as they stand.

    Whether the sender directs the tournament is checked before it is submitted.
    """

    account: AccountId
    """Of the player who leaves."""
    substitute: AccountId
    text: bytes
    """SHA-256 of a salt and the reasons."""


class ConfirmPlaces(TournamentCommandBase, frozen=True, tag="tournament-confirm"):
    """Confirm the places of a tournament whose matches are all over."""


class CancelTournament(TournamentCommandBase, frozen=True, tag="tournament-cancel"):
    """Cancel a tournament that has not started. The scheduler sends it at the start of one with too few players."""


TournamentCommand = (
    DraftTournament
    | OpenEntry
    | EnterTournament
    | InvitePlayers
    | NameTeam
    | JoinTeam
    | LeaveTournament
    | StartTournament
    | ReportResults
    | WithdrawPlayer
    | AppointDirectors
    | AdjudicateMatches
    | EndRound
    | PairRound
    | ChallengeOnLadder
    | DropSilent
    | EndLadder
    | VolunteerAsSubstitute
    | SubstituteInTournament
    | ConfirmPlaces
    | CancelTournament
)
