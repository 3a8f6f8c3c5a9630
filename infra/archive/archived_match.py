"""A match of the archive: its entry in a directory page, and the match made again from entry and leaves.

`describe` and `restore` are inverse to each other. A match is only retired after `restore` has made again
all that is stored of it, from the leaves of the published log (`require_same`).
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

import msgspec
from msgspec.structs import replace

from domain.errors import Refusal
from domain.match.events import CommandId
from domain.match.evolve import evolve
from domain.match.history import (
    BrokenHistory,
    PackedSnapshot,
    Snapshot,
    check_chain,
    events_by_command,
    pack_snapshot,
    unpack_snapshot,
)
from domain.match.leaves import EventEnvelope, decode_event, decode_refusal, is_event, leaf_hash
from domain.match.state import MatchState, cache_position, initial
from domain.ratings import ranking
from infra.archive.directory_pages import DirectoryEntry, MatchSummary
from infra.store import locators
from infra.store.outcomes import encode_stored, parse, tail

_DIGEST: Final = 8


class ArchiveError(Exception):
    """A match can't be read from the archive, or must not be retired."""


class ArchivedMatch(msgspec.Struct, frozen=True):
    """All that was stored of a match, as the readers of a store want it."""

    snapshot: PackedSnapshot
    events: list[bytes]
    outcomes: Mapping[CommandId, bytes]
    indexes: list[int]
    """Of its leaves, in its shard's log."""


def describe(board: int, match: ArchivedMatch) -> DirectoryEntry:
    """Return the entry of a match that is over; `ArchiveError` if its outcomes do not fit its events."""
    state = unpack_snapshot(match.snapshot).state
    if state.result is None:
        raise ArchiveError(f"match {board} is not over")
    commands = list(events_by_command(map(decode_event, match.events)))
    missing = [group for group in commands if group[0].command not in match.outcomes]
    if missing:
        raise ArchiveError(f"event {missing[0][0].seq} of match {board} has no outcome")
    accepted = {group[0].command: None for group in commands}
    refused = [(id_, stored) for id_, stored in match.outcomes.items() if id_ not in accepted]
    return DirectoryEntry(
        board=board,
        head=match.snapshot.state[:32],
        seq=state.seq,
        first_at=decode_event(match.events[0]).at,
        last_at=state.at,
        locator=locators.encode(match.indexes),
        summary=_summary(state),
        digests=b"".join(match.outcomes[id_][:_DIGEST] for id_ in accepted),
        refusals=tuple(sorted(refused, key=lambda pair: parse(pair[1]).index)),
    )


def restore(entry: DirectoryEntry, leaves: Sequence[bytes]) -> ArchivedMatch:
    """Return the match of an entry; `ArchiveError` unless its leaves are the match's, whole and in order."""
    board = entry.board
    indexes = locators.decode(entry.locator)
    if len(leaves) != len(indexes):
        raise ArchiveError(f"match {board} has {len(indexes)} leaves, and {len(leaves)} were read")
    pairs = list(zip(indexes, leaves, strict=True))
    try:
        places = [index for index, leaf in pairs if is_event(leaf)]
        events = [leaf for leaf in leaves if is_event(leaf)]
        envelopes = check_chain(board, events)
        refused = [(index, decode_refusal(leaf)) for index, leaf in pairs if not is_event(leaf)]
        outcomes = [(id_, parse(stored)) for id_, stored in entry.refusals]
    except (BrokenHistory, ValueError) as error:
        raise ArchiveError(f"match {board} does not hold in the archive: {error}") from error
    if [(board, id_, one.index, one.code) for id_, one in outcomes] != [
        (leaf.match, leaf.command, index, leaf.code) for index, leaf in refused
    ]:
        raise ArchiveError(
            f"the archive's entry of match {board} has other refusals than its leaves"
        )
    head = leaf_hash(events[-1]) if events else b""
    if (head, len(events)) != (entry.head, entry.seq):
        raise ArchiveError(f"the archive's history of match {board} ends with another event")
    state = _fold(envelopes)
    with suppress(Refusal):  # the game is not installed here
        state = cache_position(state)
    return ArchivedMatch(
        snapshot=pack_snapshot(Snapshot(head, state)),
        events=events,
        outcomes=_outcomes(entry, envelopes, places),
        indexes=indexes,
    )


def require_same(board: int, stored: ArchivedMatch, restored: ArchivedMatch) -> None:
    """Raise `ArchiveError` unless a match that was made again is the stored one in all its parts."""
    parts = {
        "snapshot": (_without_position(stored.snapshot), _without_position(restored.snapshot)),
        "events": (stored.events, restored.events),
        "outcomes": (dict(stored.outcomes), dict(restored.outcomes)),
        "locator": (stored.indexes, restored.indexes),
    }
    for name, (one, other) in parts.items():
        if one != other:
            raise ArchiveError(f"the {name} of match {board} can't be made again from its leaves")


def _without_position(packed: PackedSnapshot) -> Snapshot:
    snapshot = unpack_snapshot(packed)
    return replace(snapshot, state=replace(snapshot.state, position=None))


def _fold(envelopes: Sequence[EventEnvelope]) -> MatchState:
    state = initial()
    for envelope in envelopes:
        state = evolve(state, envelope.body, envelope.at, actor=envelope.actor)
    return state


def _outcomes(
    entry: DirectoryEntry, envelopes: Sequence[EventEnvelope], places: Sequence[int]
) -> dict[CommandId, bytes]:
    """Return all outcomes: those of accepted commands follow from the events and the digests."""
    commands = list(events_by_command(envelopes))
    if len(entry.digests) != _DIGEST * len(commands):
        raise ArchiveError(f"match {entry.board} has other commands than digests in the archive")
    found = {
        group[0].command: encode_stored(
            entry.digests[_DIGEST * number : _DIGEST * (number + 1)],
            places[group[0].seq - 1],
            tail("", group[0].seq),
        )
        for number, group in enumerate(commands)
    }
    return {**found, **dict(entry.refusals)}


def _summary(state: MatchState) -> MatchSummary:
    assert state.result is not None
    seats, winners = len(state.seats), state.result.winners
    return MatchSummary(
        rules=state.rules,
        options=state.options,
        seats=state.seats,
        winners=winners,
        reason=state.result.reason,
        ranks=ranking(seats, winners, [seat for seat, _ in state.out]),
        plies=state.ply,
        rated=state.rated,
        played=state.played,
    )
