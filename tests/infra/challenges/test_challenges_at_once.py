"""Challenges while others do something else at the same moment."""

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from msgspec.structs import replace

from domain.errors import Code, Refusal
from infra.people.challenges import (
    MOST_CHALLENGES,
    Challenge,
    ChallengeState,
    ChallengeStore,
)
from infra.redis import keys
from infra.valkey.server import EmbeddedServer
from tests.helpers.proposals import (
    ALICE,
    BOB,
    CAROL,
    DAVE,
    HALVES,
    PLAYERS,
    POW2,
    delete_account,
    new_command,
    records,
    stepped,
)
from tests.helpers.steps import Steps


def meanwhile(
    valkey: EmbeddedServer,
    prepare: Callable[[], tuple[Callable[[ChallengeStore], object], Callable[[], object]]],
) -> Iterator[Refusal | None]:
    """Prepare, and have something else happen before the first step, the second, and so on."""
    for step in itertools.count(1):
        call, other = prepare()
        steps = Steps(step, other)
        refusal = None
        try:
            stepped(valkey, steps, call)
        except Refusal as caught:
            refusal = caught
        if not steps.happened:
            break
        yield refusal
    assert step > 3


def test_of_two_who_take_the_last_seat_at_any_step_one_gets_it(challenges, opened, server, valkey):
    found: list[Challenge] = []

    def prepare() -> tuple[Callable[[ChallengeStore], object], Callable[[], object]]:
        found.append(challenges.take(opened(HALVES).id, DAVE))
        id_ = found[-1].id

        def other() -> None:
            try:
                challenges.take(id_, CAROL)
            except Refusal as refusal:
                assert refusal.code is Code.UNKNOWN_CHALLENGE  # noqa: PT017 - as for the first

        return lambda slow: slow.take(id_, BOB), other

    winners = set()
    for refusal in meanwhile(valkey, prepare):
        taken = challenges.get(found[-1].id)
        assert taken.takers == ((DAVE, BOB) if refusal is None else (DAVE, CAROL))
        assert refusal is None or refusal.code is Code.UNKNOWN_CHALLENGE
        winners.add(taken.takers[1])
        for account in PLAYERS:
            assert challenges.of(account) == [taken] * (account in taken.players)
            assert server.hexists(keys.challenges_joined(account), taken.id) is (
                account in taken.takers
            )
        challenges.mark_started(taken.id, len(found))
    assert winners == {BOB, CAROL}


def test_many_who_take_at_once_are_as_many_as_there_are_seats(server, opened, clock):
    crowd = [bytes([number]) * 8 for number in range(1, 17)]
    for account in crowd:
        server.set(keys.account(account), "a record")
    challenges = ChallengeStore(server, clock)
    for board in range(1, 11):
        challenge = opened(replace(HALVES, seat=None))

        def attempt(account: bytes, id_: str = challenge.id) -> Challenge | None:
            try:
                return challenges.take(id_, account)
            except Refusal as refusal:
                assert refusal.code is Code.UNKNOWN_CHALLENGE  # noqa: PT017 - most are refused
                return None

        with ThreadPoolExecutor(8) as pool:
            answers = dict(zip(crowd, pool.map(attempt, crowd), strict=True))
        full = challenges.get(challenge.id)
        assert {account for account, answer in answers.items() if answer} == set(full.takers)
        assert sum(bool(a and a.state is ChallengeState.TAKEN) for a in answers.values()) == 1
        assert set(full.seat_order) == {ALICE, *full.takers}
        assert challenges.full() == [full]
        challenges.mark_started(full.id, board)


def test_a_challenge_withdrawn_while_it_is_taken_is_one_or_the_other(challenges, opened, valkey):
    found: list[Challenge] = []

    def prepare() -> tuple[Callable[[ChallengeStore], object], Callable[[], object]]:
        found.append(opened())
        id_ = found[-1].id

        def other() -> None:
            try:
                challenges.withdraw(ALICE, id_)
            except Refusal as refusal:
                assert refusal.code is Code.ALREADY_STARTED  # noqa: PT017 - it was too late

        return lambda slow: slow.take(id_, BOB), other

    states = set()
    for refusal in meanwhile(valkey, prepare):
        left = challenges.get(found[-1].id)
        assert left.state is (ChallengeState.TAKEN if refusal is None else ChallengeState.WITHDRAWN)
        assert challenges.list_open() == []
        assert challenges.full() == [left] * (refusal is None)
        states.add(left.state)
        if refusal is None:
            challenges.mark_started(left.id, len(found))
    assert states == {ChallengeState.TAKEN, ChallengeState.WITHDRAWN}


def test_an_account_deleted_while_it_opens_a_challenge_leaves_none_behind(
    challenges, server, valkey
):
    def prepare() -> tuple[Callable[[ChallengeStore], object], Callable[[], object]]:
        server.set(keys.account(ALICE), "a record")
        proposal = replace(POW2, note="alice's")
        return (
            lambda slow: slow.open(ALICE, proposal, new_command()),
            lambda: delete_account(server, ALICE),
        )

    answers = []
    for refusal in meanwhile(valkey, prepare):
        answers.append(refusal and refusal.code)
        assert records(server) == []
        assert not server.exists(keys.challenges_opened(ALICE))
        assert challenges.list_open() == []
    # deleted before it was opened, and after that
    assert answers == [Code.UNKNOWN_USER] * 4 + [None]


def test_an_account_deleted_while_its_challenge_is_taken_plays_it_or_not(
    challenges, server, opened, valkey
):
    found: list[Challenge] = []

    def prepare() -> tuple[Callable[[ChallengeStore], object], Callable[[], object]]:
        server.set(keys.account(ALICE), "a record")
        found.append(opened(replace(POW2, note="alice's")))
        id_ = found[-1].id
        return lambda slow: slow.take(id_, BOB), lambda: delete_account(server, ALICE)

    for refusal in meanwhile(valkey, prepare):
        assert refusal is None or refusal.code is Code.UNKNOWN_CHALLENGE
        if refusal is None:
            assert challenges.get(found[-1].id).seat_order == (ALICE, BOB)
            challenges.mark_started(found[-1].id, len(found))
        else:
            assert challenges.of(BOB) == []
        assert challenges.full() == challenges.list_open() == []
        assert not [name for name in records(server) if b"alice's" in server.get(name)]


def test_a_command_given_twice_at_once_opens_one_challenge(challenges, server):
    for _ in range(10):
        command = new_command()
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda c: challenges.open(ALICE, POW2, c), [command] * 4))
        assert answers == [answers[0]] * 4
        assert challenges.list_open() == challenges.of(ALICE) == [answers[0]]
        challenges.withdraw(ALICE, answers[0].id)
    assert len(records(server)) == 10


def test_challenges_opened_at_once_are_no_more_than_there_may_be(challenges):
    def attempt(_: int) -> bool:
        try:
            return bool(challenges.open(ALICE, POW2, new_command()))
        except Refusal as refusal:
            assert refusal.code is Code.TOO_MANY  # noqa: PT017 - some of them are refused
            return False

    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(attempt, range(MOST_CHALLENGES + 10)))
    assert (
        sum(made)
        == len(challenges.list_open(count=99))
        == len(challenges.of(ALICE))
        == MOST_CHALLENGES
    )
