"""What is given to decisions by which matches begin: seeds, kept texts, and who is on vacation."""

import redis

from domain.fairness import Seed
from domain.match.commands import Sent, Start
from domain.match.decide import Given, concerned, needs_seed, sealed_seed
from domain.match.state import MatchState
from infra.accounts.absences import away
from infra.seeds import LostSeedsError, Seeds
from infra.words import Words


class Beginnings:
    """Of one drain; `client` is of the server that has the accounts."""

    def __init__(self, seeds: Seeds | None, client: redis.Redis) -> None:
        self._seeds = seeds
        self._client = client
        self._words = Words(client)
        self._drawn: dict[int, Seed] = {}
        """The last seed that the batch in hand uses of each shard."""

    def clear(self) -> None:
        """Begin another batch."""
        self._drawn.clear()

    def given(self, shard: int, sent: Sent, state: MatchState, received: int) -> Given | None:
        """Return what a decision is given; None for a command by which no match can begin.

        Who is on vacation is looked up here, whatever way the command came.
        """
        accounts = concerned(sent, state)
        if not accounts:
            return None
        kept = {}
        if state.started or (isinstance(sent.command, Start) and sent.command.gather):
            kept = {seat: self._words.text(sent.match, one) for seat, one in enumerate(accounts)}
        # who plays alone has no clock
        absent = away(self._client, accounts, received) if len(accounts) > 1 else {}
        return Given(received, self._seed(shard, sent, state), kept=kept, away=absent)

    def used(self, shard: int, given: Given) -> None:
        """Note that the batch in hand uses the seed that was given."""
        if given.seed is not None:
            self._drawn[shard] = given.seed

    def mark(self) -> None:
        """Note outside of the store, synced, which seeds the batch in hand uses."""
        if self._seeds is not None:
            self._seeds.mark(self._drawn)

    def _seed(self, shard: int, sent: Sent, state: MatchState) -> Seed | None:
        """Return the seed that a command may need: the shard's next, or the one that was sealed."""
        sealed = sealed_seed(sent, state)
        if sealed is None and not needs_seed(sent, state):
            return None
        if self._seeds is None:
            raise LostSeedsError("this drain was given no seeds")
        if sealed is not None:
            return self._seeds.sealed(shard, *sealed)
        return self._seeds.next(shard, self._drawn.get(shard))
