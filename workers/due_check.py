"""Compares the due times of all matches with their snapshots once an hour, and repairs them.

A match that is missing from the list would never be reminded or flagged, and nothing else would show it.
A tick checks only a few matches, so that play is not slowed. Unreadable matches are noted for the doctor.
"""

import logging
import time
from collections.abc import Callable
from typing import Final

from domain.match.history import PackedSnapshot, unpack_snapshot
from domain.match.state import next_due
from infra.store.damaged_matches import DamagedMatches
from infra.store.due_times import DueTimes

logger = logging.getLogger(__name__)

ROUND_SECONDS: Final = 3_600.0
"""From the beginning of a round to the beginning of the next."""

BOARDS_PER_TICK: Final = 100
"""Matches of a tick, or more if a round would take too long."""

_ROUND_TICKS: Final = 3_000
"""Ticks in which a round ends."""


class DueCheck:
    """Call `tick` once a second; `timer` returns seconds that only run forwards."""

    def __init__(
        self,
        times: DueTimes,
        damage: DamagedMatches,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._times = times
        self._damage = damage
        self._timer = timer
        self._next_round = timer()
        self._next = 0
        """The board that is checked next; 0 between two rounds."""
        self._repaired = 0

    def tick(self) -> None:
        """Check the next matches, if a round is under way or due."""
        if not self._next:
            if self._timer() < self._next_round:
                return
            self._next_round = self._timer() + ROUND_SECONDS
            self._next, self._repaired = 1, 0
        last = self._times.highest_board()
        end = self._next + max(BOARDS_PER_TICK, -(-last // _ROUND_TICKS))
        boards = range(self._next, min(end, last + 1))
        for board, (data, listed) in zip(boards, self._times.read(boards), strict=True):
            if data is not None:
                self._check(board, data, listed)
        self._next = end if end <= last else 0
        if not self._next and self._repaired:
            logger.error(
                "ALARM: the due times of %d matches were wrong, and repaired", self._repaired
            )

    def _check(self, board: int, data: PackedSnapshot, listed: int) -> None:
        try:
            snapshot = unpack_snapshot(data)
            wanted = next_due(snapshot.state)
        except Exception as error:  # noqa: BLE001 - whatever it is, the others are checked
            self._damage.note(board, f"its snapshot can't be read: {error}")
            return
        if wanted != listed and self._times.repair(board, snapshot.head, wanted):
            self._repaired += 1
            logger.warning(
                "match %d: the list had it due at %d, and it is due at %d", board, listed, wanted
            )
