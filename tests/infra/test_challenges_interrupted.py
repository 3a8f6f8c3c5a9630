"""Challenges while processes are killed, and while others do something else at the same moment."""

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from msgspec.structs import replace
from redis import Redis

from domain.errors import Code, Refusal
from infra.people.challenges import (
    DRAFT_MS,
    MOST_CHALLENGES,
    Challenge,
    ChallengeState,
    ChallengeStore,
    Proposal,
)
from infra.people.challenges.record import make_id
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
    Clock,
    ids,
    new_command,
    prepare_server,
    records,
)
from tests.helpers.refusals import refused
from tests.helpers.steps import Killed, Steps, kill, stepped_client


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def server(redis_client: Redis) -> Redis:
    prepare_server(redis_client)
    return redis_client


@pytest.fixture
def challenges(server: Redis, clock: Clock) -> ChallengeStore:
    return ChallengeStore(server, clock)


@pytest.fixture
def opened(challenges: ChallengeStore) -> Callable[..., Challenge]:
    """A function that opens a challenge by a new command."""

    def open_(proposal: Proposal = POW2, account: bytes = ALICE) -> Challenge:
        return challenges.open(account, proposal, new_command())

    return open_


def stepped(valkey: EmbeddedServer, steps: Steps, call: Callable[[ChallengeStore], object]) -> None:
    """Call with challenges on a client that `steps` watches."""
    client, begin = stepped_client(valkey.url)
    with closing(client):
        begin(steps)
        call(ChallengeStore(client, Clock()))


def killed_anywhere(
    valkey: EmbeddedServer, prepare: Callable[[], Callable[[ChallengeStore], object]]
) -> Iterator[None]:
    """Prepare, and have a process killed at its first step, then at its second, and so on to the end.

    Killed before a command is sent, and killed when it was carried out and not heard of.
    """
    for after in (False, True):
        for step in itertools.count(1):
            call = prepare()
            steps = Steps(step, kill, after=after)
            try:
                stepped(valkey, steps, call)
            except Killed:
                yield
            else:
                break
        assert step > 3


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


def start_all(challenges: ChallengeStore) -> None:
    for challenge in challenges.full():
        challenges.mark_started(challenge.id, 1)


def delete_account(client: Redis, account: bytes) -> None:
    """As accounts are deleted: what is under the id before the record goes, and after it."""
    challenges = ChallengeStore(client, Clock())
    challenges.forget(account)
    client.delete(keys.account(account))
    challenges.forget(account)


# killed


def test_opening_killed_anywhere_is_finished_by_the_command_repeated(challenges, server, valkey):
    command = new_command()
    proposal = replace(POW2, note="hello")

    def prepare() -> Callable[[ChallengeStore], object]:
        for name in (
            *records(server),
            *server.keys("{challenges}*"),
            keys.challenges_opened(ALICE),
        ):
            server.delete(name)
        return lambda other: other.open(ALICE, proposal, command)

    for _ in killed_anywhere(valkey, prepare):
        for name in records(server):
            known = server.hexists(keys.challenges_opened(ALICE), make_id(command, 0))
            assert known or 0 < server.pttl(name) <= DRAFT_MS
        assert all(one.state is ChallengeState.OPEN for one in challenges.of(ALICE))
        challenge = challenges.open(ALICE, proposal, command)
        assert challenges.list_open() == challenges.of(ALICE) == [challenge]
        assert server.pttl(keys.challenge(challenge.id)) > DRAFT_MS
        assert len(records(server)) == 1


def test_what_was_being_opened_when_the_process_was_killed_is_erased(challenges, server, valkey):
    def prepare() -> Callable[[ChallengeStore], object]:
        server.delete(*records(server), "no record")
        return lambda other: other.open(ALICE, replace(POW2, note="hello"), new_command())

    left = 0
    for _ in killed_anywhere(valkey, prepare):
        challenges.forget(ALICE)
        assert challenges.list_open() == challenges.of(ALICE) == []
        assert not server.exists(keys.challenges_opened(ALICE))
        for name in records(server):  # a draft that was not noted
            left += 1
            assert 0 < server.pttl(name) <= DRAFT_MS
            refused(Code.UNKNOWN_CHALLENGE, challenges.get, name.decode()[3:-1])
            refused(Code.UNKNOWN_CHALLENGE, challenges.take, name.decode()[3:-1], BOB)
    assert left == 2


@pytest.mark.parametrize("proposal", [POW2, HALVES, replace(HALVES, seat=None)])
def test_taking_killed_anywhere_is_finished_by_taking_again(challenges, opened, valkey, proposal):
    found: list[Challenge] = []

    def prepare() -> Callable[[ChallengeStore], object]:
        start_all(challenges)
        found.append(opened(proposal))
        if proposal.seats == 3:
            challenges.take(found[-1].id, CAROL)
        return lambda other: other.take(found[-1].id, BOB)

    states = set()
    for _ in killed_anywhere(valkey, prepare):
        left = challenges.get(found[-1].id)
        states.add(left.state)
        full = left.state is ChallengeState.TAKEN
        assert ids(challenges.full()) == ids([left] * full)
        assert ids(challenges.list_open()) == ids([left] * (not full))
        assert (BOB in left.takers) is full
        taken = challenges.take(left.id, BOB)
        assert taken.state is ChallengeState.TAKEN
        assert challenges.full() == [taken]
        if full:
            assert (taken.seat_order, taken.start_id) == (left.seat_order, left.start_id)
        challenges.mark_started(taken.id, len(found))
    assert states == {ChallengeState.OPEN, ChallengeState.TAKEN}


def test_whoever_was_killed_while_taking_the_last_seat_does_not_keep_it_from_others(
    challenges, opened, valkey
):
    found: list[Challenge] = []

    def prepare() -> Callable[[ChallengeStore], object]:
        start_all(challenges)
        found.append(opened())
        return lambda other: other.take(found[-1].id, BOB)

    got = set()
    for _ in killed_anywhere(valkey, prepare):
        try:
            winner = challenges.take(found[-1].id, CAROL).takers
        except Refusal as refusal:
            assert refusal.code is Code.UNKNOWN_CHALLENGE  # noqa: PT017 - it depends on the step
            winner = challenges.get(found[-1].id).takers
        got.add(winner)
        assert [one.takers for one in challenges.full()] == [winner]
        challenges.mark_started(found[-1].id, len(found))
    assert got == {(BOB,), (CAROL,)}


def test_noting_the_board_killed_anywhere_is_finished_by_noting_it_again(
    challenges, opened, valkey, server
):
    found: list[Challenge] = []

    def prepare() -> Callable[[ChallengeStore], object]:
        found.append(opened(HALVES))
        for account in (BOB, CAROL):
            challenges.take(found[-1].id, account)
        return lambda other: other.mark_started(found[-1].id, len(found))

    for _ in killed_anywhere(valkey, prepare):
        left = challenges.get(found[-1].id)
        assert challenges.full() == [left] * (left.state is ChallengeState.TAKEN)
        assert challenges.mark_started(left.id, len(found)).board == len(found)
        assert challenges.full() == challenges.list_open() == []
        for account in (ALICE, BOB, CAROL):
            assert challenges.of(account) == []
    assert len(server.keys()) == len(records(server)) + len(PLAYERS)


@pytest.mark.parametrize("account", [ALICE, BOB])
def test_withdrawing_killed_anywhere_is_done_or_not(challenges, opened, valkey, account):
    found: list[Challenge] = []

    def prepare() -> Callable[[ChallengeStore], object]:
        for old in challenges.list_open():
            challenges.withdraw(ALICE, old.id)
        found.append(challenges.take(opened(HALVES).id, BOB))
        return lambda other: other.withdraw(account, found[-1].id)

    seen = set()
    for _ in killed_anywhere(valkey, prepare):
        left = challenges.get(found[-1].id)
        seen.add((left.state, left.takers))
        waits = left.state is ChallengeState.OPEN
        assert challenges.list_open() == challenges.of(ALICE) == [left] * waits
        assert challenges.of(BOB) == [left] * (waits and BOB in left.takers)
    gone = (ChallengeState.WITHDRAWN, (BOB,)) if account == ALICE else (ChallengeState.OPEN, ())
    assert seen == {(ChallengeState.OPEN, (BOB,)), gone}


def test_forgetting_killed_anywhere_is_finished_by_doing_it_again(
    challenges, opened, valkey, server
):
    theirs = opened(HALVES, CAROL)

    def prepare() -> Callable[[ChallengeStore], object]:
        opened(replace(POW2, note="alice's"))
        challenges.take(opened(replace(HALVES, note="alice's")).id, BOB)
        challenges.take(theirs.id, ALICE)
        return lambda other: other.forget(ALICE)

    for _ in killed_anywhere(valkey, prepare):
        challenges.forget(ALICE)
        assert challenges.list_open() == [theirs]
        assert records(server) == [keys.challenge(theirs.id).encode()]
        assert not server.exists(keys.challenges_opened(ALICE), keys.challenges_joined(ALICE))
        assert challenges.of(ALICE) == challenges.of(BOB) == []


# at the same moment


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
