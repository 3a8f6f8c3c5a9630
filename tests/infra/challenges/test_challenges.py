"""Open challenges: opened once a command, taken once a seat, known for as long as they are asked for."""

import string

import pytest
from msgspec.structs import replace

from domain.errors import Code, Refusal
from infra.people.challenges import (
    MOST_CHALLENGES,
    NOTE_LIMIT,
    OPEN_MS,
    ChallengeState,
    ChallengeStore,
    read_proposal,
)
from infra.people.challenges.record import make_id, pack
from infra.redis import keys
from tests.helpers.examples import refused
from tests.helpers.proposals import (
    ALICE,
    BOB,
    CAROL,
    DAVE,
    HALVES,
    POW2,
    ids,
    new_command,
    records,
)

DAY = 24 * 3_600_000


# opening

UNLISTED = replace(POW2, listed=False)


def test_a_challenge_that_was_opened_can_be_seen_by_all(challenges, opened, clock):
    challenge = opened(replace(POW2, note=" no hurry "))
    assert challenges.get(challenge.id) == challenge
    assert challenges.list_open() == challenges.of(ALICE) == [challenge]
    assert challenge.proposal == replace(POW2, note="no hurry")
    assert (challenge.account, challenge.created, challenge.state) == (
        ALICE,
        clock.now,
        ChallengeState.OPEN,
    )
    assert (challenge.free_seats, challenge.seat_order) == (1, ())


def test_an_id_is_ten_letters_and_digits_that_are_read_in_any_case(challenges, opened):
    challenge = opened()
    assert len(challenge.id) == 10
    assert set(challenge.id) <= set(string.ascii_lowercase + "234567")
    assert challenges.get(challenge.id.upper()) == challenge


@pytest.mark.parametrize(
    "id_",
    ["", "abc", "a" * 11, "a" * 19, "a" * 21, "abcdefghi1", "abcdefghi\n", "KKKKKKKKKK", "\udc80"],
)
def test_what_can_be_no_id_is_refused(challenges, id_):
    for call in (
        challenges.get,
        lambda i: challenges.take(i, BOB),
        lambda i: challenges.mark_started(i, 1),
    ):
        refused(Code.UNKNOWN_CHALLENGE, call, id_)
    refused(Code.UNKNOWN_CHALLENGE, challenges.withdraw, ALICE, id_)


def test_a_challenge_that_is_not_listed_is_known_to_its_players_only(challenges, opened):
    challenge = opened(UNLISTED)
    assert challenges.list_open() == challenges.list_open("pow2") == []
    assert challenges.count() == 0
    assert challenges.of(ALICE) == [challenge]
    assert challenges.get(challenge.id) == challenge
    taken = challenges.take(challenge.id, BOB)
    assert taken.state is ChallengeState.TAKEN
    assert challenges.full() == [taken]


def test_the_id_of_a_challenge_that_is_not_listed_does_not_follow_from_its_command(
    challenges, server
):
    command = new_command()
    challenge = challenges.open(ALICE, UNLISTED, command)
    assert len(challenge.id) == 20
    assert not challenge.id.startswith(make_id(command, 0))
    assert challenges.open(ALICE, UNLISTED, command) == challenge
    refused(Code.UNKNOWN_CHALLENGE, challenges.get, make_id(command, 0))
    server.delete(keys.CHALLENGE_LINKS)
    assert challenges.open(ALICE, UNLISTED, command).id != challenge.id


def test_a_challenge_that_is_not_listed_expires_and_is_withdrawn_like_others(
    challenges, opened, clock
):
    one, other = opened(UNLISTED), opened(replace(HALVES, listed=False))
    challenges.take(other.id, BOB)
    challenges.withdraw(BOB, other.id)
    challenges.withdraw(ALICE, other.id)
    refused(Code.UNKNOWN_CHALLENGE, challenges.take, other.id, CAROL)
    clock.now += OPEN_MS
    refused(Code.UNKNOWN_CHALLENGE, challenges.take, one.id, BOB)
    assert challenges.of(ALICE) == []


def test_an_id_that_nothing_has_is_refused(challenges, opened):
    opened()
    for call in (
        challenges.get,
        lambda i: challenges.take(i, BOB),
        lambda i: challenges.mark_started(i, 1),
    ):
        refused(Code.UNKNOWN_CHALLENGE, call, "a" * 10)
    refused(Code.UNKNOWN_CHALLENGE, challenges.withdraw, ALICE, "a" * 10)


def test_a_command_repeated_gives_the_challenge_as_it_is_by_then(challenges, server, clock):
    command = new_command()
    proposal = replace(HALVES, note="three of us")
    first = challenges.open(ALICE, proposal, command)
    clock.now += DAY
    assert challenges.open(ALICE, proposal, command) == first
    challenges.take(first.id, BOB)
    assert challenges.open(ALICE, proposal, command).takers == (BOB,)
    challenges.take(first.id, CAROL)
    assert challenges.open(ALICE, proposal, command).state is ChallengeState.TAKEN
    challenges.mark_started(first.id, 7)
    assert challenges.open(ALICE, proposal, command).board == 7
    assert len(records(server)) == 1
    assert challenges.list_open() == []


def test_a_command_repeated_does_not_bring_back_what_was_withdrawn(challenges):
    command = new_command()
    challenge = challenges.open(ALICE, replace(POW2, note="now"), command)
    challenges.withdraw(ALICE, challenge.id)
    assert (
        challenges.open(ALICE, replace(POW2, note="now"), command).state is ChallengeState.WITHDRAWN
    )
    assert challenges.list_open() == challenges.of(ALICE) == []


@pytest.mark.parametrize(
    "other", [replace(POW2, seat=1), replace(POW2, words=()), replace(POW2, note="hello"), HALVES]
)
def test_a_command_that_opened_one_challenge_can_not_open_another(challenges, other):
    command = new_command()
    challenge = challenges.open(ALICE, POW2, command)
    refused(Code.ID_REUSED, challenges.open, ALICE, other, command)
    refused(Code.ID_REUSED, challenges.open, BOB, POW2, command)
    assert challenges.list_open() == [challenge]


def test_two_commands_whose_ids_agree_open_two_challenges(challenges, server):
    one, two = new_command(), new_command()
    held = challenges.open(BOB, POW2, one)
    server.set(keys.challenge(make_id(two, 0)), pack(replace(held, id=make_id(two, 0))))
    second = challenges.open(ALICE, POW2, two)
    assert second.id == make_id(two, 1) != make_id(two, 0)
    assert second.account == ALICE
    assert challenges.open(ALICE, POW2, two) == second


@pytest.mark.parametrize(("seats", "seat"), [(1, None), (0, None), (2, 2), (3, -1)])
def test_seats_are_at_least_two_and_the_makers_is_one_of_them(challenges, server, seats, seat):
    bad = replace(POW2, seats=seats, seat=seat)
    refused(Code.BAD_PLAYERS, challenges.open, ALICE, bad, new_command())
    assert records(server) == []


@pytest.mark.parametrize("code", [0, 0x09, 0x0A, 0x1B, 0x7F, 0x9B, 0xD800])
def test_a_note_is_one_line_of_text_and_is_not_repeated_when_it_is_refused(code):
    with pytest.raises(Refusal) as caught:
        read_proposal(replace(POW2, note=f"secret{chr(code)}words"))
    assert caught.value.code is Code.BAD_REQUEST
    assert f"character 7 of the note is U+{code:04X}" in caught.value.sentence
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("code", [0x200B, 0x202E, 0x2066, 0xE0041])
def test_a_note_keeps_no_character_that_nobody_sees(code):
    proposal = read_proposal(replace(POW2, note=f"good{chr(code)} luck"))
    assert proposal.note == "good luck"


@pytest.mark.parametrize("note", ["x" * NOTE_LIMIT, "Grüße, 你好 👩‍👩‍👧", ""])
def test_a_note_is_kept_as_it_was_written(note):
    assert read_proposal(replace(POW2, note=f" {note} ")).note == note


def test_a_note_that_is_too_long_is_refused():
    sentence = refused(Code.TOO_LONG, read_proposal, replace(POW2, note="x" * (NOTE_LIMIT + 1)))
    assert str(NOTE_LIMIT) in sentence


def test_who_has_no_account_opens_and_takes_nothing(challenges, opened, server):
    challenge = opened()
    server.delete(keys.account(BOB))
    refused(Code.UNKNOWN_USER, challenges.open, BOB, POW2, new_command())
    refused(Code.UNKNOWN_USER, challenges.take, challenge.id, BOB)
    assert records(server) == [keys.challenge(challenge.id).encode()]
    assert challenges.list_open() == [challenge]


def test_an_account_has_at_most_20_challenges_that_wait(challenges, opened, server):
    waiting = [opened() for _ in range(MOST_CHALLENGES)]
    command = new_command()
    assert str(MOST_CHALLENGES) in refused(Code.TOO_MANY, challenges.open, ALICE, POW2, command)
    assert len(records(server)) == MOST_CHALLENGES
    opened(account=BOB)
    challenges.withdraw(ALICE, waiting[3].id)
    assert challenges.open(ALICE, POW2, command).state is ChallengeState.OPEN
    refused(Code.TOO_MANY, opened)
    challenges.take(waiting[4].id, BOB)
    refused(Code.TOO_MANY, opened)  # it waits for its match
    challenges.mark_started(waiting[4].id, 1)
    assert opened()
    assert challenges.open(ALICE, POW2, command)  # a repetition is none more


def test_challenges_that_have_expired_leave_room_for_others(challenges, opened, clock):
    for _ in range(MOST_CHALLENGES):
        opened()
    clock.now += OPEN_MS
    assert opened()
    assert len(challenges.of(ALICE)) == len(challenges.list_open()) == 1


def test_an_account_joins_at_most_20_challenges_that_wait_for_others(challenges, opened):
    waiting = [opened(HALVES, account) for account in (BOB, CAROL) for _ in range(MOST_CHALLENGES)]
    for challenge in waiting[:MOST_CHALLENGES]:
        challenges.take(challenge.id, ALICE)
    refused(Code.TOO_MANY, challenges.take, waiting[-1].id, ALICE)
    assert challenges.take(waiting[0].id, ALICE)  # again
    challenges.take(waiting[0].id, DAVE)
    challenges.mark_started(waiting[0].id, 1)
    challenges.take(waiting[-1].id, ALICE)
    assert len(challenges.of(ALICE)) == MOST_CHALLENGES


# lists


def test_the_newest_challenge_comes_first_and_games_can_be_asked_for(challenges, opened, clock):
    found = []
    for proposal in (POW2, HALVES, POW2, HALVES, POW2):
        found.append(opened(proposal).id)
        clock.now += 1
    found.reverse()
    assert ids(challenges.list_open()) == found
    assert ids(challenges.list_open(start=1, count=2)) == found[1:3]
    assert ids(challenges.list_open("pow2")) == found[::2]
    assert ids(challenges.list_open("halves", 1)) == found[3:4]
    assert challenges.list_open("goliath") == challenges.list_open(start=5) == []
    assert challenges.list_open(count=0) == challenges.list_open(start=-1) == []


def test_a_page_is_full_whatever_has_come_to_an_end_unnoticed(challenges, opened, clock, server):
    found = []
    for _ in range(8):
        found.append(opened())
        clock.now += 1
    found.reverse()
    for gone in (1, 2, 4):
        server.delete(keys.challenge(found[gone].id))
    assert ids(challenges.list_open(count=3)) == [found[n].id for n in (0, 3, 5)]
    assert ids(challenges.list_open(start=3)) == [found[n].id for n in (6, 7)]


def test_a_challenge_can_be_taken_for_thirty_days(challenges, opened, clock, server):
    challenge = opened(HALVES)
    assert OPEN_MS - 60_000 < server.pttl(keys.challenge(challenge.id)) <= OPEN_MS
    clock.now += 10 * DAY
    challenges.take(challenge.id, BOB)
    assert OPEN_MS - 11 * DAY < server.pttl(keys.challenge(challenge.id)) <= OPEN_MS - 10 * DAY
    clock.now += 20 * DAY - 1
    assert ids(challenges.list_open()) == ids(challenges.of(BOB)) == [challenge.id]
    clock.now += 1
    assert challenges.list_open() == challenges.of(ALICE) == challenges.of(BOB) == []
    refused(Code.UNKNOWN_CHALLENGE, challenges.get, challenge.id)
    refused(Code.UNKNOWN_CHALLENGE, challenges.take, challenge.id, CAROL)
    refused(Code.UNKNOWN_CHALLENGE, challenges.withdraw, ALICE, challenge.id)


def test_opening_drops_from_the_lists_what_has_expired(opened, clock, server):
    opened()
    clock.now += OPEN_MS
    opened()
    assert server.zcard(keys.open_challenges()) == server.zcard(keys.open_challenges("pow2")) == 1


def test_without_a_clock_the_server_tells_the_time(server):
    before = server.time()[0] * 1000
    challenge = ChallengeStore(server).open(ALICE, POW2, new_command())
    assert before <= challenge.created <= server.time()[0] * 1000 + 999
    assert ChallengeStore(server).list_open() == [challenge]
