"""Challenges do what a plain model says they do."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)
from msgspec.structs import replace
from redis import Redis

from domain.errors import Code
from infra.people.challenges import OPEN_MS, Challenge, ChallengeState, ChallengeStore, Proposal
from tests.helpers.examples import refused
from tests.helpers.proposals import HALVES, PLAYERS, POW2, Clock, new_command, prepare_server

DAY = 24 * 3_600_000
SECRET = replace(POW2, listed=False)


# against a model


class Model(RuleBasedStateMachine):
    """What challenges do, beside plain lists and dictionaries that say what they should."""

    ids = Bundle("ids")
    accounts = st.sampled_from(PLAYERS)
    client: Redis

    def __init__(self) -> None:
        super().__init__()
        self.client.flushall()
        prepare_server(self.client)
        self.clock = Clock()
        self.challenges = ChallengeStore(self.client, self.clock)
        self.known: dict[str, Challenge] = {}
        self.forgotten: set[tuple[str, bytes]] = set()
        """Full challenges, and the accounts erased that play in them still."""

    def update(self, id_: str, **changes: object) -> None:
        self.known[id_] = replace(self.known[id_], **changes)

    def waits(self, id_: str) -> bool:
        """Whether it is open still."""
        one = self.known[id_]
        return one.state is ChallengeState.OPEN and self.clock.now < one.created + OPEN_MS

    @rule(target=ids, account=accounts, proposal=st.sampled_from([POW2, HALVES, SECRET]))
    def open(self, account: bytes, proposal: Proposal) -> str:
        self.clock.now += 1  # so that no two are of one age
        challenge = self.challenges.open(account, proposal, new_command())
        self.known[challenge.id] = Challenge(
            id=challenge.id,
            command=challenge.command,
            account=account,
            proposal=proposal,
            created=self.clock.now,
            state=ChallengeState.OPEN,
        )
        return challenge.id

    @rule(id_=ids)
    def open_again(self, id_: str) -> None:
        one = self.known.get(id_)
        if one and (self.waits(id_) or one.state is not ChallengeState.OPEN):
            assert self.challenges.open(one.account, one.proposal, one.command) == one

    @rule(id_=ids, account=accounts)
    def take(self, id_: str, account: bytes) -> None:
        one = self.known.get(id_)
        if (
            one
            and account in one.takers
            and one.state in (ChallengeState.TAKEN, ChallengeState.STARTED)
        ):
            assert self.challenges.take(id_, account) == one
        elif (
            one
            and one.account == account
            and (self.waits(id_) or one.state in (ChallengeState.TAKEN, ChallengeState.STARTED))
        ):
            refused(Code.OWN_CHALLENGE, self.challenges.take, id_, account)
        elif one is None or not self.waits(id_):
            refused(Code.UNKNOWN_CHALLENGE, self.challenges.take, id_, account)
        else:
            if account not in one.takers:
                self.update(id_, takers=(*one.takers, account))
            if len(self.known[id_].takers) + 1 == one.proposal.seats:
                self.update(id_, state=ChallengeState.TAKEN)
            assert self.challenges.take(id_, account) == self.known[id_]

    @rule(id_=ids, account=accounts)
    def withdraw(self, id_: str, account: bytes) -> None:
        one = self.known.get(id_)
        if one is None or (one.state is ChallengeState.OPEN and not self.waits(id_)):
            refused(Code.UNKNOWN_CHALLENGE, self.challenges.withdraw, account, id_)
        elif account != one.account and account not in one.takers:
            refused(Code.NOT_A_PLAYER, self.challenges.withdraw, account, id_)
        elif one.state in (ChallengeState.TAKEN, ChallengeState.STARTED):
            refused(Code.ALREADY_STARTED, self.challenges.withdraw, account, id_)
        else:
            if account == one.account:
                self.update(id_, state=ChallengeState.WITHDRAWN)
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
        newest = sorted(self.known.values(), key=lambda one: one.created, reverse=True)
        waiting = [one for one in newest if self.waits(one.id)]
        full = [one for one in newest if one.state is ChallengeState.TAKEN]
        listed = [one for one in waiting if one.proposal.listed]
        assert self.challenges.list_open(count=99) == listed
        for game in ("pow2", "halves"):
            of_game = [one for one in listed if one.proposal.game == game]
            assert self.challenges.list_open(game, count=99) == of_game
        assert self.challenges.full() == full[::-1]
        for account in PLAYERS:
            own = [one for one in newest if one in waiting or one in full]
            assert self.challenges.of(account) == [
                one
                for one in own
                if account in one.players and (one.id, account) not in self.forgotten
            ]


def test_challenges_do_what_a_plain_model_does(redis_client):
    class OnServer(Model):
        client = redis_client

    run_state_machine_as_test(
        OnServer, settings=settings(max_examples=25, stateful_step_count=25, deadline=None)
    )
