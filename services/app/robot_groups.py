"""Sends the commands of robots, in groups while many wait.

The commands of a group share the syncs of the disk, so that the moves of people do not wait for each of them.
Nobody waits for their outcomes: if a command is lost or refused, the scheduler requests the move again, and the
command, which has the same id then, finds its outcome. A failure is noted for the doctor, and stops no other match.
"""

import logging
import time
from collections.abc import Callable, Sequence
from typing import Final

from redis.exceptions import RedisError

from domain.errors import Code, Refusal
from infra.process.failpoints import failpoint
from infra.store.gateway import outcome_of, submission_of
from infra.store.port import Queued, Submission, SubmitResult
from infra.store.robot_failures import RobotFailures
from services.app.context import App
from services.app.matches import load_state
from services.app.robots import FRONT_END, RobotCommand, choose

logger = logging.getLogger(__name__)

MOST: Final = 16
"""Commands of a group."""

HOLD_SECONDS: Final = 0.25
"""How long the first of them waits for others."""

_ATTEMPTS: Final = 3
"""How often a command is sent under another id, because another engine has used the one before."""


class RobotGroup:
    """The commands of one process that wait to be sent.

    `is_idle` returns whether no other robot is to move now: then nothing waits. `timer` returns seconds that only
    run forwards.
    """

    def __init__(
        self,
        app: App,
        is_idle: Callable[[], bool],
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app = app
        self._is_idle = is_idle
        self._timer = timer
        self._commands: dict[int, RobotCommand] = {}
        """By board."""
        self._due = 0.0

    def answer(self, board: int) -> bool:
        """Choose what a robot does in a match, and send it when it is time; return whether one acts.

        What keeps it from acting is noted for the doctor; only errors of the servers pass through.
        """
        chosen = self._choose(board)
        if chosen is not None:
            if not self._commands:
                self._due = self._timer() + HOLD_SECONDS
            self._commands[board] = chosen
            failpoint("robot.chosen")
        if len(self._commands) >= MOST or (self._commands and self._is_idle()):
            self.send()
        else:
            self.send_if_due()
        return chosen is not None

    def send_if_due(self) -> None:
        """Send the commands if the first has waited long enough."""
        if self._commands and self._timer() >= self._due:
            self.send()

    def send(self) -> None:
        """Send the commands that wait."""
        group, self._commands = list(self._commands.values()), {}
        while group:
            submissions = [_submission(one) for one in group]
            answers = self._app.store.submit(submissions)
            failpoint("robot.sent")
            self._request_drains(group, answers)
            again = [self._after(*row) for row in zip(group, submissions, answers, strict=True)]
            group = [one for one in again if one is not None]

    def _request_drains(
        self, group: Sequence[RobotCommand], answers: Sequence[SubmitResult]
    ) -> None:
        shape = self._app.store.layout()
        rows = zip(group, answers, strict=True)
        for lane in {
            shape.lane_of(one.sent.match) for one, answer in rows if isinstance(answer, Queued)
        }:
            self._app.lanes.request(lane)

    def _after(
        self, one: RobotCommand, sent: Submission, answer: SubmitResult
    ) -> RobotCommand | None:
        """Return the command to send in place of one whose id is used; note one that is refused."""
        try:
            outcome = outcome_of(answer, sent.digest)
        except Refusal as refusal:
            if refusal.code == Code.ID_REUSED and one.attempt + 1 < _ATTEMPTS:
                return self._choose(one.sent.match, one)
            self._note(one.sent.match, one.seq, refusal)
            return None
        if outcome is not None and not outcome.accepted:
            self._note(one.sent.match, one.seq, Refusal(Code(outcome.code), outcome.text))
        return None

    def _choose(self, board: int, before: RobotCommand | None = None) -> RobotCommand | None:
        """Return what a robot does; None where nothing is to be done any longer, or can be."""
        seq = 0
        try:
            state = load_state(self._app, board)
            seq = state.seq
            if before is not None and seq != before.seq:
                return None  # the earlier command was accepted
            return choose(self._app, board, state, before.attempt + 1 if before else 0)
        except RedisError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, the robots of other matches go on
            self._note(board, seq, error)
        return None

    def _note(self, board: int, seq: int, error: Exception) -> None:
        """Note why a robot can't act, unless the match has gone on without it."""
        if isinstance(error, Refusal) and seq and self._seq(board) != seq:
            return
        said = str(error) if isinstance(error, Refusal) else f"{type(error).__name__}: {error}"
        logger.error("ALARM: the robot of match %d can't act", board, exc_info=error)
        RobotFailures(self._app.data).note(board, seq, said)

    def _seq(self, board: int) -> int:
        """Return the number of the last event of a match; 0 if it can't be read."""
        try:
            return load_state(self._app, board).seq
        except Refusal:
            return 0


def _submission(one: RobotCommand) -> Submission:
    return submission_of(one.sent, one.ply, FRONT_END)
