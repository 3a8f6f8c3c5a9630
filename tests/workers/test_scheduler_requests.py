"""What the scheduler asks for until it is done: moves of robots, whose flags are patient, and starts of full challenges."""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

import pytest
from msgspec.structs import replace
from redis import Redis
from redis.exceptions import ConnectionError as LostConnectionError
from rq import Queue
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.suspension import resume, suspend

from domain.clocks.time_control import DAY
from domain.match.clocks import late_seats
from domain.match.commands import PlayMove, StartMatch
from domain.match.events import Absent, Called, MatchStarted
from domain.match.history import EventEnvelope, decode_event
from infra.people.accounts import Accounts
from infra.people.challenges import Challenge, ChallengeState, ChallengeStore, Proposal
from infra.projections.robots import RobotTurnsProjection
from infra.redis.rq_jobs import ROBOT_MOVE, ROBOTS
from infra.store.draw_texts import DrawTexts
from infra.store.failures import RobotFailures
from tests.helpers.bench import Bench
from tests.helpers.given import ALICE, BOB
from tests.helpers.lanes import LANE
from tests.helpers.proposals import new_command
from tests.helpers.robots import EASY, HARD, RobotBench, some_move
from tests.helpers.side import catch_up
from tests.helpers.timed import BEGIN, FLAG, TimedBench
from workers import robot_wakeup
from workers.challenge_starter import SWEEP_SECONDS, ChallengeStarter
from workers.robot_wakeup import AGAIN_SECONDS, LOST_SECONDS, RobotWakeup
from workers.scheduler import RETRY_SECONDS, ROBOT_GRACE_SECONDS


class Clock:
    """Seconds that the test lets pass."""

    seconds = 1_000.0


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def bench(redis_client: Redis, tmp_path: Path) -> Iterator[RobotBench]:
    bench = RobotBench(redis_client, tmp_path)
    yield bench
    bench.close()


@pytest.fixture
def wakeup(bench: RobotBench, clock: Clock) -> RobotWakeup:
    return make_wakeup(bench, clock)


def make_wakeup(bench: RobotBench, clock: Clock, seconds: int = 0) -> RobotWakeup:
    return RobotWakeup(bench.client, bench.client, bench.store.now, seconds, lambda: clock.seconds)


def fold(bench: RobotBench) -> None:
    catch_up(bench.store, bench.client, [RobotTurnsProjection()])


def queue(client: Redis) -> Queue:
    return Queue(ROBOTS, connection=client, serializer=JSONSerializer)


def waiting(bench: RobotBench) -> list[str]:
    return list(queue(bench.client).job_ids)


def begin(bench: RobotBench, *boards: int) -> None:
    for board in boards:
        bench.begin(EASY, ALICE, board=board)
    fold(bench)


def test_a_move_is_requested_once(bench, wakeup, clock):
    begin(bench, 1, 2)
    bench.begin(ALICE, EASY, board=3)
    fold(bench)
    for _ in range(3):
        wakeup.tick()
        clock.seconds += AGAIN_SECONDS
    assert waiting(bench) == ["robot-1-1", "robot-2-1"]
    job = Job.fetch("robot-1-1", connection=bench.client, serializer=JSONSerializer)
    assert (job.func_name, job.args) == (ROBOT_MOVE, [1, 1])
    assert job.timeout == robot_wakeup.JOB_SECONDS


def test_slow_moves_of_some_players_hold_up_no_other_player(bench, wakeup, clock, monkeypatch):
    greedy = [bytes([number]) * 8 for number in range(1, 5)]
    for number in range(80):
        bench.begin(HARD, greedy[number // 20], board=1 + number)
    fold(bench)
    wakeup.tick()
    rounds = [f"robot-{1 + 20 * account + n}-1" for n in range(8) for account in range(4)]
    assert waiting(bench) == rounds  # a turn at a time of each account
    clock.seconds += 1
    bench.begin(EASY, BOB, board=101)
    bench.begin(EASY, BOB, board=102)
    bench.begin(HARD, BOB, board=103)
    fold(bench)
    wakeup.tick()
    assert waiting(bench)[:3] == ["robot-101-1", "robot-102-1", rounds[0]]
    assert "robot-103-1" not in waiting(bench)
    bench.client.ltrim(queue(bench.client).key, 3, -1)  # both, and one slow one, are made
    clock.seconds += 1
    wakeup.tick()
    assert waiting(bench)[-1] == "robot-103-1"  # which comes before the others' further ones
    # nor do they hide others where more are due than are looked at
    monkeypatch.setattr(robot_wakeup, "MOST_JOBS", 40)
    bench.client.delete(*bench.client.scan_iter("rq:*"))
    fresh = make_wakeup(bench, clock)
    for _ in range(3):
        fresh.tick()
        clock.seconds += 1
    assert "robot-101-1" in waiting(bench)


def test_a_job_that_was_lost_or_whose_process_was_killed_is_requested_again(bench, wakeup, clock):
    begin(bench, 1)
    wakeup.tick()
    bench.client.delete(*bench.client.scan_iter("rq:*"))  # the server of the queue has lost it
    wakeup.tick()
    assert waiting(bench) == []
    clock.seconds += AGAIN_SECONDS
    wakeup.tick()
    assert waiting(bench) == ["robot-1-1"]
    bench.client.lpop(queue(bench.client).key)  # its process has it, and its record is still there
    clock.seconds += 2 * AGAIN_SECONDS
    wakeup.tick()
    assert waiting(bench) == []
    clock.seconds += LOST_SECONDS
    wakeup.tick()
    assert waiting(bench) == ["robot-1-1"]


def test_a_match_whose_robot_fails_is_tried_less_and_less_often(bench, wakeup, clock):
    begin(bench, 1)
    at = []
    for second in range(600):
        wakeup.tick()
        if waiting(bench):
            at.append(second)
            queue(bench.client).empty()  # it ran, and failed
        clock.seconds += 1
    assert at == [0, 10, 30, 70, 150, 310]


def test_nothing_is_requested_while_the_workers_are_suspended(bench, wakeup):
    begin(bench, 1)
    suspend(bench.client)
    wakeup.tick()
    assert waiting(bench) == []
    resume(bench.client)
    wakeup.tick()
    assert waiting(bench) == ["robot-1-1"]


def test_a_note_goes_once_the_match_has_gone_on(bench, wakeup, clock):
    begin(bench, 1, 2)
    failures = RobotFailures(bench.client)
    for board in (1, 2, 3):
        failures.note(board, 1, "why")
    assert bench.answer(2)
    fold(bench)
    wakeup.tick()
    assert list(failures.all()) == [1]
    assert bench.answer(1)
    bench.do(ALICE, some_move(bench), 1)
    fold(bench)
    clock.seconds += 60
    wakeup.tick()
    assert failures.all() == {}


def test_a_robot_that_is_late_when_its_server_comes_back_may_still_move(redis_client, tmp_path):
    timed = TimedBench(redis_client, tmp_path / "seeds")
    timed.send(ALICE, StartMatch(rules="pow2/1", options=(), seats=(EASY, ALICE), terms=FLAG))
    timed.drain()
    week = 7 * DAY
    timed.now = BEGIN + week
    keeper = timed.keeper()  # which has just been started
    timed.tick(keeper, week)
    timed.tick(keeper, week + int(ROBOT_GRACE_SECONDS * 1_000) - 1)
    assert timed.kept() == []
    assert late_seats(timed.state(), timed.now) == [0]
    sent = timed.send(EASY, PlayMove(text="m13-m9"))
    timed.drain()
    assert timed.outcome(sent).accepted
    assert timed.state().next == 1


POW2 = Proposal(rules="pow2/1", options=("-fast",), words=("--days=3", "--unrated"), seat=1)


HALVES = Proposal(rules="halves/1", words=("--gather", "--days=3"), seats=3, seat=1)


TEXT = b"a text of 32 bytes, of the first."


class Rig:
    """A bench with accounts, challenges, and a timer that the test sets."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.accounts = Accounts(bench.client)
        self.challenges = ChallengeStore(bench.client)
        self.words = DrawTexts(bench.client)
        self.seconds = 0.0
        self.players = [self.accounts.signup(name, "mad-hatter") for name in ("ann", "ben", "cat")]

    def starter(self, challenges: ChallengeStore | None = None) -> ChallengeStarter:
        return ChallengeStarter(
            self.bench.store,
            self.bench.lanes,
            challenges or self.challenges,
            self.words,
            lambda: self.seconds,
        )

    def sweep(self, starter: ChallengeStarter, after: float = SWEEP_SECONDS) -> None:
        self.seconds += after
        starter.tick()

    def full(self, proposal: Proposal = POW2, own: bytes = b"") -> Challenge:
        """A challenge of the first player, taken by as many others as it needs."""
        maker, *others = self.players[: proposal.seats]
        made = self.challenges.open(maker, proposal, new_command(), own)
        for other in others:
            made = self.challenges.take(made.id, other)
        assert made.state is ChallengeState.TAKEN
        return made

    def now(self, challenge: Challenge) -> Challenge:
        return self.challenges.get(challenge.id)

    def begin(self, challenge: Challenge) -> list[EventEnvelope]:
        """Have a challenge be started; return the events of its match."""
        starter = self.starter()
        starter.tick()
        self.bench.drain()
        self.sweep(starter)
        return self.events(challenge)

    def events(self, challenge: Challenge) -> list[EventEnvelope]:
        started = self.now(challenge)
        assert started.state is ChallengeState.STARTED
        assert started.board is not None
        return [decode_event(data) for data in self.bench.store.events(started.board)]

    def waits(self) -> int:
        return self.bench.store.inbox_size(range(4))


@pytest.fixture
def rig(redis_client: Redis, tmp_path: Path) -> Rig:
    return Rig(Bench(redis_client, tmp_path / "seeds"))


def test_a_full_challenge_that_nobody_starts_is_started(rig):
    (first,) = rig.begin(rig.full())
    assert rig.bench.woken == [LANE]
    assert isinstance(first.body, MatchStarted)
    assert first.body.seats == (rig.players[1], rig.players[0])
    assert (first.body.options, first.actor) == (("-fast",), rig.players[1])
    assert rig.challenges.full() == []


class Dying(ChallengeStore):
    """Challenges whose process dies before it notes the board."""

    def mark_started(self, id_: str, board: int) -> Challenge:
        raise LostConnectionError(f"killed before {id_} had board {board}")


def test_a_kill_between_the_start_and_its_note_leaves_one_match(rig):
    challenge = rig.full()
    dying = rig.starter(Dying(rig.bench.client))
    dying.tick()
    rig.bench.drain()
    with pytest.raises(LostConnectionError):
        rig.sweep(dying)
    assert rig.now(challenge).state is ChallengeState.TAKEN
    rig.starter().tick()
    assert len(rig.events(challenge)) == 1
    assert rig.waits() == 0


def test_a_start_is_submitted_again_after_a_minute_and_not_before(rig):
    challenge, starter = rig.full(), rig.starter()
    starter.tick()
    for _ in range(5):
        rig.sweep(starter)
    assert rig.waits() == 1
    rig.sweep(starter, RETRY_SECONDS)
    assert rig.waits() == 2
    rig.bench.drain()
    rig.sweep(starter)
    assert len(rig.events(challenge)) == 1


def test_a_match_that_gathers_has_the_commitments_of_all_players(rig):
    digest = sha256(TEXT).digest()
    challenge = rig.full(HALVES, digest)
    called = rig.begin(challenge)[0].body
    assert isinstance(called, Called)
    board = rig.now(challenge).board
    kept = [rig.words.commitment(board, one) for one in rig.players[1:]]
    assert [one.digest for one in called.commitments] == [kept[0].digest, digest, kept[1].digest]


def test_a_player_on_vacation_is_away_from_the_start_on(rig):
    vacations = ((rig.bench.store.now() - 1_000, 7),)
    rig.accounts.change_of(rig.players[0], lambda one: replace(one, vacations=vacations))
    started, absent = (one.body for one in rig.begin(rig.full()))
    assert isinstance(started, MatchStarted)
    assert isinstance(absent, Absent)
    assert absent.seat == 1


def failures_of(messages: Sequence[str]) -> list[str]:
    return [message for message in messages if "challenge" in message]


def test_a_challenge_that_can_t_be_started_holds_up_no_other(rig, caplog):
    bad = rig.full(replace(POW2, options=("-nonsense",)))
    unknown = rig.full(replace(POW2, rules="nothing/1"))
    assert rig.begin(rig.full())
    first, second = failures_of(caplog.messages)
    assert first.startswith(f"challenge {bad.id} could not be started (")
    assert second.startswith(f"challenge {unknown.id} could not be started (")


class Odd(ChallengeStore):
    """Challenges of which the first that is noted has another board already."""

    odd = ""

    def mark_started(self, id_: str, board: int) -> Challenge:
        self.odd = self.odd or id_
        if id_ == self.odd:
            raise ValueError(f"challenge {id_} can't have board {board}")
        return super().mark_started(id_, board)


def test_an_unforeseen_failure_is_an_alarm_and_holds_up_no_other(rig, caplog):
    made = [rig.full().id for _ in range(2)]
    odd = Odd(rig.bench.client)
    starter = rig.starter(odd)
    starter.tick()
    rig.bench.drain()
    for _ in range(3):
        rig.sweep(starter)
    assert failures_of(caplog.messages) == [f"ALARM: challenge {odd.odd} can't be started"]
    assert [one.id for one in rig.challenges.full()] == [odd.odd]
    assert odd.odd in made
