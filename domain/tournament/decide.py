"""The tournament as a decider: a command and a state in, events or a refusal out.

Pure and deterministic, as `domain.match.decide` is. Who is a member of a club, and how an account is rated, the front
ends have looked up.
"""

from collections.abc import Sequence
from typing import Final, assert_never

from domain.errors import Code, Refusal
from domain.records import SERVER_ACCOUNT, AccountId
from domain.tournament.commands import (
    CancelTournament,
    ConfirmPlaces,
    DraftTournament,
    EnterTournament,
    LeaveTournament,
    OpenEntry,
    ReportResults,
    StartTournament,
    SubstituteInTournament,
    TournamentCommand,
    VolunteerAsSubstitute,
    WithdrawPlayer,
)
from domain.tournament.events import (
    Entered,
    EntryOpened,
    EntryTakenBack,
    PlacesConfirmed,
    PlayerWithdrawn,
    ResultsCounted,
    SectionPaired,
    TournamentCancelled,
    TournamentDrafted,
    TournamentEvent,
    TournamentFinished,
    TournamentStarted,
)
from domain.tournament.evolve import evolve
from domain.tournament.round_robin import check_sections, paired_sections
from domain.tournament.sentences import SAY
from domain.tournament.standings import places_of
from domain.tournament.state import Entrant, MatchReport, Phase, TournamentState
from domain.tournament.substitutes import is_volunteer, substitute, volunteer
from domain.tournament.terms import TournamentTerms, check_terms
from domain.tournament.withdrawals import WithdrawalKind

Events = tuple[TournamentEvent, ...]

_DIGEST_BYTES: Final = 32


def decide(  # noqa: C901, PLR0911, PLR0912 - one case a command
    command: TournamentCommand,
    actor: AccountId,
    state: TournamentState,
    now: int,
    recorded: Sequence[SectionPaired] = (),
) -> Events:
    """Return the events that a command leads to in this state; raises `Refusal`.

    `now` is the time of the command, ms. With the `recorded` pairings of a start these are checked, and none are made.
    """
    if isinstance(command, DraftTournament):
        return _draft(command, state, now)
    if state.terms is None:
        raise Refusal(Code.UNKNOWN_TOURNAMENT, SAY("no-tournament"))
    match command:
        case OpenEntry():
            _check_organiser(actor, state)
            _check_phase(state, Phase.DRAFT)
            return (EntryOpened(),)
        case EnterTournament():
            return _enter(command, actor, state, state.terms, recorded)
        case LeaveTournament():
            return _leave(command, actor, state)
        case StartTournament():
            if actor != SERVER_ACCOUNT:
                _check_organiser(actor, state)
            _check_phase(state, Phase.ENTRY)
            return _start(state, state.terms, recorded)
        case ReportResults():
            _check_server(actor)
            return _report(command.reports, state)
        case WithdrawPlayer():
            return _withdraw(command, actor, state)
        case VolunteerAsSubstitute():
            _check_phase(state, Phase.RUNNING)
            return (volunteer(command, actor, state),)
        case SubstituteInTournament():
            _check_phase(state, Phase.RUNNING)
            return (substitute(command, actor, state),)
        case ConfirmPlaces():
            _check_organiser(actor, state)
            return _confirm(state, state.terms)
        case CancelTournament():
            if actor != SERVER_ACCOUNT:
                _check_organiser(actor, state)
            _check_phase(state, Phase.DRAFT, Phase.ENTRY)
            return (TournamentCancelled(),)
        case _:  # pragma: no cover - the union is closed
            assert_never(command)


def next_due(state: TournamentState) -> int:
    """Return when the scheduler has to act next, ms; 0 for never."""
    return state.terms.starts if state.terms and state.phase is Phase.ENTRY else 0


def due_command(state: TournamentState) -> StartTournament | CancelTournament:
    """Return the command of the scheduler at the date of the start."""
    enough = state.terms is not None and len(state.entrants) >= state.terms.least
    return StartTournament() if enough else CancelTournament()


def _draft(command: DraftTournament, state: TournamentState, now: int) -> Events:
    if state.exists:
        raise Refusal(Code.ALREADY_STARTED, SAY("exists"))
    check_terms(command.terms)
    if 0 < command.terms.starts <= now:
        raise Refusal(Code.BAD_OPTION, SAY("start-past"))
    return (TournamentDrafted(terms=command.terms),)


def _enter(
    command: EnterTournament,
    actor: AccountId,
    state: TournamentState,
    terms: TournamentTerms,
    recorded: Sequence[SectionPaired],
) -> Events:
    """Enter a player; one who makes the tournament full may start it."""
    _check_phase(state, Phase.ENTRY)
    account = command.account or actor
    if command.account:
        _check_organiser(actor, state)
        if not terms.robots:
            raise Refusal(Code.AGAINST_TERMS, SAY("no-robots"))
    if state.number_of(account) is not None:
        raise Refusal(Code.ALREADY_ENTERED, SAY("entered"))
    if command.rating < terms.least_rating:
        raise Refusal(
            Code.AGAINST_TERMS, SAY("rating-low", least=terms.least_rating, rating=command.rating)
        )
    if 0 < terms.most_rating < command.rating:
        raise Refusal(
            Code.AGAINST_TERMS, SAY("rating-high", most=terms.most_rating, rating=command.rating)
        )
    entered = Entered(account=account, rating=command.rating)
    after = evolve(state, entered, state.at, actor)
    if terms.when_full and len(after.entrants) == terms.capacity:
        return (entered, *_start(after, terms, recorded))
    return (entered,)


def _leave(command: LeaveTournament, actor: AccountId, state: TournamentState) -> Events:
    """Take an entry back before the start, or after it the consent to take over a place."""
    volunteers = is_volunteer(state, command.account or actor)
    _check_phase(state, *((Phase.RUNNING, Phase.FINISHED) if volunteers else (Phase.ENTRY,)))
    if command.account and command.account != actor:
        _check_organiser(actor, state)
    account = command.account or actor
    if not volunteers and state.number_of(account) is None:
        raise Refusal(Code.NOT_ENTERED, SAY("not-entered"))
    return (EntryTakenBack(account=account),)


def _start(
    state: TournamentState, terms: TournamentTerms, recorded: Sequence[SectionPaired]
) -> Events:
    entered = state.entrants[: terms.room]
    if len(entered) < terms.least:
        raise Refusal(Code.TOO_EARLY, SAY("too-few", least=terms.least, count=len(entered)))
    # a sort keeps the order of entry among equals
    players = tuple(sorted(entered, key=_by_rating))
    if recorded:
        check_sections(recorded, len(players), terms)
    return (
        TournamentStarted(players=players),
        *(recorded or paired_sections(len(players), terms)),
    )


def _by_rating(one: Entrant) -> int:
    return -one.rating


def _report(reports: Sequence[MatchReport], state: TournamentState) -> Events:
    _check_phase(state, Phase.RUNNING, Phase.FINISHED)
    for one in reports:
        if not 0 <= one.pairing < state.count:
            raise Refusal(Code.UNKNOWN_PAIRING, SAY("no-pairing", pairing=one.pairing))
        known = state.reports.get(one.pairing)
        if known is not None and known.seq >= one.seq:
            raise Refusal(Code.TOO_LATE, SAY("old-report", pairing=one.pairing))
    counted = ResultsCounted(reports=tuple(reports))
    after = evolve(state, counted, state.at, SERVER_ACCOUNT)
    return _with_finish(counted, state, after)


def _with_finish(event: TournamentEvent, before: TournamentState, after: TournamentState) -> Events:
    """Return an event, and that all matches are over if they are now."""
    done = before.phase is Phase.RUNNING and not after.left
    return (event, TournamentFinished()) if done else (event,)


def _withdraw(command: WithdrawPlayer, actor: AccountId, state: TournamentState) -> Events:
    """Take out a player; nobody does it in a section in which they play."""
    _check_phase(state, Phase.RUNNING)
    if command.kind not in set(WithdrawalKind) or len(command.text) != _DIGEST_BYTES:
        raise Refusal(Code.BAD_REQUEST, SAY("withdrawal"))
    player, director = state.number_of(command.account), state.number_of(actor)
    if player is None:
        raise Refusal(Code.NOT_ENTERED, SAY("not-entered"))
    if any(one.player == player for one in state.withdrawn):
        raise Refusal(Code.TOO_LATE, SAY("withdrawn"))
    if any({player, director} <= set(section.players) for section in state.sections):
        raise Refusal(Code.AGAINST_TERMS, SAY("own-section"))
    unfinished = tuple(
        number
        for number, one in state.pairings
        if player in (one.first, one.second)
        and number not in state.unfinished
        and not state.result_of(number)
    )
    event = PlayerWithdrawn(
        account=command.account,
        player=player,
        kind=command.kind,
        unfinished=unfinished,
        text=command.text,
    )
    return _with_finish(event, state, evolve(state, event, state.at, actor))


def _confirm(state: TournamentState, terms: TournamentTerms) -> Events:
    if state.phase is Phase.RUNNING:
        raise Refusal(Code.TOO_EARLY, SAY("running", left=state.left))
    _check_phase(state, Phase.FINISHED)
    places = tuple(places_of(section, state, terms) for section in state.sections)
    return (PlacesConfirmed(sections=places),)


def _check_organiser(actor: AccountId, state: TournamentState) -> None:
    if actor != state.organiser:
        raise Refusal(Code.NOT_AN_ORGANISER, SAY("organiser"))


def _check_server(actor: AccountId) -> None:
    if actor != SERVER_ACCOUNT:
        raise Refusal(Code.NOT_ALLOWED, SAY("server"))


def _check_phase(state: TournamentState, *allowed: Phase) -> None:
    """Refuse a command that does not fit the phase, with the reason."""
    if state.phase in allowed:
        return
    match state.phase:
        case Phase.DRAFT:
            raise Refusal(Code.NOT_STARTED, SAY("drafted"))
        case Phase.ENTRY if Phase.DRAFT in allowed:
            raise Refusal(Code.ALREADY_STARTED, SAY("open"))
        case Phase.ENTRY:
            raise Refusal(Code.NOT_STARTED, SAY("not-started"))
        case Phase.RUNNING | Phase.FINISHED:
            raise Refusal(Code.TOO_LATE, SAY("started"))
        case Phase.CONFIRMED:
            raise Refusal(Code.TOO_LATE, SAY("confirmed"))
        case Phase.CANCELLED:
            raise Refusal(Code.TOO_LATE, SAY("cancelled"))
