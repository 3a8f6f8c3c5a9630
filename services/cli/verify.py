"""`matchpost verify BOARD`: a match's history, checked from its bytes up.

What must hold: the events are in sequence, chained and decided again by the pinned rules
(`domain.match.audit`); the stored snapshot is what they add up to; each command's stored outcome
names its first event; and the shard's log has the events at the places that outcome gives.
"""

import sys
from collections.abc import Iterator, Sequence
from itertools import groupby

import msgspec

from domain.errors import Code, Refusal
from domain.match.audit import Verdict, verify
from domain.match.events import Envelope, decode
from domain.match.record import Broken, unpack_snapshot
from infra.keys import shard_of
from infra.outcomes import parse
from infra.settings import Settings
from infra.store.port import Store
from services.compose import Composition
from services.language.reading import read_board
from services.problems import FINE, REFUSED


def run(text: str, settings: Settings) -> int:
    """Check the match of that number; gives the exit code."""
    board = read_board(text)
    with Composition(settings) as parts:
        try:
            print(check(parts.store, board))
        except Broken as broken:
            print(f"match {board} does not hold: {broken}", file=sys.stderr)
            return REFUSED
    return FINE


def check(store: Store, board: int) -> str:
    """Say in a sentence that a match holds; `Broken` names its first event that does not.

    Refused as `unknown-board` when there is none.
    """
    data, events = _read(store, board)
    if data is None and not events:
        raise Refusal(Code.UNKNOWN_BOARD, f"there is no match {board}")
    verdict = verify(board, events)
    _check_snapshot(data, verdict)
    _check_log(store, board, events)
    return (
        f"match {board} holds: {verdict.events} events in sequence, chained, and decided again by "
        f"{verdict.state.rules} with the same result; snapshot and log agree"
    )


def _read(store: Store, board: int) -> tuple[bytes | None, list[bytes]]:
    """Give snapshot and events of one moment, though the match may be going on."""
    while True:
        (before,) = store.snapshots([board])
        events = store.events(board)
        (after,) = store.snapshots([board])
        if before == after:
            return before, events


def _check_snapshot(data: bytes | None, verdict: Verdict) -> None:
    """Compare the stored snapshot with what the events add up to."""
    try:
        snapshot = unpack_snapshot(data)
    except msgspec.MsgspecError as error:
        raise Broken(verdict.events, f"the snapshot after it can't be read: {error}") from error
    seq = snapshot.state.seq
    if seq > verdict.events:
        raise Broken(verdict.events + 1, f"it is missing: the snapshot stands after {seq} events")
    if seq < verdict.events:
        raise Broken(seq + 1, f"the snapshot knows nothing of it: it stands after {seq} events")
    if snapshot.head != verdict.head:
        raise Broken(seq, "the snapshot was made after another event: the hash differs")
    if snapshot.state != verdict.state:
        raise Broken(seq, "the snapshot's state is not what the events up to it add up to")


def _check_log(store: Store, board: int, events: Sequence[bytes]) -> None:
    """Check that each command's outcome names its first event, and where the log has it."""
    shard = shard_of(board, store.shape().shards)
    for group in _commands(events):
        first = group[0]
        stored = store.outcome(board, first.command)
        if stored is None:
            raise Broken(first.seq, "no outcome is stored for the command that led to it")
        outcome = parse(stored)
        if outcome.code or outcome.seq != first.seq:
            raise Broken(first.seq, "the outcome stored for its command is another")
        leaves = store.leaves(shard, outcome.index, len(group))
        for place, envelope in enumerate(group):
            expected = (outcome.index + place, events[envelope.seq - 1])
            if leaves[place : place + 1] != [expected]:
                raise Broken(envelope.seq, f"leaf {expected[0]} of shard {shard}'s log is another")


def _commands(events: Sequence[bytes]) -> Iterator[list[Envelope]]:
    """Give the events of each command together."""
    for _, group in groupby(map(decode, events), key=lambda envelope: envelope.command):
        yield list(group)
