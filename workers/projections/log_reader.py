"""Reads the logs for all projections at once: each leaf is decoded once, and becomes a fact.

Refusals and anchors are skipped. A fact has the setup from the first event of its match, which is cached; all that a
chunk misses are read in one round trip. Only in a match of a tournament a substitute may change it, so there it is
cached with the event after which it was so, and read from the history if others were read meanwhile. The result of a match comes from its
snapshot, or from its entry in the archive, if that was made by the very event that ended it. The whole history is read only of a match for
one, whose best score is looked for in it, of a declined one, and where the snapshot does not serve.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, Self, TypeAlias, TypeVar

import msgspec
from redis.exceptions import ResponseError

from domain.errors import Refusal
from domain.match.events import Ended, ResultChanged, SeatTakenOver, SetBack
from domain.match.evolve import fold
from domain.match.history import (
    EventEnvelope,
    PackedSnapshot,
    decode_event,
    is_event,
    leaf_hash,
    unpack_snapshot,
)
from domain.match.state import MatchState, Reason
from domain.ratings import ranking
from domain.tournament.events import TournamentEventBody
from infra.archive.directory_pages import DirectoryEntry, MatchSummary
from infra.archive.store import StoreWithArchive
from infra.projections.notice_fold import setup_after, setup_of, setup_of_history
from infra.projections.projection import NO_MATCH, Fact, MatchResult, MatchSetup
from infra.projections.tournament_notices import (
    NoticesBySeq,
    has_notices,
    notices_of_tournament,
)
from infra.store.channels import LogListener
from infra.store.log_streams import MOST_NEXT, NextLeaves
from infra.store.port import Store
from infra.store.trimmed_leaves import TrimmedLeavesError

BATCH: Final = 1_000
"""About how many leaves are read together: few enough to fold in milliseconds."""

LOST_SECONDS: Final = 5.0
"""Between two looks into all logs without news, which may be lost."""

_SETUPS: Final = 50_000
"""Matches whose setup is cached, the last used ones."""


class LogLeaf(msgspec.Struct, frozen=True, gc=False):
    """A leaf of a shard's log; `fact` is None if it is no event."""

    shard: int
    index: int
    fact: Fact | None


class UnreadableLeaf(msgspec.Struct, frozen=True):
    """A leaf that can't become a fact, and why."""

    shard: int
    index: int
    error: Exception


class LogChunk(msgspec.Struct, frozen=True):
    """Leaves that follow a checkpoint, those of each shard in order."""

    start: tuple[int, ...]
    counts: tuple[int, ...]
    """How many leaves of each shard's log are read after it."""
    leaves: tuple[LogLeaf, ...]
    unreadable: tuple[UnreadableLeaf, ...] = ()
    """The first of each shard that has one; what follows it is not read."""

    @classmethod
    def of(
        cls,
        start: tuple[int, ...],
        leaves: Sequence[LogLeaf],
        unreadable: Sequence[UnreadableLeaf] = (),
    ) -> Self:
        """Return a chunk with the counts after these leaves."""
        counts = list(start)
        for leaf in leaves:
            counts[leaf.shard] = leaf.index + 1
        return cls(start, tuple(counts), tuple(leaves), tuple(unreadable))

    @property
    def all_facts(self) -> list[Fact]:
        """The events among the leaves."""
        return [leaf.fact for leaf in self.leaves if leaf.fact is not None]

    @property
    def facts(self) -> list[Fact]:
        """The events of matches among the leaves."""
        return [fact for fact in self.all_facts if fact.setup is not NO_MATCH]


_ERRORS: Final = (LookupError, TypeError, ValueError, ResponseError, Refusal)
"""Errors of one leaf: msgspec's are ValueErrors, an event that is gone has no bytes, and a match in the
archive may be one that can't be read.
"""

_Value = TypeVar("_Value")

_FirstEvents: TypeAlias = Mapping[int, bytes | Exception | None]
_Ending: TypeAlias = PackedSnapshot | DirectoryEntry | Exception | None
_Endings: TypeAlias = Mapping[int, _Ending]
_NoticesByNumber: TypeAlias = Mapping[int, NoticesBySeq | Exception]


class LogReader:
    """Reads leaves. Errors of the server pass through; those of a leaf are in the chunk."""

    def __init__(self, store: Store, batch: int = BATCH) -> None:
        """`batch` is about how many leaves are read together."""
        self._store = store
        self._batch = batch
        self._setups: OrderedDict[int, MatchSetup] = OrderedDict()
        self._seen: dict[int, int] = {}
        """The number of the last event, of the matches of tournaments among these."""
        self._awaited: tuple[Mapping[int, int], NextLeaves] = {}, {}
        """Where the last `wait` was, and the leaves that came there."""
        self._look_due = 0.0
        """When a `wait` begins with a look into all logs, by the monotonic clock."""
        self.grown: set[int] = set()
        """Shards with new leaves, also those of which it was only told so: their leaves may be in the place of lost ones."""

    def wait(self, starts: Mapping[int, int], news: LogListener, seconds: float) -> None:
        """Wait for leaves from these indexes on; a read from there that follows need not look again."""
        self._awaited = {}, {}
        end = (now := time.monotonic()) + seconds
        found: NextLeaves = {}
        if now >= self._look_due:
            self._look_due = now + LOST_SECONDS
            found = self._store.next_leaves(starts)
        end = min(end, self._look_due)
        while not (found or news.is_stopped) and (left := end - time.monotonic()) > 0:
            told = news.wait(left)
            self.grown |= told
            new = told & starts.keys()
            found = self._store.next_leaves({shard: starts[shard] for shard in new})
        self._awaited = starts, found

    def read(
        self,
        start: tuple[int, ...],
        without: Collection[int] = (),
        until: Sequence[int] | None = None,
    ) -> LogChunk:
        """Return the leaves from these indexes on, except of the shards `without`, and before `until`."""
        starts = dict(enumerate(start))
        if until is not None:
            starts = {shard: first for shard, first in starts.items() if first < until[shard]}
        awaited, self._awaited = self._awaited, ({}, {})
        ready = awaited[1] if awaited[0] == starts else self._store.next_leaves(starts)
        self.grown.update(ready)
        new = [shard for shard in ready if shard not in without]
        each = max(1, self._batch // max(1, len(new)))
        read: list[_ReadLeaf | UnreadableLeaf] = []
        for shard in new:
            most = each if until is None else min(each, until[shard] - start[shard])
            known = ready[shard]
            if len(known) == MOST_NEXT:
                self._look_due = 0.0
            # a log that was trimmed begins later
            whole = len(known) < min(MOST_NEXT, most + 1) and known[0][0] == start[shard]
            read += (
                _read_leaves(shard, start[shard], known)
                if whole
                else self._leaves(shard, start[shard], most)
            )
        if not self._are_durable(read):
            # a failover may put other leaves in their place, and would not be noticed here
            self._look_due = 0.0
            return LogChunk.of(start, [])
        return self._chunk(start, read)

    def _are_durable(self, read: Iterable["_ReadLeaf | UnreadableLeaf"]) -> bool:
        leaves: dict[int, list[tuple[int, bytes]]] = {}
        for leaf in read:
            if isinstance(leaf, _ReadLeaf):
                leaves.setdefault(leaf.shard, []).append((leaf.index, leaf.data))
        return self._store.are_durable(leaves)

    def _leaves(self, shard: int, start: int, count: int) -> Iterator["_ReadLeaf | UnreadableLeaf"]:
        """Yield leaves up to the first that can't be read."""
        try:
            found = self._store.leaves(shard, start, count)
        except (ResponseError, TrimmedLeavesError) as error:
            # a key has another type, and reading one by one tells which
            yield from self._one_by_one(shard, start, count, error)
            return
        yield from _read_leaves(shard, start, found)

    def _one_by_one(
        self, shard: int, start: int, count: int, error: Exception
    ) -> Iterator["_ReadLeaf | UnreadableLeaf"]:
        if count == 1:
            yield UnreadableLeaf(shard, start, error)
            return
        for index in range(start, start + count):
            for leaf in self._leaves(shard, index, 1):
                yield leaf
                if isinstance(leaf, UnreadableLeaf):
                    return

    def _chunk(
        self, start: tuple[int, ...], read: Sequence["_ReadLeaf | UnreadableLeaf"]
    ) -> LogChunk:
        """Return the leaves with their facts, those of each shard up to the first without one."""
        events = [leaf.event for leaf in read if isinstance(leaf, _ReadLeaf) and leaf.event]
        firsts = self._first_events(events)
        ends = [event.match for event in events if isinstance(event.body, Ended)]
        entries = self._entries(ends)
        others = [board for board in ends if board not in entries]
        snapshots = self._one_each(others, self._store.snapshots)
        endings = {**snapshots, **entries}
        notices = self._tournament_notices(events)
        leaves: list[LogLeaf] = []
        unreadable: dict[int, UnreadableLeaf] = {}
        for leaf in read:
            if leaf.shard in unreadable:
                continue
            if isinstance(leaf, UnreadableLeaf):
                unreadable[leaf.shard] = leaf
                continue
            try:
                fact = self._fact(leaf, firsts, endings, notices)
            except _ERRORS as error:
                unreadable[leaf.shard] = UnreadableLeaf(leaf.shard, leaf.index, error)
            else:
                leaves.append(LogLeaf(leaf.shard, leaf.index, fact))
        while len(self._setups) > _SETUPS:
            self._seen.pop(self._setups.popitem(last=False)[0], None)
        return LogChunk.of(start, leaves, list(unreadable.values()))

    def _first_events(self, events: Iterable[EventEnvelope]) -> _FirstEvents:
        """Return the first events of the matches whose setup is neither cached nor among the events."""
        missing: dict[int, None] = {}
        begun = set()
        for event in events:
            if isinstance(event.body, TournamentEventBody):
                continue
            if event.seq == 1:
                begun.add(event.match)
            elif event.match not in self._setups and event.match not in begun:
                missing[event.match] = None
        return self._one_each(missing, self._store.first_events)

    def _one_each(
        self, boards: Iterable[int], read: Callable[[Sequence[int]], Sequence[_Value]]
    ) -> dict[int, _Value | Exception]:
        """Return one value for each board, or the error of that board, in one round trip if all is well."""
        wanted = list(boards)
        if not wanted:
            return {}
        try:
            return dict(zip(wanted, read(wanted), strict=True))
        except (ResponseError, Refusal) as error:
            if len(wanted) == 1:
                return {wanted[0]: error}
            return {board: self._one_each([board], read)[board] for board in wanted}

    def _entries(self, ends: Sequence[int]) -> dict[int, DirectoryEntry]:
        """Return the entries of the matches that are in the archive."""
        if not ends or not isinstance(self._store, StoreWithArchive):
            return {}
        found = self._one_each(ends, self._store.entries)
        return {board: one for board, one in found.items() if isinstance(one, DirectoryEntry)}

    def _tournament_notices(self, events: Iterable[EventEnvelope]) -> _NoticesByNumber:
        """Return the notices of the tournaments among these events, each of which is read once."""
        wanted: dict[int, set[int]] = {}
        for event in filter(has_notices, events):
            wanted.setdefault(event.match, set()).add(event.seq)
        found: dict[int, NoticesBySeq | Exception] = {}
        for number, some in wanted.items():
            try:
                history = self._history(number, max(some))
                found[number] = notices_of_tournament(history, some)
            except _ERRORS as error:
                found[number] = error
        return found

    def _fact(
        self,
        leaf: "_ReadLeaf",
        firsts: _FirstEvents,
        endings: _Endings,
        notices: _NoticesByNumber,
    ) -> Fact | None:
        event = leaf.event
        if event is None:
            return None
        if isinstance(event.body, TournamentEventBody):
            told = notices.get(event.match, {})
            if isinstance(told, Exception):
                raise told
            return Fact(event, NO_MATCH, None, leaf.shard, notices=told.get(event.seq, ()))
        setup = self._setup(event, firsts)
        if isinstance(event.body, SeatTakenOver):
            before = self._history(event.match, event.seq - 1)
            leaver = setup_of_history(before).seats[event.body.seat]
            return Fact(event, setup, None, leaf.shard, leaver=leaver, before=before)
        if isinstance(event.body, SetBack | ResultChanged):
            return self._changed(event, setup, leaf.shard)
        if not isinstance(event.body, Ended):
            return Fact(event, setup, None, leaf.shard)
        result = _without_history(leaf.data, event.body, setup, endings[event.match])
        if result is None:
            # what may follow the end does not count
            result = _from_history(event.body, self._history(event.match, event.seq), setup)
        return Fact(event, setup, result, leaf.shard)

    def _changed(self, event: EventEnvelope, setup: MatchSetup, shard: int) -> Fact:
        """Return the fact of an event by which a ruling changes whether and how a match is over."""
        history = self._history(event.match, event.seq - 1)
        before = fold((one.body, one.at) for one in history).result
        result = None
        if isinstance(event.body, ResultChanged):
            ended = Ended(winners=event.body.winners, reason=event.body.reason)
            result = _from_history(ended, (*history, event), setup)
        revoked = _from_history(before, history, setup) if before else None
        return Fact(event, setup, result, shard, revoked=revoked)

    def _history(self, board: int, count: int) -> tuple[EventEnvelope, ...]:
        """Return the first events of a match or a tournament."""
        return tuple(map(decode_event, self._store.events(board)[:count]))

    def _setup(self, event: EventEnvelope, firsts: _FirstEvents) -> MatchSetup:
        board = event.match
        if event.seq == 1:
            setup = setup_of(event)
        elif board in self._setups:
            setup = self._setups[board]
        else:
            first = firsts[board]
            if not isinstance(first, bytes):
                raise first or LookupError(f"match {board} has no events")
            setup = setup_of(decode_event(first))
        if setup.pairing is not None:
            setup = self._with_substitutes(event, setup)
        self._setups[board] = setup
        self._setups.move_to_end(board)
        return setup

    def _with_substitutes(self, event: EventEnvelope, known: MatchSetup) -> MatchSetup:
        """Return the setup of a tournament's match after an event; what is `known` may be older."""
        follows = self._seen.get(event.match) == event.seq - 1
        self._seen[event.match] = event.seq
        if event.seq == 1:
            return known
        if follows:
            return setup_after(known, event)
        return setup_of_history(self._history(event.match, event.seq))


def _read_leaves(
    shard: int, start: int, found: Sequence[tuple[int, bytes]]
) -> Iterator["_ReadLeaf | UnreadableLeaf"]:
    """Yield leaves up to the first that can't be read or is missing."""
    for expected, (index, data) in enumerate(found, start):
        try:
            if index != expected:
                raise LookupError(f"the log goes on with leaf {index}")
            event = decode_event(data) if is_event(data) else None
        except _ERRORS as error:
            yield UnreadableLeaf(shard, expected, error)
            return
        yield _ReadLeaf(shard, index, data, event)


class _ReadLeaf(msgspec.Struct, frozen=True, gc=False):
    """A leaf as it was read, with its event if it is one."""

    shard: int
    index: int
    data: bytes
    event: EventEnvelope | None


def _without_history(
    leaf: bytes, ended: Ended, setup: MatchSetup, ending: _Ending
) -> MatchResult | None:
    """Return a result by the snapshot or the entry of the event that ended the match; None if that does not serve."""
    if len(setup.seats) == 1 or ended.reason == Reason.DECLINED:
        return None
    match ending:
        case DirectoryEntry(summary=MatchSummary() as found) if ending.head == leaf_hash(leaf):
            return MatchResult(
                winners=found.winners,
                reason=found.reason,
                ranks=found.ranks,
                plies=found.plies,
                rated=found.rated,
                played=found.played,
            )
        case PackedSnapshot():
            return _from_snapshot(leaf, ended, setup, ending)
        case _:
            return None


def _from_snapshot(
    leaf: bytes, ended: Ended, setup: MatchSetup, snapshot: PackedSnapshot
) -> MatchResult | None:
    if not snapshot.state.startswith(leaf_hash(leaf)):
        return None
    try:
        state = unpack_snapshot(snapshot).state
    except ValueError:
        return None  # the events may be readable still
    return _result(ended, setup, state)


def _result(ended: Ended, setup: MatchSetup, state: MatchState) -> MatchResult:
    left = [seat for seat, _ in state.out]
    return MatchResult(
        winners=ended.winners,
        reason=ended.reason,
        ranks=ranking(len(setup.seats), ended.winners, left),
        plies=state.ply,
        rated=state.rated,
        played=state.played,
    )


def _from_history(
    ended: Ended, history: tuple[EventEnvelope, ...], setup: MatchSetup
) -> MatchResult:
    state = fold((event.body, event.at) for event in history)
    return msgspec.structs.replace(_result(ended, setup, state), history=history)
