"""The audit of a match: every command is decided again, by the rules that the match recorded.

A history is valid if its events are in place and chained, and if deciding each command again in
order gives exactly the recorded events.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import assert_never

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from domain.fairness import KEPT_BYTES, Draw, Seed
from domain.match.commands import (
    Answer,
    Away,
    Command,
    Decline,
    Flag,
    Move,
    Nag,
    Offer,
    Resign,
    Resume,
    Return,
    Reveal,
    Sent,
    Start,
)
from domain.match.decide import Decided, Given, decide
from domain.match.events import (
    THE_SERVER,
    Absent,
    Answered,
    Called,
    Challenged,
    Committed,
    Declined,
    Ended,
    Envelope,
    Event,
    Flagged,
    Gathered,
    MatchStarted,
    Moved,
    Nagged,
    Offered,
    Paused,
    Resigned,
    Resumed,
    Returned,
    Revealed,
    Sealed,
    Undone,
    Withheld,
    decode,
    leaf_hash,
)
from domain.match.record import NO_MATCH, Broken, Snapshot, check_chain, seal
from domain.match.replies import Laid, Replies, Reply, merged
from domain.match.state import MatchState
from domain.rules import Seat, pinned


class Verdict(msgspec.Struct, frozen=True):
    """A valid history: its last state, the leaf hash of its last event, the number of events."""

    state: MatchState
    head: bytes
    events: int


def verify(board: int, events: Sequence[bytes]) -> Verdict:
    """Check a match's whole history; raises `Broken` with the first invalid event."""
    snapshot = NO_MATCH
    for group in _commands(check_chain(board, events)):
        state = _rerun(board, group, snapshot).state
        # hash the stored bytes, because an older version may have encoded them in another way
        snapshot = Snapshot(leaf_hash(events[state.seq - 1]), state)
    return Verdict(snapshot.state, snapshot.head, len(events))


def _commands(envelopes: Sequence[Envelope]) -> Iterator[list[Envelope]]:
    """Yield the events of each command."""
    for _, group in groupby(envelopes, key=lambda envelope: envelope.command):
        yield list(group)


def _rerun(board: int, group: Sequence[Envelope], snapshot: Snapshot) -> Snapshot:
    first = group[0]
    sent = Sent(board, first.command, first.actor, commands_of(first, snapshot.state.ply)[0])
    try:
        decision = decide(sent, snapshot.state, _given(group))
    except Exception as error:
        raise Broken(first.seq, f"the rules failed on it: {error!r}") from error
    if not isinstance(decision, Decided):
        raise Broken(first.seq, f"the rules refuse it: {decision.sentence}")
    for recorded, again in zip(group, decision.events, strict=False):
        if recorded.body != again:
            raise Broken(recorded.seq, f"the rules give {_shown(again)} here")
    if len(group) != len(decision.events):
        at = first.seq + min(len(group), len(decision.events))
        raise Broken(at, f"the rules give {len(decision.events)} events here, not {len(group)}")
    sealed, after = seal(sent, decision, snapshot, first.at)
    for recorded, data in zip(group, sealed, strict=True):
        # `prev` was checked by the stored bytes
        if replace(decode(data), prev=recorded.prev) != recorded:
            raise Broken(recorded.seq, "deciding it again gives another time or actor")
    return after


def _given(group: Sequence[Envelope]) -> Given:
    """Return the inputs with which a command leads to these events."""
    later = [envelope.body for envelope in group[1:]]
    return Given(
        received=group[0].at,
        seed=_seed(group),
        replies=_replies(group),
        kept={body.seat: body.text[:KEPT_BYTES] for body in later if isinstance(body, Revealed)},
        away={e.actor: e.body.until for e in group[1:] if isinstance(e.body, Absent)},
    )


def _seed(group: Sequence[Envelope]) -> Seed | None:
    """Return the seed that a command's events reveal or seal."""
    for envelope in reversed(group):
        match envelope.body:
            case MatchStarted(draw=Draw() as draw):
                return Seed(draw.chain, draw.k, draw.seed)
            case Sealed() as sealed:
                return Seed(sealed.chain, sealed.k, b"")
    return None


def _replies(group: Sequence[Envelope]) -> Replies:
    """Return the conditional moves that were played in these events."""
    found: dict[Seat, Laid] = {}
    for envelope in group:
        match envelope.body:
            case Moved(queued=True) as moved:
                reply = Reply(moved.ply - 1, None, moved.move)
                found[moved.seat] = merged(found.get(moved.seat, Laid()), [reply])
    return found


def tells_command(first: Envelope, rules: str) -> bool:
    """Return whether the first event of a command determines the exact command.

    It does not if a game reads several spellings of one move, because the event has the canonical
    one. Nor does it if a return came after its day was over, because the event has the later time.
    """
    match first.body:
        case Moved():
            return pinned(rules).one_spelling
        case Returned(until=until):
            return until > first.at
        case _:
            return True


def commands_of(  # noqa: C901, PLR0911, PLR0912 - one case an event
    first: Envelope, ply: int
) -> list[Command]:
    """Return the commands that this may be the first event of; all lead to the same decision.

    A move may come with or without its ply, and a proposal of the same offer is consent. `ply` is
    the number of moves played before, because the scheduler names it in its commands.
    """
    event = first.body
    match event:
        case MatchStarted() | Challenged():
            return [_start_of(event)]
        case Committed():
            return [Answer(accept=True, commitment=event.commitment)]
        case Revealed():
            return [Reveal(text=event.text)]
        case Gathered():
            return [Answer(accept=True, text=event.text)]
        case Moved():
            return [Move(text=event.move, ply=event.ply - 1), Move(text=event.move)]
        case Offered():
            return [Offer(kind=event.kind)]
        case Answered():
            consent = [Offer(kind=event.kind)] if event.accept else []
            return [Answer(accept=event.accept), *consent]
        case Resigned():
            return [Resign()]
        case Nagged():
            return [Nag(ply=ply), Nag()]
        case Flagged():
            return [Flag(ply=ply), Flag()]
        case Resumed():
            return [Resume()]
        case Absent():
            return [Away(until=event.until)]
        case Returned():
            return [Return(until=event.until)]
        case Declined() | Withheld() if first.actor == THE_SERVER:
            return [Flag(ply=0), Flag()]
        case Declined() | Withheld():
            # rejecting a match that waits for entropy declines it, too
            return [Decline(), Answer(accept=False)]
        case Undone() | Paused() | Ended() | Sealed():
            raise Broken(first.seq, "it follows from a command, and none is recorded before it")
        case _:  # pragma: no cover - the union is closed
            assert_never(event)


def _start_of(event: MatchStarted | Challenged) -> Start:
    start = Start(rules=event.rules, options=event.options, seats=event.seats, terms=event.terms)
    if isinstance(event, MatchStarted):
        # the entropy of a start that draws nothing is not recorded
        return replace(start, text=event.draw.texts[0] if event.draw else b"")
    commitments = event.commitments if isinstance(event, Called) else UNSET
    return replace(start, text=event.text, gather=True, commitments=commitments)


def _shown(event: Event) -> str:
    return msgspec.json.encode(event).decode()
