"""Challenges do what a plain model says they do, and are known for as long as they are asked for."""

from collections.abc import Callable

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule
from hypothesis.stateful import run_state_machine_as_test as run_machine
from msgspec.structs import replace
from redis import Redis

from domain.errors import Code
from infra.people import challenges as module
from infra.people.challenges import Challenge, ChallengeState, ChallengeStore, Proposal
from infra.people.challenges.record import make_id, pack
from infra.redis import keys
from tests.helpers import proposals
from tests.helpers.examples import refused
from tests.helpers.proposals import ALICE, BOB, CAROL, DAVE, HALVES, PLAYERS, POW2, Clock

DAY = 24 * 3_600_000
SECRET = replace(POW2, listed=False)
NOTED = replace(HALVES, seat=None, note="alice's")
FULL = (ChallengeState.TAKEN, ChallengeState.STARTED)


@pytest.fixture
def challenges(server: Redis, clock: Clock) -> ChallengeStore:
    return ChallengeStore(server, clock)


@pytest.fixture
def opened(challenges: ChallengeStore) -> Callable[..., Challenge]:
    """A function that opens a challenge by a new command."""

    def open_(proposal: Proposal = POW2, account: bytes = ALICE) -> Challenge:
        return challenges.open(account, proposal, proposals.new_command())

    return open_


class Model(RuleBasedStateMachine):
    """What challenges do, beside plain lists and dictionaries that say what they should."""

    ids = Bundle("ids")
    accounts = st.sampled_from(PLAYERS)
    client: Redis

    def __init__(self) -> None:
        super().__init__()
        self.client.flushall()
        proposals.prepare_server(self.client)
        self.clock = Clock()
        self.challenges = ChallengeStore(self.client, self.clock, lambda seats: seats - 1)
        self.known: dict[str, Challenge] = {}
        self.forgotten: set[tuple[str, bytes]] = set()
        """Full challenges, and the accounts erased that play in them still."""

    def update(self, id_: str, **changes: object) -> None:
        self.known[id_] = replace(self.known[id_], **changes)

    def waits(self, id_: str) -> bool:
        """Whether it is open still."""
        one = self.known[id_]
        return one.state is ChallengeState.OPEN and self.clock.now < one.created + module.OPEN_MS

    @rule(target=ids, account=accounts, proposal=st.sampled_from([POW2, HALVES, SECRET, NOTED]))
    def open(self, account: bytes, proposal: Proposal) -> str:
        self.clock.now += 1  # so that no two are of one age
        challenge = self.challenges.open(account, proposal, proposals.new_command())
        self.known[challenge.id] = Challenge(
            id=challenge.id, command=challenge.command, account=account, proposal=proposal,
            created=self.clock.now, state=ChallengeState.OPEN,
        )  # fmt: skip
        return challenge.id

    @rule(id_=ids)
    def open_again(self, id_: str) -> None:
        one = self.known.get(id_)
        if one and (self.waits(id_) or one.state is not ChallengeState.OPEN):
            assert self.challenges.open(one.account, one.proposal, one.command) == one

    @rule(id_=ids, account=accounts)
    def take(self, id_: str, account: bytes) -> None:
        one = self.known.get(id_)
        if one and account in one.takers and one.state in FULL:
            assert self.challenges.take(id_, account) == one
        elif one and one.account == account and (self.waits(id_) or one.state in FULL):
            refused(Code.OWN_CHALLENGE, self.challenges.take, id_, account)
        elif one is None or not self.waits(id_):
            refused(Code.UNKNOWN_CHALLENGE, self.challenges.take, id_, account)
        else:
            if account not in one.takers:
                self.update(id_, takers=(*one.takers, account))
            if len(self.known[id_].takers) + 1 == one.proposal.seats:
                drawn = one.proposal.seats - 1 if one.proposal.seat is None else None
                unnoted = replace(one.proposal, note="")
                self.update(id_, state=ChallengeState.TAKEN, drawn=drawn, proposal=unnoted)
            assert self.challenges.take(id_, account) == self.known[id_]

    @rule(id_=ids, account=accounts)
    def withdraw(self, id_: str, account: bytes) -> None:
        one = self.known.get(id_)
        if one is None or (one.state is ChallengeState.OPEN and not self.waits(id_)):
            refused(Code.UNKNOWN_CHALLENGE, self.challenges.withdraw, account, id_)
        elif account != one.account and account not in one.takers:
            refused(Code.NOT_A_PLAYER, self.challenges.withdraw, account, id_)
        elif one.state in FULL:
            refused(Code.ALREADY_STARTED, self.challenges.withdraw, account, id_)
        else:
            if account == one.account:
                unnoted = replace(one.proposal, note="")
                self.update(id_, state=ChallengeState.WITHDRAWN, proposal=unnoted)
            elif one.state is ChallengeState.OPEN:
                self.update(id_, takers=tuple(a for a in one.takers if a != account))
            assert self.challenges.withdraw(account, id_) == self.known[id_]

    @rule(id_=ids, board=st.integers(1, 3))
    def done(self, id_: str, board: int) -> None:
        one = self.known.get(id_)
        if one and one.state is ChallengeState.TAKEN:
            self.update(id_, state=ChallengeState.STARTED, board=board)
            assert self.challenges.mark_started(id_, board) == self.known[id_]

    @rule(account=accounts)
    def forget(self, account: bytes) -> None:
        self.challenges.forget(account)
        self.forgotten |= {(id_, account) for id_, one in self.known.items() if not one.has_note}
        for id_ in [id_ for id_, one in self.known.items() if one.state is ChallengeState.OPEN]:
            if self.known[id_].account == account:
                del self.known[id_]
            else:
                takers = tuple(a for a in self.known[id_].takers if a != account)
                self.update(id_, takers=takers)

    @rule(days=st.integers(1, 20))
    def wait(self, days: int) -> None:
        self.clock.now += days * DAY

    @invariant()
    def lists_are_as_they_should_be(self) -> None:
        for id_, one in self.known.items():
            if one.state is not ChallengeState.OPEN or self.waits(id_):
                assert self.challenges.get(id_) == one
            else:
                refused(Code.UNKNOWN_CHALLENGE, self.challenges.get, id_)
        newest = sorted(self.known.values(), key=lambda one: one.created, reverse=True)
        waiting = [one for one in newest if self.waits(one.id)]
        full = [one for one in newest if one.state is ChallengeState.TAKEN]
        listed = [one for one in waiting if one.proposal.listed]
        assert self.challenges.list_open(count=99) == listed
        for game in ("pow2", "halves"):
            of_game = [one for one in listed if one.proposal.game == game]
            assert self.challenges.list_open(game, count=99) == of_game
        assert self.challenges.full() == full[::-1]
        lasting = [one for one in newest if one in waiting or one in full]
        for account in PLAYERS:
            own = [one for one in lasting if account in one.players]
            known = [one for one in own if (one.id, account) not in self.forgotten]
            assert self.challenges.of(account) == known


def test_challenges_do_what_a_plain_model_does(redis_client):
    class OnServer(Model):
        client = redis_client

    run_machine(OnServer, settings=settings(max_examples=15, stateful_step_count=25, deadline=None))


NO_IDS = [
    *("", "abc", "abcdefghi1", "abcdefghi\n", "KKKKKKKKKK", "\udc80"),
    *("a" * n for n in (10, 11, 19, 21)),
]


def test_without_full_challenges_a_look_for_them_is_one_command(redis_client, challenges):
    challenges.full()
    redis_client.config_resetstat()
    assert challenges.full() == []
    stats = redis_client.info("commandstats")
    assert set(stats) - {"cmdstat_config|resetstat", "cmdstat_info"} == {"cmdstat_smembers"}


def test_an_id_that_nothing_has_and_what_can_be_none_are_refused(challenges, opened):
    opened()
    for id_ in NO_IDS:
        refused(Code.UNKNOWN_CHALLENGE, challenges.get, id_)
        refused(Code.UNKNOWN_CHALLENGE, challenges.take, id_, BOB)
        refused(Code.UNKNOWN_CHALLENGE, challenges.mark_started, id_, 1)
        refused(Code.UNKNOWN_CHALLENGE, challenges.withdraw, ALICE, id_)


def test_the_id_of_a_challenge_that_is_not_listed_does_not_follow_from_its_command(
    challenges, server
):
    command = proposals.new_command()
    challenge = challenges.open(ALICE, SECRET, command)
    assert len(challenge.id) == 20
    assert challenges.count() == 0
    assert not challenge.id.startswith(make_id(command, 0))
    assert challenges.open(ALICE, SECRET, command) == challenge
    refused(Code.UNKNOWN_CHALLENGE, challenges.get, make_id(command, 0))
    server.delete(keys.CHALLENGE_LINKS)
    assert challenges.open(ALICE, SECRET, command).id != challenge.id


def test_a_command_opens_one_challenge_and_two_whose_ids_agree_open_two(challenges, server):
    one, two = proposals.new_command(), proposals.new_command()
    challenge = challenges.open(ALICE, POW2, one)
    others = (replace(POW2, seat=1), replace(POW2, words=()), replace(POW2, note="hello"), HALVES)
    for other in others:
        refused(Code.ID_REUSED, challenges.open, ALICE, other, one)
    refused(Code.ID_REUSED, challenges.open, BOB, POW2, one)
    assert challenges.list_open() == [challenge]
    agrees = replace(challenge, account=BOB, id=make_id(two, 0))
    server.set(keys.challenge(make_id(two, 0)), pack(agrees))
    second = challenges.open(ALICE, POW2, two)
    assert second.id == make_id(two, 1) != make_id(two, 0)
    assert second.account == ALICE
    assert challenges.open(ALICE, POW2, two) == second


def test_seats_are_at_least_two_and_the_makers_is_one_of_them(challenges, server):
    for seats, seat in ((1, None), (0, None), (2, 2), (3, -1)):
        bad = replace(POW2, seats=seats, seat=seat)
        refused(Code.BAD_PLAYERS, challenges.open, ALICE, bad, proposals.new_command())
    assert proposals.records(server) == []


def test_a_note_is_one_line_of_what_can_be_seen_and_is_not_repeated_when_it_is_refused():
    for note in ("x" * module.NOTE_LIMIT, "Grüße, 你好 👩‍👩‍👧", ""):
        assert module.read_proposal(replace(POW2, note=f" {note} ")).note == note
    for code in (0x200B, 0x202E, 0x2066, 0xE0041):
        assert module.read_proposal(replace(POW2, note=f"good{chr(code)} luck")).note == "good luck"
    for code in (0, 0x09, 0x0A, 0x1B, 0x7F, 0x9B, 0xD800):
        sentence = refused(
            Code.BAD_REQUEST, module.read_proposal, replace(POW2, note=f"secret{chr(code)}words")
        )
        assert f"character 7 of the note is U+{code:04X}" in sentence
        assert "secret" not in sentence
    sentence = refused(
        Code.TOO_LONG, module.read_proposal, replace(POW2, note="x" * (module.NOTE_LIMIT + 1))
    )
    assert str(module.NOTE_LIMIT) in sentence


def test_who_has_no_account_opens_and_takes_nothing(challenges, opened, server):
    challenge = opened()
    server.delete(keys.account(BOB))
    refused(Code.UNKNOWN_USER, challenges.open, BOB, POW2, proposals.new_command())
    refused(Code.UNKNOWN_USER, challenges.take, challenge.id, BOB)
    assert proposals.records(server) == [keys.challenge(challenge.id).encode()]
    assert challenges.list_open() == [challenge]


def test_an_account_has_at_most_20_challenges_that_wait(challenges, opened, server, clock):
    waiting = [opened() for _ in range(module.MOST_CHALLENGES)]
    command = proposals.new_command()
    assert str(module.MOST_CHALLENGES) in refused(
        Code.TOO_MANY, challenges.open, ALICE, POW2, command
    )
    assert len(proposals.records(server)) == module.MOST_CHALLENGES
    opened(account=BOB)
    challenges.withdraw(ALICE, waiting[3].id)
    assert challenges.open(ALICE, POW2, command).state is ChallengeState.OPEN
    refused(Code.TOO_MANY, opened)
    challenges.take(waiting[4].id, BOB)
    refused(Code.TOO_MANY, opened)  # it waits for its match
    challenges.mark_started(waiting[4].id, 1)
    assert opened()
    assert challenges.open(ALICE, POW2, command)  # a repetition is none more
    clock.now += module.OPEN_MS
    assert opened()
    assert len(challenges.of(ALICE)) == len(challenges.list_open()) == 1


def test_an_account_joins_at_most_20_challenges_that_wait_for_others(challenges, opened):
    waiting = [
        opened(HALVES, account) for account in (BOB, CAROL) for _ in range(module.MOST_CHALLENGES)
    ]
    for challenge in waiting[: module.MOST_CHALLENGES]:
        challenges.take(challenge.id, ALICE)
    refused(Code.TOO_MANY, challenges.take, waiting[-1].id, ALICE)
    assert challenges.take(waiting[0].id, ALICE)  # again
    challenges.take(waiting[0].id, DAVE)
    challenges.mark_started(waiting[0].id, 1)
    challenges.take(waiting[-1].id, ALICE)
    assert len(challenges.of(ALICE)) == module.MOST_CHALLENGES


def test_a_page_is_full_whatever_has_come_to_an_end_unnoticed(challenges, opened, clock, server):
    found = []
    for _ in range(8):
        found.append(opened())
        clock.now += 1
    found.reverse()
    for gone in (1, 2, 4):
        server.delete(keys.challenge(found[gone].id))
    assert proposals.ids(challenges.list_open(count=3)) == [found[n].id for n in (0, 3, 5)]
    assert proposals.ids(challenges.list_open(start=3)) == [found[n].id for n in (6, 7)]
    assert proposals.ids(challenges.list_open("pow2", 1, 2)) == [found[n].id for n in (3, 5)]
    assert challenges.list_open("goliath") == challenges.list_open(start=5) == []
    assert challenges.list_open(count=0) == challenges.list_open(start=-1) == []


def test_records_live_as_long_as_they_are_asked_for(challenges, opened, clock, server):
    challenge = opened(HALVES)

    def left() -> int:
        return server.pttl(keys.challenge(challenge.id))

    assert module.OPEN_MS - 60_000 < left() <= module.OPEN_MS == 30 * DAY
    clock.now += 10 * DAY
    challenges.take(challenge.id, BOB)
    assert module.OPEN_MS - 11 * DAY < left() <= module.OPEN_MS - 10 * DAY
    challenges.take(challenge.id, CAROL)
    assert module.ENDED_MS - 60_000 < left() <= module.ENDED_MS
    challenges.mark_started(challenge.id, 12)
    assert module.ENDED_MS - 60_000 < left() <= module.ENDED_MS
    # beside the record and the accounts nothing is left
    assert len(server.keys()) == 1 + len(PLAYERS)
    opened()
    clock.now += module.OPEN_MS
    opened()
    assert server.zcard(keys.open_challenges()) == server.zcard(keys.open_challenges("pow2")) == 1


def test_chance_seats_the_maker_once_and_for_all(server, clock):
    asked = []

    def draw(count: int) -> int:
        asked.append(count)
        return 2

    challenges = ChallengeStore(server, clock, draw)
    challenge = challenges.open(ALICE, replace(HALVES, seat=None), proposals.new_command())
    challenges.take(challenge.id, BOB)
    assert asked == []
    taken = challenges.take(challenge.id, CAROL)
    assert taken.seat_order == (BOB, CAROL, ALICE)
    assert taken.proposal.seat is None
    again = (challenges.take(challenge.id, BOB), challenges.mark_started(taken.id, 1))
    assert {one.seat_order for one in again} == {taken.seat_order}
    assert asked == [3]


def test_a_challenge_has_one_board_and_none_before_it_is_full(challenges, opened):
    challenge = opened()
    for board in (11, 12):
        with pytest.raises(ValueError, match=f"can't have board {board}"):
            challenges.mark_started(challenge.id, board)
        challenges.take(challenge.id, BOB)
        challenges.mark_started(challenge.id, 10)
    assert challenges.get(challenge.id).board == 10
