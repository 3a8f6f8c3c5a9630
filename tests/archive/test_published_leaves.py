"""Leaves of the published logs as the archive reads them: one by one or at once, and what is refused."""

from functools import cache
from pathlib import Path

import pytest

from infra.archive.archive import ArchiveError
from infra.archive.objects import PublishedLeaves, open_archive
from infra.log.log_writer import LogWriter
from infra.log.names import LogSecret
from infra.log.published_log import PublishedLog
from infra.objects.port import ObjectNotFoundError, ObjectStoreError
from infra.settings.settings import Settings
from tests.fakes.memory_store import MemoryObjects
from tests.helpers.archiving import SECRET

LEAVES = [b"leaf %d" % index for index in range(600)]
OTHER = LogSecret("another.example/log", bytes(32))


@pytest.fixture
def objects() -> MemoryObjects:
    """The log of shard 0: two full bundles and a partial one."""
    made = MemoryObjects()
    writer = LogWriter(made, 0, [SECRET.signer(0)])
    writer.load()
    writer.append(LEAVES)
    return made


def leaves_of(
    objects: MemoryObjects, secret: LogSecret = SECRET, *, parallel: bool = False
) -> PublishedLeaves:
    @cache
    def log_of(shard: int) -> PublishedLog:
        return PublishedLog(objects, shard, [secret.signer(shard).key])

    return PublishedLeaves(log_of, parallel=parallel)


@pytest.mark.parametrize("parallel", [False, True])
def test_leaves_come_in_the_order_of_their_indexes_each_bundle_read_once(objects, parallel):
    indexes = [599, 0, 255, 256, 300, 511, 512]
    found = leaves_of(objects, parallel=parallel)
    objects.reads.clear()
    assert found.leaves_at(0, indexes) == [LEAVES[index] for index in indexes]
    bundles = [name for name in objects.reads if "entries" in name]
    assert sorted(bundles) == sorted(set(bundles))
    assert len(bundles) == 3
    objects.reads.clear()
    assert found.leaves_at(0, [1, 257]) == [LEAVES[1], LEAVES[257]]
    assert objects.reads == [], "full bundles are kept"
    assert found.leaves_at(0, []) == []


def test_a_log_that_has_grown_is_read_again(objects):
    found = leaves_of(objects)
    assert found.leaves_at(0, [599]) == [LEAVES[599]]
    with pytest.raises(ArchiveError, match="leaf 600 of shard 0 is not published"):
        found.leaves_at(0, [600])
    writer = LogWriter(objects, 0, [SECRET.signer(0)])
    writer.load()
    writer.append([b"leaf 600"])
    assert found.leaves_at(0, [600]) == [b"leaf 600"]


def test_a_leaf_is_covered_by_the_checkpoint_and_no_other_is(objects):
    found = leaves_of(objects)
    for index in (0, 255, 256, 599):
        found.check(0, index, LEAVES[index])
    with pytest.raises(ArchiveError, match="does not fit its tile"):
        found.check(0, 7, b"leaf 8")
    with pytest.raises(ArchiveError, match="is not published"):
        found.check(0, 600, b"leaf 600")


def test_what_is_damaged_or_signed_by_others_is_refused(objects):
    name = "s00/tile/entries/000"
    objects.found[name] = objects.found[name][:-1]
    with pytest.raises(ArchiveError, match=name):
        leaves_of(objects).leaves_at(0, [3])
    with pytest.raises(ObjectStoreError, match="checkpoint of shard 0 can't be used"):
        leaves_of(objects, OTHER).leaves_at(0, [3])
    del objects.found[name]
    with pytest.raises(ObjectNotFoundError):
        leaves_of(objects).leaves_at(0, [3])


def test_without_public_keys_nothing_can_be_read_now(tmp_path: Path):
    _, found = open_archive(Settings(data=tmp_path))
    with pytest.raises(ObjectStoreError, match="log-key"):
        found.leaves_at(0, [3])
