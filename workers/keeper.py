"""The keeper: what must happen by itself, once a second: lost wake-ups, reminders, flags."""

import logging
import time
from collections.abc import Callable
from typing import Final

import msgspec

from domain.match import commands
from domain.match.commands import Flag, Nag, Sent
from domain.match.events import THE_SERVER, CommandId, command_id
from domain.match.record import unpack_snapshot
from domain.match.state import MatchState, due, reminds
from infra.faults import point
from infra.keys import lane_of, shards_of
from infra.lanes import Lanes
from infra.store.port import Queued, Store, Submission

logger = logging.getLogger(__name__)

DOOR: Final = "keeper"
"""Under which its commands are sent; nobody listens there."""

SKEW_MS: Final = 60_000
"""How far Redis's clock and ours may be apart: beyond, one is wrong, and nobody knows which."""

AT_ONCE: Final = 200
"""Matches of a shard looked at in one tick."""

AGAIN_SECONDS: Final = 60.0
"""When a command without an outcome is sent again: until then it may well wait in its inbox."""


def _now() -> int:
    return time.time_ns() // 1_000_000


class Keeper:
    """One `tick` a second; several keepers do no harm.

    What it sends for a match bears an id made of what it is and of where the match stands, so it is
    carried out once however often it is sent, and by however many keepers. A move that came first
    is decided first, and the command then finds the match elsewhere. `clock` gives our own time in
    ms, `timer` seconds that only run forwards.
    """

    def __init__(
        self,
        store: Store,
        lanes: Lanes,
        clock: Callable[[], int] = _now,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._lanes = lanes
        self._clock = clock
        self._timer = timer
        self._sent: dict[CommandId, float] = {}
        self._skewed = False
        self._unreadable: set[int] = set()

    def tick(self) -> None:
        """Ask for drains where commands wait and none runs, and send what the clocks call for."""
        point("keeper.ticked")
        self._sweep()
        now = self._store.now()
        if self._agrees(now):
            self._keep(now)

    def _sweep(self) -> None:
        shape = self._store.shape()
        for lane in range(shape.lanes):
            if self._store.depth(shards_of(lane, shape.lanes, shape.shards)):
                point("keeper.found")
                self._lanes.want(lane)

    def _agrees(self, now: int) -> bool:
        """Tell whether the server's clock can be believed; say so when that changes."""
        apart = now - self._clock()
        skewed = abs(apart) > SKEW_MS
        if skewed and not self._skewed:
            logger.error(
                "ALARM: the clock of the matches' server is %+d s from this machine's; "
                "no reminder is sent and no flag falls until they agree",
                apart // 1000,
            )
        if self._skewed and not skewed:
            logger.warning("the clocks agree again; reminders and flags go on")
        self._skewed = skewed
        return not skewed

    def _keep(self, now: int) -> None:
        again = self._timer() - AGAIN_SECONDS
        self._sent = {id_: at for id_, at in self._sent.items() if at > again}
        for shard in range(self._store.shape().shards):
            boards = self._store.due(shard, now, AT_ONCE)
            for board, data in zip(boards, self._store.snapshots(boards), strict=True):
                if state := self._state(board, data):
                    self._send(board, state, now)
            if boards:
                self._lanes.want(lane_of(shard, self._store.shape().lanes))

    def _state(self, board: int, data: bytes | None) -> MatchState | None:
        """Give a match's state; None, said once, where it can't be read."""
        try:
            return unpack_snapshot(data).state
        except msgspec.MsgspecError:
            if board not in self._unreadable:
                logger.exception("ALARM: the clocks of match %d can't be read", board)
                self._unreadable.add(board)
            return None

    def _send(self, board: int, state: MatchState, now: int) -> None:
        command = _command(state, now)
        if command is None:
            return
        # where the match stands is its last event: the same turn can come to a flag only once
        id_ = command_id(DOOR, THE_SERVER, f"{board} {state.seq} {type(command).__name__}")
        if id_ in self._sent:
            return
        payload = commands.encode(Sent(board, id_, THE_SERVER, command))
        digest = commands.digest(payload)
        submission = Submission(board, id_, digest, payload, THE_SERVER, state.ply, DOOR)
        (answer,) = self._store.submit([submission])
        if isinstance(answer, Queued):
            self._sent[id_] = self._timer()


def _command(state: MatchState, now: int) -> Nag | Flag | None:
    """Give the command that a match is due for; None when it is for none any more."""
    if not due(state):
        return None
    return Nag(ply=state.ply) if reminds(state, now) else Flag(ply=state.ply)
