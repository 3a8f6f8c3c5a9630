"""Challenges while processes are killed."""

import itertools
from collections.abc import Callable, Iterator

import pytest
from msgspec.structs import replace

from domain.errors import Code, Refusal
from infra.people.challenges import (
    DRAFT_MS,
    Challenge,
    ChallengeState,
    ChallengeStore,
)
from infra.people.challenges.record import make_id
from infra.redis import keys
from infra.valkey.server import EmbeddedServer
from tests.helpers.examples import refused
from tests.helpers.proposals import (
    ALICE,
    BOB,
    CAROL,
    HALVES,
    PLAYERS,
    POW2,
    ids,
    new_command,
    records,
    start_all,
    stepped,
)
from tests.helpers.steps import Killed, Steps, kill


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


def test_a_process_killed_while_taking_the_last_seat_does_not_keep_it_from_others(
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
