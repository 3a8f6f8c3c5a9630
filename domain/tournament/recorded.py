"""The commands of recorded events, so that they are decided again."""

from msgspec.structs import replace

from domain.records import SERVER_ACCOUNT, AccountId
from domain.tournament.commands import (
    AdjudicateMatches,
    AppointDirectors,
    CancelTournament,
    ChallengeOnLadder,
    ConfirmPlaces,
    DraftTournament,
    DropSilent,
    EndLadder,
    EndRound,
    EnterTournament,
    InvitePlayers,
    JoinTeam,
    LeaveTournament,
    NameTeam,
    OpenEntry,
    PairRound,
    ReportResults,
    StartTournament,
    SubstituteInTournament,
    TournamentCommand,
    VolunteerAsSubstitute,
    WithdrawPlayer,
)
from domain.tournament.events import (
    DirectorsAppointed,
    Entered,
    EntryOpened,
    EntryTakenBack,
    InvitationTakenBack,
    LadderEnded,
    LeftAfterSeason,
    LotsDrawn,
    MatchesAdjudicated,
    PlacesConfirmed,
    PlacesListed,
    PlayersInvited,
    PlayersNumbered,
    PlayerSubstituted,
    PlayerWithdrawn,
    ResultsCounted,
    SectionPaired,
    SilentDropped,
    SubstituteVolunteered,
    TeamJoined,
    TeamNamed,
    ThematicDrafted,
    TournamentCancelled,
    TournamentDrafted,
    TournamentEvent,
    TournamentStarted,
)


def possible_commands(  # noqa: C901, PLR0911, PLR0912 - one case an event
    first: TournamentEvent, actor: AccountId
) -> list[TournamentCommand]:
    """Return the commands that this may be the first event of; all lead to the same decision.

    None for an event that only follows others.
    """
    match first:
        case ThematicDrafted():
            return [DraftTournament(terms=first.terms, opening=first.opening)]
        case TournamentDrafted():
            return [DraftTournament(terms=first.terms)]
        case EntryOpened():
            return [OpenEntry()]
        case Entered():
            of_robot = EnterTournament(rating=first.rating, account=first.account)
            return [EnterTournament(rating=first.rating)] if first.account == actor else [of_robot]
        case PlayersInvited():
            return [InvitePlayers(accounts=first.accounts)]
        case TeamNamed():
            return [NameTeam(players=first.players)]
        case TeamJoined():
            return [JoinTeam(captain=first.captain, rating=first.rating)]
        case InvitationTakenBack():
            return [LeaveTournament(account=first.account)]
        case EntryTakenBack() | LeftAfterSeason():
            named = LeaveTournament(account=first.account)
            return [LeaveTournament(), named] if first.account == actor else [named]
        case LotsDrawn() | PlayersNumbered() | TournamentStarted():
            return [StartTournament()]
        case SectionPaired() if actor != SERVER_ACCOUNT:
            return [ChallengeOnLadder(player=one.first) for one in first.pairings]
        case SectionPaired():
            pairs = PairRound(stage=first.stage, pairings=first.pairings, byes=first.byes)
            return [pairs, PairRound(stage=first.stage)]
        case DirectorsAppointed():
            return [AppointDirectors(accounts=first.accounts)]
        case MatchesAdjudicated() if actor == SERVER_ACCOUNT:
            return [EndRound(stage=first.stage)]
        case MatchesAdjudicated():
            return [AdjudicateMatches(results=first.results, text=first.text)]
        case ResultsCounted():
            return [ReportResults(reports=first.reports)]
        case PlayerWithdrawn():
            plain = WithdrawPlayer(account=first.account, kind=first.kind, text=first.text)
            return [replace(plain, ends=first.unfinished), plain]
        case SilentDropped():
            return [DropSilent()]
        case LadderEnded():
            return [EndLadder()]
        case SubstituteVolunteered():
            return [VolunteerAsSubstitute(rating=first.rating)]
        case PlayerSubstituted():
            return [
                SubstituteInTournament(
                    account=first.left, substitute=first.account, text=first.text
                )
            ]
        case PlacesListed() | PlacesConfirmed():
            return [ConfirmPlaces()]
        case TournamentCancelled():
            return [CancelTournament()]
        case _:
            return []
