"""The drain: takes what waits in a lane's inboxes, decides it, commits it, tells the doors.

One batch crosses all shards of the lane, so that one fsync serves everything that waits. An entry
stays in its inbox until its outcome is committed; killing a drain at any point loses nothing:

- before the commit: the entries are read again by the next drain;
- after the commit: the next drain finds nothing, and the doors find the stored outcomes;
- paused and overtaken: the heads it decided on are no longer the matches', so it writes nothing.

A command is a *suspect* when deciding it raised, or when it was waiting while a drain died. Suspects
are worked one at a time, each attempt counted before it is made, and refused after `TRIES`. A
sender that repeats a command has it in the inbox more than once, so the command is the suspect and
not the entry: what was refused is not tried again for each repetition.
"""

import logging
import time
from collections.abc import Callable, Collection, Sequence
from typing import Final
from uuid import uuid4

import msgspec
import redis
from cachetools import LRUCache

from domain.errors import Code
from domain.match import commands, replies
from domain.match.commands import Sent
from domain.match.decide import Decided, Given, Rejected, decide
from domain.match.events import CommandId
from domain.match.record import Snapshot, pack_snapshot, seal, seal_refusal, unpack_snapshot
from domain.match.state import MatchState, due, initial
from infra import outcomes
from infra.announce import Told, announce, messages
from infra.faults import point
from infra.keys import shards_of
from infra.lanes import Lanes, Taken
from infra.liveness import HEART
from infra.seeds import LostSeedsError, Seeds
from infra.store.port import (
    Committed,
    Conflict,
    Done,
    Entry,
    Store,
    Write,
    refusal_field,
)
from workers.commands.limits import LIMITED
from workers.commands.start_context import Beginnings

logger = logging.getLogger(__name__)

BATCH: Final = 512
"""About how many commands are committed together."""

FEW: Final = 64
"""Where no more than these wait, they are worked in waves."""

WAVE: Final = 16
"""Commands of a wave: the doors answer for it, and take in more, while the next is decided."""

BLOCK_MS: Final = 100
"""How long a drain waits for more before it leaves."""

TURN_SECONDS: Final = 5.0
"""How long a drain goes on before it makes room for RQ's own business."""

RENEW_SECONDS: Final = 0.5
"""How often the lease is renewed, which lasts several times as long."""

KNOWN: Final = 1_024
"""Matches that a drain remembers as it left them."""

TRIES: Final = 3
"""Counted attempts at a suspect before it is refused as `internal`."""

_INTERNAL: Final = Rejected(
    Code.INTERNAL, "the server failed to decide this command; its operator has been told"
)

_SEEDLESS: Final = Rejected(
    Code.SEEDS_MISSING,
    "the server can't draw now, because a secret file of its is missing; its operator has been told",
)

Decider = Callable[[Sent, MatchState, Given], Decided | Rejected]


class _Task(msgspec.Struct, frozen=True):
    """An inbox entry, read."""

    entry: Entry
    sent: Sent


class _Match(msgspec.Struct, frozen=True):
    """A match as a command is decided on it."""

    snapshot: Snapshot
    laid: bytes
    """What its seats have laid ready, packed."""


class Drain:
    """Drains one lane; `client` is used to tell the doors, `stopping` asks it to end early.

    `data` has the accounts, where that is another server than the doors'.
    """

    def __init__(  # noqa: PLR0913 - one for each part that may be given
        self,
        store: Store,
        lanes: Lanes,
        client: redis.Redis,
        lane: int,
        stopping: Callable[[], bool] = lambda: False,
        decider: Decider = decide,
        *,
        seeds: Seeds | None = None,
        data: redis.Redis | None = None,
    ) -> None:
        shape = store.shape()
        self._store = store
        self._lanes = lanes
        self._client = client
        self._lane = lane
        self._shards = list(shards_of(lane, shape.lanes, shape.shards))
        self._beginnings = Beginnings(seeds, client if data is None else data)
        self._stopping = stopping
        self._decider = decider
        self._token = uuid4().hex
        self._renewed = 0.0
        """When the lease was last renewed, by the monotonic clock."""
        self._suspects: set[CommandId] = set()
        self._known: LRUCache[int, _Match] = LRUCache(KNOWN)
        """Matches as we left them. Another may have come between: the commit compares the heads."""
        self._told: dict[str, list[Told]] = {}
        """Outcomes that their doors are to be told."""

    def run(self) -> int:
        """Drain until the lane is empty, and give the number of outcomes.

        After `TURN_SECONDS`, or when the process is stopping, what still waits is left to the
        next drain, which is asked for.
        """
        point("drain.started")
        taken = self._lanes.take(self._lane, self._token)
        if taken is Taken.BUSY:
            return 0
        point("drain.taken")
        if taken is Taken.EXPIRED:
            self._suspect(self._store.waiting(self._shards, BATCH))
        done = self._work_until(time.monotonic() + TURN_SECONDS)
        self._tell()
        # release first, look afterwards: see infra.lanes
        released = self._lanes.leave(self._lane, self._token)
        point("drain.released")
        if released and self._store.depth(self._shards):
            self._lanes.want(self._lane)
        point("drain.left")
        return done

    def _work_until(self, end: float) -> int:
        done = 0
        while self._holds():
            entries = self._wait()
            if not entries:
                break
            point("drain.read")
            done += self._work(_wave(entries))
            if self._stopping() or time.monotonic() > end:
                break
        return done

    def _wait(self) -> list[Entry]:
        """Tell the doors and wait for more, in one round trip."""
        told, self._told = self._told, {}
        entries = self._store.waiting(self._shards, BATCH, BLOCK_MS, messages(told))
        if told:
            point("drain.announced")
        return entries

    def _tell(self) -> None:
        """Tell the doors now: it may be a while until we wait for more."""
        if self._told:
            announce(self._client, self._told)
            self._told = {}
            point("drain.announced")

    def _holds(self) -> bool:
        """Return whether the lease is ours, and keep it; False when another drain has it.

        Not asked for each batch: it is a write, and so a sync of the server's. Between two looks
        the heads that a commit compares see to it that a drain which was overtaken writes nothing.
        """
        now = time.monotonic()
        if now - self._renewed < RENEW_SECONDS:
            return True
        self._renewed = now
        return self._lanes.renew(self._lane, self._token)

    def _suspect(self, entries: Sequence[Entry]) -> None:
        if entries:
            logger.warning(
                "lane %d: the drain before was cut off; commands now worked one by one: %d",
                self._lane,
                len(entries),
            )
        self._suspects.update(task.sent.id for entry in entries if (task := self._read(entry)))

    def _work(self, entries: Sequence[Entry]) -> int:
        """Work a batch; give the number of outcomes."""
        tasks = [task for entry in entries if (task := self._read(entry))]
        suspects = [t for t in tasks if t.sent.id in self._suspects]
        held: set[int] = set()
        done = 0
        for task in suspects:
            if task.sent.match not in held:
                done += self._careful(task, held)
        # what waits behind a suspect of its own match keeps its place
        held.update(t.sent.match for t in suspects)
        return done + self._batch([t for t in tasks if t.sent.match not in held], held)

    def _read(self, entry: Entry) -> _Task | None:
        try:
            return _Task(entry, commands.decode(entry.payload))
        except msgspec.MsgspecError:
            logger.exception(
                "ALARM: inbox entry %s of shard %d can't be decoded; it is set aside",
                entry.id,
                entry.shard,
            )
            self._store.set_aside(entry)
            return None

    def _careful(self, task: _Task, held: set[int]) -> int:
        """Work one suspect: the attempt is counted before it is made, since it may be the last."""
        self._tell()
        self._lanes.renew(self._lane, self._token)
        if self._store.outcome(task.sent.match, task.sent.id) is not None:
            # a repetition of what has been dealt with: the commit finds that, and writes nothing
            return self._batch([task], held, verdict=_INTERNAL)
        tries = self._store.try_again(task.entry.shard, task.entry.id)
        point("drain.counted")
        if tries > TRIES:
            logger.error("command %s is refused after %d attempts", task.sent.id.hex(), TRIES)
            return self._batch([task], held, verdict=_INTERNAL)
        return self._batch([task], held, counted=True)

    def _batch(
        self,
        tasks: Sequence[_Task],
        held: set[int],
        verdict: Rejected | None = None,
        *,
        counted: bool = False,
    ) -> int:
        """Decide tasks in order (or give all the same verdict), commit them, tell the doors.

        Where the attempt was `counted` and the decision came back, it is taken off the count:
        a server that fails in the commit is not the command's fault.
        """
        if not tasks:
            return 0
        matches, unreadable = self._load({task.sent.match for task in tasks})
        point("drain.loaded")
        writes, doors = [], []
        self._beginnings.clear()
        for task in tasks:
            board = task.sent.match
            if board in held:
                continue
            said = _INTERNAL if board in unreadable else verdict
            decided = self._decide(task, matches[board], said)
            if decided is None:
                self._suspects.add(task.sent.id)
                held.add(board)
                continue
            if counted:
                self._store.forgive(task.entry.shard, task.entry.id)
            write, matches[board] = decided
            writes.append(write)
            doors.append(task.entry.reply_to)
        point("drain.decided")
        if not writes:
            return 0
        results = self._commit(writes, doors)
        self._remember({b: m for b, m in matches.items() if b not in unreadable}, writes, results)
        return sum(not isinstance(result, Conflict) for result in results)

    def _load(self, wanted: Collection[int]) -> tuple[dict[int, _Match], set[int]]:
        """Return the matches, and the boards whose snapshot can't be read.

        Of those only the head is given: enough for a refusal, so that they stop nobody else.
        """
        matches = {board: self._known[board] for board in wanted if board in self._known}
        boards = [board for board in wanted if board not in matches]
        unreadable = set()
        found = self._store.matches(boards) if boards else []
        for board, (data, laid) in zip(boards, found, strict=True):
            try:
                snapshot = unpack_snapshot(data)
            except msgspec.MsgspecError:
                logger.exception("ALARM: the snapshot of match %d can't be read", board)
                snapshot = Snapshot((data or b"")[:32], initial())
                unreadable.add(board)
            matches[board] = _Match(snapshot, laid)
        return matches, unreadable

    def _decide(
        self, task: _Task, match: _Match, verdict: Rejected | None
    ) -> tuple[Write, _Match] | None:
        """Decide and seal one command; None, with the reason in the log, when that failed."""
        HEART.step()
        try:
            with LIMITED:
                state = match.snapshot.state
                if verdict is not None:
                    return _write(task, verdict, match)
                shard, received = task.entry.shard, task.entry.received
                begins = self._beginnings.given(shard, task.sent, state, received)
                given = begins or Given(received, replies=replies.unpack(match.laid))
                write, after = _write(task, self._decider(task.sent, state, given), match)
                if write.k:
                    self._beginnings.used(shard, given)
                return write, after
        except LostSeedsError as error:
            # no attempt of this worker could end otherwise
            logger.error("ALARM: match %d: %s", task.sent.match, error)  # noqa: TRY400
            return _write(task, _SEEDLESS, match)
        except Exception:
            logger.exception(
                "match %d: deciding command %s failed", task.sent.match, task.sent.id.hex()
            )
            return None

    def _commit(self, writes: Sequence[Write], doors: Collection[str]) -> list[Committed]:
        self._forget(writes)  # until it is known what became of it
        self._beginnings.mark()
        results = self._store.commit(writes)
        point("drain.committed")
        for write, door, result in zip(writes, doors, results, strict=True):
            if not isinstance(result, Conflict):
                self._told.setdefault(door, []).append((write.id, result.stored))
        return results

    def _forget(self, writes: Sequence[Write]) -> None:
        for write in writes:
            self._known.pop(write.board, None)

    def _remember(
        self, matches: dict[int, _Match], writes: Sequence[Write], results: Sequence[Committed]
    ) -> None:
        """Keep the matches in which all was written as it was decided."""
        pairs = list(zip(writes, results, strict=True))
        others = {write.board for write, result in pairs if not isinstance(result, Done)}
        for board in matches.keys() & {write.board for write in writes} - others:
            self._known[board] = matches[board]


def _wave(entries: list[Entry]) -> list[Entry]:
    """Return what is worked together: everything of much, of little the oldest.

    With all of it at once, doors and drain would wait for each other in turn: the doors would be
    told everything at one moment, and hand everything in at another.
    """
    if len(entries) > FEW:
        return entries
    return sorted(entries, key=_age)[:WAVE]


def _age(entry: Entry) -> tuple[int, ...]:
    """Return when an entry came, by the server's id for it: in a shard it never runs backwards."""
    return tuple(map(int, entry.id.split("-")))


def _write(task: _Task, decision: Decided | Rejected, match: _Match) -> tuple[Write, _Match]:
    """Return what the commit writes, and the match as its next command is decided on."""
    entry, sent, snapshot = task.entry, task.sent, match.snapshot
    state, left = snapshot.state, match.laid
    seed = None
    if isinstance(decision, Decided):
        leaves, after = seal(sent, decision, snapshot, entry.received)
        tail = outcomes.tail("", state.seq + 1, "")
        packed, refused = pack_snapshot(after), ""
        seed = decision.seed
        if decision.replies is not None:
            left = replies.pack(decision.replies)
    else:
        leaves, after = (seal_refusal(sent, decision, snapshot, entry.received),), snapshot
        tail = outcomes.tail(decision.code, state.seq, decision.sentence)
        packed, refused = None, refusal_field(sent.actor, state.ply)
    write = Write(
        shard=entry.shard,
        entry=entry.id,
        board=sent.match,
        id=sent.id,
        head=snapshot.head,
        digest=commands.digest(entry.payload),
        tail=tail,
        leaves=leaves,
        snapshot=packed,
        due=due(after.state),
        laid=match.laid,
        left=left,
        refused=refused,
        chain=seed[0] if seed else 0,
        k=seed[1] if seed else 0,
    )
    return write, _Match(after, left)
