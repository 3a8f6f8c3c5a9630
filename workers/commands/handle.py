"""The command handler: load the match, decide the command, chain the events, return the write.

It changes no match: `workers.commands.core` commits the writes.

The context of decisions by which matches may start: seeds, kept texts, players on vacation.

Also which texts could not be revealed, because no browser with them was seen.
"""

import logging
from collections.abc import Collection, Iterable
from enum import Enum, auto
from typing import Final

import msgspec
import redis
from cachetools import LRUCache
from rq.timeouts import BaseTimeoutException

from domain import aggregates
from domain.aggregates import AnySnapshot, AnyState, Decider
from domain.fairness import ChainSeed
from domain.match import commands, conditional_moves
from domain.match.commands import CommandEnvelope, PlayMove, StartMatch, SubstitutePlayer
from domain.match.decision import INTERNAL, Decision, DecisionContext, Rejection
from domain.match.events import SetBack, Undone
from domain.match.history import PackedSnapshot, Snapshot, encode_refusal
from domain.match.start import accounts_needed, needs_seed, sealed_seed
from domain.match.state import MatchState, initial
from domain.rules import Seat
from infra.people.accounts.record import on_vacation
from infra.people.seen_texts import SeenTexts
from infra.process.liveness import LIVENESS
from infra.process.log_context import LoggedWith
from infra.store import outcomes
from infra.store.draw_texts import DrawTexts
from infra.store.log_gate import LogGate
from infra.store.port import (
    CommitDone,
    CommitResult,
    InboxEntry,
    ShardClosedError,
    Store,
    Write,
    refusal_field,
)
from infra.store.refused_commands import command_to_keep
from infra.store.seed_chains import LostSeedsError, SeedChains
from workers.commands.decision_limits import LIMITED


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
        self, shard: int, sent: CommandEnvelope, state: AnyState, received: int
    ) -> DecisionContext | None:
        """Return the context of a command; None if no match and no tournament with lots can start by it.

        Vacations are looked up here, so that they count for each front end.
        """
        if isinstance(sent.command, PlayMove):
            return None  # found out at once, because most commands are moves
        if aggregates.may_draw(sent, state):
            return DecisionContext(received, self._next_seed(shard))
        accounts = accounts_needed(sent, state) if isinstance(state, MatchState) else ()
        if not accounts or not isinstance(state, MatchState):
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
        if sealed is not None:
            return self._open_seeds(shard).sealed_seed(shard, *sealed)
        return self._next_seed(shard) if needs_seed(sent, state) else None

    def _next_seed(self, shard: int) -> ChainSeed:
        """Return the shard's next seed; refused as `_seed` is."""
        return self._open_seeds(shard).next(shard, self._last_seed.get(shard))

    def _open_seeds(self, shard: int) -> SeedChains:
        """Return the seeds, if the shard is open."""
        if self._gate and self._gate.look([shard]):
            raise ShardClosedError(f"shard {shard} is closed")
        if self._seeds is None:
            raise LostSeedsError("this drain has no seeds")
        return self._seeds


logger = logging.getLogger(__name__)

CACHE_SIZE: Final = 1_024
"""Matches that a handler remembers as its last commands left them."""


class Undecided(Enum):
    """Why there is no decision of a command, which stays in its inbox."""

    FAILED = auto()
    """Deciding it failed: it is tried again a few times, and then refused."""
    POSTPONED = auto()
    """A secret of the seeds or a server is missing: it waits until that is back, however long."""


class Task(msgspec.Struct, frozen=True):
    """A command and its inbox entry."""

    entry: InboxEntry
    sent: CommandEnvelope


def read_task(store: Store, entry: InboxEntry) -> Task | None:
    """Return the command of an inbox entry; one that can't be decoded is set aside for an operator."""
    try:
        return Task(entry, commands.decode_command(entry.payload))
    except msgspec.MsgspecError:
        logger.exception(
            "ALARM: inbox entry %s of shard %d can't be decoded; it is set aside",
            entry.id,
            entry.shard,
        )
        store.dead_letter(entry)
        return None


class _LoadedMatch(msgspec.Struct, frozen=True):
    """A match as its next command is decided on it."""

    snapshot: AnySnapshot
    conditional_moves: bytes
    """The conditional moves of its seats, packed."""
    damaged: bool = False
    """Whether its snapshot can't be read, and only the head is known: enough for a refusal."""


class CommandHandler:
    """Handles commands batch by batch: `load`, `handle` each, commit the writes, `remember`."""

    def __init__(self, store: Store, contexts: StartContexts, decider: Decider) -> None:
        self._store = store
        self._contexts = contexts
        self._decider = decider
        self._matches: dict[int, _LoadedMatch] = {}
        """The matches of the batch."""
        self._cache: LRUCache[int, _LoadedMatch] = LRUCache(CACHE_SIZE)
        """Another drain may have changed them since, but a commit compares the heads."""

    def load(self, boards: Collection[int]) -> None:
        """Load the matches of a batch. They are not in the cache until `remember`."""
        self._contexts.begin_batch()
        cached = {board: self._cache.pop(board, None) for board in boards}
        self._matches = {board: match for board, match in cached.items() if match}
        missing = [board for board in boards if board not in self._matches]
        found = self._store.snapshots_with_conditional_moves(missing) if missing else []
        for board, (data, moves) in zip(missing, found, strict=True):
            self._matches[board] = _load(board, data, moves)

    def handle(self, task: Task, verdict: Rejection | None = None) -> Write | Undecided:
        """Return what to commit for a command, or why it is not decided, which is logged.

        With a `verdict` that is the decision. The next command of the match is decided on the
        state after this one.
        """
        LIVENESS.step()
        sent = task.sent
        with LoggedWith(board=sent.match, command_id=sent.id, account=sent.actor):
            write = self._decide(task, verdict)
            if isinstance(write, Undecided):
                logger.debug("a command is not decided: %s", write.name)
            else:
                logger.debug(
                    "a command is decided: %s", "accepted" if write.snapshot else "refused"
                )
            return write

    def _decide(self, task: Task, verdict: Rejection | None) -> Write | Undecided:
        sent, received, shard = task.sent, task.entry.received, task.entry.shard
        match = self._matches[sent.match]
        if match.damaged:
            verdict = INTERNAL
        elif not match.snapshot.state.seq:
            first = aggregates.before_first(sent.command)
            match = msgspec.structs.replace(match, snapshot=first)
        try:
            with LIMITED:
                if verdict is not None:
                    write, after = _chain(task, match, verdict)
                else:
                    state = match.snapshot.state
                    context = self._contexts.context_of(shard, sent, state, received)
                    if context is None or isinstance(sent.command, SubstitutePlayer):
                        replies = conditional_moves.unpack(match.conditional_moves)
                        context = (
                            DecisionContext(received, conditional_moves=replies)
                            if context is None
                            else msgspec.structs.replace(context, conditional_moves=replies)
                        )
                    decision = aggregates.decide(sent, state, context, self._decider)
                    write, after = _chain(task, match, decision)
                    if write.k:
                        self._contexts.use_seed(shard, context)
        except (LostSeedsError, ShardClosedError) as error:
            # no alarm, because one is logged for all commands that need the secret, or for the shard
            logger.debug("match %d waits: %s", sent.match, error)
            return Undecided.POSTPONED
        except (redis.ConnectionError, redis.TimeoutError) as error:
            # in a cluster the match may be on another node than what its start needs
            logger.warning("match %d waits: a server does not answer (%s)", sent.match, error)
            return Undecided.POSTPONED
        except BaseTimeoutException:
            raise  # RQ ends the job, which is not the command's failure
        except Exception:
            LIMITED.leave()
            logger.exception("match %d: deciding command %s failed", sent.match, sent.id.hex())
            return Undecided.FAILED
        self._matches[sent.match] = after
        return write

    def record_seeds(self) -> None:
        """Record outside of the store, synced, which seeds the batch uses; before its commit."""
        self._contexts.record_seeds()

    def remember(self, writes: Iterable[tuple[Write, CommitResult]]) -> None:
        """Cache the matches of which everything was written as it was decided."""
        as_decided: dict[int, bool] = {}
        for write, result in writes:
            as_decided[write.board] = as_decided.get(write.board, True) and isinstance(
                result, CommitDone
            )
        for board, match in self._matches.items():
            if as_decided.get(board) and not match.damaged:
                self._cache[board] = match


def _load(board: int, data: PackedSnapshot | None, moves: bytes) -> _LoadedMatch:
    try:
        return _LoadedMatch(aggregates.unpack(data), moves)
    except msgspec.MsgspecError:
        logger.exception("ALARM: the snapshot of match %d can't be read", board)
        head = data.state[:32] if data else b""
        return _LoadedMatch(Snapshot(head, initial()), moves, damaged=True)


def _chain(
    task: Task, match: _LoadedMatch, decision: Decision | Rejection
) -> tuple[Write, _LoadedMatch]:
    """Return the write of a decision, and the match after it."""
    entry, sent, snapshot = task.entry, task.sent, match.snapshot
    state, left = snapshot.state, match.conditional_moves
    seed, packed, rewritten, ended, refused, kept = None, None, False, 0, "", b""
    if isinstance(decision, Decision):
        leaves, after = aggregates.chain(sent, decision, snapshot, entry.received)
        tail = outcomes.tail("", state.seq + 1)
        if not isinstance(sent.command, PlayMove):  # which takes nothing back, and draws nothing
            rewritten = any(isinstance(event, Undone | SetBack) for event in decision.events)
            seed = decision.seed
        packed = aggregates.pack(after, None if rewritten else state)
        ended = aggregates.ended_at(after.state)
        if decision.conditional_moves is not None:
            left = conditional_moves.pack(decision.conditional_moves)
    else:
        leaves, after = (encode_refusal(sent, decision, state.at, entry.received),), snapshot
        tail = outcomes.tail(decision.code, state.seq, decision.text)
        refused = refusal_field(sent.actor, state.ply)
        kept = command_to_keep(entry.payload)
    write = Write(
        shard=entry.shard,
        entry=entry.id,
        board=sent.match,
        id=sent.id,
        head=snapshot.head,
        digest=commands.command_digest(entry.payload),
        tail=tail,
        leaves=leaves,
        snapshot=packed,
        rewritten=rewritten,
        ended=ended,
        due=aggregates.next_due(after.state),
        conditional_before=match.conditional_moves,
        conditional_after=left,
        refusal_field=refused,
        actor=sent.actor,
        kept=kept,
        chain=seed[0] if seed else 0,
        k=seed[1] if seed else 0,
    )
    return write, _LoadedMatch(after, left, match.damaged)
