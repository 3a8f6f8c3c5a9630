"""Many matches, written in bulk: as their commits and the projections would have left them.

A game is decided once, and its events are chained for each match, which takes a small part of the time that playing
takes. Logs are as those that were published and trimmed: the server has the last leaf of each. The leaves of a log are
spread as in correspondence play: all matches of a chunk move in turn, each time in another order, so that nearly each
leaf of a match is in another bundle.
"""

import os
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

import msgspec
import redis
from msgspec.structs import replace

from bench.harness import SHARDS
from bench.published import SECRET
from bench.workload import PlannedGame, endless, moves, resignations, starts
from domain.clocks.time_control import TimeControl
from domain.match.commands import CommandEnvelope, command_digest, encode_command
from domain.match.decide import decide
from domain.match.decision import Decision
from domain.match.events import MatchStarted
from domain.match.history import (
    EMPTY_SNAPSHOT,
    NO_HASH,
    EventEnvelope,
    Snapshot,
    chain_events,
    decode_event,
    encode_event,
    leaf_hash,
    pack_snapshot,
)
from domain.match.state import MatchState, next_due
from domain.records import AccountId
from infra.log.log_writer import LogWriter
from infra.objects.files import FileObjects
from infra.projections import finished_matches, match_lists
from infra.projections.buckets import HISTORY, LISTS, SPECS, Checkpoint, encode
from infra.projections.finished_matches import FinishedMatchRow, lists_of
from infra.projections.generations import Generation, Generations
from infra.projections.match_list_fold import evolve, memberships
from infra.projections.match_lists import MatchListRow
from infra.projections.projection import Fact, MatchSetup
from infra.redis import keys
from infra.redis.clients import make_client
from infra.settings.game_packages import load_games
from infra.store import locators, snapshots
from infra.store.outcomes import encode_stored, tail
from infra.store.watermarks import PublishedSizes

_CHUNK: Final = 5_000
"""Matches of a shard that are played at the same time."""

_SENT_TOGETHER: Final = 250
"""Matches that are sent to the server in one round trip."""

_READ_TOGETHER: Final = 1_000

_DAY: Final = 86_400_000
_LONGEST: Final = 14 * _DAY
"""A match that is over went on for so long at most, ms."""


class Plan(msgspec.Struct, frozen=True):
    """Which matches to write: boards `first` to `last`."""

    first: int
    last: int
    plies: int
    over: bool
    """Whether they have ended."""
    players: int
    began: int
    """When the first one began, ms; the others follow evenly."""
    every: int
    """Ms from the beginning of one to that of the next."""

    def boards_of(self, shard: int) -> range:
        """Return the boards of a shard."""
        start = self.first + (shard - self.first) % SHARDS
        return range(start, self.last + 1, SHARDS)

    def seats_of(self, board: int) -> tuple[AccountId, AccountId]:
        """Return two players who meet by chance, the same each time."""
        one, other = random.Random(board).sample(range(self.players), 2)  # noqa: S311 - a workload
        return account(one), account(other)


def account(number: int) -> AccountId:
    """Return the id of a player."""
    return b"P%07d" % number


class UnsyncedFiles(FileObjects):
    """A folder whose objects are not synced: what publishing costs is measured by `bench publish`."""

    def create(self, name: str, data: bytes) -> None:
        """Write an object."""
        file = self._file(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)

    def replace(self, name: str, data: bytes, before: bytes | None) -> None:  # noqa: ARG002 - one writer
        """Write an object."""
        self.create(name, data)


class _Model(msgspec.Struct, frozen=True):
    """A game that was decided, of which the others of its chunk are copies."""

    game: PlannedGame
    groups: tuple[tuple[EventEnvelope, ...], ...]
    """The events of each command."""
    state: MatchState
    running: MatchListRow
    """Its row while it runs."""

    @property
    def events(self) -> list[EventEnvelope]:
        """Return all events in order."""
        return [event for group in self.groups for event in group]


class _Copy(msgspec.Struct, frozen=True):
    """A match, of which the places in the log are known later."""

    game: PlannedGame
    orders: list[CommandEnvelope]
    leaves: list[list[bytes]]
    """Those of each command."""
    indexes: list[int]
    """The places of the leaves, in their order."""


def begin_projections(client: redis.Redis) -> None:
    """Create an empty generation of each projection, which is read."""
    for spec in SPECS:
        generations = Generations(client, spec)
        generation = generations.begin("bench", SHARDS)
        zero = Checkpoint.zero(spec, SHARDS)
        if not generations.promote(generation, [zero] * generation.buckets, [0] * SHARDS, "bench"):
            raise RuntimeError(f"the projection {spec.name} could not be begun")


def fill(client: redis.Redis, url: str, folder: Path, plan: Plan) -> Iterator[int]:
    """Write the matches, and yield how many after each shard; projections have read all then.

    The layout is that of `new_store`; shards are written by as many processes as there are processors.
    """
    work = partial(_fill_shard, url, folder, plan)
    ends = []
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn"), load_games) as pool:
        for count, end in pool.map(work, range(SHARDS)):
            ends.append(end)
            yield count
    client.set(keys.BOARDS, plan.last)
    for spec in SPECS:
        generation = _live(client, spec)
        for bucket in generation.all:
            client.set(bucket.checkpoint_key, encode(Checkpoint(spec.version, tuple(ends))))
    _settle(client, plan.last)


def _settle(client: redis.Redis, boards: int) -> None:
    """Read all rows once: a hash that has just grown moves to its larger table a bit with each read, which takes longer."""
    lists, history = (_live(client, spec).bucket(0) for spec in (LISTS, HISTORY))
    for first in range(1, boards + 1, _READ_TOGETHER):
        some = list(range(first, first + _READ_TOGETHER))
        client.hmget(lists.key(match_lists.ROWS), some)
        client.hmget(history.key(finished_matches.ROWS), some)


def _live(client: redis.Redis, spec: Any) -> Generation:
    live = Generations(client, spec).live()
    assert live is not None
    return live[1]


def _fill_shard(url: str, folder: Path, plan: Plan, shard: int) -> tuple[int, int]:
    """Write the matches of a shard; return their number, and where its log ends."""
    boards = plan.boards_of(shard)
    writer = LogWriter(UnsyncedFiles(folder), shard, [SECRET.signer(shard)])
    writer.load()
    chance = random.Random(f"{shard} {plan.first}")  # noqa: S311 - a workload, not a secret
    with make_client(url) as client:
        lists, history = _live(client, LISTS), _live(client, HISTORY)
        for first in range(0, len(boards), _CHUNK):
            some = boards[first : first + _CHUNK]
            model = _decided(plan, plan.began + (some[0] - 1) * plan.every)
            played = [_copy(model, plan, board) for board in some]
            leaves = _in_turn(played, writer.size, chance)
            writer.append(leaves)
            for at in range(0, len(played), _SENT_TOGETHER):
                with client.pipeline(transaction=False) as pipe:
                    for match in played[at : at + _SENT_TOGETHER]:
                        _queue_match(pipe, shard, match, model)
                        if plan.over:
                            ended = plan.began + match.game.board * plan.every
                            ended += chance.randrange(_LONGEST)
                            pipe.zadd(keys.ended(shard), {str(match.game.board): ended})
                            _queue_finished_row(pipe, history, match, model, ended)
                        else:
                            _queue_running_row(pipe, lists, match, model)
                    pipe.execute()
            last = {"l": leaves[-1]}
            client.xadd(keys.log(shard), last, f"{writer.size - 1}-1", maxlen=1, approximate=False)
        PublishedSizes(client, client).record(shard, writer.size, writer.root)
    return len(boards), writer.size


def _decided(plan: Plan, at: int) -> _Model:
    """Return a game that began at a time, with a minute for each ply."""
    (game,) = endless(1, plan.plies)
    setup = row = None
    snapshot, groups = EMPTY_SNAPSHOT, []
    for order in _orders(game, over=plan.over):
        decision = decide(order, snapshot.state)
        if not isinstance(decision, Decision):
            raise RuntimeError(f"a move was refused: {decision.sentence}")
        leaves, snapshot = chain_events(order, decision, snapshot, at)
        groups.append(tuple(map(decode_event, leaves)))
        at += 60_000
        for event in groups[-1]:
            if setup is None:
                state = snapshot.state
                rules = state.rules
                setup = MatchSetup(rules, rules.partition("/")[0], state.options, state.seats)
            row = evolve(row, Fact(event, setup))
    assert row is not None
    return _Model(game, tuple(groups), snapshot.state, row)


def _orders(game: PlannedGame, *, over: bool) -> list[CommandEnvelope]:
    end = resignations([game]) if over else ()
    return [*starts([game], TimeControl()), *moves([game]), *end]


def _copy(model: _Model, plan: Plan, board: int) -> _Copy:
    """Return the match of a board, by the events of another with the same moves."""
    game = replace(model.game, board=board, seats=plan.seats_of(board))
    orders, leaves, head = _orders(game, over=plan.over), [], NO_HASH
    for order, group in zip(orders, model.groups, strict=True):
        rows = []
        for event in group:
            body = event.body
            if isinstance(body, MatchStarted):
                body = replace(body, seats=game.seats)
            changed = EventEnvelope(
                event.schema, game.board, event.seq, event.at, order.id, order.actor, head, body
            )
            rows.append(encode_event(changed))
            head = leaf_hash(rows[-1])
        leaves.append(rows)
    return _Copy(game, orders, leaves, [])


def _in_turn(played: Sequence[_Copy], index: int, chance: random.Random) -> list[bytes]:
    """Return the leaves in the order of the log, whose next index is given, and note their places."""
    found: list[bytes] = []
    turn = list(played)
    for number in range(len(played[0].leaves)):
        chance.shuffle(turn)
        for match in turn:
            for leaf in match.leaves[number]:
                match.indexes.append(index + len(found))
                found.append(leaf)
    return found


def _queue_match(pipe: Any, shard: int, match: _Copy, model: _Model) -> None:
    """Queue the writes of what the server has of a match."""
    board, events = match.game.board, [leaf for rows in match.leaves for leaf in rows]
    state = replace(model.state, seats=match.game.seats)
    packed = pack_snapshot(Snapshot(leaf_hash(events[-1]), state))
    pipe.set(keys.snapshot(shard, board), snapshots.with_marks(packed.state, b""))
    pipe.set(keys.moves(shard, board), packed.moves)
    pipe.set(keys.turns(shard, board), packed.turns)
    pipe.set(keys.locator(shard, board), locators.encode(match.indexes))
    pipe.rpush(keys.events(shard, board), *events)
    pipe.hset(keys.outcomes(shard, board), mapping=_outcomes(match))
    if due := next_due(state):
        pipe.zadd(keys.due(shard), {str(board): due})


def _outcomes(match: _Copy) -> dict[bytes, bytes]:
    found, seq = {}, 0
    for order, leaves in zip(match.orders, match.leaves, strict=True):
        digest = command_digest(encode_command(order))
        found[order.id] = encode_stored(digest, match.indexes[seq], tail("", seq + 1))
        seq += len(leaves)
    return found


def _queue_running_row(pipe: Any, lists: Generation, match: _Copy, model: _Model) -> None:
    """Queue the writes of the projection `lists`."""
    board, seats = match.game.board, match.game.seats
    row = replace(model.running, board=board, seats=seats)
    bucket = lists.bucket(0)
    pipe.hset(bucket.key(match_lists.ROWS), str(board), match_lists.pack(row))
    places = memberships(row)
    for (_, key, member), score in places.items():
        pipe.zadd(bucket.key(key), {member: score})
    pipe.sadd(bucket.names_key, match_lists.ROWS, *(key for _, key, _ in places))


def _queue_finished_row(
    pipe: Any, history: Generation, match: _Copy, model: _Model, at: int
) -> None:
    """Queue the writes of the projection `history`."""
    state, seats, board = model.state, match.game.seats, match.game.board
    assert state.result is not None
    winners = state.result.winners
    row = FinishedMatchRow(
        board=board,
        at=at,
        rules=state.rules,
        options=state.options,
        seats=seats,
        winners=winners,
        ranks=tuple(1 if seat in winners else 2 for seat in range(len(seats))),
        reason=state.result.reason,
        plies=state.ply,
        rated=state.rated,
        updated=state.at,
    )
    bucket = history.bucket(0)
    pipe.hset(bucket.key(finished_matches.ROWS), str(board), finished_matches.pack(row))
    names = [name for _, name in lists_of(row.game, seats)]
    for name in names:
        pipe.zadd(bucket.key(name), {str(board): at})
    pipe.sadd(bucket.names_key, finished_matches.ROWS, *names)


def next_move(plan: Plan, board: int) -> CommandEnvelope:
    """Return the command of the move that is next in a running match."""
    (game,) = endless(1, plan.plies + 1, board)
    *_, order = moves([replace(game, seats=plan.seats_of(board))])
    return order
