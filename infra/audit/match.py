"""The audit of one match, wherever its leaves were read: in a store, the archive, a mirror or a match document.

Its events are decided again when the audit is made. Then the caller, who knows where leaves and outcomes are, has each
command checked by them. A fault is a `BrokenHistory`; nothing is read here.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from domain import aggregates
from domain.match.audit import determines_command, possible_digests
from domain.match.evolve import ply_after
from domain.match.history import (
    BrokenHistory,
    EventEnvelope,
    RefusedLeaf,
    decode_refusal,
    events_by_command,
    is_event,
)
from domain.match.imports import describe_import
from domain.match.state import MatchState
from domain.refusal_audit import NotDecidedAgain, check_refusal, restored_text
from infra.audit.draws import AnchorOf, KnownSeeds, check_draw
from infra.audit.faults import count
from infra.store.outcomes import ANY_DIGEST, CommandOutcome

Refusals = Mapping[NotDecidedAgain | None, int]
"""How many refusals there are, by the reason why they could not be decided again."""


class AcceptedCommand(NamedTuple):
    """A command that led to events."""

    events: Sequence[EventEnvelope]
    """One after another, at least one."""
    ply: int
    """The number of moves played before."""


class CheckedMatch(msgspec.Struct, frozen=True):
    """A match whose events hold, as its audit has found it."""

    board: int
    events: int
    rules: str
    leaves: Mapping[int, bytes]
    """All leaves of the match, by their indexes in the shard's log."""
    refusals: Refusals
    draw: str
    """Clauses about the draw, for the sentence."""
    kind: str = "match"
    """`match` or `tournament`."""

    def __str__(self) -> str:
        history = (
            f"holds: {count(self.events, 'event')} in sequence, chained, and decided again by "
            f"{self.rules} with the same result"
        )
        return (
            f"{self.kind} {self.board} {history if self.events else 'never began'}; snapshot, outcomes and log "
            f"agree{describe_refusals(self.refusals)}{self.draw}"
        )


class MatchAudit:
    """The audit of a match whose events hold; raises `BrokenHistory` with the first that does not.

    Refusals come after the events with the numbers `refused_after`.
    """

    def __init__(
        self, board: int, events: Sequence[bytes], refused_after: Collection[int] = ()
    ) -> None:
        self.board = board
        self._again = aggregates.verify(board, events, refused_after)
        self.events = self._again.envelopes
        self.state = self._again.state
        self.rules = aggregates.rules_of(self.state)
        self.head = self._again.head
        """The leaf hash of the last event."""
        self.refusals: Counter[NotDecidedAgain | None] = Counter()

    def commands(self) -> Iterator[AcceptedCommand]:
        """Yield the commands that led to the events, in their order."""
        ply = 0
        for group in events_by_command(self.events):
            command = AcceptedCommand(group, ply)
            yield command
            for event in command.events:
                ply = ply_after(event.body, ply)

    def check_accepted(self, command: AcceptedCommand, outcome: CommandOutcome) -> None:
        """Check the outcome of a command that led to events, but for its digest and its index."""
        first = command.events[0]
        if outcome.code or outcome.sentence or outcome.seq != first.seq:
            raise BrokenHistory(first.seq, "the outcome of its command is a different one")

    def check_digest(self, command: AcceptedCommand, outcome: CommandOutcome) -> None:
        """Check the digest in the outcome of a command that led to events."""
        first = command.events[0]
        known = outcome.digest != ANY_DIGEST and determines_command(first, self.rules)
        if known and outcome.digest not in possible_digests(command.events, command.ply):
            raise BrokenHistory(first.seq, "the outcome of its command is of another command")

    def check_refused(
        self,
        leaf: RefusedLeaf,
        outcome: CommandOutcome | None,
        seq: int,
        kept: bytes | None = None,
    ) -> None:
        """Decide a refusal after event `seq` again, by its outcome and its command if they are known."""
        state = self._again.states.get(seq)
        if state is None:
            raise BrokenHistory(
                seq, "a refusal came between it and the next event of the same command"
            )
        digest = text = None
        if outcome is not None:
            digest, text = outcome.digest, outcome.text
            if digest == ANY_DIGEST:
                digest = None
                if text != restored_text(outcome.code):
                    raise BrokenHistory(
                        seq, "the outcome of a refusal after it has no digest of its command"
                    )
        self.refusals[check_refusal(leaf, state, digest, text, kept)] += 1

    def check_draw(
        self, shard: int, indexes: Sequence[int], anchor_of: AnchorOf, known: KnownSeeds
    ) -> str:
        """Check the draw, and return clauses about it; `indexes` are those of the events in the log."""
        return check_draw(shard, self.events, indexes, anchor_of, known)

    def found(self, leaves: Mapping[int, bytes], draw: str) -> CheckedMatch:
        """Return the match, once all that the caller has of it was checked."""
        imported = self.state.imported if isinstance(self.state, MatchState) else None
        return CheckedMatch(
            board=self.board,
            events=len(self.events),
            rules=self.rules,
            leaves=leaves,
            refusals=self.refusals,
            draw=draw + (f"; {describe_import(imported)}" if imported else ""),
            kind="match" if isinstance(self.state, MatchState) else "tournament",
        )


def audit_leaves(
    board: int,
    shard: int,
    leaves: Mapping[int, bytes],
    anchor_of: AnchorOf,
    known: KnownSeeds,
) -> CheckedMatch:
    """Return a match of which there are leaves by their indexes, in their order, and nothing else."""
    events = {index: leaf for index, leaf in leaves.items() if is_event(leaf)}
    refused, seq = [], 0
    for index, leaf in leaves.items():
        if index in events:
            seq += 1
        else:
            refused.append((seq, decode_refusal(leaf)))
    audit = MatchAudit(board, [*events.values()], {seq for seq, _ in refused})
    draw = audit.check_draw(shard, [*events], anchor_of, known)
    for seq, refusal in refused:
        audit.check_refused(refusal, None, seq)
    return audit.found(leaves, draw)


class CheckedMatches(msgspec.Struct):
    """Some matches as their audit has found them."""

    matches: int = 0
    events: int = 0
    refusals: Counter[NotDecidedAgain | None] = msgspec.field(default_factory=Counter)
    faults: dict[int, str] = msgspec.field(default_factory=dict)
    """The first fault of each damaged match."""
    unread: dict[int, str] = msgspec.field(default_factory=dict)
    """Why matches could not be read now, which is no fault of theirs."""

    def sentences(self) -> Iterator[str]:
        """Return a sentence for each match that does not hold."""
        for board, why in sorted(self.faults.items()):
            yield f"match {board} does not hold: {why}"

    def add_match(self, match: CheckedMatch) -> None:
        """Add a match whose events hold."""
        self.matches += 1
        self.events += match.events
        self.refusals += Counter(match.refusals)

    def add_fault(self, board: int, fault: str) -> None:
        """Add a match that is damaged."""
        self.matches += 1
        self.faults[board] = fault

    def add_unread(self, board: int, why: str) -> None:
        """Add a match that could not be read now."""
        self.matches += 1
        self.unread[board] = why

    def add(self, other: "CheckedMatches") -> None:
        """Add what another check has found."""
        self.matches += other.matches
        self.events += other.events
        self.refusals += other.refusals
        self.faults |= other.faults
        self.unread |= other.unread


def describe_refusals(refusals: Refusals) -> str:
    """Return clauses about refusals, for a sentence; empty without any."""
    clauses = []
    if again := refusals.get(None, 0):
        clauses.append(f"; {count(again, 'refusal')} decided again with the same sentence")
    clauses += [
        f"; {count(number, 'refusal')} could not be decided again: {lacking}"
        for lacking, number in sorted(refusals.items(), key=str)
        if lacking is not None
    ]
    return "".join(clauses)
