"""Every adapter of the store does what the simplest one does, which is in memory, whatever is asked of it by chance."""

import random
from collections import Counter
from typing import Any

import pytest
from msgspec.structs import replace

from domain.errors import Code
from domain.match.history import NO_HASH, PackedSnapshot
from infra.store import port
from infra.store.layout import Layout
from infra.store.outcomes import parse, tail
from infra.store.port import CommitArchived, InboxEntry, Queued, Store, Submission, Write
from infra.store.refused_commands import RefusedId
from tests.contract.conftest import CAP
from tests.fakes.memory_store import MemoryStore
from tests.helpers.writes import attempts_counted, id_of, refusals_counted, submission

BOARDS = (3, 7, 11, 15, 4, 8)
"""Four of one shard, and two of another."""
SHARDS = range(4)
ACTORS = (b"alice...", b"bob.....")
LAID = (b"", b"", b"one", b"two")
STEPS = 120


class Twins:
    """A store and the one in memory, to which the same is done."""

    def __init__(self, store: Store, seed: int) -> None:
        self.store = store
        self.plain = MemoryStore(cap=CAP)
        self.plain.create(store.layout())
        self.chance = random.Random(seed)
        self.archived: set[int] = set()
        self.seen: Counter[str] = Counter()

    def each(self, call: str, *args: Any) -> Any:
        """Call both; the answers are equal, and one is returned."""
        found, wanted = (getattr(one, call)(*args) for one in (self.store, self.plain))
        assert found == wanted, (call, args)
        self.seen[f"{call} {wanted}"] += isinstance(wanted, bool)
        return wanted

    def often(self, share: float) -> bool:
        return self.chance.random() < share

    # what is done

    def step(self) -> None:
        acts = [self.submit, self.submit, self.commit, self.commit, self.lay, self.anchor]
        acts += [self.suspect, self.retire, self.allocate, self.forget]
        self.chance.choices(acts, [6, 6, 6, 6, 2, 2, 2, 1, 1, 1])[0]()

    def submit(self) -> None:
        new = [self.new(number) for number in range(self.chance.randrange(1, 4))]
        answers = zip(self.store.submit(new), self.plain.submit(new), new, strict=True)
        for found, wanted, one in answers:
            self.seen[type(wanted).__name__] += 1
            self.seen[getattr(wanted, "code", "")] += 1
            if one.board in self.archived:
                # which only the archive can answer
                assert not isinstance(found, Queued)
            elif isinstance(wanted, Queued):
                assert isinstance(found, Queued)
            else:
                assert found == wanted

    def new(self, number: int) -> Submission:
        """A command, now and then with an id that was used in its match."""
        board = self.chance.choice(BOARDS)
        used = [*self.plain.outcomes(board)]
        again = used and self.often(0.2)
        return replace(
            submission(0, board),
            id=self.chance.choice(used) if again else id_of(self.chance.randrange(60)),
            digest=b"another." if self.often(0.2) else b"digest..",
            payload=b"payload %d" % number,
            actor=self.chance.choice(ACTORS),
            reply_to=f"reply:{number}",
        )

    def inbox(self, shard: int) -> list[tuple[InboxEntry, InboxEntry]]:
        """What waits, in both stores."""
        both = (one.read_inbox([shard], 10) for one in (self.store, self.plain))
        pairs = [*zip(*both, strict=True)]
        for found, wanted in pairs:
            assert (found.payload, found.reply_to) == (wanted.payload, wanted.reply_to)
        return pairs

    def commit(self) -> None:
        shard = self.chance.choice((3, 3, 0))
        run, heads, laid = [], {}, {}
        boards = [board for board in BOARDS if board % 4 == shard]
        for entries in self.inbox(shard)[: self.chance.randrange(1, 4)]:
            board = self.chance.choice(boards)
            ((before, replies),) = self.plain.snapshots_with_conditional_moves([board])
            head = heads.get(board, before.state[:32] if before else NO_HASH)
            write = self.write(shard, board, head, laid.get(board, replies))
            if write.snapshot:
                heads[board], laid[board] = write.snapshot.state[:32], write.conditional_after
            run.append([replace(write, entry=one.id) for one in entries])
        if not run:
            return
        results = zip(
            self.store.commit([one for one, _ in run]),
            self.plain.commit([two for _, two in run]),
            strict=True,
        )
        for found, wanted in results:
            self.seen[type(wanted).__name__] += 1
            if isinstance(wanted, CommitArchived):
                # what had an outcome has it in the archive only
                assert isinstance(found, CommitArchived)
                said = parse(found.stored)
                over = (said.code, said.digest) == (Code.MATCH_OVER, b"digest..")
                assert over or found == wanted
            else:
                assert found == wanted

    def write(self, shard: int, board: int, head: bytes, laid: bytes) -> Write:
        """A move or a refusal, mostly decided on the match as it is."""
        actor, id_ = self.chance.choice(ACTORS), id_of(self.chance.randrange(60))
        place = Write(
            shard, "", board, id_, head if self.often(0.85) else id_of(2) * 2, b"digest..",
            tail("", self.chance.randrange(9), ""), (), None,
        )  # fmt: skip
        if self.often(0.3):
            return replace(
                place, tail=tail("no", 1, "said"), leaves=(b"refusal",), actor=actor,
                refusal_field=port.refusal_field(actor, 0), kept=self.chance.choice((b"", b"kept")),
                due=5, ended=5, conditional_before=b"any", conditional_after=b"any",
            )  # fmt: skip
        known, number = self.plain.seed_chain(shard), self.chance.randrange(1, 255)
        draws = known is not None and self.often(0.2)
        moves = self.chance.choice((b"", b" move"))
        return replace(
            place,
            leaves=tuple(b"event %d" % one for one in range(self.chance.randrange(1, 4))),
            snapshot=PackedSnapshot(bytes([number]) * 32 + b"state", moves, moves[:2]),
            rewritten=self.often(0.2),
            due=self.chance.choice((0, 1, 1)) * self.chance.randrange(2_000),
            ended=self.chance.choice((0, 1)) * self.chance.randrange(2_000),
            conditional_before=laid if self.often(0.85) else self.chance.choice((b"", b"others")),
            conditional_after=self.chance.choice(LAID),
            chain=known.chain if draws else 0,
            k=known.used + self.chance.choice((1, 1, 2)) if draws else 0,
        )  # fmt: skip

    def lay(self) -> None:
        board = self.chance.choice(BOARDS)
        ((before, laid),) = self.plain.snapshots_with_conditional_moves([board])
        head = before.state[:32] if before and self.often(0.8) else id_of(1) * 2
        before_ = laid if self.often(0.8) else b"others"
        self.each("set_conditional_moves", board, head, before_, self.chance.choice(LAID))

    def anchor(self) -> None:
        shard = self.chance.choice((3, 0))
        known = self.plain.seed_chain(shard)
        chain = (known.chain if known else 0) + self.chance.choice((1, 1, 2))
        self.each("anchor", shard, chain, bytes([chain]) * 32, b"anchor %d" % chain)

    def suspect(self) -> None:
        for found, wanted in self.inbox(3)[:1]:
            if self.often(0.2):
                for one, entry in ((self.store, found), (self.plain, wanted)):
                    one.dead_letter(entry)
                    one.reset_attempts(3, entry.id)
                return
            call = self.chance.choice(["count_attempt", "count_attempt", "reset_attempts"])
            assert getattr(self.store, call)(3, found.id) == getattr(self.plain, call)(3, wanted.id)

    def retire(self) -> None:
        shard = self.chance.choice((3, 0))
        over = self.plain.ended_boards(shard, 2_000, 1) or BOARDS
        board = self.chance.choice([board for board in over if board not in self.archived])
        (snapshot,) = self.plain.snapshots([board])
        head = snapshot.state[:32] if snapshot and self.often(0.9) else bytes(32)
        indexes = self.plain.leaf_indexes(board)
        kept = [RefusedId(actor, id_of(number)) for actor in ACTORS for number in range(60)]
        # as it was before its last leaf, and as it is
        for known in (indexes[:-1], indexes):
            there = any(self.plain.kept_commands(shard, kept))
            (done,) = self.each("retire", [(board, head, known)], {board: kept})
            self.seen["no longer kept"] += done and there
            self.archived |= {board} if done else set()
            self.seen["retired"] += done

    def allocate(self) -> None:
        self.each("allocate", id_of(self.chance.randrange(30)))
        self.each("board_numbers", [id_of(number) for number in range(30)])

    def forget(self) -> None:
        self.each("forget_refused", self.chance.choice(ACTORS))

    # what is read

    def compare(self) -> None:
        """All that can be read of both is equal, but for times and matches in the archive."""
        boards = [board for board in BOARDS if board not in self.archived]
        of_boards = "snapshots snapshots_with_conditional_moves first_events whole_matches"
        for call in of_boards.split():
            self.each(call, boards)
        for board in boards:
            for call in ("events", "outcomes", "leaf_indexes"):
                self.each(call, board)
            self.each("outcome", board, id_of(self.chance.randrange(60)))
            for actor in ACTORS:
                count = refusals_counted(self.plain, board, actor, 0)
                assert refusals_counted(self.store, board, actor, 0) == count
        self.each("inbox_size", SHARDS)
        self.each("next_due", SHARDS)
        at = self.chance.randrange(2_000)
        for shard in (3, 0):
            entries = {found.id: wanted.id for found, wanted in self.inbox(shard)}
            tries = attempts_counted(self.store, shard).items()
            waiting = {entries.get(one): count for one, count in tries}
            assert waiting == attempts_counted(self.plain, shard)
            for call, args in {
                "leaves": (self.chance.randrange(9), self.chance.randrange(1, 99)),
                "leaves_at": ([self.chance.randrange(20) for _ in range(3)],),
                "due_boards": (at, self.chance.randrange(1, 4)),
                "ended_boards": (at, self.chance.randrange(1, 4)),
                "seed_chain": (),
                "anchor_index": (self.chance.randrange(1, 4),),
                "kept_commands": (
                    [RefusedId(actor, id_of(n)) for actor in ACTORS for n in range(60)],
                ),
            }.items():
                self.each(call, shard, *args)
        starts = {shard: self.chance.randrange(12) for shard in self.chance.sample(SHARDS, 3)}
        self.each("next_leaves", starts)
        sizes = (len(self.plain.leaves(shard, 0, 999)) for shard in SHARDS)
        ends = [self.chance.randrange(1 + size) for size in sizes]
        assert self.store.news(ends)[1] == self.plain.news(ends)[1]
        assert self.store.watermark().ends == self.plain.watermark().ends


@pytest.mark.parametrize("seed", range(2))
def test_an_adapter_does_what_the_store_in_memory_does(store, seed):
    twins = Twins(store, seed)
    for number in range(STEPS):
        twins.step()
        if number % 4 == 3:
            twins.compare()
    assert twins.seen["CommitDone"] > 20


def test_in_these_runs_everything_happens():
    seen: Counter[str] = Counter()
    for seed in range(2):
        made = MemoryStore(cap=CAP)
        made.create(Layout(shards=4, lanes=1))
        twins = Twins(made, seed)
        for _ in range(STEPS):
            twins.step()
        seen += twins.seen
    results = ("CommitDone", "CommitConflict", "CommitArchived", "AlreadyDecided", "NotAccepted")
    laid, anchored = (
        [f"{call} {said}" for said in (True, False)] for call in ("set_conditional_moves", "anchor")
    )
    codes = (Code.ID_REUSED, Code.BUSY, Code.MATCH_OVER)
    wanted = (*results, *codes, *laid, *anchored, "Queued", "retired", "no longer kept")
    assert [name for name in wanted if seen[name] < 2] == []
