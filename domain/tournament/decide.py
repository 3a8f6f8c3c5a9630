"""The tournament as a decider: a command and a state in, events or a refusal out.

Pure and deterministic, as `domain.match.decide` is. Who is a member of a club, and how an account is rated, the front
ends have looked up.
"""

from collections.abc import Sequence
from itertools import takewhile
from typing import Final, assert_never

from msgspec import UNSET

from domain.errors import Code, Refusal
from domain.records import SERVER_ACCOUNT, AccountId
from domain.rules import recorded_opening, rules_by_id
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
    MatchesAdjudicated,
    PlayerWithdrawn,
    ResultsCounted,
    SectionPaired,
    SilentDropped,
    ThematicDrafted,
    TournamentCancelled,
    TournamentDrafted,
    TournamentEvent,
    TournamentFinished,
)
from domain.tournament.evolve import evolve
from domain.tournament.form import Sections
from domain.tournament.form_terms import LadderTerms
from domain.tournament.forms import check_terms, form_of
from domain.tournament.invitations import check_invited, invite
from domain.tournament.ladder_form import (
    challenge,
    check_entry,
    check_open,
    silence_due,
    silent_players,
)
from domain.tournament.lots import LotSource, draw_lots, has_lots
from domain.tournament.parts import confirmation_of, end_of_round, start_of
from domain.tournament.results import PairResult
from domain.tournament.seasons import check_late_entry, check_leaving, is_league_that_runs
from domain.tournament.sentences import SAY
from domain.tournament.state import (
    AdjudicatedPairing,
    MatchReport,
    Phase,
    TournamentState,
)
from domain.tournament.substitutes import is_volunteer, substitute, volunteer
from domain.tournament.teams import joining, naming
from domain.tournament.terms import TournamentForm, TournamentTerms
from domain.tournament.three_results import ALL_SHARE, RULED_RESULTS
from domain.tournament.withdrawals import WithdrawalKind

Events = tuple[TournamentEvent, ...]

_DIGEST_BYTES: Final = 32

MOST_DIRECTORS: Final = 10

MOST_ADJUDICATED: Final = 100
"""Matches of one adjudication by a director."""

NO_REASONS: Final = b""
"""In place of a digest at the end of a round, whose reason its terms are."""


def decide(  # noqa: C901, PLR0911, PLR0912 - one case a command
    command: TournamentCommand,
    actor: AccountId,
    state: TournamentState,
    now: int,
    recorded: Sequence[SectionPaired] = (),
    chance: LotSource | None = None,
) -> Events:
    """Return the events that a command leads to in this state; raises `Refusal`.

    `now` is the time of the command, ms, and `chance` is for the lots of a start that has them. With the `recorded` pairings of a start these are checked, and none are made.
    """
    if isinstance(command, DraftTournament):
        return _draft(command, state, now)
    if state.terms is None:
        raise Refusal(Code.UNKNOWN_TOURNAMENT, SAY("no-tournament"))
    match command:
        case OpenEntry():
            _check_organiser(actor, state)
            check_phase(state, Phase.DRAFT)
            return (EntryOpened(),)
        case EnterTournament():
            return _enter(command, actor, state, state.terms, recorded, chance)
        case InvitePlayers():
            return _invite(command, actor, state, state.terms)
        case NameTeam():
            check_phase(state, Phase.ENTRY, Phase.RUNNING)
            return naming(command.players, actor, state, state.terms)
        case JoinTeam():
            return _join(command, actor, state, state.terms)
        case LeaveTournament():
            return _leave(command, actor, state, state.terms)
        case StartTournament():
            if actor != SERVER_ACCOUNT:
                _check_director(actor, state)
            check_phase(state, Phase.ENTRY)
            return _start(state, state.terms, recorded, chance)
        case ReportResults():
            _check_server(actor)
            return _report(command.reports, state, state.terms, recorded)
        case WithdrawPlayer():
            return _withdraw(command, actor, state, state.terms, recorded)
        case VolunteerAsSubstitute():
            check_phase(state, Phase.RUNNING)
            return (volunteer(command, actor, state),)
        case SubstituteInTournament():
            check_phase(state, Phase.RUNNING)
            return (substitute(command, actor, state),)
        case AppointDirectors():
            _check_organiser(actor, state)
            return _appoint(command, state)
        case AdjudicateMatches():
            _check_adjudication(command, actor, state)
            made = MatchesAdjudicated(results=command.results, text=command.text)
            return _adjudicate([made], actor, state, state.terms, recorded)
        case EndRound():
            _check_server(actor)
            return _end_round(command, state, state.terms, recorded)
        case PairRound():
            _check_server(actor)
            return _pair(command, state, state.terms, recorded)
        case ChallengeOnLadder():
            rules = _running_ladder(state, state.terms)
            return (challenge(command.player, actor, state, rules, now),)
        case DropSilent():
            _check_server(actor)
            return _drop_silent(state, _running_ladder(state, state.terms), now)
        case EndLadder():
            _check_organiser(actor, state)
            _running_ladder(state, state.terms)
            return _end_ladder(state, state.terms)
        case ConfirmPlaces():
            _check_director(actor, state)
            return _confirm(state, state.terms)
        case CancelTournament():
            if actor != SERVER_ACCOUNT:
                _check_director(actor, state)
            check_phase(state, Phase.DRAFT, Phase.ENTRY)
            return (TournamentCancelled(),)
        case _:  # pragma: no cover - the union is closed
            assert_never(command)


def next_due(state: TournamentState) -> int:
    """Return when the scheduler has to act next, ms; 0 for never."""
    if state.terms is None:
        return 0
    if state.phase is Phase.ENTRY:
        return state.terms.starts
    if state.phase is not Phase.RUNNING:
        return 0
    if state.terms.ladder is not None:
        return silence_due(state, state.terms.ladder)
    form = form_of(state.terms)
    ends = form.round_ends(state, state.terms) if state.open_in_stage else 0
    return min(filter(None, (form.pairs_at(state, state.terms), ends)), default=0)


def due_command(state: TournamentState) -> TournamentCommand:
    """Return the command of the scheduler at `next_due`."""
    assert state.terms is not None
    if state.ladder is not None:
        return DropSilent()
    if state.phase is Phase.RUNNING:
        at = form_of(state.terms).pairs_at(state, state.terms)
        pairs = at and at == next_due(state)
        return PairRound(stage=state.stage + 1) if pairs else EndRound(stage=state.stage)
    can_start = form_of(state.terms).starters(state, state.terms)
    return StartTournament() if can_start else CancelTournament()


def _draft(command: DraftTournament, state: TournamentState, now: int) -> Events:
    if state.exists:
        raise Refusal(Code.ALREADY_STARTED, SAY("exists"))
    check_terms(command.terms)
    if 0 < command.terms.starts <= now:
        raise Refusal(Code.BAD_OPTION, SAY("start-past"))
    if command.opening is UNSET:
        return (TournamentDrafted(terms=command.terms),)
    rules = rules_by_id(command.terms.rules)
    options = rules.read_options(command.terms.options)
    recorded_opening(rules, options, command.terms.seats, command.opening)
    return (ThematicDrafted(terms=command.terms, opening=command.opening),)


def _enter(
    command: EnterTournament,
    actor: AccountId,
    state: TournamentState,
    terms: TournamentTerms,
    recorded: Sequence[SectionPaired],
    chance: LotSource | None,
) -> Events:
    """Enter a player; one who makes the tournament full may start it."""
    check_open(state)
    check_phase(state, *_open_phases(terms))
    check_invited(actor, state, terms)
    account = command.account or actor
    if command.account:
        _check_organiser(actor, state)
        if not terms.robots:
            raise Refusal(Code.AGAINST_TERMS, SAY("no-robots"))
    if state.ladder is not None:
        check_entry(account, state, terms)
    elif is_league_that_runs(state):
        check_late_entry(account, state, terms)
    elif state.number_of(account) is not None:
        raise Refusal(Code.ALREADY_ENTERED, SAY("entered"))
    if terms.teams is not None:
        raise Refusal(Code.AGAINST_TERMS, SAY("by-team"))
    _check_rating(command.rating, terms)
    entered = Entered(account=account, rating=command.rating)
    after = evolve(state, entered, state.at, actor)
    starts = terms.when_full and len(after.entrants) == terms.capacity
    if starts and state.phase is Phase.ENTRY:
        return (entered, *_start(after, terms, recorded, chance))
    return (entered,)


def _invite(
    command: InvitePlayers, actor: AccountId, state: TournamentState, terms: TournamentTerms
) -> Events:
    _check_organiser(actor, state)
    check_phase(state, *_open_phases(terms))
    return (invite(command, state, terms),)


def _open_phases(terms: TournamentTerms) -> tuple[Phase, ...]:
    """Return the phases in which players enter."""
    return (Phase.ENTRY, Phase.RUNNING) if form_of(terms).late_entry else (Phase.ENTRY,)


def _join(
    command: JoinTeam, actor: AccountId, state: TournamentState, terms: TournamentTerms
) -> Events:
    check_phase(state, Phase.ENTRY)
    check_invited(actor, state, terms)
    joined = joining(command, actor, state)
    _check_rating(command.rating, terms)
    return (joined,)


def _check_rating(rating: int, terms: TournamentTerms) -> None:
    """Refuse a rating outside the band of the terms."""
    if rating < terms.least_rating:
        raise Refusal(
            Code.AGAINST_TERMS, SAY("rating-low", least=terms.least_rating, rating=rating)
        )
    if 0 < terms.most_rating < rating:
        raise Refusal(Code.AGAINST_TERMS, SAY("rating-high", most=terms.most_rating, rating=rating))


def _leave(
    command: LeaveTournament, actor: AccountId, state: TournamentState, terms: TournamentTerms
) -> Events:
    """Take an entry or the consent to take over a place back, leave a ladder, or a league before its next season.

    A director may do it for another, but not while a ladder runs: that is a withdrawal. Where that player is invited and
    has not entered, the invitation is taken back.
    """
    account = command.account or actor
    volunteers = is_volunteer(state, account)
    runs = state.ladder is not None or is_league_that_runs(state)
    if volunteers:
        check_phase(state, Phase.RUNNING, Phase.FINISHED)
    else:
        own = account == actor or state.ladder is None
        check_phase(state, Phase.RUNNING if runs and own else Phase.ENTRY)
    if account != actor:
        _check_director(actor, state)
    if volunteers:
        return (EntryTakenBack(account=account),)
    number = state.number_of(account)
    if is_league_that_runs(state):
        player = check_leaving(number, state, terms)
        left = LeftAfterSeason(account=account, player=player)
        after = evolve(state, left, state.at, actor)
        return (left, *_following(after, terms, ()))
    if number is None and account != actor and account in state.invited:
        return (InvitationTakenBack(account=account),)
    if number is None or (state.ladder is not None and number not in state.ladder.order):
        raise Refusal(Code.NOT_ENTERED, SAY("not-entered"))
    return (EntryTakenBack(account=account),)


def _start(
    state: TournamentState,
    terms: TournamentTerms,
    recorded: Sequence[SectionPaired],
    chance: LotSource | None,
) -> Events:
    """Draw the lots, if there are any, number the players, and pair what is played first."""
    players = form_of(terms).starters(state, terms)
    if not players and terms.teams is not None:
        raise Refusal(Code.TOO_EARLY, SAY("too-few-teams", size=terms.teams.size))
    if not players:
        count = len(state.entrants[: terms.room])
        raise Refusal(Code.TOO_EARLY, SAY("too-few", least=terms.least, count=count))
    before: Events = ()
    if has_lots(terms):
        entered = state.entrants[: terms.room]
        drawn = draw_lots(entered, terms, chance)
        before, state = (drawn,), evolve(state, drawn, state.at, SERVER_ACCOUNT)
        if terms.seed_by_lot:
            players = tuple(entered[place] for place in drawn.order)
    started = start_of(players)
    after = state
    for one in started:
        after = evolve(after, one, state.at, SERVER_ACCOUNT)
    return (*before, *started, *_following(after, terms, recorded))


def _report(
    reports: Sequence[MatchReport],
    state: TournamentState,
    terms: TournamentTerms,
    recorded: Sequence[SectionPaired],
) -> Events:
    check_phase(state, Phase.RUNNING, Phase.FINISHED)
    for one in reports:
        if not 0 <= one.pairing < state.count:
            raise Refusal(Code.UNKNOWN_PAIRING, SAY("no-pairing", pairing=one.pairing))
        known = state.reports.get(one.pairing)
        if known is not None and known.seq >= one.seq:
            raise Refusal(Code.TOO_LATE, SAY("old-report", pairing=one.pairing))
    counted = ResultsCounted(reports=tuple(reports))
    after = evolve(state, counted, state.at, SERVER_ACCOUNT)
    return (counted, *_following(after, terms, recorded))


def _following(
    state: TournamentState, terms: TournamentTerms, recorded: Sequence[SectionPaired]
) -> Events:
    """Return what follows without a command: further sections, or that all matches are over.

    Recorded sections are checked, and taken in place of others that would be paired today.
    """
    found: list[TournamentEvent] = []
    rest = tuple(recorded)
    form = form_of(terms)
    while state.phase is Phase.RUNNING and not state.left:
        paired = form.next_sections(state, terms)
        if paired is None:
            found.append(TournamentFinished())
            break
        if not paired:
            break
        if rest:
            again = _checked(rest, paired, state, terms)
            paired, rest = again, rest[len(again) :]
        found += paired
        for one in paired:
            state = evolve(state, one, state.at, SERVER_ACCOUNT)
    return tuple(found)


def _checked(
    rest: Sections, paired: Sections, state: TournamentState, terms: TournamentTerms
) -> Sections:
    """Return the next recorded sections, those of one stage; `bad-request` if the form does not allow them."""
    if rest[: len(paired)] == paired:
        return paired
    taken = tuple(takewhile(lambda one: one.stage == rest[0].stage, rest))
    form_of(terms).check_recorded(taken, state, terms)
    return taken


def _withdraw(
    command: WithdrawPlayer,
    actor: AccountId,
    state: TournamentState,
    terms: TournamentTerms,
    recorded: Sequence[SectionPaired],
) -> Events:
    """Take out a player; nobody does it in a section in which they play."""
    check_phase(state, Phase.RUNNING)
    if command.kind not in set(WithdrawalKind) or len(command.text) != _DIGEST_BYTES:
        raise Refusal(Code.BAD_REQUEST, SAY("withdrawal"))
    player = state.number_of(command.account)
    if player is None:
        raise Refusal(Code.NOT_ENTERED, SAY("not-entered"))
    if state.has_withdrawn(player):
        raise Refusal(Code.TOO_LATE, SAY("withdrawn"))
    _check_impartial(actor, player, state)
    unfinished = tuple(
        number for number, seats in state.seated if player in seats and state.is_open(number)
    )
    if command.ends is not None:
        of_three = terms.form == TournamentForm.THREES
        if not set(command.ends) <= set(unfinished) or (
            len(command.ends) < len(unfinished) and not of_three
        ):
            raise Refusal(Code.BAD_REQUEST, SAY("withdrawal"))
        unfinished = tuple(sorted(command.ends))
    event = PlayerWithdrawn(
        account=command.account,
        player=player,
        kind=command.kind,
        unfinished=unfinished,
        text=command.text,
    )
    after = evolve(state, event, state.at, actor)
    return (event, *_following(after, terms, recorded))


def fellow_players(account: AccountId, state: TournamentState) -> frozenset[int]:
    """Return the numbers of the players in all sections in which an account plays, and so rules over nobody."""
    assert state.terms is not None
    own = state.number_of(account)
    sections = form_of(state.terms).tables(state)
    return frozenset().union(*(one.players for one in sections if own in one.players))


def _check_impartial(actor: AccountId, player: int, state: TournamentState) -> None:
    """Refuse a ruling over a section in which the actor plays."""
    if player in fellow_players(actor, state):
        raise Refusal(Code.AGAINST_TERMS, SAY("own-section"))


def _appoint(command: AppointDirectors, state: TournamentState) -> Events:
    check_phase(state, Phase.DRAFT, Phase.ENTRY, Phase.RUNNING, Phase.FINISHED)
    if len(set(command.accounts) - {state.organiser}) > MOST_DIRECTORS:
        raise Refusal(Code.TOO_MANY, SAY("directors", most=MOST_DIRECTORS))
    return (DirectorsAppointed(accounts=command.accounts),)


def _check_adjudication(
    command: AdjudicateMatches, actor: AccountId, state: TournamentState
) -> None:
    """Refuse an adjudication that can't be."""
    check_phase(state, Phase.RUNNING)
    if len(command.text) != _DIGEST_BYTES or not 1 <= len(command.results) <= MOST_ADJUDICATED:
        raise Refusal(Code.BAD_REQUEST, SAY("adjudication"))
    pairings = dict(state.seated)
    assert state.terms is not None
    of_three = state.terms.form == TournamentForm.THREES
    fellows = fellow_players(actor, state)
    for one in command.results:
        if one.result not in (RULED_RESULTS if of_three else set(PairResult)):
            raise Refusal(Code.BAD_REQUEST, SAY("adjudication"))
        if one.pairing not in pairings:
            raise Refusal(Code.UNKNOWN_PAIRING, SAY("no-pairing", pairing=one.pairing))
        if not state.is_open(one.pairing):
            raise Refusal(Code.TOO_LATE, SAY("adjudicated", pairing=one.pairing))
        if not fellows.isdisjoint(pairings[one.pairing]):
            raise Refusal(Code.AGAINST_TERMS, SAY("own-section"))


def _adjudicate(
    made: Sequence[MatchesAdjudicated],
    actor: AccountId,
    state: TournamentState,
    terms: TournamentTerms,
    recorded: Sequence[SectionPaired],
) -> Events:
    """Decide matches that are not over."""
    after = state
    for one in made:
        after = evolve(after, one, state.at, actor)
    return (*made, *_following(after, terms, recorded))


def _end_round(
    command: EndRound,
    state: TournamentState,
    terms: TournamentTerms,
    recorded: Sequence[SectionPaired],
) -> Events:
    """Make what is not over in the last stage drawn."""
    check_phase(state, Phase.RUNNING)
    _check_stage(command.stage, state.stage)
    draw = ALL_SHARE if terms.form == TournamentForm.THREES else PairResult.DRAWN
    drawn = tuple(AdjudicatedPairing(one, draw) for one in state.open_in_stage)
    made = end_of_round(drawn, NO_REASONS, command.stage)
    return _adjudicate([*made], SERVER_ACCOUNT, state, terms, recorded)


def _pair(
    command: PairRound,
    state: TournamentState,
    terms: TournamentTerms,
    recorded: Sequence[SectionPaired],
) -> Events:
    """Pair what the server pairs."""
    check_phase(state, Phase.RUNNING)
    _check_stage(command.stage, state.stage + 1)
    paired = form_of(terms).paired(command, state, terms)
    return _checked(tuple(recorded), paired, state, terms) if recorded else paired


def _check_stage(stage: int, wanted: int) -> None:
    if stage != wanted:
        raise Refusal(Code.TOO_LATE, SAY("no-round", stage=stage))


def _running_ladder(state: TournamentState, terms: TournamentTerms) -> LadderTerms:
    """Return the rules of a ladder that runs, and has not been ended."""
    if terms.ladder is None:
        raise Refusal(Code.NOT_ALLOWED, SAY("no-ladder"))
    check_open(state)
    check_phase(state, Phase.RUNNING)
    return terms.ladder


def _drop_silent(state: TournamentState, rules: LadderTerms, now: int) -> Events:
    silent = silent_players(state, rules, now)
    if not silent:
        raise Refusal(Code.TOO_EARLY, SAY("none-silent"))
    return (SilentDropped(players=silent),)


def _end_ladder(state: TournamentState, terms: TournamentTerms) -> Events:
    """End the challenges, and the ladder too if no match of it runs."""
    ended = LadderEnded()
    after = evolve(state, ended, state.at, SERVER_ACCOUNT)
    return (ended, *_following(after, terms, ()))


def _confirm(state: TournamentState, terms: TournamentTerms) -> Events:
    if state.phase is Phase.RUNNING:
        raise Refusal(Code.TOO_EARLY, SAY("running", left=state.left))
    check_phase(state, Phase.FINISHED)
    form = form_of(terms)
    places = tuple(form.places(section, state, terms) for section in form.tables(state))
    return tuple(confirmation_of(places))


def _check_organiser(actor: AccountId, state: TournamentState) -> None:
    if actor != state.organiser:
        raise Refusal(Code.NOT_AN_ORGANISER, SAY("organiser"))


def _check_director(actor: AccountId, state: TournamentState) -> None:
    if not state.directs(actor):
        raise Refusal(Code.NOT_AN_ORGANISER, SAY("directs"))


def _check_server(actor: AccountId) -> None:
    if actor != SERVER_ACCOUNT:
        raise Refusal(Code.NOT_ALLOWED, SAY("server"))


def check_phase(state: TournamentState, *allowed: Phase) -> None:
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
