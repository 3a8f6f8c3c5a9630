"""Which matches retirement removes from Redis, when, and what stops it."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from redis import Redis

from domain.match.commands import CommandEnvelope, PlayMove
from infra.archive.archive import ArchiveError
from infra.archive.objects import PageStore, PublishedLeaves
from infra.objects.files import FileObjects
from infra.people.messages import MessageStore
from infra.redis import keys
from tests.helpers.archiving import Archiving, publish
from tests.helpers.bench import Bench
from tests.helpers.corpus import Corpus
from tests.helpers.doctor import damaged_matches
from tests.helpers.given import ALICE
from tests.workers.retire.ended_matches import (
    ACTIVE,
    LATER_OVER,
    OVER,
    SHARD,
    entry_of,
    listed,
    reads,
)
from workers.retire import Retirement

EXTRA = b"digest..99:\x92\x01\x03"
"""An outcome of no command."""


def test_matches_that_are_over_leave_and_others_stay(bench, archiving):
    before = {board: reads(bench.store, board) for board in (OVER, ACTIVE, LATER_OVER)}
    messages = MessageStore(bench.client, lambda: bench.store.layout().shards)
    for board in (OVER, ACTIVE):
        messages.chat(board, ALICE, "well played", bytes(16))
    assert archiving.retire() == 2
    messages.chat(LATER_OVER, ALICE, "well played", bytes(16))
    year = 365 * 24 * 3_600
    for board, seconds in ((OVER, year), (ACTIVE, -1), (LATER_OVER, year)):
        name = keys.chat(bench.store.layout().shard_of(board), board)
        assert seconds - 60 < bench.client.ttl(name) <= seconds, board
    assert [one.text for one in messages.chat_of(OVER, 9)] == ["well played"]
    assert listed(bench) == []
    assert bench.store.events(OVER) == bench.store.events(LATER_OVER) == []
    assert reads(bench.store, ACTIVE) == before[ACTIVE]
    assert entry_of(archiving, ACTIVE) is None
    for board in (OVER, LATER_OVER):
        assert reads(archiving.store, board) == before[board]


def test_a_match_stays_until_its_time_has_come(bench, archiving):
    (end, second) = [bench.store.snapshots([board])[0] for board in (OVER, LATER_OVER)]
    assert end is not None
    assert second is not None
    assert archiving.retire(after_ms=3_600_000) == 0
    assert listed(bench) == [OVER, LATER_OVER]
    assert entry_of(archiving, OVER) is None


def test_a_match_stays_while_its_leaves_are_not_all_below_the_limit(bench, archiving):
    publish(bench.store, archiving.objects)
    last = bench.store.leaf_indexes(OVER)[-1]
    assert bench.store.leaf_indexes(LATER_OVER)[-1] > last
    work = archiving.retirement(SHARD, limit=last)
    assert work.step() == 2
    assert (work.retired, listed(bench)) == (0, [OVER, LATER_OVER])
    work = archiving.retirement(SHARD, limit=last + 1)
    assert work.step() == 2
    assert (work.retired, listed(bench)) == (1, [LATER_OVER])
    assert work.step() is None
    assert not work.has_more()


def test_a_match_that_is_not_published_stays(bench, archiving, caplog):
    publish(bench.store, archiving.objects)
    for board in (OVER, LATER_OVER):
        bench.send(ALICE, PlayMove(text="a1-a2"), board)
    bench.drain()
    work = archiving.retirement(SHARD, limit=1 << 40)
    assert work.step() == 2
    assert listed(bench) == [OVER, LATER_OVER]
    assert f"ALARM: match {OVER} stays in Redis: leaf" in caplog.text
    assert "is not published" in caplog.text


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda client, names: client.rpush(names["ev"], client.lindex(names["ev"], -1)), "events"),
        (lambda client, names: client.hset(names["out"], bytes(16), EXTRA), "refusals"),
        (lambda client, names: client.append(names["at"], b"\x02"), "belongs to match"),
        (lambda client, names: client.setrange(names["state"], 40, b"\xc1\xc1"), "stays"),
    ],
    ids=["event", "outcome", "locator", "snapshot"],
)
def test_what_redis_has_otherwise_than_the_log_stays_for_an_operator(
    bench, archiving, caplog, damage, why
):
    names = {
        "ev": keys.events(SHARD, OVER),
        "out": keys.outcomes(SHARD, OVER),
        "at": keys.locator(SHARD, OVER),
        "state": keys.snapshot(SHARD, OVER),
    }
    damage(bench.client, names)
    assert archiving.retire(SHARD) == 1
    assert listed(bench) == [OVER]
    assert bench.client.exists(*names.values()) == 4
    alarm = next(one for one in caplog.messages if one.startswith(f"ALARM: match {OVER} stays"))
    assert why in alarm


def test_a_bundle_that_was_changed_keeps_its_matches_in_redis(bench, archiving, tmp_path, caplog):
    publish(bench.store, archiving.objects)
    (bundle,) = (tmp_path / "log" / "s01" / "tile" / "entries").rglob("[0-9]*[0-9]")
    bundle.chmod(0o600)
    bundle.write_bytes(bundle.read_bytes().replace(b"m13-j7", b"m13-j8"))
    work = archiving.retirement(SHARD, limit=1 << 40)
    assert work.step() == 2
    assert listed(bench) == [OVER, LATER_OVER]
    assert f"ALARM: match {OVER} stays in Redis" in caplog.text


def test_a_tile_that_was_changed_keeps_its_matches_in_redis(bench, archiving, tmp_path, caplog):
    publish(bench.store, archiving.objects)
    (tile,) = (tmp_path / "log" / "s01" / "tile" / "0").rglob("[0-9]*[0-9]")
    tile.chmod(0o600)
    tile.write_bytes(bytes(len(tile.read_bytes())))
    work = archiving.retirement(SHARD, limit=1 << 40)
    assert work.step() == 2
    assert listed(bench) == [OVER, LATER_OVER]
    assert f"ALARM: match {OVER} stays in Redis" in caplog.text


def test_a_refusal_between_the_page_and_the_removal_keeps_the_match(bench, archiving):
    """The page has the match as it was, Redis wins, and the next run writes the page again."""
    publish(bench.store, archiving.objects)

    class Meanwhile(FileObjects):
        """A folder after whose first write a player tries to move."""

        def replace(self, name: str, data: bytes, before: bytes | None) -> None:
            super().replace(name, data, before)
            if not listed_before:
                listed_before.append(bench.send(ALICE, PlayMove(text="m13-j7"), OVER))
                bench.drain()

    listed_before: list[CommandEnvelope] = []
    pages = PageStore(Meanwhile(archiving.objects._root))
    work = Retirement(
        bench.store,
        pages,
        archiving.leaves(),
        SHARD,
        limit=lambda: 1 << 40,
        after_ms=0,
        rows=archiving.rows,
    )
    assert work.step() == 2
    assert listed(bench) == [OVER]
    (late,) = listed_before
    stored = bench.store.outcome(OVER, late.id)
    before = reads(bench.store, OVER)
    assert stored in before["outcomes"].values()
    assert archiving.retire(SHARD) == 1
    assert reads(archiving.store, OVER) == before


def test_matches_that_are_retired_while_others_are_played_hold(
    redis_client: Redis, tmp_path: Path
) -> None:
    """Partial bundles become full meanwhile, and pages get further entries again and again."""
    bench = Bench(redis_client, tmp_path / "seeds")
    archiving = Archiving(redis_client, bench.store, tmp_path / "log")
    bench.store = archiving.store
    corpus = Corpus(bench, seed=7, matches=40)
    retired = 0
    while corpus.leaves() < 1_200:
        corpus.step()
        retired += archiving.retire()
    assert retired > 20
    boards = range(1, 200)
    assert sum(map(bool, archiving.store.snapshots(boards))) > retired
    assert list(damaged_matches(archiving.store, boards)) == []
    in_redis = sum(map(bool, archiving.plain.snapshots(boards)))
    assert in_redis == sum(map(bool, archiving.store.snapshots(boards))) - retired


def test_a_damaged_bundle_keeps_only_its_matches(bench, archiving, caplog):
    """Leaves of one page are read together; one that can't be read holds up no other match."""
    publish(bench.store, archiving.objects)
    damaged = set(bench.store.leaf_indexes(OVER))

    class Damaged(PublishedLeaves):
        def leaves_at(self, shard: int, indexes: Sequence[int]) -> list[bytes]:
            if damaged & set(indexes):
                raise ArchiveError("its bundle is damaged")
            return super().leaves_at(shard, indexes)

    leaves = Damaged(archiving.log_of, parallel=False)
    pages = PageStore(archiving.objects)
    work = Retirement(
        bench.store, pages, leaves, SHARD, limit=lambda: 1 << 40, after_ms=0, rows=archiving.rows
    )
    assert work.step() == 2
    assert (work.retired, listed(bench)) == (1, [OVER])
    assert f"ALARM: match {OVER} stays in Redis: its bundle is damaged" in caplog.text
