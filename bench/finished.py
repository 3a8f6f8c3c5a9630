"""Matches that are over, written in bulk: into the server, and their leaves into the published log.

Each is stored as its commits would have left it, and each log as one that was trimmed. A game is decided
once, and its events are chained for each match, which takes a small part of the time that playing takes.
The leaves are spread as in correspondence play: all matches of a chunk move in turn, each time in another
order, so that nearly each leaf of a match is in another bundle.
"""

import os
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final, NamedTuple

import redis
from msgspec.structs import replace

from bench.baselines.redis_only import decide_all
from bench.harness import SHARDS
from bench.published import SECRET
from bench.workload import PlannedGame, endless, moves, resignations, starts
from domain.clocks.time_control import TimeControl
from domain.match.commands import CommandEnvelope, command_digest, encode_command
from domain.match.events import NO_HASH, EventEnvelope, MatchStarted, encode_event, leaf_hash
from domain.match.history import Snapshot, check_chain, pack_snapshot
from domain.match.state import MatchState
from infra.log.log_writer import LogWriter
from infra.objects.files import FileObjects
from infra.redis import keys
from infra.redis.clients import make_client
from infra.store import locators, snapshots
from infra.store.outcomes import encode_stored, tail

_CHUNK: Final = 5_000
"""Matches of a shard that are played at the same time."""

_SENT_TOGETHER: Final = 250
"""Matches that are sent to the server in one round trip."""


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


class ChainedMatch(NamedTuple):
    """A match that is over, of which the places in the log are known later."""

    board: int
    state: MatchState
    orders: list[CommandEnvelope]
    leaves: list[list[bytes]]
    """Those of each command."""
    indexes: list[int]
    """The places of the leaves, in their order."""


def fill(url: str, folder: Path, matches: int, plies: int) -> Iterator[int]:
    """Write matches with the boards from 1 on, and yield how many after each shard.

    The layout is that of `new_store`; shards are written by as many processes as there are processors.
    """
    work = partial(_fill_shard, url, folder, matches, plies)
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        yield from pool.map(work, range(SHARDS))


def _fill_shard(url: str, folder: Path, matches: int, plies: int, shard: int) -> int:
    boards = range(shard or SHARDS, matches + 1, SHARDS)
    writer = LogWriter(UnsyncedFiles(folder), shard, [SECRET.signer(shard)])
    order = random.Random(shard)  # noqa: S311 - a workload, not a secret
    with make_client(url) as client:
        for first in range(0, len(boards), _CHUNK):
            played = finished_matches(boards[first : first + _CHUNK], plies)
            leaves = _in_turn(played, writer.size, order)
            writer.append(leaves)
            for at in range(0, len(played), _SENT_TOGETHER):
                _store(client, shard, played[at : at + _SENT_TOGETHER])
            client.xadd(
                keys.log(shard),
                {"l": leaves[-1]},
                f"{writer.size - 1}-1",
                maxlen=1,
                approximate=False,
            )
    return len(boards)


def finished_matches(boards: Sequence[int], plies: int) -> list[ChainedMatch]:
    """Return matches of so many plies that end by a resignation, all with the usual clocks."""
    decided: dict[int, Snapshot] = {}
    (model,) = endless(1, plies)
    prepared = decide_all(_orders(model), decided)
    events = check_chain(model.board, [leaf for _, write in prepared for leaf in write.leaves])
    groups = [list(group) for _, group in groupby(events, lambda event: event.command)]
    state = decided[model.board].state
    return [
        _chained(replace(model, board=board, seats=endless(1, 0, board)[0].seats), groups, state)
        for board in boards
    ]


def _orders(game: PlannedGame) -> list[CommandEnvelope]:
    return [*starts([game], TimeControl()), *moves([game]), *resignations([game])]


def _chained(
    game: PlannedGame, groups: Sequence[Sequence[EventEnvelope]], state: MatchState
) -> ChainedMatch:
    """Return the match of a game, by the events of another with the same moves."""
    orders, leaves, head = _orders(game), [], NO_HASH
    for order, group in zip(orders, groups, strict=True):
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
    return ChainedMatch(game.board, replace(state, seats=game.seats), orders, leaves, [])


def _in_turn(played: Sequence[ChainedMatch], index: int, chance: random.Random) -> list[bytes]:
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


def _store(client: redis.Redis, shard: int, played: Sequence[ChainedMatch]) -> None:
    """Write what Redis has of matches."""
    pipe: Any  # redis-py types no part of its pipelines
    with client.pipeline(transaction=False) as pipe:
        for match in played:
            board, events = match.board, [leaf for rows in match.leaves for leaf in rows]
            packed = pack_snapshot(Snapshot(leaf_hash(events[-1]), match.state))
            pipe.set(keys.snapshot(shard, board), snapshots.with_marks(packed.state, b""))
            pipe.set(keys.moves(shard, board), packed.moves)
            pipe.set(keys.turns(shard, board), packed.turns)
            pipe.set(keys.locator(shard, board), locators.encode(match.indexes))
            pipe.rpush(keys.events(shard, board), *events)
            pipe.hset(keys.outcomes(shard, board), mapping=_outcomes(match))
            pipe.zadd(keys.ended(shard), {str(board): match.state.at})
        pipe.execute()


def _outcomes(match: ChainedMatch) -> dict[bytes, bytes]:
    found, seq = {}, 0
    for order, leaves in zip(match.orders, match.leaves, strict=True):
        digest = command_digest(encode_command(order))
        found[order.id] = encode_stored(digest, match.indexes[seq], tail("", seq + 1))
        seq += len(leaves)
    return found
