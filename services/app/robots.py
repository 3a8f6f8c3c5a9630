"""Robots: what a robot does in a match, chosen by the engine.

The state of the match alone decides what is to be done, and the id of the command is made of the board and the
number of the last event. So a job that comes twice, late or after a kill does no harm.
`services.app.robot_groups` sends the commands.
"""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from domain.engine.model import engine_of
from domain.engine.robot_move import choose_move, match_seed
from domain.engine.search import evaluate
from domain.game.engine import RobotLevel
from domain.match.commands import CommandEnvelope
from domain.match.events import AccountId
from domain.match.offers import DEAL
from domain.match.robots import robot_level
from domain.match.state import MatchState, position_of, positions
from domain.rules import Seat, rules_by_id
from infra.store.gateway import MOST_PLIES
from services.app.actor import Actor
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
from services.app.context import App

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
