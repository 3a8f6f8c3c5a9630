"""The match as a decider: a command and a state in, events or a refusal out.

`decide` is pure and deterministic: the same command on the same state gives the same events in
any process. It needs no names, clocks or passwords, because the front ends have checked those.
"""

from typing import assert_never

from domain.errors import Code, Refusal
from domain.match.clocks import (
    add_vacations,
    check_commit_time,
    check_time,
    decide_timeout,
    decide_vacation,
    end_pause,
)
from domain.match.commands import (
    AnswerOffer,
    Command,
    CommandEnvelope,
    DeclineMatch,
    EndVacation,
    FlagPlayer,
    GiveRuling,
    ImportMatch,
    MakeAppeal,
    MakeClaim,
    MakeOffer,
    PlayMove,
    RemindPlayer,
    ResignMatch,
    ResumeMatch,
    RevealText,
    StartMatch,
    StartVacation,
    SubstitutePlayer,
)
from domain.match.decision import (
    NO_CONTEXT,
    Decision,
    DecisionContext,
    Rejection,
    read_move,
    seat_of,
)
from domain.match.disputes import decide_dispute
from domain.match.imports import import_match
from domain.match.moves import (
    accept_invitation,
    decide_resignation,
    decline_match,
    play_conditional_moves,
    play_move,
    substitute_player,
)
from domain.match.offers import OFFER_KINDS, answer_offer, make_offer
from domain.match.sentences import SAY
from domain.match.start import (
    accounts_needed,
    decide_before_draw,
    needs_seed,
    sealed_seed,
    start_match,
)
from domain.match.state import MatchState
from domain.rules import Seat, rules_by_id
from domain.tournament.commands import TournamentCommandBase

__all__ = [
    "NO_CONTEXT",
    "OFFER_KINDS",
    "Decision",
    "DecisionContext",
    "Rejection",
    "accounts_needed",
    "decide",
    "needs_seed",
    "read_move",
    "sealed_seed",
    "seat_of",
]


RunningCommand = (
    PlayMove
    | MakeOffer
    | AnswerOffer
    | RevealText
    | DeclineMatch
    | ResumeMatch
    | StartVacation
    | EndVacation
)
PlayerCommand = RunningCommand | ResignMatch


def decide(
    sent: CommandEnvelope, state: MatchState, context: DecisionContext = NO_CONTEXT
) -> Decision | Rejection:
    """Return the events that a command leads to in this state, or why it is rejected."""
    try:
        decision = _decide(sent, state, context)
        if context.away:
            decision = add_vacations(decision, state, context, max(context.received, state.at))
        return (
            play_conditional_moves(decision, state, context.conditional_moves)
            if context.conditional_moves
            else decision
        )
    except Refusal as refusal:
        return Rejection(refusal.code, refusal.text, _canonical_move(sent.command, state))


def _decide(sent: CommandEnvelope, state: MatchState, context: DecisionContext) -> Decision:
    now = max(context.received, state.at)
    match sent.command:
        case (  # the first, because most commands are moves
            PlayMove()
            | MakeOffer()
            | AnswerOffer()
            | RevealText()
            | DeclineMatch()
            | ResignMatch()
            | ResumeMatch()
            | StartVacation()
            | EndVacation()
        ) as command:
            return _decide_for_player(sent, command, state, context, now)
        case StartMatch() as command:
            return start_match(sent, command, state, context)
        case ImportMatch() as command:
            return import_match(command, sent.actor, state)
        case RemindPlayer() | FlagPlayer() as command:
            return decide_timeout(command, sent.actor, state, now, context.unseen)
        case MakeClaim() | GiveRuling() | MakeAppeal() as command:
            return decide_dispute(command, sent.actor, state, now)
        case SubstitutePlayer() as command:
            if state.pairing is not None:
                check_time(state, now)
            return substitute_player(command, sent.actor, state)
        case TournamentCommandBase():
            raise Refusal(Code.UNKNOWN_TOURNAMENT, SAY("no-tournament", number=sent.match))


def _decide_for_player(
    sent: CommandEnvelope,
    command: PlayerCommand,
    state: MatchState,
    context: DecisionContext,
    now: int,
) -> Decision:
    """Decide a command that only the players of a match may send."""
    seat = seat_of(sent.actor, state)
    if state.over:
        raise Refusal(Code.MATCH_OVER, SAY("over"))
    if state.awaits_entropy:
        return decide_before_draw(sent, seat, state, context)
    if state.out and seat not in state.active_seats:
        raise Refusal(Code.NOT_A_PLAYER, SAY("left"))
    if state.invitation is not None:
        check_commit_time(state, now)
        match command:
            case DeclineMatch() | ResignMatch() | AnswerOffer(accept=False):
                return decline_match(seat, state)
            case AnswerOffer():
                return accept_invitation(seat, state)
            case MakeOffer() | ResumeMatch():
                raise Refusal(Code.NOT_STARTED, SAY("invited"))
            case _:
                pass  # moving is accepting
    if isinstance(command, ResignMatch):
        return decide_resignation(seat, state)
    check_time(state, now)
    return _decide_running(command, seat, state, now)


def _decide_running(
    command: RunningCommand,
    seat: Seat,
    state: MatchState,
    now: int,
) -> Decision:
    """Decide a player's command in a running match."""
    match command:
        case PlayMove():
            return play_move(command, seat, state)
        case MakeOffer():
            return make_offer(command, seat, state)
        case AnswerOffer():
            return answer_offer(command, seat, state)
        case RevealText():
            raise Refusal(Code.TOO_LATE, SAY("begun"))
        case DeclineMatch():
            return decline_match(seat, state)
        case ResumeMatch():
            return end_pause(seat, state)
        case StartVacation() | EndVacation():
            return Decision((decide_vacation(command, seat, state, now),))
        case _:  # pragma: no cover - the union is closed
            assert_never(command)


def _canonical_move(command: Command, state: MatchState) -> str | None:
    """Return the move's canonical text for the log, if the text is readable."""
    if not isinstance(command, PlayMove) or not state.started:
        return None
    rules = rules_by_id(state.rules)
    try:
        return rules.write(read_move(rules, command.text))
    except Refusal:
        return None
