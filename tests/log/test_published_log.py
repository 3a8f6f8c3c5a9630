"""The published log: what a writer writes and a reader verifies, whatever is killed or changed."""

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.archive.archive import ArchiveError
from infra.archive.objects import PublishedLeaves, open_archive
from infra.log.checkpoint import InclusionProof, open_checkpoint
from infra.log.log_writer import LogWriter
from infra.log.merkle import EMPTY_ROOT, leaf_hash, node_hash, verify_consistency
from infra.log.merkle import consistency_proof as prove_consistency
from infra.log.names import LogSecret, shard_key
from infra.log.published_log import LogDamagedError, PublishedLog, TileCache
from infra.log.signed_note import NoteError
from infra.log.tiles import WIDTH
from infra.objects import port
from infra.settings.settings import Settings
from tests.fakes.memory_store import MemoryObjects
from tests.helpers.archiving import SECRET as ARCHIVE_SECRET

SHARD = 7
SECRET = LogSecret("play.example.org/log", bytes(range(32)))
ORIGIN = "play.example.org/log/s07"
KEY = shard_key(SECRET.public, SHARD)
LEAVES = [b"leaf %d " % index + bytes(index % 90) for index in range(66_100)]


def writer(objects: MemoryObjects) -> LogWriter:
    made = LogWriter(objects, SHARD, [SECRET.signer(SHARD)])
    made.load()
    return made


def publish(objects: MemoryObjects, *sizes: int) -> MemoryObjects:
    made = writer(objects)
    for size in sizes:
        made.append(LEAVES[made.size : size])
    return objects


def reader(objects: MemoryObjects) -> PublishedLog:
    log = PublishedLog(objects, SHARD, [KEY])
    log.refresh()
    return log


def root_of(leaves: list[bytes]) -> bytes:
    """Return the root by its definition in RFC 6962."""
    if len(leaves) <= 1:
        return leaf_hash(leaves[0]) if leaves else EMPTY_ROOT
    split = 1 << ((len(leaves) - 1).bit_length() - 1)
    return node_hash(root_of(leaves[:split]), root_of(leaves[split:]))


def test_nothing_is_published_at_first():
    log = reader(MemoryObjects())
    assert (log.size, log.checkpoint, [*log.leaves(0, 0)]) == (0, None, [])
    for read in (lambda: log.bundle(0), lambda: log.bundle(-1), lambda: log.inclusion(0)):
        with pytest.raises(IndexError):
            read()


def test_the_checkpoint_has_the_root_of_rfc_6962():
    for size in (1, 2, 255, 256, 257, 511, 512, 700):
        note = publish(MemoryObjects(), size).found["s07/checkpoint"]
        found = open_checkpoint(note, ORIGIN, [KEY])
        assert (found.size, found.root) == (size, root_of(LEAVES[:size]))


def test_a_log_of_three_levels_of_tiles_is_read_back():
    objects = publish(MemoryObjects(), 65_000, 65_536, 66_000)
    log = reader(objects)
    assert "s07/tile/1/000" in objects.found
    assert "s07/tile/2/000.p/1" in objects.found
    assert log.checkpoint is not None
    assert log.checkpoint.root == root_of(LEAVES[:66_000])
    assert list(log.leaves(65_300, 66_000)) == LEAVES[65_300:66_000]
    for index in (0, 255, 256, 65_535, 65_536, 65_999):
        proof = InclusionProof.parse(str(log.inclusion(index)))
        assert proof.verify(leaf_hash(LEAVES[index]), ORIGIN, [KEY]).size == 66_000
    assert writer(objects).append(LEAVES[66_000:66_100]).root == root_of(LEAVES[:66_100])


@settings(max_examples=25, deadline=None)
@given(st.sets(st.integers(1, 1_400), min_size=1, max_size=6))
def test_the_names_and_bytes_do_not_depend_on_the_sizes_between(sizes):
    steps = sorted(sizes)
    objects, other = MemoryObjects(), publish(MemoryObjects(), steps[-1])
    before = None
    for size in steps:
        # a writer of its own each time, as after a restart
        found = writer(objects).append(LEAVES[before.size if before else 0 : size])
        if before:
            proof = prove_consistency(before.size, size, reader(objects).node)
            verify_consistency(before.size, before.root, size, found.root, proof)
        before = found
    assert other.found.items() <= objects.found.items()
    left = objects.found.keys() - other.found.keys()
    unfinished = steps[-1] // WIDTH
    assert all(f"/{unfinished:03}.p/" in name or "/1/000.p/" in name for name in left)


def test_a_writer_that_fails_anywhere_is_followed_by_one_that_writes_the_rest():
    whole = publish(MemoryObjects(), 200, 900, 1_300)
    for writes in range(60):
        objects = publish(MemoryObjects(), 200)
        objects.writes_left = writes
        try:
            publish(objects, 900, 1_300)
        except port.ObjectStoreError:
            objects.writes_left = None
            assert reader(objects).size in (200, 900, 1_300)
            if reader(objects).size < 900:
                publish(objects, 900)
            publish(objects, 1_300)
        assert whole.found.items() <= objects.found.items()
        if objects.writes_left is not None:
            break
    else:
        pytest.fail("there are more writes than the loop tries")


def test_partial_tiles_are_deleted_once_the_full_one_is_covered_by_a_checkpoint():
    objects = publish(MemoryObjects(), 100, 255)
    left = {name: data for name, data in objects.found.items() if ".p/" in name}
    assert {"s07/tile/0/000.p/100", "s07/tile/0/000.p/255"} <= left.keys()
    early = PublishedLog(objects, SHARD, [KEY])
    early.refresh()
    publish(objects, 300)
    assert not left.keys() & objects.found.keys()
    # a reader with an earlier checkpoint takes the beginning of the full one
    assert list(early.leaves(0, 255)) == LEAVES[:255]
    objects.found |= left
    writer(objects)
    assert not left.keys() & objects.found.keys(), "a killed writer had left them"


def test_of_two_writers_one_is_refused_and_another_history_before_its_checkpoint():
    objects = publish(MemoryObjects(), 10)
    first, second = writer(objects), writer(objects)
    first.append(LEAVES[10:20])
    with pytest.raises(port.ObjectChangedError):
        second.append(LEAVES[10:15])
    assert reader(objects).size == 20
    publish(objects, 250)
    other = writer(objects)
    publish(objects, 300)
    with pytest.raises(port.ObjectDiffersError):
        other.append([b"another"] * 50)
    assert reader(objects).size == 300


PARTIAL = ("s07/tile/1/000.p/2", "s07/tile/entries/002.p/88")


@pytest.mark.parametrize("name", ["s07/tile/entries/000", "s07/tile/0/000", *PARTIAL, "s07/tile/0/002.p/88"])  # fmt: skip
def test_a_changed_object_is_noticed_and_no_writer_goes_on_from_it(name):
    objects = publish(MemoryObjects(), 600)
    data = objects.found.pop(name)
    flipped = data[:40] + bytes([data[40] ^ 1]) + data[41:]
    for change in (None, data[:-1], flipped):
        if change is not None:
            objects.found[name] = change
        with pytest.raises((LogDamagedError, port.ObjectStoreError)):
            list(reader(objects).leaves(0, 600))
    if name in PARTIAL:
        said = "does not have the root of its checkpoint of 600"
        with pytest.raises(LogDamagedError, match=said):
            writer(objects)


def test_a_checkpoint_by_another_key_is_refused():
    objects = publish(MemoryObjects(), 10)
    other = LogSecret(SECRET.base, bytes(32))
    with pytest.raises(NoteError):
        PublishedLog(objects, SHARD, [shard_key(other.public, SHARD)]).refresh()
    # the same key signs for all shards, under other names
    objects.found["s08/checkpoint"] = objects.found["s07/checkpoint"]
    with pytest.raises(NoteError, match=r"is of play[.]example[.]org/log/s07, not of"):
        PublishedLog(objects, 8, [shard_key(SECRET.public, 8), KEY]).refresh()


def test_hashes_are_proved_once_for_a_checkpoint_and_again_for_the_next():
    objects = publish(MemoryObjects(), 300)
    log, name = reader(objects), "s07/tile/0/001.p/44"
    data = objects.found[name]
    objects.found[name] = bytes(len(data))
    with pytest.raises(LogDamagedError):
        log.proved_hashes(1)
    objects.found[name] = data  # and what was not in the tree was not kept as proved
    for _ in range(2):
        assert log.proved_hashes(1) == [leaf_hash(leaf) for leaf in LEAVES[256:300]]
        reads = list(objects.reads)
        objects.reads.clear()
    assert reads == []
    publish(objects, 310)
    log.refresh()
    assert log.proved_hashes(1) == [leaf_hash(leaf) for leaf in LEAVES[256:310]]
    assert "s07/tile/0/001.p/54" in objects.reads


def test_a_private_key_is_read_back_from_its_text_and_never_shown():
    assert LogSecret.parse(f"{SECRET}\n") == SECRET
    assert str(SECRET).startswith("PRIVATE+KEY+play.example.org/log+")
    assert repr(SECRET) == "LogSecret(play.example.org/log)"
    text = str(SECRET)
    wrong = (text[:-4], text.replace("play", "pray"), text.removeprefix("PRIVATE"), "")
    # other spellings of the same bytes
    for bad in (*wrong, f"{text}=", text.replace("+A", "+\u00a0A")):
        with pytest.raises(NoteError, match="a private key is") as raised:
            LogSecret.parse(bad)
        assert text[60:] not in str(raised.value)


def test_a_checkpoint_by_a_newer_key_is_verified_after_the_keys_were_read_again():
    newer = LogSecret(SECRET.base, bytes(32))
    known = [KEY]
    objects = publish(MemoryObjects(), 5)
    log = PublishedLog(objects, SHARD, known, read_keys=lambda: list(known))
    assert log.refresh() == 5
    both = LogWriter(objects, SHARD, [newer.signer(SHARD), SECRET.signer(SHARD)])
    both.load()
    both.append(LEAVES[5:7])
    alone = LogWriter(objects, SHARD, [newer.signer(SHARD)])
    alone.load()
    alone.append(LEAVES[7:9])
    with pytest.raises(NoteError):
        log.refresh()
    assert log.size == 5
    known.insert(0, shard_key(newer.public, SHARD))
    assert log.refresh() == 9
    assert list(log.leaves(0, 9)) == LEAVES[:9]
    # a key that was withdrawn counts no longer
    known.pop()
    stale = publish(MemoryObjects(), 3).get(f"s{SHARD:02}/checkpoint")
    with pytest.raises(NoteError):
        PublishedLog(objects, SHARD, known, read_keys=lambda: known).set_checkpoint(stale)


ARCHIVED = [b"leaf %d" % index for index in range(600)]
OTHER_LOG = LogSecret("another.example/log", bytes(32))


@pytest.fixture
def objects() -> MemoryObjects:
    """The log of shard 0: two full bundles and a partial one."""
    made = MemoryObjects()
    writer = LogWriter(made, 0, [ARCHIVE_SECRET.signer(0)])
    writer.load()
    writer.append(ARCHIVED)
    return made


def leaves_of(
    objects: MemoryObjects, secret: LogSecret = ARCHIVE_SECRET, *, parallel: bool = False
):
    @cache
    def log_of(shard: int) -> PublishedLog:
        return PublishedLog(objects, shard, [secret.signer(shard).key])

    return PublishedLeaves(log_of, parallel=parallel)


@pytest.mark.parametrize("parallel", [False, True])
def test_leaves_come_in_the_order_of_their_indexes_each_bundle_read_once(objects, parallel):
    indexes = [599, 0, 255, 256, 300, 511, 512]
    found = leaves_of(objects, parallel=parallel)
    objects.reads.clear()
    assert found.leaves_at(0, indexes) == [ARCHIVED[index] for index in indexes]
    bundles = [name for name in objects.reads if "entries" in name]
    assert len(bundles) == len(set(bundles)) == 3
    objects.reads.clear()
    assert found.leaves_at(0, [1, 257]) == [ARCHIVED[1], ARCHIVED[257]]
    assert objects.reads == [], "full bundles are kept"
    assert found.leaves_at(0, []) == []


def test_a_leaf_is_covered_by_the_checkpoint_and_no_other_is_until_the_log_has_grown(objects):
    found = leaves_of(objects)
    for index in (0, 255, 256, 599):
        found.check(0, index, ARCHIVED[index])
    for index, why in ((7, "does not fit its tile"), (600, "is not published")):
        with pytest.raises(ArchiveError, match=why):
            found.check(0, index, b"another leaf")
    with pytest.raises(ArchiveError, match="leaf 600 of shard 0 is not published"):
        found.leaves_at(0, [600])
    writer = LogWriter(objects, 0, [ARCHIVE_SECRET.signer(0)])
    writer.load()
    writer.append([b"leaf 600"])
    assert found.leaves_at(0, [600]) == [b"leaf 600"]


def test_what_is_damaged_or_signed_by_others_is_refused(objects, tmp_path):
    _, without_keys = open_archive(Settings(data=tmp_path))
    with pytest.raises(port.ObjectStoreError, match="log-key"):
        without_keys.leaves_at(0, [3])
    name = "s00/tile/entries/000"
    objects.found[name] = objects.found[name][:-1]
    with pytest.raises(ArchiveError, match=name):
        leaves_of(objects).leaves_at(0, [3])
    with pytest.raises(port.ObjectStoreError, match="checkpoint of shard 0 can't be used"):
        leaves_of(objects, OTHER_LOG).leaves_at(0, [3])
    del objects.found[name]
    with pytest.raises(port.ObjectNotFoundError):
        leaves_of(objects).leaves_at(0, [3])


@pytest.mark.parametrize("size", [None, 9_000])
def test_full_tiles_are_read_once_as_far_as_the_cache_goes(size):
    objects = publish(MemoryObjects(), 600)
    log = PublishedLog(objects, SHARD, [KEY], TileCache(size) if size else TileCache())
    log.refresh()
    assert list(log.leaves(0, 600)) == LEAVES[:600]
    objects.reads.clear()
    log.node(0, 0)
    assert objects.reads == (["s07/tile/0/000"] if size else [])
