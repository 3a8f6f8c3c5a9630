"""Open challenges that are taken, started, left and erased."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from domain.errors import Code
from infra.people.challenges import (
    ENDED_MS,
    Challenge,
    ChallengeState,
    ChallengeStore,
)
from infra.people.challenges.record import join
from infra.redis import keys
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
)

DAY = 24 * 3_600_000


# taking


def test_who_takes_the_last_seat_makes_it_full(challenges, opened):
    challenge = opened(replace(POW2, seat=1, note="hello"))
    taken = challenges.take(challenge.id, BOB)
    assert taken.state is ChallengeState.TAKEN
    assert taken.seat_order == (BOB, ALICE)
    assert taken.proposal == replace(POW2, seat=1)  # the note has done its work
    assert challenges.get(challenge.id) == taken
    assert challenges.list_open() == challenges.list_open("pow2") == []
    assert challenges.full() == challenges.of(ALICE) == challenges.of(BOB) == [taken]


def test_a_challenge_for_three_waits_for_the_third(challenges, opened):
    challenge = opened(HALVES)
    joined = challenges.take(challenge.id, BOB)
    assert (joined.state, joined.free_seats, joined.seat_order) == (ChallengeState.OPEN, 1, ())
    assert challenges.list_open() == challenges.of(BOB) == [joined]
    assert challenges.full() == []
    assert challenges.take(challenge.id, CAROL).seat_order == (BOB, ALICE, CAROL)


def test_taking_again_gives_the_same_answer(challenges, opened):
    challenge = opened(HALVES)
    first = challenges.take(challenge.id, BOB)
    assert challenges.take(challenge.id, BOB) == first
    full = challenges.take(challenge.id, CAROL)
    assert challenges.take(challenge.id, BOB) == challenges.take(challenge.id, CAROL) == full
    started = challenges.mark_started(challenge.id, 12)
    assert challenges.take(challenge.id, BOB) == challenges.take(challenge.id, CAROL) == started
    assert (started.board, started.seat_order, started.start_id) == (
        12,
        full.seat_order,
        full.start_id,
    )


def test_start_ids_differ_and_depend_on_nothing_that_comes_later(challenges, opened):
    one, two = opened(), opened()
    taken = challenges.take(one.id, BOB)
    assert one.start_id == taken.start_id == challenges.mark_started(one.id, 3).start_id
    assert len({one.start_id, two.start_id, one.command, two.command}) == 4
    assert len(one.start_id) == 16


def test_nobody_takes_an_own_challenge(challenges, opened):
    challenge = opened()
    for _ in range(2):
        refused(Code.OWN_CHALLENGE, challenges.take, challenge.id, ALICE)
        challenges.take(challenge.id, BOB)
    assert challenges.get(challenge.id).seat_order == (ALICE, BOB)


def test_a_full_challenge_is_refused_to_others(challenges, opened):
    challenge = opened()
    challenges.take(challenge.id, BOB)
    assert "taken" in refused(Code.UNKNOWN_CHALLENGE, challenges.take, challenge.id, CAROL)
    challenges.mark_started(challenge.id, 1)
    refused(Code.UNKNOWN_CHALLENGE, challenges.take, challenge.id, CAROL)
    assert challenges.of(CAROL) == []


def test_chance_seats_the_maker_once_and_for_all(server, clock):
    asked = []

    def draw(count: int) -> int:
        asked.append(count)
        return 2

    challenges = ChallengeStore(server, clock, draw)
    challenge = challenges.open(ALICE, replace(HALVES, seat=None), new_command())
    challenges.take(challenge.id, BOB)
    assert asked == []
    taken = challenges.take(challenge.id, CAROL)
    assert taken.seat_order == (BOB, CAROL, ALICE)
    assert taken.proposal.seat is None
    assert (
        challenges.take(challenge.id, BOB).seat_order
        == challenges.mark_started(taken.id, 1).seat_order
    )
    assert asked == [3]


def test_chance_gives_the_maker_every_seat(challenges, opened):
    drawn = Counter()
    for board in range(1, 41):
        challenge = opened(replace(POW2, seat=None))
        drawn[challenges.take(challenge.id, BOB).seat_order] += 1
        challenges.mark_started(challenge.id, board)
    assert set(drawn) == {(ALICE, BOB), (BOB, ALICE)}  # fails once in 10**12 runs


@given(
    st.integers(2, 9).flatmap(lambda seats: st.tuples(st.just(seats), st.integers(0, seats - 1)))
)
def test_everybody_has_a_seat_and_the_maker_the_one_asked_for(seats_and_seat):
    seats, seat = seats_and_seat
    takers = [bytes([number]) * 8 for number in range(1, seats)]
    proposal = replace(POW2, seats=seats, seat=seat)
    challenge = Challenge(
        id="a" * 10,
        command=bytes(16),
        account=ALICE,
        proposal=proposal,
        created=0,
        state=ChallengeState.OPEN,
    )
    for taker in takers:
        assert challenge.seat_order == ()
        challenge = join(challenge, taker, draw=lambda _: -1)
    assert challenge.seat_order[seat] == ALICE
    assert [account for account in challenge.seat_order if account != ALICE] == takers


# started


def test_a_match_that_was_started_is_known_by_its_board(challenges, opened, server):
    challenge = opened()
    challenges.take(challenge.id, BOB)
    started = challenges.mark_started(challenge.id, 12)
    assert challenges.get(challenge.id) == started
    assert (started.state, started.board) == (ChallengeState.STARTED, 12)
    assert challenges.full() == challenges.of(ALICE) == challenges.of(BOB) == []
    assert challenges.mark_started(challenge.id, 12) == started
    assert ENDED_MS - 60_000 < server.pttl(keys.challenge(challenge.id)) <= ENDED_MS
    # beside the record and the accounts nothing is left
    assert len(server.keys()) == 1 + len(PLAYERS)


def test_a_challenge_has_one_board_and_none_before_it_is_full(challenges, opened):
    challenge = opened()
    for board in (11, 12):
        with pytest.raises(ValueError, match=f"can't have board {board}"):
            challenges.mark_started(challenge.id, board)
        challenges.take(challenge.id, BOB)
        challenges.mark_started(challenge.id, 10)
    assert challenges.get(challenge.id).board == 10


def test_what_is_full_and_not_started_is_found_the_oldest_first(challenges, opened, clock):
    found = []
    for _ in range(3):
        found.append(opened().id)
        clock.now += 1
    opened()
    for id_ in reversed(found):
        challenges.take(id_, BOB)
    assert ids(challenges.full()) == found
    clock.now += 35 * DAY  # it does not expire for that
    challenges.mark_started(found[1], 1)
    assert ids(challenges.full()) == [found[0], found[2]]


def test_what_is_full_and_never_started_is_forgotten_with_its_record(challenges, opened, server):
    challenge = challenges.take(opened().id, BOB)
    assert ENDED_MS - 60_000 < server.pttl(keys.challenge(challenge.id)) <= ENDED_MS
    server.delete(keys.challenge(challenge.id))  # as Redis does by itself after forty days
    for found in (challenges.full(), challenges.of(ALICE), challenges.of(BOB)):
        assert found == []
    assert len(server.keys()) == len(PLAYERS)


# leaving


def test_a_withdrawn_challenge_can_not_be_taken(challenges, opened, server):
    challenge = opened(replace(HALVES, note="hello"))
    challenges.take(challenge.id, BOB)
    for _ in range(2):
        assert challenges.withdraw(ALICE, challenge.id).state is ChallengeState.WITHDRAWN
    for account in (BOB, CAROL):
        assert "withdrawn" in refused(
            Code.UNKNOWN_CHALLENGE, challenges.take, challenge.id, account
        )
    assert challenges.list_open() == challenges.of(ALICE) == challenges.of(BOB) == []
    assert b"hello" not in server.get(keys.challenge(challenge.id))


def test_who_has_joined_may_leave_and_the_seat_is_free_again(challenges, opened):
    challenge = opened(HALVES)
    challenges.take(challenge.id, BOB)
    assert challenges.withdraw(BOB, challenge.id) == challenge
    assert challenges.of(BOB) == []
    refused(Code.NOT_A_PLAYER, challenges.withdraw, BOB, challenge.id)
    challenges.take(challenge.id, CAROL)
    assert challenges.take(challenge.id, BOB).seat_order == (CAROL, ALICE, BOB)


def test_a_stranger_withdraws_nothing(challenges, opened):
    challenge = opened()
    refused(Code.NOT_A_PLAYER, challenges.withdraw, BOB, challenge.id)
    assert challenges.list_open() == [challenge]


def test_nobody_leaves_a_full_challenge(challenges, opened):
    challenge = opened()
    taken = challenges.take(challenge.id, BOB)
    for account in (ALICE, BOB):
        refused(Code.ALREADY_STARTED, challenges.withdraw, account, challenge.id)
    assert challenges.get(challenge.id) == taken


# erasing


def test_forgetting_erases_an_accounts_challenges_and_frees_its_seats(challenges, opened, server):
    opened(replace(POW2, note="alice's"))
    opened(replace(HALVES, note="alice's too"))
    theirs, full = opened(HALVES, BOB), opened(replace(POW2, note="alice's, taken"))
    challenges.take(theirs.id, ALICE)
    taken = challenges.take(full.id, CAROL)
    for _ in range(2):
        challenges.forget(ALICE)
        assert challenges.list_open() == challenges.of(BOB) == [theirs]
        assert challenges.full() == [taken]
        assert challenges.of(ALICE) == []
        assert len(records(server)) == 2
        assert not [name for name in records(server) if b"alice's" in server.get(name)]
        assert not server.exists(keys.open_challenges("pow2"))
    assert challenges.take(theirs.id, CAROL).takers == (CAROL,)
