"""Robots in matches: what they do, that they do it once, and that one's failure stops no other.

How robots answer offers, and when they make one.
"""

from hashlib import sha256

import pytest

from domain.engine.search import Evaluation
from domain.fairness import Commitment
from domain.match.commands import AnswerOffer, GiveRuling, MakeOffer, ResignMatch, StartMatch
from domain.match.deals import DealKind, deal_kind
from domain.match.events import Called, Committed, MatchStarted, Revealed
from domain.match.state import Reason
from domain.records import AccountId
from domain.rules import GameOutcome, rules_by_id
from domain.rules.missing_rules import MissingRules
from infra.redis import keys
from infra.redis.keys import shard_of
from services.app import robots
from services.app.robots import HOLD_SECONDS, MOST, RobotGroup
from tests.helpers.given import ALICE, BOB
from tests.helpers.robots import EASY, HARD, MEDIUM, RobotBench, failures, some_move


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


def gathering(bench: RobotBench, *seats: AccountId, commitments: tuple[Commitment, ...]) -> None:
    """Have alice start a match of halves that gathers, in which some have committed."""
    start = StartMatch(
        rules="halves/1", options=(), seats=seats, gather=True, commitments=commitments
    )
    bench.do(ALICE, start)


def test_a_robot_commits_to_a_text_that_nobody_can_know(bench: RobotBench) -> None:
    own = Commitment(sha256(b"my own text").digest())
    gathering(bench, ALICE, EASY, MEDIUM, commitments=(own, Commitment(), Commitment()))
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
    commitment = bench.app.words.commitment(1, EASY)
    text = bench.app.words.text(1, EASY)
    bench.client.set(keys.DRAW_TEXTS, bytes(32))
    own = Commitment(sha256(b"t").digest())
    gathering(bench, ALICE, EASY, commitments=(own, commitment))
    assert 1 in bench.state().waits
    assert bench.answer()
    assert [o.body.text for o in bench.history() if isinstance(o.body, Revealed)] == [text]


def test_a_robot_agrees_that_the_server_deals_where_a_person_lost_a_text(bench: RobotBench) -> None:
    own = Commitment(sha256(b"lost").digest()), bench.app.words.commitment(1, EASY)
    gathering(bench, ALICE, EASY, commitments=own)
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
    monkeypatch.setattr(robots, "MOST_PLIES", 3)
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
