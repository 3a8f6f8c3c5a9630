"""Challenges while processes are killed, and while others do something else at the same moment."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from msgspec.structs import replace
from redis import Redis

from domain.errors import Code, Refusal
from infra.people.challenges import MOST_CHALLENGES, Challenge, ChallengeState, ChallengeStore
from infra.people.challenges.record import DRAFT_MS, make_id
from infra.redis import keys
from tests.helpers import proposals
from tests.helpers.examples import refused
from tests.helpers.interrupted import interrupted
from tests.helpers.proposals import ALICE, BOB, CAROL, DAVE, HALVES, PLAYERS, POW2, Clock
from tests.helpers.steps import kill

OPEN, TAKEN, STARTED, WITHDRAWN = (
    *(ChallengeState.OPEN, ChallengeState.TAKEN),
    *(ChallengeState.STARTED, ChallengeState.WITHDRAWN),
)


@pytest.fixture
def challenges(server: Redis, clock: Clock) -> ChallengeStore:
    return ChallengeStore(server, clock)


def store(client: Redis) -> ChallengeStore:
    return ChallengeStore(client, Clock())


def attempt(call: Callable[..., Challenge], *args: object) -> Challenge | Code:
    try:
        return call(*args)
    except Refusal as refusal:
        return refusal.code


def compare_lists(challenges: ChallengeStore, server: Redis, id_: str) -> Challenge:
    """Return the one challenge that is not started yet, which all lists have as its record is."""
    one = challenges.get(id_)
    assert challenges.list_open() == [one] * (one.state is OPEN)
    assert challenges.full() == [one] * (one.state is TAKEN)
    for account in PLAYERS:
        waits = account in one.players and one.state in (OPEN, TAKEN)
        assert challenges.of(account) == [one] * waits
        if waits:
            assert server.hexists(keys.challenges_joined(account), id_) is (account in one.takers)
    return one


def put_away(challenges: ChallengeStore, found: list[str]) -> None:
    """Take the last challenge from all lists."""
    for one in map(challenges.get, found[-1:]):
        if one.state is OPEN:
            challenges.withdraw(ALICE, one.id)
        elif one.state is TAKEN:
            challenges.mark_started(one.id, 1)


def take(account: bytes) -> Callable[[ChallengeStore, str], Challenge]:
    return lambda challenges, id_: challenges.take(id_, account)


def withdraw(account: bytes) -> Callable[[ChallengeStore, str], Challenge]:
    return lambda challenges, id_: challenges.withdraw(account, id_)


def note_board(challenges: ChallengeStore, id_: str) -> Challenge:
    return challenges.mark_started(id_, 7)


BY_CHANCE = replace(HALVES, seat=None)


@pytest.mark.parametrize(
    "case",
    [
        (POW2, [], take(BOB), None, {(OPEN, ()), (TAKEN, (BOB,))}),
        (HALVES, [CAROL], take(BOB), None, {(OPEN, (CAROL,)), (TAKEN, (CAROL, BOB))}),
        (BY_CHANCE, [CAROL], take(BOB), None, {(OPEN, (CAROL,)), (TAKEN, (CAROL, BOB))}),
        (POW2, [BOB], note_board, None, {(TAKEN, (BOB,)), (STARTED, (BOB,))}),
        (HALVES, [BOB], withdraw(ALICE), None, {(OPEN, (BOB,)), (WITHDRAWN, (BOB,))}),
        (HALVES, [BOB], withdraw(BOB), None, {(OPEN, (BOB,)), (OPEN, ())}),
        (POW2, [], take(BOB), take(CAROL), {(TAKEN, (BOB,)), (TAKEN, (CAROL,))}),
        (HALVES, [DAVE], take(BOB), take(CAROL), {(TAKEN, (DAVE, BOB)), (TAKEN, (DAVE, CAROL))}),
        (POW2, [], take(BOB), withdraw(ALICE), {(TAKEN, (BOB,)), (WITHDRAWN, ())}),
    ],
)
def test_interrupted_anywhere_a_challenge_is_as_it_was_or_will_be_and_in_the_lists_so(
    challenges, server, valkey, case
):
    """What was killed is finished by the same call again; of two who act at once one is refused."""
    proposal, takers, call, other, seen = case
    found: list[str] = []
    states, answers = set(), []

    def prepare() -> Callable[[Redis], object]:
        put_away(challenges, found)
        found.append(challenges.open(ALICE, proposal, proposals.new_command()).id)
        for account in takers:
            challenges.take(found[-1], account)
        return lambda client: call(store(client), found[-1])

    def act() -> None:
        answers.append(attempt(other, challenges, found[-1]))

    for error in interrupted(valkey, prepare, act if other else kill):
        left = compare_lists(challenges, server, found[-1])
        states.add((left.state, left.takers))
        if other:
            assert isinstance(error, Refusal) is isinstance(answers[-1], Challenge)
            codes = {Code.UNKNOWN_CHALLENGE, Code.ALREADY_STARTED}
            assert (error.code if error else answers[-1]) in codes
            continue
        # now and then another takes the seat that a killed process wanted
        finish = call if takers or len(found) % 2 else take(CAROL)
        attempt(finish, challenges, found[-1])
        final = compare_lists(challenges, server, found[-1])
        if finish is call:
            assert (final.state, final.takers) in seen - {(OPEN, tuple(takers))}
        else:
            assert final.takers == (left.takers or (CAROL,))
        if left.state is TAKEN:
            assert (final.seat_order, final.start_id) == (left.seat_order, left.start_id)
    assert states == seen


def test_what_was_being_opened_when_a_process_was_killed_is_finished_or_erased(
    challenges, server, valkey
):
    proposal, given = replace(POW2, note="hello"), []

    def prepare() -> Callable[[Redis], object]:
        server.delete(
            *proposals.records(server), *server.keys("{challenges}*"), keys.challenges_opened(ALICE)
        )
        given.append(proposals.new_command())
        return lambda client: store(client).open(ALICE, proposal, given[-1])

    left = 0
    for turn, _ in enumerate(interrupted(valkey, prepare)):
        for name in proposals.records(server):
            known = server.hexists(keys.challenges_opened(ALICE), make_id(given[-1], 0))
            assert known or 0 < server.pttl(name) <= DRAFT_MS
        assert all(one.state is OPEN for one in challenges.of(ALICE))
        if turn % 2:
            challenge = challenges.open(ALICE, proposal, given[-1])
            assert challenges.list_open() == challenges.of(ALICE) == [challenge]
            assert server.pttl(keys.challenge(challenge.id)) > DRAFT_MS
            assert len(proposals.records(server)) == 1
        challenges.forget(ALICE)
        assert challenges.list_open() == challenges.of(ALICE) == []
        assert not server.exists(keys.challenges_opened(ALICE))
        for name in proposals.records(server):  # a draft that was not noted
            left += 1
            assert 0 < server.pttl(name) <= DRAFT_MS
            refused(Code.UNKNOWN_CHALLENGE, challenges.get, name.decode()[3:-1])
            refused(Code.UNKNOWN_CHALLENGE, challenges.take, name.decode()[3:-1], BOB)
    assert left > 0


def test_forgetting_killed_anywhere_is_finished_by_doing_it_again(challenges, server, valkey):
    theirs = challenges.open(CAROL, HALVES, proposals.new_command())

    def prepare() -> Callable[[Redis], object]:
        challenges.open(ALICE, replace(POW2, note="alice's"), proposals.new_command())
        joined = challenges.open(ALICE, replace(HALVES, note="alice's"), proposals.new_command())
        challenges.take(joined.id, BOB)
        challenges.take(theirs.id, ALICE)
        return lambda client: store(client).forget(ALICE)

    for _ in interrupted(valkey, prepare):
        challenges.forget(ALICE)
        assert challenges.list_open() == [theirs]
        assert proposals.records(server) == [keys.challenge(theirs.id).encode()]
        assert not server.exists(keys.challenges_opened(ALICE), keys.challenges_joined(ALICE))
        assert challenges.of(ALICE) == challenges.of(BOB) == []


@pytest.mark.parametrize("taken", [False, True])
def test_an_account_deleted_at_any_step_leaves_no_challenge_but_one_that_it_plays(
    challenges, server, valkey, taken
):
    """While it opens a challenge, and while another takes its own."""
    proposal, found = replace(POW2, note="alice's"), []

    def prepare() -> Callable[[Redis], object]:
        server.set(keys.account(ALICE), "a record")
        if not taken:
            return lambda client: store(client).open(ALICE, proposal, proposals.new_command())
        found.append(challenges.open(ALICE, proposal, proposals.new_command()).id)
        return lambda client: store(client).take(found[-1], BOB)

    def delete() -> None:
        """As accounts are deleted: what is under the id before the record goes, and after it."""
        challenges.forget(ALICE)
        server.delete(keys.account(ALICE))
        challenges.forget(ALICE)

    answers = []
    for error in interrupted(valkey, prepare, delete, after=(False,)):
        answers.append(error and error.code)
        if taken and error is None:
            assert challenges.get(found[-1]).seat_order == (ALICE, BOB)
            challenges.mark_started(found[-1], len(found))
        assert challenges.of(BOB) == challenges.full() == challenges.list_open() == []
        assert not server.exists(keys.challenges_opened(ALICE))
        assert not [name for name in proposals.records(server) if b"alice's" in server.get(name)]
        assert taken or proposals.records(server) == []
    if taken:
        assert set(answers) == {Code.UNKNOWN_CHALLENGE, None}
    else:  # deleted before it was opened, and after that
        assert answers == [Code.UNKNOWN_USER] * 4 + [None]


def test_what_is_opened_at_once_is_one_a_command_and_no_more_than_there_may_be(challenges, server):
    for _ in range(10):
        with ThreadPoolExecutor(4) as pool:
            given = [proposals.new_command()] * 4
            answers = list(pool.map(lambda one: challenges.open(ALICE, POW2, one), given))
        assert answers == [answers[0]] * 4
        assert challenges.list_open() == challenges.of(ALICE) == [answers[0]]
        challenges.withdraw(ALICE, answers[0].id)
    assert len(proposals.records(server)) == 10
    given = [proposals.new_command() for _ in range(MOST_CHALLENGES + 10)]
    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(lambda one: attempt(challenges.open, ALICE, POW2, one), given))
    assert said.count(Code.TOO_MANY) == 10
    opened = {one.id for one in said if isinstance(one, Challenge)}
    assert len(opened) == MOST_CHALLENGES
    assert (
        set(proposals.ids(challenges.list_open(count=99)))
        == set(proposals.ids(challenges.of(ALICE)))
        == opened
    )
