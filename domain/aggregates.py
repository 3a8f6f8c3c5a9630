"""The aggregates: matches and tournaments, each a chain of events under one number, decided and folded purely.

Inboxes, logs and the store take any of them. What drains, restores, audits and the scheduler need of an aggregate is
here, so that they know no kind by name. One of a further kind has its commands and events in the unions of
`domain.match`, and its row in each function below.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

import msgspec

from domain.errors import Code, Refusal
from domain.match import audit as of_matches
from domain.match import state as match_state
from domain.match.clocks import all_late_are_robots
from domain.match.commands import (
    Command,
    CommandEnvelope,
    FlagPlayer,
    RemindPlayer,
)
from domain.match.decide import decide as decide_match
from domain.match.decision import Decision, DecisionContext, Rejection
from domain.match.evolve import evolve as evolve_match
from domain.match.history import (
    EMPTY_SNAPSHOT,
    NO_HASH,
    BrokenHistory,
    EventEnvelope,
    PackedSnapshot,
    Snapshot,
    chain_events,
    decode_event,
    encode_event,
    is_tournament,
    leaf_hash,
    pack_snapshot,
    unpack_snapshot,
)
from domain.match.sentences import SAY
from domain.match.state import MatchState, reminder_is_due
from domain.records import SCHEMA, AccountId, RecordDecoder
from domain.tournament import decide as of_tournaments
from domain.tournament.commands import TournamentCommandBase
from domain.tournament.events import SectionPaired, TournamentEventBody
from domain.tournament.evolve import evolve as evolve_tournament
from domain.tournament.lots import LotSource, may_draw_lots
from domain.tournament.state import TournamentState

AnyState = MatchState | TournamentState

Decider = Callable[[CommandEnvelope, MatchState, DecisionContext], Decision | Rejection]
"""Decides the commands of matches."""


class TournamentSnapshot(msgspec.Struct, frozen=True):
    """A tournament in the store: the leaf hash of its last event, and its state."""

    head: bytes
    state: TournamentState


AnySnapshot = Snapshot | TournamentSnapshot

_NO_TOURNAMENT: Final = TournamentSnapshot(NO_HASH, TournamentState())
_PACK: Final = msgspec.msgpack.Encoder()
_UNPACK: Final = RecordDecoder(TournamentState)
_HEAD: Final = 32


def unpack(packed: PackedSnapshot | None) -> AnySnapshot:
    """Read a stored snapshot; an empty match's for None, `msgspec.MsgspecError` for a damaged one."""
    if packed is None or not is_tournament(packed):
        return unpack_snapshot(packed)
    state = _UNPACK.decode(memoryview(packed.state)[_HEAD:])
    return TournamentSnapshot(packed.state[:_HEAD], state)


def pack(snapshot: AnySnapshot, since: AnyState | None = None) -> PackedSnapshot:
    """Return the parts of a snapshot to store; `since` as `pack_snapshot` takes it."""
    if isinstance(snapshot, Snapshot):
        return pack_snapshot(snapshot, since if isinstance(since, MatchState) else None)
    return PackedSnapshot(snapshot.head + _PACK.encode(snapshot.state))


def before_first(command: Command) -> AnySnapshot:
    """Return the empty snapshot on which a command is decided where there are no events yet."""
    return _NO_TOURNAMENT if isinstance(command, TournamentCommandBase) else EMPTY_SNAPSHOT


def decide(
    sent: CommandEnvelope,
    state: AnyState,
    context: DecisionContext,
    decide_match: Decider = decide_match,
    recorded: Sequence[SectionPaired] = (),
) -> Decision | Rejection:
    """Return the events that a command leads to in this state, or why it is rejected.

    `recorded` are the pairings of a start that is decided again.
    """
    command = sent.command
    if not state.seq:
        state = before_first(command).state
    if isinstance(state, MatchState):
        return decide_match(sent, state, context)
    if not isinstance(command, TournamentCommandBase):
        return Rejection(Code.UNKNOWN_BOARD, SAY("no-match"))
    try:
        now = max(context.received, state.at)
        chance = LotSource(context.seed, sent.match, sent.id) if context.seed else None
        return Decision(of_tournaments.decide(command, sent.actor, state, now, recorded, chance))
    except Refusal as refusal:
        return Rejection(refusal.code, refusal.text)


def may_draw(sent: CommandEnvelope, state: AnyState) -> bool:
    """Return whether a command may draw the lots of a tournament, for which it needs the shard's next seed."""
    command = sent.command
    if not isinstance(command, TournamentCommandBase) or not isinstance(state, TournamentState):
        return False
    return may_draw_lots(command, state)


def chain(
    sent: CommandEnvelope, decision: Decision, snapshot: AnySnapshot, received: int
) -> tuple[tuple[bytes, ...], AnySnapshot]:
    """Return the events' final bytes, each chained to the one before, and the snapshot after them."""
    if isinstance(snapshot, Snapshot):
        return chain_events(sent, decision, snapshot, received)
    state: AnyState = snapshot.state
    head, leaves, at = snapshot.head, [], max(received, state.at)
    for event in decision.events:
        envelope = EventEnvelope(
            SCHEMA, sent.match, state.seq + 1, at, sent.id, sent.actor, head, event
        )
        leaves.append(encode_event(envelope))
        head = leaf_hash(leaves[-1])
        state = evolve(state, envelope)
    return tuple(leaves), snapshot_of(head, state)


def evolve(state: AnyState, envelope: EventEnvelope) -> AnyState:
    """Return the state after an event, without checking it."""
    body = envelope.body
    if isinstance(body, TournamentEventBody):
        before = state if isinstance(state, TournamentState) else TournamentState()
        return evolve_tournament(before, body, envelope.at, envelope.actor)
    assert isinstance(state, MatchState)
    return evolve_match(state, body, envelope.at, actor=envelope.actor)


def fold(envelopes: Iterable[EventEnvelope]) -> AnyState:
    """Return the state after all events of an aggregate, without checking them."""
    state: AnyState = EMPTY_SNAPSHOT.state
    for envelope in envelopes:
        state = evolve(state, envelope)
    return state


def next_due(state: AnyState) -> int:
    """Return when the scheduler has to act next, ms; 0 for never without another event."""
    if isinstance(state, MatchState):
        return match_state.next_due(state)
    return of_tournaments.next_due(state)


def ended_at(state: AnyState) -> int:
    """Return the time of the last event of a match or a tournament that is over, ms; else 0. Some time later it is retired."""
    return state.at if state.over else 0


def accounts_of(state: AnyState) -> tuple[AccountId, ...]:
    """Return the accounts of the players, and of the organiser of a tournament."""
    if isinstance(state, TournamentState):
        return tuple(dict.fromkeys((state.organiser, *(one.account for one in state.entrants))))
    return state.seats


def due_command(state: AnyState, now: int, *, spare_robots: bool) -> Command | None:
    """Return what the scheduler has to send at `now`, ms; None if nothing is due.

    With `spare_robots` no flag falls of robots, which are late if their server was down.
    """
    if not 0 < next_due(state) <= now:
        return None
    if isinstance(state, TournamentState):
        return of_tournaments.due_command(state)
    if reminder_is_due(state, now):
        return RemindPlayer(ply=state.ply)
    if spare_robots and all_late_are_robots(state, now):
        return None
    return FlagPlayer(ply=state.ply)


def rules_of(state: AnyState) -> str:
    """Return the rules and their version; empty before the first event."""
    if isinstance(state, TournamentState):
        return state.terms.rules if state.terms else ""
    return state.rules


# audits


def verify(
    number: int, events: Sequence[bytes], wanted: Collection[int] = ()
) -> of_matches.AuditResult[AnyState]:
    """Check the whole history of an aggregate; see `domain.match.audit.verify`."""

    def again(group: Sequence[EventEnvelope], head: bytes, state: AnyState) -> AnyState:
        before = snapshot_of(head, state)
        return decide_again(number, group, before)[1].state

    state: AnyState = TournamentState() if begins_tournament(events) else EMPTY_SNAPSHOT.state
    return of_matches.verify_chain(number, events, wanted, state, again)


def begins_tournament(events: Sequence[bytes]) -> bool:
    """Return whether a history is a tournament's, by its first event; False if that can't be read."""
    try:
        return isinstance(decode_event(events[0]).body, TournamentEventBody) if events else False
    except msgspec.MsgspecError:
        return False


def snapshot_of(head: bytes, state: AnyState) -> AnySnapshot:
    """Return a state with the leaf hash of its last event."""
    if isinstance(state, TournamentState):
        return TournamentSnapshot(head, state)
    return Snapshot(head, state)


def decide_again(
    number: int, group: Sequence[EventEnvelope], snapshot: AnySnapshot
) -> tuple[Decision, AnySnapshot]:
    """Return the decision of the command that led to these events, and the snapshot after them.

    Raises `BrokenHistory` where that leads to other events.
    """
    first = group[0]
    if isinstance(first.body, TournamentEventBody) and isinstance(snapshot, Snapshot):
        snapshot = TournamentSnapshot(snapshot.head, TournamentState())
    if isinstance(snapshot, Snapshot):
        return of_matches.decide_again(number, group, snapshot)
    command = of_matches.possible_commands(first, 0)[0]
    sent = CommandEnvelope(number, first.command, first.actor, command)
    bodies = [one.body for one in group]
    recorded = tuple(body for body in bodies if isinstance(body, SectionPaired))
    context = DecisionContext(received=first.at, seed=of_matches.recorded_seed(group))
    decision = decide(sent, snapshot.state, context, recorded=recorded)
    accepted = of_matches.check_decision(decision, group)
    if any(one.actor != first.actor or one.at != first.at for one in group):
        raise BrokenHistory(first.seq, "deciding it again gives another time or actor")
    _, after = chain(sent, accepted, snapshot, first.at)
    return accepted, after
