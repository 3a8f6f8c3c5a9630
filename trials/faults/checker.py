"""The checker: from what clients saw and what the store holds to the invariants that broke.

A pure function. Each violation names its invariant and the evidence. Checked are

I1  each acknowledged command has exactly one outcome, the one that was told, with its events or
    the leaf of its refusal, once;
I2  a definite failure left nothing; an unknown one left nothing or one outcome; nothing is there
    that nobody sent;
I3  events of a match are 1..n;
I4  chains hold, and each shard's log is 0..n and has each event once, in order, where the match's locator says;
I6  a snapshot equals its match refolded from zero (`projected` does the same for projections);
I7  A acknowledged before B was sent, same match: A comes first;
I8  what was read is a prefix of the final history, as long as what was acknowledged before;
I9  each event's actor sits in the match, or rules in it, and is who sent the command;
I10 the same commands, decided again here, give the same bytes (`elsewhere` does it in a process
    with another hash seed).

I5 (promises) and I11 (what is hidden) have nothing to stand on yet.

What clients saw: one line a call, with its times by the machine's monotonic clock.

What the store holds after a run, read past our own reading code as far as that goes.

Leaves that were trimmed are read from the files of the published log, and matches in the archive as
the server itself reads them.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from threading import Lock

import msgspec
from redis import Redis

from domain.match import audit, history
from domain.match.events import (
    Claimed,
    Ended,
    MatchStarted,
    ResultChanged,
    Ruled,
    SetBack,
    TimeGiven,
)
from domain.match.state import cache_position
from domain.records import SERVER_ACCOUNT
from infra.archive.archive import Archive
from infra.archive.objects import open_archive
from infra.archive.store import StoreWithArchive
from infra.durability.durability import Mode
from infra.log.published_log import PublishedLogs
from infra.redis import keys
from infra.redis.cluster import servers_of
from infra.settings.settings import Settings
from infra.store import locators
from infra.store.outcomes import parse
from tests.helpers.leaves import event_place


class Result(StrEnum):
    """What a client knows after a call."""

    OK = "ok"
    """It has an outcome (accepted or refused), or the events it asked for."""
    FAILED = "failed"
    """Definitely not taken: the connection could not be made, or the server turned it away."""
    UNKNOWN = "unknown"
    """It may have been taken."""


class Invocation(msgspec.Struct, frozen=True, kw_only=True):
    """One call of one client: a command handed in, or (without a command) a match read."""

    client: str
    match: int
    sent: int
    """When it was sent, in ns."""
    done: int
    """When the client knew `result`."""
    result: Result
    command: bytes = b""
    actor: bytes = b""
    code: str = ""
    """Of an outcome that is a refusal."""
    seq: int = 0
    """Of an outcome: as the server told it. Of a read: how many events there were."""
    index: int = 0
    """Of an outcome: the place in the shard's log."""
    head: bytes = b""
    """Of a read: the leaf hash of the last event it saw."""

    @property
    def answer(self) -> tuple[str, int, int]:
        return self.code, self.seq, self.index


class Record:
    """The calls of all clients of a run; written to a file too, if one is named."""

    def __init__(self, path: Path | None = None) -> None:
        self._calls: list[Invocation] = []
        self._lock = Lock()
        self._file = path.open("ab") if path else None

    def add(self, call: Invocation) -> None:
        with self._lock:
            self._calls.append(call)
            if self._file:
                self._file.write(msgspec.json.encode(call) + b"\n")

    def __iter__(self) -> Iterator[Invocation]:
        return iter(self._calls.copy())

    def __len__(self) -> int:
        return len(self._calls)

    def acknowledged(self) -> int:
        """How many commands have an outcome that a client knows."""
        return len({call.command for call in self if call.command and call.result is Result.OK})

    def close(self) -> None:
        if self._file:
            self._file.close()


def now() -> int:
    """The machine's monotonic clock, in ns: the same in all its processes."""
    return time.monotonic_ns()


WIDTH = 256
"""Leaves of a bundle."""


class Held(msgspec.Struct):
    """Everything of all matches."""

    shards: int
    events: dict[int, list[bytes]]
    snapshots: dict[int, history.PackedSnapshot]
    outcomes: dict[int, dict[bytes, bytes]]
    locators: dict[int, bytes]
    logs: dict[int, list[tuple[int, bytes]]]
    """Of each shard: index and bytes of each leaf."""
    waiting: int = 0
    """Commands in the inboxes."""


def read_held(client: Redis, data: Path | None = None) -> Held:
    """Read all of it, as it was at one moment: again if a commit came in between.

    `data` is the data directory, if the log may be trimmed or matches may be in the archive.
    """
    shards = int(client.hget(keys.LAYOUT, "shards") or 0)
    while True:
        before = _ends(client, shards)
        held = _read(client, shards)
        if data is not None:
            _add_published(held, client, data)
        # every commit adds a leaf
        if _ends(client, shards) == before:
            return held


def _ends(client: Redis, shards: int) -> list[int]:
    return [client.xlen(keys.log(shard)) for shard in range(shards)]


def _read(client: Redis, shards: int) -> Held:
    boards = sorted(_boards(client))
    held = Held(shards, {}, {}, {}, {}, {})
    for board in boards:
        read_board(client, held, board)
    for shard in range(shards):
        held.logs[shard] = list(_log(client, shard))
        held.waiting += client.xlen(keys.inbox(shard))
    return held


def read_board(client: Redis, held: Held, board: int) -> None:
    shard = keys.shard_of(board, held.shards)
    with client.pipeline(transaction=True) as pipe:
        pipe.lrange(keys.events(shard, board), 0, -1)
        pipe.get(keys.snapshot(shard, board))
        pipe.get(keys.moves(shard, board))
        pipe.get(keys.turns(shard, board))
        pipe.hgetall(keys.outcomes(shard, board))
        pipe.get(keys.locator(shard, board))
        events, state, moves, turns, outcomes, locator = pipe.execute()
    held.events[board] = events
    held.outcomes[board] = outcomes
    held.locators[board] = locator or b""
    if state is not None:
        # the byte after the head marks what else there is of the match
        packed = history.PackedSnapshot(state[:32] + state[33:], moves or b"", turns or b"")
        held.snapshots[board] = packed


def _boards(client: Redis) -> Iterator[int]:
    """Return every board of which there is a key."""
    for server in servers_of(client):
        names = server.scan_iter("{s*}:m:*", count=1000)
        yield from {int(name.split(b":")[2]) for name in names}


def _log(client: Redis, shard: int) -> Iterator[tuple[int, bytes]]:
    for id_, fields in client.xrange(keys.log(shard)):
        yield int(id_.split(b"-")[0]), fields[b"l"]


def store_with_archive(client: Redis, data: Path) -> StoreWithArchive:
    """Return a store that reads the archive of this data directory too, and has read nothing yet."""
    shards = int(client.hget(keys.LAYOUT, "shards") or 0)
    settings = Settings(data=data)
    archive = Archive(lambda: open_archive(settings), lambda: shards)
    return StoreWithArchive(client, Mode.FSYNC, archive, open_logs=lambda: PublishedLogs(settings))


def archived_boards(client: Redis, shards: int) -> list[int]:
    """Return the boards that are marked as in the archive."""
    found = []
    for shard in range(shards):
        bits = client.get(keys.archived(shard)) or b""
        found += [
            place * shards + shard
            for place in range(8 * len(bits))
            if bits[place // 8] & 0x80 >> place % 8
        ]
    return found


def unpack(data: bytes) -> list[bytes]:
    """Return the leaves of a bundle; one that is cut off ends with what there is."""
    found, at = [], 0
    while at < len(data):
        length = int.from_bytes(data[at : at + 2])
        found.append(data[at + 2 : at + 2 + length])
        at += 2 + length
    return found


def _add_published(held: Held, client: Redis, data: Path) -> None:
    for shard, log in held.logs.items():
        trimmed = log[0][0] if log else 0
        bundles = data / "log" / f"s{shard:02}" / "tile" / "entries"
        before: list[tuple[int, bytes]] = []
        for number in range(-(-trimmed // WIDTH)):
            leaves = unpack((bundles / f"{number:03}").read_bytes())
            before += enumerate(leaves, number * WIDTH)
        held.logs[shard] = [*before[:trimmed], *log]
    store = store_with_archive(client, data)
    for board in archived_boards(client, held.shards):
        if held.events.get(board):
            continue  # Redis has it still
        held.events[board] = store.events(board)
        held.outcomes[board] = dict(store.outcomes(board))
        held.locators[board] = locators.encode(store.leaf_indexes(board))
        (snapshot,) = store.snapshots([board])
        if snapshot is not None:
            held.snapshots[board] = snapshot


_OF_CASES = Claimed | Ruled | SetBack | ResultChanged | TimeGiven


class Violation(msgspec.Struct, frozen=True):
    """An invariant that broke."""

    invariant: str
    evidence: str

    def __str__(self) -> str:
        return f"{self.invariant}: {self.evidence}"


def check(calls: Iterable[Invocation], held: Held, *, complete: bool = True) -> list[Violation]:
    """Return everything that is wrong.

    `complete` says that the record has every command that was ever sent to this store.
    """
    return list(_Checker(list(calls), held).run(complete=complete))


class _Checker:
    def __init__(self, calls: Sequence[Invocation], held: Held) -> None:
        self.held = held
        self.add_reads = [call for call in calls if not call.command]
        self.sends: dict[bytes, list[Invocation]] = defaultdict(list)
        for call in calls:
            if call.command:
                self.sends[call.command].append(call)
        self.events: dict[int, list[history.EventEnvelope]] = {}
        self.refusals: dict[bytes, list[tuple[int, str]]] = defaultdict(list)
        self.logged: dict[int, list[bytes]] = defaultdict(list)
        self.places: dict[int, list[int]] = defaultdict(list)
        self.runs: dict[bytes, list[history.EventEnvelope]] = defaultdict(list)

    def run(self, *, complete: bool) -> Iterator[Violation]:
        yield from self.decode_all()
        yield from self.one_outcome()
        yield from self.failures(complete=complete)
        for board, events in self.events.items():
            yield from self.match(board, events)
        yield from self.logs()
        yield from self.order()
        yield from self.reading()

    def decode_all(self) -> Iterator[Violation]:
        for board, stored in self.held.events.items():
            self.events[board] = []
            for place, data in enumerate(stored, 1):
                try:
                    envelope = history.decode_event(data)
                except msgspec.MsgspecError as error:
                    yield Violation("I4", f"match {board}: event {place} is none ({error})")
                else:
                    self.events[board].append(envelope)
                    self.runs[envelope.command].append(envelope)
        for shard, log in self.held.logs.items():
            for index, leaf in log:
                if (place := event_place(leaf)) is not None:
                    self.logged[place[0]].append(leaf)
                    self.places[place[0]].append(index)
                    continue
                try:
                    refusal = history.decode_refusal(leaf)
                except msgspec.MsgspecError as error:
                    yield Violation("I4", f"shard {shard}: leaf {index} is none ({error})")
                else:
                    self.refusals[refusal.command].append((index, refusal.code))
                    self.places[refusal.match].append(index)

    # I1

    def one_outcome(self) -> Iterator[Violation]:
        for command, calls in self.sends.items():
            answers = {call.answer for call in calls if call.result is Result.OK}
            board = calls[0].match
            stored = self.held.outcomes.get(board, {}).get(command)
            if len(answers) > 1:
                yield Violation("I1", f"{_name(calls[0])} was answered {sorted(answers)}")
            if answers and stored is None:
                yield Violation("I1", f"{_name(calls[0])} was acknowledged and has no outcome")
            if stored is not None:
                outcome = parse(stored)
                told = (outcome.code, outcome.seq, outcome.index)
                if answers - {told}:
                    yield Violation(
                        "I1", f"{_name(calls[0])} was answered {min(answers)}, stored is {told}"
                    )
        for board, outcomes in self.held.outcomes.items():
            for command, stored in outcomes.items():
                outcome = parse(stored)
                if outcome.accepted:
                    yield from self.accepted(board, command, outcome.seq)
                else:
                    yield from self.refused(board, command, outcome.index, outcome.code)

    def accepted(self, board: int, command: bytes, seq: int) -> Iterator[Violation]:
        name = f"match {board}: accepted command {command.hex()}"
        run = self.runs.get(command, [])
        if not run:
            yield Violation("I1", f"{name} has no event")
        elif [e.seq for e in run] != list(range(seq, seq + len(run))):
            yield Violation("I1", f"{name} has the events {[e.seq for e in run]}, not from {seq}")
        elif any(e.match != board for e in run):
            yield Violation("I1", f"{name} has events in another match")
        elif _doubled(run):
            yield Violation("I1", f"{name} was committed {len(run)} times")
        if command in self.refusals:
            yield Violation("I1", f"{name} has a refusal's leaf too")

    def refused(self, board: int, command: bytes, index: int, code: str) -> Iterator[Violation]:
        name = f"match {board}: refused command {command.hex()}"
        if command in self.runs:
            yield Violation("I1", f"{name} has events")
        if self.refusals.get(command) != [(index, code)]:
            found = self.refusals.get(command)
            yield Violation("I1", f"{name} has the leaves {found}, not one of {code} at {index}")

    # I2

    def failures(self, *, complete: bool) -> Iterator[Violation]:
        for command, calls in self.sends.items():
            if all(call.result is Result.FAILED for call in calls) and self.left(command):
                yield Violation("I2", f"{_name(calls[0])} failed for good and left something")
        for command, run in self.runs.items():
            stored = self.held.outcomes.get(run[0].match, {})
            if command not in stored:
                yield Violation("I2", f"match {run[0].match}: event {run[0].seq} has no outcome")
            if complete and command not in self.sends:
                yield Violation("I2", f"match {run[0].match}: nobody sent event {run[0].seq}")

    def left(self, command: bytes) -> bool:
        known = any(command in outcomes for outcomes in self.held.outcomes.values())
        return known or command in self.runs or command in self.refusals

    # I3, I4, I6, I9, I10

    def match(self, board: int, events: Sequence[history.EventEnvelope]) -> Iterator[Violation]:
        if [e.seq for e in events] != list(range(1, len(events) + 1)):
            yield Violation("I3", f"match {board} has the events {_shown(events)}")
        stored = self.held.events[board]
        try:
            history.check_chain(board, stored)
        except history.BrokenHistory as broken:
            yield Violation("I4", f"match {board}: {broken}")
        else:
            yield from _again(board, stored)
        yield from self.snapshot(board, stored)
        yield from self.entitled(board, events)

    def snapshot(self, board: int, stored: Sequence[bytes]) -> Iterator[Violation]:
        packed = self.held.snapshots.get(board)
        if packed is None:
            if stored:
                yield Violation("I6", f"match {board} has events and no snapshot")
            return
        try:
            snapshot = history.unpack_snapshot(packed)
        except msgspec.MsgspecError as error:
            yield Violation("I6", f"match {board}: its snapshot can't be read ({error})")
            return
        if not stored or snapshot.head != history.leaf_hash(stored[-1]):
            yield Violation("I6", f"match {board}: the snapshot's head is not the last event's")
        try:
            expected = cache_position(history.replay(stored))
        except Exception as error:  # noqa: BLE001 - of a broken history, whatever it is
            yield Violation("I6", f"match {board} can't be refolded ({error!r})")
            return
        if cache_position(snapshot.state) != expected:
            yield Violation("I6", f"match {board}: the snapshot is not what its events add up to")

    def entitled(self, board: int, events: Sequence[history.EventEnvelope]) -> Iterator[Violation]:
        seats: set[bytes] = set()
        for event in events:
            if isinstance(event.body, MatchStarted):
                seats.update(event.body.seats)
            # an arbiter has none, and is checked before a command is submitted
            if event.actor not in {*seats, SERVER_ACCOUNT} and not isinstance(
                event.body, _OF_CASES
            ):
                yield Violation("I9", f"match {board}: the actor of event {event.seq} has no seat")
            senders = {call.actor for call in self.sends.get(event.command, ())}
            if senders and event.actor not in senders:
                yield Violation("I9", f"match {board}: event {event.seq} was sent by another")

    # the rest of I1 and I4

    def logs(self) -> Iterator[Violation]:
        for shard, log in self.held.logs.items():
            if [index for index, _ in log] != list(range(len(log))):
                yield Violation("I4", f"shard {shard}: the log's indexes have gaps")
        for board in {*self.logged, *self.events}:
            events, logged = self.held.events.get(board, []), self.logged[board]
            if logged != events:
                twice = sum(times > 1 for times in Counter(logged).values())
                yield Violation(
                    "I4", f"match {board}: {len(events)} events, logged {len(logged)}, of which "
                    f"{twice} more than once; or their bytes differ"
                )  # fmt: skip
        for board in {*self.places, *self.held.locators}:
            try:
                located = locators.decode(self.held.locators.get(board, b""))
            except ValueError as error:
                yield Violation("I4", f"match {board}: {error}")
                continue
            if located != self.places[board]:
                yield Violation(
                    "I4", f"match {board}: the locator has {len(located)} leaves, the log "
                    f"{len(self.places[board])}, or at other places"
                )  # fmt: skip

    # I7

    def order(self) -> Iterator[Violation]:
        by_match: dict[int, list[list[Invocation]]] = defaultdict(list)
        for calls in self.sends.values():
            if any(call.result is Result.OK for call in calls):
                by_match[calls[0].match].append(calls)
        for commands in by_match.values():
            known = [_told(calls) for calls in commands]
            acks = sorted(known, key=lambda call: call.done)
            sends = sorted((min(c.sent for c in calls), _told(calls).index) for calls in commands)
            place = 0
            latest: Invocation | None = None
            for sent, index in sends:
                while place < len(acks) and acks[place].done < sent:
                    if latest is None or acks[place].index > latest.index:
                        latest = acks[place]
                    place += 1
                if latest is not None and latest.index >= index:
                    yield Violation(
                        "I7", f"{_name(latest)} was known before another was sent that is in the "
                        f"log at {index}, before it at {latest.index}"
                    )  # fmt: skip

    # I8

    def reading(self) -> Iterator[Violation]:
        known: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for calls in self.sends.values():
            known[calls[0].match] += [
                (call.done, call.seq)
                for call in calls
                if call.result is Result.OK and not call.code
            ]
        reads = [call for call in self.add_reads if call.result is Result.OK]
        for read in reads:
            known[read.match].append((read.done, read.seq))
        for read in reads:
            final = self.held.events.get(read.match, [])
            if read.seq > len(final):
                yield Violation("I8", f"match {read.match}: {read.seq} were read of {len(final)}")
            elif read.seq and history.leaf_hash(final[read.seq - 1]) != read.head:
                yield Violation("I8", f"match {read.match}: event {read.seq} was read otherwise")
            least = max((seq for done, seq in known[read.match] if done < read.sent), default=0)
            if read.seq < least:
                yield Violation(
                    "I8", f"match {read.match}: a read gave {read.seq} events when {least} were known"
                )  # fmt: skip


def _told(calls: Sequence[Invocation]) -> Invocation:
    return min((c for c in calls if c.result is Result.OK), key=lambda call: call.done)


def _doubled(run: Sequence[history.EventEnvelope]) -> bool:
    """Whether a command's events are more than one, and perhaps the end it led to."""
    return any(not isinstance(event.body, Ended) for event in run[1:]) or len(run) > 2


def _again(board: int, stored: Sequence[bytes]) -> Iterator[Violation]:
    try:
        audit.verify(board, stored)
    except history.BrokenHistory as broken:
        yield Violation("I10", f"match {board}: {broken}")


def _name(call: Invocation) -> str:
    return f"match {call.match}: command {call.command.hex()} of {call.client}"


def _shown(events: Sequence[history.EventEnvelope]) -> str:
    numbers = [event.seq for event in events]
    odd = [
        n
        for n, (a, b) in enumerate(zip(numbers, range(1, len(numbers) + 1), strict=True))
        if a != b
    ]
    return f"{len(numbers)}, wrong from place {odd[0] + 1} on"
