"""How robots answer offers, and when they make one."""

import pytest

from domain.clocks.time_control import TimeControl
from domain.engine.search import Evaluation
from domain.match.commands import (
    AnswerOffer,
    MakeOffer,
    StartMatch,
)
from domain.match.events import (
    OfferAnswered,
    Undone,
)
from domain.match.state import Reason
from domain.rules import GameOutcome, rules_by_id
from services.app import robots
from tests.helpers.given import ALICE
from tests.helpers.robots import EASY, HARD, MEDIUM, RobotBench, failures, some_move


@pytest.mark.parametrize("kind", ["undo", "abort", "pause", "transfer"])
def test_a_robot_accepts_what_its_opponent_asks_for(bench: RobotBench, kind: str) -> None:
    start = StartMatch(
        rules="pow2/1", options=(), seats=(ALICE, EASY), terms=TimeControl(rated=False)
    )
    bench.do(ALICE, start)
    bench.do(ALICE, some_move(bench))
    bench.do(ALICE, MakeOffer(kind=kind))
    assert bench.answer()
    answered = next(one for one in bench.history() if isinstance(one.body, OfferAnswered))
    assert (answered.actor, answered.body.accept) == (EASY, True)
    state = bench.state()
    expected = {"abort": Reason.ABORTED, "transfer": Reason.TRANSFERRED}
    assert (state.result and state.result.reason) == expected.get(kind)
    assert state.ply == (0 if kind == "undo" else 1)
    if kind == "pause":
        assert state.clock is not None
        assert state.clock.paused
        assert bench.answer()
        assert bench.state().ply == 2


def test_after_an_undo_the_robot_moves_again(bench: RobotBench) -> None:
    bench.begin(ALICE, EASY)
    for _ in range(2):
        bench.do(ALICE, some_move(bench))
        assert bench.answer()
        assert bench.state().ply == 2
        bench.do(ALICE, MakeOffer(kind="undo"))
        assert bench.answer()
        assert isinstance(bench.history()[-1].body, Undone)
        assert bench.state().ply == 0


@pytest.mark.parametrize(("chances", "accepted"), [(0.5, True), (0.51, False)])
def test_a_robot_accepts_a_draw_unless_it_expects_more(
    bench: RobotBench, monkeypatch: pytest.MonkeyPatch, chances: float, *, accepted: bool
) -> None:
    monkeypatch.setattr(
        robots, "evaluate", lambda *_: Evaluation((1 - chances, chances), ("a1",), 1)
    )
    bench.begin(ALICE, HARD)
    bench.do(ALICE, MakeOffer(kind="draw"))
    assert bench.answer()
    result = bench.state().result
    assert (result is not None and result.reason == Reason.AGREEMENT) == accepted
    assert bench.state().offer is None


def test_an_offer_that_came_with_a_move_is_answered_before_the_robot_moves(
    bench: RobotBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(robots, "evaluate", lambda *_: Evaluation((0.0, 1.0), ("a1",), 1))
    bench.begin(ALICE, EASY)
    bench.do(ALICE, MakeOffer(kind="draw"))
    bench.do(ALICE, some_move(bench))
    assert bench.answer()
    assert (bench.state().offer, bench.state().ply) == (None, 1)
    assert bench.answer()
    assert bench.state().ply == 2


@pytest.mark.parametrize(("winner", "accepted"), [(0, False), (1, True)])
def test_a_count_is_answered_by_what_it_is_worth(
    bench: RobotBench, monkeypatch: pytest.MonkeyPatch, winner: int, *, accepted: bool
) -> None:
    bench.begin(ALICE, EASY, game="goliath")
    rules = rules_by_id("goliath/1")
    monkeypatch.setattr(robots, "evaluate", lambda *_: Evaluation((0.5, 0.5), ("a1",), 1))
    monkeypatch.setattr(type(rules), "check_offer", lambda *_: None)
    bench.do(ALICE, MakeOffer(kind="count"))
    monkeypatch.setattr(
        type(rules), "outcome_by_offer", lambda *_: GameOutcome((winner,), "count", "")
    )
    robot = robots._Robot(1, bench.state(), 1)
    assert robot.accepts("count") is accepted


def test_a_position_that_comes_back_ends_in_a_draw(bench: RobotBench) -> None:
    """Torere is a draw; two robots do not go round without an end."""
    bench.begin(EASY, MEDIUM, game="torere")
    for _ in range(400):
        if not bench.answer():
            break
    result = bench.state().result
    assert result is not None
    assert failures(bench) == {}


def test_at_the_limit_of_plies_the_robot_proposes_a_draw_and_waits(
    bench: RobotBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(robots, "MOST_PLIES", 2)
    bench.begin(ALICE, EASY)
    bench.do(ALICE, some_move(bench))
    assert bench.answer()
    bench.do(ALICE, some_move(bench))
    assert bench.answer()
    offer = bench.state().offer
    assert offer is not None
    assert (offer.kind, offer.seat) == ("draw", 1)
    assert not bench.answer()
    bench.do(ALICE, AnswerOffer(accept=True))
    assert bench.state().over
