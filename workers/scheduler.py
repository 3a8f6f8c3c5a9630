"""The scheduler: every second or two, lost wake-ups, reminders and flags.

Its commands keep `keeper` as their sender: the name is part of their ids.
"""

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Final, assert_never

import msgspec

from domain import aggregates
from domain.errors import Code
from domain.match.commands import Command, CommandEnvelope, tag_of
from domain.match.history import PackedSnapshot
from domain.records import SERVER_ACCOUNT, command_id
from infra.process.failpoints import failpoint
from infra.redis.keys import lane_of
from infra.store.gateway import submission_of
from infra.store.leases import LaneLeases
from infra.store.log_streams import ShardNews
from infra.store.outcomes import parse
from infra.store.port import (
    AlreadyDecided,
    NotAccepted,
    Queued,
    Store,
    Submission,
    SubmitResult,
)
from workers.clock_check import ClockCheck

logger = logging.getLogger(__name__)

SENDER: Final = "keeper"
"""The scheduler's name in command ids, and its reply channel, to which nobody listens."""

MAX_SKEW_MS: Final = 60_000
"""How far Redis's clock and this machine's may differ. Beyond that one is wrong, and which is unknown."""

DUE_PER_SHARD: Final = 200
"""Matches of a shard that are looked at in a tick, which bounds the scheduler's part of an inbox."""

RETRY_SECONDS: Final = 60.0
"""When a command without effect is sent again, unless it may still wait in its inbox."""

ROBOT_GRACE_SECONDS: Final = 3_600.0
"""How long after the scheduler's start no flag of a robot falls, because it is late if its server was down."""

SETTLE_SECONDS: Final = 5.0
"""How long after the last commit the server counts as in use: until then projections may follow it."""

REST_SECONDS: Final = 2.0
"""Between two ticks while nothing waits."""

READ_AGAIN_SECONDS: Final = 60.0
"""When a shard's next due time is read again although nothing was committed: it may have been repaired."""


def _now() -> int:
    return time.time_ns() // 1_000_000


class _DueCommand(msgspec.Struct, frozen=True):
    """The command that a due match needs, and the position of the match that it is for."""

    board: int
    seq: int
    command: Command
    ply: int


class _DueMatch(msgspec.Struct, frozen=True):
    """The scheduler's progress with a match that is due."""

    needs: _DueCommand | None = None
    """None if the match needs no command, or can't be read."""
    attempt: int = 0
    """How many commands for this position were refused."""
    sent: float | None = None
    """When the command was queued, by our timer; None if it was not."""
    received: int = 0
    """The same by the server's clock."""
    logged: bool = False
    """Whether an alarm about it is in the log."""

    @property
    def stuck(self) -> bool:
        """Whether the match stays due although the scheduler has done all it can."""
        return self.needs is None or self.attempt > 0


class _ShardView(msgspec.Struct):
    """A shard as it was at the last tick."""

    end: int = 0
    """Where its log ended; 0 to find it again, because a log may have been rolled back."""
    known_end: int = -1
    """Where its log ended at the last tick; unlike `end` never forgotten."""
    next_due: int | None = None
    """When the next of its matches is due, ms."""
    read: float = 0.0
    """When that was read, by our timer."""


class Scheduler:
    """Call `tick` once a second, or each `REST_SECONDS` while it `rests`; several schedulers do no harm.

    The id of a command is made of its kind and the position of the match, so it takes effect once,
    however many schedulers send it and however often. A move that came first is decided first, and
    the command then does not fit the match any more.

    `clock` returns this machine's time in ms, `timer` seconds that only run forwards. `clock_check`
    detects that the server's clock was set; without it that is not checked. `repair` is called as
    `repair_due` where the list has a match due earlier than the match itself.
    """

    def __init__(
        self,
        store: Store,
        lanes: LaneLeases,
        clock: Callable[[], int] = _now,
        timer: Callable[[], float] = time.monotonic,
        *,
        clock_check: ClockCheck | None = None,
        repair: Callable[[int, bytes, int], object] = lambda *_: None,
    ) -> None:
        self._store = store
        self._lanes = lanes
        self._clock = clock
        self._timer = timer
        self._views: defaultdict[int, _ShardView] = defaultdict(_ShardView)
        self._due: dict[int, dict[int, _DueMatch]] = {}
        """By shard and board; a match that is not due any more is dropped."""
        self._skewed = False
        self._clock_check = clock_check
        self._repair = repair
        self._used_at = timer()
        """When a command last waited, or a log was last seen to have grown."""
        self._other_than_moves_at = timer()
        """When a log was last seen to have grown by anything else than moves."""
        self._now = 0
        """The server's time at the last tick, ms."""
        self._waits = True
        """Whether a command waited then."""
        self._robots_until = timer() + ROBOT_GRACE_SECONDS
        """Until then robots that are late may still act."""

    def tick(self) -> None:
        """Request drains where commands wait, and send what is due by the clocks of the matches."""
        failpoint("keeper.ticked")
        now = self._sweep()
        steady = self._clock_check is None or self._clock_check.is_steady(now)
        if self._clocks_agree(now) and steady:
            self._send_due(now)

    def is_quiet(self, *, but_for_moves: bool = False) -> bool:
        """Return whether no command has waited, and no log has grown, for `SETTLE_SECONDS`.

        Or whether none has grown by anything else than moves, which most work need not follow.
        """
        since = self._other_than_moves_at if but_for_moves else self._used_at
        return self._timer() - since >= SETTLE_SECONDS

    def rests(self) -> bool:
        """Return whether no command waited at the last tick, and no match is due before the tick after the next."""
        until = self._now + int(2_000 * REST_SECONDS)
        due = (view.next_due for view in self._views.values())
        return not self._waits and not any(at is not None and at <= until for at in due)

    def _sweep(self) -> int:
        """Request drains where commands wait, and return the server's time, ms.

        A match's due time changes by commits, and a commit has a leaf in the log. So the due times of a
        shard are read where its log has grown, and nowhere else.
        """
        shape = self._store.layout()
        shards = range(shape.shards)
        now, news = self._store.news([self._views[shard].end for shard in shards])
        self._now = now
        self._note_use(news)
        changed = [shard for shard in shards if self._may_have_changed(shard, news[shard], now)]
        for shard, at in zip(
            changed, self._store.next_due(changed) if changed else (), strict=True
        ):
            self._views[shard].next_due, self._views[shard].read = at, self._timer()
        waiting = {shard for shard in shards if news[shard].waiting}
        self._waits = bool(waiting)
        for lane in shape.all_lanes:
            if not waiting.isdisjoint(lane.shards(shape.shards)):
                failpoint("keeper.found")
                self._lanes.request(lane)
        return now

    def _note_use(self, news: Sequence[ShardNews]) -> None:
        for shard, found in enumerate(news):
            view = self._views[shard]
            has_grown = found.end != view.known_end
            if has_grown and not found.only_moves:
                self._other_than_moves_at = self._timer()
            if found.waiting or has_grown:
                view.known_end, self._used_at = found.end, self._timer()

    def _may_have_changed(self, shard: int, news: ShardNews, now: int) -> bool:
        """Return whether the next due time of a shard has to be read, and note where its log ends."""
        view = self._views[shard]
        due = view.next_due is not None and view.next_due <= now
        old = self._timer() - view.read >= READ_AGAIN_SECONDS
        grown = news.end != view.end
        view.end = 0 if old else news.end
        return grown or due or old

    def _clocks_agree(self, now: int) -> bool:
        """Return whether the server's clock agrees with this machine's; log when that changes."""
        apart = now - self._clock()
        skewed = abs(apart) > MAX_SKEW_MS
        if skewed and not self._skewed:
            logger.error(
                "ALARM: the clock of the matches' server is %+d s from this machine's; "
                "no reminder is sent and no flag falls until they agree",
                round(apart / 1000),
            )
        if self._skewed and not skewed:
            logger.warning("the clocks agree again; reminders and flags go on")
        self._skewed = skewed
        return not skewed

    def _send_due(self, now: int) -> None:
        shape = self._store.layout()
        for shard in range(shape.shards):
            next_due = self._views[shard].next_due
            if next_due is None or next_due > now:
                self._due.pop(shard, None)
                continue
            matches = self._due_matches(shard, now)
            if matches and self._send(shard, matches):
                self._lanes.request(lane_of(shard, shape.lanes, shape.shards))
            self._due[shard] = matches

    def _due_matches(self, shard: int, now: int) -> dict[int, _DueMatch]:
        """Return the matches of a shard that are due, by their boards."""
        before = self._due.get(shard, {})
        # read that many more, because stuck matches must not hide those that are due after them
        stuck = sum(one.stuck for one in before.values())
        boards = self._store.due_boards(shard, now, DUE_PER_SHARD + stuck)
        snapshots = self._store.snapshots(boards) if boards else []
        spare_robots = self._timer() < self._robots_until
        found = {
            board: _due_match(
                board, data, now, before.get(board, _DueMatch()), spare_robots=spare_robots
            )
            for board, data in zip(boards, snapshots, strict=True)
        }
        for board, data in zip(boards, snapshots, strict=True):
            if data and not found[board].needs and not found[board].logged:
                self._check_listed(board, data, now)
        return found

    def _check_listed(self, board: int, data: PackedSnapshot, now: int) -> None:
        """Repair the due time of a match that is listed as due, and is not."""
        snapshot = aggregates.unpack(data)
        wanted = aggregates.next_due(snapshot.state)
        if not 0 < wanted <= now and self._repair(board, snapshot.head, wanted):
            logger.warning("match %d was listed as due, and is due at %d: repaired", board, wanted)

    def _send(self, shard: int, matches: dict[int, _DueMatch]) -> bool:
        """Send the commands that the matches need, and update them; return whether any was queued."""
        waiting = self._store.read_inbox([shard], 1)
        oldest = waiting[0].received if waiting else None
        sent = [one for one in matches.values() if one.needs and self._should_send(one, oldest)]
        answers = self._submit([_submission(one) for one in sent])
        for one, answer in zip(sent, answers, strict=True):
            assert one.needs is not None
            matches[one.needs.board] = self._after_answer(one, one.needs, answer)
        return any(isinstance(answer, Queued) for answer in answers)

    def _submit(self, new: Sequence[Submission]) -> Sequence[SubmitResult]:
        if not new:
            return []
        answers = self._store.submit(new)
        failpoint("keeper.sent")
        return answers

    def _should_send(self, one: _DueMatch, oldest: int | None) -> bool:
        """Return True the first time, and again once the inbox has only newer entries."""
        if one.sent is None:
            return True
        if self._timer() - one.sent < RETRY_SECONDS:
            return False
        return oldest is None or oldest > one.received

    def _after_answer(self, one: _DueMatch, needs: _DueCommand, answer: SubmitResult) -> _DueMatch:
        replace = msgspec.structs.replace
        match answer:
            case Queued():
                return replace(one, sent=self._timer(), received=answer.received)
            case AlreadyDecided():
                code = parse(answer.stored).code
            case NotAccepted():
                code = answer.code
            case _:  # pragma: no cover - the union is closed
                assert_never(answer)
        if code in ("", Code.BUSY, Code.UNAVAILABLE):
            return one  # done since the match was read, or sent again by the next tick
        _log_refusal(one, needs, code)
        # the match has not changed, so only a command with another id can still help
        again = None if isinstance(answer, AlreadyDecided) else self._timer()
        return replace(one, attempt=one.attempt + 1, sent=again, logged=one.attempt > 0)


def _log_refusal(one: _DueMatch, needs: _DueCommand, code: str) -> None:
    """Log that a command was refused: the first time a warning, then an alarm."""
    what = tag_of(needs.command)
    if not one.attempt:
        logger.warning("match %d: its %s is refused as %s; retrying", needs.board, what, code)
    elif not one.logged:
        logger.error(
            "ALARM: the %s that match %d needs is refused as %s; it is tried each minute",
            *(what, needs.board, code),
        )


def _due_match(
    board: int, data: PackedSnapshot | None, now: int, before: _DueMatch, *, spare_robots: bool
) -> _DueMatch:
    """Return what is known of a due match: `before` as long as the match needs the same."""
    try:
        needs = _due_command(board, data, now, spare_robots=spare_robots)
    except Exception:
        # whatever is wrong with it, the clocks of the other matches go on
        if not before.logged:
            logger.exception("ALARM: the clocks of match %d can't be read", board)
        return _DueMatch(logged=True)
    return before if needs == before.needs else _DueMatch(needs)


def _due_command(
    board: int, data: PackedSnapshot | None, now: int, *, spare_robots: bool
) -> _DueCommand | None:
    state = aggregates.unpack(data).state
    command = aggregates.due_command(state, now, spare_robots=spare_robots)
    return _DueCommand(board, state.seq, command, state.ply) if command else None


def _submission(one: _DueMatch) -> Submission:
    needs = one.needs
    assert needs is not None
    # part of the ids of commands that were sent by earlier versions, so it never changes
    key = f"{needs.board} {needs.seq} {tag_of(needs.command).capitalize()}"
    if one.attempt:
        key += f" {one.attempt}"
    id_ = command_id(SENDER, SERVER_ACCOUNT, key)
    return submission_of(
        CommandEnvelope(needs.board, id_, SERVER_ACCOUNT, needs.command), needs.ply, SENDER
    )
