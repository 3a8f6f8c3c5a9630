"""A store of challenges on the real server, with a clock that the tests set."""

from collections.abc import Callable

import pytest
from redis import Redis

from infra.people.challenges import Challenge, ChallengeStore, Proposal
from tests.helpers.proposals import ALICE, POW2, Clock, new_command, prepare_server


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
