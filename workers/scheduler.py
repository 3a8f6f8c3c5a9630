"""The keeper: what must happen by itself, once a second: lost wake-ups, reminders, flags."""

import logging
import time
from collections.abc import Callable, Sequence
from typing import Final, assert_never

import msgspec

from domain.errors import Code
from domain.match.commands import Flag, Nag, Sent
from domain.match.events import THE_SERVER, command_id
from domain.match.record import unpack_snapshot
from domain.match.state import due, reminds
from infra.faults import point
from infra.gateway import submission_of
from infra.keys import lane_of, shards_of
from infra.lanes import Lanes
from infra.outcomes import parse
from infra.store.port import Known, Queued, Store, Submission, Submitted, Turned
from workers.clock_check import Steadiness

logger = logging.getLogger(__name__)

DOOR: Final = "keeper"
"""Under which its commands are sent; nobody listens there."""

SKEW_MS: Final = 60_000
"""How far Redis's clock and ours may be apart: beyond, one is wrong, and nobody knows which."""

AT_ONCE: Final = 200
"""Matches of a shard that are worked on at a time: no more commands of ours wait in its inbox."""

AGAIN_SECONDS: Final = 60.0
"""When a command that led to nothing is sent again, unless it may wait in its inbox still."""


def _now() -> int:
    return time.time_ns() // 1_000_000


class _Call(msgspec.Struct, frozen=True):
    """What a match calls for, and where it stands: the same turn comes to a flag only once."""

    board: int
    seq: int
    command: Nag | Flag
    ply: int


class _Case(msgspec.Struct, frozen=True):
    """What has been done about a match that is due."""

    call: _Call | None = None
    """None where the match calls for nothing, or can't be read."""
    attempt: int = 0
    """How many commands for this call were refused."""
    sent: float | None = None
    """When its command was queued, by our timer; None while none was."""
    received: int = 0
    """The same by the server's clock."""
    told: bool = False
    """Whether its trouble is in the log."""

    @property
    def stuck(self) -> bool:
        """Whether it stays due though everything was done that can be."""
        return self.call is None or self.attempt > 0


class Keeper:
    """One `tick` a second; several keepers do no harm.

    What it sends for a match bears an id made of what it is and of where the match stands, so it is
    carried out once however often it is sent, and by however many keepers. A move that came first
    is decided first, and the command then finds the match elsewhere. `clock` gives our own time in
    ms, `timer` seconds that only run forwards. `steadiness` says whether the server's clock was set;
    without one nobody looks.
    """

    def __init__(
        self,
        store: Store,
        lanes: Lanes,
        clock: Callable[[], int] = _now,
        timer: Callable[[], float] = time.monotonic,
        *,
        steadiness: Steadiness | None = None,
    ) -> None:
        self._store = store
        self._lanes = lanes
        self._clock = clock
        self._timer = timer
        self._cases: dict[int, dict[int, _Case]] = {}
        """By shard and board; a match that is due no more is forgotten."""
        self._skewed = False
        self._steadiness = steadiness

    def tick(self) -> None:
        """Ask for drains where commands wait and none runs, and send what the clocks call for."""
        point("keeper.ticked")
        self._sweep()
        now = self._store.now()
        steady = self._steadiness is None or self._steadiness.is_steady(now)
        if self._agrees(now) and steady:
            self._keep(now)

    def _sweep(self) -> None:
        shape = self._store.shape()
        for lane in range(shape.lanes):
            if self._store.depth(shards_of(lane, shape.lanes, shape.shards)):
                point("keeper.found")
                self._lanes.want(lane)

    def _agrees(self, now: int) -> bool:
        """Return whether the server's clock can be believed; say so when that changes."""
        apart = now - self._clock()
        skewed = abs(apart) > SKEW_MS
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

    def _keep(self, now: int) -> None:
        shape = self._store.shape()
        for shard in range(shape.shards):
            cases = self._look(shard, now)
            if cases and self._send(shard, cases):
                self._lanes.want(lane_of(shard, shape.lanes))
            self._cases[shard] = cases

    def _look(self, shard: int, now: int) -> dict[int, _Case]:
        """Return the cases of matches of a shard that are due."""
        before = self._cases.get(shard, {})
        # what can't be helped must not stand in the way of those that are due after it
        stuck = sum(case.stuck for case in before.values())
        boards = self._store.due(shard, now, AT_ONCE + stuck)
        snapshots = self._store.snapshots(boards) if boards else []
        return {
            board: _case(board, data, now, before.get(board, _Case()))
            for board, data in zip(boards, snapshots, strict=True)
        }

    def _send(self, shard: int, cases: dict[int, _Case]) -> bool:
        """Send what is called for, and note what became of it; tell whether any was queued."""
        waiting = self._store.waiting([shard], 1)
        oldest = waiting[0].received if waiting else None
        sent = [case for case in cases.values() if case.call and self._is_time(case, oldest)]
        answers = self._hand_in([_submission(case) for case in sent])
        for case, answer in zip(sent, answers, strict=True):
            assert case.call is not None
            cases[case.call.board] = self._noted(case, case.call, answer)
        return any(isinstance(answer, Queued) for answer in answers)

    def _hand_in(self, new: Sequence[Submission]) -> Sequence[Submitted]:
        if not new:
            return []
        answers = self._store.submit(new)
        point("keeper.sent")
        return answers

    def _is_time(self, case: _Case, oldest: int | None) -> bool:
        """Return whether to send: at first, and again when nothing as old waits in the inbox."""
        if case.sent is None:
            return True
        if self._timer() - case.sent < AGAIN_SECONDS:
            return False
        return oldest is None or oldest > case.received

    def _noted(self, case: _Case, call: _Call, answer: Submitted) -> _Case:
        replace = msgspec.structs.replace
        match answer:
            case Queued():
                return replace(case, sent=self._timer(), received=answer.received)
            case Known():
                code = parse(answer.stored).code
            case Turned():
                code = answer.code
            case _:  # pragma: no cover - the union is closed
                assert_never(answer)
        if code in ("", Code.BUSY):
            return case  # done since we looked at the match, or done by the next tick
        _tell(case, call, code)
        # the match stands where it stood, so only a command of another id can still help
        again = None if isinstance(answer, Known) else self._timer()
        return replace(case, attempt=case.attempt + 1, sent=again, told=case.attempt > 0)


def _tell(case: _Case, call: _Call, code: str) -> None:
    """Say that a command was refused; more than once only a person can help."""
    what = type(call.command).__name__.lower()
    if not case.attempt:
        logger.warning(
            "match %d: its %s is refused as %s; it is tried again", call.board, what, code
        )
    elif not case.told:
        logger.error(
            "ALARM: the %s that match %d calls for is refused as %s; it is tried each minute",
            *(what, call.board, code),
        )


def _case(board: int, data: bytes | None, now: int, before: _Case) -> _Case:
    """Return the case of a match, as it was before if that has not changed."""
    try:
        call = _call(board, data, now)
    except Exception:
        # whatever is wrong with it, the others' clocks go on
        if not before.told:
            logger.exception("ALARM: the clocks of match %d can't be read", board)
        return _Case(told=True)
    return before if call == before.call else _Case(call)


def _call(board: int, data: bytes | None, now: int) -> _Call | None:
    state = unpack_snapshot(data).state
    if not 0 < due(state) <= now:
        return None
    command = Nag(ply=state.ply) if reminds(state, now) else Flag(ply=state.ply)
    return _Call(board, state.seq, command, state.ply)


def _submission(case: _Case) -> Submission:
    call = case.call
    assert call is not None
    key = f"{call.board} {call.seq} {type(call.command).__name__}"
    if case.attempt:
        key += f" {case.attempt}"
    id_ = command_id(DOOR, THE_SERVER, key)
    return submission_of(Sent(call.board, id_, THE_SERVER, call.command), call.ply, DOOR)
