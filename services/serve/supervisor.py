"""The supervisor: starts children, starts them again when they end, and ends with them.

One thread, one loop. Guarantees: a child that ends is started again after a back-off, and its
end is one line in the log; one that gives no sign of life (`infra.liveness`) is killed; on SIGTERM, SIGINT or SIGHUP the children are ended in order; children
end with the supervisor however it ends (the kernel sees to it, see `infra.process`); an
exception in the tick is logged and the tick tried again.

Children of the *server* they depend on (`depends_on`) are started first and
ended last, and while one is down neither are the others started nor is the tick called.
"""

import logging
import time
from collections.abc import Callable, Sequence
from typing import Final

from infra.process import describe_exit
from services.serve.child import Child
from services.serve.signals import Signals

logger = logging.getLogger(__name__)

MIN_DELAY: Final = 0.1
"""Seconds until a child that ended is started again, the first time."""

MAX_DELAY: Final = 10.0
"""Seconds to which that delay doubles."""

STABLE_SECONDS: Final = 30.0
"""Seconds of life after which a child's end counts as its first."""

STOP_DEADLINE: Final = 10.0
"""Seconds that children have to end in good order."""

_MAX_TICK_DELAY: Final = 30.0  # seconds; where the delays of a failing tick end
_WATCH_SECONDS: Final = 1.0  # how often it looks whether children give signs of life
_KILL_DEADLINE: Final = 5.0  # seconds the kernel may need to end a killed child


class Supervisor:
    """Looks after `children`, and calls `tick` every `tick_interval` seconds, in the main thread.

    `stop_deadline` is the time, in seconds, that the children, and then the depends_on, have to
    end in good order when the supervisor is told to stop.
    """

    def __init__(
        self,
        children: Sequence[Child],
        tick: Callable[[], None],
        tick_interval: float = 1.0,
        *,
        depends_on: Sequence[Child] = (),
        stop_deadline: float = STOP_DEADLINE,
    ) -> None:
        self._dependencies = [_ChildSlot(child) for child in depends_on]
        self._children = [_ChildSlot(child) for child in children]
        self._tick = _Tick(tick, tick_interval)
        self._stop_deadline = stop_deadline
        self._starting: Child | None = None
        self._signals = Signals(self._cut_start_short)

    def run(self, started: Callable[[], None] = lambda: None) -> None:
        """Start all children, call `started`, and look after them until told to stop.

        Children that run already are taken over. Returns when all have ended. What the first
        start of a child, or `started`, raises is raised from here, when all others have ended.
        """
        with self._signals:
            try:
                self._start_all()
                if not self._signals.stops:
                    started()
                while not self._signals.stops:
                    self._end_silent()
                    self._reap()
                    self._restart()
                    self._call_tick()
                    self._signals.wait(self._next_event() - time.monotonic())
            finally:
                self._stop_all()

    def _start_all(self) -> None:
        """Start each child for the first time, the depends_on first."""
        for slot in (*self._dependencies, *self._children):
            if self._signals.stops:
                return
            try:
                self._start(slot)
            except Exception:
                # one that ended because we were told to stop while it started is no failure
                if self._signals.stops:
                    return
                raise

    def _start(self, slot: "_ChildSlot") -> None:
        """Start one child; a signal that arrives meanwhile ends it."""
        self._starting = slot.child
        try:
            slot.start()
        finally:
            self._starting = None

    def _cut_start_short(self) -> None:
        """End the child that is being started: a server may load its data for long."""
        if self._starting is not None:
            self._starting.terminate()

    def _end_silent(self) -> None:
        """Kill children that have given no sign of life for too long; they are started again.

        SIGKILL, because one that hangs may not hear anything else.
        """
        for slot in self._children:
            if not slot.is_down and slot.child.is_silent:
                logger.error("ALARM: %s gives no sign of life, and is killed", slot.child.name)
                slot.child.kill()

    def _reap(self) -> None:
        """Note and log which children ended."""
        for slot in (*self._dependencies, *self._children):
            slot.reap()

    def _restart(self) -> None:
        """Start again what is due; nothing above a depends_on that is down."""
        for slot in self._dependencies:
            self._start_again(slot)
            if slot.is_down:
                return
        for slot in self._children:
            self._start_again(slot)

    def _start_again(self, slot: "_ChildSlot") -> None:
        """Start a child if its time has come; a failure is logged and delays it further."""
        if self._signals.stops or not slot.is_due:
            return
        try:
            self._start(slot)
        except Exception as error:  # noqa: BLE001 - whatever it is, the others go on
            slot.note_failure(error)
            return
        logger.info("%s was started again", slot.child.name)
        if slot in self._dependencies:
            self._reset_delays()

    def _reset_delays(self) -> None:
        """Forget the delays of children that ended because the depends_on was down."""
        for slot in self._children:
            slot.reset_delay()

    def _call_tick(self) -> None:
        """Call the tick if it is due and can work."""
        if not self._signals.stops and not any(slot.is_down for slot in self._dependencies):
            self._tick.call_if_due()

    def _next_event(self) -> float:
        """Return the time of the next thing to do, by the monotonic clock."""
        down = [slot.due for slot in self._dependencies if slot.is_down]
        if down:
            return min(down)
        due = [self._tick.due, *(slot.due for slot in self._children if slot.is_down)]
        return min([time.monotonic() + _WATCH_SECONDS, *due])

    def _stop_all(self) -> None:
        """End the children together, then the depends_on, last started first."""
        patience = min(1, self._signals.stops)  # any signal but the one that told us to stop
        self._stop([slot.child for slot in self._children], patience)
        for slot in reversed(self._dependencies):
            self._stop([slot.child], patience)

    def _stop(self, children: Sequence[Child], patience: int) -> None:
        """End some children: ask, wait until the deadline or a signal more than `patience`, kill."""
        for child in children:
            child.terminate()
        deadline = time.monotonic() + self._stop_deadline
        while _running(children) and time.monotonic() < deadline:
            if self._signals.stops > patience:
                break
            self._signals.wait(deadline - time.monotonic())
        for child in _running(children):
            logger.warning("%s did not end in time and is killed", child.name)
            child.kill()
        self._await_killed(children)

    def _await_killed(self, children: Sequence[Child]) -> None:
        """Wait for killed children, so that nothing of them is left when we return."""
        deadline = time.monotonic() + _KILL_DEADLINE
        while _running(children) and time.monotonic() < deadline:
            self._signals.wait(deadline - time.monotonic())
        for child in _running(children):
            logger.error("%s is still there after it was killed", child.name)


class _ChildSlot:
    """A child's place: whether it is manned, since when, and when to try again."""

    def __init__(self, child: Child) -> None:
        self.child = child
        self.is_down = True
        self.due = 0.0  # by the monotonic clock; when to start it, while it is down
        self._delay = MIN_DELAY
        self._started_at = 0.0

    @property
    def is_due(self) -> bool:
        """Whether it is down and to be started now."""
        return self.is_down and time.monotonic() >= self.due

    def start(self) -> None:
        """Start the child; what it raises passes through."""
        self.child.start()
        self.is_down = False
        self._started_at = time.monotonic()

    def reap(self) -> None:
        """Note that the child ended, if it did."""
        if self.is_down or (code := self.child.poll()) is None:
            return
        life = time.monotonic() - self._started_at
        if life >= STABLE_SECONDS:
            self._delay = MIN_DELAY
        self._back_off(f"{describe_exit(code)} after {life:.1f} s")

    def note_failure(self, error: Exception) -> None:
        """Note that the child could not be started."""
        self._back_off(f"could not start: {type(error).__name__}: {error}")

    def reset_delay(self) -> None:
        """Make it due now, with the shortest delay after it."""
        self.due = time.monotonic()
        self._delay = MIN_DELAY

    def _back_off(self, why: str) -> None:
        """Set the time of the next try, and double the delay after that."""
        logger.warning("%s %s; next start in %g s", self.child.name, why, self._delay)
        self.is_down = True
        self.due = time.monotonic() + self._delay
        self._delay = min(2 * self._delay, MAX_DELAY)


class _Tick:
    """A function called at intervals, which grow while it fails."""

    def __init__(self, function: Callable[[], None], interval: float) -> None:
        self.due = 0.0  # by the monotonic clock
        self._function = function
        self._interval = self._delay = interval

    def call_if_due(self) -> None:
        """Call it if its time has come, and set the next time."""
        if time.monotonic() < self.due:
            return
        try:
            self._function()
        except Exception:
            self._delay = min(2 * self._delay, max(_MAX_TICK_DELAY, self._interval))
            logger.exception("the tick failed; next try in %g s", self._delay)
        else:
            self._delay = self._interval
        self.due = time.monotonic() + self._delay


def _running(children: Sequence[Child]) -> list[Child]:
    """Return those of the children that have not ended."""
    return [child for child in children if child.poll() is None]
