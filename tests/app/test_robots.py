"""Robots in matches: what they do, that they do it once, and that one's failure stops no other.

How robots answer offers, and when they make one.
"""

from hashlib import sha256
from typing import Any

import pytest

from domain.clocks.time_control import TimeControl
from domain.engine.search import Evaluation
from domain.fairness import Commitment
from domain.match.audit import verify
from domain.match.commands import (
    AnswerOffer,
    GiveRuling,
    ImportMatch,
    MakeOffer,
    ResignMatch,
    StartMatch,
)
from domain.match.deals import DealKind, deal_kind
from domain.match.events import (
    Called,
    Committed,
    MatchSource,
    MatchStarted,
    Moved,
    OfferAnswered,
    Revealed,
)
from domain.match.state import Reason, position_of
from domain.records import SERVER_ACCOUNT
from domain.rules import GameOutcome, rules_by_id
from domain.rules.missing_rules import MissingRules
from infra.redis import keys
from infra.redis.keys import shard_of
from services.app import robots
from services.app.robots import HOLD_SECONDS, MOST, RobotGroup
from tests.helpers.given import ALICE, BOB
from tests.helpers.robots import EASY, HARD, MEDIUM, RobotBench, failures, some_move


def test_a_robot_moves_when_it_is_to_move_and_then_no_second_time(bench: RobotBench) -> None:
    bench.begin(EASY, ALICE)
    assert bench.answer()
    assert (bench.state().ply, bench.state().next) == (1, 1)
    assert not bench.answer()
    assert bench.state().ply == 1
    bench.do(ALICE, some_move(bench))
    assert bench.answer()
    assert bench.state().ply == 3
    assert verify(1, bench.store.events(1)).state == bench.state()


def test_a_robot_whose_process_was_killed_after_it_sent_moves_once(
    bench: RobotBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.begin(EASY, ALICE)
    with monkeypatch.context() as patch:
        patch.setattr(bench.lanes, "request", lambda _: None)
        assert bench.answer()
        assert bench.answer()
    bench.drain()
    assert bench.answer() is False
    assert [one.body.seat for one in bench.history() if isinstance(one.body, Moved)] == [0]


def test_a_move_of_another_engine_that_came_first_stays(
    bench: RobotBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process of another version has sent its move, under the same id, and was killed."""
    bench.begin(EASY, ALICE)
    first, *_, last = rules_by_id("pow2/1").legal_moves(position_of(bench.state()))
    monkeypatch.setattr(robots, "choose_move", lambda *_: first)
    with monkeypatch.context() as patch:
        patch.setattr(bench.lanes, "request", lambda _: None)
        bench.answer()
    monkeypatch.setattr(robots, "choose_move", lambda *_: last)
    assert bench.answer()
    bench.drain()
    assert bench.state().moves == first
    assert failures(bench) == {}


def test_a_refused_move_of_an_engine_does_not_keep_the_next_engine_from_moving(
    bench: RobotBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.begin(EASY, ALICE)
    with monkeypatch.context() as patch:
        patch.setattr(robots, "choose_move", lambda *_: "a13-c11")
        assert bench.answer()
        assert failures(bench) == {}
        assert bench.answer()
    assert list(failures(bench)) == [1]
    assert bench.answer()
    assert bench.state().ply == 1


def test_a_robot_commits_to_a_text_that_nobody_can_know(bench: RobotBench) -> None:
    own = b"my own text"
    start = StartMatch(
        rules="halves/1",
        options=(),
        seats=(ALICE, EASY, MEDIUM),
        gather=True,
        commitments=(Commitment(sha256(own).digest()), Commitment(), Commitment()),
    )
    bench.do(ALICE, start)
    assert bench.answer()
    assert bench.answer()
    assert bench.state().sealed
    found = [one.body for one in bench.history()]
    committed = [one for one in found if isinstance(one, Committed)]
    revealed = [one for one in found if isinstance(one, Revealed)]
    texts = [bench.app.words.text(1, account) for account in (EASY, MEDIUM)]
    assert [one.seat for one in committed] == [1, 2]
    assert [one.text for one in revealed] == texts
    # made with a secret that was drawn, so another server has other texts
    bench.client.delete(keys.DRAW_TEXTS)
    bench.app.words._secret = None
    assert bench.app.words.text(1, EASY) not in texts
    assert isinstance(found[0], Called)
    assert not bench.answer()


def test_a_robot_reveals_its_text_where_the_seal_went_without_it(bench: RobotBench) -> None:
    """The commitment was made when the match was called, and the drain lacked the secret."""
    seats = (ALICE, EASY)
    commitment = bench.app.words.commitment(1, EASY)
    text = bench.app.words.text(1, EASY)
    bench.client.set(keys.DRAW_TEXTS, bytes(32))
    start = StartMatch(
        rules="halves/1",
        options=(),
        seats=seats,
        gather=True,
        commitments=(Commitment(sha256(b"t").digest()), commitment),
    )
    bench.do(ALICE, start)
    assert 1 in bench.state().waits
    assert bench.answer()
    assert [o.body.text for o in bench.history() if isinstance(o.body, Revealed)] == [text]


def test_a_robot_agrees_that_the_server_deals_where_a_person_lost_a_text(bench: RobotBench) -> None:
    own = Commitment(sha256(b"lost").digest()), bench.app.words.commitment(1, EASY)
    start = StartMatch(
        rules="halves/1", options=(), seats=(ALICE, EASY), gather=True, commitments=own
    )
    bench.do(ALICE, start)
    assert not bench.answer()
    bench.do(ALICE, MakeOffer(kind="deal"))
    assert bench.answer()
    assert deal_kind(one.body for one in bench.history()) is DealKind.AGREED


def test_a_robot_accepts_a_match_that_gathers_without_commitments(bench: RobotBench) -> None:
    bench.begin(ALICE, EASY, game="halves", gather=True)
    assert bench.state().gather is None
    assert bench.answer()
    assert isinstance(bench.history()[2].body, MatchStarted)
    draw = bench.history()[2].body.draw  # type: ignore[union-attr]
    assert draw is not None
    assert len(draw.texts[1]) > 16


def test_a_robot_accepts_an_imported_match(bench: RobotBench) -> None:
    command = ImportMatch(
        rules="pow2/1",
        options=(),
        seats=(ALICE, EASY),
        terms=None,
        setup=None,
        moves="",
        turns=b"",
        acted=0,
        out=(),
        next=0,
        result=None,
        source=MatchSource("record", "", 0, b"", 0, bytes(32)),
        given=(),
    )
    bench.do(SERVER_ACCOUNT, command)
    assert bench.state().awaits_entropy
    assert bench.answer()
    bench.do(ALICE, AnswerOffer(accept=True))
    assert bench.state().next == 0
    bench.do(ALICE, some_move(bench))
    assert bench.answer()
    assert bench.state().ply == 2


def test_a_match_that_a_ruling_sets_back_goes_on(bench: RobotBench) -> None:
    bench.begin(ALICE, EASY)
    bench.do(ALICE, some_move(bench))
    assert bench.answer()
    bench.do(ALICE, ResignMatch())
    assert not bench.answer()
    ruling = GiveRuling(claim=None, upheld=True, text=bytes(32), back_to=1)
    bench.do(BOB, ruling)
    assert bench.state().next == 1
    assert bench.answer()
    assert bench.state().ply == 2


def test_an_engine_that_fails_is_noted_and_stops_no_other_match(
    bench: RobotBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.begin(EASY, ALICE)
    bench.begin(EASY, ALICE, board=2)
    with monkeypatch.context() as patch:
        patch.setattr(robots, "choose_move", fail)
        assert not bench.answer()
    assert failures(bench) == {1: "ZeroDivisionError: in the engine"}
    assert bench.answer(2)
    assert bench.answer(1)


def fail(*_: Any) -> str:
    raise ZeroDivisionError("in the engine")


def test_a_match_without_its_rules_is_noted(
    bench: RobotBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.begin(EASY, ALICE)
    monkeypatch.setattr(robots, "rules_by_id", MissingRules)
    assert not bench.answer()
    assert "is not installed" in failures(bench)[1]


def test_a_match_that_can_not_be_read_is_noted(bench: RobotBench) -> None:
    bench.begin(EASY, ALICE)
    bench.client.set(keys.snapshot(shard_of(1, 4), 1), b"no match")
    assert not bench.answer()
    assert "can't be read" in failures(bench)[1]
    assert list(bench.app.damage.all()) == [1]


def test_commands_are_sent_together_while_others_wait(bench: RobotBench) -> None:
    now, idle, submitted = [0.0], [False], []
    group = RobotGroup(bench.app, lambda: idle[0], lambda: now[0])
    submit = bench.store.submit
    bench.store.submit = lambda new: submitted.append(len(new)) or submit(new)  # type: ignore[method-assign,func-returns-value]
    boards = range(1, MOST + 5)
    for board in boards:
        bench.begin(EASY, ALICE, board=board)
    submitted.clear()
    for board in boards:
        assert group.answer(board)
    assert submitted == [MOST]
    group.send_if_due()
    assert submitted == [MOST]
    now[0] = HOLD_SECONDS
    group.send_if_due()
    assert submitted == [MOST, 4]
    assert {bench.state(board).ply for board in boards} == {1}
    for board in boards[:3]:
        bench.do(ALICE, some_move(bench, board), board)
    submitted.clear()
    assert group.answer(1)
    assert not group.answer(4)
    idle[0] = True
    assert group.answer(2)
    assert submitted == [2]
    assert group.answer(3)
    assert submitted == [2, 1]


def test_a_command_that_fails_in_a_group_stops_no_other(
    bench: RobotBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    for board in (1, 2):
        bench.begin(EASY, ALICE, board=board)
    choose = robots.choose_move
    with monkeypatch.context() as patch:
        patch.setattr(robots, "choose_move", lambda *_: "a13-c11")
        bench.answer(1)
        group = RobotGroup(bench.app, lambda: False)
        group.answer(1)
        patch.setattr(robots, "choose_move", choose)
        group.answer(2)
        group.send()
    assert list(failures(bench)) == [1]
    assert [bench.state(board).ply for board in (1, 2)] == [0, 1]


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
