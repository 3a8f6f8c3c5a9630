"""The context of decisions by which matches may start: seeds, kept texts, players on vacation.

Also which texts could not be revealed, because no browser with them was seen.
"""

import redis

from domain.fairness import ChainSeed
from domain.match.commands import CommandEnvelope, StartMatch
from domain.match.decision import DecisionContext
from domain.match.start import accounts_needed, needs_seed, sealed_seed
from domain.match.state import MatchState
from domain.rules import Seat
from infra.people.accounts.vacations import on_vacation
from infra.people.seen_texts import SeenTexts
from infra.store.draw_texts import DrawTexts
from infra.store.log_gate import LogGate
from infra.store.port import ShardClosedError
from infra.store.seed_chains import LostSeedsError, SeedChains


class StartContexts:
    """The contexts that one drain needs; `client` is of the server that has the accounts."""

    def __init__(
        self, seeds: SeedChains | None, client: redis.Redis, gate: LogGate | None = None
    ) -> None:
        self._seeds = seeds
        self._gate = gate
        self._client = client
        self._words = DrawTexts(client)
        self._seen = SeenTexts(client)
        self._last_seed: dict[int, ChainSeed] = {}
        """The last seed of each shard that the batch uses."""

    def begin_batch(self) -> None:
        """Begin another batch."""
        self._last_seed.clear()

    def context_of(
        self, shard: int, sent: CommandEnvelope, state: MatchState, received: int
    ) -> DecisionContext | None:
        """Return the context of a command; None if no match can start by it.

        Vacations are looked up here, so that they count for each front end.
        """
        accounts = accounts_needed(sent, state)
        if not accounts:
            return None
        kept = {}
        if state.started or (isinstance(sent.command, StartMatch) and sent.command.gather):
            kept = {seat: self._words.text(sent.match, one) for seat, one in enumerate(accounts)}
        # a match of one player has no clock
        absent = on_vacation(self._client, accounts, received) if len(accounts) > 1 else {}
        seed = self._seed(shard, sent, state)
        waits = state.waits if state.sealed else ()
        unseen = self._seen.unseen(sent.match, state.seats, waits) if waits else frozenset[Seat]()
        return DecisionContext(received, seed, stored_texts=kept, away=absent, unseen=unseen)

    def use_seed(self, shard: int, context: DecisionContext) -> None:
        """Note that the batch uses the seed of a context, so that the next start gets another."""
        if context.seed is not None:
            self._last_seed[shard] = context.seed

    def record_seeds(self) -> None:
        """Record outside of the store, synced, which seeds the batch uses; before its commit."""
        if self._seeds is not None:
            self._seeds.mark_used(self._last_seed)

    def _seed(self, shard: int, sent: CommandEnvelope, state: MatchState) -> ChainSeed | None:
        """Return the seed that a command may need: the shard's next, or the match's sealed one.

        Raises `ShardClosedError` for a closed shard: in data that were rolled back the newest seeds
        would seem to be used, and a new chain would be made for nothing.
        """
        sealed = sealed_seed(sent, state)
        if sealed is None and not needs_seed(sent, state):
            return None
        if self._gate and self._gate.look([shard]):
            raise ShardClosedError(f"shard {shard} is closed")
        if self._seeds is None:
            raise LostSeedsError("this drain has no seeds")
        if sealed is not None:
            return self._seeds.sealed_seed(shard, *sealed)
        return self._seeds.next(shard, self._last_seed.get(shard))
