"""Commands and writes of one match, as the contract of the stores needs them."""

from collections.abc import Sequence
from typing import Any

from domain.match.history import NO_HASH, PackedSnapshot
from domain.records import AccountId
from infra.redis import keys
from infra.store.outcomes import tail
from infra.store.port import (
    CommitResult,
    CommitUnderWay,
    InboxEntry,
    Queued,
    Store,
    Submission,
    Write,
    refusal_field,
)
from infra.store.redis_store import RedisStore
from tests.fakes.memory_store import MemoryStore

BOARD = 7
SHARD = 3
ALICE = b"alice..."
HEADS = [NO_HASH] + [bytes([n]) * 32 for n in range(1, 9)]


def id_of(number: int) -> bytes:
    return bytes([number]) * 16


def submission(number: int, board: int = BOARD, digest: bytes = b"digest..") -> Submission:
    return Submission(board, id_of(number), digest, b"payload %d" % number, ALICE, 0, "reply:1")


def moved(entry: InboxEntry, number: int, before: int, leaves: int = 1) -> Write:
    """A commit of `leaves` events by command `number` on the head after event `before`."""
    return Write(
        shard=entry.shard,
        entry=entry.id,
        board=BOARD,
        id=id_of(number),
        head=HEADS[before],
        digest=b"digest..",
        tail=tail("", before + 1, ""),
        leaves=tuple(b"event %d" % (before + 1 + i) for i in range(leaves)),
        snapshot=PackedSnapshot(
            HEADS[before + leaves] + b"state", b" move" * leaves, b"t" * leaves
        ),
    )


def refused(entry: InboxEntry, number: int, before: int) -> Write:
    return Write(
        shard=entry.shard,
        entry=entry.id,
        board=BOARD,
        id=id_of(number),
        head=HEADS[before],
        digest=b"digest..",
        tail=tail("illegal-move", before, "no"),
        leaves=(b"refusal",),
        snapshot=None,
        refusal_field=refusal_field(ALICE, 0),
        actor=ALICE,
        kept=b"command %d" % number,
    )


def queue(store: Store, *numbers: int) -> list[InboxEntry]:
    for answer in store.submit([submission(number) for number in numbers]):
        assert isinstance(answer, Queued)
    return store.read_inbox([SHARD], 10)


def refusals_counted(store: Store, board: int, actor: AccountId, ply: int) -> int:
    """Return the number of a player's refusals at a ply."""
    if isinstance(store, MemoryStore):
        return store.count_refusals(board, actor, ply)
    client: Any = store._client  # type: ignore[attr-defined]
    name = keys.refusals(store.layout().shard_of(board), board)
    return int(client.hget(name, refusal_field(actor, ply)) or 0)


def attempts_counted(store: Store, shard: int) -> dict[str, int]:
    """Return the attempts at the suspects of a shard, by their inbox entries."""
    if isinstance(store, MemoryStore):
        return dict(store.attempts(shard))
    client: Any = store._client  # type: ignore[attr-defined]
    found = client.hgetall(keys.attempts(shard))
    return {entry.decode(): int(count) for entry, count in found.items()}


class CommitsInOne(RedisStore):
    """A store whose `commit` a test overrides: what a drain begins to commit goes through it, too."""

    def begin_commit(self, writes: Sequence[Write]) -> CommitUnderWay:
        results = self.commit(writes)
        return lambda: results

    def commit(self, writes: Sequence[Write]) -> list[CommitResult]:
        return super().begin_commit(writes)()
