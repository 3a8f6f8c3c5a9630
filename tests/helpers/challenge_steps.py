"""Challenges on a client whose steps are watched, and what else happens to them."""

from collections.abc import Callable
from contextlib import closing

from redis import Redis

from infra.people.challenges import ChallengeStore
from infra.redis import keys
from infra.valkey.server import EmbeddedServer
from tests.helpers.proposals import Clock
from tests.helpers.steps import Steps, stepped_client


def stepped(valkey: EmbeddedServer, steps: Steps, call: Callable[[ChallengeStore], object]) -> None:
    """Call with challenges on a client that `steps` watches."""
    client, begin = stepped_client(valkey.url)
    with closing(client):
        begin(steps)
        call(ChallengeStore(client, Clock()))


def start_all(challenges: ChallengeStore) -> None:
    for challenge in challenges.full():
        challenges.mark_started(challenge.id, 1)


def delete_account(client: Redis, account: bytes) -> None:
    """As accounts are deleted: what is under the id before the record goes, and after it."""
    challenges = ChallengeStore(client, Clock())
    challenges.forget(account)
    client.delete(keys.account(account))
    challenges.forget(account)
