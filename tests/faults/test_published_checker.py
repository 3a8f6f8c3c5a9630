"""I5 proves itself: a sound log is clean, and each change of it is found."""

from collections.abc import Callable
from pathlib import Path

import pytest

from infra.log.checkpoint import LogCheckpoint
from infra.log.log_writer import LogWriter
from infra.log.names import LogSecret
from tests.fakes.memory_objects import MemoryObjects
from trials.faults.published import ObjectWatcher, check_checkpoints, check_objects

SIGNER = LogSecret("play.example.org/log", bytes(32)).signer(1)
LEAVES = [b"leaf %d" % number for number in range(700)]
SIZES = (3, 256, 300, 700)

Objects = dict[str, bytes]


@pytest.fixture
def objects() -> Objects:
    store = MemoryObjects()
    writer = LogWriter(store, 1, [SIGNER])
    writer.load()
    for start, end in zip((0, *SIZES), SIZES, strict=False):
        writer.append(LEAVES[start:end])
    return store.found


def notes() -> list[bytes]:
    store, seen = MemoryObjects(), []
    writer = LogWriter(store, 1, [SIGNER])
    writer.load()
    for start, end in zip((0, *SIZES), SIZES, strict=False):
        writer.append(LEAVES[start:end])
        seen.append(store.found["s01/checkpoint"])
    return seen


def found(objects: Objects) -> list[str]:
    return [one.evidence for one in check_objects(1, LEAVES, objects)]


def forged(size: int, root: bytes) -> bytes:
    return LogCheckpoint(SIGNER.key.name, size, root).sign([SIGNER]).encode()


def test_what_was_published_is_what_the_leaves_give(objects: Objects) -> None:
    assert found(objects) == []
    assert list(check_checkpoints(LEAVES, notes(), SIGNER.key)) == []


@pytest.mark.parametrize(
    "name",
    [
        *("s01/tile/entries/000", "s01/tile/entries/002.p/188"),
        *("s01/tile/0/001", "s01/tile/1/000.p/2"),
    ],
)
def test_a_changed_a_short_and_a_missing_object_are_found(objects: Objects, name: str) -> None:
    data = objects[name]
    objects[name] = bytes([*data[:-1], data[-1] ^ 1])
    assert found(objects) == [f"{name} is not what the leaves give"]
    objects[name] = data[:-1]
    assert found(objects) == [f"{name} is not what the leaves give"]
    del objects[name]
    assert found(objects) == [f"{name} is missing, of 700 leaves"]


def test_an_object_beyond_the_leaves_is_found(objects: Objects) -> None:
    objects["s01/tile/entries/009"] = b""
    assert found(objects) == ["s01/tile/entries/009 is not what the leaves give"]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (forged(300, bytes(32)), "the checkpoint of 300 leaves is a fork"),
        (forged(701, bytes(32)), "701 leaves were signed, of 700"),
        (notes()[0].replace(b"3\n", b"4\n", 1), "can't be used"),
    ],
)
def test_a_fork_and_a_checkpoint_that_is_not_signed_are_found(more: bytes, why: str) -> None:
    violations = list(check_checkpoints(LEAVES, [*notes(), more], SIGNER.key))
    assert why in str(violations[0])


def test_a_log_that_stops_before_its_end_is_found() -> None:
    (violation,) = check_checkpoints(LEAVES, notes()[:-1], SIGNER.key)
    assert "not all of 700 leaves are published" in str(violation)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda file: file.write_bytes(b"other"), "has changed its bytes"),
        (lambda file: file.unlink(), "has gone"),
    ],
)
def test_a_bundle_that_changes_or_goes_while_it_is_watched_is_found(
    tmp_path: Path, change: Callable[[Path], object], why: str
) -> None:
    file = tmp_path / "s01" / "tile" / "entries" / "000"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"bytes")
    watcher = ObjectWatcher(tmp_path)
    watcher.look()
    watcher.look()
    assert watcher.violations == []
    change(file)
    watcher.look()
    assert [str(one) for one in watcher.violations] == [f"I5: s01/tile/entries/000 {why}"]


def test_each_checkpoint_is_kept_and_a_partial_bundle_may_go(tmp_path: Path) -> None:
    checkpoint = tmp_path / "s01" / "checkpoint"
    partial = tmp_path / "s01" / "tile" / "entries" / "000.p" / "7"
    partial.parent.mkdir(parents=True)
    partial.write_bytes(b"bytes")
    watcher = ObjectWatcher(tmp_path)
    for note in (b"first", b"first", b"second"):
        checkpoint.write_bytes(note)
        watcher.look()
    partial.unlink()
    watcher.look()
    assert watcher.notes == {"s01/checkpoint": [b"first", b"second"]}
    assert watcher.violations == []
