"""Full challenges whose match nobody has started, on a real server."""

from collections.abc import Sequence
from hashlib import sha256

import pytest
from msgspec.structs import replace
from redis.exceptions import ConnectionError as LostConnectionError

from domain.errors import Code
from domain.match.decision import Rejection
from domain.match.events import Absent, Called, MatchStarted
from domain.match.history import decode_event
from infra.people.accounts import Accounts
from infra.people.challenges import Challenge, ChallengeState, ChallengeStore, Proposal
from infra.people.challenges.record import challenge_start
from infra.store.gateway import submission_of
from infra.store.kept_texts import DrawTexts
from tests.helpers.bench import Bench
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

    def bodies(self, board: int) -> list[object]:
        return [decode_event(data).body for data in self.bench.store.events(board)]

    def waits(self) -> int:
        return self.bench.store.inbox_size(range(4))


@pytest.fixture
def rig(bench: Bench) -> Rig:
    return Rig(bench)


def test_a_full_challenge_that_nobody_starts_is_started(rig: Rig) -> None:
    challenge, starter = rig.full(), rig.starter()
    starter.tick()
    assert rig.bench.woken == [LANE]
    assert rig.bench.drain() == 1
    rig.sweep(starter)
    started = rig.now(challenge)
    assert started.state is ChallengeState.STARTED
    assert started.board is not None
    (first,) = map(decode_event, rig.bench.store.events(started.board))
    assert isinstance(first.body, MatchStarted)
    assert first.body.seats == (rig.players[1], rig.players[0])
    assert (first.body.options, first.actor) == (("-fast",), rig.players[1])
    assert rig.challenges.full() == []


class Killed(ChallengeStore):
    """Challenges whose process dies before it notes the board."""

    def mark_started(self, id_: str, board: int) -> Challenge:
        raise LostConnectionError(f"killed before {id_} had board {board}")


def test_a_kill_between_the_start_and_its_note_leaves_one_match(rig: Rig) -> None:
    challenge = rig.full()
    dying = rig.starter(Killed(rig.bench.client))
    dying.tick()
    rig.bench.drain()
    with pytest.raises(LostConnectionError):
        rig.sweep(dying)
    assert rig.now(challenge).state is ChallengeState.TAKEN
    rig.starter().tick()
    board = rig.now(challenge).board
    assert board is not None
    assert len(rig.bodies(board)) == 1
    assert rig.waits() == 0


def test_a_match_that_another_process_started_is_noted(rig: Rig) -> None:
    challenge = rig.full()
    sent = challenge_start(challenge, rig.bench.store, rig.words)
    rig.bench.store.submit([submission_of(sent, 0, "reply:web")])
    rig.bench.drain()
    rig.starter().tick()
    assert rig.now(challenge).board == sent.match
    assert rig.waits() == 0


def test_a_start_is_submitted_again_after_a_minute_and_not_before(rig: Rig) -> None:
    challenge, starter = rig.full(), rig.starter()
    starter.tick()
    for _ in range(5):
        rig.sweep(starter)
    assert rig.waits() == 1
    rig.sweep(starter, RETRY_SECONDS)
    assert rig.waits() == 2
    rig.bench.drain()
    rig.sweep(starter)
    board = rig.now(challenge).board
    assert board is not None
    assert len(rig.bodies(board)) == 1


def test_nothing_is_looked_for_between_two_sweeps(rig: Rig) -> None:
    starter = rig.starter()
    starter.tick()
    rig.full()
    rig.sweep(starter, SWEEP_SECONDS / 2)
    assert rig.waits() == 0
    rig.sweep(starter, SWEEP_SECONDS / 2)
    assert rig.waits() == 1


def test_a_match_that_gathers_has_the_commitments_of_all_players(rig: Rig) -> None:
    digest = sha256(TEXT).digest()
    challenge, starter = rig.full(HALVES, digest), rig.starter()
    starter.tick()
    rig.bench.drain()
    rig.sweep(starter)
    board = rig.now(challenge).board
    assert board is not None
    called = rig.bodies(board)[0]
    assert isinstance(called, Called)
    kept = [rig.words.commitment(board, one) for one in rig.players[1:]]
    assert [one.digest for one in called.commitments] == [kept[0].digest, digest, kept[1].digest]


def test_a_player_on_vacation_is_away_from_the_start_on(rig: Rig) -> None:
    now = rig.bench.store.now()
    vacations = ((now - 1_000, 7),)
    rig.accounts.change_of(rig.players[0], lambda one: replace(one, vacations=vacations))
    challenge, starter = rig.full(), rig.starter()
    starter.tick()
    rig.bench.drain()
    rig.sweep(starter)
    board = rig.now(challenge).board
    assert board is not None
    kinds = [type(body) for body in rig.bodies(board)]
    assert kinds == [MatchStarted, Absent]
    absent = rig.bodies(board)[1]
    assert isinstance(absent, Absent)
    assert absent.seat == 1


def failures(messages: Sequence[str]) -> list[str]:
    return [message for message in messages if "challenge" in message]


def test_a_challenge_that_can_t_be_started_holds_up_no_other(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    bad = rig.full(replace(POW2, options=("-nonsense",)))
    unknown = rig.full(replace(POW2, rules="nothing/1"))
    good, starter = rig.full(), rig.starter()
    starter.tick()
    rig.bench.drain()
    rig.sweep(starter)
    assert rig.now(good).state is ChallengeState.STARTED
    first, second = failures(caplog.messages)
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


def test_an_unforeseen_failure_is_an_alarm_and_holds_up_no_other(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    made = [rig.full().id for _ in range(2)]
    odd = Odd(rig.bench.client)
    starter = rig.starter(odd)
    starter.tick()
    rig.bench.drain()
    for _ in range(3):
        rig.sweep(starter)
    assert failures(caplog.messages) == [f"ALARM: challenge {odd.odd} can't be started"]
    assert [one.id for one in rig.challenges.full()] == [odd.odd]
    assert odd.odd in made


def test_a_refused_start_is_logged_once(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    challenge, starter = rig.full(replace(HALVES, words=("--days=3",))), rig.starter()
    starter.tick()
    rig.bench.drain(decider=lambda *_: Rejection(Code.UNKNOWN_RULES, "there are no such rules"))
    for _ in range(3):
        rig.sweep(starter)
    (warning,) = failures(caplog.messages)
    assert warning.startswith(f"challenge {challenge.id} could not be started (")
    assert rig.waits() == 0
