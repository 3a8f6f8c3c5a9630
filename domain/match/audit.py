"""The audit of a match: every command is decided again, by the rules that the match recorded.

A history is valid if its events are in place and chained, and if deciding each command again in
order gives exactly the recorded events.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Generic, Protocol, TypeVar, assert_never

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from domain.fairness import STORED_TEXT_BYTES, ChainSeed
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
    command_digest,
    encode_command,
)
from domain.match.conditional_moves import (
    ConditionalMove,
    ConditionalMoves,
    ConditionalMovesBySeat,
    merge,
)
from domain.match.decide import decide
from domain.match.decision import Decision, DecisionContext, Rejection
from domain.match.events import (
    Absent,
    Accepted,
    Appealed,
    Called,
    Challenged,
    Claimed,
    Committed,
    DealProposed,
    Declined,
    Ended,
    Event,
    Flagged,
    Gathered,
    Imported,
    MatchPaired,
    MatchProposed,
    MatchStarted,
    Moved,
    Nagged,
    OfferAnswered,
    OfferMade,
    OpeningGiven,
    Paused,
    Resigned,
    ResultChanged,
    Resumed,
    Returned,
    Revealed,
    Ruled,
    Sealed,
    SeatTakenOver,
    SetBack,
    TimeGiven,
    Undone,
    Withheld,
    draw_of,
)
from domain.match.history import (
    EMPTY_SNAPSHOT,
    NO_HASH,
    BrokenHistory,
    EventEnvelope,
    Snapshot,
    chain_events,
    check_chain,
    decode_event,
    events_by_command,
    leaf_hash,
)
from domain.match.state import MatchState, Reason
from domain.records import SERVER_ACCOUNT
from domain.rules import Seat, rules_by_id
from domain.tournament.events import TournamentEventBody
from domain.tournament.recorded import possible_commands as recorded_commands


class _CountedState(Protocol):
    """A state that knows how many events led to it."""

    @property
    def seq(self) -> int: ...


State = TypeVar("State", bound=_CountedState)


class AuditResult(msgspec.Struct, Generic[State], frozen=True):
    """A valid history."""

    state: State
    """The last one."""
    head: bytes
    """The leaf hash of the last event."""
    envelopes: list[EventEnvelope]
    states: Mapping[int, State]
    """The states that were asked for, by the number of the last event before."""

    @property
    def events(self) -> int:
        """The number of events."""
        return len(self.envelopes)


def verify(
    board: int, events: Sequence[bytes], wanted: Collection[int] = ()
) -> AuditResult[MatchState]:
    """Check a match's whole history; raises `BrokenHistory` with the first invalid event.

    Returns the states after the events with the `wanted` numbers, if a command ends there.
    """

    def again(group: Sequence[EventEnvelope], head: bytes, state: MatchState) -> MatchState:
        return decide_again(board, group, Snapshot(head, state))[1].state

    return verify_chain(board, events, wanted, EMPTY_SNAPSHOT.state, again)


def verify_chain(
    number: int,
    events: Sequence[bytes],
    wanted: Collection[int],
    state: State,
    again: Callable[[Sequence[EventEnvelope], bytes, State], State],
) -> AuditResult[State]:
    """Check the whole history of an aggregate, as `verify` does.

    `state` is the one before the first event. `again` decides the command of some events again, on the head and the
    state before them, and returns the state after them.
    """
    head = NO_HASH
    envelopes = check_chain(number, events)
    states = {0: state}
    for group in events_by_command(envelopes):
        state = again(group, head, state)
        if state.seq in wanted:
            states[state.seq] = state
        # hash the stored bytes, because an older version may have encoded them in another way
        head = leaf_hash(events[state.seq - 1])
    return AuditResult(state, head, envelopes, states)


def decide_again(
    board: int, group: Sequence[EventEnvelope], snapshot: Snapshot
) -> tuple[Decision, Snapshot]:
    """Return the decision of the command that led to these events, and the snapshot after them.

    Raises `BrokenHistory` where that leads to other events.
    """
    first = group[0]
    commands = possible_commands(first, snapshot.state.ply, group[1:])
    sent = CommandEnvelope(board, first.command, first.actor, commands[0])
    try:
        decision = decide(sent, snapshot.state, _recorded_context(group))
    except Exception as error:
        raise BrokenHistory(first.seq, f"the rules failed on it: {error!r}") from error
    accepted = check_decision(decision, group)
    sealed, after = chain_events(sent, accepted, snapshot, first.at)
    for recorded, data in zip(group, sealed, strict=True):
        # `prev` was checked by the stored bytes
        if replace(decode_event(data), prev=recorded.prev) != recorded:
            raise BrokenHistory(recorded.seq, "deciding it again gives another time or actor")
    return accepted, after


def check_decision(decision: Decision | Rejection, group: Sequence[EventEnvelope]) -> Decision:
    """Return a decision that was made again if it has the recorded events; else raise `BrokenHistory`."""
    first = group[0]
    if not isinstance(decision, Decision):
        raise BrokenHistory(first.seq, f"the rules refuse it: {decision.sentence}")
    for recorded, again in zip(group, decision.events, strict=False):
        if recorded.body != again:
            raise BrokenHistory(recorded.seq, f"the rules give {_json_of(again)} here")
    if len(group) != len(decision.events):
        at = first.seq + min(len(group), len(decision.events))
        raise BrokenHistory(
            at, f"the rules give {len(decision.events)} events here, not {len(group)}"
        )
    return decision


def _recorded_context(group: Sequence[EventEnvelope]) -> DecisionContext:
    """Return the inputs with which a command leads to these events."""
    later = [envelope.body for envelope in group[1:]]
    return DecisionContext(
        received=group[0].at,
        seed=recorded_seed(group),
        conditional_moves=_played_conditional_moves(group),
        stored_texts={
            body.seat: body.text[:STORED_TEXT_BYTES] for body in later if isinstance(body, Revealed)
        },
        away={e.actor: e.body.until for e in group[1:] if isinstance(e.body, Absent)},
        unseen=frozenset(e.body.seat for e in group if isinstance(e.body, Declined)),
    )


def recorded_seed(group: Sequence[EventEnvelope]) -> ChainSeed | None:
    """Return the seed that a command's events reveal or seal."""
    for envelope in reversed(group):
        if draw := draw_of(envelope.body):
            return ChainSeed(draw.chain, draw.k, draw.seed)
        if isinstance(sealed := envelope.body, Sealed):
            return ChainSeed(sealed.chain, sealed.k, b"")
    return None


def _played_conditional_moves(group: Sequence[EventEnvelope]) -> ConditionalMovesBySeat:
    """Return the conditional moves that were played in these events."""
    found: dict[Seat, ConditionalMoves] = {}
    for envelope in group:
        match envelope.body:
            case Moved(queued=True) as moved:
                reply = ConditionalMove(moved.ply - 1, None, moved.move)
                found[moved.seat] = merge(found.get(moved.seat, ConditionalMoves()), [reply])
    return found


def determines_command(first: EventEnvelope, rules: str) -> bool:
    """Return whether the first event of a command determines the exact command.

    It does not if a game reads several spellings of one move, because the event has the canonical
    one. Nor does it if a return came after its day was over, because the event has the later time.
    """
    match first.body:
        case Moved():
            return rules_by_id(rules).has_one_spelling
        case Returned(until=until):
            return until > first.at
        case _:
            return True


def possible_commands(  # noqa: C901, PLR0911, PLR0912 - one case an event
    first: EventEnvelope, ply: int, more: Sequence[EventEnvelope] = ()
) -> list[Command]:
    """Return the commands that this may be the first event of; all lead to the same decision.

    A move may come with or without its ply, and a proposal of the same offer is consent. `ply` is
    the number of moves played before, because the scheduler names it in its commands. `more` are
    the other events of the command, because what a ruling changes is in events of its own.
    """
    event = first.body
    match event:
        case Imported():
            return [_import_command(event)]
        case MatchStarted() | Challenged():
            return [_start_command(event, [envelope.body for envelope in more])]
        case Accepted():
            return [AnswerOffer(accept=True)]
        case Committed():
            return [AnswerOffer(accept=True, commitment=event.commitment)]
        case Revealed():
            return [RevealText(text=event.text)]
        case Gathered():
            return [AnswerOffer(accept=True, text=event.text)]
        case Moved():
            return [PlayMove(text=event.move, ply=event.ply - 1), PlayMove(text=event.move)]
        case OfferMade():
            return [MakeOffer(kind=event.kind)]
        case OfferAnswered():
            consent = [MakeOffer(kind=event.kind)] if event.accept else []
            return [AnswerOffer(accept=event.accept), *consent]
        case Resigned():
            return [ResignMatch()]
        case Nagged():
            return [RemindPlayer(ply=ply), RemindPlayer()]
        case Flagged():
            return [FlagPlayer(ply=ply), FlagPlayer()]
        case Resumed():
            return [ResumeMatch()]
        case Absent():
            return [StartVacation(until=event.until)]
        case Returned():
            return [EndVacation(until=event.until)]
        case Declined() | Withheld() if first.actor == SERVER_ACCOUNT:
            return [FlagPlayer(ply=ply), FlagPlayer()]
        case Declined() | Withheld():
            # rejecting or resigning a match that not all have accepted declines it, too
            return [DeclineMatch(), AnswerOffer(accept=False), ResignMatch()]
        case Claimed():
            return [MakeClaim(ply=event.ply, text=event.text)]
        case Appealed():
            return [MakeAppeal(claim=event.claim, text=event.text)]
        case Ruled():
            return [_ruling(event, [envelope.body for envelope in more])]
        case SeatTakenOver():
            return [SubstitutePlayer(seat=event.seat, account=event.account)]
        case (
            Undone()
            | Paused()
            | Ended()
            | Sealed()
            | SetBack()
            | ResultChanged()
            | TimeGiven()
            | OpeningGiven()
        ):
            raise BrokenHistory(
                first.seq, "it follows from a command, and none is recorded before it"
            )
        case TournamentEventBody() if found := recorded_commands(event, first.actor):
            return list(found)
        case TournamentEventBody():
            raise BrokenHistory(
                first.seq, "it follows from a command, and none is recorded before it"
            )
        case _:  # pragma: no cover - the union is closed
            assert_never(event)


def possible_digests(group: Sequence[EventEnvelope], ply: int) -> list[bytes]:
    """Return the digests of all commands, as sent, that can have led to these events; `ply` as above."""
    first = group[0]
    return [
        command_digest(
            encode_command(CommandEnvelope(first.match, first.command, first.actor, command))
        )
        for command in possible_commands(first, ply, group[1:])
    ]


def _ruling(event: Ruled, more: Sequence[Event]) -> GiveRuling:
    """Return the command that led to a ruling and to the events after it."""
    command = GiveRuling(claim=event.claim, upheld=event.upheld, text=event.text)
    time = tuple((one.seat, one.ms) for one in more if isinstance(one, TimeGiven))
    for one in more:
        match one:
            case SetBack():
                command = replace(command, back_to=one.ply)
            case ResultChanged(reason=Reason.ANNULLED):
                command = replace(command, annul=True)
            case ResultChanged():
                command = replace(command, winners=one.winners)
    return replace(command, time=time)


def _start_command(event: MatchStarted | Challenged, more: Sequence[Event]) -> StartMatch:
    start = StartMatch(
        rules=event.rules, options=event.options, seats=event.seats, terms=event.terms
    )
    if isinstance(event, MatchProposed | DealProposed):
        start = replace(start, lapse=event.lapse)
    if isinstance(event, MatchPaired):
        start = replace(start, pairing=(event.tournament, event.pairing))
    for one in more:
        if isinstance(one, OpeningGiven):
            start = replace(start, opening=one.moves)
    if isinstance(event, MatchStarted):
        # the entropy of a start that draws nothing is not recorded
        return replace(start, text=event.draw.texts[0] if event.draw else b"")
    commitments = event.commitments if isinstance(event, Called) else UNSET
    if isinstance(event, DealProposed) and event.server_deals:
        start = replace(start, server_deals=True)
    return replace(start, text=event.text, gather=True, commitments=commitments)


def _import_command(event: Imported) -> ImportMatch:
    names = ImportMatch.__struct_fields__
    return ImportMatch(**{name: getattr(event, name) for name in names})


def _json_of(event: Event) -> str:
    return msgspec.json.encode(event).decode()
