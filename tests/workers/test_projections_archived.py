"""Projections rebuilt where matches are in the archive equal those that were fed while people played."""

from collections.abc import Iterator

import pytest
from redis import Redis

from infra.archive.archive import Archive, ArchivedMatch
from infra.archive.objects import PageStore
from infra.archive.store import StoreWithArchive
from infra.durability.durability import Mode
from infra.objects.files import FileObjects
from infra.objects.port import ObjectStoreError
from infra.projections.buckets import HISTORY, SPECS
from infra.projections.generations import Generations
from infra.redis import keys
from infra.store.trimmed_leaves import TrimmedLeavesError
from infra.valkey.server import EmbeddedServer
from tests.helpers.archiving import Archiving
from tests.helpers.bench import Bench
from tests.helpers.corpus import Corpus
from tests.helpers.side import catch_up, contents
from workers.projections import PROJECTIONS, maintenance
from workers.projections.log_reader import LogReader
from workers.projections.rebuild import StuckError

LEAVES = 1_500

KEPT = 50
"""Leaves of each log that are not trimmed."""


class Lines:
    """A report whose lines are kept."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def progress(self, about: str, done: int, total: int) -> None:
        pass

    def line(self, text: str) -> None:
        self.lines.append(text)


@pytest.fixture(scope="module")
def archived(
    valkey: EmbeddedServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Redis, Archiving, dict[str, object]]]:
    """What the projections had when all matches that were over were retired."""
    with valkey.client(blocking_timeout=5) as client:
        client.flushall()
        bench = Bench(client, tmp_path_factory.mktemp("seeds"))
        corpus = Corpus(bench, seed=11, matches=60)
        while corpus.leaves() < LEAVES:
            corpus.step()
        catch_up(bench.store, client)
        archiving = Archiving(client, bench.store, tmp_path_factory.mktemp("log"))
        before = contents(client)
        assert archiving.retire() > 20
        for shard, end in enumerate(bench.store.watermark().ends):
            client.xtrim(keys.log(shard), minid=f"{end - KEPT}-0", approximate=False)
        yield client, archiving, before


def test_most_leaves_are_not_in_redis_any_longer(archived):
    client, archiving, _ = archived
    assert [client.xlen(keys.log(shard)) for shard in range(4)] == [KEPT] * 4
    with pytest.raises(TrimmedLeavesError, match="was trimmed"):
        archiving.plain.leaves(0, 0, 10)
    assert len(archiving.store.leaves(0, 0, 10)) == 10


def test_each_projection_equals_one_that_is_made_from_the_archive(archived):
    client, archiving, _ = archived
    report = Lines()
    assert maintenance.check(archiving.store, client, PROJECTIONS, report), report.lines
    assert len(report.lines) == len(SPECS)


def test_rebuilt_projections_have_what_the_live_ones_had(archived):
    client, archiving, before = archived
    maintenance.rebuild(archiving.store, client, PROJECTIONS, Lines())
    assert contents(client) == before


def test_the_comparison_sees_a_difference(archived):
    client, archiving, before = archived
    live = Generations(client, HISTORY).live()
    assert live is not None
    name = next(
        key for key in client.scan_iter(f"{live[1].all[0].key('')}*") if client.type(key) == b"zset"
    )
    members = client.zrange(name, 0, -1, withscores=True)
    client.zadd(name, {b"another": 1})
    report = Lines()
    chosen = [one for one in PROJECTIONS if one.spec == HISTORY]
    assert not maintenance.check(archiving.store, client, chosen, report)
    assert "differs" in report.lines[0]
    client.zrem(name, b"another")
    assert client.zrange(name, 0, -1, withscores=True) == members
    assert contents(client) == before


def test_results_come_from_the_pages_unless_the_history_is_needed(archived, monkeypatch):
    _, archiving, _ = archived
    read: list[int] = []
    match = Archive.match

    def noted(archive: Archive, board: int) -> ArchivedMatch:
        read.append(board)
        return match(archive, board)

    monkeypatch.setattr(Archive, "match", noted)
    reader, position, facts = LogReader(archiving.store), (0,) * 4, []
    while (chunk := reader.read(position)).leaves:
        position = chunk.counts
        facts += [fact for fact in chunk.facts if fact.result]
    assert {fact.event.match for fact in facts if fact.result.history} >= set(read)
    assert len(facts) > 2 * len(set(read)) > 0


class Away(FileObjects):
    """A folder that can't be read."""

    def get(self, name: str) -> bytes:
        raise ObjectStoreError(f"{name} is away")


def test_a_rebuild_stops_with_a_sentence_while_the_archive_can_not_be_read(archived, tmp_path):
    client, archiving, before = archived
    pages = PageStore(Away(tmp_path))
    archive = Archive(lambda: (pages, archiving.leaves()), lambda: 4)
    store = StoreWithArchive(client, Mode.FSYNC, archive, open_logs=archiving.open_logs)
    with pytest.raises(StuckError, match="the archive can't be read right now"):
        maintenance.rebuild(store, client, PROJECTIONS, Lines())
    assert contents(client) == before
