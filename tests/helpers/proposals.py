"""Players, what they challenge each other to, and a server on which they have accounts.

Challenges on a client whose steps are watched, and what else happens to them.
"""

import itertools

from redis import Redis

from infra.people.challenges import Challenge, Proposal
from infra.redis import keys, scripts

ALICE, BOB, CAROL, DAVE = PLAYERS = [bytes([number]) * 8 for number in (0xA1, 0xB0, 0xCA, 0xDA)]
POW2 = Proposal(rules="pow2/1", options=("-fast",), words=("--days=3",), seat=0)
HALVES = Proposal(rules="halves/1", seats=3, seat=1)
_COMMANDS = itertools.count(1)


class Clock:
    """A clock that the test sets, in ms."""

    def __init__(self) -> None:
        self.now = 1_700_000_000_000

    def __call__(self) -> int:
        return self.now


def prepare_server(client: Redis) -> None:
    """Teach a server the scripts, so that all calls take the same steps, and make the accounts."""
    for name in ("compare_and_set", "index_under_account"):
        client.script_load(scripts.Script(name).source)
    for account in PLAYERS:
        client.set(keys.account(account), "a record")


def new_command() -> bytes:
    return next(_COMMANDS).to_bytes(16)


def ids(found: list[Challenge]) -> list[str]:
    return [challenge.id for challenge in found]


def records(client: Redis) -> list[bytes]:
    return client.keys("{c:*")
