"""The gateway: how it hears of an outcome, and what it raises instead of returning one."""

from collections.abc import Iterator, Sequence

import pytest
from redis import ConnectionError as LostConnectionError

from domain.errors import Code, Refusal
from domain.match import commands
from domain.match.commands import PlayMove, ResignMatch, StartMatch
from infra.redis import keys
from infra.store import async_gateway, gateway
from infra.store.gateway import MOST_PLIES, NOT_ACCEPTED_TEXT, OutcomePending
from infra.store.leases import LaneLeases
from infra.store.outcomes import encode_stored, parse, tail
from infra.store.port import (
    MOST_REFUSALS,
    AlreadyDecided,
    NotAccepted,
    Queued,
    Submission,
    SubmitResult,
)
from tests.fakes.app import FakeApp
from tests.fakes.memory_store import memory_client
from tests.helpers.doctor import value
from tests.helpers.gateways import StoreGateway
from tests.helpers.given import ALICE, BOB, sent
from tests.helpers.lanes import LANE

START = sent(ALICE, StartMatch(rules="pow2/1", options=(), seats=(ALICE, BOB)))


@pytest.fixture
def app() -> Iterator[FakeApp]:
    opened = FakeApp()
    opened.gateway.send(START, 0)
    yield opened
    opened.close()


def test_an_outcome_whose_announcement_was_lost_is_found_in_the_store(app: FakeApp) -> None:
    with memory_client() as elsewhere:
        deaf = StoreGateway(app.store, LaneLeases(app.client, app._drain), elsewhere)
        assert deaf.send(sent(ALICE, PlayMove(text="m13-j7"), 1), 0, seconds=10).accepted
        deaf.close()


def test_a_command_waits_under_an_id_and_another_comes_with_it(app: FakeApp) -> None:
    app.awake = False
    with pytest.raises(OutcomePending):
        app.gateway.send(sent(ALICE, PlayMove(text="m13-j7"), 1), 0, seconds=0)
    app.awake = True
    app.client.delete(keys.lease(LANE))  # the wake-up that nobody heard has run out
    with pytest.raises(Refusal) as caught:
        app.gateway.send(sent(ALICE, PlayMove(text="m13-k11"), 1), 0)
    assert caught.value.code == Code.ID_REUSED
    assert app.gateway.send(sent(ALICE, PlayMove(text="m13-j7"), 1), 0).accepted


def test_a_player_who_was_refused_too_often_is_told_at_the_door(app: FakeApp) -> None:
    for number in range(MOST_REFUSALS):
        refused = app.gateway.send(sent(BOB, PlayMove(text="a13-c11"), 1 + number), 0)
        assert refused.code == Code.NOT_YOUR_TURN
    with pytest.raises(Refusal) as caught:
        app.gateway.send(sent(BOB, PlayMove(text="a13-c11"), 1 + MOST_REFUSALS), 0)
    assert caught.value.code == Code.TOO_MANY_REFUSALS
    assert app.store.inbox_size(range(4)) == 0
    assert len(app.store.leaves(1, 0, 100)) == 1 + MOST_REFUSALS


def test_a_match_that_is_very_long_takes_no_move_but_ends(app: FakeApp) -> None:
    taken = sent(ALICE, PlayMove(text="m13-j7"), 1)
    assert app.gateway.send(taken, MOST_PLIES - 1).accepted
    assert app.gateway.send(taken, MOST_PLIES).accepted  # repeated, it is what it was
    with pytest.raises(Refusal) as caught:
        app.gateway.send(sent(BOB, PlayMove(text="a13-c11"), 2), MOST_PLIES)
    assert caught.value.code == Code.TOO_LONG
    assert app.store.inbox_size(range(4)) == 0
    assert app.gateway.send(sent(BOB, ResignMatch(), 3), MOST_PLIES).accepted


MOVE = sent(ALICE, PlayMove(text="m13-j7"), 1)
DIGEST = commands.command_digest(commands.encode_command(MOVE))
STORED = encode_stored(DIGEST, 4, tail("", 2, ""))


def test_a_submission_has_what_the_store_needs() -> None:
    made = gateway.submission_of(MOVE, 3, "somewhere")
    assert commands.decode_command(made.payload) == MOVE
    assert (made.board, made.id, made.actor) == (MOVE.match, MOVE.id, ALICE)
    assert (made.ply, made.reply_to, made.digest) == (3, "somewhere", DIGEST)


def test_an_answer_of_the_store_is_an_outcome_a_refusal_or_nothing_yet() -> None:
    assert gateway.outcome_of(AlreadyDecided(STORED), DIGEST) == parse(STORED)
    assert gateway.outcome_of(Queued("1-0", 7), DIGEST) is None
    for code, sentence in NOT_ACCEPTED_TEXT.items():
        with pytest.raises(Refusal) as caught:
            gateway.outcome_of(NotAccepted(code), DIGEST)
        assert (caught.value.code, caught.value.sentence) == (code, sentence)


def test_the_outcome_of_another_command_under_the_same_id_is_nobodys() -> None:
    assert gateway.check_digest(parse(STORED), DIGEST) == parse(STORED)
    with pytest.raises(Refusal) as caught:
        gateway.outcome_of(AlreadyDecided(STORED), b"another.")
    assert caught.value.code == Code.ID_REUSED


def test_a_move_passes_the_fault_points_in_order(
    app: FakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed: list[str] = []
    monkeypatch.setattr(async_gateway, "failpoint", passed.append)
    assert app.gateway.send(MOVE, 0).accepted
    assert passed == ["submit.ready", "submit.queued", "submit.woken", "submit.heard"]


def break_connections(
    monkeypatch: pytest.MonkeyPatch, app: FakeApp, times: int
) -> list[Sequence[Submission]]:
    """Break the connection so many times after a submission; return the list of all submissions."""
    submit, asked = app.store.submit, []

    def submit_and_break(new: Sequence[Submission]) -> list[SubmitResult]:
        asked.append(new)
        answers = submit(new)
        if len(asked) <= times:
            raise LostConnectionError("the node was killed")
        return answers

    monkeypatch.setattr(async_gateway, "REPEAT_SECONDS", 0)
    monkeypatch.setattr(app.store, "submit", submit_and_break)
    return asked


def test_a_command_whose_connection_broke_is_sent_again_and_takes_effect_once(
    app: FakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = len(app.store.events(1))
    asked = break_connections(monkeypatch, app, 1)
    assert app.gateway.send(MOVE, 0).accepted
    assert asked[0] == asked[1]
    assert len(app.store.events(1)) == before + 1
    assert app.store.inbox_size(range(4)) == 0


def test_a_connection_that_breaks_twice_is_an_error(
    app: FakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = break_connections(monkeypatch, app, 2)
    with pytest.raises(LostConnectionError):
        app.gateway.send(MOVE, 0)
    assert len(asked) == 2


def test_answers_of_inboxes_and_the_time_to_an_outcome_are_counted(app: FakeApp) -> None:
    names = ("queued", "known", "too-many-refusals")
    before = [value("matchpost_submissions_total", answer=name) for name in names]
    waits, pending = "matchpost_outcome_wait_seconds_count", "matchpost_outcomes_pending_total"
    waited, pended = value(waits), value(pending)
    app.gateway.send(MOVE, 0)
    app.gateway.send(MOVE, 0)
    for number in range(MOST_REFUSALS):
        app.gateway.send(sent(ALICE, PlayMove(text="nonsense"), 10 + number), 1)
    with pytest.raises(Refusal):
        app.gateway.send(sent(ALICE, PlayMove(text="nonsense"), 9), 1)
    app.awake = False
    with pytest.raises(OutcomePending):
        app.gateway.send(sent(BOB, ResignMatch(), 8), 1, seconds=0)
    after = [value("matchpost_submissions_total", answer=name) for name in names]
    assert [one - other for one, other in zip(after, before, strict=True)] == [
        MOST_REFUSALS + 2,
        1,
        1,
    ]
    assert value(waits) - waited == MOST_REFUSALS + 2
    assert value(pending) - pended == 1
