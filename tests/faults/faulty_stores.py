"""Stores with a seeded fault each, which the checker has to find."""

from collections.abc import Sequence

import msgspec
from redis import Redis

from domain.match.history import NO_HASH, decode_event, encode_event
from infra.durability.durability import Mode
from infra.redis import keys
from infra.store import locators, port
from infra.store.outcomes import encode_stored, parse
from infra.store.redis_store import RedisStore


class Honest(RedisStore):
    """The store as it is, which also remembers what its commits answered."""

    def __init__(self, client: Redis) -> None:
        super().__init__(client, Mode.FSYNC)
        self.client = client
        self.told: dict[bytes, bytes] = {}

    def commit(self, writes: Sequence[port.Write]) -> list[port.CommitResult]:
        results = self.really(writes)
        for write, result in zip(writes, results, strict=True):
            if not isinstance(result, port.CommitConflict):
                self.told[write.id] = result.stored
        return results

    def really(self, writes: Sequence[port.Write]) -> list[port.CommitResult]:
        return super().commit(writes)

    def append(self, write: port.Write, leaf: bytes) -> None:
        """Add an event past the commit script."""
        self.client.rpush(keys.events(write.shard, write.board), leaf)
        index = self.client.xlen(keys.log(write.shard))
        self.client.xadd(keys.log(write.shard), {"l": leaf}, f"{index}-1")
        self.client.append(keys.locator(write.shard, write.board), locators.encode([index]))


class DropsAnAcknowledged(Honest):
    def really(self, writes: Sequence[port.Write]) -> list[port.CommitResult]:
        (write,) = writes
        if not write.snapshot or decode_event(write.leaves[0]).seq != 5:
            return super().really(writes)
        self.client.xdel(keys.inbox(write.shard), write.entry)
        return [port.CommitDone(encode_stored(write.digest, 7, write.tail))]


class CommitsTwice(Honest):
    def really(self, writes: Sequence[port.Write]) -> list[port.CommitResult]:
        results = super().really(writes)
        if writes[0].snapshot and decode_event(writes[0].leaves[0]).seq == 5:
            self.append(writes[0], writes[0].leaves[0])
        return results


class LeavesAGap(Honest):
    def really(self, writes: Sequence[port.Write]) -> list[port.CommitResult]:
        (write,) = writes
        if write.snapshot and (event := decode_event(write.leaves[0])).seq == 5:
            odd = encode_event(msgspec.structs.replace(event, seq=6))
            write = msgspec.structs.replace(write, leaves=(odd, *write.leaves[1:]))
        return super().really([write])


class LosesRaces(Honest):
    """Takes whatever head the match has: what was decided on another state is committed too."""

    def really(self, writes: Sequence[port.Write]) -> list[port.CommitResult]:
        (write,) = writes
        if write.snapshot and decode_event(write.leaves[0]).seq == 5:
            # another drain, overtaken in between, has committed the same ply
            rival = msgspec.structs.replace(
                decode_event(write.leaves[0]), command=b"rival of a move!"
            )
            self.append(write, encode_event(rival))
            snapshot = self.snapshots([write.board])[0]
            head = snapshot.state[:32] if snapshot else NO_HASH
            write = msgspec.structs.replace(write, head=head)
        return super().really([write])


class ForgetsASnapshot(Honest):
    def really(self, writes: Sequence[port.Write]) -> list[port.CommitResult]:
        (write,) = writes
        before = self.client.get(keys.snapshot(write.shard, write.board))
        results = super().really(writes)
        if before and write.snapshot and decode_event(write.leaves[-1]).seq == 8:
            self.client.set(keys.snapshot(write.shard, write.board), before)
        return results


class LosesAPlace(Honest):
    def really(self, writes: Sequence[port.Write]) -> list[port.CommitResult]:
        (write,) = writes
        name = keys.locator(write.shard, write.board)
        before = self.client.get(name)
        results = super().really(writes)
        if before and write.snapshot and decode_event(write.leaves[0]).seq == 5:
            self.client.set(name, before)
        return results


class ChangesOutcomes(Honest):
    def submit(self, submissions: Sequence[port.Submission]) -> list:
        (answer,) = super().submit(submissions)
        if isinstance(answer, port.AlreadyDecided):
            found = parse(answer.stored)
            return [
                port.AlreadyDecided(
                    answer.stored.replace(b"%d:" % found.index, b"%d:" % (found.index + 1))
                )
            ]
        return [answer]
