"""Starts of full challenges by the scheduler: submitted until they are done, and once each."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import pytest
from msgspec.structs import replace
from redis import Redis
from redis.exceptions import ConnectionError as LostConnectionError

from domain.match.events import Absent, Called, MatchStarted
from domain.match.history import EventEnvelope, decode_event
from infra.people.accounts import Accounts
from infra.people.challenges import Challenge, ChallengeState, ChallengeStore, Proposal
from infra.store.draw_texts import DrawTexts
from tests.helpers.bench import Bench
from tests.helpers.examples import next_millisecond
from tests.helpers.lanes import LANE
from tests.helpers.proposals import new_command
from workers.challenge_starter import SWEEP_SECONDS, ChallengeStarter
from workers.scheduler import RETRY_SECONDS

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
    next_millisecond()
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
