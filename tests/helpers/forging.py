"""A forger who can write everything in Redis, and makes all of it fit."""

from collections.abc import Callable, Sequence
from itertools import groupby

from redis import Redis

from domain.match import history
from domain.match.commands import CommandEnvelope, command_digest, encode_command
from domain.match.decide import decide
from domain.match.decision import Decision, DecisionContext
from domain.match.evolve import evolve
from domain.match.state import MatchState, cache_position
from infra.redis import keys
from infra.store import locators, outcomes, snapshots

SHARDS = 4


def without_last_command(client: Redis, board: int) -> None:
    """Unmake the last command of a match: its events, outcome, leaves, and all that follows from it."""
    _rewrite(client, board, ())


def last_command_as(client: Redis, board: int, command: CommandEnvelope, received: int) -> None:
    """Put another command in the place of the last one."""
    _rewrite(client, board, [(command, received)])


def _rewrite(client: Redis, board: int, others: Sequence[tuple[CommandEnvelope, int]]) -> None:
    shard = board % SHARDS
    events = client.lrange(keys.events(shard, board), 0, -1)
    groups = [list(g) for _, g in groupby(events, lambda data: history.decode_event(data).command)]
    last = history.decode_event(groups[-1][0])
    first = outcomes.parse(client.hget(keys.outcomes(shard, board), last.command)).index
    gone = range(first, first + len(groups[-1]))
    kept = [data for group in groups[:-1] for data in group]
    state, head = MatchState(), history.NO_HASH
    for data in kept:
        event = history.decode_event(data)
        state, head = evolve(state, event.body, event.at), history.leaf_hash(data)
    after = history.Snapshot(head, cache_position(state))
    client.hdel(keys.outcomes(shard, board), last.command)
    new: list[bytes] = []
    for order, received in others:
        decided = decide(order, after.state, DecisionContext(received))
        assert isinstance(decided, Decision), decided
        stored = outcomes.encode_stored(
            command_digest(encode_command(order)),
            first + len(new),
            outcomes.tail("", after.state.seq + 1),
        )
        leaves, after = history.chain_events(order, decided, after, received)
        new += leaves
        client.hset(keys.outcomes(shard, board), order.id, stored)
    assert len(new) <= len(gone)
    rewrite_log(
        client, shard, lambda at, leaf: leaf if at not in gone else (new[at - first :] or [None])[0]
    )
    client.delete(keys.events(shard, board))
    client.rpush(keys.events(shard, board), *kept, *new)
    packed = history.pack_snapshot(after)
    client.set(keys.snapshot(shard, board), snapshots.with_marks(packed.state, b""))
    client.set(keys.moves(shard, board), packed.moves)
    client.set(keys.turns(shard, board), packed.turns)
    indexes = locators.decode(client.get(keys.locator(shard, board)))
    left = [at for at in indexes if at not in gone or at < first + len(new)]
    client.set(keys.locator(shard, board), locators.encode(left))


def rewrite_log(client: Redis, shard: int, change: Callable[[int, bytes], bytes | None]) -> None:
    """Write a log again, with other leaves or without some."""
    rows = client.xrange(keys.log(shard))
    client.delete(keys.log(shard))
    for id_, fields in rows:
        leaf = change(int(id_.split(b"-")[0]), fields[b"l"])
        if leaf is not None:
            client.xadd(keys.log(shard), {"l": leaf}, id_)


def forget_match(client: Redis, board: int) -> None:
    """Delete a match and its leaves, the counter of boards aside."""
    shard = board % SHARDS
    indexes = set(locators.decode(client.get(keys.locator(shard, board))))
    rewrite_log(client, shard, lambda at, leaf: None if at in indexes else leaf)
    for name in client.scan_iter(f"{keys.snapshot(shard, board)}*"):
        if name.decode().removeprefix(keys.snapshot(shard, board))[:1] in ("", ":"):
            client.delete(name)
