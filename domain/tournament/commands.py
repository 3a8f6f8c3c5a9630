"""The commands of a tournament, in the form in which they wait in the inbox; see `domain.match.commands`."""

from domain.records import AccountId, CommandBase
from domain.tournament.state import MatchReport
from domain.tournament.terms import TournamentTerms


class TournamentCommandBase(CommandBase, frozen=True):
    """The base of the commands of tournaments."""


class DraftTournament(TournamentCommandBase, frozen=True, tag="tournament-draft"):
    """Make a tournament. The sender is its organiser."""

    terms: TournamentTerms


class OpenEntry(TournamentCommandBase, frozen=True, tag="tournament-open"):
    """Open a tournament for entry."""


class EnterTournament(TournamentCommandBase, frozen=True, tag="tournament-enter"):
    """Enter, which is the consent to be paired. The front end has checked the club, and read the rating."""

    rating: int
    account: AccountId = b""
    """The robot that the organiser enters; empty for the sender."""


class LeaveTournament(TournamentCommandBase, frozen=True, tag="tournament-leave"):
    """Take an entry back before the start; the organiser may take back that of another account."""

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
    | LeaveTournament
    | StartTournament
    | ReportResults
    | WithdrawPlayer
    | VolunteerAsSubstitute
    | SubstituteInTournament
    | ConfirmPlaces
    | CancelTournament
)
