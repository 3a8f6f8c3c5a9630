"""Commands and writes of one match, as the contract of the stores needs them."""

from domain.match.events import NO_HASH
from domain.match.history import PackedSnapshot
from infra.store.outcomes import tail
from infra.store.port import (
    InboxEntry,
    Queued,
    Store,
    Submission,
    Write,
    refusal_field,
)

BOARD = 7


SHARD = 3


ALICE = b"alice..."


HEADS = [NO_HASH] + [bytes([n]) * 32 for n in range(1, 9)]


def id_of(number: int) -> bytes:
    return bytes([number]) * 16


def submission(number: int, board: int = BOARD, digest: bytes = b"digest..") -> Submission:
    return Submission(board, id_of(number), digest, b"payload %d" % number, ALICE, 0, "door:1")


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
    )


def queue(store: Store, *numbers: int) -> list[InboxEntry]:
    for answer in store.submit([submission(number) for number in numbers]):
        assert isinstance(answer, Queued)
    return store.read_inbox([SHARD], 10)
