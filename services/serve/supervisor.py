"""The supervisor: start child processes, restart them when they end, and stop them at the end.

One thread, one loop. Guarantees: a child that ends is restarted after a back-off, and its end is one
line in the log; a child that sends no sign of life (`infra.process.liveness`) is killed; on SIGTERM, SIGINT
or SIGHUP the children are stopped in order, within seconds; children end with the supervisor however
it ends (the kernel ensures it, see `infra.valkey.process`); an exception in the tick is logged and the tick is retried.

Children of the *server* they depend on (`depends_on`) are started first and
ended last, and while one is down neither are the others started nor is the tick called.
"""

import logging
import time
from collections.abc import Callable, Sequence
from typing import Final

from infra.process.liveness import BEAT_SECONDS, LIVENESS
from infra.valkey.process import describe_exit
from services.serve.child import Child
from services.serve.signals import Signals, Tick

logger = logging.getLogger(__name__)

MIN_DELAY: Final = 0.1
"""Seconds until a child is restarted after its first end."""

MAX_DELAY: Final = 10.0
"""The delay doubles up to this many seconds."""

STABLE_SECONDS: Final = 30.0
"""After running for so many seconds a child's end counts as its first."""

STOP_DEADLINE: Final = 2.0
"""Seconds that children have to end by themselves before they are killed, which loses nothing."""

SERVER_STOP_DEADLINE: Final = 10.0
"""The same for the server they depend on, which syncs its log first."""

_WATCH_SECONDS: Final = BEAT_SECONDS  # between two checks for signs of life, which come as often
_START_SECONDS: Final = 0.02  # the same until all children serve
_KILL_DEADLINE: Final = 5.0  # seconds the kernel may take to end a killed child


class Supervisor:
    """Supervises `children` and calls `tick` every `tick_interval` seconds, in the main thread.

    When the supervisor stops, the children have `stop_deadline` seconds to end by themselves, and
    then the server they depend on has `SERVER_STOP_DEADLINE`. At SIGUSR2 it calls `replace`, once all children serve.
    Children that give no signs of life are not looked at when `watches` is False.
    """

    def __init__(
        self,
        children: Sequence[Child],
        tick: Callable[[], None],
        tick_interval: float = 1.0,
        *,
        depends_on: Sequence[Child] = (),
        replace: Callable[[], None] = lambda: None,
        stop_deadline: float = STOP_DEADLINE,
        watches: bool = True,
    ) -> None:
        self._dependencies = [_ChildSlot(child) for child in depends_on]
        self._children = [_ChildSlot(child) for child in children]
        self._tick = Tick(tick, tick_interval)
        self._replace = replace
        self._stop_deadline = stop_deadline
        self._watches = watches
        self._starting: Child | None = None
        self._started: Callable[[], None] | None = None
        """The callback for when all children serve."""
        self._signals = Signals(self._cut_start_short)
        self._look_due = 0.0
        """When to look for signs of life again, by the monotonic clock."""

    def run(self, started: Callable[[], None] = lambda: None) -> None:
        """Start all children, and supervise until a stop signal; return when all ended.

        `started` is called once no child is waited for (`Child.is_awaited`). Children that run already are
        adopted. If the first start of a child, or `started`, raises, all other children are stopped first and
        then the exception is raised from here.
        """
        with self._signals:
            try:
                self._start_all()
                self._started = started
                while not self._signals.stops:
                    LIVENESS.step()
                    self._report_start()
                    self._replace_if_asked()
                    self._end_silent()
                    self._reap()
                    self._restart()
                    self._call_tick()
                    with LIVENESS.waiting():
                        self._signals.wait(self._next_event() - time.monotonic())
            finally:
                self._stop_all()

    def _start_all(self) -> None:
        """Start each child for the first time, the server they depend on first."""
        for slot in (*self._dependencies, *self._children):
            if self._signals.stops:
                return
            try:
                self._start(slot)
            except Exception:
                # a start that a stop signal cut short is no failure
                if self._signals.stops:
                    return
                raise

    def _start(self, slot: "_ChildSlot") -> None:
        """Start one child; a stop signal that arrives meanwhile ends it."""
        self._starting = slot.child
        try:
            # a server may load its data for a long time
            with LIVENESS.waiting():
                slot.start()
        finally:
            self._starting = None

    def _cut_start_short(self) -> None:
        """End the child that is starting."""
        if self._starting is not None:
            self._starting.terminate()

    def _end_silent(self) -> None:
        """Kill children that have sent no sign of life for too long; they are restarted.

        SIGKILL, because a child that hangs may not handle any other signal.
        """
        if (now := time.monotonic()) < self._look_due:
            return
        if self._started is None:  # until then a sign is the end of the start
            self._look_due = now + _WATCH_SECONDS
        for slot in self._children:
            if not slot.is_down and slot.child.is_silent:
                logger.error("ALARM: %s gives no sign of life, and is killed", slot.child.name)
                slot.child.kill()

    def _reap(self) -> None:
        """Record and log which children ended."""
        for slot in (*self._dependencies, *self._children):
            slot.reap()

    def _restart(self) -> None:
        """Restart the children that are due; none while a server they depend on is down."""
        for slot in self._dependencies:
            self._start_again(slot)
            if slot.is_down:
                return
        for slot in self._children:
            self._start_again(slot)

    def _start_again(self, slot: "_ChildSlot") -> None:
        """Start a child if it is due; a failure is logged and lengthens its delay."""
        if self._signals.stops or not slot.is_due:
            return
        try:
            self._start(slot)
        except Exception as error:  # noqa: BLE001 - the other children go on after any error
            slot.note_failure(error)
            return
        logger.info("%s was started again", slot.child.name)
        if slot in self._dependencies:
            self._reset_delays()

    def _reset_delays(self) -> None:
        """Reset the delays of children that ended because the server was down."""
        for slot in self._children:
            slot.reset_delay()

    def _report_start(self) -> None:
        """Call `started` once no child is waited for."""
        if self._started and not any(slot.child.is_awaited for slot in self._children):
            started, self._started = self._started, None
            with LIVENESS.waiting():
                started()

    def _replace_if_asked(self) -> None:
        """Replace this process, if it was asked to and its start is over."""
        if self._signals.asks_replacement and self._started is None:
            self._signals.asks_replacement = False
            with LIVENESS.waiting():
                self._replace()

    def _call_tick(self) -> None:
        """Call the tick if it is due and the server runs."""
        if not self._signals.stops and not any(slot.is_down for slot in self._dependencies):
            self._tick.call_if_due()

    def _next_event(self) -> float:
        """Return when the loop has to act next, by the monotonic clock."""
        down = [slot.due for slot in self._dependencies if slot.is_down]
        if down:
            return min(down)
        due = [self._tick.due, *(slot.due for slot in self._children if slot.is_down)]
        if self._started or self._watches:
            due.append(time.monotonic() + (_START_SECONDS if self._started else _WATCH_SECONDS))
        return min(due)

    def _stop_all(self) -> None:
        """Stop the children together, then the servers they depend on, last started first."""
        patience = min(1, self._signals.stops)  # any signal after the one that asked to stop
        children = [slot.child for slot in self._children]
        self._stop(children, patience, self._stop_deadline, logging.INFO)
        for slot in reversed(self._dependencies):
            self._stop([slot.child], patience, SERVER_STOP_DEADLINE, logging.WARNING)

    def _stop(self, children: Sequence[Child], patience: int, seconds: float, level: int) -> None:
        """Stop children: ask, wait so many seconds or for more than `patience` signals, then kill."""
        for child in children:
            child.terminate()
        deadline = time.monotonic() + seconds
        while _running(children) and time.monotonic() < deadline:
            if self._signals.stops > patience:
                break
            self._signals.wait(deadline - time.monotonic())
        for child in _running(children):
            logger.log(level, "%s was still at work and is cut off", child.name)
            child.kill()
        self._await_killed(children)

    def _await_killed(self, children: Sequence[Child]) -> None:
        """Wait for killed children, so that none runs when this returns."""
        deadline = time.monotonic() + _KILL_DEADLINE
        while _running(children) and time.monotonic() < deadline:
            self._signals.wait(deadline - time.monotonic())
        for child in _running(children):
            logger.error("%s still runs after it was killed", child.name)


class _ChildSlot:
    """A child with its state: whether it runs, since when, and when to start it next."""

    def __init__(self, child: Child) -> None:
        self.child = child
        self.is_down = True
        self.due = 0.0  # when to start it while it is down, by the monotonic clock
        self._delay = MIN_DELAY
        self._started_at = 0.0

    @property
    def is_due(self) -> bool:
        """Whether it is down and has to be started now."""
        return self.is_down and time.monotonic() >= self.due

    def start(self) -> None:
        """Start the child; its exceptions pass through."""
        self.child.start()
        self.is_down = False
        self._started_at = time.monotonic()

    def reap(self) -> None:
        """Record the child's end, if it has ended."""
        if self.is_down or (code := self.child.poll()) is None:
            return
        life = time.monotonic() - self._started_at
        if life >= STABLE_SECONDS:
            self._delay = MIN_DELAY
        self._back_off(f"{describe_exit(code)} after {life:.1f} s")

    def note_failure(self, error: Exception) -> None:
        """Record that the child could not be started."""
        self._back_off(f"could not start: {type(error).__name__}: {error}")

    def reset_delay(self) -> None:
        """Make it due now, and the next delay the shortest."""
        self.due = time.monotonic()
        self._delay = MIN_DELAY

    def _back_off(self, why: str) -> None:
        """Schedule the next start, and double the delay after it."""
        logger.warning("%s %s; next start in %g s", self.child.name, why, self._delay)
        self.is_down = True
        self.due = time.monotonic() + self._delay
        self._delay = min(2 * self._delay, MAX_DELAY)


def _running(children: Sequence[Child]) -> list[Child]:
    """Return the children that have not ended."""
    return [child for child in children if child.poll() is None]
