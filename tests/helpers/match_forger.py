"""Changes of a match that are made to fit: by somebody who can write to Redis and knows this program."""

from typing import Any

from msgspec.structs import replace

from domain.match import commands, history
from domain.match.audit import possible_commands
from domain.match.commands import CommandEnvelope, PlayMove
from domain.match.decide import decide
from domain.match.decision import Decision, DecisionContext
from domain.match.state import cache_position, next_due
from infra.redis import keys
from infra.store import locators, snapshots
from infra.store.outcomes import encode_stored, parse, tail
from tests.helpers.scrubbing import SHARDS, ScrubbedServer


class MatchForger:
    """The stored parts of a match, to be changed."""

    def __init__(self, server: ScrubbedServer, board: int) -> None:
        # redis-py types no answer precisely
        self.client: Any = server.client
        self.board = board
        self.shard = keys.shard_of(board, SHARDS)
        self.events: list[bytes] = self.client.lrange(keys.events(self.shard, board), 0, -1)

    def index_of(self, event: bytes) -> int:
        """Where an event is in the shard's log."""
        for id_, fields in self.client.xrange(keys.log(self.shard)):
            if fields[b"l"] == event:
                return int(id_.split(b"-")[0])
        raise AssertionError("the event is not in the log")

    def write(self, events: list[bytes]) -> None:
        """Store these events, and a snapshot that fits them."""
        self.client.delete(keys.events(self.shard, self.board))
        self.client.rpush(keys.events(self.shard, self.board), *events)
        state = cache_position(history.replay(events))
        packed = history.pack_snapshot(history.Snapshot(history.leaf_hash(events[-1]), state))
        marks = self.client.getrange(keys.snapshot(self.shard, self.board), 32, 32)
        data = snapshots.with_marks(packed.state, b"")
        self.client.set(keys.snapshot(self.shard, self.board), data[:32] + marks + data[33:])
        for name, text in ((keys.moves, packed.moves), (keys.turns, packed.turns)):
            self.client.delete(name(self.shard, self.board))
            if text:
                self.client.set(name(self.shard, self.board), text)
        self.client.zrem(keys.due(self.shard), self.board)
        if due := next_due(state):
            self.client.zadd(keys.due(self.shard), {self.board: due})

    def replace_leaf(self, index: int, leaf: bytes) -> None:
        """Put another leaf at an index of the log: everything from there on is written again."""
        rows = self.client.xrange(keys.log(self.shard))
        self.client.delete(keys.log(self.shard))
        for id_, fields in rows:
            self.client.xadd(
                keys.log(self.shard), {b"l": leaf} if id_ == b"%d-1" % index else fields, id=id_
            )

    def unmake(self) -> None:
        """Take the last event back, everywhere but in the published log."""
        last = self.events[-1]
        index = self.index_of(last)
        self.write(self.events[:-1])
        self.client.hdel(keys.outcomes(self.shard, self.board), history.decode_event(last).command)
        name = keys.locator(self.shard, self.board)
        places = locators.decode(self.client.get(name))
        self.client.set(name, locators.encode(one for one in places if one != index))
        self.client.xdel(keys.log(self.shard), f"{index}-1")

    def delay(self, milliseconds: int) -> None:
        """Make the last event later, and the rest fit it."""
        last = self.events[-1]
        envelope = history.decode_event(last)
        later = history.encode_event(replace(envelope, at=envelope.at + milliseconds))
        index = self.index_of(last)
        self.write([*self.events[:-1], later])
        self.replace_leaf(index, later)

    def forge(self, move: str) -> None:
        """Make another move of the last one, and the rest fit it."""
        last = self.events[-1]
        envelope = history.decode_event(last)
        before = history.Snapshot(
            history.leaf_hash(self.events[-2]), cache_position(history.replay(self.events[:-1]))
        )
        order = CommandEnvelope(self.board, envelope.command, envelope.actor, PlayMove(text=move))
        decided = decide(order, before.state, DecisionContext(envelope.at, None, None, {}, {}))  # type: ignore[arg-type]
        assert isinstance(decided, Decision)
        (other,), _ = history.chain_events(order, decided, before, envelope.at)
        index = self.index_of(last)
        self.write([*self.events[:-1], other])
        self.replace_leaf(index, other)
        command = next(iter(possible_commands(history.decode_event(other), before.state.ply)))
        digest = commands.command_digest(commands.encode_command(replace(order, command=command)))
        stored = encode_stored(digest, index, tail("", envelope.seq))
        name = keys.outcomes(self.shard, self.board)
        assert parse(self.client.hget(name, envelope.command)).index == index
        self.client.hset(name, envelope.command, stored)

    def erase(self) -> None:
        """Remove the match and its entries of the log."""
        places = locators.decode(self.client.get(keys.locator(self.shard, self.board)))
        self.client.xdel(keys.log(self.shard), *(f"{index}-1" for index in places))
        self.client.delete(*self.client.keys(f"{keys.snapshot(self.shard, self.board)}*"))
        self.client.zrem(keys.due(self.shard), self.board)
        self.client.zrem(keys.ended(self.shard), self.board)
