"""Robots: what a robot does in a match, chosen by the engine.

The state of the match alone decides what is to be done, and the id of the command is made of the board and the
number of the last event. So a job that comes twice, late or after a kill does no harm.
`services.app.robots` sends the commands.

Sends the commands of robots, in groups while many wait.

The commands of a group share the syncs of the disk, so that the moves of people do not wait for each of them.
Nobody waits for their outcomes: if a command is lost or refused, the scheduler requests the move again, and the
command, which has the same id then, finds its outcome. A failure is noted for the doctor, and stops no other match.
"""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import msgspec
from redis.exceptions import RedisError

from domain.engine.model import engine_of
from domain.engine.robot_move import choose_move, match_seed
from domain.engine.search import evaluate
from domain.errors import Code, Refusal
from domain.game.engine import RobotLevel
from domain.match.commands import CommandEnvelope
from domain.match.offers import DEAL
from domain.match.state import MatchState, position_of, positions, robot_level
from domain.records import AccountId
from domain.rules import Seat, rules_by_id
from infra.process.failpoints import failpoint
from infra.store.failures import RobotFailures
from infra.store.gateway import MOST_PLIES, outcome_of, submission_of
from infra.store.port import Queued, Submission, SubmitResult
from services.app.commands import (
    Accept,
    Action,
    Move,
    Offer,
    Reject,
    Resign,
    Reveal,
    command_of,
)
from services.app.context import Actor, App
from services.app.matches import load_state

FRONT_END: Final = "robot"
"""The front end in the ids of robots' commands."""

_REPETITIONS: Final = 3
"""How often a position stands before a robot proposes the draw to which the rules entitle it."""

_WELCOME: Final = ("undo", "abort", "pause", "transfer", DEAL)
"""Offers that a robot always accepts."""


class RobotCommand(msgspec.Struct, frozen=True):
    """A robot's command, and the match as it was chosen for."""

    sent: CommandEnvelope
    seq: int
    """The number of the match's last event."""
    ply: int
    attempt: int


def choose(app: App, board: int, state: MatchState, attempt: int = 0) -> RobotCommand | None:
    """Return the command of a robot that is to act in a match; None if none is.

    `attempt` counts the ids of this robot's turn that were used before, by another version of the engine.
    """
    seat = next(_turns(state), None)
    action = None if seat is None else _action(app, board, state, seat)
    if seat is None or action is None:
        return None
    key = f"{board} {state.seq} {attempt}" if attempt else f"{board} {state.seq}"
    actor = Actor(state.seats[seat], FRONT_END, key)
    sent = command_of(app, actor, board, state, action)
    return RobotCommand(sent, state.seq, state.ply, attempt)


def _turns(state: MatchState) -> Iterator[Seat]:
    """Yield the seats of robots that are to act: those to answer an offer first."""
    if not state.started or state.over:
        return
    offer = state.offer
    if offer is not None:
        settled = {offer.seat, *offer.accepted}
        asked = (seat for seat in state.active_seats if seat not in settled)
        yield from (seat for seat in asked if _level(state, seat))
    yield from (seat for seat in state.waits if _level(state, seat))


def _level(state: MatchState, seat: Seat) -> RobotLevel | None:
    return robot_level(state.seats[seat])


def _action(app: App, board: int, state: MatchState, seat: Seat) -> Action | None:
    """Return what the robot of a seat does; None if it has to wait for the others."""
    offer = state.offer
    asked = offer is not None and seat not in (offer.seat, *offer.accepted)
    if state.awaits_entropy and not asked:
        return _acceptance(app, board, state, state.seats[seat])
    robot = _Robot(board, state, seat)
    if offer is not None and asked:
        return Accept() if robot.accepts(offer.kind) else Reject()
    if state.ply >= MOST_PLIES:
        if len(state.seats) == 1:
            return Resign()
        return Offer("draw") if offer is None else None
    if offer is None and robot.may_draw and robot.accepts("draw"):
        return Offer("draw")
    return Move(robot.move(), ply=state.ply)


def _acceptance(app: App, board: int, state: MatchState, account: AccountId) -> Action:
    """Return how a robot accepts a match that waits, or reveals its text.

    Nobody can predict its text: like those of players who keep none, it is made with a secret of the server.
    """
    text = app.words.text(board, account)
    if state.sealed:
        return Reveal(text.hex())
    own_text = state.imported is None and state.gather is None
    return Accept(entropy=text.hex() if own_text else "")


class _Robot:
    """A robot at its seat of a match, as it stands."""

    def __init__(self, board: int, state: MatchState, seat: Seat) -> None:
        self._state = state
        self._seat = seat
        self._rules = rules_by_id(state.rules)
        self._seed = match_seed(board, state.rules, state.setup, state.ply)
        level = _level(state, seat)
        assert level is not None
        self._level = level

    @property
    def _position(self) -> Any:
        return position_of(self._state)

    def move(self) -> str:
        """Return its move."""
        return choose_move(self._rules, self._position, self._level, self._seed)

    @property
    def may_draw(self) -> bool:
        """Whether the position has stood so often that the robot's proposal of a draw ends the match."""
        if len(self._state.seats) == 1 or self._state.ply < 4 * (_REPETITIONS - 1):
            return False
        *earlier, now = positions(self._state)
        return 1 + earlier.count(now) >= _REPETITIONS

    def accepts(self, kind: str) -> bool:
        """Return whether it accepts an offer.

        It accepts an end of the match that is worth at least the share of the win that it expects.
        """
        if kind in _WELCOME or self._state.ply >= MOST_PLIES:
            return True
        if kind == "draw":
            return self._chances() <= 1 / len(self._state.active_seats)
        outcome = self._rules.outcome_by_offer(self._position, kind)
        if outcome is None:
            return True
        share = 1 / len(outcome.winners) if self._seat in outcome.winners else 0.0
        return self._chances() <= share

    def _chances(self) -> float:
        """Return its expected share of the win."""
        nodes = engine_of(self._rules).budgets.of(self._level)
        return evaluate(self._rules, self._position, nodes, self._seed).values[self._seat]


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
